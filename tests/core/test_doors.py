"""Length of the way in and out of a transform: calls of Python's that one array takes."""

import numpy as np
import pytest
from counted_calls import calls_of

import chainrules as cr

X, XDOT = np.linspace(0.5, 1.5, 12), np.ones(12)


def square(x):
    return x * x


@pytest.mark.parametrize(
    ("run", "most"),
    [
        (lambda: cr.jvp(square, (X,), (XDOT,)), 50),
        (lambda: cr.jvp(square, (0.7,), (1.0,)), 50),
        (lambda: cr.vjp(square, X)[1](XDOT), 60),
        (lambda: cr.vjp(square, 0.7)[1](1.0), 55),
    ],
)
def test_one_leaf_is_taken_in_and_given_out_at_once(run, most):
    run()
    assert sum(module is not None for module, _ in calls_of(run)) <= most


def test_what_a_list_of_integers_reads_goes_back_to_each_entry():
    gradient = cr.grad(lambda x: np.sum(x[[1, 4, 4, -1]] * np.arange(1.0, 5.0)))(X)
    expected = np.zeros(12)
    expected[[1, 4, -1]] = 1.0, 5.0, 4.0
    np.testing.assert_array_equal(gradient, expected)


def test_a_list_of_indices_may_change_after_the_read():
    def f(x):
        index = [1, 4]
        y = np.sum(x[index] ** 2)
        index[0] = 0
        return y

    np.testing.assert_array_equal(np.flatnonzero(cr.grad(f)(X)), [1, 4])
