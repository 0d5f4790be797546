"""Arrays of adopted code that outlive the transform they were made in: captured like any other."""

import functools
import types

import numpy as plain_numpy
import pytest
from cached import recordings

import chainrules as cr
import chainrules.numpy as np

X = plain_numpy.array([1.0, 2.0])


def state():
    return types.SimpleNamespace()


def by_cache(kept):
    @functools.lru_cache
    def weights(n):
        return np.cos(n) * np.ones(2)

    return lambda x: np.sum(weights(1) * x**2)


def by_field(kept):
    def f(x):
        if not hasattr(kept, "w"):
            kept.w = np.zeros(2)
            kept.w[0] = 3.0
        return np.sum(kept.w * x**2)

    return f


def by_view(kept):
    def f(x):
        if not hasattr(kept, "w"):
            kept.whole = np.ones((2, 2))
            kept.w = kept.whole[1]
        return np.sum(kept.w * x**2)

    return f


@pytest.mark.parametrize("made", [by_cache, by_field, by_view])
@pytest.mark.parametrize("transform", [cr.grad, cr.hessian])
def test_it_is_recorded(made, transform):
    compiled, plain = cr.compile(transform(made(state()))), transform(made(state()))
    for k in range(5):
        plain_numpy.testing.assert_allclose(compiled(X * k), plain(X * k), rtol=1e-14)
    assert recordings(compiled) == 1


@pytest.mark.parametrize("made", [by_field, by_view])
def test_a_change_of_its_numbers_is_seen(made):
    kept = state()
    f = made(kept)
    compiled = cr.compile(cr.grad(f))
    for number in (None, None, 5.0, 5.0, 7.0):
        if number is not None:
            kept.w[1] = number
        plain_numpy.testing.assert_array_equal(compiled(X), 2 * X * (2 * [0] + kept.w))
        plain_numpy.testing.assert_array_equal(compiled(X), cr.grad(f)(X))
    if made is by_view:
        kept.whole[1, 1] = -1.0
        plain_numpy.testing.assert_array_equal(compiled(X)[1], -4.0)


def test_another_array_in_its_place_is_seen():
    kept = state()
    compiled = cr.compile(cr.grad(by_field(kept)))
    compiled(X)
    for number in (4.0, 6.0):
        kept.w = plain_numpy.full(2, number)
        plain_numpy.testing.assert_array_equal(compiled(X), 2 * X * number)


def test_what_the_function_writes_into_it_is_an_error():
    kept = state()
    first = by_field(kept)

    def counting(x):
        y = first(x)
        kept.w[1] += 1.0
        return y

    compiled = cr.compile(cr.grad(counting))
    compiled(X)
    with pytest.raises(cr.CompileError, match="changes what it captures"):
        compiled(X)


def test_a_traced_value_that_is_left_behind_is_told():
    kept = state()

    def f(x):
        kept.last = np.sum(x)
        return np.sum(x**2)

    compiled = cr.compile(cr.grad(f))
    compiled(X)  # it may fill a cache, once
    with pytest.warns(cr.CompileWarning, match=r"\(f: kept.*last.*\) holds traced values"):
        plain_numpy.testing.assert_array_equal(compiled(X), 2 * X)
