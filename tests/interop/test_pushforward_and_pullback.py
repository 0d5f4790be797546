"""The pushforward and the pullback of a function as functions, in towers."""

import math
import pickle

import numpy as np
import pytest
from differences import jacobian_of

import chainrules as cr
from chainrules.interop import Foreign
from chainrules.testing import check_grad, test_frule, test_rrule

A, X = 2.0, np.array([0.3, 0.5])


def f(a, x):
    return a * np.sin(x), np.sum(x) ** 3


def product(a, x):
    return a * np.sin(x) * x


def differences(g, args, i, h=1e-5):
    """Return the Jacobian of ``g`` in argument ``i`` by central differences."""
    slopes = jacobian_of(lambda x: g(*args[:i], x, *args[i + 1 :]), args[i], h)
    return slopes.reshape(*slopes.shape[: slopes.ndim - np.ndim(args[i])], -1)


def test_pushforward_is_the_derivative_along_a_direction():
    xdot = np.array([1.0, -2.0])
    expected = differences(product, (A, X), 1) @ xdot + differences(product, (A, X), 0)[:, 0] * 3.0
    np.testing.assert_allclose(expected, cr.Pushforward(product)(A, X, 3.0, xdot), rtol=1e-8)


def test_pullback_pairs_with_the_pushforward():
    xdot, ybar = (3.0, np.array([1.0, -2.0])), (np.array([0.5, 2.0]), -1.0)
    ydot = cr.Pushforward(f)(A, X, *xdot)
    xbar = cr.Pullback(f)(A, X, *ybar)
    right = sum(np.vdot(b, d) for b, d in zip(xbar, xdot))
    assert sum(np.vdot(b, d) for b, d in zip(ybar, ydot)) == pytest.approx(right)


def test_the_result_has_the_structure_of_the_functions():
    push = cr.Pushforward(lambda d: {"y": d["x"] ** 2, "n": [d["x"]]})
    assert {"y": 6.0, "n": [1.0]} == push({"x": 3.0}, {"x": 1.0})
    pull = cr.Pullback(lambda d: {"y": d["x"] ** 2})
    assert ({"x": 6.0},) == pull({"x": 3.0}, {"y": 1.0})


# What follows the arguments and cotangents that P takes: for each, a tangent or a cotangent.
@pytest.mark.parametrize(
    ("outer", "more"),
    [
        (cr.Pushforward, (1.0, X, np.ones(2), 1.0)),
        (cr.Pullback, (1.0, X)),
    ],
)
def test_second_derivatives(outer, more):
    pull = cr.Pullback(f)
    args = A, X, np.array([1.0, -1.0]), 2.0
    jacobians = [
        np.vstack(
            [np.atleast_2d(differences(lambda *a, o=o: pull(*a)[o], args, i)) for o in (0, 1)]
        )
        for i in range(4)
    ]  # rows: abar, then xbar
    jacobian = np.hstack(jacobians)
    found = outer(pull)(*args, *more)
    vector = np.concatenate([np.atleast_1d(v) for v in more])
    expected = jacobian @ vector if outer is cr.Pushforward else jacobian.T @ vector
    np.testing.assert_allclose(
        expected, np.concatenate([np.atleast_1d(v) for v in found]), rtol=1e-7, atol=1e-9
    )


@pytest.mark.parametrize(
    "tower",
    [
        lambda f: cr.Pushforward(cr.Pushforward(cr.Pushforward(f))),
        lambda f: cr.Pullback(cr.Pushforward(cr.Pullback(f))),
        lambda f: cr.Pushforward(cr.Pullback(cr.Pullback(f))),
        lambda f: cr.Pullback(cr.Pullback(cr.Pullback(f))),
        lambda f: cr.Pullback(cr.Pullback(cr.Pushforward(f))),
    ],
)
def test_third_derivatives_are_those_of_the_tower_below(tower):
    # Each storey is checked by differences of the one below, which the tests above check.
    top = tower(lambda x: x**4 + np.sin(x))
    below = top.f
    n = {"known": top.inputs.known, "times": top.inputs.times}
    assert n["times"] in (0, 1, 2, 3)
    count = n["known"] + n["times"]  # one result
    args = tuple(0.3 + 0.1 * i for i in range(count))
    columns = [np.ravel(differences(below, args, i)) for i in range(count)]
    jacobian = np.stack(columns, axis=-1)  # results by arguments
    if isinstance(top, cr.Pushforward):
        more = tuple(np.linspace(1.0, 2.0, count))
        expected = jacobian @ np.array(more)
    else:
        more = tuple(np.linspace(1.0, 2.0, len(jacobian)))
        expected = jacobian.T @ np.array(more)
    np.testing.assert_allclose(expected, np.ravel(top(*args, *more)), rtol=1e-7, atol=1e-8)


def test_pickled():
    pull = pickle.loads(pickle.dumps(cr.Pullback(cr.Pushforward(product))))
    assert cr.Pullback(cr.Pushforward(product)) == pull
    assert hash(cr.Pullback(cr.Pushforward(product))) == hash(pull)
    assert cr.Pullback(product) != pull
    np.testing.assert_array_equal(
        cr.Pullback(cr.Pushforward(product))(A, X, 1.0, X, X)[1], pull(A, X, 1.0, X, X)[1]
    )


