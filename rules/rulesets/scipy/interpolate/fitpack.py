"""FITPACK's splines: tuples of knots, coefficients and degree, and objects that hold these.

Where FITPACK looks for knots itself, to meet a smoothing factor, it stops anywhere in an interval
of good ones: there is no derivative, and it is refused.
"""

import functools

import numpy as np
from scipy import interpolate

from .... import StandIn, array_of, call, composed, innermost, library_value, value, with_values
from ..traced_objects import as_float, following, refuse, refuse_derived
from .bsplines import TracedBSpline, differentiated, integrated, padded, seeing_points, values
from .fits import clamped, interpolating_coefficients, knots_through, least_squares, make_interp

SMOOTHING = "with a smoothing factor, for which FITPACK chooses the knots,"
GIVE_KNOTS = "write s=0, or make_lsq_spline with knots, or make_smoothing_spline with lam"


def is_spline(tck):
    return isinstance(tck, interpolate.BSpline | TracedBSpline)


def is_parametric(tck):
    return np.ndim(value(tck[1][0])) > 0


# ---- values -------------------------------------------------------------------------------------


def by_formula(f, formula, *args):
    """Return what SciPy's ``f`` gives, with the derivative of a formula."""
    own = library_value(f, args, {})
    return with_values(formula(*args), own)


def values_beside(x, tck, nu, ext):
    """Values where the spline goes on, is 0, or stays what it is at its ends: ``ext`` 0, 1, 3."""
    t, c, k = tck
    xp, t = as_float(x), as_float(t)
    n = np.shape(t)[0] - k - 1
    first, last = t[k], t[n]
    below, above = value(xp) < value(first), value(xp) > value(last)
    if ext == 3:
        xp = np.where(below, first, np.where(above, last, xp))
    y = values(t, as_float(c)[:n], k, xp, int(nu))
    return np.where(below | above, 0.0, y) if ext == 1 else y


@composed(interpolate.splev)
def splev(x, tck, der=0, ext=0):
    if is_spline(tck):
        own = followed_by(tck)
        if np.ndim(tck.c) > 1 or ext != 0:
            return interpolate.splev(value(x), own, der, ext)  # SciPy's own error
        return tck(x, der, extrapolate=True)
    t, c, k = tck
    if is_parametric(tck):
        return [splev(x, (t, part, k), der, ext) for part in c]
    return by_formula(interpolate.splev, values_beside, x, (t, c, k), der, ext)


def followed_by(tck):
    return tck.own if isinstance(tck, TracedBSpline) else tck


def all_derivatives(x, tck):
    return np.stack([values_beside(x, tck, nu, 0) for nu in range(tck[2] + 1)])


@composed(interpolate.spalde)
def spalde(x, tck):
    if np.ndim(x):
        return [spalde(part, tck) for part in array_of(x)]
    if is_spline(tck):
        return interpolate.spalde(value(x), followed_by(tck))  # SciPy's own error
    t, c, k = tck
    if is_parametric((t, c, k)):
        return [spalde(x, (t, part, k)) for part in c]
    return by_formula(interpolate.spalde, all_derivatives, x, (t, c, k))


def area(a, b, tck):
    t, c, k = tck
    c = as_float(c)[: np.shape(t)[0] - k - 1]
    return TracedBSpline(as_float(t), c, k).integrate(a, b, extrapolate=False)


@composed(interpolate.splint)
def splint(a, b, tck, full_output=0):
    if is_spline(tck):
        return tck.integrate(a, b, extrapolate=False)
    t, c, k = tck
    if full_output:
        refuse("splint with full_output", "write it without")
    if is_parametric(tck):
        return [splint(a, b, (t, part, k)) for part in c]
    return by_formula(interpolate.splint, area, a, b, (t, c, k))


def stepped(f, step, tck, n):
    """Apply ``step`` to knots and coefficients n times, and pad these as SciPy's ``f`` does."""
    if n == 0:
        return tck
    own = library_value(f, (tck, n), {})
    t, c, k = as_float(tck[0]), as_float(tck[1]), tck[2]
    c = c[: np.shape(t)[0] - k - 1]
    for _ in range(n):
        t, c, k = step(t, c, k)
    return with_values((t, padded(c, own[1], by_last=step is integrated), k), own)


