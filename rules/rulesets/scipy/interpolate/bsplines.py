"""B-splines: values, derivatives and integrals, in the points, the coefficients and the knots.

Source of the recurrences: de Boor (1978), a practical guide to splines, chapters IX and X.
"""

from typing import Any, NamedTuple

import numpy as np
from scipy import interpolate

from .... import (
    AbstractZero,
    NoTangent,
    StandIn,
    array_of,
    innermost,
    is_traced,
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
    own_value,
    refuse,
    refuse_derived,
    scipys_object,
    valued,
)
from .piecewise import over, sum_behind, to_axis, within
from .systems import or_one, scattered


def intervals(t, k, xp):
    """Return i with ``t[i] <= xp < t[i + 1]``, the last one that is not empty at the right end."""
    t, xp = value(t), value(xp)
    n = len(t) - k - 1
    last = np.searchsorted(t, t[n], side="left") - 1 if k else n - 1
    return np.clip(np.searchsorted(t, xp, side="right") - 1, k, max(last, k))


def basis(t, k, xp, i):
    """Return the ``k + 1`` B-splines that are not 0 in the interval ``i``, at ``xp``."""
    parts = [np.ones(np.shape(xp))]
    for d in range(1, k + 1):
        saved, higher = 0.0, []
        for r in range(d):
            high, low = t[i + r + 1], t[i + 1 - d + r]
            share = parts[r] / (high - low)
            higher.append(saved + (high - xp) * share)
            saved = (xp - low) * share
        parts = [*higher, saved]
    return parts


def differentiated(t, c, k):
    """Knots and coefficients of the derivative."""
    n = np.shape(t)[0] - k - 1
    widths = or_one(t[k + 1 : k + n] - t[1:n])
    return t[1:-1], (c[1:n] - c[: n - 1]) * k / over(widths, c), k - 1


def integrated(t, c, k):
    """Knots and coefficients of the integral from the first knot on."""
    n = np.shape(t)[0] - k - 1
    widths = t[k + 1 :] - t[:n]
    sums = np.cumsum(c[:n] * over(widths, c), axis=0) / (k + 1)
    c = np.concatenate([sums[:1] * 0, sums])
    return np.concatenate([t[:1], t, t[-1:]]), c, k + 1


def values_by_recurrence(t, c, k, xp, nu):
    if nu > k:
        return np.zeros((*np.shape(xp), *np.shape(c)[1:]), value(c).dtype)
    for _ in range(nu):
        t, c, k = differentiated(t, c, k)
    i = intervals(t, k, xp)
    parts = basis(t, k, xp, i)
    return sum(over(parts[j], c[i]) * c[i - k + j] for j in range(k + 1))


@primitive
def spline_values(c, xp, t, k, nu):
    """The derivative of order ``nu`` at ``xp``, by SciPy; the knots are constant."""
    if nu > k:  # SciPy 1.15 writes beyond its memory
        return np.zeros((*np.shape(xp), *np.shape(c)[1:]), np.result_type(c, float))
    return interpolate.BSpline.construct_fast(t, c, k)(xp, nu)


@pair_rule(spline_values)
def spline_values_pair(spline_values, c, xp, t, k, nu):
    y = spline_values(c, xp, t, k, nu)
    n, rank = shape_of(c)[0], len(shape_of(xp))

    def spline_values_pushforward(cdot, xpdot, *_):
        moved = xpdot
        if not isinstance(xpdot, AbstractZero):
            moved = spline_values(c, xp, t, k, nu + 1) * over(xpdot, y)
        if isinstance(cdot, AbstractZero):
            return moved
        return spline_values(cdot, xp, t, k, nu) + moved

    def spline_values_pullback(ybar):
        def xpbar():
            slope = spline_values(c, xp, t, k, nu + 1)
            return np.real(sum_behind(np.conj(slope) * ybar, rank))

        cbar = thunk(lambda: values_transpose(ybar, xp, t, k, nu, n))
        return cbar, thunk(xpbar), NoTangent(), NoTangent(), NoTangent()

    return y, spline_values_pushforward, spline_values_pullback


def values_transpose(ybar, xp, t, k, nu, n):
    """The transpose of ``spline_values`` in the ``n`` coefficients."""
    if nu > k:
        return np.zeros((n, *np.shape(ybar)[np.ndim(xp) :]))
    inner, degree = t[nu : len(t) - nu], k - nu
    i = intervals(inner, degree, xp)
    parts = basis(inner, degree, xp, i)
    index = np.stack([i - degree + j for j in range(degree + 1)])
    y = np.stack([over(part, ybar) * ybar for part in parts])
    cbar = scattered(y, index, len(inner) - degree - 1)
    for order in range(nu, 0, -1):
        outer, degree = t[order - 1 : len(t) - order + 1], k - order + 1
        m = len(outer) - degree - 1
        widths = or_one(outer[degree + 1 : degree + m] - outer[1:m])
        share = cbar * over(degree / widths, cbar)
        nothing = share[:1] * 0
        cbar = np.concatenate([nothing, share]) - np.concatenate([share, nothing])
    missing = n - np.shape(cbar)[0]
    return np.concatenate([cbar, np.zeros((missing, *np.shape(cbar)[1:]))]) if missing else cbar


def values(t, c, k, xp, nu):
    if not is_traced(t):
        return spline_values(c, xp, t, k, nu)
    own = scipys_object(interpolate.BSpline, (t, c, k), {}, "construct_fast")
    own = own_value(own, "__call__", (xp, nu), {})
    return with_values(values_by_recurrence(t, c, k, xp, nu), own)