def test_rules_of_the_function_are_asked():
    @cr.primitive
    def g(x):
        return math.sin(x)

    cr.scalar_rule(g, lambda _, x: 10 * x)
    assert 30.0 == cr.Pushforward(g)(3.0, 1.0)
    assert (30.0,) == cr.Pullback(g)(3.0, 1.0)


def test_arguments_with_defaults_keep_them():
    def scaled(x, factor=2.0):
        return factor * x

    assert (2.0,) == cr.Pullback(scaled)(1.0, 1.0)
    assert (3.0, 1.0) == cr.Pullback(scaled, arity=2)(1.0, 3.0, 1.0)


def test_a_signature_that_does_not_say_how_many():
    with pytest.raises(TypeError, match=r"does not say how many.*\n.*arity="):
        cr.Pullback(lambda *xs: xs[0])
    assert (3.0, 2.0) == cr.Pullback(lambda *xs: xs[0] * xs[1], arity=2)(2.0, 3.0, 1.0)
    with pytest.raises(TypeError, match="arity="):
        cr.Pullback(cr.Pushforward(lambda *xs: xs[0]))


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: cr.Pushforward(np.sin)(1.0), "one tangent for each argument"),
        (lambda: cr.Pullback(f)(A, X, np.ones(2)), "of which there are 2"),
        (lambda: cr.Pullback(np.sin)(1.0, 1.0, 1.0), "of which there are 1"),
        (lambda: cr.Pullback(cr.Pullback(np.sin))(1.0, 1.0), "a cotangent for each"),
        (lambda: cr.Pullback(3), "takes a function, not int"),
        (lambda: cr.Pushforward(3), "takes a function, not int"),
    ],
)
def test_wrong_calls(call, text):
    with pytest.raises(TypeError, match=text):
        call()


def test_is_traced():
    seen = []

    def g(x):
        seen.append((cr.is_traced(x), cr.is_traced([1, {"a": x}]), cr.is_traced(1.0)))
        return x

    cr.grad(g)(1.0)
    assert [(True, True, False)] == seen
    assert not cr.is_traced(X)


# ---- Foreign -------------------------------------------------------------------------------------


def elsewhere(k):
    """The k-th derivative of sin, in an engine that knows ``math`` only."""

    def value(x):
        return math.sin(x + k * math.pi / 2)

    def slope(x):
        return math.sin(x + (k + 1) * math.pi / 2)

    return Foreign(
        f"sin{k}",
        run=value,
        vjp=lambda x: (value(x), lambda ybar: (slope(x) * ybar,)),
        jvp=lambda xs, xdots: (value(*xs), (slope(*xs) * xdots[0],)),
        push=lambda n: times(elsewhere(k + 1)),
        pull=lambda n: times(elsewhere(k + 1)),
    )


class times:  # noqa: N801
    """``(x, v) -> g(x) v``, of foreign functions: by our own rules."""

    def __init__(self, g):
        self.g = g

    def __call__(self, x, v):
        return self.g(x) * v


def test_a_foreign_function_has_every_derivative():
    sin = elsewhere(0)
    x = 0.7
    assert math.cos(x) == pytest.approx(cr.grad(sin)(x))
    assert -math.sin(x) == pytest.approx(cr.hessian(sin)(x))
    assert -math.cos(x) == pytest.approx(cr.jacfwd(cr.hessian(sin))(x))
    assert -math.cos(x) == pytest.approx(cr.grad(cr.grad(cr.grad(sin)))(x))
    assert -math.cos(x) == pytest.approx(cr.jacfwd(cr.jacfwd(cr.jacfwd(sin)))(x))
    test_rrule(sin, x)
    test_frule(sin, x)
    check_grad(lambda x: sin(x * sin(x)), x)


def test_a_foreign_function_without_push_and_pull_has_first_derivatives():
    sin = elsewhere(0)
    first = Foreign("sine", sin.run, sin.vjp, sin.jvp)
    assert math.cos(0.7) == pytest.approx(cr.grad(first)(0.7))
    for second in (cr.hessian(first), cr.grad(cr.grad(first)), cr.jacfwd(cr.jacfwd(first))):
        with pytest.raises(cr.MissingDerivativeError, match=r"sine .* no second"):
            second(0.7)


def test_a_foreign_function_has_no_derivative_in_integers():
    power = Foreign(
        "power",
        run=lambda x, n: x**n,
        vjp=lambda x, n: (x**n, lambda ybar: (n * x ** (n - 1) * ybar,)),
        jvp=lambda xs, xdots: (xs[0] ** xs[1], (xs[1] * xs[0] ** (xs[1] - 1) * xdots[0],)),
    )
    assert 12.0 == cr.grad(power)(2.0, 3)
    assert 12.0 == cr.jvp(power, (2.0, 3), (1.0, cr.ZeroTangent()))[1]
    for call in (
        lambda: cr.grad(power, argnums=1)(2.0, 3),
        lambda: cr.jvp(power, (2.0, 3), (0.0, 1.0)),
    ):
        with pytest.raises(cr.MissingDerivativeError, match="power takes int as number 1"):
            call()
