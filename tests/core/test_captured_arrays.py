"""A plain array that the function changes between two uses never gives a wrong derivative."""

import numpy as np
import pytest

import chainrules as cr

SMALL, LARGE = 10, 5000


def workspace(x):
    """Fill one buffer again and again, as codes do that save memory."""
    c = np.zeros(len(x))
    total = 0.0
    for k in range(1, 4):
        c[:] = k
        total = total + np.sum(x * c) + np.sum(c / (x + 3.0))
    return total


def matrix_product(x):
    a = np.ones((3, len(x)))
    y = a @ x
    a[:] = 5.0
    return np.sum(y * (a @ x))


def by_index(x):
    index = np.arange(len(x))
    y = x[index]
    index[:] = 0
    return np.sum(y * x[index])


def by_hand_written_rule(x):
    a = np.ones(len(x))
    y = np.einsum("i,i->", a, x)
    a[:] = 2.0
    return y * np.einsum("i,i->", a, x)


PROGRAMS = [workspace, matrix_product, by_index, by_hand_written_rule]


@pytest.mark.parametrize("f", PROGRAMS)
def test_a_small_array_is_kept_as_it_was(f):
    x = np.linspace(0.5, 2.0, SMALL)
    direction = np.cos(np.arange(SMALL))
    h = 1e-6
    expected = (f(x + h * direction) - f(x - h * direction)) / (2 * h)
    assert cr.grad(f)(x) @ direction == pytest.approx(expected, rel=1e-7)
    assert cr.jvp(f, (x,), (direction,))[1] == pytest.approx(expected, rel=1e-7)
    assert cr.linearize(f, x)[1](direction) == pytest.approx(expected, rel=1e-7)
    gradient = cr.grad(f)
    expected = (gradient(x + h * direction) - gradient(x - h * direction)) / (2 * h)
    np.testing.assert_allclose(cr.hvp(f, (x,), (direction,)), expected, rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("f", PROGRAMS)
def test_a_large_array_that_changed_is_an_error(f):
    x = np.linspace(0.5, 2.0, LARGE)
    with pytest.raises(cr.MutationError, match=r"in test_captured_arrays.py:\d+ and\s+has been"):
        cr.grad(f)(x)
    assert np.isfinite(cr.jvp(f, (x,), (x,))[1])  # forward mode looks at once


def test_a_large_array_that_stayed_is_no_error():
    c = np.arange(float(LARGE))
    x = np.ones(LARGE)
    _, pullback = cr.vjp(lambda x: np.sum(c * x), x)
    np.testing.assert_array_equal(pullback(1.0)[0], c)
    c[0] = 7.0
    with pytest.raises(cr.MutationError, match="use a copy"):
        pullback(1.0)
