"""Arrays read piece by piece: in nested modes too, the pieces are put together once."""

import itertools

import numpy as np
import pytest
from counted_calls import calls_of
from differences import slope_of

import chainrules as cr
from chainrules.reverse.pieces import positions
from chainrules.rules.rulesets.arrays import indexing as numpy_indexing

X = np.array([0.5, -1.5, 2.0, 0.25, 1.0])
M = np.arange(1.0, 13.0).reshape(3, 4) / 7


def by_number(x):
    total = 0.0
    for i in range(x.size):
        total = total + np.sin(x[i]) * x[i - 1]
    return total


def by_iteration(x):
    return sum(number**3 for number in x)


def by_slice(x):
    total = 0.0
    for i in range(1, x.size):
        total = total + np.sum(x[i - 1 : i + 1] ** 2) * np.sum(x[::-i])
    return total


def by_row(m):
    total = 0.0
    for row in m:
        total = total + np.sum(row**3) * row[0]
    return total


def by_any_index(m):
    parts = m[0, 1], m[..., -1], m[1:, ::2], m[None, 2], m[-1, 1:3], m[2, None, 0], m[1]
    total = np.sum(m[[0, 0, 1]] ** 3) + np.sum(m**3)
    return total + sum(np.sum(part**3) * np.sum(other**2) for part, other in
                       itertools.pairwise(parts))  # fmt: skip


def filled(x):
    y = np.zeros_like(x)
    y[0] = x[0]
    for i in range(1, x.size):
        y[i] = np.sin(y[i - 1]) * x[i] + y[0]
        if i == 3:
            y[2] = y[2] * y[3]  # read and overwritten once more
    return np.sum(y**2) + y[1]


def filled_by_rows(m):
    y = np.zeros_like(m)
    y[0] = m[0]
    for t in range(1, len(m)):
        y[t] = np.sin(y[t - 1]) * m[t]
        y[t, 0] = y[t - 1, 1] ** 2
    y[1:, 2] *= 2
    return np.sum(y**3)


def overwritten(x):
    y = x * 1.0
    kept = y[1]
    y[1] = 2.0
    y[-1] = y[0] * y[1]
    y[1] = y[2] ** 2
    return kept**2 * np.prod(y) + np.sum(y[1:3] ** 2)


CASES = [
    (filled, X),
    (filled_by_rows, M),
    (overwritten, X),
    (by_number, X),
    (by_iteration, X),
    (by_slice, X),
    (by_row, M),
    (by_any_index, M),
]


def slope_of_gradient(f, x, v):
    return slope_of(cr.grad(f), (x,), (v,), 1e-5)


@pytest.mark.parametrize(("f", "x"), CASES)
def test_second_derivatives_of_pieces(f, x):
    v = np.cos(np.arange(x.size)).reshape(x.shape)
    expected = slope_of_gradient(f, x, v)
    np.testing.assert_allclose(cr.hvp(f, (x,), (v,)), expected, rtol=1e-7, atol=1e-7)
    twice = cr.grad(lambda x: np.sum(cr.grad(f)(x) * v))(x)
    np.testing.assert_allclose(twice, expected, rtol=1e-7, atol=1e-7)
    full = cr.hessian(f)(x).reshape(x.size, x.size) @ v.ravel()
    np.testing.assert_allclose(full.reshape(x.shape), expected, rtol=1e-7, atol=1e-7)


@pytest.mark.parametrize(("f", "x"), CASES)
def test_third_derivatives_of_pieces(f, x):
    v = np.cos(np.arange(x.size)).reshape(x.shape)

    def product(x):
        return np.sum(cr.hvp(f, (x,), (v,)))

    def product_in_reverse(x):
        return np.sum(cr.grad(lambda x: np.sum(cr.grad(f)(x) * v))(x))

    expected = cr.jvp(product, (x,), (v,))[1]
    for g in (product, product_in_reverse):
        assert np.sum(cr.grad(g)(x) * v) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("f", [by_number, by_iteration, filled])
def test_the_pieces_are_put_together_once(f, monkeypatch):
    sizes = []
    original = numpy_indexing.add_at

    def counted(buffer, index, x):
        sizes.append(buffer.size)
        original(buffer, index, x)

    monkeypatch.setattr(numpy_indexing, "add_at", counted)
    cr.hvp(f, (np.ones(200),), (np.ones(200),))
    assert len(sizes) <= 4


def test_entries_that_are_not_read_stay_structurally_zero():
    def f(x):
        y = np.log(x)  # infinite where x is 0, and not read there
        return y[1] ** 2 * y[2] + y[1:2][0]

    x = np.array([0.0, 2.0, 3.0])
    with np.errstate(divide="ignore", invalid="ignore"):
        found = cr.hessian(f)(x)
    assert np.all(np.isfinite(found))
    expected = cr.hessian(lambda x: np.log(x[1]) ** 2 * np.log(x[2]) + np.log(x[1]))(x)
    np.testing.assert_allclose(found, expected, rtol=1e-12)


INDICES = [0, -1, slice(1, 3), slice(None, None, -2), ..., (1, 2), (slice(None), -1), (..., 0),
           (None, 1, ..., None), (slice(2, 0, -1), 3), (slice(5, 9), 0)]  # fmt: skip


@pytest.mark.parametrize("index", INDICES)
def test_positions(index):
    flat = np.arange(M.size).reshape(M.shape)
    np.testing.assert_array_equal(positions(index, M.shape), np.ravel(flat[index]))


@pytest.mark.parametrize("f", [lambda x: x[3], lambda x: np.sum(x[3]), lambda x: 2.0 * x[3]])
def test_a_read_float_has_the_short_way_back(f):
    x = np.arange(5.0)
    gradient = cr.grad(f)
    np.testing.assert_array_equal([0, 0, 0, float(f(np.eye(5)[3])), 0], gradient(x))
    _, pull = cr.vjp(f, x)
    called = [name for _, name in calls_of(lambda: pull(1.0))]
    assert "Cotangents.add_plain" in called
    assert "Active.receive" not in called[called.index("pull_item") :]


def test_a_fresh_array_is_found_to_own_its_memory_without_a_search():
    def writes(x):
        y = np.zeros(3, like=x)
        for i in range(3):
            y[i] = x * i
        return np.sum(y)

    called = [name for _, name in calls_of(lambda: cr.grad(writes)(2.0))]
    assert "TracedNumber.__getattr__" not in called


@pytest.mark.parametrize("n", [1, 2])
def test_all_of_a_vector_read_without_an_index(n):
    """``x[()]`` is all of ``x``: of a vector of one number it is no number at a place."""

    def f(x):
        whole = x[()]
        whole += whole
        return x * x

    def pulled(x):
        return cr.vjp(f, x)[1](np.ones_like(x))[0]

    xs = np.arange(1.0, 3 * n + 1).reshape(3, n)
    np.testing.assert_allclose(cr.vmap(pulled)(xs), 8 * xs)
    np.testing.assert_allclose(cr.jvp(pulled, (xs[0],), (np.ones(n),))[1], np.full(n, 8.0))
    np.testing.assert_allclose(cr.vjp(pulled, xs[0])[1](np.ones(n))[0], np.full(n, 8.0))
