"""Differences, slopes and areas of sampled functions, and interpolation between samples."""

import functools

import numpy as np
from numpy.lib.array_utils import normalize_axis_tuple

from ....config import MissingRuleError, user_line
from ... import (
    Pattern,
    astype,
    composed,
    dtype_of,
    getitem,
    innermost,
    is_lazy,
    is_traced,
    linear_rule,
    primitive,
    shape_of,
    value,
    with_values,
)
from .along_axes.accumulations import from_lanes, in_lanes
from .elementwise import as_array, or_one
from .ties import motion, moving_with

NUMBERS = {float, np.float64}

# ---- differences ----


@primitive
def differences(x, n, axis):
    return np.diff(x, n, axis)


def differences_pattern(x, n, axis):
    for _ in range(n):
        ids = np.moveaxis(x.ids, axis, -1)
        ids, previous = (np.moveaxis(part, -1, axis) for part in (ids[..., 1:], ids[..., :-1]))
        x = Pattern(ids.shape, x.taken(ids).rows + x.taken(previous).rows)
    return x


@linear_rule(differences, axes="axis", pattern=differences_pattern)
def differences_transpose(ybar, space, n=1, axis=-1):
    if 0 in shape_of(ybar):  # of as many entries as n, or fewer
        return np.zeros_like(ybar, shape=space.shape)
    ybar = in_lanes(ybar, axis)
    for _ in range(n):
        nothing = np.zeros_like(ybar, shape=(*shape_of(ybar)[:-1], 1))
        ybar = -differences(np.concatenate([nothing, ybar, nothing], axis=-1), 1, -1)
    return from_lanes(ybar, space.shape, axis)


@composed(np.diff)
def diff(a, n=1, axis=-1, prepend=None, append=None):
    if n == 0:
        return a  # before it is lengthened by the ends, as NumPy does
    ends = [
        end if end is None or np.ndim(end) else np.broadcast_to(end, end_shape(a, axis))
        for end in (prepend, append)
    ]
    if any(end is not None for end in ends):
        a = np.concatenate([part for part in (ends[0], a, ends[1]) if part is not None], axis)
    return differences(a, n, axis)


def end_shape(a, axis):
    shape = list(np.shape(a))
    shape[axis] = 1
    return tuple(shape)


@composed(np.ediff1d)
def ediff1d(ary, to_end=None, to_begin=None):
    y = differences(np.ravel(ary), 1, -1)
    # Ends are cast to the dtype of the differences, as NumPy does.
    ends = [None if end is None else astype(np.ravel(end), y.dtype) for end in (to_begin, to_end)]
    return np.concatenate([part for part in (ends[0], y, ends[1]) if part is not None])


# ---- slopes and areas ----


@composed(np.gradient, value="own")
def gradient(f, *varargs, axis=None, edge_order=1):
    axes = normalize_axis_tuple(range(np.ndim(f)) if axis is None else axis, np.ndim(f))
    f = f * 1.0 if dtype_of(f) is not None and dtype_of(f).kind in "iu" else f  # as NumPy does
    spacings = varargs or (1.0,)
    if len(spacings) == 1 and np.ndim(spacings[0]) == 0:
        spacings = spacings * len(axes)
    if len(spacings) != len(axes):
        raise TypeError("invalid number of arguments")
    slopes = tuple(
        np.moveaxis(slope(np.moveaxis(f, k, -1), h, edge_order), -1, k)
        for k, h in zip(axes, spacings)
    )
    return slopes[0] if len(axes) == 1 else slopes


@primitive
def slopes(f, edge_order):
    """``np.gradient`` along the last axis, of samples one apart."""
    return np.gradient(f, axis=-1, edge_order=edge_order)


