"""Interpolation between samples on a grid: ``np.interp``."""

import functools
import math

import numpy as np

from ....config import MissingRuleError, user_line
from ... import (
    AbstractZero,
    Block,
    NoTangent,
    Pattern,
    astype,
    composed,
    dtype_of,
    getitem,
    innermost,
    is_lazy,
    is_traced,
    linear_rule,
    pair_rule,
    primitive,
    pushes_stacks,
    thunk,
    unthunk,
    value,
    with_values,
)
from .elementwise import as_array, or_one

NUMBERS = {float, np.float64}


def bracket(x, xp):
    """The entries of a grid before and after ``x``; at an end both are the last one there."""
    last = np.shape(xp)[0] - 1
    k = np.maximum(np.searchsorted(xp, x, side="right") - 1, 0)
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


@linear_rule(rows_into_two)
def rows_into_two_transpose(xbar, space, shape, k, after, weight, weight_after):
    return weight * xbar[:, k] + weight_after * xbar[:, after]


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
    """A product with the slope where places alone move; of all else ``interpolated``."""
    places = value(xp)
    if xp is not places or type(fp) is not np.ndarray:
        return interpolated(fp, x, xp)
    y = on_plain_grid(fp, value(x), places)
    with np.errstate(over="ignore", invalid="ignore"):
        return with_values(slope_on_plain_grid(fp, value(x), places) * x, y)


@primitive
def interpolated(fp, x, xp):
    """``np.interp(x, xp, fp)``, of which all may move."""
    return np.interp(x, xp, fp)


@primitive
def into_grid(c, shape, x, xp):
    """The transpose of ``interpolated``, of which all may move."""
    return into_plain_grid(c, shape, x, xp)


def each(f, block, t, rank, *options):
    """``f`` of a tangent of so many axes, or of each in a stack: at once, at plain places."""
    if isinstance(t, AbstractZero):
        return t
    if np.ndim(t) == rank:
        return f(t, *options)
    if is_traced(options):
        return np.stack([f(row, *options) for row in t])
    return block(Block(t), *options)


@pair_rule(interpolated)
def interpolated_pair(interpolated, fp, x, xp):
    """Linear in ``fp``; and ``x`` moves along the slope, by what it moves beside the grid."""

    def interpolated_pushforward(fpdot, xdot, xpdot):
        ydot = each(interpolated, on_plain_grid_block, fpdot, 1, x, xp)
        moved = xdot - each(interpolated, on_plain_grid_block, xpdot, 1, x, xp)
        if isinstance(moved, AbstractZero):
            return ydot
        with np.errstate(over="ignore", invalid="ignore"):
            return ydot + slope_between(fp, x, xp) * moved

    def xbar_of(ybar):
        with np.errstate(over="ignore", invalid="ignore"):
            return np.real(np.conj(slope_between(fp, x, xp)) * ybar)

    def interpolated_pullback(ybar):
        xbar = thunk(lambda: xbar_of(ybar))
        xpbar = thunk(lambda: -into_grid(unthunk(xbar), np.shape(xp), x, xp))
        return thunk(lambda: into_grid(ybar, np.shape(xp), x, xp)), xbar, xpbar

    return interpolated(fp, x, xp), interpolated_pushforward, interpolated_pullback


@pair_rule(into_grid)
def into_grid_pair(into_grid, c, shape, x, xp):
    """Linear in ``c``, of which ``x`` moves a part from the place before to that after."""
    rank, at = np.ndim(x), (shape, value(x), value(xp))

    def into_grid_pushforward(cdot, _, xdot, xpdot):
        dot = each(into_grid, into_plain_grid_block, cdot, rank, shape, x, xp)
        moved = xdot - each(interpolated, on_plain_grid_block, xpdot, 1, x, xp)
        if isinstance(moved, AbstractZero):
            return dot
        part = c * moved / stretch(x, xp)
        return dot + each(slopes_into_plain_grid, slopes_into_plain_grid_block, part, rank, *at)

    def into_grid_pullback(fp):
        xbar = thunk(lambda: np.real(np.conj(c) * slope_between(fp, x, xp)))
        xpbar = thunk(lambda: -into_grid(unthunk(xbar), shape, x, xp))
        return thunk(lambda: interpolated(fp, x, xp)), NoTangent(), xbar, xpbar

    return into_grid(c, shape, x, xp), into_grid_pushforward, into_grid_pullback


pushes_stacks(interpolated, into_grid, most=math.inf)


def stretch(x, xp):
    """1 in value, and grows as the distance between the places beside ``x`` does."""
    places = value(xp)
    return 1.0 if xp is places else or_one(slope_on_plain_grid(xp, value(x), places))


def slope_between(fp, x, xp):
    """The slope of ``np.interp`` at ``x``, to the right of a place of the grid."""
    slope = slope_on_plain_grid(fp, value(x), value(xp))
    return slope if xp is value(xp) else slope / stretch(x, xp)


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