@composed(interpolate.splder)
def splder(tck, n=1):
    if is_spline(tck):
        return tck.derivative(n)
    return stepped(interpolate.splder, differentiated, tck, n) if n >= 0 else splantider(tck, -n)


@composed(interpolate.splantider)
def splantider(tck, n=1):
    if is_spline(tck):
        return tck.antiderivative(n)
    return stepped(interpolate.splantider, integrated, tck, n) if n >= 0 else splder(tck, -n)


def of_traced_splines(f, body):
    """Return SciPy's ``f``, which sees the traced numbers in an object of ours."""

    @functools.wraps(f)
    def seeing(*args, **kwargs):
        given = (*args, *kwargs.values())
        if any(isinstance(x, TracedBSpline) for x in given):
            return body(*args, **kwargs)
        return f(*args, **kwargs) if innermost(given) is None else call(seeing, args, kwargs)

    seeing.__shows__ = seeing, f
    return seeing


INSTEAD = {
    body.__name__: of_traced_splines(getattr(interpolate, body.__name__), body)
    for body in (splev, spalde, splint, splder, splantider)
}

# ---- fits ---------------------------------------------------------------------------------------


def curve(x, y, w, xb, xe, k, inner, own_c):
    """Knots and coefficients of the spline through samples, or fitted with ``inner`` knots."""
    x, y = as_float(x), as_float(y)
    first = x[:1] if xb is None else np.reshape(as_float(xb), (1,))
    last = x[-1:] if xe is None else np.reshape(as_float(xe), (1,))
    if inner is None:
        t = knots_through(x, k, first, last)
        c = interpolating_coefficients(x, y, t, k, None)
    else:
        t = clamped(first, as_float(inner), last, k + 1)
        c = least_squares(x, y, t, k, w)
    return t, padded(c, own_c)


@composed(interpolate.splrep, value="own")
def splrep(x, y, w=None, xb=None, xe=None, k=3, task=0, s=None, t=None, full_output=0, per=0,
           quiet=1, *, own):  # fmt: skip
    s = 0.0 if s is None and w is None else s
    if per or task == 1:
        refuse("splrep with per or task=1", "write make_interp_spline(x, y, bc_type='periodic')")
    if t is None and (s is None or innermost((s,)) is not None or s != 0):
        refuse(f"splrep {SMOOTHING}", GIVE_KNOTS)
    tck = *curve(x, y, w, xb, xe, k, t, own[0][1] if full_output else own[1]), k
    return (tck, *own[1:]) if full_output else tck


@composed(interpolate.splprep, value="own")
def splprep(x, w=None, u=None, ub=None, ue=None, k=3, task=0, s=None, t=None, full_output=0,
            nest=None, per=0, quiet=1, *, own):  # fmt: skip
    """The parameter, where none is given, is the length of the chords up to each point."""
    if per or task or t is not None or full_output or s is None or s != 0:
        refuse(f"splprep {SMOOTHING} or with per, task, t or full_output", GIVE_KNOTS)
    x = as_float(array_of(x)).T
    if u is None:
        chords = np.linalg.norm(np.diff(x, axis=0), axis=1)
        lengths = np.concatenate([np.zeros(1), np.cumsum(chords)])
        u = lengths / lengths[-1]
        ub, ue = 0.0, 1.0
    t, c = curve(u, x, None, ub, ue, k, None, own[0][1][0])
    return [t, list(c.T), k], as_float(u)


@functools.wraps(interpolate.make_splrep)
def make_splrep(x, y, *, w=None, xb=None, xe=None, k=3, s=0, t=None, nest=None, bc_type=None):
    if innermost((x, y, w, xb, xe, s, t)) is None:
        given = {"w": w, "xb": xb, "xe": xe, "k": k, "s": s, "t": t, "nest": nest}
        given |= {} if bc_type is None else {"bc_type": bc_type}
        return seeing_points(interpolate.make_splrep(x, y, **given))
    if s != 0 or t is not None or xb is not None or xe is not None or bc_type is not None:
        refuse(f"make_splrep {SMOOTHING} or t, xb, xe, bc_type", GIVE_KNOTS)
    return make_interp(x, y, k=k)


composed(interpolate.make_splrep)(make_splrep)
INSTEAD["make_splrep"] = make_splrep


# ---- objects ------------------------------------------------------------------------------------

MODES = {0: 0, "extrapolate": 0, 1: 1, "zeros": 1, 2: 2, "raise": 2, 3: 3, "const": 3}


