"""Sums over axes of plain arrays, and their transposes, fast where arrays are small.

The sum over the columns of a matrix of ten columns, or over its rows, takes
``np.add.reduce`` up to ten times as long as the product with a vector of ones does. Long lanes
are left to it: it adds them pairwise, which is more accurate.
"""

import functools
import math
from typing import Any

import numpy as np

from ...config.thresholds import FEW_TO_SUM, SHORT_LANES, SPREAD_BY_COPY
from ..shapes import shape_of
from ..tangents.project import ProjectForeign, ProjectNumber, Projector
from ..tracing.level import Traced
from .structural_zeros import Masked, counts_of, plain_array

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


def spread_over(ybar: Any, space: Projector) -> Any:
    """Broadcast ``ybar`` to an array of ``space``; of dask, in the chunks of the primal.

    np.broadcast_to takes ten times as long as a small copy.
    """
    if type(space) is ProjectForeign:
        return ybar + space.zeros()
    if type(space) is ProjectNumber:
        return ybar
    kind = type(ybar)
    if (kind is np.ndarray or kind is _float64 or kind is float) and space.size <= SPREAD_BY_COPY:
        y = np.empty(space.shape, float if kind is float else ybar.dtype)
        y[...] = ybar
        return y
    return np.broadcast_to(ybar, space.shape)


def unbroadcast(xbar: Any, shape: tuple[int, ...]) -> Any:
    """Sum a cotangent over the axes along which its argument was broadcast."""
    if type(xbar) is np.ndarray and xbar.shape == shape:
        return xbar
    if type(xbar) is Masked:
        # An entry is alive where one of those that it was broadcast to is.
        counts = unbroadcast(counts_of(xbar.alive), shape)
        return Masked(unbroadcast(xbar.value, shape), plain_array(counts) > 0)
    given = shape_of(xbar)
    if given == shape:
        return xbar
    if len(given) < len(shape):
        return np.broadcast_to(xbar, shape)
    axis = _axes_broadcast(shape, given)
    if type(xbar) is np.ndarray:
        summed = sum_over(xbar, axis)
        return summed if summed.shape == shape else summed.reshape(shape)
    is_traced = isinstance(xbar, Traced)
    summed = xbar.at_level.sum_over(xbar, axis) if is_traced else np.sum(xbar, axis=axis)
    return summed if shape_of(summed) == shape else np.reshape(summed, shape)


@functools.lru_cache(maxsize=1024)
def _axes_broadcast(shape: tuple[int, ...], given: tuple[int, ...]) -> tuple[int, ...]:
    """Return the axes of the shape ``given`` along which ``shape`` was broadcast to it."""
    extra = len(given) - len(shape)
    repeated = [extra + k for k, n in enumerate(shape) if n == 1 and given[extra + k] != 1]
    return (*range(extra), *repeated)
