"""Hermitian matrices of which LAPACK reads one triangle; the other has no derivative."""

import functools

import numpy as np

from ....config.thresholds import MASKS_KEPT
from ... import dtype_of
from ..arrays.products import adjoint


@functools.cache
def lower(n):
    """Return a mask of the lower triangle, and a matrix of ones with halves on its diagonal."""
    return np.tri(n, dtype=bool), 1 - np.eye(n) / 2


@functools.cache
def places_read(n, triangle):
    """Return for each entry of a symmetric matrix where it is read in one triangle, row by row."""
    rows, columns = np.indices((n, n))
    first, second = np.maximum(rows, columns), np.minimum(rows, columns)
    return first * n + second if triangle == "L" else second * n + first


def is_small(x):
    """Say whether ``x`` holds matrices of few floats: masks of NumPy's take as long as the rest."""
    return type(x) is np.ndarray and x.shape[-1] <= MASKS_KEPT and x.dtype == np.float64


def half_lower(x):
    """Return the lower triangle with half the diagonal; as a linear map its own transpose."""
    if is_small(x):
        inside, halves = lower(x.shape[-1])
        return np.where(inside, x * halves, 0.0)
    one = dtype_of(x).type(1)
    return np.tril(x) * np.where(np.eye(np.shape(x)[-1], dtype=bool), one / 2, one)


def half(x, triangle):
    """Return the lower or upper triangle, "L" or "U", with half the diagonal."""
    if triangle.upper() == "L":
        return half_lower(x)
    return np.swapaxes(half_lower(np.swapaxes(x, -1, -2)), -1, -2)


def doubled(x):
    return x + adjoint(x)


def from_triangle(x, triangle):
    """Return the hermitian matrix that LAPACK reads in one triangle of ``x``."""
    if is_small(x):
        *stack, n, _ = x.shape
        return x.reshape((*stack, n * n)).take(places_read(n, triangle.upper()), -1)
    return doubled(half(x, triangle))


def from_triangle_transpose(ybar, triangle):
    return half(doubled(ybar), triangle)
