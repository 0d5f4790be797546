"""scipy.special: inverses of distribution functions, in each of their parameters.

By the implicit function theorem: where ``cdf(..., y, ...) = p``, dy/dp is one over the slope of
``cdf`` in ``y``, and dy/dx is minus the ratio of the slopes in ``x`` and ``y``. Where there is no
such ``y``, some functions return an end of what they searched (1e100, 1e-100, 0); what they have
as a derivative there means nothing.
"""

import math

import numpy as np
from scipy import special

from ... import scalar_rule
from .distributions import (
    BETA,
    BETA_UPPER,
    BINOMIAL,
    BINOMIAL_BETWEEN,
    CHI,
    CHI_UPPER,
    GAMMA,
    GAMMA_UPPER,
    GDTR,
    KOLMOGOROV,
    NEGATIVE,
    NEGATIVE_BETWEEN,
    NONCENTRAL_CHI,
    NONCENTRAL_F,
    NONCENTRAL_T,
    POISSON,
    POISSON_BETWEEN,
    SMIRNOV,
    F,
    T,
)
from .tools import quotient

ROOT_2_PI = math.sqrt(2 * math.pi)


def solves(f, distribution, unknown, order):
    """``f`` finds the parameter ``unknown``, given the arguments named in ``order``, with ``p?``.

    ``p?`` stands for the probability, because ``p`` may be a parameter.
    """
    names = order.split()

    def slope(name, y, args):
        given = dict(zip(names, args)) | {unknown: y}
        return distribution[name](y, *(given[each] for each in distribution))

    def held(partial):
        """A count does not go below 0, where the probability is too small for any."""
        return lambda y, *args: np.where(y == 0, 0, partial(y, *args))

    def partial_in(name):
        partial = free_partial_in(name)
        return held(partial) if unknown == "k" and callable(partial) else partial

    def free_partial_in(name):
        if name == "p?":
            return lambda y, *args: 1 / slope(unknown, y, args)
        if not callable(distribution[name]):  # it is 0, or missing
            return distribution[name]
        # At the end of a distribution the solution stays where it is: 0 / 0.
        return lambda y, *args: -quotient(slope(name, y, args), slope(unknown, y, args))

    scalar_rule(f, *map(partial_in, names))


# fmt: off
solves(special.gammaincinv,  GAMMA,       "x", "a p?")
solves(special.gammainccinv, GAMMA_UPPER, "x", "a p?")
solves(special.gdtria,       GDTR,        "a", "p? b x")
solves(special.gdtrib,       GDTR,        "b", "a p? x")
solves(special.gdtrix,       GDTR,        "x", "a b p?")
solves(special.chdtri,       CHI_UPPER,   "x", "v p?")
solves(special.chdtriv,      CHI,         "v", "p? x")
solves(special.pdtri,        POISSON,     "m", "k p?")
solves(special.pdtrik,       POISSON_BETWEEN, "k", "p? m")

solves(special.betaincinv,   BETA,        "x", "a b p?")
solves(special.betainccinv,  BETA_UPPER,  "x", "a b p?")
solves(special.btdtria,      BETA,        "a", "p? b x")
solves(special.btdtrib,      BETA,        "b", "a p? x")
solves(special.bdtri,        BINOMIAL,    "p", "k n p?")
solves(special.bdtrik,       BINOMIAL_BETWEEN, "k", "p? n p")
solves(special.bdtrin,       BINOMIAL_BETWEEN, "n", "k p? p")
solves(special.nbdtri,       NEGATIVE,    "p", "k n p?")
solves(special.nbdtrik,      NEGATIVE_BETWEEN, "k", "p? n p")
solves(special.nbdtrin,      NEGATIVE_BETWEEN, "n", "k p? p")

solves(special.fdtri,        F,           "x", "dfn dfd p?")
solves(special.fdtridfd,     F,           "dfd", "dfn p? x")
solves(special.stdtrit,      T,           "t", "df p?")
solves(special.stdtridf,     T,           "df", "p? t")

solves(special.chndtrix,     NONCENTRAL_CHI, "x",  "p? df nc")
solves(special.chndtridf,    NONCENTRAL_CHI, "df", "x p? nc")
solves(special.chndtrinc,    NONCENTRAL_CHI, "nc", "x df p?")
solves(special.ncfdtri,      NONCENTRAL_F, "f",   "dfn dfd nc p?")
solves(special.ncfdtridfn,   NONCENTRAL_F, "dfn", "p? dfd nc f")
solves(special.ncfdtridfd,   NONCENTRAL_F, "dfd", "dfn p? nc f")
solves(special.ncfdtrinc,    NONCENTRAL_F, "nc",  "dfn dfd p? f")
solves(special.nctdtrit,     NONCENTRAL_T, "t",  "df nc p?")
solves(special.nctdtridf,    NONCENTRAL_T, "df", "p? nc t")
solves(special.nctdtrinc,    NONCENTRAL_T, "nc", "df p? t")

solves(special.kolmogi,      KOLMOGOROV,  "x", "p?")
solves(special.smirnovi,     SMIRNOV,     "d", "n p?")
# fmt: on


def normal_slope(z):
    """The derivative of ``ndtri`` where it is ``z``."""
    return ROOT_2_PI * np.exp(z * z / 2)


def deviation_by_p(y, _mean, p, _x):
    z = special.ndtri(p)
    return -y / z * normal_slope(z)


# fmt: off
# The mean is x - deviation * ndtri(p).
scalar_rule(special.nrdtrimn,
            lambda _, p, deviation, _x: -deviation * normal_slope(special.ndtri(p)),
            lambda _, p, _deviation, _x: -special.ndtri(p),
            1)
scalar_rule(special.nrdtrisd,
            lambda _, _mean, p, _x: -1 / special.ndtri(p),
            deviation_by_p,
            lambda _, _mean, p, _x: 1 / special.ndtri(p))
# fmt: on
