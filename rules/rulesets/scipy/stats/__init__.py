"""Rules for scipy.stats: a table of distributions, and the functions of samples."""

from typing import Any

from scipy import stats

from ...special import ufuncs  # first: they load each other
from .continuous import CONTINUOUS
from .discrete import DISCRETE
from .univariate import NONE, Distribution

FORMULAS = {**CONTINUOUS, **DISCRETE}
INSTEAD: dict[str, Any] = {
    name: Distribution(own, FORMULAS.get(name, NONE))
    for name, own in vars(stats).items()
    if isinstance(own, stats.rv_continuous | stats.rv_discrete)
}
REFUSED: dict[str, tuple[str, str]] = {}
