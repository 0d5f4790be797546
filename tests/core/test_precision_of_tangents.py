"""Tangents and cotangents of float64 beside numbers of float32, to which Python's give way."""

import numpy as np
import pytest

import chainrules as cr

FACTOR, SEED = np.float32(1.1), 0.81  # the product in float32 is wrong from the eighth digit on


@cr.primitive
def doubled(x):
    return np.float64(2 * x)


@cr.frule.register(doubled)
def doubled_frule(tangents, doubled, x):
    return doubled(x), 2 * float(tangents[1])


FUNCTIONS = {
    "product": (lambda x: FACTOR * x, 1.0),
    "sum": (lambda x: FACTOR * (x + np.float64(2)), 1.0),
    "difference": (lambda x: FACTOR * (np.float64(2) - x), -1.0),
    "positive": (lambda x: FACTOR * np.positive(x), 1.0),
    "negative": (lambda x: FACTOR * np.negative(x), -1.0),
    "maximum": (lambda x: FACTOR * np.maximum(x, np.float64(1)), 1.0),
    "where": (lambda x: FACTOR * np.where(x > 0, x, np.float64(1))[()], 1.0),
    "reduction": (lambda x: FACTOR * np.sum(x), 1.0),
    "a rule": (lambda x: FACTOR * doubled(x), 2.0),
}


@pytest.mark.parametrize("cls", [float, np.float64])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_pushforward(name, cls):
    f, slope = FUNCTIONS[name]
    x = cls(1.643)
    if type(f(x)) is not np.float64:
        pytest.skip("NumPy computes it in float32")
    for seed in (SEED, np.float64(SEED)):
        y, ydot = cr.jvp(f, (x,), (seed,))
        assert type(y) is type(ydot) is np.float64
        assert ydot == slope * (np.float64(FACTOR) * SEED)
    moved = cr.jvp(lambda x: cr.jvp(f, (x,), (SEED,))[1] * x, (x,), (SEED,))[1]
    assert abs(moved - slope * np.float64(FACTOR) * SEED**2) < 1e-14


@pytest.mark.parametrize("name", [name for name in FUNCTIONS if name != "a rule"])
def test_pullback(name):
    f, slope = FUNCTIONS[name]
    x = np.float64(1.643)
    (xbar,) = cr.vjp(f, x)[1](SEED)
    assert type(xbar) is np.float64
    assert xbar == slope * (np.float64(FACTOR) * SEED)


@pytest.mark.parametrize("f", [np.fmod, np.mod, np.copysign, np.heaviside, np.maximum, np.add])
@pytest.mark.parametrize("y", [np.full(3, 0.7), np.float64(0.7), np.array(0.7)], ids=repr)
def test_an_array_of_float32_beside_numbers_of_float64(f, y):
    x = np.full(3, 2.5, np.float32)
    for g in (lambda x: f(x, y), lambda x: f(y, x)):
        value, ydot = cr.jvp(g, (x,), (x,))
        assert value.dtype == ydot.dtype == cr.jacfwd(g)(x).dtype == g(x).dtype


def test_in_a_batch():
    xs, f = np.array([1.643, 2.0]), FUNCTIONS["product"][0]
    ydots = cr.vmap(lambda x: cr.jvp(f, (x,), (SEED,))[1])(xs)
    assert ydots.dtype == np.float64
    np.testing.assert_array_equal(ydots, np.float64(FACTOR) * SEED)


def test_a_gradient_is_of_float64_to_its_last_step():
    other = np.float32(1.3)
    expected = np.float64(FACTOR) * np.float64(other)

    def f(x):
        return FACTOR * (other * x)

    for gradient in (cr.grad(f), lambda x: cr.value_and_grad(f)(x)[1], cr.compile(cr.grad(f))):
        xbar = gradient(np.float64(2.0))
        assert type(xbar) is np.float64
        assert xbar == expected
    curved = cr.grad(cr.grad(lambda x: f(x) * f(x)))(np.float64(2.0))
    np.testing.assert_allclose(curved, 2 * expected**2, rtol=1e-15)
    batch = cr.vmap(cr.grad(f))(np.array([2.0, 3.0]))
    np.testing.assert_array_equal(batch, [expected, expected])
