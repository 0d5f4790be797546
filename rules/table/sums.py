"""Sums over axes of plain arrays, and their transposes, fast where arrays are small.

The sum over the columns of a matrix of ten columns, or over its rows, takes
``np.add.reduce`` up to ten times as long as the product with a vector of ones does. Long lanes
are left to it: it adds them pairwise, which is more accurate.
"""

import math
from typing import Any

import numpy as np

SHORT = 64  # entries that lie together, up to which the product is the faster one
FEW = 512  # entries, up to which it is not worth the question


def sum_over(x: np.ndarray, axis: tuple[int, ...]) -> Any:
    """Return ``np.sum(x, axis)`` of a plain array, where ``axis`` ascends from 0."""
    if x.size > FEW and axis and x.dtype.char in "fdFD" and x.flags.c_contiguous:
        first, end, shape = axis[0], axis[-1] + 1, x.shape
        n, inner = math.prod(shape[first:end]), math.prod(shape[end:])
        if end - first == len(axis) and (n if inner == 1 else inner) <= SHORT:
            ones = np.ones(n, x.dtype)
            if inner == 1:
                summed = np.reshape(x, (-1, n)) @ ones
            else:
                summed = ones @ np.reshape(x, (-1, n, inner))
            return np.reshape(summed, shape[:first] + shape[end:])
    return np.add.reduce(x, axis=axis)


COPIED = 1 << 10  # entries, up to which a copy is made sooner than a view of one number


def spread_to(ybar: Any, shape: tuple[int, ...]) -> Any:
    """Broadcast ``ybar`` to ``shape``; np.broadcast_to takes ten times as long as a small copy."""
    if (type(ybar) is np.float64 or type(ybar) is np.ndarray) and math.prod(shape) <= COPIED:
        y = np.empty(shape, ybar.dtype)
        y[...] = ybar
        return y
    return np.broadcast_to(ybar, shape)
