"""scipy.special: distribution functions.

A distribution is a dict of partials of its lower tail, by the names of its parameters; the
partials take the value (only for its dtype) and the parameters in that order. The file on
inverse functions solves these.
"""

import functools
import math

import numpy as np
from scipy import special

from ... import scalar_rule
from .tools import above, beta_density, gamma_density, numerical, or_one, scaled_power, whole

POSITIVE = above(0)
# Degrees of freedom that have a limit at infinity: these matter through their reciprocals.
FREEDOM = np.abs


def density(formula):
    """A partial that needs no value of the function."""
    return lambda _, *args: formula(*args)


def minus(partial):
    return lambda y, *args: -partial(y, *args)


def with_upper(lower, upper, distribution, *, differences):
    """Define both tails; return the distribution of the upper one.

    ``differences`` gives for a name the radius of the numerical partial, which is taken of each
    tail itself, so that a small tail has its own relative accuracy.
    """
    names = list(distribution)

    def of(f, closed_form):
        return {
            name: numerical(f, names.index(name), differences[name])
            if name in differences
            else closed_form(distribution[name])
            for name in names
        }

    tails = of(lower, lambda p: p), of(upper, lambda p: minus(p) if callable(p) else p)
    for f, tail in zip((lower, upper), tails):
        scalar_rule(f, *tail.values())
    return tails


# ---- gamma, chi-square, Poisson ----


def gamma_slope(a, b, x):
    """The density of ``gdtr`` over ``a * x`` in both: it depends on their product."""
    return gamma_density(b, a * x)


# fmt: off
GAMMA = {"a": numerical(special.gammainc, 0, POSITIVE),
         "x": density(gamma_density)}
GAMMA_UPPER = {"a": numerical(special.gammaincc, 0, POSITIVE),
               "x": density(lambda a, x: -gamma_density(a, x))}

GDTR, GDTR_UPPER = with_upper(
    special.gdtr, special.gdtrc,
    {"a": density(lambda a, b, x: x * gamma_slope(a, b, x)),
     "b": None,
     "x": density(lambda a, b, x: a * gamma_slope(a, b, x))},
    differences={"b": POSITIVE})

CHI, CHI_UPPER = with_upper(
    special.chdtr, special.chdtrc,
    {"v": None, "x": density(lambda v, x: gamma_density(v / 2, x / 2) / 2)},
    differences={"v": POSITIVE})

# The number of events counts as a whole one, but between these pdtrik interpolates.
POISSON, POISSON_UPPER = with_upper(
    special.pdtr, special.pdtrc,
    {"k": 0, "m": density(lambda k, m: -gamma_density(np.floor(k) + 1, m))},
    differences={})
POISSON_BETWEEN = {
    "k": numerical(lambda k, m: special.gammaincc(k + 1, m), 0, above(-1)),
    "m": density(lambda k, m: -gamma_density(k + 1, m))}
# fmt: on


# ---- beta, binomial, F, t ----


def binomial_slope(k, n, p):
    """``bdtr(k, n, p)`` is ``betainc(n - k, k + 1, 1 - p)``; all of it at ``k >= n``."""
    k = np.floor(k)
    inside = (k >= 0) & (k < n)
    k = np.where(inside, k, 0)
    return np.where(inside, -beta_density(k + 1, np.where(inside, n - k, 1), p), 0)


def f_ratio(dfn, dfd, x):
    return dfn * x / (dfn * x + dfd)


def f_density(dfn, dfd, x):
    """The upper beta argument as a ratio of its own: ``1 - f_ratio`` would cancel."""
    a, b = dfn / 2, dfd / 2
    total = dfn * x + dfd
    log_scale = special.xlogy(b + 1, dfd) - special.xlogy(a + b, total) - special.betaln(a, b)
    return scaled_power(dfn * x, a - 1, log_scale) * dfn / dfd


def t_density(df, t):
    """With infinite ``df`` it is the normal one."""
    normal = np.isinf(df)
    df = np.where(normal, 1.0, df) if np.any(normal) else df
    logarithm = -(df + 1) / 2 * np.log1p(t * t / df) - special.betaln(df / 2, 0.5)
    density = np.exp(logarithm) / np.sqrt(df)
    if not np.any(normal):
        return density
    return np.where(normal, np.exp(-t * t / 2) / math.sqrt(2 * math.pi), density)


# fmt: off
BETA = {"a": numerical(special.betainc, 0, POSITIVE),
        "b": numerical(special.betainc, 1, POSITIVE),
        "x": density(beta_density)}
BETA_UPPER = {"a": numerical(special.betaincc, 0, POSITIVE),
              "b": numerical(special.betaincc, 1, POSITIVE),
              "x": density(lambda a, b, x: -beta_density(a, b, x))}

BINOMIAL, BINOMIAL_UPPER = with_upper(
    special.bdtr, special.bdtrc,
    {"k": 0, "n": whole(special.bdtr, "n"), "p": density(binomial_slope)},
    differences={})
BINOMIAL_BETWEEN = {
    "k": numerical(lambda k, n, p: special.betaincc(k + 1, n - k, p), 0, above(-1)),
    "n": numerical(lambda k, n, p: special.betaincc(k + 1, n - k, p), 1),
    "p": density(lambda k, n, p: -beta_density(k + 1, n - k, p))}

NEGATIVE, NEGATIVE_UPPER = with_upper(
    special.nbdtr, special.nbdtrc,
    {"k": whole(special.nbdtr, "k"), "n": whole(special.nbdtr, "n"),
     "p": density(lambda k, n, p: beta_density(n, k + 1, p))},
    differences={})
