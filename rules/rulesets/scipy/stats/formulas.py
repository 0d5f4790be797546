"""Formulas of a univariate distribution in its standard form, at location 0 and scale 1."""

import numpy as np


class Formulas:
    """The formulas of a distribution at location 0 and scale 1, after its shapes.

    ``log_density(z, *shapes)``, where the density is not 0; the others are made of one another as
    SciPy makes them. A discrete one has the logarithm of its mass, and says which of its shapes
    are ``whole`` numbers. Those that are missing are refused.
    """

    def __init__(self, log_density=None, *, density=None, cdf=None, sf=None, logcdf=None,
                 logsf=None, mean=None, var=None, entropy=None, whole=()):  # fmt: skip
        if log_density is None and density is not None:
            log_density = after(np.log, density)
        density = density or after(np.exp, log_density)
        if logcdf and not cdf:
            cdf = after(np.exp, logcdf)
        if logsf and not sf:
            sf = after(np.exp, logsf)
        cdf, sf = cdf or after(one_less, sf), sf or after(one_less, cdf)
        self.of = {"pdf": density, "logpdf": log_density, "pmf": density, "logpmf": log_density,
                   "cdf": cdf, "logcdf": logcdf or after(np.log, cdf),
                   "sf": sf, "logsf": logsf or after(np.log, sf),
                   "mean": mean, "var": var, "entropy": entropy}  # fmt: skip
        self.whole = whole


def after(outer, formula):
    return None if formula is None else lambda *args: outer(formula(*args))


def one_less(p):
    return 1 - p


NONE = Formulas()
