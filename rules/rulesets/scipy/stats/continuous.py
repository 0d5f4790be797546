"""The continuous distributions: their formulas at location 0 and scale 1.

The notation is SciPy's, where the formulas are documented; the tests compare each with its values.
"""

import math

import numpy as np
from scipy import special

from ...special.distributions import f_density, noncentral_chi_density, noncentral_f_density
from ...special.tools import beta_density, gamma_density
from .continuous_further import FURTHER
from .continuous_longer import LONGER
from .formulas import Formulas
from .tools import (
    EULER,
    LOG_2,
    LOG_PI,
    LOG_ROOT_2PI,
    log1p_over,
    normal,
    normal_log,
    trigamma,
    two_sided,
)

ROOT_2 = math.sqrt(2)
log, exp, log1p, expm1, sqrt = np.log, np.exp, np.log1p, np.expm1, np.sqrt
ndtr, log_ndtr, erf, erfc = special.ndtr, special.log_ndtr, special.erf, special.erfc
xlogy, xlog1py, expit, log_expit = special.xlogy, special.xlog1py, special.expit, special.log_expit
gamma, gammaln, psi, betaln, beta = (
    special.gamma, special.gammaln, special.psi, special.betaln, special.beta,
)  # fmt: skip
gammainc, gammaincc = special.gammainc, special.gammaincc


def rice_mean(b):
    t = b * b / 4
    return math.sqrt(math.pi / 2) * ((1 + 2 * t) * special.i0e(t) + 2 * t * special.i1e(t))


LOG_SMALLEST = math.log(np.finfo(float).tiny)


def of_exponential(z, c, first, incomplete):
    """Return an incomplete gamma function of ``exp(z)``; its first term where that has no digits.

    Source: 6.5.4 and 6.5.29 of Abramowitz and Stegun, as SciPy has it.
    """
    far = z < LOG_SMALLEST
    log_term = np.where(far, c * z - gammaln(c + 1), 0.0)
    return np.where(far, first(log_term), incomplete(c, exp(np.where(far, 0.0, z))))


