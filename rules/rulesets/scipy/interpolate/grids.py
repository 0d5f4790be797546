"""Interpolation in one dimension, and on rectangular grids by tensor products."""

import functools
import itertools
import math

import numpy as np
from scipy import interpolate

from .... import (
    StandIn,
    array_of,
    composed,
    dtype_of,
    innermost,
    primitive,
    scalar_rule,
    value,
)
from ..traced_objects import (
    Interpolates,
    TracedFunction,
    as_float,
    following,
    refuse,
    refuse_derived,
    scipys_object,
)
from .bsplines import basis, differentiated
from .bsplines import intervals as spline_intervals
from .cubic import hermite_coefficients, pchip_slopes
from .fits import interpolating_coefficients, make_interp, not_a_knot
from .piecewise import intervals, over, to_axis

# ---- in one dimension ---------------------------------------------------------------------------

ORDERS = {"zero": 0, "slinear": 1, "quadratic": 2, "cubic": 3}


def linear(x, y, xp):
    i = intervals(x, xp)
    slope = (y[i + 1] - y[i]) / over(x[i + 1] - x[i], y)
    return slope * over(xp - x[i], slope) + y[i]


def chosen(x, kind, xp):
    """The number of the sample whose value is taken at ``xp``."""
    last = len(x) - 1
    if kind in ("nearest", "nearest-up"):
        half = x / 2.0
        side = "left" if kind == "nearest" else "right"
        return np.clip(np.searchsorted(half[1:] + half[:-1], xp, side=side), 0, last)
    if kind == "previous":
        found = np.searchsorted(np.nextafter(x, -math.inf), xp, side="left")
        return np.clip(found, 1, last + 1) - 1
    return np.clip(np.searchsorted(np.nextafter(x, math.inf), xp, side="right"), 0, last)


def by_kind(x, y, kind="linear", axis=-1, copy=True, bounds_error=None, fill_value=math.nan,
            assume_sorted=False):  # fmt: skip
    x, y = array_of(x), array_of(y)
    axis = axis % np.ndim(y)
    y = np.moveaxis(y, axis, 0)
    if not assume_sorted:
        order = np.argsort(value(x), kind="mergesort")
        x, y = x[order], y[order]
    extrapolates = isinstance(fill_value, str) and fill_value == "extrapolate"
    order = ORDERS.get(kind, kind)
    spline = None if isinstance(order, str) else make_interp(x, y, k=order, check_finite=False)

    def formula(xp):
        xp, plain, edges = as_float(xp), value(as_float(xp)), value(x)
        if spline is not None:
            found = spline(xp)
        elif kind == "linear":
            found = linear(x, y, xp)
        else:
            found = y[chosen(edges, kind, plain)]
        below, above = over(plain < edges[0], found), over(plain > edges[-1], found)
        if not extrapolates:
            pair = fill_value if isinstance(fill_value, tuple) else (fill_value, fill_value)
            found = np.where(below, pair[0], np.where(above, pair[1], found))
        elif kind in ("previous", "next"):
            found = np.where(below if kind == "previous" else above, math.nan, found)
        return to_axis(found, np.ndim(xp), axis) if np.ndim(xp) else found

    return formula


class interp1d(Interpolates, interpolate.interp1d):  # noqa: N801 - SciPy's own name
    """``scipy.interpolate.interp1d``, whose methods see traced values."""

    formula = staticmethod(by_kind)

    @staticmethod
    def made_like(x):
        kind = x._spline.k if x._kind == "spline" else x._kind
        return (x.x, x.y, kind, x.axis), {"fill_value": x.fill_value, "assume_sorted": True}


# ---- products of splines ------------------------------------------------------------------------


