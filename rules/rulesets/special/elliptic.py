"""scipy.special: elliptic integrals and functions, the arithmetic-geometric mean.

Everything is told by the integrals of Carlson (DLMF 19.16), which have no cancellation at
``m = 0``; their own derivatives, where no closed form is stable, are sums over their integrands.
"""

import functools
import math

import numpy as np
from scipy import special

from ... import array_of, astype, dtype_of, not_implemented, primitive, scalar_rule, value
from .tools import above, numerical, or_one

rd = special.elliprd
rf = special.elliprf
CONSTANT = not_implemented("the powers in an elliptic integral are constants")


def logarithms(args):
    """Points for the trapezoidal rule in ``log(t)``, and their distance.

    The error is ``exp(-2 pi * angle / step)``, where ``angle`` is that between the negative axis
    and the nearest of the numbers, for any power of ``t + x``; 1e-17 here, to 0.1 from the axis.
    """
    angle = math.pi - max(np.max(np.abs(np.angle(x)), initial=0) for x in args)
    step = max(angle, 0.1) * 2 * math.pi / 42
    return step * np.arange(math.ceil(-76 / step), math.ceil(32 / step)), step


def integral(factor, powers, *args):
    """``factor`` times the integral over ``t > 0`` of the product of ``(t + x)**power``.

    Scaled by the mean size of the numbers.
    """
    values = [array_of(value(x)) for x in args]
    scale = sum(np.abs(x).astype(float) for x in values) / len(values)
    points, step = logarithms(values)
    t = np.exp(points) * np.where(scale == 0, 1.0, scale)[..., None]
    product = t * (factor * step)
    for x, power in zip(args, powers):
        product = product * (t + np.expand_dims(x, -1)) ** power
    return np.sum(product, axis=-1)


def by_integral(factor, *powers):
    """A partial as an integral. In float64, because what is added spans many sizes."""

    def partial(y, *args):
        # An infinite argument makes the integral 0, as it makes ``y``.
        infinite = functools.reduce(np.logical_or, [np.isinf(x) for x in args])
        if np.any(infinite):
            args = [np.where(infinite, 1.0, x) for x in args]
        found = integral(factor, powers, *args)
        if np.any(infinite):
            found = np.where(infinite, y, found)
        return astype(found, dtype_of(y)) if dtype_of(y) is not None else found

    return partial


# ---- complete and incomplete integrals ----


@primitive
def incomplete(phi, m, k, p):
    """The integral of ``sin**(2 * k) * (1 - m * sin**2)**p`` from 0 to ``phi``.

    With ``1 / sin**2`` for the variable it is one of Carlson's. Of the rest of ``phi`` between
    -pi/2 and pi/2, and as many times that to pi as there are periods.
    """
    periods = np.rint(phi / math.pi)
    rest = phi - math.pi * periods
    s, c = np.sin(rest), np.cos(rest)
    y = s ** (2 * k + 1) * of_carlson(c * c, 1 - m * s * s, k, p)
    if np.any(periods != 0):
        y = y + np.where(periods == 0, 0, 2 * periods * of_carlson(0.0, 1 - m, k, p))
    return y


def of_carlson(c, delta, k, p):
    if k == 1:
        return (rd(c, delta, 1.0) if p == -0.5 else rd(c, 1.0, delta)) / 3
    return integral(0.5, (-k - p - 1, -0.5, p), 1.0, c, delta)


def first_by_m(phi, m):
    """d(ellipkinc)/dm, the integral of ``sin**2 / (2 * (1 - m * sin**2)**1.5)``."""
    return incomplete(phi, m, 1, -1.5) / 2


def second_by_m(phi, m):
    """d(ellipeinc)/dm, minus the integral of ``sin**2 / (2 * sqrt(1 - m * sin**2))``."""
    return -incomplete(phi, m, 1, -0.5) / 2


def integrand(square, m, k, p):
    return square**k * (1 - m * square) ** p


def root_of_delta(phi, m):
    s = np.sin(phi)
    return np.sqrt(1 - m * s * s)


# fmt: off
scalar_rule(special.ellipk,     lambda _, m: rd(0.0, 1.0, 1 - m) / 6)
scalar_rule(special.ellipkm1,   lambda _, p: -rd(0.0, 1.0, p) / 6)
scalar_rule(special.ellipe,     lambda _, m: -rd(0.0, 1 - m, 1.0) / 6)
scalar_rule(special.ellipkinc,  lambda _, phi, m: 1 / root_of_delta(phi, m),
                                lambda _, phi, m: first_by_m(phi, m))
scalar_rule(special.ellipeinc,  lambda _, phi, m: root_of_delta(phi, m),
                                lambda _, phi, m: second_by_m(phi, m))
scalar_rule(incomplete,         lambda _, phi, m, k, p: integrand(np.sin(phi) ** 2, m, k, p),
                                lambda _, phi, m, k, p: -p * incomplete(phi, m, k + 1, p - 1),
                                CONSTANT, CONSTANT)
