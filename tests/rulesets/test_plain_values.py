"""Rules look under a traced value where NumPy itself, or a decision, needs the plain numbers.

Each test fails with ``value`` left out of one rule, or left in where it hides a derivative.
"""

import inspect

import numpy as np
import pytest

import chainrules as cr
from chainrules.rules import is_traced
from chainrules.rules.rulesets.linalg.matrix_functions import all_choices, divided_differences
from chainrules.testing import check_grad

X = np.array([1.0, 2.0, 3.0])
PLACES = np.array([0, 2])


@pytest.mark.parametrize("c", [0.0, 1.0])
def test_padding_with_a_constant_that_happens_to_be_zero(c):
    """A bug's test: the derivative in a constant was lost where it is 0."""
    assert cr.grad(lambda c: np.sum(np.pad(X * c, 1, constant_values=c)))(c) == 8.0
    assert cr.jvp(lambda c: np.sum(np.pad(X * c, 1, constant_values=c)), (c,), (1.0,))[1] == 8.0


def written(write):
    """Return a function of an array, and of integers that say where it is written to."""

    def f(x, places):
        y = x * 2
        write(y, places, x[:2] * 5)
        return np.sum(y**2)

    return f


@pytest.mark.parametrize(
    "f",
    [
        lambda x, places: np.sum(np.hypot.reduceat(x, places)),
        written(np.put),
        written(lambda y, places, v: np.put_along_axis(y, places, v, 0)),
    ],
)
def test_places_that_are_traced_integers(f):
    xbar, _ = cr.vjp(f, X, PLACES)[1](1.0)
    np.testing.assert_array_equal(cr.grad(lambda x: f(x, PLACES))(X), xbar)


def test_conditions_of_piecewise_that_are_traced_numbers():
    def f(x):
        return np.sum(np.piecewise(x, [x - 1], [np.sin, np.cos]))

    assert f(X) == cr.vjp(f, X)[0]
    np.testing.assert_allclose([-np.sin(1.0), *np.cos(X[1:])], cr.grad(f)(X))


def test_initial_of_a_reduction_by_a_loop():
    check_grad(lambda x: np.hypot.reduce(x, initial=x[0]), X)


def test_a_condition_that_numpy_refuses():
    with pytest.raises(TypeError, match="Cannot cast"):
        cr.grad(lambda x: np.hypot.reduce(x, where=x - 1, initial=0.0))(X)


@pytest.mark.skipif(
    "sorted" not in inspect.signature(np.unique).parameters, reason="since NumPy 2.3"
)
def test_unique_in_numpys_own_order():
    def f(x):
        return np.sum(np.unique(x[[2, 0, 1, 0]], sorted=False) ** 2 * X)

    assert f(X) == cr.vjp(f, X)[0]
    weights = [X[np.flatnonzero(np.unique(X[[2, 0, 1, 0]], sorted=False) == x)[0]] for x in X]
    np.testing.assert_allclose(2 * X * weights, cr.grad(f)(X))


def test_checkpoint_evaluates_again_once():
    calls = []

    def f(x):
        calls.append(1)
        return np.sin(x) * x

    cr.grad(cr.grad(cr.checkpoint(f)))(1.5)
    assert len(calls) == 2


def test_error_estimates_of_divided_differences_are_not_followed():
    found = []

    def f(w):
        y, errors = divided_differences((np.exp, np.exp, np.exp), all_choices(w, 3))
        found.append(errors)
        return np.sum(y)

    cr.grad(f)(X)
    assert not is_traced(found[0])
