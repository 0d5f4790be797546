"""Continuous distributions that are used more rarely."""

import math

import numpy as np
from scipy import special

from .....config import MissingRuleError, user_line
from .... import innermost, value
from .formulas import Formulas
from .tools import LOG_2, LOG_PI, LOG_ROOT_2PI, normal_log

log, exp, log1p, expm1, sqrt = np.log, np.exp, np.log1p, np.expm1, np.sqrt
ndtr, log_ndtr, xlogy, xlog1py = special.ndtr, special.log_ndtr, special.xlogy, special.xlog1py
gammaln, betaln, psi = special.gammaln, special.betaln, special.psi

# ---- Pearson's third: a gamma distribution, moved to mean 0 and variance 1 ----------------------


def of_gamma(z, skew):
    """The variable of the gamma distribution, its shape, and where it is normal."""
    near = np.abs(value(skew)) < 1.6e-5  # as SciPy decides
    if np.any(near) and innermost((skew,)) is not None:
        raise MissingRuleError(
            f"scipy.stats.pearson3 has no derivative in the skew where it is 0, in {user_line()}.\n"
            "  write stats.norm, or the skew as cr.value(skew)"
        )
    b = 2 / np.where(near, 1.0, skew)
    return b * z + b * b, b, near


def pearson3_log(z, skew):
    x, b, near = of_gamma(z, skew)
    inside = value(x) > 0
    a, x = b * b, np.where(inside, x, 1.0)
    y = log(np.abs(b)) + (a - 1) * log(x) - x - gammaln(a)
    return np.where(near, normal_log(z), np.where(inside, y, -np.inf))


def pearson3_tail(sign):
    def tail(z, skew):
        x, b, near = of_gamma(z, skew)
        right, inside, a = sign * value(b) > 0, value(x) > 0, b * b
        x = np.where(inside, x, 1.0)
        y = np.where(right, special.gammainc(a, x), special.gammaincc(a, x))
        return np.where(near, ndtr(sign * z), np.where(inside, y, np.where(right, 0.0, 1.0)))

    return tail


def pearson3_entropy(skew):
    b = 2 / skew
    a = b * b
    return a + gammaln(a) + (1 - a) * psi(a) - log(np.abs(b))


# ---- with pieces ------------------------------------------------------------------------------


def trapezoid(z, c, d):
    """Up to ``c``, flat to ``d``, and down from it."""
    up, down = z < c, z > d
    rise = np.where(up, z, c) / np.where(up, c, 1.0)
    fall = (1 - np.where(down, z, d)) / np.where(down, 1 - d, 1.0)
    return 2 / (d - c + 1) * np.where(up, rise, np.where(down, fall, 1.0))


def trapezoid_below(z, c, d):
    up, down = z < c, z > d
    rise = z * z / np.where(up, c, 1.0)
    fall = (d - c + 1) - (1 - z) ** 2 / np.where(down, 1 - d, 1.0)
    return np.where(up, rise, np.where(down, fall, 2 * z - c)) / (d - c + 1)


def crystalball_mass(b, m):
    return m / b / (m - 1) * exp(-b * b / 2) + math.sqrt(2 * math.pi) * ndtr(b)


def crystalball_log(z, b, m):
    """Normal, but for a power on the left of ``-b``."""
    left = np.where(z > -b, -b, z)
    power = m * log(m / b) - b * b / 2 - m * log(m / b - b - left)
    return np.where(z > -b, -z * z / 2, power) - log(crystalball_mass(b, m))


def crystalball_below(z, b, m):
    left = np.where(z > -b, -b, z)
    ratio = m / b
    power = exp(m * log(ratio) - b * b / 2 + (1 - m) * log(ratio - b - left)) / (m - 1)
    rest = math.sqrt(2 * math.pi) * (ndtr(np.where(z > -b, z, -b)) - ndtr(-b))
    return (power + rest) / crystalball_mass(b, m)


def wrapcauchy_below(z, c):
    return np.arctan2((1 + c) / (1 - c) * np.sin(z / 2), np.cos(z / 2)) / math.pi


def truncweibull_tails(z, c, a, b):
    """Return the probabilities below and above ``z`` of a value between ``a`` and ``b``."""
    low, here, high = exp(-(a**c)), exp(-(z**c)), exp(-(b**c))
    return (low - here) / (low - high), (here - high) / (low - high)


# ---- others -----------------------------------------------------------------------------------


def argus_share(chi):
    return special.gammainc(1.5, chi * chi / 2) / 2


def relativistic_root(rho):
    return sqrt(1 + 1 / rho**2)


def relativistic_log(z, rho):
    """Breit and Wigner's."""
    root = relativistic_root(rho)
    scale = log(sqrt(2 * root * root / (1 + root)) * 2 / math.pi)
    return scale - log1p(((z - rho) * (z + rho) / rho) ** 2)


def relativistic_below(z, rho):
    scale = sqrt(2 / (1 + relativistic_root(rho))) / math.pi
    turned = np.arctan(z / sqrt(-rho * (rho + 1j)))
    return 2 * scale * np.imag(sqrt(-1 + 1j / rho) * turned)


def skew_t_share(z, a, b):
    return (1 + z / sqrt(a + b + z * z)) / 2


def skew_t_log(z, a, b):
    share = skew_t_share(z, a, b)
    scale = 2 * LOG_2 - betaln(a, b) - log(a + b) / 2
    return scale + (a + 0.5) * log(share) + (b + 0.5) * log1p(-share)