def padded(c, own, by_last=False):
    """``c`` with as many rows as SciPy's ``own``: the others are zeros, or the last again."""
    missing = len(own) - np.shape(c)[0], *np.shape(c)[1:]
    rest = np.broadcast_to(c[-1:], missing) if by_last else np.zeros(missing)
    return np.concatenate([c, rest])


class Spline(NamedTuple):
    t: Any
    c: Any
    k: Any
    extrapolate: Any
    axis: Any


def parts_of_spline(name, *args, **options):
    own = getattr(interpolate, name)(*args, **options)
    return own.t, own.c, own.k, own.extrapolate, own.axis


def scipys_spline(name, *args, **options):
    """Return the spline that SciPy's function of this name makes of plain values."""
    return Spline(*library_value(parts_of_spline, (name, *args), options))


def derived_spline(name, nu, *numbers):
    """The coefficients of a derivative or an integral, and whether it extrapolates."""
    own = getattr(interpolate.BSpline.construct_fast(*numbers), name)(nu)
    return own.c, own.extrapolate


class TracedBSpline:
    """A spline, as SciPy's ``BSpline``, some of whose numbers are traced."""

    def __init__(self, t, c, k, extrapolate=True, axis=0):
        self.t, self.c, self.k, self.extrapolate, self.axis = t, c, k, extrapolate, axis

    @property
    def tck(self):
        return self.t, self.c, self.k

    @property
    def own(self):
        """SciPy's spline of the same numbers."""
        return scipys_object(interpolate.BSpline, self.numbers, {}, "construct_fast")

    @property
    def numbers(self):
        return self.t, self.c, self.k, self.extrapolate, self.axis

    def ends(self):
        return self.t[self.k], self.t[np.shape(self.t)[0] - self.k - 1]

    def __call__(self, x, nu=0, extrapolate=None):
        extrapolate = self.extrapolate if extrapolate is None else extrapolate
        xp, (first, last) = as_float(x), self.ends()
        if extrapolate == "periodic":
            xp = first + (xp - first) % (last - first)
        y = within(xp, first, last, extrapolate, values(self.t, self.c, self.k, xp, nu))
        return to_axis(y, np.ndim(xp), self.axis) if self.axis else y

    def derivative(self, nu=1):
        if nu < 0:
            return self.antiderivative(-nu)
        own, _ = library_value(derived_spline, ("derivative", nu, *self.numbers), {})
        t, c, k = self.tck
        for _ in range(nu):
            t, c, k = differentiated(t, c, k)
        c = with_values(padded(c, own), own)
        return type(self)(t, c, k, self.extrapolate, self.axis)

    def antiderivative(self, nu=1):
        if nu <= 0:
            return self.derivative(-nu)
        given = "antiderivative", nu, *self.numbers
        (own, extrapolate), (t, c, k) = library_value(derived_spline, given, {}), self.tck
        for _ in range(nu):
            t, c, k = integrated(t, c, k)
        c = with_values(padded(c, own, by_last=True), own)
        return type(self)(t, c, k, extrapolate, self.axis)

    @valued
    def integrate(self, a, b, extrapolate=None):
        extrapolate = self.extrapolate if extrapolate is None else extrapolate
        t, c, k = integrated(*self.tck)
        whole, (first, last) = TracedBSpline(t, c, k), self.ends()
        if extrapolate == "periodic":

            def area(p):
                periods = np.floor(value((p - first) / (last - first)))
                total = whole(last) - whole(first)
                return periods * total + whole(p - periods * (last - first))

        elif extrapolate:
            area = whole
        else:

            def area(p):  # the spline is taken for 0 outside
                return whole(first if value(p) < value(first) else min(p, last, key=value))

        return area(b) - area(a)

    def insert_knot(self, x, m=1):
        refuse("BSpline.insert_knot", "write the spline with the knots that it is to have")


def traced_bspline(t, c, k, extrapolate=True, axis=0):
    own = scipys_spline("BSpline", t, c, k, extrapolate, axis)
    c = np.moveaxis(as_float(c), axis, 0)
    return TracedBSpline(as_float(t), c, own.k, own.extrapolate, own.axis)


@following("__call__", "integrate")
class BSpline(interpolate.BSpline, metaclass=StandIn):
    """``scipy.interpolate.BSpline``, whose methods see traced values."""

    def __new__(cls, *args, **kwargs):
        if innermost((*args, *kwargs.values())) is None:
            return super().__new__(cls)
        refuse_derived(cls)
        return traced_bspline(*args, **kwargs)

    def followed(self):
        return TracedBSpline(self.t, self.c, self.k, self.extrapolate, self.axis)

    @classmethod
    def basis_element(cls, t, extrapolate=True):
        if not is_traced(t):
            return super().basis_element(t, extrapolate)
        own, t = interpolate.BSpline.basis_element(value(t), extrapolate), as_float(array_of(t))
        k = own.k
        t = np.concatenate([t[:1] - 1] * k + [t] + [t[-1:] + 1] * k)
        return TracedBSpline(t, own.c, k, extrapolate)

    @classmethod
    def from_power_basis(cls, pp, bc_type="not-a-knot"):
        if innermost((pp.c, pp.x)) is not None:
            refuse("BSpline.from_power_basis", "write make_interp_spline of the samples")
        return super().from_power_basis(pp, bc_type)

    @classmethod
    def design_matrix(cls, x, t, k, extrapolate=False):
        if innermost((x, t)) is not None:
            refuse("BSpline.design_matrix", "write BSpline(t, np.eye(n), k)(x)")
        return super().design_matrix(x, t, k, extrapolate)


def seeing_points(own):
    """Return SciPy's spline as one that sees traced points."""
    return BSpline.construct_fast(own.t, own.c, own.k, own.extrapolate, own.axis)
