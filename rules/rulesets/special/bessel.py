"""scipy.special: Bessel functions and their kin. Orders are differentiated numerically."""

import functools
import math

import numpy as np
from scipy import special

from ... import (
    AbstractZero,
    NoTangent,
    ProjectTo,
    Tangent,
    Thunk,
    ZeroTangent,
    frule,
    rrule,
    scalar_rule,
    unbroadcast,
)
from .tools import numerical, or_one, whole

ROOT_PI = math.sqrt(math.pi)


def by_neighbours(f, below, above, own=None):
    """The derivative ``below * f(v - 1) + above * f(v + 1) + own * f(v)``, DLMF 10.6.1, 10.29.1."""

    def partial(y, v, x):
        slope = below * f(v - 1, x) + above * f(v + 1, x)
        return slope if own is None else slope + own * y

    return partial


def second_order(y, x):
    """``J_2``: where nothing cancels by ``y = J_1``, which takes a thirtieth of the time."""
    large = np.abs(x) >= 1
    quotient = 2 * y / np.where(large, x, 1) - special.j0(x)
    if np.all(large):
        return quotient
    return np.where(large, quotient, special.jv(2.0, np.where(large, 0.0, x)))


def behind(u):
    """``1 - I_1 / I_0`` at ``1 / u``, and ``1 - K_1 / K_0`` at ``-1 / u``, by DLMF 10.40."""
    return u * (
        1 / 2 + u * (1 / 8 + u * (1 / 8 + u * (25 / 128 + u * (13 / 32 + u * 1073 / 1024))))
    )


def before(u):
    """``I_0 / I_1 - 1`` at ``1 / u``, and ``K_0 / K_1 - 1`` at ``-1 / u``."""
    q = behind(u)
    return q / (1 - q)


def far_out(near, far):
    """The partial ``near(y, x)``, and where that cancels ``far(y, 1 / x)``, a series."""

    def partial(y, x):
        large = np.abs(x) > 1000
        if not np.any(large):
            return near(y, x)
        slope = far(y, 1 / np.where(large, x, 1))
        return slope if np.all(large) else np.where(large, slope, near(y, np.where(large, 1, x)))

    return partial


# fmt: off
for _f, _below, _above, _own in (
    (special.jv,        0.5, -0.5, None),
    (special.yv,        0.5, -0.5, None),
    (special.iv,        0.5,  0.5, None),
    (special.kv,       -0.5, -0.5, None),
    (special.kve,      -0.5, -0.5, 1.0),
    (special.hankel1,   0.5, -0.5, None),
    (special.hankel2,   0.5, -0.5, None),
    (special.hankel1e,  0.5, -0.5, -1j),
    (special.hankel2e,  0.5, -0.5, 1j),
):
    scalar_rule(_f, numerical(_f, 0), by_neighbours(_f, _below, _above, _own))

scalar_rule(special.yn, whole(special.yn, "the order n"), by_neighbours(special.yn, 0.5, -0.5))
scalar_rule(special.kn, whole(special.kn, "the order n"),
            lambda _, n, x: -(special.kn(np.abs(n - 1), x) + special.kn(n + 1, x)) / 2)

# By the neighbouring orders, and not divided by x, which may be 0.
scalar_rule(special.j0,  lambda _, x: -special.j1(x))
scalar_rule(special.j1,  lambda y, x: (special.j0(x) - second_order(y, x)) / 2)
scalar_rule(special.y0,  lambda _, x: -special.y1(x))
scalar_rule(special.y1,  lambda y, x: special.y0(x) - y / x)
scalar_rule(special.i0,  lambda _, x: special.i1(x))
scalar_rule(special.i1,  lambda _, x: (special.i0(x) + special.iv(2.0, x)) / 2)
scalar_rule(special.k0,  lambda _, x: -special.k1(x))
scalar_rule(special.k1,  lambda y, x: -special.k0(x) - y / x)
scalar_rule(special.i0e, far_out(lambda y, x: special.i1e(x) - np.sign(x) * y,
                                 lambda y, u: -np.sign(u) * y * behind(np.abs(u))))
scalar_rule(special.i1e, far_out(
    lambda y, x: (special.i0e(x) + special.ive(2.0, x)) / 2 - np.sign(x) * y,
    lambda y, u: np.abs(y) * (before(np.abs(u)) - np.abs(u))))
scalar_rule(special.k0e, far_out(lambda y, x: y - special.k1e(x), lambda y, u: y * behind(-u)))
scalar_rule(special.k1e, far_out(lambda y, x: y - special.k0e(x) - y / x,
                                 lambda y, u: -y * (before(-u) + u)))
# fmt: on


