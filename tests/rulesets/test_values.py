"""Values, order of memory and views of single functions, beside NumPy's own."""

import numpy as np
import pytest

import chainrules as cr
from chainrules.rules.tracing.level import value
from chainrules.testing import check_grad

X = np.arange(6.0).reshape(2, 3) + 1


def assert_same_value(f, *xs):
    expected = f(*xs)
    np.testing.assert_array_equal(expected, cr.vjp(f, *xs)[0])
    np.testing.assert_array_equal(expected, cr.jvp(f, xs, xs)[0])


@pytest.mark.parametrize(("indices", "axis"), [
    ([[0]], 0), ([[1]], 1), ([[0, 1, 0]], 0), ([[2], [0]], 1), ([[-1]], 1), ([4, 0], None),
])  # fmt: skip
def test_put_along_axis_with_indices_that_broadcast(indices, axis):
    def f(x, v):
        y = x + 0 * v
        np.put_along_axis(y, np.array(indices), v, axis=axis)
        return np.sum(y**2 * X)

    assert_same_value(f, X, 9.0)
    check_grad(f, X, 1.3)


def test_piecewise_of_a_0d_array_gives_an_array():
    seen = []

    def f(x):
        y = np.piecewise(x, [x > 0], [lambda t: t * t, 0.0])
        seen.append(type(value(y)))
        return y

    assert cr.grad(f)(np.array(2.0)) == 4.0
    assert seen == [np.ndarray]


def test_piecewise_in_the_order_of_its_array():
    def f(x):
        y = np.piecewise(x.T, [x.T > 3], [np.sin, np.cos])
        y.ravel(order="K")[0] = 5.0  # a view of what lies in any order
        return np.sum(y)

    assert np.piecewise(X.T, [X.T > 3], [np.sin, np.cos]).flags.f_contiguous
    seen = []
    cr.vjp(lambda x: seen.append(value(np.piecewise(x.T, [x.T > 3], [np.sin, np.cos]))) or 0.0, X)
    assert seen[0].flags.f_contiguous


def test_gradient_in_the_order_of_its_array():
    def f(x):
        y = np.gradient(x * x, axis=0)
        y.reshape(-1)[0] = 10.0
        return np.sum(y)

    assert_same_value(f, X)
    check_grad(f, X)


def test_reduce_over_one_row_is_a_copy_of_it():
    def f(x):
        y = x * 1.0
        row = cr.reduce(lambda p, q: p + q, y)
        row *= 3.0
        return np.sum(y)

    assert_same_value(f, X[:1])
    with pytest.raises(TypeError, match="empty"):
        cr.reduce(np.add, [])


def test_mean_of_nothing_has_a_gradient_of_nothing():
    nothing = np.zeros((0, 3))
    for f in (np.mean, lambda x: np.sum(np.mean(x, axis=0))):
        with np.errstate(all="ignore"), pytest.warns(RuntimeWarning, match="empty slice"):
            found = cr.grad(f)(nothing)
        assert found.shape == (0, 3)


def test_choose_can_be_written_into():
    def f(x):
        y = np.choose(np.array([0, 1]), [x, 2 * x])
        y[0] = 1.0
        return np.sum(y)

    np.testing.assert_array_equal([0, 2], cr.grad(f)(np.ones(2)))


def test_windows_are_those_of_numpy_at_any_level():
    windows = np.lib.stride_tricks.sliding_window_view

    def f(x):
        return np.sum(windows(x, (2, 2)) ** 3 * np.arange(4.0).reshape(2, 2))

    assert_same_value(f, X)
    check_grad(f, X)
    slow = np.stack([cr.hvp(f, (X,), (e.reshape(2, 3),)) for e in np.eye(6)])
    np.testing.assert_allclose(slow.reshape(6, 6), cr.hessian(f)(X).reshape(6, 6))
    np.testing.assert_allclose(cr.jacrev(lambda x: windows(x, 2, axis=1))(X),
                               cr.jacfwd(lambda x: windows(x, 2, axis=1))(X))  # fmt: skip


@pytest.mark.filterwarnings("ignore:future versions will not", "ignore:Numpy has detected")
@pytest.mark.parametrize("shape", [(2,), (1, 2), (1, 1, 2)])
def test_broadcast_arrays_are_written_into_where_each_entry_is_one(shape):
    def f(x):
        x = x * 1.0
        y, _ = np.broadcast_arrays(x, np.ones(shape))
        y[..., 0] = x[1] ** 2
        return np.sum(y * [3.0, 2.0]) + x[0]

    x = np.array([1.5, 0.7])
    assert cr.jvp(f, (x,), (x,))[0] == cr.vjp(f, x)[0] == f(x)
    for found in (cr.grad(f)(x), cr.jacfwd(f)(x), cr.jacobian(f)(x)):
        np.testing.assert_allclose(found, [0.0, 8 * x[1] + 2.0], rtol=1e-14)


def many_by_broadcast_arrays(x):
    y, _ = np.broadcast_arrays(x, np.ones((2, 3)))
    y[0, 0] = 1.0
    return np.sum(y)


def many_by_meshgrid(x):
    y, _ = np.meshgrid(x, x, copy=False)
    np.fill_diagonal(y, 1.0)
    return np.sum(y)


@pytest.mark.parametrize("f", [many_by_broadcast_arrays, many_by_meshgrid])
@pytest.mark.parametrize("d", [cr.grad, cr.jacfwd, cr.jacobian, cr.compile])
def test_an_entry_that_is_many_at_once_is_not_written_into(d, f):
    with pytest.raises(ValueError, match=r"read-only\n.*copy"):
        d(cr.grad(f) if d is cr.compile else f)(np.ones(3))
