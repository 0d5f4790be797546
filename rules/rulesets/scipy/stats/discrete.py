"""Discrete distributions at location 0: logarithms of the mass, and distribution functions.

The number itself is whole, so that nothing changes with it.
"""

import numpy as np
from scipy import special

from .formulas import Formulas

log, exp, log1p, expm1 = np.log, np.exp, np.log1p, np.expm1
xlogy, xlog1py, gammaln, betaln = special.xlogy, special.xlog1py, special.gammaln, special.betaln
zeta = special._ufuncs._zeta


def log_choose(n, k):
    return -log1p(n) - betaln(n - k + 1, k + 1)


def skellam_log(k, a, b):
    root = np.sqrt(a * b)
    bessel = log(special.ive(np.abs(k), 2 * root)) + 2 * root
    return k / 2 * (log(a) - log(b)) + bessel - a - b


def skellam_below(k, a, b):
    left = special.chndtr(2 * b, np.where(k < 0, -2 * k, 2.0), 2 * a)
    right = special.chndtr(2 * a, np.where(k < 0, 2.0, 2 * (k + 1)), 2 * b)
    return np.where(k < 0, left, 1 - right)


# fmt: off
DISCRETE = {
    "bernoulli": Formulas(
        lambda k, p: xlogy(k, p) + xlog1py(1 - k, -p), cdf=lambda k, p: np.where(k < 1, 1 - p, 1),
        mean=lambda p: p, var=lambda p: p * (1 - p),
        entropy=lambda p: special.entr(p) + special.entr(1 - p)),
    "binom": Formulas(
        lambda k, n, p: log_choose(n, k) + xlogy(k, p) + xlog1py(n - k, -p),
        cdf=special.bdtr, sf=special.bdtrc, whole=("n",),
        mean=lambda n, p: n * p, var=lambda n, p: n * p * (1 - p)),
    "nbinom": Formulas(
        lambda k, n, p: (gammaln(n + k) - gammaln(k + 1) - gammaln(n)
                         + xlogy(n, p) + xlog1py(k, -p)),
        cdf=lambda k, n, p: special.betainc(n, k + 1, p),
        sf=lambda k, n, p: special.betaincc(n, k + 1, p),
        mean=lambda n, p: n * (1 - p) / p, var=lambda n, p: n * (1 - p) / p**2),
    "geom": Formulas(
        lambda k, p: xlog1py(k - 1, -p) + log(p),
        cdf=lambda k, p: -expm1(k * log1p(-p)), logsf=lambda k, p: k * log1p(-p),
        mean=lambda p: 1 / p, var=lambda p: (1 - p) / p**2,
        entropy=lambda p: -log(p) - log1p(-p) * (1 - p) / p),
    "poisson": Formulas(
        lambda k, mu: xlogy(k, mu) - gammaln(k + 1) - mu, cdf=special.pdtr, sf=special.pdtrc,
        mean=lambda mu: mu, var=lambda mu: mu),
    "hypergeom": Formulas(whole=("M", "n", "N")),
    "nhypergeom": Formulas(whole=("M", "n", "r")),
    "randint": Formulas(whole=("low", "high")),
    "betabinom": Formulas(
        lambda k, n, a, b: log_choose(n, k) + betaln(k + a, n - k + b) - betaln(a, b),
        whole=("n",), mean=lambda n, a, b: n * a / (a + b),
        var=lambda n, a, b: n * (a + b + n) * a * b / ((a + b) ** 2 * (a + b + 1))),
    "betanbinom": Formulas(
        lambda k, n, a, b: -log(n + k) - betaln(n, k + 1) + betaln(a + n, b + k) - betaln(a, b),
        whole=("n",), mean=lambda n, a, b: n * b / (a - 1),
        var=lambda n, a, b: n * b * (n + a - 1) * (a + b - 1) / ((a - 2) * (a - 1) ** 2)),
    "zipf": Formulas(
        lambda k, a: -a * log(k) - log(zeta(a, 1.0)),
        mean=lambda a: zeta(a - 1, 1.0) / zeta(a, 1.0),
        var=lambda a: zeta(a - 2, 1.0) / zeta(a, 1.0) - (zeta(a - 1, 1.0) / zeta(a, 1.0)) ** 2),
    "skellam": Formulas(
        skellam_log, cdf=skellam_below, mean=lambda a, b: a - b, var=lambda a, b: a + b),
    "logser": Formulas(lambda k, p: xlogy(k, p) - log(k) - log(-log1p(-p)),
        mean=lambda p: -p / ((1 - p) * log1p(-p)),
        var=lambda p: -p * (p + log1p(-p)) / ((1 - p) * log1p(-p)) ** 2),
    "dlaplace": Formulas(lambda k, a: log(np.tanh(a / 2)) - a * np.abs(k),
        mean=lambda a: 0 * a, var=lambda a: 0.5 / np.sinh(a / 2) ** 2,
        entropy=lambda a: a / np.sinh(a) - log(np.tanh(a / 2))),
    "planck": Formulas(
        lambda k, a: log(-expm1(-a)) - a * k,
        cdf=lambda k, a: -expm1(-a * (k + 1)), logsf=lambda k, a: -a * (k + 1),
        mean=lambda a: 1 / expm1(a), var=lambda a: 0.25 / np.sinh(a / 2) ** 2,
        entropy=lambda a: a / expm1(a) - log(-expm1(-a))),
    "yulesimon": Formulas(
        lambda k, a: log(a) + betaln(k, a + 1),
        cdf=lambda k, a: 1 - k * special.beta(k, a + 1), sf=lambda k, a: k * special.beta(k, a + 1),
        mean=lambda a: a / (a - 1), var=lambda a: a * a / ((a - 1) ** 2 * (a - 2))),
}
# fmt: on
