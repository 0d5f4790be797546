"""Piecewise polynomials: their values, derivatives and integrals, and the objects that have these.

At a breakpoint a polynomial belongs to the piece on its right, and so does its derivative: as
SciPy's own ``nu=1`` has it.
"""

import math
from typing import Any

import numpy as np
from scipy import interpolate, special

from .... import (
    AbstractZero,
    NoTangent,
    StandIn,
    innermost,
    library_value,
    pair_rule,
    primitive,
    shape_of,
    thunk,
    value,
    with_values,
)
from ..traced_objects import (
    as_float,
    following,
    is_derived,
    own_value,
    refuse,
    scipys_object,
    valued,
)
from .systems import scattered


def intervals(x, xp):
    """Return the number of the piece that each of ``xp`` lies in, as SciPy counts them."""
    x, xp = value(x), value(xp)
    if x[-1] >= x[0]:
        found = np.searchsorted(x, xp, side="right") - 1
    else:
        found = np.searchsorted(-x, -xp, side="right") - 1
    return np.clip(found, 0, len(x) - 2)


def over(x, y):
    """``x`` with axes of length 1 behind its own, so that it broadcasts with ``y``."""
    return np.reshape(x, (*np.shape(x), *(1,) * (np.ndim(y) - np.ndim(x))))


def sum_behind(y, rank):
    return np.sum(y, axis=tuple(range(rank, np.ndim(y))))


@primitive
def piecewise_values(c, x, xp, nu):
    """The derivative of order ``nu`` at ``xp``.

    Shapes: ``c``: (k, m, ...); ``x``: (m + 1,); ``xp``: any; the result: that of xp and (...).
    """
    return interpolate.PPoly.construct_fast(c, x)(xp, nu)


@pair_rule(piecewise_values)
def piecewise_values_pair(piecewise_values, c, x, xp, nu):
    """With ``d = xp - x[i]``: ``y = sum_m c[m, i] * d**(k - 1 - m)``, and its derivatives."""
    y = piecewise_values(c, x, xp, nu)
    k, rank = shape_of(c)[0], len(shape_of(xp))

    def piecewise_values_pushforward(cdot, xdot, xpdot, _3):
        ddot = xpdot if isinstance(xdot, AbstractZero) else xpdot - xdot[intervals(x, xp)]
        moved = ddot
        if not isinstance(ddot, AbstractZero):
            moved = piecewise_values(c, x, xp, nu + 1) * over(ddot, y)
        if isinstance(cdot, AbstractZero):
            return moved
        return piecewise_values(cdot, x, xp, nu) + moved

    def piecewise_values_pullback(ybar):
        def dbar():
            slope = piecewise_values(c, x, xp, nu + 1)
            return np.real(sum_behind(np.conj(slope) * ybar, rank))

        cbar = thunk(lambda: piecewise_transpose(ybar, x, xp, nu, k))
        xbar = thunk(lambda: -scattered(dbar(), intervals(x, xp), np.shape(x)[0]))
        return cbar, xbar, thunk(dbar), NoTangent()

    return y, piecewise_values_pushforward, piecewise_values_pullback


def piecewise_transpose(ybar, x, xp, nu, k):
    """The transpose of ``piecewise_values`` in the ``k`` coefficients of each piece."""
    i = intervals(x, xp)
    d = xp - x[i]
    powers = [np.zeros(np.shape(d))] * nu + [np.ones(np.shape(d))]
    while len(powers) < k:
        powers.append(powers[-1] * d)
    factors = special.poch(np.arange(k) - nu + 1.0, nu)
    rows = [
        scattered(over(factors[m] * powers[m], ybar) * ybar, i, np.shape(x)[0] - 1)
        for m in range(k)
    ]
    return np.stack(rows[::-1])


@primitive
def piecewise_roots(c, x, y, r):
    """``r``, where the polynomial has the value ``y``; as it depends on ``c``, ``x`` and ``y``."""
    return r


def slope_at_roots(c, x, y, r):
    """The slope there; NaN where the polynomial leaps over ``y``."""
    missed = np.abs(value(piecewise_values(c, x, r, 0) - y))
    size = np.max(np.abs(value(c)), initial=1.0)
    return np.where(missed > 1e-8 * size, math.nan, piecewise_values(c, x, r, 1))


