"""Trigonometric and hyperbolic functions of NumPy, and others of angles and waves."""

import functools
import math

import numpy as np

from ... import pair_rule, scalar_rule

DEGREE = math.pi / 180


def near(root, slope, y):
    """Of ``root`` and ``-root`` that which is ``slope(y)``, up to rounding.

    On a branch cut of complex numbers the sign of a zero decides, and ``y`` knows the side.
    """
    if not np.iscomplexobj(root):
        return root
    other_side = np.real(root * np.conj(slope(y))) < 0
    return np.where(other_side, -root, root) if np.any(other_side) else root


def root_near(square, slope, y):
    """The square root that is ``slope(y)``, up to rounding."""
    return near(np.sqrt(square), slope, y)


def over_square(x, r):
    """``x / r**2``, also where the square overflows, or underflows."""
    return x / r / r


def root_of_square_and_1(x, y):
    """``sqrt(x * x + 1)``, which is ``cosh(y)``; of a real ``x`` it does not overflow."""
    return root_near(x * x + 1, np.cosh, y) if np.iscomplexobj(x) else np.hypot(x, 1.0)


# fmt: off
scalar_rule(np.sin,     lambda _, x: np.cos(x))
scalar_rule(np.cos,     lambda _, x: -np.sin(x))
scalar_rule(np.tan,     lambda y, _x: 1 + y * y)
scalar_rule(np.arcsin,  lambda y, x: 1 / root_near((1 - x) * (1 + x), np.cos, y))
scalar_rule(np.arccos,  lambda y, x: -1 / root_near((1 - x) * (1 + x), np.sin, y))
scalar_rule(np.arctan,  lambda _, x: 1 / (1 + x * x))
scalar_rule(np.arctan2, lambda _, a, b: over_square(b, np.hypot(a, b)),
                        lambda _, a, b: over_square(-a, np.hypot(a, b)))

scalar_rule(np.sinh,    lambda _, x: np.cosh(x))
scalar_rule(np.cosh,    lambda _, x: np.sinh(x))
scalar_rule(np.tanh,    lambda y, _x: 1 - y * y)
scalar_rule(np.arcsinh, lambda y, x: 1 / root_of_square_and_1(x, y))
scalar_rule(np.arccosh, lambda y, x: 1 / near(np.sqrt(x - 1) * np.sqrt(x + 1), np.sinh, y))
scalar_rule(np.arctanh, lambda _, x: 1 / ((1 - x) * (1 + x)))

scalar_rule(np.deg2rad, DEGREE)
scalar_rule(np.radians, DEGREE)
scalar_rule(np.rad2deg, 1 / DEGREE)
scalar_rule(np.degrees, 1 / DEGREE)
# fmt: on


def sinc_partial(y, x):
    """``pi * (cos(u) - y) / u`` at ``u = pi * x``; near 0 its power series, where that cancels.

    ``-u/3 * (1 - u^2/(2*5) * (1 - u^2/(4*7) * (1 - u^2/(6*9) * ...)))``: the terms given reach
    float64 precision for ``|u| < 1``.
    """
    u = math.pi * x
    near = np.abs(u) < 1
    small, large = np.where(near, u, 0), np.where(near, 1, u)
    square = small * small
    series = functools.reduce(
        lambda rest, k: 1 - square / (2 * k * (2 * k + 3)) * rest, range(8, 0, -1), 1
    )
    return math.pi * np.where(near, -small / 3 * series, (np.cos(u) - y) / large)


scalar_rule(np.sinc, sinc_partial)

# Midpoints of the quarter of a circle, as many as bring the integral below to float64 precision
# wherever it does not overflow (|x| < 700).
COSINES = np.cos((np.arange(64) + 0.5) * (math.pi / 128))


def i1(x):
    """The modified Bessel function: the mean of ``sinh(x * cos(t)) * cos(t)`` over the quarter."""
    return np.mean(np.sinh(np.expand_dims(x, -1) * COSINES) * COSINES, axis=-1)


scalar_rule(np.i0, lambda _, x: i1(x))


@pair_rule(np.unwrap)
def unwrap_pair(unwrap, p, *, discont=None, axis=-1, period=2 * math.pi):
    """Whole periods are added, which are constant."""

    def unwrap_pushforward(pdot):
        return pdot

    def unwrap_pullback(ybar):
        return ybar

    return unwrap(p, discont, axis, period=period), unwrap_pushforward, unwrap_pullback