@linear_rule(slopes, block=lambda f, edge_order: slopes(f.values, edge_order))
def slopes_transpose(ybar, space, edge_order):
    """Each slope is of two samples, or of three at an end: to these it goes, by their weights."""
    count = space.shape[-1]
    inner = ybar[..., 1:-1] * 0.5
    ends = np.array([-1.0, 1.0] if edge_order == 1 else [-1.5, 2.0, -0.5])
    first, last = ybar[..., :1] * ends, ybar[..., -1:] * ends[::-1]
    return (
        filled_up(inner, 2, count) - filled_up(inner, 0, count)
        + filled_up(first, 0, count) - filled_up(last, count - len(ends), count)
    )  # fmt: skip


def filled_up(x, start, count):
    """Return ``x`` from place ``start`` of the last axis on, among ``count``, and else zeros."""
    before = np.zeros_like(x, shape=(*shape_of(x)[:-1], start))
    after = np.zeros_like(x, shape=(*shape_of(x)[:-1], count - start - shape_of(x)[-1]))
    return np.concatenate([before, x, after], axis=-1)


def slope(f, h, edge_order):
    """The derivative along the last axis, sampled ``h`` apart, or at the places ``h``."""
    count = np.shape(f)[-1]
    if count < edge_order + 1:
        raise ValueError(f"gradient needs {edge_order + 1} samples along the axis, not {count}.")
    if np.ndim(h) == 1:
        h = differences(as_array(h) * 1.0, 1, -1)
        if not is_traced(h) and np.all(h == h[0]):
            h = h[0]
    if np.ndim(h) == 0:
        return slopes(f, edge_order) / h
    a, b = h[:-1], h[1:]
    inner = (
        -b / (a * (a + b)) * f[..., :-2]
        + (b - a) / (a * b) * f[..., 1:-1]
        + a / (b * (a + b)) * f[..., 2:]
    )
    first = edge_terms(f[..., :3], h[:2], edge_order)
    last = edge_terms(f[..., ::-1][..., :3], h[::-1][:2], edge_order)
    return np.concatenate([sum(first), inner, -sum(last)], axis=-1)


def edge_terms(f, h, edge_order):
    """The terms of the slope at the first sample, from those that follow it."""
    f, g, k = f[..., :1], f[..., 1:2], f[..., 2:3]
    if edge_order == 1:
        return [(g - f) / h[0]]
    a, b = h[0], h[1]
    return [-(2.0 * a + b) / (a * (a + b)) * f, (a + b) / (a * b) * g, -a / (b * (a + b)) * k]


@composed(np.trapezoid)
def trapezoid(y, x=None, dx=1.0, axis=-1):
    y = np.moveaxis(y, axis, -1)
    if x is not None:
        dx = differences(x if np.ndim(x) == 1 else np.moveaxis(x, axis, -1), 1, -1)
    return np.sum(dx * (y[..., 1:] + y[..., :-1]) / 2.0, axis=-1)


# ---- interpolation ----


def bracket(x, xp):
    """The entries of a grid before and after ``x``; at an end both are the last one there."""
    last = np.shape(xp)[0] - 1
    k = np.clip(np.searchsorted(xp, x, side="right") - 1, 0, last)
    return k, np.minimum(k + 1, last)


class Bracket:
    """Bracket of ``x`` on a plain grid: between ``k`` and ``after``, at ``part`` of the way.

    Plain arrays are read by ``getitem``, so that a compiled program may read other entries.
    """

    def __init__(self, x, xp):
        self.k, self.after = bracket(x, xp)
        self.x, self.start = x, getitem(xp, self.k)
        self.outside = (x < xp[0]) | (x > xp[-1])
        per_step = 1.0 / or_one(getitem(xp, self.after) - self.start)
        self.slope = np.where(self.outside, 0.0, per_step)

    @functools.cached_property
    def part(self):
        return self.slope * np.where(self.outside, 0.0, self.x - self.start)


@primitive
def on_plain_grid(fp, x, xp):
    """``np.interp(x, xp, fp)``, which is linear in ``fp``."""
    return np.interp(x, xp, fp)