class TracedUnivariateSpline:
    """A spline, as SciPy's ``UnivariateSpline``, some of whose numbers are traced."""

    def __init__(self, tck, ext=0):
        self.tck, self.ext = tck, MODES[ext]

    def __call__(self, x, nu=0, ext=None):
        return splev(x, self.tck, nu, self.ext if ext is None else MODES[ext])

    def get_knots(self):
        t, _, k = self.tck
        return t[k : np.shape(t)[0] - k]

    def get_coeffs(self):
        t, c, k = self.tck
        return c[: np.shape(t)[0] - k - 1]

    def integral(self, a, b):
        return splint(a, b, self.tck)

    def derivatives(self, x):
        return spalde(x, self.tck)

    def derivative(self, n=1):
        # As SciPy has it: outside a constant the derivative is 0.
        return type(self)(splder(self.tck, n), 1 if self.ext == 3 else self.ext)

    def antiderivative(self, n=1):
        return type(self)(splantider(self.tck, n), self.ext)

    def roots(self):
        refuse("UnivariateSpline.roots", "write a root finder whose function is this spline")

    def get_residual(self):
        refuse("UnivariateSpline.get_residual", "write np.sum((w * (y - spline(x)))**2)")


def eval_args(name, *args):
    return getattr(interpolate, name)(*args)._eval_args[:2]


def knots_and_coefficients(name, *args):
    """The knots and coefficients of SciPy's spline of this class, of plain values."""
    args = [tuple(x) if isinstance(x, list) else x for x in args]
    return library_value(eval_args, (name, *args), {})


def traced_spline(own, x, y, w, bbox, k, inner, ext):
    t, c = with_values(curve(x, y, w, *bbox, k, inner, own[1]), own)
    return TracedUnivariateSpline((t, c, k), ext)


def univariate(x, y, w=None, bbox=(None, None), k=3, s=None, ext=0, check_finite=False):
    own = knots_and_coefficients("UnivariateSpline", x, y, w, bbox, k, s, ext, check_finite)
    if s is None or innermost((s,)) is not None or s != 0:
        refuse(f"UnivariateSpline {SMOOTHING}", GIVE_KNOTS)
    return traced_spline(own, x, y, w, bbox, k, None, ext)


def interpolated(x, y, w=None, bbox=(None, None), k=3, ext=0, check_finite=False):
    given = x, y, w, bbox, k, ext, check_finite
    own = knots_and_coefficients("InterpolatedUnivariateSpline", *given)
    return traced_spline(own, x, y, w, bbox, k, None, ext)


def of_least_squares(x, y, t, w=None, bbox=(None, None), k=3, ext=0, check_finite=False):
    own = knots_and_coefficients("LSQUnivariateSpline", x, y, t, w, bbox, k, ext, check_finite)
    return traced_spline(own, x, y, w, bbox, k, t, ext)


@following("__call__", "integral", "derivatives")
class UnivariateMixin(metaclass=StandIn):
    """A mixin: points may be traced; ``made`` makes the object where the samples are."""

    def __new__(cls, *args, **kwargs):
        if innermost((*args, *kwargs.values())) is None:
            return super().__new__(cls)
        refuse_derived(cls)
        return cls.made(*args, **kwargs)

    def followed(self):
        return TracedUnivariateSpline(self._eval_args, self.ext)

    def derivative(self, n=1):
        own = super().derivative(n)
        return UnivariateSpline._from_tck(own._eval_args, own.ext)

    def antiderivative(self, n=1):
        own = super().antiderivative(n)
        return UnivariateSpline._from_tck(own._eval_args, own.ext)


class UnivariateSpline(UnivariateMixin, interpolate.UnivariateSpline):
    """``scipy.interpolate.UnivariateSpline``, whose methods see traced values."""

    made = staticmethod(univariate)


class InterpolatedUnivariateSpline(UnivariateMixin, interpolate.InterpolatedUnivariateSpline):
    """``scipy.interpolate.InterpolatedUnivariateSpline``, whose methods see traced values."""

    made = staticmethod(interpolated)


class LSQUnivariateSpline(UnivariateMixin, interpolate.LSQUnivariateSpline):
    """``scipy.interpolate.LSQUnivariateSpline``, whose methods see traced values."""

    made = staticmethod(of_least_squares)