@pair_rule(piecewise_roots)
def piecewise_roots_pair(piecewise_roots, c, x, y, r):
    """From ``p(r) = y``: ``pdot(r) + slope * (rdot - xdot[i]) = ydot``."""
    r = piecewise_roots(c, x, y, r)
    k = shape_of(c)[0]

    def piecewise_roots_pushforward(cdot, xdot, ydot, _3):
        moved = ydot
        if not isinstance(cdot, AbstractZero):
            moved = ydot - piecewise_values(cdot, x, r, 0)
        if not isinstance(moved, AbstractZero):
            moved = moved / slope_at_roots(c, x, y, r)
        return moved if isinstance(xdot, AbstractZero) else moved + xdot[intervals(x, r)]

    def piecewise_roots_pullback(rbar):
        share = rbar / slope_at_roots(c, x, y, r)
        cbar = -piecewise_transpose(share, x, r, 0, k)
        xbar = scattered(rbar, intervals(x, r), np.shape(x)[0])
        return cbar, xbar, np.sum(share), NoTangent()

    return r, piecewise_roots_pushforward, piecewise_roots_pullback


def within(xp, low, high, extrapolate, y):
    """``y`` where ``xp`` is between ``low`` and ``high``, else NaN if nothing is extrapolated."""
    if extrapolate:
        return y
    xp = value(xp)
    inside = (xp >= value(low)) & (xp <= value(high)) | np.isnan(xp)
    return y if np.all(inside) else np.where(over(inside, y), y, math.nan)


def to_axis(y, rank, axis):
    """Move the ``rank`` first axes, those of the points, to ``axis``."""
    axes = list(range(np.ndim(y)))
    return np.transpose(y, axes[rank : rank + axis] + axes[:rank] + axes[rank + axis :])


def coefficients_of(cls, *args, **options):
    """The coefficients of SciPy's polynomials, and whether they extrapolate."""
    own = cls(*args, **options)
    return own.c, own.extrapolate


def scipys_antiderivative(c, x, extrapolate, axis, nu):
    """SciPy's coefficients of the integral."""
    return interpolate.PPoly.construct_fast(c, x, extrapolate, axis).antiderivative(nu).c


class TracedPPoly:
    """A piecewise polynomial, as SciPy's ``PPoly``, some of whose numbers are traced."""

    def __init__(self, c, x, extrapolate=True, axis=0):
        self.c, self.x, self.extrapolate, self.axis = c, x, extrapolate, axis

    @property
    def numbers(self):
        return self.c, self.x, self.extrapolate, self.axis

    @property
    def own(self):
        """SciPy's polynomials of the same numbers."""
        return scipys_object(interpolate.PPoly, self.numbers, {}, "construct_fast")

    def __call__(self, x, nu=0, extrapolate=None):
        extrapolate = self.extrapolate if extrapolate is None else extrapolate
        xp, first, last = as_float(x), self.x[0], self.x[-1]
        if extrapolate == "periodic":
            xp = first + (xp - first) % (last - first)
        y = piecewise_values(self.c, self.x, xp, nu)
        low, high = (first, last) if value(last) >= value(first) else (last, first)
        y = within(xp, low, high, extrapolate, y)
        return to_axis(y, np.ndim(xp), self.axis) if self.axis else y

    def derivative(self, nu=1):
        if nu < 0:
            return self.antiderivative(-nu)
        c = self.c[: np.shape(self.c)[0] - nu]
        if np.shape(c)[0] == 0:
            c = np.zeros((1, *np.shape(self.c)[1:]), value(self.c).dtype)
        factors = special.poch(np.arange(np.shape(c)[0], 0, -1), nu)
        return type(self)(c * over(factors, c), self.x, self.extrapolate, self.axis)

    def antiderivative(self, nu=1):
        if nu <= 0:
            return self.derivative(-nu)
        c, widths = self.c, over(np.diff(self.x), self.c[0])
        for _ in range(nu):
            c = c / over(np.arange(np.shape(c)[0], 0.0, -1), c)
            areas = 0.0
            for part in c:  # Horner's scheme
                areas = (areas + part) * widths
            starts = np.concatenate([areas[:1] * 0, np.cumsum(areas, axis=0)[:-1]])
            c = np.concatenate([c, starts[None]])
        extrapolate = False if self.extrapolate == "periodic" else self.extrapolate
        own = library_value(scipys_antiderivative, (*self.numbers, nu), {})
        return type(self)(with_values(c, own), self.x, extrapolate, self.axis)

    @valued
    def integrate(self, a, b, extrapolate=None):
        extrapolate = self.extrapolate if extrapolate is None else extrapolate
        whole = TracedPPoly(self.antiderivative().c, self.x, extrapolate)
        if extrapolate != "periodic":
            return whole(b) - whole(a)
        first, last = self.x[0], self.x[-1]
        whole.extrapolate = True

        def area(p):
            periods = np.floor(value((p - first) / (last - first)))
            return periods * whole(last) + whole(p - periods * (last - first))

        return area(b) - area(a)

    def solve(self, y=0.0, discontinuity=True, extrapolate=None):
        own = own_value(self.own, "solve", (y, discontinuity, extrapolate), {})
        if np.ndim(self.c) > 2:
            refuse("PPoly.solve of several polynomials", "write one for each")
        return piecewise_roots(self.c, self.x, as_float(y), own)

    def roots(self, discontinuity=True, extrapolate=None):
        return self.solve(0.0, discontinuity, extrapolate)

    def extend(self, c, x):
        refuse("PPoly.extend", "write np.concatenate of the coefficients, and PPoly of these")


