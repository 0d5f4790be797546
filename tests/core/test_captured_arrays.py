"""A plain array that the function changes between two uses never gives a wrong derivative."""

import tempfile

import hypothesis.strategies as st
import numpy as np
import pytest
from differences import slope_of
from hypothesis import given

import chainrules as cr
from chainrules.rules.tracing import captured as watch

SMALL, LARGE = 10, 5000


def workspace(x):
    """Fill one buffer again and again, as codes do that save memory."""
    c = np.zeros(len(x))
    total = 0.0
    for k in range(1, 4):
        c[:] = k
        total = total + np.sum(x * c) + np.sum(c / (x + 3.0))
    return total


def matrix_product(x):
    a = np.ones((3, len(x)))
    y = a @ x
    a[:] = 5.0
    return np.sum(y * (a @ x))


def by_index(x):
    index = np.arange(len(x))
    y = x[index]
    index[:] = 0
    return np.sum(y * x[index])


def by_hand_written_rule(x):
    a = np.ones(len(x))
    y = np.einsum("i,i->", a, x)
    a[:] = 2.0
    return y * np.einsum("i,i->", a, x)


PROGRAMS = [workspace, matrix_product, by_index, by_hand_written_rule]


@pytest.fixture
def kept_as_they_are(monkeypatch):
    """Let arrays count as too large for a copy that are not."""
    monkeypatch.setattr(watch, "COPIED_AT_ONCE", 1 << 8)
    monkeypatch.setattr(watch, "DIGESTED", 1 << 10)


