"""``while_loop`` beside Python's ``while``: values, derivatives, memory, and what is refused."""

import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import chainrules as cr

A = np.array([0.8, 1.7])


def plain(cond, step, carry):
    while cond(carry):
        carry = step(carry)
    return carry


def of_numbers(loop, rounds, x):
    def step(carry):
        y, k = carry
        return np.sin(y) * x[0] + 0.3 * x[1] / (k + 1), k + 1

    y, k = loop(lambda carry: carry[1] < rounds, step, (x[1], 0))
    assert type(k) is int
    return y + 0.1 * k


def of_arrays(loop, rounds, x):
    def step(carry):
        return {"v": np.tanh(carry["v"] * x) + 0.1, "n": carry["n"] + 1.0}

    end = loop(lambda carry: carry["n"] < rounds, step, {"v": x * 1.0, "n": 0.0})
    return np.sum(end["v"] ** 2)


def of_writes(loop, rounds, x):
    def step(v):
        v[0] = v[1] * 0.9 * x[0]
        v[1] += 0.01
        return v

    return np.sum(loop(lambda v: v[1] < 1.7 + 0.01 * rounds - 0.005, step, x * 1.0))


PROGRAMS = [of_numbers, of_arrays, of_writes]


@pytest.mark.parametrize("rounds", [0, 1, 63, 64, 65, 200, 700])
@pytest.mark.parametrize("program", PROGRAMS)
def test_values_and_derivatives_are_those_of_while(program, rounds):
    f, g = (lambda x, loop=loop: program(loop, rounds, x) for loop in (cr.while_loop, plain))
    assert f(A) == g(A)
    for d in (
        cr.grad,
        cr.jacfwd,
        lambda f: lambda x: cr.vjp(f, x)[0],
        lambda f: lambda x: cr.jvp(f, (x,), (np.cos(x),))[1],
        lambda f: lambda x: cr.hvp(f, (x,), (np.cos(x),)),
        lambda f: cr.grad(lambda x: np.sum(np.sin(cr.grad(f)(x)))),
        cr.hessian,
    ):
        np.testing.assert_allclose(d(f)(A), d(g)(A), rtol=1e-11, atol=1e-13)


@pytest.mark.parametrize("rounds", [3, 90])
def test_against_differences(rounds):
    for program in (of_numbers, of_arrays):
        f = lambda x, program=program: program(cr.while_loop, rounds, x)  # noqa: E731
        for d in (cr.grad(f), cr.jacfwd(f)):
            steps = np.eye(2) * 1e-6
            slopes = [(f(A + h) - f(A - h)) / 2e-6 for h in steps]
            np.testing.assert_allclose(d(A), slopes, rtol=1e-6, atol=1e-8)


@settings(max_examples=30)
@given(st.integers(0, 150), st.floats(0.1, 2.0), st.floats(0.1, 2.0))
def test_roots_that_take_any_number_of_rounds(rounds, a, b):
    def far(carry):
        return abs(carry[0] - a) > 1e-10 and carry[1] < rounds

    def loop(kind, x):
        step = lambda carry: (carry[0] + 0.3 * (x[0] - carry[0]), carry[1] + 1)  # noqa: E731
        return kind(far, step, (b, 0))[0]

    x = np.array([a])
    found, expected = (
        [loop(kind, x), *cr.grad(lambda x, kind=kind: loop(kind, x))(x)]
        for kind in (cr.while_loop, plain)
    )
    np.testing.assert_allclose(found, expected, rtol=1e-13)


def test_memory_grows_as_the_square_root():
    def peak(rounds):
        x = np.linspace(0.1, 1.0, 500)
        tracemalloc.start()
        cr.grad(lambda x: of_arrays(cr.while_loop, rounds, x))(x)
        found = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return found

    assert peak(3200) < 3.5 * peak(400)


def test_nothing_traced_is_pythons_loop():
    seen = []
    end = cr.while_loop(lambda k: k < 100, lambda k: seen.append(k) or k + 1, 0)
    assert end == 100
    assert seen == list(range(100))


def test_an_array_is_not_written_into():
    x = np.array([1.0, 2.0])

    def step(v):
        v += 1.0
        return v

    assert cr.while_loop(lambda v: v[0] < 5.0, step, x).tolist() == [5.0, 6.0]
    assert x.tolist() == [1.0, 2.0]


def test_a_step_that_does_not_repeat_is_refused():
    seen = []

    def f(x):
        def step(carry):
            seen.append(1)
            return carry[0] * x + 0.1 * len(seen), carry[1] + 1

        return cr.while_loop(lambda carry: carry[1] < 100, step, (x, 0))[0]

    with pytest.raises(cr.MutationError):
        cr.grad(f)(0.5)
