"""Reductions of a column as pandas means them: without what is missing, and of each group."""

from collections.abc import Callable
from typing import Any

import numpy as np

from ...rules import array_of, value
from ...rules.refusals.table import refusal

NAN = float("nan")


def _variance(x: Any, ddof: int) -> Any:
    return np.var(x, ddof=ddof) if len(x) > ddof else NAN


def _skew(x: Any) -> Any:
    n, d = len(x), x - np.mean(x)
    if n < 3:
        return NAN
    m2 = np.sum(d**2)
    return n * np.sqrt(n - 1.0) / (n - 2.0) * np.sum(d**3) / m2**1.5 if value(m2) > 0 else 0.0


def _kurtosis(x: Any) -> Any:
    n, d = len(x), x - np.mean(x)
    if n < 4:
        return NAN
    m2 = np.sum(d**2)
    if value(m2) == 0:
        return 0.0
    fourth = n * (n + 1.0) * (n - 1.0) * np.sum(d**4) / ((n - 2.0) * (n - 3.0) * m2**2)
    return fourth - 3.0 * (n - 1.0) ** 2 / ((n - 2.0) * (n - 3.0))


# Of the numbers ``x`` that are there, which are one at least.
_STATISTICS: dict[str, Callable] = {
    "mean": lambda x, ddof: np.mean(x),
    "median": lambda x, ddof: np.median(x),
    "min": lambda x, ddof: np.min(x),
    "max": lambda x, ddof: np.max(x),
    "var": _variance,
    "std": lambda x, ddof: np.sqrt(_variance(x, ddof)),
    "sem": lambda x, ddof: np.sqrt(_variance(x, ddof) / len(x)),
    "skew": lambda x, ddof: _skew(x),
    "kurt": lambda x, ddof: _kurtosis(x),
    "first": lambda x, ddof: x[0],
    "last": lambda x, ddof: x[-1],
}
_SUMS: dict[str, Callable] = {"sum": np.sum, "prod": np.prod}
_LOOKS: dict[str, Callable] = {"any": np.any, "all": np.all, "count": np.size}
_CUMULATIVE: dict[str, tuple[Callable, float]] = {
    "cumsum": (np.cumsum, 0.0),
    "cumprod": (np.cumprod, 1.0),
}


def reduced(
    name: str, x: Any, skipna: bool = True, *, ddof: int = 1, min_count: int = 0, **_: Any
) -> Any:
    """Reduce a column to the statistic ``name``, of what is not missing if ``skipna``."""
    missing = np.isnan(x)
    if skipna and np.any(missing):
        x = x[~missing]
    if name in _LOOKS:
        return _LOOKS[name](value(x))
    if len(x) < max(min_count, 0):
        return NAN
    if name in _SUMS:
        return _SUMS[name](x)
    if name not in _STATISTICS:
        raise refusal("statistic of a column", name=name)
    return _STATISTICS[name](x, ddof) if len(x) else NAN


def accumulated(name: str, x: Any, skipna: bool = True) -> Any:
    """Accumulate a column from its beginning; what is missing stays so, and counts for nothing."""
    if name not in _CUMULATIVE:
        raise refusal("statistic of a column", name=name)
    f, neutral = _CUMULATIVE[name]
    missing = np.isnan(x)
    if not skipna or not np.any(missing):
        return f(x)
    return np.where(missing, NAN, f(np.where(missing, neutral, x)))


def by_group(
    how: str, x: Any, ids: np.ndarray, ngroups: int, *, min_count: int = -1, **options: Any
) -> Any:
    """Reduce or accumulate each group of a column; ``ids`` says of each number its group."""
    groups = [np.flatnonzero(ids == k) for k in range(ngroups)]
    options.pop("has_dropped_na", None)
    skipna = options.pop("skipna", True)
    if how not in _CUMULATIVE:
        ys = [reduced(how, x[k], skipna, min_count=min_count, **options) for k in groups]
        return array_of(ys) if ys else np.zeros(0)
    rest = np.flatnonzero(ids < 0)
    parts = [accumulated(how, x[k], skipna) for k in groups]
    order = np.concatenate([*groups, rest])
    return np.concatenate([*parts, np.full(len(rest), NAN)])[np.argsort(order)]
