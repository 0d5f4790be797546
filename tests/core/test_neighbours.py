"""Other array libraries: wrapped around traced arrays, and under them."""

import numpy as np
import pytest

import chainrules as cr

X = np.array([0.5, 1.0, 2.0])


def test_a_traced_array_inside_an_xarray():
    xarray = pytest.importorskip("xarray")

    def f(x):
        a = xarray.DataArray(x, dims=("t",), coords={"t": [0, 1, 2]})
        return (np.sin(a) * 2 + a**2 - a / 3).data.sum()

    expected = 2 * np.cos(X) + 2 * X - 1 / 3
    np.testing.assert_allclose(cr.grad(f)(X), expected)
    np.testing.assert_allclose(cr.jvp(f, (X,), (X,))[1], expected @ X)
    np.testing.assert_allclose(cr.hessian(f)(X), np.diag(2 - 2 * np.sin(X)))


def test_an_xarray_gets_its_turn_beside_a_traced_number():
    xarray = pytest.importorskip("xarray")
    a = xarray.DataArray(np.arange(3.0), dims=("t",))

    def f(x):
        left, right = x[0] * a, a * x[1]
        assert isinstance(left, xarray.DataArray)
        assert isinstance(right, xarray.DataArray)
        return (left + right).data.sum()

    np.testing.assert_array_equal(cr.grad(f)(X), [3.0, 3.0, 0.0])


def test_dask_arrays_stay_lazy():
    dask_array = pytest.importorskip("dask.array")
    x = dask_array.from_array(np.arange(4.0), chunks=2)

    def f(x):
        return np.sum(np.sin(x) * x)

    y, pullback = cr.vjp(f, x)
    (xbar,) = pullback(1.0)
    _, ydot = cr.jvp(f, (x,), (x,))
    for lazy in (y, xbar, ydot):
        assert isinstance(lazy, dask_array.Array)
    plain = np.arange(4.0)
    np.testing.assert_allclose(np.asarray(xbar), np.sin(plain) + plain * np.cos(plain))
    assert float(ydot) == pytest.approx(float(np.asarray(xbar) @ plain))


@pytest.mark.parametrize(
    "f",
    [
        lambda a, x: np.sum(x * a + a * x[0]),
        lambda a, x: np.sum(x @ a.T),
        lambda a, x: np.sum(np.dot(a, x)),
        lambda a, x: np.sum(np.tensordot(a, x, 1)),
        lambda a, x: np.sum(np.einsum("ij,j->i", a, x)),
        lambda a, x: np.sum(np.where(a > 1, x, 0.0)),
        lambda a, x: np.sum(np.concatenate([a[0], x])),
    ],
)
def test_a_traced_array_beside_a_dask_array(f):
    dask_array = pytest.importorskip("dask.array")
    a = np.arange(6.0).reshape(2, 3)
    lazy = dask_array.from_array(a, chunks=2)
    expected = cr.grad(lambda x: f(a, x))(X)
    np.testing.assert_allclose(expected, np.asarray(cr.grad(lambda x: f(lazy, x))(X)))
    ydot = cr.jvp(lambda x: f(lazy, x), (X,), (X,))[1]
    np.testing.assert_allclose(expected @ X, np.asarray(ydot))


@pytest.mark.parametrize(
    "f",
    [
        lambda da, a, x: np.sum(a @ x),
        lambda da, a, x: np.sum(a * x),
        lambda da, a, x: np.sum(a + x),
        lambda da, a, x: np.sum(a**x),
        lambda da, a, x: np.sum(np.matmul(a, x)),
        lambda da, a, x: np.sum(a.dot(x)),
        lambda da, a, x: np.sum(da.tensordot(a, x, 1)),
        lambda da, a, x: np.sum(da.map_blocks(lambda a, x: a * x, a, x)),
        lambda da, a, x: np.sum(da.from_array(x)),
        lambda da, a, x: np.sum(np.where(a > x, 1.0, 0.0)),
    ],
)
def test_a_dask_array_before_a_traced_one_is_refused(f):
    """It takes what says that it is an ndarray for one, and hides it in a task of its own."""
    dask_array = pytest.importorskip("dask.array")
    lazy = dask_array.from_array(np.arange(6.0).reshape(2, 3), chunks=2)
    for transform in (cr.grad, cr.jacfwd, cr.hessian):
        with pytest.raises(cr.LostDerivativeError, match="put the traced array first") as caught:
            transform(lambda x: f(dask_array, lazy, x))(X)
        assert "test_neighbours.py" in str(caught.value)


class Length:
    """A number with a unit, which knows what to do beside an array."""

    __array_ufunc__ = None

    def __init__(self, metres):
        self.metres = metres

    def __rmul__(self, other):
        return Length(other * self.metres)


def test_a_foreign_type_gets_its_turn():
    assert cr.grad(lambda x: (x * Length(3.0)).metres)(2.0) == 3.0
    np.testing.assert_array_equal(cr.grad(lambda x: np.sum((x * Length(3.0)).metres))(X), 3.0)
    assert cr.jvp(lambda x: (x * Length(3.0)).metres, (2.0,), (1.0,))[1] == 3.0
    with pytest.raises(TypeError):
        cr.grad(lambda x: x + Length(3.0))(2.0)
