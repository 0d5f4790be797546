"""One polynomial through all samples, in Newton's form, and quotients of polynomials.

Source: Krogh (1970), efficient algorithms for polynomial interpolation and numerical
differentiation.
"""

import math

import numpy as np
from scipy import interpolate

from .... import array_of, composed, is_traced, library_value, value, with_values
from ..traced_objects import Interpolates, TracedFunction, as_float, following, refuse, valued
from .piecewise import over, to_axis
from .systems import or_one


def divided_differences(x, y):
    """Coefficients in Newton's form. Of equal ``x`` the later ``y`` are the derivatives there."""
    plain = value(x)
    again = np.arange(len(plain)) - np.searchsorted(plain, plain) if repeats(plain) else None
    if again is not None:
        if is_traced(x):
            refuse("KroghInterpolator of repeated and traced abscissae", "write xi as a constant")
        group = np.concatenate([[0], np.cumsum(plain[1:] != plain[:-1])])
        first = np.searchsorted(group, group)
    d = y if again is None else y[first]
    c = [d[0]]
    for level in range(1, len(plain)):
        widths = over(or_one(x[level:] - x[:-level]), y)
        d = (d[1:] - d[:-1]) / widths
        if again is not None:
            same = group[level:] == group[:-level]
            given = y[np.minimum(first[: len(same)] + level, len(plain) - 1)]
            d = np.where(over(same, d), given / math.factorial(level), d)
        c.append(d[0])
    return c


def repeats(x):
    return len(np.unique(x)) < len(x)


def newton_values(c, x, xp, order):
    """Value and derivatives up to ``order`` at ``xp``, by Horner's scheme."""
    y = [np.zeros(np.shape(xp) + np.shape(c[0])) for _ in range(order + 1)]
    for k in range(len(c) - 1, -1, -1):
        d = over(xp - x[k], y[0])
        for nu in range(order, 0, -1):
            y[nu] = y[nu] * d + nu * y[nu - 1]
        y[0] = y[0] * d + c[k]
    return y


def spread_order(x):
    """An order in which each of ``x`` is far from those before it (Leja), where sums are stable."""
    x = np.asarray(x, float)
    scale = 4 / max(np.ptp(x), np.finfo(float).tiny)
    order, product = [int(np.argmax(np.abs(x)))], np.ones(len(x))
    for _ in range(len(x) - 1):
        product = product * np.abs(x - x[order[-1]]) * scale
        order.append(int(np.argmax(product)))
    return np.array(order)


class TracedPolynomial(TracedFunction):
    """A polynomial, as SciPy's Krogh and barycentric interpolators."""

    @valued
    def derivatives(self, x, der=None, *, own):
        return np.stack(self.formula(x, len(own) - 1, every=True))

    @valued
    def derivative(self, x, der=1):
        return self.formula(x, der)


def through(x, y, axis, order):
    """The function that gives the polynomial through ``x``, ``y``, and its derivatives."""
    y = as_float(y)
    axis = axis % np.ndim(y)
    x, y = as_float(x)[order], np.moveaxis(y, axis, 0)[order]
    c = divided_differences(x, y)

    def formula(xp, der=0, every=False):
        xp = as_float(xp)
        found = newton_values(c, x, xp, der)
        found = [to_axis(y, np.ndim(xp), axis) if np.ndim(xp) else y for y in found]
        return found if every else found[der]

    return formula


def krogh(xi, yi, axis=0):
    return through(xi, yi, axis, slice(None))


def barycentric(xi, yi=None, axis=0, *, wi=None, rng=None, random_state=None):
    if yi is None or is_traced(wi):
        refuse("BarycentricInterpolator without yi, or with traced weights", "write it with yi")
    return through(xi, yi, axis, library_value(spread_order, (xi,), {}))


@following("derivatives", "derivative")
class Polynomial(Interpolates):
    traced = TracedPolynomial

    def followed(self):
        args, kwargs = self._made_of
        return TracedPolynomial(self, type(self).formula(*args, **kwargs))


class KroghInterpolator(Polynomial, interpolate.KroghInterpolator):
    """``scipy.interpolate.KroghInterpolator``, whose methods see traced values."""

    formula = staticmethod(krogh)


class BarycentricInterpolator(Polynomial, interpolate.BarycentricInterpolator):
    """``scipy.interpolate.BarycentricInterpolator``, whose methods see traced values."""

    formula = staticmethod(barycentric)

    def set_yi(self, yi, axis=None):
        super().set_yi(yi, axis)
        self.changed = hasattr(self, "_made_of")

    def add_xi(self, xi, yi=None):
        super().add_xi(xi, yi)
        self.changed = True

    def followed(self):
        if self.changed:
            refuse("BarycentricInterpolator after set_yi or add_xi", "write one with all samples")
        return super().followed()


@composed(interpolate.krogh_interpolate, value="own")
def krogh_interpolate(xi, yi, x, der=0, axis=0):
    return of_orders(krogh(xi, yi, axis), x, der, np.size(value(xi)))


@composed(interpolate.barycentric_interpolate, value="own")
def barycentric_interpolate(xi, yi, x, axis=0, *, der=0, rng=None):
    return of_orders(barycentric(xi, yi, axis), x, der, np.size(value(xi)))


def of_orders(formula, x, der, n):
    """Derivatives of one order, of a list of these, or of all (None)."""
    if np.ndim(der) == 0 and der is not None:
        return formula(x, der)
    orders = np.arange(n) if der is None else np.asarray(der)
    found = formula(x, int(np.max(orders)), every=True)
    return np.stack([found[order] for order in orders])


@composed(interpolate.lagrange)
def lagrange(x, w):
    """The Lagrange polynomial as a ``poly1d``: its coefficients are those of Newton's form."""
    own = interpolate.lagrange(value(x), value(w))
    x = as_float(array_of(x))
    c = divided_differences(x, as_float(array_of(w)))
    p = np.reshape(c[-1], (1,))
    for k in range(len(c) - 2, -1, -1):
        p = np.convolve(p, np.stack([1.0, -x[k]])) if is_traced(x) else np.convolve(p, [1.0, -x[k]])
        p = p + np.concatenate([np.zeros(np.shape(p)[0] - 1), np.reshape(c[k], (1,))])
    return as_poly1d(p, own)


def as_poly1d(p, own):
    coefficients = np.zeros(np.shape(p), own.coeffs.dtype)
    coefficients[len(coefficients) - len(own.coeffs) :] = own.coeffs
    return np.poly1d(with_values(p, coefficients))


@composed(interpolate.pade)
def pade(an, m, n=None):
    """``p / q`` with ``q * an - p`` of order ``m + n + 1``: a linear system for ``q``."""
    own = interpolate.pade(value(an), m, n)
    an = as_float(array_of(an))
    n = np.shape(an)[0] - 1 - m if n is None else n
    an = np.concatenate([np.zeros(m), an[: n + m + 1]])  # an[k] is at k + m
    rows = np.arange(n + 1, n + m + 1)[:, None] + m - np.arange(1, m + 1)
    q = np.concatenate(
        [np.ones(1), np.linalg.solve(an[rows], -an[np.arange(n + 1, n + m + 1) + m])]
    )
    p = sum(q[j] * an[m - j : m - j + n + 1] for j in range(m + 1))
    return as_poly1d(p[::-1], own[0]), as_poly1d(q[::-1], own[1])
