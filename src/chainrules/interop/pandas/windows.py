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
    y = array_of(found)
    if not np.allclose(value(y), own, 1e-9, equal_nan=True):
        raise MissingRuleError(
            f"this version of pandas weighs otherwise than its rule says, in {user_line()}.\n"
            "  write the weighted mean with NumPy's functions"
        )
    return y


def _passed(weight: float, mean: Any, decay: float, normalize: bool) -> tuple[float, Any]:
    return (weight * decay, mean) if normalize else (weight, mean * decay)


ewm = _as_column(aggregations.ewm, _weighted)


def __getattr__(name: str) -> Any:
    return getattr(aggregations, name)