@pytest.mark.parametrize("f", PROGRAMS)
@pytest.mark.parametrize("size", [SMALL, LARGE])
def test_an_array_is_kept_as_it_was(f, size):
    x = np.linspace(0.5, 2.0, size)
    direction = np.cos(np.arange(size))
    h = 1e-4  # not smaller: sums over many entries round off
    expected = slope_of(f, (x,), (direction,), h)
    assert cr.grad(f)(x) @ direction == pytest.approx(expected, rel=1e-7)
    assert cr.jvp(f, (x,), (direction,))[1] == pytest.approx(expected, rel=1e-7)
    assert cr.linearize(f, x)[1](direction) == pytest.approx(expected, rel=1e-7)
    gradient = cr.grad(f)
    expected = slope_of(gradient, (x,), (direction,), h)
    np.testing.assert_allclose(cr.hvp(f, (x,), (direction,)), expected, rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("f", PROGRAMS)
def test_a_large_array_that_changed_is_an_error(f, kept_as_they_are):
    x = np.linspace(0.5, 2.0, LARGE)
    with pytest.raises(cr.MutationError, match=r"in test_captured_arrays.py:\d+ and\s+has been"):
        cr.grad(f)(x)
    assert np.isfinite(cr.jvp(f, (x,), (x,))[1])  # forward mode looks at once


def test_a_large_array_that_stayed_is_no_error(kept_as_they_are):
    c = np.arange(float(LARGE))
    x = np.ones(LARGE)
    _, pullback = cr.vjp(lambda x: np.sum(c * x), x)
    np.testing.assert_array_equal(pullback(1.0)[0], c)
    c[0] = 7.0
    with pytest.raises(cr.MutationError, match="use a copy"):
        pullback(1.0)


# ---- other things than arrays, and other places ----------------------------------------------


def list_of_weights(x):
    w = [1.0] * len(x)
    y = np.dot(x, w)
    w[0] = 5.0
    return y * np.dot(x, w)


def list_of_indices(x):
    index = [0, 1, 2]
    y = x[index]
    index[0] = 2
    return np.sum(y * x[index])


def array_in_a_list(x):
    a = np.diag(np.ones(len(x)))
    y = np.linalg.multi_dot([a, x])
    a[0, 1] = 7.0
    return y @ np.linalg.multi_dot([a, x])


def subclass(x):
    with tempfile.NamedTemporaryFile() as file:
        c = np.memmap(file, dtype=float, mode="w+", shape=x.shape)
        c[:] = 1.0
        y = np.sum(x * c)
        c[0] = 9.0
        return y * np.sum(x * c)


def index_of_a_write(x):
    y, z = np.zeros_like(x), np.zeros_like(x)
    index, places = np.arange(len(x)), [0, 1, 2]
    y[index] = x
    z[places] = x[:3]
    index[0] = places[0] = 2
    y[index] = 2.0 * x
    z[places] = x[1:4]
    return np.sum(y * x) + np.sum(z * x)


@pytest.mark.parametrize(
    "f", [list_of_weights, list_of_indices, array_in_a_list, subclass, index_of_a_write]
)
def test_what_is_kept_besides_arrays(f):
    test_an_array_is_kept_as_it_was(f, SMALL)


class Model:
    def __init__(self, weights):
        self.weights = weights


@cr.primitive
def predict(x, model):
    return np.sum(x * model.weights)


@cr.rrule.register(predict)
def predict_rrule(predict, x, model):
    def predict_pullback(ybar):
        return cr.NoTangent(), ybar * model.weights, cr.NoTangent()

    return predict(x, model), predict_pullback


def test_an_array_in_an_object_of_the_users():
    def f(x):
        model = Model(np.ones(3))
        y = predict(x, model)
        model.weights[0] = 2.0
        return y

    with pytest.raises(cr.MutationError, match="use a copy"):
        cr.grad(f)(np.ones(3))


def test_the_array_that_was_the_input():
    x = np.ones(3)

    def f(y):
        total = np.sum(y * y)
        x[0] = 5.0
        return total

    np.testing.assert_array_equal(cr.grad(f)(x), [2.0, 2.0, 2.0])
    x = np.ones(3)
    _, pullback = cr.vjp(lambda x: np.sum(x * x), x)
    x += 1.0
    np.testing.assert_array_equal(pullback(1.0)[0], [2.0, 2.0, 2.0])


def test_the_array_that_was_returned(kept_as_they_are):
    y, pullback = cr.vjp(lambda x: np.exp(x), np.zeros(3))
    y[0] = 7.0
    np.testing.assert_array_equal(pullback(np.ones(3))[0], [1.0, 1.0, 1.0])
    y, pullback = cr.vjp(lambda x: np.exp(x), np.zeros(LARGE))
    y[1] = 7.0
    with pytest.raises(cr.MutationError):
        pullback(np.ones(LARGE))


@pytest.mark.parametrize("size", [SMALL, LARGE])
def test_an_array_of_an_outer_transform(size):
    # A large one could not be watched, so that grad of grad failed; a write into it was seen.
    at = np.linspace(1.0, 2.0, size)

    def by_writes(x):
        c = x * 1.0

        def inner(y):
            total = np.sum(np.sin(y) * c)
            c[0] = 5.0
            return total * np.sum(y * c)

        return np.sum(cr.grad(inner)(at))

    def by_copies(x):
        c = x * 1.0
        d = x * 1.0
        d[0] = 5.0
        return np.sum(cr.grad(lambda y: np.sum(np.sin(y) * c) * np.sum(y * d))(at))

    x = np.linspace(0.5, 1.5, size)
    np.testing.assert_allclose(cr.grad(by_writes)(x), cr.grad(by_copies)(x), rtol=1e-13)
    direction = np.cos(x)
    assert cr.jvp(by_writes, (x,), (direction,))[1] == pytest.approx(
        cr.jvp(by_copies, (x,), (direction,))[1]
    )


# ---- how large arrays are compared -----------------------------------------------------------


@pytest.mark.parametrize("position", [0, 1, 777, LARGE - 1])
def test_one_entry_that_changed_is_noticed(position, kept_as_they_are):
    def f(x):
        c = np.ones(LARGE)
        y = np.sum(x * c)
        c[position] = 4.0
        return y

    for _ in range(5):
        with pytest.raises(cr.MutationError):
            cr.grad(f)(np.ones(LARGE))


def reversed_in_place(c):
    c[:] = c[::-1].copy()


def two_swapped(c):
    c[[3, 4]] = c[[4, 3]]


def rows_swapped(c):
    rows = c[: c.size // 1024 * 1024].reshape(-1, 1024)
    rows[[0, 2]] = rows[[2, 0]]


@pytest.mark.parametrize("change", [np.ndarray.sort, reversed_in_place, two_swapped, rows_swapped])
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int8])
def test_entries_that_changed_places_are_noticed(change, dtype):
    c = np.random.default_rng(0).permutation(20_000).astype(dtype)
    before = watch.digest(c)
    assert watch.digest(c.copy()) == before
    change(c)
    assert watch.digest(c) != before


