"""Windows of pandas: its compiled module of rolling and exponential windows, with derivatives.

``cr.adopt("pandas.core.window")`` puts this module in the place of that one, so that
``(df["a"] * x).rolling(3).mean()`` can be differentiated. The values are pandas' own.
"""

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
from pandas._libs.window import aggregations

from ...config import MissingRuleError, user_line
from ...rules import Traced, array_of, own_valued, value
from .column import Column
from .reductions import NAN, reduced


def _of_windows(name: str) -> Callable:
    """Return a reduction of each window, as a function of all entries and the windows' bounds."""

    def windows(
        values: Any, start: Any, end: Any, minp: int, ddof: int = 1, *, own: np.ndarray
    ) -> Any:
        return array_of(
            [
                NAN if np.isnan(y) else reduced(name, values[i:j], ddof=ddof)
                for y, i, j in zip(own, start, end, strict=True)
            ]
        )

    return _as_column(getattr(aggregations, f"roll_{_NAMES.get(name, name)}"), windows)


def _as_column(compiled: Callable, body: Callable) -> Callable:
    """Return ``compiled`` with the derivative of ``body``; what it gives, traced, is a column."""
    valued = own_valued(compiled, body)

    @functools.wraps(compiled)
    def shown(*args: Any, **kwargs: Any) -> Any:
        y = valued(*args, **kwargs)
        return Column(y) if isinstance(y, Traced) else y

    return shown


_NAMES = {"median": "median_c"}
roll_sum, roll_mean, roll_var = map(_of_windows, ("sum", "mean", "var"))
roll_max, roll_min, roll_median_c = map(_of_windows, ("max", "min", "median"))
roll_skew, roll_kurt = map(_of_windows, ("skew", "kurt"))
roll_first, roll_last = map(_of_windows, ("first", "last"))


def _quantiles(
    values: Any,
    start: Any,
    end: Any,
    minp: int,
    quantile: float,
    interpolation: Any,
    *,
    own: np.ndarray,
) -> Any:
    """Return a quantile of each window, of the numbers that are there."""
    found = [
        NAN
        if np.isnan(y)
        else np.quantile(_present(values[i:j])[0], quantile, method=interpolation)
        for y, i, j in zip(own, start, end, strict=True)
    ]
    return array_of(found)


def _present(*columns: Any) -> tuple:
    """Return the numbers of windows of the same length where none of them is missing."""
    missing = np.any([np.isnan(value(x)) for x in columns], axis=0)
    return tuple(x[~missing] for x in columns) if np.any(missing) else columns


OF_PAIRS = 1e-7, 1e-12  # how near: pandas' sums over windows lose digits


def _covariance(x: Any, y: Any, ddof: int) -> Any:
    return np.sum((x - np.mean(x)) * (y - np.mean(y))) / (len(x) - ddof)


def _correlation(x: Any, y: Any, _: int) -> Any:
    return _covariance(x, y, 0) / np.sqrt(_covariance(x, x, 0) * _covariance(y, y, 0))


def _of_pairs(name: str, statistic: Callable) -> Callable:
    """Return a statistic of each window of two columns, as pandas' compiled function has it."""

    def windows(
        xs: Any, ys: Any, start: Any, end: Any, minp: int, ddof: int = 1, *, own: np.ndarray
    ) -> Any:
        return _agreeing(
            [
                NAN if np.isnan(z) else statistic(*_present(xs[i:j], ys[i:j]), ddof)
                for z, i, j in zip(own, start, end, strict=True)
            ],
            own,
            *OF_PAIRS,
        )

    return _as_column(getattr(aggregations, name, _covariance), windows)


def _agreeing(found: list, own: np.ndarray, rtol: float, atol: float) -> Any:
    """Return what the rule of a window found, if it is what pandas computes."""
    y = array_of(found)
    if not np.allclose(value(y), own, rtol, atol, equal_nan=True):
        raise MissingRuleError(
            f"this version of pandas weighs otherwise than its rule says, in {user_line()}.\n"
            "  write the weighted mean with NumPy's functions"
        )
    return y


