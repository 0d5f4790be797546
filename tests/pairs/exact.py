"""Derivatives of plain programs to any order, by nested differences.

A plain program takes points along the last axis and any number of axes before it, so that all the
points of a nest of differences are evaluated at once. The precision is that of the point: long
doubles serve nests of four and more.
"""

import numpy as np

STEP = 1 / 128
OFFSETS = STEP * np.array([-3, -2, -1, 1, 2, 3])
# Of sixth order.
WEIGHTS = np.array([-1, 9, -45, 45, -9, 1], np.longdouble) / (60 * np.longdouble(STEP))


def along(f, v):
    """Return the derivative of ``f`` along ``v`` as a plain program."""

    def slope(x):
        moved = x[..., None, :] + OFFSETS[:, None] * v
        return np.sum(WEIGHTS.astype(x.dtype)[:, None] * f(moved), axis=-2)

    return slope


def jacobian(f):
    """Return the Jacobian of ``f``, with the directions along the last axis."""

    def slopes(x):
        moved = x[..., None, None, :] + OFFSETS[:, None, None] * np.eye(x.shape[-1])
        weights = WEIGHTS.astype(x.dtype)[:, None, None]
        return np.swapaxes(np.sum(weights * f(moved), axis=-3), -1, -2)

    return slopes


def pulled(f, w):
    """Return the gradient of the sum of ``w * f(x)`` as a plain program."""
    return lambda x: np.sum(w[:, None] * jacobian(f)(x), axis=-2)
