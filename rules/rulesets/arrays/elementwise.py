"""Elementwise functions of NumPy: arithmetic, powers, exponentials, parts of complex numbers.

Where a function has a kink, equal arguments share the derivative evenly, and ``abs``, ``hypot``
and ``sign`` have the derivative 0 at 0. Differentiated again, ``maximum``, ``minimum`` and ``abs``
of real numbers are one of their branches (see ``ties``); ``hypot`` and ``abs`` of complex numbers
have no second derivative at 0, and it is NaN. At a jump, as of ``np.remainder``, the derivative is
that of the branch which the value belongs to.
"""

import math

import numpy as np

from ... import (
    Traced,
    ZeroTangent,
    array_of,
    composed,
    composed_each,
    first,
    is_traced,
    linear_rule,
    minus_quotient_over_second,
    non_differentiable,
    over_second,
    pair_rule,
    scalar_rule,
    second,
    value,
)
from ...shapes import FLOATS
from .quotients import kink, quotient
from .ties import choice_by, have_tie, shares_again, shares_of, side_of

LOG_2 = math.log(2)
LOG_10 = math.log(10)


def or_one(x):
    """``x``, but 1 where it is 0: what to divide by where the result is 0 anyway."""
    return x + (x == 0)


def over_length(a, y):
    """``a / y``, and 0 where both are; there it has no derivative."""
    number = value(y)
    if type(number) in FLOATS and number != 0:
        return a / y
    return quotient(a, y) if is_traced(y) else a / or_one(y)


def as_array(x):
    """An array for a list or a tuple of numbers, traced ones included; anything else as it is."""
    return array_of(x) if isinstance(x, list | tuple) else x


# fmt: off
scalar_rule(np.add,        1, 1)
scalar_rule(np.subtract,   1, -1)
scalar_rule(np.multiply,   second, first)
scalar_rule(np.divide,     over_second, minus_quotient_over_second)
scalar_rule(np.negative,   -1)
scalar_rule(np.positive,   1)
scalar_rule(np.reciprocal, lambda y, _x: -y * y)
scalar_rule(np.square,     lambda _, x: 2 * x)
scalar_rule(np.sqrt,       lambda y, _x: 0.5 / y)
scalar_rule(np.cbrt,       lambda y, _x: 1 / (3 * y * y))

scalar_rule(np.exp,        lambda y, _x: y)
scalar_rule(np.exp2,       lambda y, _x: LOG_2 * y)
scalar_rule(np.expm1,      lambda _, x: np.exp(x))
scalar_rule(np.log,        lambda _, x: 1 / x)
scalar_rule(np.log2,       lambda _, x: 1 / (LOG_2 * x))
scalar_rule(np.log10,      lambda _, x: 1 / (LOG_10 * x))
scalar_rule(np.log1p,      lambda _, x: 1 / (1 + x))

scalar_rule(np.hypot,      lambda y, a, _b: over_length(a, y), lambda y, _a, b: over_length(b, y))
scalar_rule(np.copysign,   lambda _, a, b: np.sign(a) * np.copysign(1.0, b), 0)
scalar_rule(np.heaviside,  0, lambda _, x, _middle: x == 0)
scalar_rule(np.nextafter,  1, 0)
scalar_rule(np.ldexp,      lambda _, x, n: np.ldexp(np.ones_like(x), n), 0)

# fmod(a, b) is a minus a whole multiple of b, and rint finds the multiple exactly.
scalar_rule(np.remainder,  1, lambda _, a, b: -np.floor_divide(a, b))
scalar_rule(np.fmod,       1, lambda y, a, b: np.rint((y - a) / b))
scalar_rule(np.divmod,     (0, 0), (1, lambda y, _a, _b: -y[0]))
scalar_rule(np.modf,       (1,), (0,))
scalar_rule(np.frexp,      (lambda y, x: np.ldexp(np.ones_like(x), -y[1]),), (0,))
# fmt: on


# ---- the larger and the smaller ----


REALS = FLOATS | {int}
ALL, HALF, NONE = np.float64(1), np.float64(0.5), np.float64(0)


def exceeds(a, b):
    """``a > b``; of Python's complex numbers, too, which NumPy puts in an order."""
    return np.greater(a, b) if complex in (type(a), type(b)) else a > b


def larger(a, b):
    """The share of ``a`` in the larger of the two."""
    if type(a) in REALS and type(b) in REALS:  # of which NumPy's operators take longer
        return ALL if a > b else HALF if a == b else NONE
    return exceeds(a, b) + 0.5 * (a == b)


def smaller(a, b):
    return larger(b, a)


