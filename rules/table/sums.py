"""Sums over axes of plain arrays, and their transposes, fast where arrays are small.

The sum over the columns of a matrix of ten columns, or over its rows, takes
``np.add.reduce`` up to ten times as long as the product with a vector of ones does. Long lanes
are left to it: it adds them pairwise, which is more accurate.
"""

import math
from typing import Any

import numpy as np

from ...config.thresholds import FEW_TO_SUM, SHORT_LANES, SPREAD_BY_COPY
from ..annotations import Tangentlike
from ..tangents.project import ProjectNumber, Projector

_float64 = np.float64


def sum_over(x: np.ndarray, axis: tuple[int, ...]) -> Any:
    """Return ``np.sum(x, axis)`` of a plain array, where ``axis`` ascends from 0."""
    if x.size > FEW_TO_SUM and axis and x.dtype.char in "fdFD" and x.flags.c_contiguous:
        first, end, shape = axis[0], axis[-1] + 1, x.shape
        n, inner = math.prod(shape[first:end]), math.prod(shape[end:])
        if end - first == len(axis) and (n if inner == 1 else inner) <= SHORT_LANES:
            ones = np.ones(n, x.dtype)
            summed = x.reshape(-1, n) @ ones if inner == 1 else ones @ x.reshape(-1, n, inner)
            return summed.reshape(shape[:first] + shape[end:])
    return np.add.reduce(x, axis=axis)


def spread_over(ybar: Tangentlike, space: Projector) -> Any:
    """Broadcast ``ybar`` to an array of ``space``; of dask, in the chunks of the primal.

    np.broadcast_to takes ten times as long as a small copy.
    """
    if getattr(space, "empty", None) is not None:
        return ybar + space.empty
    if type(space) is ProjectNumber:
        return ybar
    kind = type(ybar)
    if (kind is np.ndarray or kind is _float64 or kind is float) and space.size <= SPREAD_BY_COPY:
        y = np.empty(space.shape, float if kind is float else ybar.dtype)
        y[...] = ybar
        return y
    return np.broadcast_to(ybar, space.shape)
