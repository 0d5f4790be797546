"""Slopes at very large and very small arguments, against mpmath's with hundreds of digits.

Squares overflow there and differences cancel; the slope is as right as the argument is exact.
"""

import functools

import mpmath as mp
import numpy as np
import pytest
import scipy.special as sp

import chainrules as cr

pytestmark = pytest.mark.every_case

POSITIVE = 1e-160, 1e-20, 1e-8, 0.3, 1.0, 30.0, 700.0, 1e5, 1e15, 1e160
REAL = (*(-x for x in POSITIVE), *POSITIVE)
UNIT = 1e-160, 1e-17, 1e-8, 0.01, 0.3, 0.7, 0.99, 1 - 1e-9
SYMMETRIC = (*(-x for x in UNIT), *UNIT)


def power_of_2(x):
    return mp.mpf(2) ** x


def log_of_sum(power, log):
    def larger_and_rest(a, b):
        low, high = min(a, b), max(a, b)
        return high if high - low > 2000 else high + log(1 + power(low - high))

    return larger_and_rest


def scaled(bessel, order, sign):
    return lambda x: bessel(order, x) * mp.exp(sign * abs(x))


def scaled_of_second_kind(order):
    """Of its digits a hundred are enough, and hundreds take it seconds."""

    def bessel(x):
        with mp.workdps(100):
            return mp.besselk(order, x) * mp.exp(x)

    return bessel


ELEMENTARY = {
    np.expm1: (mp.expm1, REAL),
    np.log1p: (mp.log1p, (*POSITIVE, *(-x for x in UNIT))),
    np.tan: (mp.tan, REAL),
    np.arcsin: (mp.asin, SYMMETRIC),
    np.arccos: (mp.acos, SYMMETRIC),
    np.arctan: (mp.atan, REAL),
    np.sinh: (mp.sinh, REAL),
    np.arcsinh: (mp.asinh, REAL),
    np.arccosh: (mp.acosh, [1 + 1e-9, *POSITIVE[5:]]),
    np.arctanh: (mp.atanh, SYMMETRIC),
    np.sqrt: (mp.sqrt, POSITIVE),
    np.cbrt: (lambda x: mp.sign(x) * mp.cbrt(abs(x)), REAL),
    np.reciprocal: (lambda x: 1 / x, REAL),
    np.sinc: (lambda x: mp.sinc(mp.pi * x), [x for x in REAL if abs(x) < 1e14]),
    np.i0: (functools.partial(mp.besseli, 0), [x for x in REAL if abs(x) < 700]),
    sp.erf: (mp.erf, REAL),
    sp.erfcx: (lambda x: mp.exp(x * x) * mp.erfc(x), [x for x in REAL if abs(x) < 31]),
    sp.log_ndtr: (lambda x: mp.log(mp.ncdf(x)), [x for x in REAL if -1e6 < x < 6]),
    sp.rgamma: (mp.rgamma, (-1.0, -1 + 1e-9, -30.0, -3.3, 0.3, 0.5, 30.0)),
    sp.digamma: (mp.digamma, (-1e14 + 0.25, -1e6 - 0.3, -1000.5, -20.3, 1e-8, 0.3, 30.0, 1e15)),
    sp.i0e: (scaled(mp.besseli, 0, -1), [x for x in REAL if abs(x) < 1e16]),
    sp.i1e: (scaled(mp.besseli, 1, -1), [x for x in REAL if abs(x) < 1e16]),
    sp.k0e: (scaled_of_second_kind(0), (0.3, 1e15)),
    sp.k1e: (scaled_of_second_kind(1), (0.3, 1e15)),
    sp.expit: (lambda x: 1 / (1 + mp.exp(-x)), [x for x in REAL if x < 31]),
    sp.log_expit: (lambda x: -mp.log1p(mp.exp(-x)), [x for x in REAL if x < 31]),
    sp.logit: (lambda x: mp.log(x / (1 - x)), UNIT),
}
OF_TWO = {
    np.hypot: (mp.hypot, REAL, REAL),
    np.arctan2: (mp.atan2, REAL, REAL),
    np.power: (lambda a, b: a**b, POSITIVE, (-3.0, -1e-8, 0.3, 1.0, 30.0)),
    np.divide: (lambda a, b: a / b, REAL, REAL),
    np.logaddexp: (log_of_sum(mp.exp, mp.log), REAL[2:17], REAL[4:17]),
    np.logaddexp2: (log_of_sum(power_of_2, lambda x: mp.log(x, 2)), REAL[2:17], REAL[4:17]),
    sp.xlogy: (lambda a, b: a * mp.log(b), REAL, POSITIVE),
    sp.kl_div: (lambda a, b: a * mp.log(a / b) - a + b, POSITIVE, POSITIVE),
    sp.boxcox: (lambda x, k: (x**k - 1) / k, POSITIVE, (-3.0, -1e-8, 1e-20, 0.3, 1.0, 30.0)),
}


def true_slope(f, x):
    """Return the slope of mpmath's ``f`` at ``x``, and its change in the last digits of ``x``."""
    with mp.workdps(450):
        x = mp.mpf(x)
        h = mp.mpf(10) ** -30 * min(abs(x), 1)

        def slope(x):
            return mp.re(f(x + h) - f(x - h)) / (2 * h)

        here = slope(x)
        return float(here), float(abs(slope(x * (1 + mp.mpf(2) ** -50)) - here))


def assert_slope(f, exact, x):
    true, change = true_slope(exact, x)
    with np.errstate(all="ignore"):
        found = cr.grad(f)(x), cr.jvp(f, (x,), (1.0,))[1]
        if not np.isfinite(f(x)) or np.isinf(true):
            return
    tolerance = 1e-10 * abs(true) + 20 * change + 1e-300
    np.testing.assert_allclose(found, true, rtol=0, atol=tolerance, err_msg=f"at {x}")


@pytest.mark.parametrize("f", ELEMENTARY, ids=lambda f: f.__name__)
def test_of_one_argument(f):
    exact, points = ELEMENTARY[f]
    for x in points:
        assert_slope(f, exact, x)


@pytest.mark.parametrize("f", OF_TWO, ids=lambda f: f.__name__)
def test_of_two_arguments(f):
    exact, *points = OF_TWO[f]
    pairs = [(a, b) for a in points[0] for b in points[1]]
    for a, b in pairs[:: 1 + len(pairs) // 60]:
        assert_slope(lambda x, b=b: f(x, b), lambda x, b=b: exact(x, mp.mpf(b)), a)
        assert_slope(lambda x, a=a: f(a, x), lambda x, a=a: exact(mp.mpf(a), x), b)