@primitive
def slope_on_plain_grid(fp, x, xp):
    """The slope of ``np.interp`` at ``x``; to the right of a place of the grid."""
    with np.errstate(invalid="ignore"):  # of infinities outside the grid
        at = Bracket(x, xp)
        return np.where(at.slope == 0, 0.0, at.slope * (fp[at.after] - fp[at.k]))[()]


def on_plain_grid_block(fp, x, xp):
    if type(fp.values) is type(x) is type(xp) is np.ndarray and fp.count:  # NumPy's own is faster
        return np.array([np.interp(x, xp, row) for row in fp.values])
    at = Bracket(x, xp)
    before, after = (getitem(fp.values, (slice(None), k)) for k in (at.k, at.after))
    return (1.0 - at.part) * before + at.part * after


def slope_block(fp, x, xp):
    at = Bracket(x, xp)
    before, after = (getitem(fp.values, (slice(None), k)) for k in (at.k, at.after))
    return at.slope * (after - before)


def on_plain_grid_pattern(fp, x, xp):
    at = Bracket(x, xp)
    ids = fp.ids[at.k]
    return Pattern(np.shape(ids), fp.taken(ids).rows + fp.taken(fp.ids[at.after]).rows)


@linear_rule(on_plain_grid, block=on_plain_grid_block, pattern=on_plain_grid_pattern)
def on_plain_grid_transpose(ybar, space, x, xp):
    return into_plain_grid(ybar, space.shape, x, xp)


@linear_rule(slope_on_plain_grid, block=slope_block, pattern=on_plain_grid_pattern)
def slope_on_plain_grid_transpose(ybar, space, x, xp):
    return slopes_into_plain_grid(ybar, space.shape, x, xp)


@primitive
def into_plain_grid(ybar, shape, x, xp):
    """Zeros, to which ``ybar`` is added on both sides of ``x``, by the shares of these."""
    at = Bracket(x, xp)
    return into_two(ybar, shape, at.k, at.after, 1.0 - at.part, at.part)


@primitive
def slopes_into_plain_grid(ybar, shape, x, xp):
    """Zeros, to which ``ybar`` is added on both sides of ``x``, by the slopes in these."""
    at = Bracket(x, xp)
    return into_two(ybar, shape, at.k, at.after, -at.slope, at.slope)


def into_two(ybar, shape, k, after, weight, weight_after):
    """Zeros, to whose entries ``k`` and ``after`` ``ybar`` is added with these weights."""
    if type(ybar) is np.ndarray and ybar.dtype == np.float64:
        parts = (k, weight * ybar), (after, weight_after * ybar)
        sums = [np.bincount(np.ravel(i), np.ravel(x), *shape) for i, x in parts]
        return sum(sums, np.zeros(shape))  # of no places NumPy counts integers
    return rows_into_two(np.asarray(ybar)[None], shape, k, after, weight, weight_after)[0]


@primitive
def rows_into_two(ybar, shape, k, after, weight, weight_after):
    """As ``into_two``, of each of the rows of ``ybar``."""
    xbar = np.zeros((*shape, len(ybar)), np.result_type(ybar, float))
    np.add.at(xbar, k, np.moveaxis(weight * ybar, 0, -1))
    np.add.at(xbar, after, np.moveaxis(weight_after * ybar, 0, -1))
    return np.moveaxis(xbar, -1, 0)


def into_plain_grid_block(ybar, shape, x, xp):
    at = Bracket(x, xp)
    return rows_into_two(ybar.values, shape, at.k, at.after, 1.0 - at.part, at.part)


def slopes_into_plain_grid_block(ybar, shape, x, xp):
    at = Bracket(x, xp)
    return rows_into_two(ybar.values, shape, at.k, at.after, -at.slope, at.slope)


