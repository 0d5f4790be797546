"""Rules for scipy.stats: a table of distributions, and the functions of samples."""

from typing import Any

from scipy import stats

from ...special import ufuncs  # first: they load each other
from . import (
    distances,
    distribution_objects,
    inference,
    multivariate,
    order,
    powers,
    samples,
    shape_tests,
)
from .continuous import CONTINUOUS
from .density import gaussian_kde
from .discrete import DISCRETE
from .formulas import NONE
from .multivariate import Multivariate
from .refused import REFUSED
from .univariate import Distribution

FORMULAS = {**CONTINUOUS, **DISCRETE}
INSTEAD: dict[str, Any] = {
    name: Distribution(own, FORMULAS.get(name, NONE))
    for name, own in vars(stats).items()
    if isinstance(own, stats.rv_continuous | stats.rv_discrete)
}
INSTEAD |= {
    name: Multivariate(own, name, multivariate.FORMULAS.get(name, {}))
    for name, own in vars(stats).items()
    if isinstance(own, type(stats.dirichlet).__mro__[1])
}
INSTEAD["gaussian_kde"] = gaussian_kde
INSTEAD |= distribution_objects.INSTEAD


def named(name: str) -> Any:
    """Return the stand-in for ``scipy.stats.<name>``: a copy of it is itself."""
    return INSTEAD[name]