def _counting(name: str) -> Callable:
    """Return a function of the order of numbers, which is constant as long as that stays."""
    compiled = getattr(aggregations, name)

    @functools.wraps(compiled)
    def counted(*args: Any, **kwargs: Any) -> Any:
        return compiled(*value(args), **value(kwargs))

    return counted


roll_quantile = _as_column(aggregations.roll_quantile, _quantiles)
roll_cov, roll_corr = _of_pairs("roll_cov", _covariance), _of_pairs("roll_corr", _correlation)
roll_rank, roll_nunique = _counting("roll_rank"), _counting("roll_nunique")


def _weighted(
    vals: Any,
    start: Any,
    end: Any,
    minp: int,
    com: float,
    adjust: bool,
    ignore_na: bool,
    deltas: Any = None,
    normalize: bool = True,
    *,
    own: np.ndarray,
) -> Any:
    """Return exponentially weighted means of all entries up to each, or their sums."""
    decay = 1.0 - 1.0 / (1.0 + com)
    found: list[Any] = []
    for i, j in zip(start, end, strict=True):
        mean: Any = NAN
        weight = 1.0
        for k in range(i, j):
            x = vals[k]
            there = not np.isnan(value(x))
            if there and np.isnan(value(mean)):
                mean = x
            elif there or not (ignore_na or np.isnan(value(mean))):
                step = 1.0 if deltas is None else deltas[k - 1]
                weight, mean = _passed(weight, mean, decay**step, normalize)
                if there and normalize:
                    regular = 1.0 - (weight if com == 1 else decay)  # as pandas has it
                    new = 1.0 if adjust else regular
                    mean = (weight * mean + new * x) / (weight + new)
                    weight = weight + new if adjust else 1.0
                elif there:
                    mean = mean + x
            found.append(NAN if np.isnan(own[k]) else mean)
    return _agreeing(found, own, 1e-9, 1e-8)


def _passed(weight: float, mean: Any, decay: float, normalize: bool) -> tuple[float, Any]:
    return (weight * decay, mean) if normalize else (weight, mean * decay)


def _weighted_covariance(
    xs: Any,
    start: Any,
    end: Any,
    minp: int,
    ys: Any,
    com: float,
    adjust: bool,
    ignore_na: bool,
    bias: bool,
    *,
    own: np.ndarray,
) -> Any:
    """Return exponentially weighted covariances of all pairs up to each."""
    decay, new = 1.0 - 1.0 / (1.0 + com), 1.0 if adjust else 1.0 / (1.0 + com)
    missing = np.isnan(value(xs)) | np.isnan(value(ys))
    found: list[Any] = []
    for i, j in zip(start, end, strict=True):
        mean_x = mean_y = covariance = 0.0
        weight = total = squares = 0.0  # the weights so far, their sum, that of their squares
        for k in range(i, j):
            if not missing[k] or not ignore_na:
                weight, total, squares = weight * decay, total * decay, squares * decay**2
            if not missing[k]:
                x, y, share = xs[k], ys[k], new if weight else 1.0
                both = weight + share
                mean_x, last_x = (weight * mean_x + share * x) / both, mean_x
                mean_y, last_y = (weight * mean_y + share * y) / both, mean_y
                moved = (last_x - mean_x) * (last_y - mean_y)
                apart = (x - mean_x) * (y - mean_y)
                covariance = (weight * (covariance + moved) + share * apart) / both
                total, squares, weight = total + share, squares + share**2, both
                if not adjust:
                    total, squares, weight = total / weight, squares / weight**2, 1.0
            regular = 1.0 if bias or np.isnan(own[k]) else total**2 / (total**2 - squares)
            found.append(NAN if np.isnan(own[k]) else regular * covariance)
    return _agreeing(found, own, *OF_PAIRS)


ewm = _as_column(aggregations.ewm, _weighted)
ewmcov = _as_column(aggregations.ewmcov, _weighted_covariance)


def __getattr__(name: str) -> Any:
    return getattr(aggregations, name)