@linear_rule(into_plain_grid, block=into_plain_grid_block)
def into_plain_grid_transpose(fp, space, shape, x, xp):
    return on_plain_grid(fp, x, xp)


@linear_rule(slopes_into_plain_grid, block=slopes_into_plain_grid_block)
def slopes_into_plain_grid_transpose(fp, space, shape, x, xp):
    return slope_on_plain_grid(fp, x, xp)


def interp_of_number(x, x0, xp, fp):
    """Interpolate at one traced number ``x`` of value ``x0``, on a plain grid."""
    y = np.interp(x0, xp, fp)
    last = len(xp) - 1
    k = min(max(int(xp.searchsorted(x0, side="right")) - 1, 0), last)
    after = min(k + 1, last)
    if x0 < xp[0] or x0 > xp[last] or after == k:
        return with_values(0.0 * x, y)
    with np.errstate(all="ignore"):
        slope = 1.0 / or_one(np.float64(xp[after] - xp[k])) * (fp[after] - fp[k])
        return with_values(slope * x, y)


@composed(np.interp)
def interp(x, xp, fp, left=None, right=None, period=None):
    plain = type(x) is type(xp) is np.ndarray and left is right is period is None
    if plain and x.dtype == xp.dtype == dtype_of(fp) == np.float64 and not is_lazy(value(fp)):
        return on_plain_grid(fp, x, xp)  # as nearly always
    if any(is_lazy(value(x)) for x in (x, xp, fp)):
        raise MissingRuleError(
            "np.interp of an array of dask has no derivative: dask has no such function"
            f", in {user_line()}.\n"
            "  compute the array before, or write the pieces with np.where"
        )
    given = x, xp, fp
    x0 = value(x)
    if type(x0) in NUMBERS and left is right is period is None and innermost((xp, fp)) is None:
        return interp_of_number(x, x0, np.asarray(xp), np.asarray(fp))
    x, xp, fp = map(as_array, given)
    real = dtype_of(x).kind == "f" and dtype_of(xp).kind in "fiu"
    if real and left is right is period is None and dtype_of(fp).kind in "fc":
        return interp_by_slope(x, xp, fp)
    own = np.interp(*value((*given, left, right, period)))  # first: it says what is wrong
    return with_values(interp_by_pieces(x, xp, fp, left, right, period), own)


def interp_by_slope(x, xp, fp):
    """As ``fp`` between places that stand still, and its slope by what ``x`` moves beside them."""
    x0, places = value(x), value(xp)
    y = on_plain_grid(fp, x0, places)
    if x is x0 and xp is places:
        return y
    with np.errstate(over="ignore", invalid="ignore"):
        if type(fp) is np.ndarray and xp is places:
            return with_values(slope_on_plain_grid(fp, x0, places) * x, y)
        slope, moved = slope_on_plain_grid(fp, x0, places), motion(x)
        if xp is not places:
            # The slope of the places themselves is 1 in value, and moves with them.
            slope = slope / or_one(slope_on_plain_grid(xp, x0, places))
            moved = moved - on_plain_grid(motion(xp), x0, places)
        return moving_with(y, y + slope * moved)


def interp_by_pieces(x, xp, fp, left, right, period):
    if period is not None:
        left = right = None
        period = abs(period)
        x, xp = x % period, xp % period
        order = np.argsort(xp)
        xp, fp = xp[order], fp[order]
        xp = np.concatenate([xp[-1:] - period, xp, xp[:1] + period])
        fp = np.concatenate([fp[-1:], fp, fp[:1]])
    k, after = bracket(x, xp)
    y = (fp[after] - fp[k]) / or_one(xp[after] - xp[k]) * (x - xp[k]) + fp[k]
    y = np.where(x < xp[0], fp[0] if left is None else left, y)
    y = np.where(x > xp[-1], fp[-1] if right is None else right, y)
    return astype(y, np.result_type(dtype_of(y), float))  # NumPy computes in float64
