"""Running sums, products and extremes of arrays, and the linear recurrence behind them.

Running products are differentiated without a division, so that zeros need no care. A running
maximum shares the derivative evenly among the equal numbers that it has met; for what is
differentiated again see ``ties``.
"""

import math
import operator

import numpy as np
from numpy.lib.array_utils import normalize_axis_tuple

from .... import (
    Pattern,
    astype,
    composed,
    composed_each,
    dtype_of,
    is_traced,
    linear_rule,
    pair_rule,
    pushes_stacks,
    refuse_integers,
    shape_of,
)
from ..ties import in_order, motion, moving_with, through


def axes_along(axis, ndim):
    """Return the axes that ``axis`` stands for: None is all, and so is axis 0 of a number."""
    if axis is None or ndim == 0:
        return tuple(range(ndim))
    if type(axis) is int:
        return (axis + ndim if axis < 0 else axis,)
    return normalize_axis_tuple(axis, ndim)


def in_lanes(x, axis):
    """Bring the axes in ``axis`` (None for all) to the end, and join them into one."""
    ndim = len(shape_of(x))
    axes = axes_along(axis, ndim)
    kept = ndim - len(axes)
    lanes = x if axes == tuple(range(kept, ndim)) else np.moveaxis(x, axes, range(kept, ndim))
    if len(axes) == 1:
        return lanes
    shape = shape_of(lanes)
    return np.reshape(lanes, (*shape[:kept], math.prod(shape[kept:])))


def from_lanes(lanes, shape, axis):
    """Undo ``in_lanes`` for an array of ``shape``."""
    ndim = len(shape)
    axes = axes_along(axis, ndim)
    kept = [k for k in range(ndim) if k not in axes]
    moved = [*kept, *axes]
    if len(axes) != 1:
        lanes = np.reshape(lanes, [shape[k] for k in moved])
    last = range(len(kept), ndim)
    return lanes if moved == list(range(ndim)) else np.moveaxis(lanes, last, axes)


def from_the_end(axis, x):
    """Return the axes of ``x`` counted from the end, as they are in a stack of tangents, too."""
    ndim = len(shape_of(x))
    return tuple([k - ndim for k in axes_along(axis, ndim)])


def in_front_of(y, xdot, x):
    """Return the shape of the tangents of ``y``, with the axes that ``xdot`` has before ``x``'s."""
    return *shape_of(xdot)[: len(shape_of(xdot)) - len(shape_of(x))], *shape_of(y)


def prior(x, first):
    """Return ``x`` shifted by one along the last axis, with ``first`` in the first place."""
    return np.concatenate([np.full_like(x[..., :1], first), x[..., :-1]], axis=-1)


def recurrence(a, b):
    """Solve ``s[k] = a[k] * s[k-1] + b[k]`` along the last axis, from ``s[-1] = 0``.

    Two steps make one: ``s[k] = a[k] a[k-1] s[k-2] + (a[k] b[k-1] + b[k])``. So each round
    doubles the length of the steps, and log2(n) rounds of array operations do.
    """
    step = 1
    while step < np.shape(b)[-1]:
        b = np.concatenate([b[..., :step], b[..., step:] + a[..., step:] * b[..., :-step]], axis=-1)
        a = np.concatenate([a[..., :step], a[..., step:] * a[..., :-step]], axis=-1)
        step *= 2
    return b


def recurrence_transpose(a, sbar):
    """Pull back from ``s`` to ``b``: the same recurrence, run from the end."""
    return np.flip(recurrence(prior(np.flip(np.conj(a), -1), 0), np.flip(sbar, -1)), -1)


# ---- sums ----


def cumsum_transpose(ybar, space, axis=None, dtype=None):
    axis = -1 if axis is None else operator.index(axis)
    xbar = backwards(backwards(ybar, axis).cumsum(axis), axis)
    return xbar if len(shape_of(xbar)) == space.ndim else np.reshape(xbar, space.shape)


def backwards(x, axis):
    """Return ``np.flip(x, axis)``, which takes longer than a small sum does."""
    before = (...,) if axis < 0 else (slice(None),) * axis
    after = (slice(None),) * (-axis - 1)
    return x[(*before, slice(None, None, -1), *after)]


def cumsum_block(x, axis=None, **options):
    if axis is None or x.rank == 0:
        return np.cumsum(x.flat, axis=1, **options)
    return np.cumsum(x.values, axis=x.axes(axis), **options)


def cumsum_pattern(x, axis=None, dtype=None, out=None):
    # Each entry depends on the one before it in the result, and on its own.
    if axis is None or x.rank == 0:
        x, axis = Pattern((x.size,), x.rows), 0
    ids = np.moveaxis(x.ids, axis, 0)
    rows = [x.taken(ids[0]).rows] if len(ids) else []
    for k in range(1, len(ids)):
        rows.append(rows[-1] + x.taken(ids[k]).rows)
    return stacked(rows, ids.shape, axis, x)


