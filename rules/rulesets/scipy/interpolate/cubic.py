"""Cubic interpolants: the slopes at the samples, and from these the piecewise polynomials.

Source of the systems for the slopes: de Boor (1978), a practical guide to splines, chapter IV.
"""

import numpy as np
from scipy import interpolate

from .... import array_of, composed, library_value, value, with_values
from ..traced_objects import as_float
from .piecewise import Follows, TracedPPoly, coefficients_of, over
from .systems import solved


def hermite_coefficients(x, y, s):
    """Coefficients of the cubics with values ``y`` and slopes ``s`` at ``x``, (4, n - 1, ...)."""
    dx = over(np.diff(x), y)
    slope = np.diff(y, axis=0) / dx
    t = (s[:-1] + s[1:] - 2 * slope) / dx
    return np.stack([t / dx, (slope - s[:-1]) / dx - t, s[:-1], y[:-1]])


def interpolant(own, x, y, slopes, axis):
    """Return the traced polynomial whose value is SciPy's ``own``: class, arguments and options."""
    *given, options = own
    own_c, extrapolate = library_value(coefficients_of, tuple(given), options)
    x, y = as_float(x), array_of(y)
    axis = axis % np.ndim(y)
    y = as_float(np.moveaxis(y, axis, 0))
    c = hermite_coefficients(x, y, slopes(x, y))
    return TracedPPoly(with_values(c, own_c), x, extrapolate, axis)


# ---- splines ------------------------------------------------------------------------------------


def end_conditions(bc_type):
    """Return the conditions at both ends: a name, or an order and a value."""
    names = {"clamped": (1, 0.0), "natural": (2, 0.0)}
    both = (bc_type, bc_type) if isinstance(bc_type, str) else bc_type
    return [names.get(bc, bc) if isinstance(bc, str) else (bc[0], as_float(bc[1])) for bc in both]


def end_row(bc, x, y, slope, h, k):
    """The equation at the end ``x[0]``: weights of ``s[0]`` and ``s[1]``, and the right side.

    ``h`` are the widths from this end on; ``k`` is 1, or -1 where ``x`` runs backwards.
    """
    if isinstance(bc, str):  # not-a-knot
        d = h[0] + h[1]
        return h[1], d, ((h[0] + 2 * d) * h[1] * slope[0] + h[0] ** 2 * slope[1]) / d
    order, given = bc
    given = given + 0 * y[0]
    if order == 1:
        return 1.0, 0.0, given
    return 2 * h[0], h[0], -0.5 * k * given * h[0] ** 2 + 3 * slope[0] * h[0]


def spline_slopes(x, y, bc_type):
    n, h = len(x), np.diff(x)
    dx = over(h, y)
    slope = np.diff(y, axis=0) / dx
    start, end = end_conditions(bc_type)
    inner = np.arange(1, n - 1)
    if n > 2 and start == "periodic":
        before, step = np.roll(h, 1), np.roll(slope, 1, axis=0)
        at = np.arange(n - 1)
        parts = [(at, at - 1, h), (at, at, 2 * (before + h)), (at, (at + 1) % (n - 1), before)]
        parts = [(row, column % (n - 1), entry) for row, column, entry in parts]
        s = solved(parts, 3 * (dx * step + over(before, y) * slope))
        return np.concatenate([s, s[:1]])
    parts = [
        (inner, inner - 1, h[1:]), (inner, inner, 2 * (h[:-1] + h[1:])), (inner, inner + 1, h[:-1]),
    ]  # fmt: skip
    middle = 3 * (dx[1:] * slope[:-1] + dx[:-1] * slope[1:])
    if n == 3 and start == end == "not-a-knot":  # a parabola
        first, last = (1.0, 1.0, 2 * slope[0]), (1.0, 1.0, 2 * slope[1])
    else:
        if n == 2:
            start, end = ((1, slope[0]) if isinstance(bc, str) else bc for bc in (start, end))
        first = end_row(start, x, y, slope, h, 1)
        last = end_row(end, x[::-1], y[::-1], slope[::-1], h[::-1], -1)
    parts += [(0, 0, first[0]), (0, 1, first[1]), (n - 1, n - 1, last[0]), (n - 1, n - 2, last[1])]
    return solved(parts, np.concatenate([first[2][None], middle, last[2][None]]))


def cubic_spline(x, y, axis=0, bc_type="not-a-knot", extrapolate=None):
    own = interpolate.CubicSpline, x, y, axis, bc_type, extrapolate, {}
    return interpolant(own, x, y, lambda x, y: spline_slopes(x, y, bc_type), axis)


# ---- shape-preserving ---------------------------------------------------------------------------


