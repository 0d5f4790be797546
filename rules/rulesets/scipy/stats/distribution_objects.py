"""Distributions that are objects, as ``stats.Normal(mu=0.0)``, followed by their source."""

import numpy as np
from scipy import stats

from .... import adjusted, source_of, value
from .. import source_classes
from ..optimize import elementwise as elementwise  # their solvers ask its rules

CLASSES = ("Normal", "Logistic", "Uniform", "Binomial", "Mixture")
# All that they return is of the copies' classes, whether anything is traced or not yet.
FUNCTIONS = ("make_distribution", "truncate", "order_statistic", "abs", "exp", "log")

INSTEAD = {
    name: source_classes.of_its_source(getattr(stats, name))
    for name in CLASSES
    if hasattr(stats, name)
} | {name: source_of(getattr(stats, name)) for name in FUNCTIONS if hasattr(stats, name)}


def kept_apart(names):
    """Let distributions keep no results, which would be those of another transform.

    An end of a support that is infinite stays where it is: infinity times a scale has no slope.
    """
    univariate, scaled = names["UnivariateDistribution"], names["ShiftedScaledDistribution"]
    univariate.cache_policy = univariate.cache_policy.getter(lambda self: "no_cache")
    own = scaled._support

    def _support(self, **params):
        ends = own(self, **params)
        return tuple(value(x) if np.all(np.isinf(value(x))) else x for x in ends)

    scaled._support = _support


adjusted["scipy.stats._distribution_infrastructure"] = kept_apart