def traced_ppoly(c, x, extrapolate=None, axis=0):
    given = interpolate.PPoly, c, x, extrapolate, axis
    _, extrapolate = library_value(coefficients_of, given, {})
    c = as_float(c)
    if axis:
        c = np.moveaxis(np.moveaxis(c, axis + 1, 0), axis + 1, 0)
    return TracedPPoly(c, as_float(x), extrapolate, axis)


class KeptNumber:
    """Descriptor of a number of a piecewise polynomial: SciPy's own, until one is traced."""

    def __set_name__(self, cls, name):
        self.name = name

    def __get__(self, polynomial, cls=None):
        if polynomial is None:
            return self
        if polynomial._traced is None:
            return getattr(super(Follows, polynomial), self.name)
        return getattr(polynomial._traced, self.name)

    def __set__(self, polynomial, number):
        if polynomial.is_followed(number):
            polynomial._traced = polynomial.followed()
            setattr(polynomial._traced, self.name, number)
        else:
            getattr(super(Follows, type(polynomial)), self.name).__set__(polynomial, number)


def polynomial_of(cls, state):
    polynomial = object.__new__(cls)
    vars(polynomial).update(state)
    return polynomial


@following("__call__", "integrate", "solve", "extend")
class Follows(metaclass=StandIn):
    """Mixin for SciPy's classes of piecewise polynomials: points and coefficients may be traced.

    ``made`` makes the object where an argument of the constructor is traced. An object of a class
    that a user derived is one of that class, and keeps the traced numbers.
    """

    made: Any = staticmethod(traced_ppoly)
    _traced: Any = None  # the polynomial as a TracedPPoly, if any of its numbers is traced
    c, x, extrapolate, axis = KeptNumber(), KeptNumber(), KeptNumber(), KeptNumber()

    def __new__(cls, *args, **kwargs):
        if is_derived(cls) or innermost((*args, *kwargs.values())) is None:
            return super().__new__(cls)
        return cls.made(*args, **kwargs)

    def __init__(self, *args, **kwargs):
        if innermost((*args, *kwargs.values())) is None:
            super().__init__(*args, **kwargs)
        else:
            self._traced = self.made(*args, **kwargs)

    @classmethod
    def construct_fast(cls, c, x, extrapolate=None, axis=0):
        if innermost((c, x)) is None:
            return super().construct_fast(c, x, extrapolate, axis)
        self = object.__new__(cls)
        self._traced = TracedPPoly(c, x, True if extrapolate is None else extrapolate, axis)
        return self

    @classmethod
    def from_spline(cls, tck, extrapolate=None):
        if innermost(getattr(tck, "tck", tck)) is not None:
            refuse("PPoly.from_spline", "write BSpline(t, c, k), which has nearly the same methods")
        return super().from_spline(tck, extrapolate)

    def __reduce_ex__(self, protocol):
        if self._traced is None:
            return super().__reduce_ex__(protocol)
        return polynomial_of, (type(self), vars(self))  # of SciPy's own state it has nothing

    def is_followed(self, *args):
        return self._traced is not None or innermost(args) is not None

    def followed(self):
        return self._traced or TracedPPoly(self.c, self.x, self.extrapolate, self.axis)

    def derivative(self, nu=1):
        if self.is_followed():
            return self.construct_fast(*self.followed().derivative(nu).numbers)
        return super().derivative(nu)

    def antiderivative(self, nu=1):
        if self.is_followed():
            return self.construct_fast(*self.followed().antiderivative(nu).numbers)
        return super().antiderivative(nu)


class PPoly(Follows, interpolate.PPoly):
    """``scipy.interpolate.PPoly``, whose methods see traced values."""
