"""The integral of a function that depends on parameters, and its derivative.

The derivative of an integral is the integral of the derivative, and what the end points add:
``d/dp int_a^b f(t, p) dt = int_a^b df/dp dt + f(b) db/dp - f(a) da/dp``. It is integrated by the
method that integrates the value, adaptively, to the same tolerances: in forward mode along one
direction, in reverse mode for all parameters at once, by one pullback of ``f`` at each node. The
result is again an integral of a function of parameters, so there are derivatives of any order.
"""

import numpy as np

from .....config import (
    ChainRulesError,
    HasForwardsMode,
    HasReverseMode,
    frule_via_ad,
    rrule_via_ad,
    value_via_ad,
)
from .... import (
    ZERO,
    AbstractZero,
    NoTangent,
    ProjectTo,
    array_of,
    as_structured,
    dtype_of,
    frule,
    innermost,
    primitive,
    rrule,
    shape_of,
    strip,
    thunk,
    unthunk,
    value,
    with_values,
)


@primitive
def integral(method, f, a, b, *parameters):
    """``method(t -> f(t, *parameters), a, b)``; ``f`` gives a number or an array."""
    known = getattr(f, "known", None)  # what SciPy gave, for the user's own function
    return method(lambda t: f(t, *parameters), a, b) if known is None else known


def with_slopes(y, slopes, parameters):
    """The number ``y``, with its derivatives by each parameter.

    What moves y and the slopes at levels further out they have met themselves: it is that of y.
    """
    with np.errstate(invalid="ignore"):  # of an infinite one
        terms = [
            np.ravel(a) @ np.ravel(x) if shape_of(x) else a * x for a, x in zip(slopes, parameters)
        ]
        moved = sum(terms[1:], terms[0])
        return y - with_values(strip(moved, innermost(parameters)) - moved, 0.0)


def flat(xs):
    """Real and imaginary parts of numbers and arrays, one after the other."""
    parts = [np.zeros(0)]
    for x in map(array_of, xs):
        parts.append(np.ravel(np.real(x)))
        if np.iscomplexobj(value(x)):
            parts.append(np.ravel(np.imag(x)))
    return np.concatenate(parts)


def unflattened(vector, spaces):
    """Numbers and arrays in ``spaces``, of their real and imaginary parts in a row."""
    xs, first = [], 0
    for space in spaces:
        size = int(np.prod(space.shape))
        x = np.reshape(vector[first : first + size], space.shape)
        first += size
        if space.dtype.kind == "c":
            x = x + 1j * np.reshape(vector[first : first + size], space.shape)
            first += size
        xs.append(space(x))
    return xs


def size_of(*xs):
    """The largest number in ``xs``: tolerances are about numbers of the size of 1."""
    size = max((float(np.max(np.abs(np.asarray(value(x))), initial=0)) for x in xs), default=0.0)
    return size if 0 < size < np.inf else 1.0


def end(config, f, t, tdot, parameters):
    """``f(t) * tdot``; 0 at infinity, where an integrand vanishes."""
    if isinstance(tdot, AbstractZero) or np.isinf(value(t)):
        return ZERO
    return at(config, f, t, parameters) * tdot


def within(method, a, b):
    """Return where an integrand is asked for its ends: on this side of jumps, if it has them."""
    inwards = 1e-12 * (value(b) - value(a)) if getattr(method, "sharp", False) else 0.0
    return (a + inwards, b - inwards) if inwards else (a, b)


def at(config, f, t, parameters):
    """``f(t)``, evaluated aside: SciPy has not called it there, so nobody may read what it leaves.

    A function that takes plain numbers only, and does not depend on the parameters, gets one.
    """
    try:
        return value_via_ad(config, f, t, *parameters)
    except (ChainRulesError, TypeError):
        return value_via_ad(config, lambda *parameters: f(t, *parameters), *parameters)


def pushed_integrand(config, f, moving, count):
    """Return the derivative of ``f(t, *both[:count])`` along ``both[count:]``."""

    def fdot(t, *both):
        along = [ZERO] * count
        for i, dot in zip(moving, both[count:], strict=True):
            along[i] = dot
        z, zdot = frule_via_ad(config, (NoTangent(), ZERO, *along), f, t, *both[:count])
        return as_structured(z, zdot)

    return fdot


def pulled_integrand(config, f):
    """Return what ``zbar`` pulls back to through ``f``, of all parameters in a row."""

    def fbar(t, zbar, *parameters):
        _, pullback = rrule_via_ad(config, f, t, *parameters)
        _, _, *bars = pullback(zbar)
        return flat([as_structured(x, bar) for x, bar in zip(parameters, bars, strict=True)])

    return fbar


def pulled_by_number(config, f):
    """Return what ``zbar`` pulls back to one real parameter: by its derivative, without a tape."""

    def fbar(t, zbar, parameter):
        _, zdot = frule_via_ad(config, (NoTangent(), ZERO, 1.0), f, t, parameter)
        if isinstance(zdot, AbstractZero):
            return 0.0
        if np.ndim(zbar) == 0 and dtype_of(zbar) == dtype_of(zdot) == np.float64:
            return zdot * zbar
        return np.sum(np.real(np.conj(zdot) * zbar))

    return fbar


@frule.register(integral)
def integral_frule(config: HasForwardsMode, tangents, integral, method, f, a, b, *parameters):
    _, _, _, adot, bdot, *dots = map(unthunk, tangents)
    y = integral(method, f, a, b, *parameters)
    moving = [i for i, dot in enumerate(dots) if not isinstance(dot, AbstractZero)]
    count, size = len(parameters), size_of(*(dots[i] for i in moving))

    ydot = ZERO
    if moving:
        fdot = pushed_integrand(config, f, moving, count)
        given = [dots[i] / size for i in moving]
        ydot = size * integral(method.of_derivative(), fdot, a, b, *parameters, *given)
    if not isinstance(adot, AbstractZero) or not isinstance(bdot, AbstractZero):
        method.check_ends()
        low, high = within(method, a, b)
        ydot = ydot + end(config, f, high, bdot, parameters) - end(config, f, low, adot, parameters)
    return y, ydot if isinstance(ydot, AbstractZero) else ProjectTo(y)(ydot)


@rrule.register(integral)
def integral_rrule(config: HasReverseMode, integral, method, f, a, b, *parameters):
    y = integral(method, f, a, b, *parameters)
    spaces = [ProjectTo(x) for x in parameters]
    project_a, project_b = ProjectTo(a), ProjectTo(b)
    low, high = within(method, a, b)

    def integral_pullback(ybar):
        size = size_of(ybar)
        bars = []
        if parameters:
            one = len(spaces) == 1 and spaces[0].shape == () and spaces[0].dtype == np.float64
            by_number = one and isinstance(config, HasForwardsMode)
            fbar = (pulled_by_number if by_number else pulled_integrand)(config, f)
            vector = integral(method.of_derivative(), fbar, a, b, ybar / size, *parameters)
            bars = unflattened(np.ravel(size * vector), spaces)

        def pull_end(t, sign, project):
            method.check_ends()
            if np.isinf(value(t)):
                return project(0.0 * np.sum(np.real(ybar)))
            y_end = at(config, f, t, parameters)
            return project(sign * np.sum(np.real(np.conj(y_end) * ybar)))

        # Opened where the end point is differentiated: ``f`` may be singular there.
        abar = thunk(lambda: pull_end(low, -1, project_a))
        bbar = thunk(lambda: pull_end(high, 1, project_b))
        return NoTangent(), NoTangent(), NoTangent(), abar, bbar, *bars

    return y, integral_pullback