# fmt: off
CONTINUOUS = {
    **LONGER, **FURTHER,
    # ---- normal, and made of it ----
    "norm": Formulas(
        normal_log, cdf=ndtr, sf=lambda z: ndtr(-z),
        logcdf=log_ndtr, logsf=lambda z: log_ndtr(-z)),
    "halfnorm": Formulas(
        lambda z: normal_log(z) + LOG_2, cdf=lambda z: erf(z / ROOT_2),
        sf=lambda z: 2 * ndtr(-z), logsf=lambda z: LOG_2 + log_ndtr(-z)),
    "foldnorm": Formulas(
        lambda z, c: np.logaddexp(normal_log(z - c), normal_log(z + c)),
        cdf=lambda z, c: (erf((z - c) / ROOT_2) + erf((z + c) / ROOT_2)) / 2,
        sf=lambda z, c: ndtr(c - z) + ndtr(-z - c),
        mean=lambda c: 2 * normal(c) + c * erf(c / ROOT_2),
        var=lambda c: c * c + 1 - (2 * normal(c) + c * erf(c / ROOT_2)) ** 2),
    "lognorm": Formulas(
        lambda z, s: normal_log(log(z) / s) - log(s * z),
        cdf=lambda z, s: ndtr(log(z) / s), sf=lambda z, s: ndtr(-log(z) / s),
        logcdf=lambda z, s: log_ndtr(log(z) / s), logsf=lambda z, s: log_ndtr(-log(z) / s),
        mean=lambda s: exp(s * s / 2), var=lambda s: expm1(s * s) * exp(s * s),
        entropy=lambda s: 0.5 + LOG_ROOT_2PI + log(s)),
    "gibrat": Formulas(
        lambda z: normal_log(log(z)) - log(z),
        cdf=lambda z: ndtr(log(z)), sf=lambda z: ndtr(-log(z))),
    "powernorm": Formulas(
        lambda z, c: log(c) + normal_log(z) + (c - 1) * log_ndtr(-z),
        logsf=lambda z, c: c * log_ndtr(-z)),
    "skewnorm": Formulas(
        lambda z, a: LOG_2 + normal_log(z) + log_ndtr(a * z),
        cdf=lambda z, a: ndtr(z) - 2 * special.owens_t(z, a),
        sf=lambda z, a: ndtr(-z) + 2 * special.owens_t(z, a),
        mean=lambda a: sqrt(2 / math.pi) * a / sqrt(1 + a * a),
        var=lambda a: 1 - 2 / math.pi * a * a / (1 + a * a)),
    "exponnorm": Formulas(
        lambda z, k: -log(k) + (0.5 / k - z) / k + log_ndtr(z - 1 / k),
        cdf=lambda z, k: ndtr(z) - exp((0.5 / k - z) / k + log_ndtr(z - 1 / k)),
        sf=lambda z, k: ndtr(-z) + exp((0.5 / k - z) / k + log_ndtr(z - 1 / k)),
        mean=lambda k: k, var=lambda k: 1 + k * k),
    "johnsonsu": Formulas(
        lambda z, a, b: log(b) - log1p(z * z) / 2 + normal_log(a + b * np.arcsinh(z)),
        cdf=lambda z, a, b: ndtr(a + b * np.arcsinh(z)),
        sf=lambda z, a, b: ndtr(-a - b * np.arcsinh(z)),
        mean=lambda a, b: -exp(0.5 / b**2) * np.sinh(a / b),
        var=lambda a, b: expm1(b**-2.0) * (exp(b**-2.0) * np.cosh(2 * a / b) + 1) / 2),
    "johnsonsb": Formulas(
        lambda z, a, b: log(b) - log(z) - log1p(-z) + normal_log(a + b * special.logit(z)),
        cdf=lambda z, a, b: ndtr(a + b * special.logit(z)),
        sf=lambda z, a, b: ndtr(-a - b * special.logit(z))),
    "fatiguelife": Formulas(
        lambda z, c: log((z + 1) / (2 * c)) - 1.5 * log(z) + normal_log((z - 1) / (c * sqrt(z))),
        cdf=lambda z, c: ndtr((sqrt(z) - 1 / sqrt(z)) / c),
        sf=lambda z, c: ndtr((1 / sqrt(z) - sqrt(z)) / c),
        mean=lambda c: c * c / 2 + 1, var=lambda c: c * c * (5 * c * c / 4 + 1)),
    "rice": Formulas(
        lambda z, b: log(z) - (z - b) ** 2 / 2 + log(special.i0e(z * b)),
        cdf=lambda z, b: special.chndtr(z * z, 2.0, b * b),
        mean=rice_mean, var=lambda b: 2 + b * b - rice_mean(b) ** 2),
    "moyal": Formulas(
        lambda z: -(z + exp(-z)) / 2 - LOG_ROOT_2PI,
        cdf=lambda z: erfc(exp(-z / 2) / ROOT_2), sf=lambda z: erf(exp(-z / 2) / ROOT_2)),
    "levy": Formulas(
        lambda z: -LOG_ROOT_2PI - 1.5 * log(z) - 0.5 / z,
        cdf=lambda z: erfc(sqrt(0.5 / z)), sf=lambda z: erf(sqrt(0.5 / z))),

    # ---- gamma, and made of it ----
    "expon": Formulas(lambda z: -z, cdf=lambda z: -expm1(-z), logsf=lambda z: -z),
    "gamma": (GAMMA := Formulas(
        lambda z, a: xlogy(a - 1, z) - z - gammaln(a), density=lambda z, a: gamma_density(a, z),
        cdf=lambda z, a: gammainc(a, z), sf=lambda z, a: gammaincc(a, z),
        mean=lambda a: a, var=lambda a: a,
        entropy=lambda a: a + gammaln(a) + (1 - a) * psi(a))),
    "erlang": GAMMA,
    "chi2": Formulas(
        lambda z, df: xlogy(df / 2 - 1, z) - z / 2 - gammaln(df / 2) - LOG_2 * df / 2,
        density=lambda z, df: gamma_density(df / 2, z / 2) / 2,
        cdf=lambda z, df: special.chdtr(df, z), sf=lambda z, df: special.chdtrc(df, z),
        mean=lambda df: df, var=lambda df: 2 * df,
        entropy=lambda df: df / 2 + LOG_2 + gammaln(df / 2) + (1 - df / 2) * psi(df / 2)),
    "chi": Formulas(
        lambda z, df: (1 - df / 2) * LOG_2 - gammaln(df / 2) + xlogy(df - 1, z) - z * z / 2,
        cdf=lambda z, df: gammainc(df / 2, z * z / 2),
        sf=lambda z, df: gammaincc(df / 2, z * z / 2),
        mean=lambda df: ROOT_2 * special.poch(df / 2, 0.5),
        var=lambda df: df - 2 * special.poch(df / 2, 0.5) ** 2),
    "maxwell": Formulas(
        lambda z: LOG_2 - LOG_ROOT_2PI + 2 * log(z) - z * z / 2,
        cdf=lambda z: gammainc(1.5, z * z / 2), sf=lambda z: gammaincc(1.5, z * z / 2)),
    "rayleigh": Formulas(
        lambda z: log(z) - z * z / 2, cdf=lambda z: -expm1(-z * z / 2), logsf=lambda z: -z * z / 2),
    "nakagami": Formulas(
        lambda z, nu: LOG_2 + xlogy(nu, nu) - gammaln(nu) + xlogy(2 * nu - 1, z) - nu * z * z,
        cdf=lambda z, nu: gammainc(nu, nu * z * z), sf=lambda z, nu: gammaincc(nu, nu * z * z),
        mean=lambda nu: special.poch(nu, 0.5) / sqrt(nu),
        var=lambda nu: 1 - special.poch(nu, 0.5) ** 2 / nu),
    "invgamma": Formulas(
        lambda z, a: -(a + 1) * log(z) - gammaln(a) - 1 / z,
        cdf=lambda z, a: gammaincc(a, 1 / z), sf=lambda z, a: gammainc(a, 1 / z),
        mean=lambda a: 1 / (a - 1), var=lambda a: 1 / ((a - 1) ** 2 * (a - 2)),
        entropy=lambda a: a - (a + 1) * psi(a) + gammaln(a)),
    "loggamma": Formulas(
        lambda z, c: c * z - exp(z) - gammaln(c),
        cdf=lambda z, c: of_exponential(z, c, exp, gammainc),
        sf=lambda z, c: of_exponential(z, c, lambda y: -expm1(y), gammaincc),
        mean=psi, var=trigamma, entropy=lambda c: gammaln(c) - c * psi(c) + c),
    "gengamma": Formulas(
        lambda z, a, c: log(np.abs(c)) + xlogy(c * a - 1, z) - z**c - gammaln(a),
        cdf=lambda z, a, c: np.where(c > 0, gammainc(a, z**c), gammaincc(a, z**c)),
        sf=lambda z, a, c: np.where(c > 0, gammaincc(a, z**c), gammainc(a, z**c)),
        mean=lambda a, c: special.poch(a, 1 / c),
        var=lambda a, c: special.poch(a, 2 / c) - special.poch(a, 1 / c) ** 2),
    "dgamma": Formulas(
        lambda z, a: xlogy(a - 1, np.abs(z)) - np.abs(z) - LOG_2 - gammaln(a),
        cdf=lambda z, a: two_sided(z, lambda r: gammaincc(a, r)),
        sf=lambda z, a: two_sided(-z, lambda r: gammaincc(a, r)),
        mean=lambda a: 0 * a, var=lambda a: a * (a + 1)),
    "gennorm": Formulas(
        lambda z, b: log(b / 2) - gammaln(1 / b) - np.abs(z) ** b,
        cdf=lambda z, b: two_sided(z, lambda r: gammaincc(1 / b, r**b)),
        sf=lambda z, b: two_sided(-z, lambda r: gammaincc(1 / b, r**b)),
        mean=lambda b: 0 * b, var=lambda b: exp(gammaln(3 / b) - gammaln(1 / b)),
        entropy=lambda b: 1 / b - log(b / 2) + gammaln(1 / b)),
    "halfgennorm": Formulas(
        lambda z, b: log(b) - gammaln(1 / b) - z**b,
        cdf=lambda z, b: gammainc(1 / b, z**b), sf=lambda z, b: gammaincc(1 / b, z**b),
        mean=lambda b: gamma(2 / b) / gamma(1 / b),
        var=lambda b: gamma(3 / b) / gamma(1 / b) - (gamma(2 / b) / gamma(1 / b)) ** 2,
        entropy=lambda b: 1 / b - log(b) + gammaln(1 / b)),
    "ncx2": Formulas(
        density=noncentral_chi_density, cdf=special.chndtr,
        mean=lambda df, nc: df + nc, var=lambda df, nc: 2 * (df + 2 * nc)),

    # ---- beta, F and t ----
    "beta": Formulas(
        lambda z, a, b: xlog1py(b - 1, -z) + xlogy(a - 1, z) - betaln(a, b),
        density=lambda z, a, b: beta_density(a, b, z),
        cdf=lambda z, a, b: special.betainc(a, b, z), sf=lambda z, a, b: special.betaincc(a, b, z),
        mean=lambda a, b: a / (a + b), var=lambda a, b: a * b / ((a + b) ** 2 * (a + b + 1)),
        entropy=lambda a, b: (betaln(a, b) - (a - 1) * psi(a) - (b - 1) * psi(b)
                              + (a + b - 2) * psi(a + b))),
    "betaprime": Formulas(
        lambda z, a, b: xlogy(a - 1, z) - (a + b) * log1p(z) - betaln(a, b),
        cdf=lambda z, a, b: special.betainc(a, b, z / (1 + z)),
        sf=lambda z, a, b: special.betainc(b, a, 1 / (1 + z)),
        mean=lambda a, b: a / (b - 1),
        var=lambda a, b: a * (a + b - 1) / ((b - 2) * (b - 1) ** 2)),
    "f": Formulas(
        lambda z, m, n: (xlogy(m / 2, m) + xlogy(n / 2, n) + xlogy(m / 2 - 1, z)
                         - (m + n) / 2 * log(n + m * z) - betaln(m / 2, n / 2)),
        density=lambda z, m, n: f_density(m, n, z),
        cdf=lambda z, m, n: special.fdtr(m, n, z), sf=lambda z, m, n: special.fdtrc(m, n, z),
        mean=lambda m, n: n / (n - 2) + 0 * m,
        var=lambda m, n: 2 * n * n * (m + n - 2) / (m * (n - 2) ** 2 * (n - 4)),
        entropy=lambda m, n: (log(n) - log(m) + betaln(m / 2, n / 2) + (1 - m / 2) * psi(m / 2)
                              - (1 + n / 2) * psi(n / 2) + (m + n) / 2 * psi((m + n) / 2))),
    "ncf": Formulas(
        density=lambda z, m, n, nc: noncentral_f_density(m, n, nc, z),
        cdf=lambda z, m, n, nc: special.ncfdtr(m, n, nc, z)),
    "t": Formulas(
        lambda z, df: -(df + 1) / 2 * log1p(z * z / df) - betaln(df / 2, 0.5) - log(df) / 2,
        cdf=lambda z, df: special.stdtr(df, z), sf=lambda z, df: special.stdtr(df, -z),
        mean=lambda df: 0 * df, var=lambda df: df / (df - 2),
        entropy=lambda df: ((df + 1) / 2 * (psi((df + 1) / 2) - psi(df / 2))
                            + log(df) / 2 + betaln(df / 2, 0.5))),
    "nct": Formulas(cdf=lambda z, df, nc: special.nctdtr(df, nc, z)),
    "powerlaw": Formulas(
        lambda z, a: log(a) + xlogy(a - 1, z), density=lambda z, a: a * z ** (a - 1),
        cdf=lambda z, a: z**a, logcdf=lambda z, a: a * log(z),
        mean=lambda a: a / (a + 1), var=lambda a: a / ((a + 2) * (a + 1) ** 2),
        entropy=lambda a: 1 - 1 / a - log(a)),
    "arcsine": Formulas(
        lambda z: -LOG_PI - log(z * (1 - z)) / 2,
        cdf=lambda z: 2 / math.pi * np.arcsin(sqrt(z))),
    "semicircular": Formulas(
        lambda z: LOG_2 - LOG_PI + log1p(-z * z) / 2,
        cdf=lambda z: 0.5 + (z * sqrt(1 - z * z) + np.arcsin(z)) / math.pi),

    # ---- of extremes and lifetimes ----
    "gumbel_r": Formulas(
        lambda z: -z - exp(-z), logcdf=lambda z: -exp(-z), sf=lambda z: -expm1(-exp(-z))),
    "gumbel_l": Formulas(
        lambda z: z - exp(z), logsf=lambda z: -exp(z), cdf=lambda z: -expm1(-exp(z))),
    "genextreme": Formulas(
        lambda z, c: -exp(log1p_over(c, -z)) + (1 - c) * log1p_over(c, -z),
        logcdf=lambda z, c: -exp(log1p_over(c, -z)),
        sf=lambda z, c: -expm1(-exp(log1p_over(c, -z))),
        mean=lambda c: (1 - gamma(1 + c)) / c,
        var=lambda c: (gamma(1 + 2 * c) - gamma(1 + c) ** 2) / c**2,
        entropy=lambda c: EULER * (1 - c) + 1),
    "genpareto": Formulas(
        lambda z, c: -(c + 1) * log1p_over(c, z),
        logsf=lambda z, c: -log1p_over(c, z), cdf=lambda z, c: -expm1(-log1p_over(c, z)),
        mean=lambda c: 1 / (1 - c), var=lambda c: 1 / ((1 - c) ** 2 * (1 - 2 * c)),
        entropy=lambda c: 1 + c),
    "weibull_min": Formulas(
        lambda z, c: log(c) + xlogy(c - 1, z) - z**c,
        logsf=lambda z, c: -(z**c), cdf=lambda z, c: -expm1(-(z**c)),
        mean=lambda c: gamma(1 + 1 / c), var=lambda c: gamma(1 + 2 / c) - gamma(1 + 1 / c) ** 2,
        entropy=lambda c: EULER - EULER / c - log(c) + 1),
    "weibull_max": Formulas(
        lambda z, c: log(c) + xlogy(c - 1, -z) - (-z) ** c,
        logcdf=lambda z, c: -((-z) ** c), sf=lambda z, c: -expm1(-((-z) ** c)),
        mean=lambda c: -gamma(1 + 1 / c), var=lambda c: gamma(1 + 2 / c) - gamma(1 + 1 / c) ** 2,
        entropy=lambda c: EULER - EULER / c - log(c) + 1),
    "dweibull": Formulas(
        lambda z, c: log(c / 2) + xlogy(c - 1, np.abs(z)) - np.abs(z) ** c,
        cdf=lambda z, c: two_sided(z, lambda r: exp(-(r**c))),
        sf=lambda z, c: two_sided(-z, lambda r: exp(-(r**c))),
        mean=lambda c: 0 * c, var=lambda c: gamma(1 + 2 / c)),
    "exponweib": Formulas(
        lambda z, a, c: (log(a * c) + (a - 1) * log(-expm1(-(z**c))) - z**c + xlogy(c - 1, z)),
        cdf=lambda z, a, c: (-expm1(-(z**c))) ** a),
    "exponpow": Formulas(
        lambda z, b: 1 + log(b) + xlogy(b - 1, z) + z**b - exp(z**b),
        logsf=lambda z, b: -expm1(z**b), cdf=lambda z, b: -expm1(-expm1(z**b))),
    "invweibull": Formulas(
        lambda z, c: log(c) - (c + 1) * log(z) - z**-c,
        logcdf=lambda z, c: -(z**-c), sf=lambda z, c: -expm1(-(z**-c)),
        mean=lambda c: gamma(1 - 1 / c), entropy=lambda c: 1 + EULER + EULER / c - log(c)),
    "gompertz": Formulas(
        lambda z, c: log(c) + z - c * expm1(z),
        logsf=lambda z, c: -c * expm1(z), cdf=lambda z, c: -expm1(-c * expm1(z)),
        mean=lambda c: exp(c) * special.exp1(c),
        entropy=lambda c: 1 - log(c) - exp(c) * special.exp1(c)),
    "pareto": Formulas(
        lambda z, b: log(b) - (b + 1) * log(z),
        logsf=lambda z, b: -b * log(z), cdf=lambda z, b: -expm1(-b * log(z)),
        mean=lambda b: b / (b - 1), var=lambda b: b / ((b - 2) * (b - 1) ** 2),
        entropy=lambda b: 1 + 1 / b - log(b)),
    "lomax": Formulas(
        lambda z, c: log(c) - (c + 1) * log1p(z),
        logsf=lambda z, c: -c * log1p(z), cdf=lambda z, c: -expm1(-c * log1p(z)),
        mean=lambda c: 1 / (c - 1), var=lambda c: c / ((c - 1) ** 2 * (c - 2)),
        entropy=lambda c: 1 + 1 / c - log(c)),
    "truncpareto": Formulas(
        lambda z, b, c: log(-b / expm1(-b * log(c))) - (b + 1) * log(z),
        cdf=lambda z, b, c: expm1(-b * log(z)) / expm1(-b * log(c))),
    "fisk": Formulas(
        lambda z, c: log(c) + xlogy(c - 1, z) - 2 * log1p(z**c),
        cdf=lambda z, c: expit(c * log(z)), sf=lambda z, c: expit(-c * log(z)),
        mean=lambda c: math.pi / c / np.sin(math.pi / c),
        var=lambda c: (2 * math.pi / c / np.sin(2 * math.pi / c)
                       - (math.pi / c / np.sin(math.pi / c)) ** 2),
        entropy=lambda c: 2 - log(c)),
    "burr": Formulas(
        lambda z, c, d: log(c * d) - (c + 1) * log(z) - (d + 1) * log1p(z**-c),
        logcdf=lambda z, c, d: -d * log1p(z**-c), sf=lambda z, c, d: -expm1(-d * log1p(z**-c)),
        mean=lambda c, d: d * beta(d + 1 / c, 1 - 1 / c),
        var=lambda c, d: (d * beta(d + 2 / c, 1 - 2 / c)
                          - (d * beta(d + 1 / c, 1 - 1 / c)) ** 2)),
    "burr12": Formulas(
        lambda z, c, d: log(c * d) + xlogy(c - 1, z) - (d + 1) * log1p(z**c),
        logsf=lambda z, c, d: -d * log1p(z**c), cdf=lambda z, c, d: -expm1(-d * log1p(z**c)),
        mean=lambda c, d: d * beta(d - 1 / c, 1 + 1 / c),
        var=lambda c, d: (d * beta(d - 2 / c, 1 + 2 / c)
                          - (d * beta(d - 1 / c, 1 + 1 / c)) ** 2)),
    "invgauss": Formulas(
        lambda z, mu: -LOG_ROOT_2PI - 1.5 * log(z) - ((z - mu) / mu) ** 2 / (2 * z),
        cdf=lambda z, mu: (ndtr((z / mu - 1) / sqrt(z))
                           + exp(2 / mu + log_ndtr(-(z / mu + 1) / sqrt(z)))),
        sf=lambda z, mu: (ndtr((1 - z / mu) / sqrt(z))
                          - exp(2 / mu + log_ndtr(-(z / mu + 1) / sqrt(z)))),
        mean=lambda mu: mu, var=lambda mu: mu**3),
    "wald": Formulas(
        lambda z: -LOG_ROOT_2PI - 1.5 * log(z) - (z - 1) ** 2 / (2 * z),
        cdf=lambda z: ndtr((z - 1) / sqrt(z)) + exp(2 + log_ndtr(-(z + 1) / sqrt(z))),
        sf=lambda z: ndtr((1 - z) / sqrt(z)) - exp(2 + log_ndtr(-(z + 1) / sqrt(z)))),

    # ---- logistic, and of two sides ----
    "logistic": Formulas(
        lambda z: z - 2 * np.logaddexp(0.0, z), cdf=expit, sf=lambda z: expit(-z),
        logcdf=log_expit, logsf=lambda z: log_expit(-z)),
    "genlogistic": Formulas(
        lambda z, c: log(c) - z - (c + 1) * np.logaddexp(0.0, -z),
        logcdf=lambda z, c: -c * np.logaddexp(0.0, -z),
        sf=lambda z, c: -expm1(-c * np.logaddexp(0.0, -z)),
        mean=lambda c: EULER + psi(c), var=lambda c: math.pi**2 / 6 + trigamma(c)),
    "halflogistic": Formulas(
        lambda z: LOG_2 - z - 2 * log1p(exp(-z)),
        cdf=lambda z: np.tanh(z / 2), sf=lambda z: 2 * expit(-z)),
    "hypsecant": Formulas(
        lambda z: LOG_2 - LOG_PI - np.logaddexp(z, -z),
        cdf=lambda z: 2 / math.pi * np.arctan(exp(z)),
        sf=lambda z: 2 / math.pi * np.arctan(exp(-z))),
    "laplace": Formulas(
        lambda z: -LOG_2 - np.abs(z), cdf=lambda z: two_sided(z, lambda r: exp(-r)),
        sf=lambda z: two_sided(-z, lambda r: exp(-r))),
    "laplace_asymmetric": Formulas(
        lambda z, k: np.where(z >= 0, -k * z, z / k) - log(k + 1 / k),
        cdf=lambda z, k: np.where(z >= 0, 1 - exp(-k * np.maximum(z, 0)) / (1 + k * k),
                                  exp(np.minimum(z, 0) / k) * k * k / (1 + k * k)),
        mean=lambda k: 1 / k - k, var=lambda k: 1 / k**2 + k * k,
        entropy=lambda k: 1 + log(k + 1 / k)),
    "loglaplace": Formulas(
        lambda z, c: log(c / 2) + np.where(z < 1, c - 1, -c - 1) * log(z),
        cdf=lambda z, c: two_sided(c * log(z), lambda r: exp(-r)),
        sf=lambda z, c: two_sided(-c * log(z), lambda r: exp(-r)),
        mean=lambda c: c * c / (c * c - 1),
        var=lambda c: c * c / (c * c - 4) - (c * c / (c * c - 1)) ** 2,
        entropy=lambda c: LOG_2 - log(c) + 1),
    "cauchy": Formulas(
        lambda z: -LOG_PI - log1p(z * z), cdf=lambda z: np.arctan2(1.0, -z) / math.pi,
        sf=lambda z: np.arctan2(1.0, z) / math.pi),
    "halfcauchy": Formulas(
        lambda z: LOG_2 - LOG_PI - log1p(z * z), cdf=lambda z: 2 / math.pi * np.arctan(z),
        sf=lambda z: 2 / math.pi * np.arctan2(1.0, z)),
    "skewcauchy": Formulas(
        lambda z, a: -LOG_PI - log1p((z / np.where(z > 0, 1 + a, 1 - a)) ** 2),
        cdf=lambda z, a: ((1 - a) / 2 + np.where(z > 0, 1 + a, 1 - a) / math.pi
                          * np.arctan(z / np.where(z > 0, 1 + a, 1 - a)))),

    # ---- on an interval ----
    "uniform": Formulas(lambda z: 0 * z, cdf=lambda z: z),
    "loguniform": (LOGUNIFORM := Formulas(
        lambda z, a, b: -log(z) - log(log(b) - log(a)),
        cdf=lambda z, a, b: (log(z) - log(a)) / (log(b) - log(a)),
        mean=lambda a, b: (b - a) / (log(b) - log(a)),
        var=lambda a, b: ((b * b - a * a) / (2 * (log(b) - log(a)))
                          - ((b - a) / (log(b) - log(a))) ** 2),
        entropy=lambda a, b: (log(a) + log(b)) / 2 + log(log(b) - log(a)))),
    "reciprocal": LOGUNIFORM,
    "bradford": Formulas(
        lambda z, c: log(c) - log1p(c * z) - log(log1p(c)),
        cdf=lambda z, c: log1p(c * z) / log1p(c), mean=lambda c: 1 / log1p(c) - 1 / c,
        var=lambda c: ((c + 2) * log1p(c) - 2 * c) / (2 * c * log1p(c) ** 2),
        entropy=lambda c: log1p(c) / 2 - log(c) + log(log1p(c))),
    "truncexpon": Formulas(
        lambda z, b: -z - log(-expm1(-b)), cdf=lambda z, b: expm1(-z) / expm1(-b),
        mean=lambda b: 1 - b / expm1(b), var=lambda b: 1 - (b / 2 / np.sinh(b / 2)) ** 2,
        entropy=lambda b: 1 - b / expm1(b) + log(-expm1(-b))),
    "anglit": Formulas(
        lambda z: log(np.cos(2 * z)), cdf=lambda z: np.sin(z + math.pi / 4) ** 2),
    "cosine": Formulas(
        lambda z: log1p(np.cos(z)) - LOG_PI - LOG_2,
        cdf=lambda z: (math.pi + z + np.sin(z)) / (2 * math.pi)),
}
# fmt: on
