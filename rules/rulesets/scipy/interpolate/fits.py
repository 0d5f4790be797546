"""Splines through samples, and fitted to samples: solutions of linear systems.

In the values the coefficients are linear; in the abscissae the systems are differentiated, and so
are the knots where these are made of the abscissae.
"""

import functools

import numpy as np
from scipy import interpolate

from .... import array_of, composed, innermost, with_values
from ..traced_objects import as_float, refuse
from .bsplines import (
    TracedBSpline,
    basis,
    differentiated,
    intervals,
    scipys_spline,
    seeing_points,
)
from .piecewise import over
from .systems import scattered, solved


def rows_of(t, k, xp, nu=0):
    """Return the columns and entries of the collocation matrix, (points, k + 1) each.

    Of a derivative these are the coefficients of ``c`` in the values of ``D**nu``.
    """
    if nu == 0:
        i = intervals(t, k, xp)
        return i[:, None] + np.arange(-k, 1), np.stack(basis(t, k, xp, i), axis=-1)
    n = np.shape(t)[0] - k - 1
    c, inner, degree = np.eye(n), t, k  # few points, at the ends
    for _ in range(nu):
        inner, c, degree = differentiated(inner, c, degree)
    columns, entries = rows_of(inner, degree, xp)
    rows = np.sum(entries[:, :, None] * c[columns], axis=1)
    first = intervals(t, k, xp)[:, None] + np.arange(-k, 1)
    return first, np.stack([row[at] for row, at in zip(rows, first)])


def as_parts(at, columns, entries):
    """Equations number ``at`` as parts for ``solved``."""
    return [(at, columns[:, j], entries[:, j]) for j in range(columns.shape[1])]


# ---- interpolation ------------------------------------------------------------------------------


def clamped(first, inner, last, times):
    """Knots with their ends, arrays of one number each, so many times."""
    return np.concatenate([first] * times + [inner] + [last] * times)


def knots_through(x, k, first, last):
    """Knots of the spline through all samples, from ``first`` to ``last``."""
    half = (k + 1) // 2
    t = x if k % 2 else (x[1:] + x[:-1]) / 2
    return clamped(first, t[half : np.shape(t)[0] - half], last, k + 1)


def not_a_knot(x, k):
    return knots_through(x, k, x[:1], x[-1:])


def periodic_knots(x, k):
    h = np.diff(x)
    if k % 2 == 0:
        x = np.concatenate([x[:1], x[1:-1] - h[:-1] / 2, x[-1:]])
        h = np.diff(x)
    n = np.shape(x)[0]
    before = [h[-(i % (n - 1)) - 1] for i in range(k)]
    after = [h[i % (n - 1)] for i in range(k)]
    left = [x[0] - sum(before[: i + 1]) for i in range(k)][::-1]
    right = [x[-1] + sum(after[: i + 1]) for i in range(k)]
    return np.concatenate([array_of(left), x, array_of(right)]) if k else x


def ends_of(bc_type):
    """Return the conditions at both ends; None stands for not-a-knot."""
    both = (bc_type, bc_type) if bc_type is None or isinstance(bc_type, str) else bc_type
    return [None if isinstance(bc, str) and bc == "not-a-knot" else bc for bc in both]


def knots_of(x, k, t, bc_type):
    if t is not None:
        return as_float(t)
    first, last = ends_of(bc_type)
    if k == 0:
        y = np.concatenate([x, x[-1:]])
    elif k == 1:
        y = clamped(x[:1], x, x[-1:], 1)
    elif is_periodic(bc_type):
        y = periodic_knots(x, k)
    elif first is None and last is None:
        y = not_a_knot(x, k)
    else:
        y = clamped(x[:1], x, x[-1:], k)
    return y


def valued_as(own, t, c):
    """The spline of these knots and coefficients, with the values of SciPy's ``own``."""
    t, c = with_values((t, c), (own.t, own.c))
    return TracedBSpline(t, c, own.k, own.extrapolate, own.axis)


def is_periodic(bc_type):
    return isinstance(bc_type, str) and bc_type == "periodic"


def given_derivatives(bc, y):
    """Return the orders and the values of the derivatives at one end."""
    names = {"clamped": [(1, 0.0)], "natural": [(2, 0.0)]}
    pairs = names[bc] if isinstance(bc, str) else [] if bc is None else list(bc)
    values = [np.reshape(as_float(v) + 0 * y[0], (1, *np.shape(y)[1:])) for _, v in pairs]
    return [order for order, _ in pairs], values


def interpolating_coefficients(x, y, t, k, bc_type):
    n = np.shape(t)[0] - k - 1
    (left, first), (right, last) = (given_derivatives(bc, y) for bc in ends_of(bc_type))
    parts = as_parts(np.arange(len(left), n - len(right)), *rows_of(t, k, x))
    for row, order in enumerate(left):
        parts += as_parts(np.array([row]), *rows_of(t, k, x[:1], order))
    for row, order in enumerate(right):
        at = np.array([n - len(right) + row])
        parts += as_parts(at, *rows_of(t, k, x[-1:], order))
    return solved(parts, np.concatenate([*first, y, *last]))