def sign_of(a, b):
    """The derivative of the larger of ``a`` and ``b = -a``, in ``a``."""
    return larger(a, b) - larger(b, a)


def conj_of_sign(_, x):
    """The partial of ``abs``: of real numbers it is the larger of ``x`` and ``-x``."""
    number = x if type(x) in FLOATS else value(x)
    if type(number) in FLOATS and (number < 0 or number > 0):  # apart from the tie
        return -ALL if number < 0 else ALL
    if not is_traced(x):
        return np.conj(np.sign(x))
    if np.iscomplexobj(number):
        return np.conj(np.sign(x) + kink(x, x == 0))
    if number.__class__ in FLOATS:  # recorded ones, too
        return shares_again(side_of(x), 0.0, x) if number == 0 else sign_of(number, -number)
    if type(number) is np.ndarray and not have_tie(number, 0):
        return sign_of(number, -number)
    return shares_of(sign_of, x, -x)


def abs_branch(y, x):
    number = value(x)
    if number.__class__ in FLOATS:
        return y if number != 0 else 0.0 + side_of(x) * x
    if type(number) is np.ndarray and not have_tie(number, 0):
        return y
    return y if np.iscomplexobj(number) else choice_by(larger)(y, x, -x)


def known(a, b):
    """Return the mask where ``b`` alone is NaN, so that fmax and fmin take ``a``."""
    return (a == a) & (b != b)


def larger_known(a, b):
    return larger(a, b) + known(a, b)


def smaller_known(a, b):
    return smaller(a, b) + known(a, b)


# fmt: off
scalar_rule(np.maximum, lambda _, a, b: shares_of(larger, a, b),
            lambda _, a, b: shares_of(larger, a, b, 1), branch=choice_by(larger))
scalar_rule(np.minimum, lambda _, a, b: shares_of(smaller, a, b),
            lambda _, a, b: shares_of(smaller, a, b, 1), branch=choice_by(smaller))
scalar_rule(np.fmax, lambda _, a, b: shares_of(larger_known, a, b),
            lambda _, a, b: shares_of(larger_known, a, b, 1), branch=choice_by(larger_known))
scalar_rule(np.fmin, lambda _, a, b: shares_of(smaller_known, a, b),
            lambda _, a, b: shares_of(smaller_known, a, b, 1), branch=choice_by(smaller_known))

scalar_rule(np.absolute, conj_of_sign, branch=abs_branch)
scalar_rule(np.fabs, conj_of_sign, branch=abs_branch)
# fmt: on


# ---- powers ----


# The partials in the base do not mention ``y``, so that no tape keeps it.


def power_in_base(_, x, p):
    if type(p) in (float, int) and p != 0:
        return p * x if p == 2 else p * x ** (p - 1)  # most powers are squares
    number = value(p)
    if type(number) in FLOATS and number != 0:
        return p * x ** (p - 1)
    return slope_of_power(x, p)


def power_in_any_base(_, x, p):
    return slope_of_power(x, p)


def slope_of_power(x, p):
    """``p * x ** (p - 1)``, where an integer base becomes a float, and 0 * 0 ** -1 is 0."""
    return p * np.power(x * 1.0, p - 1 + ((p == 0) & (x == 0)))


def power_in_exponent(y, x, p):
    """``y * log(x)``: 0 where ``0 ** p`` stays 0, NaN where it jumps (``p <= 0``).

    Below 0 a real power exists for whole exponents only, and the real part of the logarithm
    is what joins them.
    """
    number = value(x)
    if type(number) in FLOATS and number > 0:
        return y * np.log(x)  # as nearly always: 2.0 ** p
    base = on_the_plane(x) if np.iscomplexobj(y) else np.abs(x)
    log = np.log(np.where(x == 0, 1, base))
    return y * np.where((x == 0) & (np.real(p) <= 0), np.nan, log)


scalar_rule(np.power, power_in_base, power_in_exponent)
scalar_rule(np.float_power, power_in_any_base, power_in_exponent)


# ---- sums of exponentials ----


def share(exp, y, a, b):
    """``exp(a - y)``: the share of ``a`` in ``y``, even between equal infinities."""
    if type(y) is np.ndarray and not np.isinf(y).any():
        return exp(a - y)
    infinite = np.isinf(y) & (a == y)
    portion = exp(np.where(infinite, 0, a) - np.where(infinite, 0, y))
    return np.where(infinite & (b == y), 0.5, portion)