def tensor_values(ts, c, ks, xs, nus):
    """``sum c[i, j, ...] * B_i(x) * B_j(y) * ...`` at points with the coordinates ``xs``."""
    for axis, nu in enumerate(nus):
        t, k = ts[axis], ks[axis]
        c = np.moveaxis(c, axis, 0)
        if nu > k:
            return np.zeros((*np.shape(xs[0]), *np.shape(c)[len(ts) :]))
        for _ in range(nu):
            t, c, k = differentiated(t, c, k)
        c = np.moveaxis(c, 0, axis)
        ts = (*ts[:axis], t, *ts[axis + 1 :])
        ks = (*ks[:axis], k, *ks[axis + 1 :])
    starts = [spline_intervals(t, k, x) for t, k, x in zip(ts, ks, xs)]
    bases = [basis(t, k, x, i) for t, k, x, i in zip(ts, ks, xs, starts)]
    y = 0.0
    for places in itertools.product(*(range(k + 1) for k in ks)):
        weight = math.prod(bases[d][j] for d, j in enumerate(places))
        index = tuple(i - k + j for i, k, j in zip(starts, ks, places))
        term = c[index]
        y = y + over(weight, term) * term
    return y


def tensor_coefficients(xs, c, k):
    """Knots and coefficients of the spline of degree ``k`` through values on a grid."""
    ts = []
    for axis, x in enumerate(xs):
        c = np.moveaxis(c, axis, 0)
        if k == 1:
            t = np.concatenate([x[:1], x, x[-1:]])
        else:
            t = not_a_knot(x, k)
            c = interpolating_coefficients(x, c, t, k, None)
        ts.append(t)
        c = np.moveaxis(c, 0, axis)
    return tuple(ts), c


# ---- on rectangular grids -----------------------------------------------------------------------

DEGREES = {"slinear": 1, "cubic": 3, "quintic": 5}
DEGREES |= {f"{name}_legacy": k for name, k in DEGREES.items()}


def as_points(xi, ndim):
    """Points as an array whose last axis has the coordinates."""
    if isinstance(xi, tuple):
        if len(xi) == 1:
            return as_points(xi[0], ndim)
        return np.stack(np.broadcast_arrays(*map(as_float, xi)), axis=-1)
    xi = as_float(xi)
    if np.ndim(xi) == 1:
        return xi[:, None] if ndim in (None, 1) else xi[None]
    return xi


def linear_values(grid, values, xs):
    places = [intervals(x, xp) for x, xp in zip(grid, xs)]
    shares = [(xp - x[i]) / (x[i + 1] - x[i]) for x, xp, i in zip(grid, xs, places)]
    y = 0.0
    for corner in itertools.product((0, 1), repeat=len(xs)):
        weight = math.prod(s if up else 1 - s for s, up in zip(shares, corner))
        term = values[tuple(i + up for i, up in zip(places, corner))]
        y = y + over(weight, term) * term
    return y


def nearest_values(grid, values, xs):
    places = []
    for x, xp in zip(map(value, grid), map(value, xs)):
        i = intervals(x, xp)
        share = (xp - x[i]) / (x[i + 1] - x[i])
        places.append(np.where(share <= 0.5, i, i + 1))
    return values[tuple(places)]


def pchip_values(grid, values, xs):
    """Along one axis after the other, the last one first; each point has then values of its own."""
    rank, points = len(xs), np.arange(np.shape(xs[0])[0])
    for d in range(rank - 1, -1, -1):
        y = np.moveaxis(values, d, 0)
        i = intervals(grid[d], xs[d])
        c = hermite_coefficients(grid[d], y, pchip_slopes(grid[d], y))
        if d == rank - 1:
            c = np.moveaxis(c[:, i], 1, d + 1)  # the axis of points takes the place of this one
        else:
            c = np.moveaxis(c, d + 2, 2)[:, i, points]
            c = np.moveaxis(c, 1, d + 1)
        step = np.reshape(xs[d] - grid[d][i], (-1,) + (1,) * (np.ndim(c) - d - 2))
        values = ((c[0] * step + c[1]) * step + c[2]) * step + c[3]
    return values


