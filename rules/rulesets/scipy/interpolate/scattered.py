"""Interpolation between scattered points: by triangles, by the nearest one, by radial functions.

Which points are joined to triangles, and which is the nearest, does not change near by.
"""

import math

import numpy as np
from scipy import interpolate, spatial

from .... import composed, library_value, primitive, scalar_rule, value
from ..spatial.rows import distances, squares
from ..traced_objects import Interpolates, as_float, own_value, refuse, scipys_object, told_by
from .grids import as_points, interp1d
from .piecewise import over


def as_sites(points):
    return as_points(points.points if isinstance(points, spatial.Delaunay) else points, None)


# ---- triangles ----------------------------------------------------------------------------------


def triangles_around(own, xi, tolerance):
    """Return the triangles of SciPy's that the plain ``xi`` lie in, or -1, and their corners."""
    xi = xi if own.scale is None else (xi - own.offset) / own.scale
    found = own.tri.find_simplex(xi, tol=tolerance * 100 * np.finfo(float).eps)
    return found, own.tri.simplices[np.maximum(found, 0)]


def on_triangles(points, values, fill_value=math.nan, rescale=False):
    """Barycentric coordinates in the simplex that a point lies in: a linear system for each."""
    given = points, values, fill_value, rescale
    own = scipys_object(interpolate.LinearNDInterpolator, given, {})
    sites, values = as_sites(points), as_float(values)

    def formula(*xi, simplex_tolerance=1.0):
        xi = as_points(xi if len(xi) > 1 else xi[0], np.shape(sites)[1])
        found, corners = told_by(own, triangles_around, xi, simplex_tolerance)
        base = sites[corners[..., -1]]
        edges = np.stack([sites[corners[..., d]] - base for d in range(np.shape(sites)[1])], -1)
        share = np.linalg.solve(edges, (xi - base)[..., None])[..., 0]
        share = np.concatenate([share, 1 - np.sum(share, axis=-1, keepdims=True)], axis=-1)
        y = sum(
            over(share[..., d], values[corners[..., d]]) * values[corners[..., d]]
            for d in range(np.shape(corners)[-1])
        )
        return y if np.all(found >= 0) else np.where(over(found >= 0, y), y, fill_value)

    return formula


class LinearNDInterpolator(Interpolates, interpolate.LinearNDInterpolator):
    """``scipy.interpolate.LinearNDInterpolator``, whose methods see traced values."""

    formula = staticmethod(on_triangles)


# ---- the nearest --------------------------------------------------------------------------------


def at_nearest(x, y, rescale=False, tree_options=None):
    y = as_float(y)
    given = x, np.arange(np.shape(y)[0]) * 1.0, rescale, tree_options
    own = scipys_object(interpolate.NearestNDInterpolator, given, {})

    def formula(*xi, **options):
        found = own_value(own, "__call__", xi, options)
        missing = np.isnan(found)
        chosen = y[np.where(missing, 0, found).astype(int)]
        return np.where(over(missing, chosen), math.nan, chosen) if np.any(missing) else chosen

    return formula


class NearestNDInterpolator(Interpolates, interpolate.NearestNDInterpolator):
    """``scipy.interpolate.NearestNDInterpolator``, whose methods see traced values."""

    formula = staticmethod(at_nearest)


@composed(interpolate.griddata, value="own")
def griddata(
    points, values, xi, method="linear", fill_value=math.nan, rescale=False, simplex_tolerance=1.0
):
    sites = as_sites(points)
    ndim = np.shape(sites)[-1] if np.ndim(sites) > 1 else 1
    if ndim == 1:
        xi = xi[0] if isinstance(xi, tuple) else xi
        fill = "extrapolate" if method == "nearest" else fill_value
        f = interp1d(np.ravel(sites), values, method, axis=0, bounds_error=False, fill_value=fill)
        return f(xi)
    if method == "cubic":
        refuse("griddata with method='cubic'", "write method='linear', or RBFInterpolator")
    if method == "nearest":
        return at_nearest(sites, values, rescale)(xi)
    of_points = on_triangles(points, values, fill_value, rescale)
    return of_points(xi, simplex_tolerance=simplex_tolerance)


# ---- radial functions ---------------------------------------------------------------------------


@primitive
def thin_plate(r):
    """``r**2 * log(r)``, with the limit 0 at 0, as its slope."""
    return np.where(r == 0, 0.0, r * r * np.log(np.where(r == 0, 1.0, r)))


@primitive
def thin_plate_slope(r):
    return np.where(r == 0, 0.0, r * (2 * np.log(np.where(r == 0, 1.0, r)) + 1))


scalar_rule(thin_plate, lambda _, r: thin_plate_slope(r))
scalar_rule(thin_plate_slope, lambda _, r: 2 * np.log(r) + 3)