for _add, _exp in (np.logaddexp, np.exp), (np.logaddexp2, np.exp2):
    scalar_rule(
        _add,
        lambda y, a, b, exp=_exp: share(exp, y, a, b),
        lambda y, a, b, exp=_exp: share(exp, y, b, a),
    )


# ---- complex numbers ----


@linear_rule(np.conjugate, elementwise=True)
def conjugate_transpose(ybar, space):
    return np.conj(ybar)


@linear_rule(np.real, elementwise=True, views=True)
def real_transpose(ybar, space):
    return ybar


@linear_rule(np.imag, elementwise=True, views=True)
def imag_transpose(ybar, space):
    return 1j * ybar if space.dtype.kind == "c" else ZeroTangent()


def turn(t, y, x):
    """``t`` without its part along ``y = sign(x)``, over ``|x|``; it is its own transpose."""
    return 1j * y * (np.imag(np.conj(y) * t) / or_one(np.abs(x)))


non_differentiable(np.sign, float)
non_differentiable(np.sign, np.floating)


@pair_rule(np.sign)
def sign_pair(sign, x):
    """Constant on either side of 0; a complex sign ``x / |x|`` turns with ``x``."""
    y = sign(x)

    def sign_pushforward(xdot):
        return turn(xdot, y, x) if np.iscomplexobj(x) else ZeroTangent()

    def sign_pullback(ybar):
        return turn(ybar, y, x) if np.iscomplexobj(x) else ZeroTangent()

    return y, sign_pushforward, sign_pullback


def angle_partial(x, deg):
    """d(angle) is the imaginary part of ``dx / x``; 0 at 0."""
    unit = 180 / math.pi if deg else 1.0
    return np.where(x == 0, 0, -1j * unit / or_one(x))


@pair_rule(np.angle)
def angle_pair(angle, x, *, deg=False):

    def angle_pushforward(xdot):
        return np.real(angle_partial(x, deg) * xdot)

    def angle_pullback(ybar):
        return np.conj(angle_partial(x, deg)) * ybar

    return angle(x, deg), angle_pushforward, angle_pullback


@composed(np.real_if_close)
def real_if_close(a, tol=100):
    a = as_array(a)
    a = a if hasattr(a, "__len__") else np.copy(a)  # of a number NumPy makes an array
    return a if np.iscomplexobj(np.real_if_close(value(a), tol)) else np.real(a)


@composed(np.nan_to_num)
def nan_to_num(x, copy=True, nan=0.0, posinf=None, neginf=None):
    y = without_nan(x, nan, posinf, neginf)
    if not copy and isinstance(x, Traced) and x.writable:
        x[...] = y
        return x if x.ndim else x[()]
    return y if np.ndim(x) else y[()]


def without_nan(x, nan, posinf, neginf):
    if np.iscomplexobj(x):
        parts = (without_nan(part, nan, posinf, neginf) for part in (np.real(x), np.imag(x)))
        return sum(part * unit for part, unit in zip(parts, (1, 1j)))
    replaced = np.nan_to_num(value(x), nan=nan, posinf=posinf, neginf=neginf)
    return np.where(np.isfinite(x), x, replaced)


# ---- functions that leave the real line where they have to (np.emath) ----


def on_the_plane(x):
    """``x`` as a complex number; one that is keeps its side of a cut, the sign of a zero."""
    return x if np.iscomplexobj(x) else x + 0j


def is_negative(x):
    return np.isreal(x) & (np.real(x) < 0)


def exceeds_one(x):
    return np.isreal(x) & (np.abs(x) > 1)


LEAVES_THE_LINE = {
    np.emath.sqrt: (np.sqrt, is_negative), np.emath.log: (np.log, is_negative),
    np.emath.log2: (np.log2, is_negative), np.emath.log10: (np.log10, is_negative),
    np.emath.arccos: (np.arccos, exceeds_one), np.emath.arcsin: (np.arcsin, exceeds_one),
    np.emath.arctanh: (np.arctanh, exceeds_one),
}  # fmt: skip


@composed_each(LEAVES_THE_LINE)
def leaves_the_line(entry, x):
    f, beyond = entry
    return f(on_the_plane(x)) if np.any(beyond(x)) else f(x)


@composed(np.emath.logn)
def logn(n, x):
    return np.emath.log(x) / np.emath.log(n)


@composed(np.emath.power)
def emath_power(x, p):
    x, p = map(as_array, (x, p))
    x, p = [t if np.ndim(t) else np.copy(t) for t in (x, p)]  # the dtype of a number counts
    x = on_the_plane(x) if np.any(is_negative(x)) else x
    return np.power(x, p * 1.0 if np.any(is_negative(p)) else p)