def on_grid(points, values, method="linear", bounds_error=True, fill_value=math.nan, **_):
    values = array_of(values)
    values = as_float(values) if dtype_of(value(values)).kind not in "fc" else values
    grid = [as_float(x) for x in points]
    for axis, x in enumerate(map(value, grid)):
        if x[-1] < x[0]:
            grid[axis], values = grid[axis][::-1], np.flip(values, axis)
    first = method
    tensors = {}

    def formula(xi, method=None, *, nu=None):
        method = first if method is None else method
        xi = as_points(xi, len(grid))
        flat = np.reshape(xi, (-1, len(grid)))
        xs = [flat[:, d] for d in range(len(grid))]
        if method == "linear":
            y = linear_values(grid, values, xs)
        elif method == "nearest":
            y = nearest_values(grid, values, xs)
        elif method == "pchip":
            y = pchip_values(grid, values, xs)
        else:
            k = DEGREES[method]
            if k not in tensors:
                tensors[k] = tensor_coefficients(grid, values, k)
            ts, c = tensors[k]
            y = tensor_values(ts, c, (k,) * len(grid), xs, nu or (0,) * len(grid))
        if not bounds_error and fill_value is not None:
            inside = [
                (value(x) >= value(g[0])) & (value(x) <= value(g[-1])) for x, g in zip(xs, grid)
            ]
            y = np.where(over(np.all(inside, axis=0), y), y, fill_value)
        return np.reshape(y, np.shape(xi)[:-1] + np.shape(values)[len(grid) :])

    return formula


class RegularGridInterpolator(Interpolates, interpolate.RegularGridInterpolator):
    """``scipy.interpolate.RegularGridInterpolator``, whose methods see traced values."""

    formula = staticmethod(on_grid)

    @staticmethod
    def made_like(x):
        return (x.grid, x.values), {}

    def followed(self):
        # SciPy keeps the values themselves, and a user may write to them.
        made = on_grid(self.grid, self.values, self.method, self.bounds_error, self.fill_value)
        return self.traced(super(Interpolates, self).__call__, made)


@composed(interpolate.interpn, value="own")
def interpn(points, values, xi, method="linear", bounds_error=True, fill_value=math.nan):
    if method != "splinef2d":
        return on_grid(points, values, method, bounds_error, fill_value)(xi)
    grid, xi = [as_float(x) for x in points], as_points(xi, 2)
    x, y = xi[..., 0], xi[..., 1]
    ts, c = tensor_coefficients(grid, as_float(values), 3)
    found = tensor_values(ts, c, (3, 3), (x, y), (0, 0))
    inside = [(value(p) >= value(g[0])) & (value(p) <= value(g[-1])) for p, g in zip((x, y), grid)]
    return np.where(inside[0] & inside[1], found, fill_value)


# ---- splines in two variables -------------------------------------------------------------------


def kept_within(x, t, k):
    """FITPACK takes points beyond the ends for the ends."""
    low, high = t[k], t[np.shape(t)[0] - k - 1]
    return np.where(value(x) < value(low), low, np.where(value(x) > value(high), high, x))


class Surface:
    """A spline in two variables whose knots and coefficients are plain."""

    __slots__ = ("spline",)

    def __init__(self, tx, ty, c, *degrees):
        self.spline = interpolate.BivariateSpline.__new__(interpolate.BivariateSpline)
        self.spline.tck, self.spline.degrees = (tx, ty, np.ravel(c)), degrees

    def slope(self, x, y, dx, dy):
        """The derivative of any order; FITPACK has those below the degrees."""
        (tx, ty, c), (kx, ky) = self.spline.tck, self.spline.degrees
        if dx < kx and dy < ky:
            return surface_values(x, y, self, dx, dy)
        c = np.reshape(c, (len(tx) - kx - 1, len(ty) - ky - 1))
        return tensor_values((tx, ty), c, (kx, ky), np.broadcast_arrays(x, y), (dx, dy))