# Of the squared distance: smooth where two points are one, but the last ones.
KERNELS = {
    "gaussian": lambda s: np.exp(-s),
    "multiquadric": lambda s: -np.sqrt(s + 1),
    "inverse_multiquadric": lambda s: 1 / np.sqrt(s + 1),
    "inverse_quadratic": lambda s: 1 / (s + 1),
    "cubic": lambda s: s * np.sqrt(s),
    "quintic": lambda s: -s * s * np.sqrt(s),
    "linear": lambda s: -np.sqrt(s),
    "thin_plate_spline": lambda s: s * np.log(s) / 2,
}
AT_ZERO = {"cubic", "quintic", "linear", "thin_plate_spline"}


def radial(kernel, x, y, epsilon, diagonal=False):
    """The kernel between all ``x`` and ``y``, where on the diagonal these may be the same."""
    x, y = x * epsilon, y * epsilon
    if kernel in ("linear", "thin_plate_spline") and not diagonal:
        r = distances(x, y)
        return -r if kernel == "linear" else thin_plate(r)
    s = squares(x, y)
    if kernel not in AT_ZERO:
        return KERNELS[kernel](s)
    # r**3 and r**5 are as flat at 0 as a constant; on the diagonal nothing moves.
    at_zero = value(s) == 0
    return np.where(at_zero, 0.0, KERNELS[kernel](np.where(at_zero, 1.0, s)))


def monomials(x, powers):
    rows = [math.prod([x[:, d] ** int(p) for d, p in enumerate(row) if p]) for row in powers]
    ones = np.ones(np.shape(x)[0])
    return np.stack([ones if np.ndim(row) == 0 else row for row in rows], axis=-1)


def interpolant_of(y, d, smoothing, kernel, epsilon, powers):
    """The function ``sum_i a_i kernel(x, y_i) + polynomial``, by a linear system for the weights.

    The polynomial is in coordinates that are moved and scaled, which its values do not depend on.
    """
    plain = value(y)
    shift = (np.max(plain, axis=0) + np.min(plain, axis=0)) / 2
    scale = (np.max(plain, axis=0) - np.min(plain, axis=0)) / 2
    scale = np.where(scale == 0, 1.0, scale)
    n, m = len(plain), len(powers)
    a = radial(kernel, y, y, epsilon, diagonal=True)
    a = a + np.where(np.eye(n, dtype=bool), np.reshape(smoothing, (-1, 1)), 0.0)
    d = np.reshape(d, (n, -1))
    if m:
        p = monomials((y - shift) / scale, powers)
        a = np.concatenate([
            np.concatenate([a, p], axis=1), np.concatenate([p.T, np.zeros((m, m))], axis=1)
        ])  # fmt: skip
        d = np.concatenate([d, np.zeros((m, np.shape(d)[1]))])
    weights = np.linalg.solve(a, d)

    def values(x):
        parts = radial(kernel, x, y, epsilon)
        if m:
            parts = np.concatenate([parts, monomials((x - shift) / scale, powers)], axis=1)
        return parts @ weights

    return values


def of_radial_functions(*args):
    """The powers of SciPy's polynomial, and how many neighbors it looks at."""
    own = interpolate.RBFInterpolator(*args)
    return own.powers, own.neighbors


def radial_functions(y, d, neighbors=None, smoothing=0.0, kernel="thin_plate_spline", epsilon=None,
                     degree=None):  # fmt: skip
    given = y, d, neighbors, smoothing, kernel, epsilon, degree
    powers, neighbors = library_value(of_radial_functions, given, {})
    kernel = kernel.lower()
    epsilon = 1.0 if epsilon is None else epsilon
    y, d = as_float(y), as_float(d)
    smoothing = np.broadcast_to(as_float(smoothing), np.shape(y)[:1])
    whole = None
    if neighbors is None:
        whole = interpolant_of(y, d, smoothing, kernel, epsilon, powers)

    def formula(x):
        x = as_float(x)
        shape = np.shape(x)[:1] + np.shape(d)[1:]
        if whole is not None:
            return np.reshape(whole(x), shape)
        _, near = spatial.KDTree(value(y)).query(value(x), neighbors)
        near = np.sort(np.reshape(near, (len(near), -1)), axis=1)
        groups, numbers = np.unique(near, return_inverse=True, axis=0)
        numbers = np.reshape(numbers, -1)
        parts, places = [], []
        for number, group in enumerate(groups):
            at = np.flatnonzero(numbers == number)
            local = interpolant_of(y[group], d[group], smoothing[group], kernel, epsilon, powers)
            parts.append(local(x[at]))
            places.append(at)
        order = np.argsort(np.concatenate(places))
        return np.reshape(np.concatenate(parts)[order], shape)

    return formula


class RBFInterpolator(Interpolates, interpolate.RBFInterpolator):
    """``scipy.interpolate.RBFInterpolator``, whose methods see traced values."""

    formula = staticmethod(radial_functions)

    def __getstate__(self):
        return super().__getstate__(), self._made_of

    def __setstate__(self, state):
        own, self._made_of = state
        super().__setstate__(own)
