"""NumPy takes axis 0 of a number as all of it; so do the derivatives, in every mode."""

from functools import partial

import numpy as np
import pytest
from differences import slope_of

import chainrules as cr

AXES = (0, -1, None)
REDUCTIONS = (np.sum, np.prod, np.max, np.min, np.ptp, np.nansum, np.nanprod, np.nanmax, np.nanmin)
UFUNCS = (np.add, np.multiply, np.maximum, np.minimum, np.fmax, np.fmin, np.hypot, np.logaddexp,
          np.subtract, np.divide, np.copysign)  # fmt: skip
NOTHING = {"initial": 0.5, "where": False}  # counts, but the number to begin with


def calls():
    for axis in AXES:
        for f in REDUCTIONS:
            for keepdims in (False, True):
                yield f"{f.__name__}, {axis}, {keepdims}", f, {"axis": axis, "keepdims": keepdims}
        for f in (np.cumsum, np.cumprod, np.nancumsum, np.nancumprod):
            yield f"{f.__name__}, {axis}", f, {"axis": axis}
        for f in (np.cumulative_sum, np.cumulative_prod):
            for initial in (False, True):
                options = {"axis": axis, "include_initial": initial}
                yield f"{f.__name__}, {axis}, {initial}", f, options
        if axis is not None:
            yield f"take, {axis}", partial(np.take, indices=0), {"axis": axis}
            yield f"take of several, {axis}", partial(np.take, indices=[[0, -1]]), {"axis": axis}
            wrap = {"axis": axis, "mode": "wrap"}
            yield f"take, {axis}, wrap", partial(np.take, indices=[3, 0]), wrap
            yield f"compress, {axis}", partial(np.compress, [True]), {"axis": axis}
            yield f"repeat, {axis}", partial(np.repeat, repeats=3), {"axis": axis}
            yield f"repeat of each, {axis}", partial(np.repeat, repeats=[2]), {"axis": axis}
        for ufunc in UFUNCS:
            for options in ({}, {"keepdims": True}, {"initial": 0.5}, NOTHING):
                options = {"axis": axis, **options}
                yield f"{ufunc.__name__}.reduce, {options}", ufunc.reduce, options


@pytest.mark.parametrize("x", [2.0, np.array(2.0)], ids=["number", "array"])
@pytest.mark.parametrize(
    ("f", "options"), [pytest.param(f, options, id=name) for name, f, options in calls()]
)
def test_a_function_along_axis_0_of_a_number(f, options, x):
    def g(x):
        return f(x * 1.0, **options)

    expected = slope_of(g, (x,), (1.0,))
    _, pushforward = cr.linearize(g, x)
    _, pullback = cr.vjp(g, x)
    found = {
        "jvp": cr.jvp(g, (x,), (np.ones_like(x),))[1],
        "linearize": pushforward(np.ones_like(x)),
        "block": pushforward(np.ones((3, *np.shape(x))), block=True)[2],
        "jacfwd": cr.jacfwd(g)(x),
        "jacrev": cr.jacrev(g)(x),
        "sparse": np.reshape(cr.jacfwd(g, sparse=True)(x).toarray(), expected.shape),
        "sparse rows": np.reshape(cr.jacrev(g, sparse=True)(x).toarray(), expected.shape),
    }
    for mode, xdot in found.items():
        assert np.shape(xdot) == expected.shape, mode
        np.testing.assert_allclose(xdot, expected, atol=1e-8, err_msg=mode)
    np.testing.assert_allclose(pullback(np.ones_like(g(x)))[0], np.sum(expected), atol=1e-8)

    def square(x):
        return np.sum(g(x) ** 2)

    second = (square(x + 1e-4) - 2 * square(x) + square(x - 1e-4)) / 1e-8
    np.testing.assert_allclose(cr.hessian(square)(x), second, atol=1e-5)


@pytest.mark.parametrize(
    "x", [2.0, np.float64(2.0), np.array(2.0)], ids=["float", "number", "array"]
)
@pytest.mark.parametrize(
    ("f", "options"), [pytest.param(f, options, id=name) for name, f, options in calls()]
)
def test_its_value_is_numpys(f, options, x):
    expected = f(x, **options)
    several = cr.vmap(lambda x: f(x, **options))(np.array([x, x]))[0]
    for y in (cr.jvp(lambda x: f(x, **options), (x,), (x,))[0], several):
        np.testing.assert_array_equal(y, expected)
        assert np.shape(y) == np.shape(expected)
