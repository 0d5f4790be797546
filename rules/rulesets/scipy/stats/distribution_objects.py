"""Distribution objects, such as ``stats.Normal(mu=0.0)``, differentiated by their source."""

import numpy as np
from scipy import stats

from .... import adjusted, source_of, value
from .. import source_classes
from ..optimize import elementwise

CLASSES = ("Normal", "Logistic", "Uniform", "Binomial", "Mixture")
# All that they return is of the copies' classes, whether anything is traced or not yet.
FUNCTIONS = ("make_distribution", "truncate", "order_statistic", "abs", "exp", "log")
NAMES = (*CLASSES, *FUNCTIONS)

INSTEAD: dict = {}
if hasattr(stats, "Binomial"):  # not of SciPy 1.15, whose first ones had other methods
    INSTEAD |= {name: source_classes.of_its_source(getattr(stats, name)) for name in CLASSES}
    INSTEAD |= {name: source_of(getattr(stats, name)) for name in FUNCTIONS}


def kept_apart(names):
    """Let distributions keep no results, which would be those of another transform.

    An end of a support that is infinite stays where it is: infinity times a scale has no slope.
    """
    elementwise.solved_by_rules(names)
    for cls in names.values():
        if isinstance(cls, type) and "cache_policy" in vars(cls):
            cls.cache_policy = cls.cache_policy.getter(lambda self: "no_cache")
    scaled = names["ShiftedScaledDistribution"]
    own = scaled._support

    def _support(self, **params):
        ends = own(self, **params)
        return tuple(value(x) if np.all(np.isinf(value(x))) else x for x in ends)

    scaled._support = _support


adjusted["scipy.stats._distribution_infrastructure"] = kept_apart
