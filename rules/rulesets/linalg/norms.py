"""Norms of vectors and matrices.

At 0 a norm has the subgradient 0, the shortest there is, and no second derivative: that is NaN
or infinite, never a wrong number, and so is that of ``norm(x)**2``. ``x @ x`` is smooth there.
"""

import math

import numpy as np

from ....config import MissingRuleError, user_line
from ... import composed, is_traced, primitive, reduction_rule, value
from ..arrays.products import conj
from ..arrays.quotients import quotient
from .svd import nuclear_norm

# ---- the Euclidean norm ---------------------------------------------------------------------


@primitive
def euclidean(x, axis=None, keepdims=False):
    """Root of the sum of squares over all axes, one or several."""
    if type(axis) is not tuple or len(axis) <= 2:
        if axis is None and not keepdims:
            return np.linalg.norm(x)  # which is quicker than with options that say nothing
        return np.linalg.norm(x, axis=axis, keepdims=keepdims)
    return np.sqrt(np.sum(np.abs(x) ** 2, axis=axis, keepdims=keepdims))


@reduction_rule(euclidean)
def euclidean_weights(euclidean, x, y, axis):
    """From ``y**2 = sum(conj(x) * x)``: ``y * ydot = Re sum(conj(x) * xdot)``."""
    return conj(quotient(x, y))


# ---- other powers ---------------------------------------------------------------------------


@primitive
def power_norm(x, p, axis, keepdims=False):
    """Root of order ``p`` of the sum of ``abs(x)**p`` over one axis."""
    return np.linalg.norm(x, p, axis, keepdims)


def power_norm_slope(x, y, p):
    """Return ``x * abs(x)**(p - 2) / y**(p - 1)``, arranged so that an entry may be 0."""
    size = np.abs(x)
    along = x * size ** (p - 2) if p >= 2 else quotient(x, size) * size ** (p - 1)
    return quotient(along, y ** (p - 1))


@reduction_rule(power_norm)
def power_norm_weights(power_norm, x, y, axis, p):
    """``y**(p - 1) * ydot = Re sum(abs(x)**(p - 2) * conj(x) * xdot)``.

    From ``y**p = sum(abs(x)**p)``, where ``abs(x)`` moves by ``Re(conj(x) * xdot) / abs(x)``.
    """
    return np.conj(power_norm_slope(x, y, p))


# ---- norms by name --------------------------------------------------------------------------


def largest(x, axis, keepdims=False):
    """The largest of numbers that are not negative: 0 where there are none."""
    start = {"initial": 0} if 0 in np.shape(x) else {}
    return np.max(x, axis=axis, keepdims=keepdims, **start)


def vector_norm_along(x, ord, axis, keepdims):
    if ord is None:
        return euclidean(x, axis, keepdims)
    if ord == math.inf:
        return largest(np.abs(x), axis=axis, keepdims=keepdims)
    if ord == -math.inf:
        return np.min(np.abs(x), axis=axis, keepdims=keepdims)
    if ord == 0:
        return np.linalg.norm(value(x), 0, axis, keepdims)  # a count
    if is_traced(ord):
        return np.sum(np.abs(x) ** ord, axis=axis, keepdims=keepdims) ** (1 / ord)
    if ord == 2:
        return euclidean(x, axis, keepdims)
    if ord == 1:
        return np.sum(np.abs(x), axis=axis, keepdims=keepdims)
    if type(ord) is str:
        raise ValueError(f"Invalid norm order '{ord}' for vectors")
    if np.ndim(ord) > 0:
        raise MissingRuleError(
            f"np.linalg.norm of several orders at once has no rule, in {user_line()}.\n"
            "  write np.stack([np.linalg.norm(x, p) for p in orders])"
        )
    return power_norm(x, float(ord), axis, keepdims)


def matrix_norm_along(x, ord, axis, keepdims):
    row, column = axis
    if ord in (None, "fro", "f"):
        return euclidean(x, axis, keepdims)
    if ord in ("nuc", 2, -2):
        x = np.moveaxis(x, axis, (-2, -1))
        if ord == "nuc":
            y = nuclear_norm(x)
        else:
            s = np.linalg.svd(x, compute_uv=False)
            y = np.min(s, -1) if ord < 0 else largest(s, -1)
        return np.expand_dims(y, axis) if keepdims else y
    if ord not in (1, -1, math.inf, -math.inf):
        raise ValueError("Invalid norm order for matrices.")
    first, second = (row, column) if abs(ord) == 1 else (column, row)
    sums = np.sum(np.abs(x), axis=first)
    y = (largest if ord > 0 else np.min)(sums, axis=second - (second > first))
    return np.expand_dims(y, axis) if keepdims else y


def every_axis(x, axis):
    """Return the axes that an option names, counted from the first; None names all."""
    rank = np.ndim(x)
    axes = range(rank) if axis is None else axis if type(axis) is tuple else (axis,)
    return tuple(k % rank for k in axes)


@composed(np.linalg.norm)
def norm(x, ord=None, axis=None, keepdims=False):
    if axis is None and ord is None:
        return euclidean(x, keepdims=True) if keepdims else euclidean(x)
    axes = every_axis(x, axis)
    if len(axes) == 1:
        return vector_norm_along(x, ord, axes[0], keepdims)
    if len(axes) == 2:
        return matrix_norm_along(x, ord, axes, keepdims)
    raise ValueError("Improper number of dimensions to norm.")


@composed(np.linalg.matrix_norm)
def matrix_norm(x, /, *, keepdims=False, ord="fro"):
    return np.linalg.norm(x, ord, (-2, -1), keepdims)


@composed(np.linalg.vector_norm)
def vector_norm(x, /, *, axis=None, keepdims=False, ord=2):
    axes = every_axis(x, axis)
    kept = [n for k, n in enumerate(np.shape(x)) if k not in axes]
    moved = np.moveaxis(x, axes, range(len(kept), np.ndim(x)))
    lanes = np.reshape(moved, (*kept, math.prod(np.shape(x)[k] for k in axes)))
    y = vector_norm_along(lanes, ord, len(kept), False)
    return np.expand_dims(y, axes) if keepdims else y