def periodic_coefficients(x, y, t, k):
    """Of ``n + k - 1`` coefficients the last ``k`` are the first ones again."""
    m = np.shape(x)[0] - 1
    columns, entries = rows_of(t, k, x[:-1])
    c = solved(as_parts(np.arange(m), columns % m, entries), y[:-1])
    return c[np.arange(m + k) % m]


def make_interp(x, y, k=3, t=None, bc_type=None, axis=0, check_finite=True):
    given = x, y, k, t, bc_type, axis, check_finite
    if innermost(given) is None:
        return seeing_points(interpolate.make_interp_spline(*given))
    own = scipys_spline("make_interp_spline", *given)
    x, y = as_float(x), as_float(np.moveaxis(array_of(y), axis, 0))
    t = knots_of(x, k, t, bc_type)
    if k == 0 or (k == 1 and t is None):
        c = y
    elif is_periodic(bc_type):
        c = periodic_coefficients(x, y, t, k)
    else:
        c = interpolating_coefficients(x, y, t, k, bc_type)
    return valued_as(own, t, c)


# ---- least squares ------------------------------------------------------------------------------


def least_squares(x, y, t, k, w):
    """Solve ``a^T w^2 a c = a^T w^2 y``, where ``a`` has few entries in each row."""
    columns, entries = rows_of(t, k, x)
    w = np.ones(len(x)) if w is None else as_float(w)
    weighted = entries * (w * w)[:, None]
    parts = [
        (columns[:, i], columns[:, j], weighted[:, i] * entries[:, j])
        for i in range(k + 1)
        for j in range(k + 1)
    ]
    terms = over(weighted, y[:, None]) * y[:, None]
    return solved(parts, scattered(terms, columns, np.shape(t)[0] - k - 1))


def make_lsq(x, y, t, k=3, w=None, axis=0, check_finite=True, **options):
    given = x, y, t, k, w, axis, check_finite
    if innermost(given) is None:
        return seeing_points(interpolate.make_lsq_spline(*given, **options))
    own = scipys_spline("make_lsq_spline", *given, **options)
    x, t = as_float(x), as_float(t)
    y = as_float(np.moveaxis(array_of(y), axis, 0))
    return valued_as(own, t, least_squares(x, y, t, k, w))


# ---- smoothing ----------------------------------------------------------------------------------


def make_smoothing(x, y, w=None, lam=None, *, axis=0):
    options = {"axis": axis} if axis else {}
    given = x, y, w, lam
    if innermost(given) is None:
        return seeing_points(interpolate.make_smoothing_spline(*given, **options))
    own = scipys_spline("make_smoothing_spline", *given, **options)
    if lam is None:
        refuse("make_smoothing_spline without lam, which it then looks for,", "write lam=...")
    x, y = as_float(x), as_float(np.moveaxis(array_of(y), axis, 0))
    t = clamped(x[:1], x, x[-1:], 3)
    w = np.ones(len(x)) if w is None else as_float(w)
    return valued_as(own, t, smoothing_coefficients(x, y, t, w, as_float(lam)))


def smoothing_coefficients(x, y, t, w, lam):
    """The natural spline that minimizes ``sum(w (y - f(x))**2) + lam * integral(f''**2)``.

    With its values g and inner second derivatives s: ``q^T g = r s`` and ``w (y - g) = lam q s``,
    so that ``(r + lam q^T w^-1 q) s = q^T y``. Source: Green and Silverman (1994), chapter 2.
    """
    h = np.diff(x)
    m, n = len(x) - 2, len(x)
    j = np.arange(m)
    q = np.stack([1 / h[:-1], -1 / h[:-1] - 1 / h[1:], 1 / h[1:]])  # rows j, j + 1, j + 2
    parts = [(j, j, (h[:-1] + h[1:]) / 3)]
    parts += [(j[:-1], j[1:], h[1:-1] / 6), (j[1:], j[:-1], h[1:-1] / 6)]
    for d in range(-2, 3):  # q^T w^-1 q, by its diagonals
        for a in range(max(0, d), min(3, 3 + d)):
            i = j[max(0, -d) : m - max(0, d)]
            entry = lam * q[a][i] * q[a - d][i + d] / w[i + a]
            parts.append((i, i + d, entry))
    second = sum(over(q[a], y) * y[a : a + m] for a in range(3))
    s = solved(parts, second)
    moved = sum(scattered(over(q[a], s) * s, j + a, n) for a in range(3))
    g = y - over(lam / w, y) * moved
    natural = ([(2, 0.0)], [(2, 0.0)])
    return interpolating_coefficients(x, g, t, 3, natural)


INSTEAD = {}
for _f, _body in (
    (interpolate.make_interp_spline, make_interp),
    (interpolate.make_lsq_spline, make_lsq),
    (interpolate.make_smoothing_spline, make_smoothing),
):
    composed(_f)(_body)
    INSTEAD[_f.__name__] = functools.wraps(_f)(_body)