# fmt: on


# ---- the functions of Jacobi ----


def amplitude_by_m(y, _u, m):
    """From ``u = ellipkinc(phi, m)``, where d(phi)/du is ``dn``."""
    return -y[2] * first_by_m(y[3], m)


def dn_by_m(y, u, m):
    sn, cn, dn, _ = y
    return -sn * (sn + 2 * m * cn * amplitude_by_m(y, u, m)) / (2 * dn)


# fmt: off
scalar_rule(special.ellipj,
            (lambda y, _u, _m: y[1] * y[2],       lambda y, u, m: y[1] * amplitude_by_m(y, u, m)),
            (lambda y, _u, _m: -y[0] * y[2],      lambda y, u, m: -y[0] * amplitude_by_m(y, u, m)),
            (lambda y, _u, m: -m * y[0] * y[1],  dn_by_m),
            (lambda y, _u, _m: y[2],              amplitude_by_m))
# fmt: on


# ---- the integrals of Carlson ----


def is_elementary(x, z):
    """Return the mask where ``elliprc`` is elementary: arguments apart, or a principal value."""
    real_and_negative = (np.imag(z) == 0) & (np.real(z) < 0)
    return (np.abs(x - z) > 0.5 * np.abs(x + z)) | real_and_negative


def rc_by_x(y, x, z):
    """``elliprf(x, z, z)``; far from ``x = z`` by homogeneity and by translation."""
    apart = is_elementary(x, z)
    a, b = np.where(apart, x, 2.0), np.where(apart, z, 1.0)
    near = np.where(apart, 1.0, z)
    elementary = (1 / np.sqrt(a) - y) / (2 * (a - b))
    return np.where(apart, elementary, -rd(near, near, np.where(apart, 1.0, x)) / 6)


def rc_by_z(y, x, z):
    apart = is_elementary(x, z)
    a, b = np.where(apart, x, 2.0), np.where(apart, z, 1.0)
    near = np.where(apart, 1.0, z)
    elementary = (y - np.sqrt(a) / b) / (2 * (a - b))
    return np.where(apart, elementary, -rd(np.where(apart, 1.0, x), near, near) / 3)


def rg_partial(x, y, z):
    """With ``x * rd(y, z, x)`` going to 0 with ``x``."""
    return (rf(x, y, z) - x * rd(y, z, or_one(x)) / 3) / 4


def principal(partial, i):
    """Return ``partial``, by differences where the last argument of ``elliprj`` is negative.

    The principal value there has no integral.
    """
    differences = numerical(special.elliprj, i, above(0))

    def chosen(y, *args):
        p = args[3]
        negative = (np.imag(p) == 0) & (np.real(p) < 0)
        if not np.any(negative):
            return partial(y, *args)
        safe = (*args[:3], np.where(negative, 1.0, args[3]))
        return np.where(negative, differences(y, *args), partial(y, *safe))

    return chosen


# fmt: off
scalar_rule(special.elliprf, lambda _f, x, y, z: -rd(y, z, x) / 6,
                             lambda _f, x, y, z: -rd(z, x, y) / 6,
                             lambda _f, x, y, z: -rd(x, y, z) / 6)
scalar_rule(special.elliprg, lambda _f, x, y, z: rg_partial(x, y, z),
                             lambda _f, x, y, z: rg_partial(y, z, x),
                             lambda _f, x, y, z: rg_partial(z, x, y))
scalar_rule(special.elliprc, rc_by_x, rc_by_z)
scalar_rule(special.elliprd, by_integral(-3 / 4, -3 / 2, -1 / 2, -3 / 2),
                             by_integral(-3 / 4, -1 / 2, -3 / 2, -3 / 2),
                             by_integral(-9 / 4, -1 / 2, -1 / 2, -5 / 2))
scalar_rule(special.elliprj, principal(by_integral(-3 / 4, -3 / 2, -1 / 2, -1 / 2, -1), 0),
                             principal(by_integral(-3 / 4, -1 / 2, -3 / 2, -1 / 2, -1), 1),
                             principal(by_integral(-3 / 4, -1 / 2, -1 / 2, -3 / 2, -1), 2),
                             principal(by_integral(-3 / 2, -1 / 2, -1 / 2, -1 / 2, -2), 3))
# fmt: on


def agm_partial(y, a, b):
    """From ``agm(a, b) * elliprf(0, a**2, b**2) = pi / 2`` (DLMF 19.22.2)."""
    slope = 2 / (3 * math.pi) * y * y * np.abs(a) * rd(0.0, or_one(b) ** 2, or_one(a) ** 2)
    # agm(a, b) goes to 0 with a as -1 / log(a).
    at_zero = np.where(a != 0, 0.0, np.where(b != 0, np.inf, np.nan))
    return np.where((a == 0) | (b == 0), at_zero, slope)


scalar_rule(special.agm, agm_partial, lambda y, a, b: agm_partial(y, b, a))
