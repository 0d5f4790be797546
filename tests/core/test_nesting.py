"""Transforms inside transforms, in any order and depth, with captured values."""

import math

import numpy as np
import pytest
from derivatives import by_jvp, by_linearize, by_vjp
from differences import slope_of

import chainrules as cr

MODES = [by_jvp, by_vjp, by_linearize, cr.grad]


def f(x):
    return np.sin(x) * x * x


@pytest.mark.parametrize("outer", MODES)
@pytest.mark.parametrize("inner", MODES)
def test_second_derivatives(outer, inner):
    x = 0.7
    expected = -np.sin(x) * x * x + 4 * x * np.cos(x) + 2 * np.sin(x)
    assert outer(inner(f))(x) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("a", MODES)
@pytest.mark.parametrize("b", MODES)
@pytest.mark.parametrize("c", MODES)
def test_third_derivatives(a, b, c):
    assert a(b(c(np.exp)))(0.3) == pytest.approx(math.exp(0.3), rel=1e-12)


@pytest.mark.parametrize("d", MODES)
def test_fourth_derivatives(d):
    assert d(d(d(d(lambda x: x**6))))(1.5) == pytest.approx(360 * 1.5**2)


@pytest.mark.parametrize("outer", MODES)
@pytest.mark.parametrize("inner", MODES)
def test_no_perturbation_confusion(outer, inner):
    # d/dx [x * d/dy (x + y)] is 1: confusing the two perturbations gives 2.
    assert outer(lambda x: x * inner(lambda y: x + y)(1.0))(1.0) == 1.0
    assert outer(lambda x: x * inner(lambda y: x * y)(3.0))(2.0) == 4.0


@pytest.mark.parametrize("outer", MODES)
@pytest.mark.parametrize("inner", MODES)
def test_the_inner_function_may_ignore_its_argument(outer, inner):
    assert outer(lambda x: x + inner(lambda y: x * x)(5.0))(2.0) == 1.0


@pytest.mark.parametrize("outer", MODES)
@pytest.mark.parametrize("inner", MODES)
def test_closures_over_traced_arrays(outer, inner):
    xs = np.array([1.0, 2.0, 3.0])

    def loss(w):
        return np.sum(xs * inner(lambda s: np.sum(np.sin(w * s * xs)))(0.5))

    expected = slope_of(loss, (0.8,), (1.0,))
    assert outer(loss)(0.8) == pytest.approx(expected, rel=1e-7)


def test_a_pullback_taken_outside_is_used_inside():
    _, pullback = cr.vjp(lambda x: x**3, 2.0)
    assert cr.grad(lambda t: pullback(t)[0] * t)(5.0) == pytest.approx(2 * 12.0 * 5.0)


def test_hessians_of_every_mix_agree():
    x = np.array([0.3, -0.2, 1.1])

    def loss(x):
        return np.sum(np.exp(x[:-1]) * np.cos(x[1:])) + np.prod(x)

    forward_over_reverse = cr.hessian(loss)(x)
    for a in (cr.jacfwd, cr.jacrev):
        for b in (cr.jacfwd, cr.jacrev):
            np.testing.assert_allclose(a(b(loss))(x), forward_over_reverse, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(forward_over_reverse, forward_over_reverse.T)


def test_grad_of_a_function_that_takes_a_gradient_step():
    def inner(w, x):
        return np.sum((w * x - 1.0) ** 2)

    def outer(w):
        for _ in range(3):
            w = w - 0.1 * cr.grad(inner)(w, np.array([1.0, 2.0]))
        return w * w

    expected = slope_of(outer, (0.3,), (1.0,))
    assert cr.grad(outer)(0.3) == pytest.approx(expected, rel=1e-7)