def pchip_end(h0, h1, m0, m1):
    """Three-point slope at an end, kept from overshooting."""
    d = ((2 * h0 + h1) * m0 - h0 * m1) / (h0 + h1)
    plain, p0, p1 = value(d), value(m0), value(m1)
    turns = (np.sign(p0) != np.sign(p1)) & (abs(plain) > 3 * abs(p0))
    d = np.where(turns, 3 * m0, d)
    return np.where(np.sign(plain) != np.sign(p0), 0.0, d)


def pchip_slopes(x, y):
    """The harmonic mean of the neighbouring slopes, and 0 where these change sign.

    Source: Fritsch and Butland (1984).
    """
    h = over(np.diff(x), y)
    m = np.diff(y, axis=0) / h
    if len(x) == 2:
        return np.concatenate([m, m])
    signs = np.sign(value(m))
    flat = (signs[1:] != signs[:-1]) | (signs[1:] == 0)
    w1, w2 = 2 * h[1:] + h[:-1], h[1:] + 2 * h[:-1]
    mean = w1 / np.where(flat, 1.0, m[:-1]) + w2 / np.where(flat, 1.0, m[1:])
    # Where both slopes are 0 the mean has none: it is harmonic, and bent there.
    inner = np.where(flat, 0.0, (w1 + w2) / np.where(flat, 1.0, mean))
    first, last = pchip_end(h[0], h[1], m[0], m[1]), pchip_end(h[-1], h[-2], m[-1], m[-2])
    return np.concatenate([first[None], inner, last[None]])


def pchip(x, y, axis=0, extrapolate=None):
    own = interpolate.PchipInterpolator, x, y, axis, extrapolate, {}
    return interpolant(own, x, y, pchip_slopes, axis)


def akima_slopes(x, y, method="akima"):
    """Weighted means of the neighbouring slopes. Source: Akima (1970)."""
    m = np.diff(y, axis=0) / over(np.diff(x), y)
    if len(x) == 2:
        return np.concatenate([m, m])
    before = 2 * m[:1] - m[1:2]
    after = 2 * m[-1:] - m[-2:-1]
    m = np.concatenate([2 * before - m[:1], before, m, after, 2 * after - m[-1:]])
    dm = np.abs(np.diff(m, axis=0))
    if method == "makima":
        dm = dm + 0.5 * np.abs(m[1:] + m[:-1])
    left, right = dm[2:], dm[:-2]
    total = value(left + right)
    known = total > 1e-9 * np.max(total, initial=0)
    share = right / np.where(known, left + right, 1.0)
    mean = m[1:-2] + share * (m[2:-1] - m[1:-2])
    return np.where(known, mean, 0.5 * (m[3:] + m[:-3]))


def akima(x, y, axis=0, *, method="akima", extrapolate=None):
    options = {} if method == "akima" and extrapolate is None else {"method": method}
    options |= {} if extrapolate is None else {"extrapolate": extrapolate}
    own = interpolate.Akima1DInterpolator, x, y, axis, options
    return interpolant(own, x, y, lambda x, y: akima_slopes(x, y, method), axis)


def hermite(x, y, dydx, axis=0, extrapolate=None):
    own = interpolate.CubicHermiteSpline, x, y, dydx, axis, extrapolate, {}
    s = as_float(np.moveaxis(array_of(dydx), axis, 0))
    return interpolant(own, x, y, lambda x, y: s, axis)


class CubicSpline(Follows, interpolate.CubicSpline):
    """``scipy.interpolate.CubicSpline``, whose methods see traced values."""

    made = staticmethod(cubic_spline)


class PchipInterpolator(Follows, interpolate.PchipInterpolator):
    """``scipy.interpolate.PchipInterpolator``, whose methods see traced values."""

    made = staticmethod(pchip)


class Akima1DInterpolator(Follows, interpolate.Akima1DInterpolator):
    """``scipy.interpolate.Akima1DInterpolator``, whose methods see traced values.

    Where neighbouring slopes are equal, as in flat data, SciPy takes the mean of the two about a
    point, as long as they differ by less than 1e-9 of the largest difference. The derivative there
    is that of the mean; differences with steps that are larger see a kink.
    """

    made = staticmethod(akima)


class CubicHermiteSpline(Follows, interpolate.CubicHermiteSpline):
    """``scipy.interpolate.CubicHermiteSpline``, whose methods see traced values."""

    made = staticmethod(hermite)


@composed(interpolate.pchip_interpolate)
def pchip_interpolate(xi, yi, x, der=0, axis=0):
    p = PchipInterpolator(xi, yi, axis=axis)
    if np.ndim(der) == 0:
        return p(x) if der == 0 else p.derivative(der)(x)
    return [p(x, nu) for nu in der]
