"""Errors of floating point that settings raise inside a function: those of the value alone.

Where the function handles them it goes the way that it goes without a derivative.
"""

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import chainrules as cr
from chainrules import math as cmath
from chainrules.scipy import special

POINTS = [0.0, 1.0, -1.0, 0.5, 1e160, -1e160, 1e-310, 5e-324, 709.0, -700.0, 30.0, 1e308, np.inf]
ONE = [
    np.arctan, np.sqrt, np.cbrt, np.arccos, np.arcsin, np.arccosh, np.arctanh, np.arcsinh, np.log,
    np.log1p, np.exp, np.expm1, np.tanh, np.cosh, np.sinh, np.tan, np.square, np.reciprocal, np.abs,
    special.erf, special.expit, special.gammaln, special.ndtr, np.sin, np.linalg.norm, np.prod,
    np.var, np.std, lambda x: x**0.5, lambda x: x**-2, lambda x: 1 / x, lambda x: x / 1e-300,
    np.cumprod, lambda x: np.linalg.solve(np.eye(2) * np.sum(x), np.ones(2)),
]  # fmt: skip
TWO = [
    np.arctan2, np.hypot, np.divide, np.power, np.logaddexp, np.multiply, np.maximum,
    lambda x, z: x @ z if np.ndim(x) else x * z, np.fmod, np.float_power,
]  # fmt: skip
FORMS = {
    "number": lambda x: np.float64(x[0]),
    "float32": lambda x: np.array(x).astype(np.float32),
    "array": np.array,
    "complex": lambda x: np.array(x) * (1 + 0.5j),
    "python": lambda x: float(x[0]),
}


def by_errstate(compute):
    def f(*xs):
        with np.errstate(all="raise"):
            try:
                return np.sum(compute(*xs))
            except FloatingPointError:
                return 7.0

    return f


def by_warnings(compute):
    def f(*xs):
        with warnings.catch_warnings(), np.errstate(all="warn"):
            warnings.simplefilter("error")
            try:
                return np.sum(compute(*xs))
            except RuntimeWarning:
                return 7.0

    return f


def values_by_transforms(f, xs):
    dots = tuple(np.ones_like(x) for x in xs)
    yield cr.jvp(f, xs, dots)[0]
    yield cr.vjp(f, *xs)[0]
    yield cr.jvp(lambda *xs: cr.jvp(f, xs, dots)[0], xs, dots)[0]
    yield cr.jvp(lambda *xs: cr.vjp(f, *xs)[0], xs, dots)[0]
    yield cr.linearize(f, *xs)[0]


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@given(
    st.sampled_from([*ONE, *TWO]),
    st.sampled_from(sorted(FORMS)),
    st.lists(st.sampled_from(POINTS), min_size=4, max_size=4),
    st.sampled_from([by_errstate, by_warnings]),
)
def test_values_are_those_without_a_derivative(compute, form, points, handled):
    first, second = FORMS[form](points[:2]), FORMS[form](points[2:])
    f, xs = handled(compute), (first, second) if compute in TWO else (first,)
    try:
        expected = f(*xs)
    except (TypeError, ArithmeticError, np.linalg.LinAlgError):  # as of complex numbers
        return
    for found in values_by_transforms(f, xs):
        np.testing.assert_allclose(found, expected, rtol=1e-6)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("handled", [by_errstate, by_warnings])
def test_derivatives_are_those_of_that_way(handled):
    f = handled(np.arctan)
    assert cr.grad(f)(1e160) == cr.jvp(f, (1e160,), (1.0,))[1] == 0.0
    assert cr.jvp(handled(np.sqrt), (0.0,), (1.0,))[1] == np.inf
    assert cr.vjp(handled(np.log), 0.0)[0] == 7.0
    assert cr.jvp(handled(cmath.sqrt), (0.0,), (1.0,))[1] == np.inf


@pytest.mark.parametrize("x", [np.float64(1e160), np.array([1e160, 1.0])])
def test_under_settings_of_the_caller_the_derivative_raises_and_nobody_goes_on(x):
    def f(x):
        try:
            return np.arctan(x)
        except (FloatingPointError, RuntimeWarning):
            return 7.0 * x

    with np.errstate(all="raise"):
        with pytest.raises(FloatingPointError):
            cr.jvp(np.arctan, (x,), (x,))
        with pytest.raises(cr.LostDerivativeError, match="overflow"):
            cr.jvp(f, (x,), (x,))
    with warnings.catch_warnings(), np.errstate(all="warn"):
        warnings.simplefilter("error")
        with pytest.raises(cr.LostDerivativeError, match="overflow"):
            cr.jvp(f, (x,), (x,))