# ---- scaled by the size of an exponential, which is not holomorphic ----


def scaled_rule(f, by_order, *rows):
    """``y = w * exp(-r)``, of which ``w`` is holomorphic in the last argument ``z``, and r real.

    Each row, one per output, is the partial of ``w`` in ``z`` times ``exp(-r)``, and the
    ``rate`` with ``rdot = Re(rate * zdot)``, or None for an output that is holomorphic itself.
    ``by_order`` is the partial in the order, if there is one.
    """
    several = len(rows) > 1

    def scaled_frule(tangents, f, *args):
        y = f(*args)
        args = with_real_order(args)
        zdot = tangents[-1]
        outputs = y if several else (y,)
        ydots = [0.0] * len(rows)
        if not isinstance(zdot, AbstractZero):
            for k, (partial, rate) in enumerate(rows):
                ydots[k] = partial(y, *args) * zdot
                if rate is not None:
                    ydots[k] = ydots[k] - outputs[k] * np.real(rate(args[-1]) * zdot)
        if by_order is not None and not isinstance(tangents[1], AbstractZero):
            ydots[0] = ydots[0] + by_order(y, *args) * tangents[1]
        ydots = [
            ProjectTo(output)(np.broadcast_to(ydot, np.shape(output)))
            for output, ydot in zip(outputs, ydots)
        ]
        return y, Tangent(type(y), *ydots) if several else ydots[0]

    def scaled_rrule(f, *args):
        y = f(*args)
        spaces = [ProjectTo(x) for x in args]
        args = with_real_order(args)

        def pull_of_row(k, ybar):
            partial, rate = rows[k]
            output = y[k] if several else y
            zbar = np.conj(partial(y, *args)) * ybar
            if rate is None:
                return zbar
            return zbar - np.conj(rate(args[-1])) * np.real(np.conj(output) * ybar)

        def pull_of_order(ybar):
            order = np.real(np.conj(by_order(y, *args)) * ybar)
            return spaces[0](unbroadcast(order, spaces[0].shape))

        def scaled_pullback(ybar):
            ybars = list(ybar) if several else [ybar]
            given = [(k, bar) for k, bar in enumerate(ybars) if not isinstance(bar, AbstractZero)]
            if not given:
                return NoTangent(), *(ZeroTangent() for x in args)
            zbar = functools.reduce(np.add, [pull_of_row(k, bar) for k, bar in given])
            bars = [spaces[-1](unbroadcast(zbar, spaces[-1].shape))]
            if by_order is not None:
                bars.insert(0, Thunk(lambda: pull_of_order(ybar)))  # it takes sixteen values
            return NoTangent(), *bars

        return y, scaled_pullback

    frule.register(f)(scaled_frule)
    rrule.register(f)(scaled_rrule)


def with_real_order(args):
    """Return arguments whose order is no unsigned integer: of that, one less than 0 is large."""
    return *(v * 1.0 for v in args[:-1]), args[-1]


def imaginary_rate(z):
    """Of ``abs(imag(z))``."""
    return -1j * np.sign(np.imag(z))


def real_rate(z):
    """Of ``abs(real(z))``."""
    return np.sign(np.real(z))


for _f, _sign, _rate in (
    (special.jve, -0.5, imaginary_rate),
    (special.yve, -0.5, imaginary_rate),
    (special.ive, 0.5, real_rate),
):
    scaled_rule(_f, numerical(_f, 0), (by_neighbours(_f, 0.5, _sign), _rate))


# ---- Airy ----


def root(z):
    """The rate of ``2/3 * z**1.5``; a negative number has no real one, and there it is not used."""
    return np.sqrt(z) if np.iscomplexobj(z) else np.sqrt(np.maximum(z, 0))


def airy_rate(z):
    """Of ``abs(real(2/3 * z**1.5))``."""
    rate = root(z)
    return np.sign(np.real(z * rate)) * rate


# fmt: off
scalar_rule(special.airy, (lambda y, _z: y[1],), (lambda y, z: z * y[0],),
                          (lambda y, _z: y[3],), (lambda y, z: z * y[2],))
scaled_rule(special.airye, None,
            (lambda y, z: y[1] + root(z) * y[0],     None),
            (lambda y, z: z * y[0] + root(z) * y[1], None),
            (lambda y, z: y[3],                      airy_rate),
            (lambda y, z: z * y[2],                  airy_rate))
scalar_rule(special.itairy,
            (lambda _, x: special.airy(x)[0],),  (lambda _, x: special.airy(x)[2],),
            (lambda _, x: special.airy(-x)[0],), (lambda _, x: special.airy(-x)[2],))
# fmt: on


# ---- integrals ----


