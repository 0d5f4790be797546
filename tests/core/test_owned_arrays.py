"""The sweep writes into arrays of its own only: never into what somebody else can see."""

import numpy as np
import pytest

import chainrules as cr
from chainrules.config.thresholds import WRITTEN_INTO as LARGE
from chainrules.rules.table.sums import sum_over, unbroadcast
from chainrules.testing import check_grad

N = 2 * LARGE
x = np.linspace(0.1, 2.0, N)


def chain(x):
    """Every ``y`` is used twice, and cotangents are multiplied, shared and added."""
    y = x
    for _ in range(3):
        y = np.sin(y) * x + 0.5 * y
    return y


def test_chain_agrees_with_its_entries_one_by_one():
    few = np.arange(0, N, N // 7)
    expected = [cr.grad(chain)(float(x[i])) for i in few]
    np.testing.assert_allclose(cr.grad(lambda x: np.sum(chain(x)))(x)[few], expected, rtol=1e-12)


def test_pullback_gives_the_same_again_and_leaves_its_seed():
    y, pullback = cr.vjp(chain, x)
    seed = np.cos(x)
    before_x, before_y, before_seed = x.copy(), y.copy(), seed.copy()
    (first,) = pullback(seed)
    kept = first.copy()
    (second,) = pullback(seed)
    np.testing.assert_array_equal(first, kept)
    np.testing.assert_array_equal(second, first)
    assert not np.shares_memory(first, second)
    for now, before in ((x, before_x), (y, before_y), (seed, before_seed)):
        np.testing.assert_array_equal(now, before)


def test_results_belong_to_the_caller():
    seed = np.ones(N)
    _, pullback = cr.vjp(lambda a, b: (a + b) * 1.0, x, x.copy())
    abar, bbar = pullback(seed)
    abar[:] = 7.0
    assert np.all(bbar == 1)
    assert np.all(seed == 1)
    _, pullback = cr.vjp(lambda a, b: a + b, x, x.copy())
    abar, bbar = pullback(seed)
    abar[:] = 7.0
    assert np.all(bbar == 1)
    assert np.all(seed == 1)


READS = {
    "a slice": lambda y: np.sum(y[1:3]),
    "entries": lambda y: y[0] * y[-1],
    "a list of indices": lambda y: np.sum(y[[0, 0, 2]]),
    "a mask": lambda y: np.sum(y[y > 1.0]),
    "two reads": lambda y: np.sum(y[1:3]) + np.sum(y[2:4]),
}


def times_three(kept):
    """Return a function whose rule gives back, and keeps, an array of its own."""

    @cr.primitive
    def tripled(x):
        return 3.0 * x

    @cr.rrule.register(tripled)
    def tripled_rrule(tripled, x):
        return tripled(x), lambda ybar: (cr.NoTangent(), kept)

    return tripled


@pytest.mark.parametrize("read", READS.values(), ids=READS.keys())
@pytest.mark.parametrize("size", [5, N])
def test_adding_in_place_onto_a_cotangent_that_somebody_else_holds(size, read):
    kept, point = np.full(size, 3.0), np.linspace(0.1, 2.0, size)
    tripled = times_three(kept)

    def read_before(x):
        y = 2.0 * x
        part = read(y)  # recorded first, so what it gives back arrives when kept is there
        return part + np.sum(tripled(y))

    gradient = cr.grad(read_before)(point)
    alone = cr.grad(lambda x: read(2.0 * x))(point)
    np.testing.assert_allclose(gradient, 6.0 + alone, rtol=1e-12)
    np.testing.assert_array_equal(kept, np.full(size, 3.0))
    # The seed of the caller, which arrives at y as it is, and at z as well.
    seed = np.ones(size)
    _, pullback = cr.vjp(lambda y: (read(y), y, y + 0.0), point)
    (first,) = pullback((1.0, seed, seed))
    np.testing.assert_array_equal(seed, np.ones(size))
    np.testing.assert_array_equal(first, pullback((1.0, seed, seed))[0])


def test_what_a_rule_returns_and_keeps_is_not_written():
    kept = np.full(N, 3.0)
    tripled = times_three(kept)

    def f(x):
        return np.sum(tripled(np.exp(x) * x))

    gradient = cr.grad(f)(x)
    np.testing.assert_allclose(gradient, 3 * np.exp(x) * (1 + x), rtol=1e-12)
    np.testing.assert_array_equal(cr.grad(f)(x), gradient)
    assert np.all(kept == 3)
    xbar = cr.grad(lambda x: np.sum(tripled(x)))(x)
    xbar[:] = 0.0
    assert np.all(kept == 3)


def test_captured_arrays_and_values_are_not_written():
    c = np.full(N, 2.0)
    seen = []

    def f(x):
        y = c * np.tanh(x)
        seen.append(cr.value(y))
        return np.sum(y * y * c)

    cr.grad(f)(x)
    assert np.all(c == 2)
    np.testing.assert_array_equal(seen[0], c * np.tanh(x))


def test_nested_modes_over_large_arrays():
    v = np.cos(x)

    def f(x):
        return np.sum(chain(x))

    product = cr.hvp(f, (x,), (v,))
    again = cr.grad(lambda x: np.sum(cr.grad(f)(x) * v))(x)
    np.testing.assert_allclose(product, again, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize(
    ("shape", "axis"),
    [
        ((900, 3), (0,)), ((900, 3), (1,)), ((5, 300, 4), (1,)), ((5, 300, 4), (0, 1)),
        ((5, 300, 4), (0, 2)), ((4, 9, 90), (0,)), ((700,), (0,)), ((0, 700, 3), (1,)),
        ((700, 0), (0,)), ((2, 1, 400), (1,)),
    ],
)  # fmt: skip
@pytest.mark.parametrize("dtype", ["float32", "float64", "complex128", "int64"])
def test_sums_over_axes(shape, axis, dtype):
    a = np.random.default_rng(0).integers(-9, 9, shape).astype(dtype)
    expected = np.sum(a, axis=axis)
    summed = sum_over(a, axis)
    assert summed.dtype == expected.dtype
    np.testing.assert_array_equal(summed, expected)


def test_sums_keep_infinities_and_nan():
    a = np.ones((300, 4))
    a[3, 1], a[4, 2] = np.inf, np.nan
    np.testing.assert_array_equal(sum_over(a, (0,)), [300, np.inf, np.nan, 300])
    np.testing.assert_array_equal(unbroadcast(a, (300, 1))[2:6, 0], [4, np.inf, np.nan, 4])


@pytest.mark.parametrize("axis", [0, 1, -1])
@pytest.mark.parametrize("keepdims", [False, True])
def test_extremes_of_many_lanes_with_and_without_ties(axis, keepdims):
    a = np.random.default_rng(0).normal(size=(7, 6))
    check_grad(lambda a: np.sum(np.max(a, axis=axis, keepdims=keepdims) ** 2), a)
    tied = np.array([[1.0, 1.0, 0.0], [0.0, np.nan, 2.0]])
    xbar = cr.grad(lambda a: np.sum(np.max(a, axis=1)))(tied)
    np.testing.assert_array_equal(xbar[0], [0.5, 0.5, 0.0])
    _, ydot = cr.jvp(lambda a: np.max(a, axis=1), (tied,), (np.array([[1.0, 3, 0], [0, 0, 4]]),))
    assert ydot[0] == 2.0


def test_structural_zeros_hold_where_a_partial_is_infinite():
    at_zero = np.zeros(N)

    def f(x):
        return np.sum(np.where(x > 0, -2.0 * np.sqrt(x), 0.0))

    with np.errstate(divide="ignore"):
        gradient = cr.grad(f)(at_zero)
    np.testing.assert_array_equal(gradient, at_zero)