@primitive
def surface_values(x, y, surface, dx, dy):
    """A derivative of a plain spline in two variables, at points, by SciPy."""
    return surface.spline(x, y, dx, dy, grid=False)


scalar_rule(
    surface_values,
    lambda _, x, y, surface, dx, dy: surface.slope(x, y, dx + 1, dy),
    lambda _, x, y, surface, dx, dy: surface.slope(x, y, dx, dy + 1),
    0, 0, 0,
)  # fmt: skip


def bivariate_values(tck, x, y, dx=0, dy=0, grid=True):
    tx, ty, c, kx, ky = tck
    tx, ty = as_float(tx), as_float(ty)
    nx, ny = np.shape(tx)[0] - kx - 1, np.shape(ty)[0] - ky - 1
    c = np.reshape(as_float(c), (nx, ny))
    x, y = kept_within(as_float(x), tx, kx), kept_within(as_float(y), ty, ky)
    if grid:
        x, y = np.reshape(x, (-1, 1)), np.reshape(y, (1, -1))
    if innermost(tck) is None:
        return Surface(tx, ty, c, kx, ky).slope(x, y, dx, dy)
    x, y = np.broadcast_arrays(x, y)
    return tensor_values((tx, ty), c, (kx, ky), (x, y), (dx, dy))


@composed(interpolate.bisplev, value="own")
def bisplev(x, y, tck, dx=0, dy=0):
    return bivariate_values(tck, np.atleast_1d(x), np.atleast_1d(y), dx, dy, True)


def rectangle(x, y, z, bbox=(None,) * 4, kx=3, ky=3, s=0, maxit=20):
    if s != 0:
        refuse("RectBivariateSpline with a smoothing factor", "write s=0")
    c, ts = as_float(z), []
    for axis, (samples, k) in enumerate(((x, kx), (y, ky))):
        samples = as_float(samples)
        low, high = bbox[2 * axis : 2 * axis + 2]
        t = not_a_knot(samples, k)
        if low is not None or high is not None:
            ends = [t[:1] if low is None else np.reshape(as_float(low), (1,))] * (k + 1)
            other = [t[-1:] if high is None else np.reshape(as_float(high), (1,))] * (k + 1)
            t = np.concatenate([*ends, t[k + 1 : np.shape(t)[0] - k - 1], *other])
        c = interpolating_coefficients(samples, np.moveaxis(c, axis, 0), t, k, None)
        c = np.moveaxis(c, 0, axis)
        ts.append(t)

    def formula(x, y, dx=0, dy=0, grid=True):
        return bivariate_values((*ts, c, kx, ky), x, y, dx, dy, grid)

    return formula


class TracedBivariate(TracedFunction):
    """A spline, as SciPy's ``RectBivariateSpline``, some of whose numbers are traced."""

    def ev(self, xi, yi, dx=0, dy=0):
        return self(xi, yi, dx, dy, grid=False)

    def integral(self, xa, xb, ya, yb):
        refuse("RectBivariateSpline.integral", "write sums of values of the spline")

    def partial_derivative(self, dx, dy):
        refuse("RectBivariateSpline.partial_derivative", "write spline(x, y, dx, dy)")


@following("__call__", "ev")
class BivariateMixin(metaclass=StandIn):
    """A mixin of SciPy's bivariate splines: points may be traced."""

    def followed(self):
        formula = functools.partial(bivariate_values, (*self.tck, *self.degrees))
        return TracedBivariate(super().__call__, formula)


class RectBivariateSpline(BivariateMixin, interpolate.RectBivariateSpline):
    """``scipy.interpolate.RectBivariateSpline``, whose methods see traced values."""

    def __new__(cls, *args, **kwargs):
        if innermost((*args, *kwargs.values())) is None:
            return super().__new__(cls)
        refuse_derived(cls)
        own = scipys_object(interpolate.RectBivariateSpline, args, kwargs)
        return TracedBivariate(own, rectangle(*args, **kwargs))
