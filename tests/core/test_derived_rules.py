"""Rules that are made of those in the other direction."""

import math

import numpy as np
import pytest
from both_modes import both_rules

import chainrules as cr
from chainrules.testing import check_grad

X = np.array([0.5, 1.2, 0.9])


def opaque(x):
    """The value by a way that no trace can follow."""
    return np.array([math.sin(t) for t in np.ravel(cr.value(x))]).reshape(np.shape(x))


def with_an_frule():
    @cr.primitive
    def f(x, a, n=2):
        return opaque(x) ** n * a

    @cr.frule.register(f)
    def f_frule(tangents, f, x, a, *, n=2):
        _, xdot, adot = tangents
        s = np.sin(x)
        return s**n * a, n * s ** (n - 1) * np.cos(x) * a * xdot + s**n * adot

    return f


def with_an_rrule():
    @cr.primitive
    def f(x, a, n=2):
        return opaque(x) ** n * a

    @cr.rrule.register(f)
    def f_rrule(f, x, a, *, n=2):
        s = np.sin(x)

        def f_pullback(ybar):
            xbar = n * s ** (n - 1) * np.cos(x) * a * ybar
            return cr.NoTangent(), xbar, np.sum(s**n * ybar)

        return s**n * a, f_pullback

    return f


BOTH = pytest.mark.parametrize("make", [with_an_frule, with_an_rrule])


@BOTH
def test_both_directions_to_second_order(make):
    f = make()
    both_rules(f, X, 1.5)
    check_grad(lambda x, a: np.sum(f(x, a, n=3) * x), X, 1.5)

    def same(x, a):
        return np.sum(np.sin(x) ** 3 * a * x)

    for hessian in (
        cr.hessian, lambda f: cr.jacrev(cr.jacrev(f)), lambda f: cr.jacfwd(cr.jacfwd(f)),
        lambda f: cr.jacrev(cr.jacfwd(f)),
    ):  # fmt: skip
        found = hessian(lambda x: np.sum(f(x, 1.5, n=3) * x))(X)
        np.testing.assert_allclose(found, cr.hessian(same)(X, 1.5), rtol=1e-12, atol=1e-12)


@BOTH
def test_in_jacobians_and_blocks(make):
    f = make()
    expected = np.diag(2 * np.sin(X) * np.cos(X) * X[0])
    expected[:, 0] += np.sin(X) ** 2
    for transform in (cr.jacfwd, cr.jacrev, cr.jacobian):
        np.testing.assert_allclose(transform(lambda x: f(x, x[0]))(X), expected, rtol=1e-12)


def test_in_containers_and_complex_numbers():
    @cr.primitive
    def f(p, name):
        return opaque(p["a"]) * p["b"][0]

    @cr.rrule.register(f)
    def f_rrule(f, p: dict, name: str):
        s = np.sin(p["a"])

        def f_pullback(ybar):
            bbar = np.sum(np.conj(s) * ybar)
            return (
                cr.NoTangent(),
                {"a": np.cos(p["a"]) * np.conj(p["b"][0]) * ybar, "b": [bbar]},
                (cr.NoTangent()),
            )

        return s * p["b"][0], f_pullback

    p, pdot = {"a": X, "b": [1.0 + 2.0j]}, {"a": X[::-1], "b": [0.5j]}
    same = lambda p: np.sin(p["a"]) * p["b"][0]  # noqa: E731
    y, ydot = cr.jvp(lambda p: f(p, "name"), (p,), (pdot,))
    np.testing.assert_allclose(ydot, cr.jvp(same, (p,), (pdot,))[1])
    np.testing.assert_array_equal(y, same(p))


def test_a_custom_derivative_is_that_of_both_modes():
    """As of a straight-through estimator: the body has another one, and is not asked."""

    @cr.primitive
    def rounded(x):
        return np.round(x)

    @cr.rrule.register(rounded)
    def rounded_rrule(rounded, x):
        return rounded(x), lambda ybar: (cr.NoTangent(), ybar)

    assert 1.0 == cr.grad(lambda x: rounded(x))(0.7) == cr.jvp(rounded, (0.7,), (1.0,))[1]


@BOTH
def test_a_rule_that_is_written_later_takes_its_place(make):
    f = make()
    cr.grad(lambda x: np.sum(f(x, 2.0)))(X)
    cr.jvp(lambda x: f(x, 2.0), (X,), (X,))

    @cr.rrule.register(f)
    def f_rrule(f, x, a):
        return f(x, a), lambda ybar: (cr.NoTangent(), 7.0 * ybar, cr.ZeroTangent())

    @cr.frule.register(f)
    def f_frule(tangents, f, x, a):
        return f(x, a), 9.0 * tangents[1]

    np.testing.assert_array_equal(7 * np.ones(3), cr.grad(lambda x: np.sum(f(x, 2.0)))(X))
    np.testing.assert_array_equal(9 * X, cr.jvp(lambda x: f(x, 2.0), (X,), (X,))[1])


def test_only_for_the_types_of_the_rule():
    @cr.primitive
    def f(x):
        return 2.0 * x

    @cr.frule.register(f)
    def f_frule(tangents, f, x: np.ndarray):
        return 2.0 * x, 5.0 * tangents[1]

    np.testing.assert_array_equal(5 * np.ones(3), cr.grad(lambda x: np.sum(f(x)))(X))
    assert 2.0 == cr.grad(lambda x: f(x))(3.0)


def test_a_plain_function_is_differentiated_by_its_body():
    def f(x):
        return x**2

    with pytest.warns(cr.RuleNeverAskedWarning):

        @cr.frule.register(f)
        def f_frule(tangents, f, x):
            return x**2, 5.0 * tangents[1]

    assert 6.0 == cr.grad(f)(3.0)


def test_a_rule_that_cannot_be_recorded_says_which_one_to_write():
    @cr.primitive
    def f(x):
        return math.sin(cr.value(x))

    @cr.frule.register(f)
    def f_frule(tangents, f, x):
        return f(x), float(tangents[1]) * math.cos(x)

    with pytest.raises(cr.LostDerivativeError) as caught:
        cr.grad(f)(0.5)
    assert "write it: @cr.rrule.register(f)" in "".join(caught.value.__notes__)
