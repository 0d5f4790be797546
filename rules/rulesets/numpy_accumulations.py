"""Running sums, products and extremes of arrays, and the linear recurrence behind them.

Running products are differentiated without a division, so that zeros need no care. A running
maximum shares the derivative evenly among the equal numbers that it has met; what is
differentiated again takes one of them, see ``ties``.
"""

import math

import numpy as np
from numpy.lib.array_utils import normalize_axis_tuple

from ..calls import astype
from ..definitions import composed, linear_rule
from ..levels import is_traced, value
from ..project import ProjectTo
from ..registry import frule, rrule
from ..tangents import NoTangent
from .numpy_shapes import refuse_integers
from .ties import through


def axes_along(axis, ndim):
    """Return the axes that ``axis`` stands for: None is all, and so is axis 0 of a number."""
    return normalize_axis_tuple(range(ndim) if axis is None or ndim == 0 else axis, ndim)


def in_lanes(x, axis):
    """Bring the axes in ``axis`` (None for all) to the end, and join them into one."""
    axes = axes_along(axis, np.ndim(x))
    moved = np.moveaxis(x, axes, tuple(range(-len(axes), 0))) if axes else x
    shape = np.shape(moved)
    kept = len(shape) - len(axes)
    return np.reshape(moved, (*shape[:kept], math.prod(shape[kept:])))


def from_lanes(lanes, shape, axis):
    """Undo ``in_lanes`` for an array of ``shape``."""
    axes = axes_along(axis, len(shape))
    kept = [n for k, n in enumerate(shape) if k not in axes]
    x = np.reshape(lanes, (*kept, *(shape[k] for k in axes)))
    return np.moveaxis(x, tuple(range(-len(axes), 0)), axes) if axes else x


def prior(x, first):
    """What stood one place before along the last axis; ``first`` in the first place."""
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
    axis = -1 if axis is None else axis
    return np.reshape(np.flip(np.cumsum(np.flip(ybar, axis), axis), axis), space.shape)


linear_rule(np.cumsum, cumsum_transpose, adapt=refuse_integers)


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


@composed(np.add.accumulate)
def add_accumulate(array, axis=0, dtype=None):
    return np.cumsum(array, axis, dtype)


@composed(np.nancumsum)
def nancumsum(a, axis=None, dtype=None):
    return np.cumsum(np.where(np.isnan(a), 0, a), axis, dtype)


# ---- products ----


@frule.register(np.cumprod)
def cumprod_frule(tangents, cumprod, x, *, axis=None, dtype=None):
    """From ``y[k] = x[k] * y[k-1]``: ``ydot[k] = x[k] * ydot[k-1] + y[k-1] * xdot[k]``."""
    refuse_integers(x, dtype)
    _, xdot = tangents
    y = cumprod(x, axis, dtype)
    before = prior(in_lanes(y, axis), 1)
    ydot = recurrence(in_lanes(x, axis), before * in_lanes(xdot, axis))
    return y, ProjectTo(y)(from_lanes(ydot, np.shape(y), axis))


@rrule.register(np.cumprod)
def cumprod_rrule(cumprod, x, *, axis=None, dtype=None):
    refuse_integers(x, dtype)
    project_x = ProjectTo(x)
    y = cumprod(x, axis, dtype)

    def cumprod_pullback(ybar):
        before = prior(in_lanes(y, axis), 1)
        xbar = np.conj(before) * recurrence_transpose(in_lanes(x, axis), in_lanes(ybar, axis))
        return NoTangent(), project_x(from_lanes(xbar, project_x.shape, axis))

    return y, cumprod_pullback


@composed(np.cumulative_prod)
def cumulative_prod(x, /, *, axis=None, dtype=None, include_initial=False):
    axis = one_axis(axis)
    y = np.cumprod(x, axis, dtype)
    if not include_initial:
        return y
    first = np.ones_like(np.take(y, [0], axis))
    return np.concatenate([first, y], axis)


@composed(np.multiply.accumulate)
def multiply_accumulate(array, axis=0, dtype=None):
    return np.cumprod(array, axis, dtype)


@composed(np.nancumprod)
def nancumprod(a, axis=None, dtype=None):
    return np.cumprod(np.where(np.isnan(a), 1, a), axis, dtype)


# ---- extremes ----
# While the extreme stays what it is, s[k] sums up over the places that attain it. Where it
# changes, the sum begins anew.


def attained(x, y):
    """Where ``x`` is the extreme ``y``, and where ``y`` stays what it was, as 0 and 1."""
    shown = (x == y) * 1.0
    stays = (y == prior(y, np.nan)) * 1.0
    return shown, stays


def choice(accumulate, shown, stays):
    """In lanes, where one of equal numbers is chosen anew, and where the choice stays.

    It is the last so far of the largest, and the first of the smallest: see ``ties``.
    """
    begins = shown if accumulate == np.maximum.accumulate else shown * (1 - stays)
    return begins, stays * (1 - begins)


def running(accumulate, x, axis):
    """The result, where ``x`` attains it, where it stays, and the choice among equal numbers."""
    y, lanes = accumulate(x, axis), in_lanes(x, axis)
    shown, stays = attained(lanes, in_lanes(y, axis))
    if not is_traced(x) or not np.any(shown * stays):
        return y, shown, stays, None
    begins, goes_on = choice(accumulate, shown, stays)
    places = np.maximum.accumulate(begins * np.arange(np.shape(lanes)[-1]), axis=-1)
    taken = np.take_along_axis(lanes, places.astype(int), axis=-1)
    y = np.where(np.isnan(y), value(y), from_lanes(taken, np.shape(y), axis))
    return y, shown, stays, (goes_on, begins)


def add_extreme_accumulate(accumulate):
    @frule.register(accumulate)
    def extreme_accumulate_frule(tangents, accumulate, x, *, axis=0, dtype=None):
        _, xdot = tangents
        x = x if dtype is None else astype(x, dtype)
        y, shown, stays, chosen = running(accumulate, x, axis)
        xdot = in_lanes(xdot, axis)
        if chosen is None:
            ydot = recurrence(stays, shown * xdot) / recurrence(stays, shown)
        else:
            goes_on, begins = chosen
            ydot = recurrence(goes_on, begins * xdot)
        return y, ProjectTo(y)(from_lanes(ydot, np.shape(y), axis))

    @rrule.register(accumulate)
    def extreme_accumulate_rrule(accumulate, x, *, axis=0, dtype=None):
        project_x = ProjectTo(x)
        x = x if dtype is None else astype(x, dtype)
        y, shown, stays, chosen = running(accumulate, x, axis)

        def extreme_accumulate_pullback(ybar):
            ybar = in_lanes(ybar, axis)
            xbar = shown * recurrence_transpose(stays, ybar / recurrence(stays, shown))
            if chosen is not None:
                goes_on, begins = chosen
                xbar = through(begins * recurrence_transpose(goes_on, ybar), xbar, x)
            return NoTangent(), project_x(from_lanes(xbar, project_x.shape, axis))

        return y, extreme_accumulate_pullback


add_extreme_accumulate(np.maximum.accumulate)
add_extreme_accumulate(np.minimum.accumulate)