def stacked(rows, shape, axis, x):
    """Return the pattern of an array from that of each of its parts along one axis."""
    from scipy import sparse

    if not rows:
        return x
    moved = Pattern(shape, sparse.vstack(rows, "csr"))
    return moved.taken(np.moveaxis(moved.ids, 0, axis))


linear_rule(np.cumsum, cumsum_transpose, adapt=refuse_integers, adds=True, block=cumsum_block,
            pattern=cumsum_pattern)  # fmt: skip


def one_axis(axis):
    """The axis of ``np.cumulative_sum`` as a number: NumPy takes a tuple of one, too."""
    if axis is None:
        return 0
    return axis[0] if isinstance(axis, tuple) else axis


def cumulative_sum_transpose(ybar, space, axis=None, dtype=None, include_initial=False):
    axis = one_axis(axis)
    if include_initial:
        ybar = np.moveaxis(np.moveaxis(ybar, axis, 0)[1:], 0, axis)
    return cumsum_transpose(ybar, space, axis)


linear_rule(np.cumulative_sum, cumulative_sum_transpose, adapt=refuse_integers)


@composed_each({np.add.accumulate: np.cumsum, np.multiply.accumulate: np.cumprod})
def accumulated(running, array, axis=0, dtype=None):
    return running(array, axis, dtype)


@composed_each({np.nancumsum: (np.cumsum, 0), np.nancumprod: (np.cumprod, 1)})
def without_nan(entry, a, axis=None, dtype=None):
    running, neutral = entry
    return running(np.where(np.isnan(a), neutral, a), axis, dtype)


# ---- products ----


@pair_rule(np.cumprod)
def cumprod_pair(cumprod, x, *, axis=None, dtype=None):
    """From ``y[k] = x[k] * y[k-1]``: ``ydot[k] = x[k] * ydot[k-1] + y[k-1] * xdot[k]``."""
    refuse_integers(x, dtype)
    y = cumprod(x, axis, dtype)
    a, before = in_lanes(x, axis), prior(in_lanes(y, axis), 1)

    def cumprod_pushforward(xdot):
        ydot = recurrence(a, before * in_lanes(xdot, from_the_end(axis, x)))
        return from_lanes(ydot, in_front_of(y, xdot, x), from_the_end(axis, y))

    def cumprod_pullback(ybar):
        xbar = np.conj(before) * recurrence_transpose(a, in_lanes(ybar, axis))
        return from_lanes(xbar, np.shape(x), axis)

    return y, cumprod_pushforward, cumprod_pullback


pushes_stacks(np.cumprod, np.maximum.accumulate, np.minimum.accumulate, most=math.inf)


@composed(np.cumulative_prod)
def cumulative_prod(x, /, *, axis=None, dtype=None, include_initial=False):
    axis = one_axis(axis)
    y = np.cumprod(x, axis, dtype)
    if not include_initial:
        return y
    shape = list(np.shape(y))
    shape[axis or 0] = 1
    return np.concatenate([np.ones(shape, dtype_of(y)), y], axis)


# ---- extremes ----
# While the extreme stays what it is, s[k] sums up over the places that attain it. Where it
# changes, the sum begins anew.


def attained(x, y):
    """Return two masks, as 0 and 1: ``x`` is the extreme ``y``; ``y`` is its predecessor."""
    shown = (x == y) * 1.0
    stays = (y == prior(y, np.nan)) * 1.0
    return shown, stays


def latest(t, shown, stays):
    """The mean of ``t`` over the places that attain the extreme so far, in lanes."""
    return recurrence(stays, shown * t) / recurrence(stays, shown)


def latest_transpose(ybar, shown, stays):
    return shown * recurrence_transpose(stays, ybar / recurrence(stays, shown))


def running(accumulate, x, axis):
    """The result, and where ``x`` attains it and it stays, in lanes.

    And the same where that is differentiated again at a tie, or None.
    """
    y = accumulate(x, axis)
    even = attained(in_lanes(x, axis), in_lanes(y, axis))
    shown, stays = even
    if not is_traced(x) or not np.any(shown * stays):
        return y, even, None
    ordered = in_lanes(*in_order(x), axis)
    chosen = attained(ordered, accumulate(ordered, -1))
    ydot = from_lanes(latest(in_lanes(motion(x), axis), *chosen), np.shape(y), axis)
    return moving_with(y, ydot), even, chosen


@pair_rule(np.maximum.accumulate, np.minimum.accumulate)
def extreme_pair(accumulate, x, *, axis=0, dtype=None):
    shape = np.shape(x)
    x = x if dtype is None else astype(x, dtype)
    y, even, chosen = running(accumulate, x, axis)

    def extreme_pushforward(xdot):
        axes = from_the_end(axis, x)
        ydot = latest(in_lanes(xdot, axes), *(even if chosen is None else chosen))
        return from_lanes(ydot, in_front_of(x, xdot, x), axes)

    def extreme_pullback(ybar):
        ybar = in_lanes(ybar, axis)
        xbar = latest_transpose(ybar, *even)
        if chosen is not None:
            xbar = through(latest_transpose(ybar, *chosen), xbar, x)
        return from_lanes(xbar, shape, axis)

    return y, extreme_pushforward, extreme_pullback
