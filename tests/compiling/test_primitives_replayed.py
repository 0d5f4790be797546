"""Primitives of users in compiled programs: each replay runs their bodies, and no rules."""

import fractions
import math

import numpy as np
import pytest
from beside_eager import differs
from cached import recordings
from multipledispatch import Dispatcher

import chainrules as cr
import chainrules.numpy as cnp

CALLS: list = []


@cr.primitive
def softplus(x, scale=1.0):
    CALLS.append(scale)
    return np.log1p(np.exp(scale * x))


@cr.rrule.register(softplus)
def softplus_rrule(softplus, x, scale=1.0):
    y = softplus(x, scale=scale)

    def softplus_pullback(ybar):
        return cr.NoTangent(), ybar * scale / (1 + np.exp(-scale * x)), cr.NoTangent()

    return y, softplus_pullback


@cr.frule.register(softplus)
def softplus_frule(tangents, softplus, x, scale=1.0):
    return softplus(x, scale=scale), tangents[1] * scale / (1 + np.exp(-scale * x))


X = np.linspace(-1.0, 1.0, 30)
PROGRAMS = {
    "array": (lambda x: np.sum(softplus(x * 2.0) * x), X),
    "small array": (lambda x: np.sum(softplus(x * 2.0, scale=2.0) * x), X[:3]),
    "float32": (lambda x: np.sum(softplus(x * np.float32(2.0)) * x), X.astype(np.float32)),
    "number": (lambda x: softplus(x * 2.0) * x + x * x, 0.3),
    "empty": (lambda x: np.sum(softplus(x * 2.0)), X[:0]),
    "columns": (lambda x: np.sum(softplus(x.T * 2.0) * x.T), X.reshape(5, 6)),
    "one after another": (lambda x: softplus(softplus(softplus(x) * 0.5) - x, 2.0) * x, 0.3),
}
TRANSFORMS = {
    "value": lambda f: f,
    "gradient": cr.grad,
    "slope": lambda f: lambda x: cr.jvp(f, (x,), (x * 0.0 + 1.0,))[1],
    "second": lambda f: lambda x: cr.grad(lambda z: np.sum(cr.grad(f)(z) ** 2))(x),
}


@pytest.mark.parametrize("transform", TRANSFORMS)
@pytest.mark.parametrize("name", PROGRAMS)
def test_replays_are_what_the_function_gives(name, transform):
    f, x = PROGRAMS[name]
    f = TRANSFORMS[transform](f)
    c = cr.compile(f, fallback="error")
    for k in range(5):
        moved = x + np.float32(0.125 * k) if isinstance(x, np.ndarray) else x + 0.125 * k
        assert not differs(c(moved), f(moved)), (name, transform, k)
    assert recordings(c) == 1


def test_the_body_runs_once_in_each_replay():
    c = cr.compile(lambda x: softplus(x, scale=3.0) * 2.0, check=False)
    c(0.5)
    CALLS.clear()
    for k in range(4):
        c(0.5 + k)
    assert CALLS == [3.0] * 4


def test_an_error_of_the_body_is_the_user_s():
    @cr.primitive
    def root(x):
        return math.sqrt(x)

    c = cr.compile(lambda x: root(x) + 1.0, fallback="error")
    assert [c(4.0), c(9.0), c(16.0)] == [3.0, 4.0, 5.0]
    with pytest.raises(ValueError, match=r"math domain error|nonnegative"):
        c(-1.0)
    assert c(25.0) == 6.0


def test_arrays_of_the_body_are_plain_in_a_replay_beside_a_transform():
    kinds = []

    @cr.primitive
    def filled(x):
        y = cnp.zeros(2)
        kinds.append(type(y))
        y[:] = x
        return y

    c = cr.compile(lambda x: np.sum(filled(x) * 2.0), check=False)
    for k in range(3):
        c(1.0 + k)
    kinds.clear()
    assert cr.grad(lambda x: x * c(4.0))(2.0) == 16.0
    assert kinds == [np.ndarray]


def test_objects_among_the_arguments_of_a_body():
    third = np.array([fractions.Fraction(1, 3)] * 2)

    @cr.primitive
    def weighted(x, weights):
        return x * float(np.sum(weights))

    c = cr.compile(lambda x: weighted(x, third) + 1.0)
    assert [c(3.0), c(6.0), c(9.0)] == pytest.approx([3.0, 5.0, 7.0], rel=1e-15)


def test_another_body_and_another_rule_are_recorded_anew():
    @cr.primitive
    def scaled(x):
        return 2.0 * x

    cr.scalar_rule(scaled, lambda y, x: 2.0 + 0.0 * x)
    f = cr.value_and_grad(lambda x: scaled(x) * x)
    c = cr.compile(f)
    assert [c(1.0), c(2.0), c(3.0)] == [(2.0, 4.0), (8.0, 8.0), (18.0, 12.0)]
    scaled.__wrapped__ = lambda x: 3.0 * x  # which tells of its signature, and no more
    assert c(1.0) == f(1.0) == (2.0, 4.0)
    cr.scalar_rule(scaled, lambda y, x: 3.0 + 0.0 * x)
    assert c(1.0) == f(1.0) == (2.0, 5.0)


def test_functions_that_dispatch_by_types_are_compared():
    area = Dispatcher("area")
    area.add((float,), lambda x: x * x)
    f = cr.grad(lambda x: area(float(2)) * x)
    c = cr.compile(f)
    assert [c(1.0), c(2.0), c(3.0)] == [4.0, 4.0, 4.0]
    area.add((float,), lambda x: x * x * x)
    assert c(1.0) == f(1.0) == 8.0