CHANGES = {
    "negated": lambda c, i, j: np.negative(c[i::j], out=c[i::j]),
    "columns negated": lambda c, i, j: np.negative(c[:, i::j], out=c[:, i::j]),
    "two columns swapped": lambda c, i, j: c.__setitem__(
        (slice(None), [i, i + j]), c[:, [i + j, i]].copy()
    ),
    "two rows swapped": lambda c, i, j: c.__setitem__([i, i + j], c[[i + j, i]].copy()),
    "two signs": lambda c, i, j: np.negative(c[i : i + j + 1 : j, 0], out=c[i : i + j + 1 : j, 0]),
    "rolled": lambda c, i, j: c.__setitem__(..., np.roll(c, j, axis=i % 2)),
    "scaled": lambda c, i, j: np.multiply(c[i:], 2.0**-j, out=c[i:]),
    "moved": lambda c, i, j: np.add(c[:, i : i + j], 1.0, out=c[:, i : i + j]),
    "cleared": lambda c, i, j: c[i].fill(0.0),
    "sorted": lambda c, i, j: c.sort(axis=i % 2),
}


DRAWN = np.random.default_rng(0).normal(size=1024 * 1000 + 7)


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("accelerated", [True, False])
@given(
    rows=st.sampled_from([64, 128, 65, 1000]),
    columns=st.sampled_from([16, 64, 1024, 100, 1021, 1019]),
    i=st.integers(0, 7),
    j=st.sampled_from([1, 2, 4, 8, 3]),
)
def test_no_change_goes_unnoticed(change, accelerated, rows, columns, i, j):
    c = DRAWN[i : i + rows * columns].reshape(rows, columns).copy()
    with pytest.MonkeyPatch.context() as patch:
        if not accelerated:
            patch.setattr(watch, "numbers", None)
        before, bits = watch.digest(c), c.tobytes()
        CHANGES[change](c, i, j)
        assert (watch.digest(c) == before) == (c.tobytes() == bits)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # NumPy 2.5 will not have it any more
@pytest.mark.parametrize("accelerated", [True, False])
def test_a_shape_that_is_set_in_place_is_noticed(accelerated, monkeypatch):
    if not accelerated:
        monkeypatch.setattr(watch, "numbers", None)
    c = np.ones((200, 100))
    before = watch.digest(c)
    c.shape = (100, 200)
    assert watch.digest(c) != before


def test_an_array_that_is_used_again_is_copied_once():
    c = np.ones(LARGE)
    held = watch.Watch()
    first = held.hold(c)
    assert held.hold(c) is first is not c
    c[7] = np.nan
    second = held.hold(c)
    assert second is not first
    assert held.hold(c) is second


def test_a_read_only_array_is_kept_as_it_is():
    c = np.ones(LARGE)
    assert watch.may_change(c)
    assert watch.may_change(np.broadcast_to(c, (2, LARGE)))
    c.flags.writeable = False
    assert not watch.may_change(c)
    assert not watch.may_change(c[1:])
    assert watch.Watch().hold(c) is c
    assert not watch.may_change(np.frombuffer(bytes(8)))