def minus_one_over(x, far, sign):
    """``(f(x) - 1) / x`` for ``f`` the sum of ``(sign * x**2 / 4)**k / k!**2``: i0 or j0."""
    near = np.abs(x) < 1
    small = np.where(near, x, 0)
    square = sign * small * small / 4
    series = functools.reduce(lambda rest, k: 1 + square / (k * k) * rest, range(10, 1, -1), 1)
    large = np.where(near, 1, x)
    return np.where(near, sign * small / 4 * series, (far(large) - 1) / large)


def besselpoly_partial(_, a, power, v):
    """Under the integral of ``x**power * jv(v, 2 a x)`` from 0 to 1."""
    return special.besselpoly(a, power + 1, v - 1) - special.besselpoly(a, power + 1, v + 1)


# fmt: off
scalar_rule(special.itj0y0,  (lambda _, x: special.j0(x),), (lambda _, x: special.y0(x),))
scalar_rule(special.iti0k0,  (lambda _, x: special.i0(x),), (lambda _, x: special.k0(x),))
scalar_rule(special.it2j0y0, (lambda _, x: -minus_one_over(x, special.j0, -1),),
                             (lambda _, x: -special.y0(x) / x,))
scalar_rule(special.it2i0k0, (lambda _, x: minus_one_over(x, special.i0, 1),),
                             (lambda _, x: -special.k0(x) / x,))
scalar_rule(special.besselpoly, besselpoly_partial, numerical(special.besselpoly, 1),
                                numerical(special.besselpoly, 2))
# fmt: on


# ---- Struve ----


def struve_term(v, x):
    return (x / 2) ** v * special.rgamma(v + 1.5) / ROOT_PI


def struve_partial(_, v, x):
    """DLMF 11.4.25."""
    return (special.struve(v - 1, x) - special.struve(v + 1, x) + struve_term(v, x)) / 2


def modstruve_partial(_, v, x):
    """DLMF 11.4.30."""
    return (special.modstruve(v - 1, x) + special.modstruve(v + 1, x) + struve_term(v, x)) / 2


# fmt: off
scalar_rule(special.struve,       numerical(special.struve, 0), struve_partial)
scalar_rule(special.modstruve,    numerical(special.modstruve, 0), modstruve_partial)
scalar_rule(special.itstruve0,    lambda _, x: special.struve(0.0, x))
scalar_rule(special.itmodstruve0, lambda _, x: special.modstruve(0.0, x))
# H0(x) / x is 2 / pi at 0.
scalar_rule(special.it2struve0,
            lambda _, x: -(special.struve(0.0, x) + 2 / math.pi * (x == 0)) / or_one(x))
# fmt: on


# ---- Kelvin ----


# w = ber + i bei and w = ker + i kei have w'' = i w - w' / x. At 0, bei'(x) / x is 1/2.
# fmt: off
scalar_rule(special.ber,  lambda _, x: special.berp(x))
scalar_rule(special.bei,  lambda _, x: special.beip(x))
scalar_rule(special.ker,  lambda _, x: special.kerp(x))
scalar_rule(special.kei,  lambda _, x: special.keip(x))
scalar_rule(special.berp, lambda y, x: -special.bei(x) - y / or_one(x))
scalar_rule(special.beip, lambda y, x: special.ber(x) - (y + 0.5 * (x == 0)) / or_one(x))
scalar_rule(special.kerp, lambda y, x: -special.kei(x) - y / x)
scalar_rule(special.keip, lambda y, x: special.ker(x) - y / x)
scalar_rule(special.kelvin,
            (lambda y, _x: y[2],), (lambda y, _x: y[3],),
            (lambda y, x: 1j * y[0] - (y[2] + 0.5j * (x == 0)) / or_one(x),),
            (lambda y, x: 1j * y[1] - y[3] / x,))
# fmt: on


# ---- spherical Bessel functions, which are Python functions around these ----


def spherical_rules(name, sign):
    """``w'' = -2 w' / z + (n (n + 1) / z**2 - sign) w`` (DLMF 10.47.1, 10.47.2)."""
    f, slope = (getattr(special._ufuncs, f"_spherical_{name}{end}", None) for end in ("", "_d"))
    if f is None or slope is None:
        return

    def curvature(y, n, z):
        return (n * (n + 1) / (z * z) - sign) * f(n, z) - 2 * y / z

    scalar_rule(f, whole(f, "the order n"), lambda _, n, z: slope(n, z))
    scalar_rule(slope, whole(slope, "the order n"), curvature)


for _name, _sign in ("jn", 1), ("yn", 1), ("in", -1), ("kn", -1):
    spherical_rules(_name, _sign)
