"""Tests of SciPy's objects share a function of some numbers, checked by differences."""

import numpy as np
from differences import slope_of

import chainrules as cr

STEP = 2e-4


def directions(xs, seed=5):
    rng = np.random.default_rng(seed)
    return tuple(rng.normal(size=np.shape(x)) for x in xs)


def differences(g, xs, dots):
    return slope_of(g, xs, dots, STEP, order=4)


def real(y):
    y = np.asarray(y)
    return np.stack([y.real, y.imag]) if y.dtype.kind == "c" else y


def same_value(y, expected, exact):
    if exact:
        np.testing.assert_array_equal(y, expected)
    else:
        np.testing.assert_allclose(y, expected, rtol=1e-10, atol=1e-12)


def check(f, *xs, rtol=1e-6, second=True, exact=True):
    """Compare value, both modes and the second derivative of ``f`` with differences."""
    xs = tuple(np.asarray(x, float) for x in xs)
    dots = directions(xs)
    expected = np.asarray(f(*xs))
    y, ydot = cr.jvp(f, xs, dots)
    assert (np.shape(y), np.asarray(y).dtype) == (expected.shape, expected.dtype)
    same_value(y, expected, exact)
    slope = differences(f, xs, dots)
    scale = np.max(np.abs(slope), initial=1.0)
    np.testing.assert_allclose(ydot, slope, rtol=rtol, atol=rtol * scale)
    z, pullback = cr.vjp(f, *xs)
    same_value(z, expected, exact)
    ybar = directions((expected,), 7)[0]
    if expected.dtype.kind == "c":
        ybar = ybar + 1j * directions((expected,), 8)[0]
    xbars = pullback(ybar[()])
    xbars = xbars if isinstance(xbars, tuple) else (xbars,)
    for x, xbar in zip(xs, xbars, strict=True):
        assert np.shape(cr.zero_tangent(x) if isinstance(xbar, cr.ZeroTangent) else xbar) == x.shape
    left = np.sum(np.real(np.conj(ybar) * ydot))
    right = sum(np.sum(d * xbar) for d, xbar in zip(dots, xbars)
                if not isinstance(xbar, cr.ZeroTangent))  # fmt: skip
    np.testing.assert_allclose(left, right, rtol=1e-9, atol=1e-9 * scale)
    if second:
        check_second(f, xs, dots, ybar, 20 * rtol)


def check_second(f, xs, dots, ybar, rtol):
    def loss(*xs):
        y = f(*xs)
        return np.sum(np.real(np.conj(ybar) * y + 0.5 * y * np.conj(y)))

    places = tuple(range(len(xs)))

    def gradient(*xs):
        bars = cr.grad(loss, argnums=places)(*xs)
        return np.concatenate([np.ravel(bar) for bar in bars])

    flat = np.concatenate([np.ravel(d) for d in dots])
    expected = differences(gradient, xs, dots)
    scale = np.max(np.abs(expected), initial=1.0)
    over = {
        "forward over reverse": cr.jvp(gradient, xs, dots)[1],
        "reverse over reverse": np.concatenate(
            [
                np.ravel(bar)
                for bar in cr.grad(lambda *xs: gradient(*xs) @ flat, argnums=places)(*xs)
            ]
        ),
    }
    for how, found in over.items():
        np.testing.assert_allclose(found, expected, rtol=rtol, atol=rtol * scale, err_msg=how)
    curvature = cr.jvp(lambda *xs: cr.jvp(loss, xs, dots)[1], xs, dots)[1]
    np.testing.assert_allclose(curvature, expected @ flat, rtol=rtol, atol=rtol * scale)