# fmt: off
FURTHER = {
    "pearson3": Formulas(
        pearson3_log, cdf=pearson3_tail(1), sf=pearson3_tail(-1),
        mean=lambda skew: 0 * skew, var=lambda skew: 1 + 0 * skew, entropy=pearson3_entropy),
    "trapezoid": Formulas(
        density=trapezoid, cdf=trapezoid_below,
        entropy=lambda c, d: 0.5 * (1 - d + c) / (1 + d - c) + log(0.5 * (1 + d - c))),
    "crystalball": Formulas(crystalball_log, cdf=crystalball_below),
    "wrapcauchy": Formulas(
        lambda z, c: log1p(-c * c) - LOG_2 - LOG_PI - log(1 + c * c - 2 * c * np.cos(z)),
        cdf=wrapcauchy_below, entropy=lambda c: LOG_2 + LOG_PI + log1p(-c * c)),
    "truncweibull_min": Formulas(
        lambda z, c, a, b: log(c) + xlogy(c - 1, z) - z**c - log(exp(-(a**c)) - exp(-(b**c))),
        cdf=lambda *given: truncweibull_tails(*given)[0],
        sf=lambda *given: truncweibull_tails(*given)[1]),
    "argus": Formulas(
        lambda z, chi: (3 * log(chi) - LOG_ROOT_2PI - log(argus_share(chi)) + log(z)
                        + log1p(-z * z) / 2 - chi * chi * (1 - z * z) / 2),
        sf=lambda z, chi: argus_share(chi * sqrt((1 - z) * (1 + z))) / argus_share(chi),
        mean=lambda chi: (math.sqrt(math.pi / 8) * chi * special.ive(1, chi * chi / 4)
                          / argus_share(chi))),
    "rel_breitwigner": Formulas(relativistic_log, cdf=relativistic_below),
    "jf_skew_t": Formulas(
        skew_t_log, cdf=lambda z, a, b: special.betainc(a, b, skew_t_share(z, a, b)),
        sf=lambda z, a, b: special.betaincc(a, b, skew_t_share(z, a, b))),
    "alpha": Formulas(
        lambda z, a: -2 * log(z) + normal_log(a - 1 / z) - log_ndtr(a),
        cdf=lambda z, a: ndtr(a - 1 / z) / ndtr(a)),
    "foldcauchy": Formulas(
        density=lambda z, c: (1 / (1 + (z - c) ** 2) + 1 / (1 + (z + c) ** 2)) / math.pi,
        cdf=lambda z, c: (np.arctan(z - c) + np.arctan(z + c)) / math.pi,
        sf=lambda z, c: (np.arctan2(1.0, z - c) + np.arctan2(1.0, z + c)) / math.pi),
    "genexpon": Formulas(
        lambda z, a, b, c: log(a - b * expm1(-c * z)) - (a + b) * z - b * expm1(-c * z) / c,
        logsf=lambda z, a, b, c: -(a + b) * z - b * expm1(-c * z) / c),
    "genhalflogistic": Formulas(
        lambda z, c: (LOG_2 + (1 / c - 1) * log1p(-c * z)
                      - 2 * log1p(exp(log1p(-c * z) / c))),
        cdf=lambda z, c: -np.tanh(log1p(-c * z) / c / 2),
        entropy=lambda c: 2 - (2 * c + 1) * LOG_2),
    "levy_l": Formulas(
        lambda z: -LOG_ROOT_2PI - 1.5 * log(-z) + 0.5 / z,
        cdf=lambda z: special.erf(sqrt(-0.5 / z)), sf=lambda z: special.erfc(sqrt(-0.5 / z))),
    "mielke": Formulas(
        lambda z, k, s: log(k) + (k - 1) * log(z) - log1p(z**s) * (1 + k / s),
        logcdf=lambda z, k, s: k * log(z) - k / s * log1p(z**s)),
    "kappa3": Formulas(
        lambda z, a: log(a) - (1 / a + 1) * log(a + z**a),
        logcdf=lambda z, a: log(z) - log(a + z**a) / a),
    "powerlognorm": Formulas(
        lambda z, c, s: (log(c) - log(z) - log(s) + normal_log(log(z) / s)
                         + (c - 1) * log_ndtr(-log(z) / s)),
        logsf=lambda z, c, s: c * log_ndtr(-log(z) / s)),
    "rdist": Formulas(
        lambda z, c: xlog1py(c / 2 - 1, -z * z) + (1 - c) * LOG_2 - betaln(c / 2, c / 2),
        cdf=lambda z, c: special.betainc(c / 2, c / 2, (z + 1) / 2),
        sf=lambda z, c: special.betaincc(c / 2, c / 2, (z + 1) / 2)),
    "recipinvgauss": Formulas(
        lambda z, mu: -((1 - mu * z) ** 2) / (2 * z * mu * mu) - LOG_ROOT_2PI - log(z) / 2,
        cdf=lambda z, mu: (ndtr((z - 1 / mu) / sqrt(z))
                           - exp(2 / mu + log_ndtr(-(z + 1 / mu) / sqrt(z)))),
        sf=lambda z, mu: (ndtr((1 / mu - z) / sqrt(z))
                          + exp(2 / mu + log_ndtr(-(z + 1 / mu) / sqrt(z))))),
}
# fmt: on