NEGATIVE_BETWEEN = {
    "k": numerical(lambda k, n, p: special.betainc(n, k + 1, p), 0, above(-1)),
    "n": numerical(lambda k, n, p: special.betainc(n, k + 1, p), 1, POSITIVE),
    "p": density(lambda k, n, p: beta_density(n, k + 1, p))}

F, F_UPPER = with_upper(
    special.fdtr, special.fdtrc,
    {"dfn": None, "dfd": None, "x": density(f_density)},
    differences={"dfn": FREEDOM, "dfd": FREEDOM})

T = {"df": numerical(special.stdtr, 0, FREEDOM), "t": density(t_density)}
scalar_rule(special.stdtr, *T.values())
# fmt: on


# ---- non-central ----


def noncentral_chi_density(x, df, nc):
    """As a power series in ``nc * x``, or for large ones by ``ive``, which does not overflow."""
    large = nc * x > 100
    small_nc, small_x = np.where(large, 0, nc), np.where(large, 1, x)
    series = special.hyp0f1(df / 2, small_nc * small_x / 4) * np.exp(-small_nc / 2)
    series = series * gamma_density(df / 2, small_x / 2) / 2
    a, b = np.where(large, nc, 1), np.where(large, x, 1)
    gap = np.sqrt(a) - np.sqrt(b)
    scale = np.exp(-gap * gap / 2 + (df / 4 - 0.5) * (np.log(b) - np.log(a))) / 2
    return np.where(large, scale * special.ive(df / 2 - 1, np.sqrt(a * b)), series)


def noncentral_f_density(dfn, dfd, nc, x):
    """A Poisson mixture of beta densities is the function of Kummer."""
    a, b = dfn / 2, dfd / 2
    mixture = special.hyp1f1(a + b, a, nc / 2 * f_ratio(dfn, dfd, x))
    return np.exp(-nc / 2) * mixture * f_density(dfn, dfd, x)


def noncentral_f_by_nc(_, dfn, dfd, nc, x):
    """One event more in the Poisson mixture, less the function itself."""
    more = special.ncfdtr(dfn + 2, dfd, nc, x * dfn / (dfn + 2))
    return (more - special.ncfdtr(dfn, dfd, nc, x)) / 2


# fmt: off
# The derivative in nc is the loss of a further degree of freedom, twice (DLMF has none; Johnson,
# Kotz, Balakrishnan (1995), 29.23).
NONCENTRAL_CHI = {
    "x": density(noncentral_chi_density),
    "df": numerical(special.chndtr, 1, POSITIVE),
    "nc": density(lambda x, df, nc: -noncentral_chi_density(x, df + 2, nc))}
NONCENTRAL_F = {
    "dfn": numerical(special.ncfdtr, 0, FREEDOM),
    "dfd": numerical(special.ncfdtr, 1, FREEDOM),
    "nc": noncentral_f_by_nc,
    "f": density(noncentral_f_density)}
# Closed forms of these are differences of distribution functions themselves.
NONCENTRAL_T = {
    "df": numerical(special.nctdtr, 0, FREEDOM),
    "nc": numerical(special.nctdtr, 1),
    "t": numerical(special.nctdtr, 2)}
# fmt: on

scalar_rule(special.chndtr, *NONCENTRAL_CHI.values())
scalar_rule(special.ncfdtr, *NONCENTRAL_F.values())
scalar_rule(special.nctdtr, *NONCENTRAL_T.values())


# ---- Kolmogorov and Smirnov ----


def kolmogorov_slope(x):
    """From the two theta series, of which each converges where the other does not.

    Minus the density ``sum((-1)**(k-1) * 8 k**2 x exp(-2 k**2 x**2))``, and with
    ``c = (2 k - 1)**2 pi**2 / 8`` the derivative of ``sqrt(2 pi) / x * sum(exp(-c / x**2))``.
    """
    large = x > 1
    far, near = np.where(large, x, 1), np.where(large, 1, or_one(x))
    terms = [(-1) ** k * k * k * np.exp(-2 * k * k * far * far) for k in range(1, 6)]
    upper = 8 * far * functools.reduce(np.add, terms)
    inverse = 1 / (near * near)
    rates = [(2 * k - 1) ** 2 * math.pi**2 / 8 for k in range(1, 6)]
    slopes = [(2 * c * inverse - 1) * np.exp(-c * inverse) for c in rates]
    lower = -math.sqrt(2 * math.pi) * inverse * functools.reduce(np.add, slopes)
    return np.where(large, upper, np.where(x > 0, lower, 0))


def smirnov_slope(n, d):
    """The sum of Birnbaum and Tingey, term by term.

    ``d * sum(binom(n, k) * (d + k/n)**(k-1) * (1 - d - k/n)**(n-k))``, over ``k <= n (1 - d)``.
    """
    n = np.expand_dims(n * 1.0, -1)
    d = np.expand_dims(d, -1)
    k = np.arange(1, max(1, np.max(n, initial=1)))
    below, above = d + k / n, 1 - d - k / n
    counts = (k < n) & (above > 0)
    below, above = np.where(counts, below, 1), np.where(counts, above, 1)
    m = np.where(counts, n, k)
    log_binomial = -special.betaln(m - k + 1, k + 1) - np.log1p(m)
    term = np.exp(log_binomial + (k - 1) * np.log(below) + (m - k) * np.log(above))
    slope = 1 + d * ((k - 1) / below - (m - k) / above)
    first = -(n * (1 - d) ** (n - 1))[..., 0]
    return first + np.sum(np.where(counts, term * slope, 0), axis=-1)


KOLMOGOROV = {"x": density(kolmogorov_slope)}
SMIRNOV = {"n": whole(special.smirnov, "n"), "d": density(smirnov_slope)}
scalar_rule(special.kolmogorov, *KOLMOGOROV.values())
scalar_rule(special.smirnov, *SMIRNOV.values())
