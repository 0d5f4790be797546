"""Values that were not NumPy's, without a word."""

import sys
import warnings

import numpy as np
import pytest
from right_or_refused import may_refuse, same

import chainrules as cr
from chainrules.rules.tracing.views import copied


def test_ravel_of_a_transposed_copy_is_a_view():
    x = np.array([[1.0, 2.0], [3.0, 4.0]])

    def f(x):
        y = x.T.copy()
        z = y.ravel()
        z *= 3.0
        return np.sum(y)

    ours, right = cr.value_and_grad(f)(x)[0], f(x.copy(order="A"))
    same(right, ours)


@may_refuse
def test_write_through_asarray():
    x = np.array([1.0, 2.0, 3.0])

    def f(x):
        v = x * 1.0
        w = np.asarray(v)
        w *= 2
        return np.sum(v**2)

    ours, right = cr.value_and_grad(f)(x)[0], f(x.copy(order="A"))
    same(right, ours)


@may_refuse
def test_imag_of_an_array_of_complex_numbers():
    f = lambda x: np.sum(np.array([x * 1j, x]).imag * 3.0)
    ours, right = cr.value_and_grad(f)(2.0)[0], f(2.0)
    same(right, ours)


@may_refuse
def test_imag_of_asarray():
    x = np.ones(2)
    f = lambda x: np.sum(np.asarray(x * 1j).imag * 3.0)
    ours, right = cr.value_and_grad(f)(x)[0], f(x.copy(order="A"))
    same(right, ours)


@may_refuse
def test_real_of_asarray_in_forward_mode():
    f = lambda x: np.sum(np.real(np.asarray(x * 1j + x)))
    ours, right = cr.jvp(f, (np.ones(2),), (np.ones(2),))[0], f(np.ones(2))
    same(right, ours)


@may_refuse
def test_sliding_window_view_is_a_view():
    x = np.array([1.0, 2.0, 3.0])

    def f(x):
        v = x * 1.0
        w = np.lib.stride_tricks.sliding_window_view(v, 2)
        v[0] = 9.0
        return np.sum(w * w)

    ours, right = cr.value_and_grad(f)(x)[0], f(x.copy(order="A"))
    same(right, ours)


def test_conj_of_a_real_array_is_the_array():
    x = np.array([1.0, 2.0, 3.0])

    def f(x):
        v = x * 1.0
        w = v.conj()
        w[0] = 9.0
        return np.sum(v * v)

    ours, right = cr.value_and_grad(f)(x)[0], f(x.copy(order="A"))
    same(right, ours)


@may_refuse
def test_shuffle_of_rows():
    x = np.arange(12.0).reshape(6, 2)

    def f(x):
        v = x * 1.0
        np.random.default_rng(0).shuffle(v)
        return np.sum(v)

    ours, right = cr.value_and_grad(f)(x)[0], f(x.copy(order="A"))
    same(right, ours)


@may_refuse
def test_one_array_given_as_two_arguments():
    def f(a, b):
        a[0] = 5.0
        return np.sum(a * b)

    x = np.array([1.0, 2.0, 3.0])
    y = x.copy()
    ours, right = cr.value_and_grad(f)(x, x)[0], f(y, y)
    same(right, ours)


def test_outer_of_float32_and_a_number_stays_float32():
    f = lambda x, c: np.add.outer(x, c)
    x = np.ones(2, np.float32)
    ours, right = str(cr.vjp(f, x, 1.5)[0].dtype), str(f(x, 1.5).dtype)
    same(right, ours)


def test_out_given_by_position():
    def f(x):
        y, total = np.zeros_like(x), np.zeros_like(x[0])
        np.cumsum(x, 0, None, y)
        np.clip(y, 0.0, 1.5, y)
        np.sum(y, 0, None, total)
        np.fix(x, x)
        return np.sum(total * total) + np.sum(x)

    x = np.array([[1.4, 0.6], [0.3, 0.2]])
    kept = x.copy()
    value, gradient = cr.value_and_grad(f)(x)
    same(f(x.copy()), value)
    same(kept, x)
    same(cr.jacfwd(f)(x), gradient)


def test_writes_into_views_of_what_np_asarray_made_are_refused():
    """``np.broadcast_arrays`` gives a view of the object array, which a write would not reach."""

    def f(x):
        a = np.asfortranarray(x) * 2.0
        b = np.broadcast_arrays(a, x)[0]
        b.sort()
        return np.ravel(a)

    x = np.array([[3.0, 1.0], [2.0, 0.5]])
    with pytest.raises(cr.MutationError):
        cr.jvp(f, (x,), (x,))


def test_copyto_drops_leading_axes_as_an_assignment():
    def f(x):
        y = np.zeros(2, like=x)
        np.copyto(y, x, where=np.array([True, False]))
        return y

    x = np.array([[1.0, 2.0]])
    for given, found in zip(([1.0, 0.0], [1.0, 0.0]), cr.jvp(f, (x,), (x,)), strict=True):
        np.testing.assert_array_equal(given, found)


def test_nan_to_num_of_an_array_without_axes():
    x = np.array(np.nan)

    def f(x):
        y = x[..., None][0, ...]
        return np.nan_to_num(y, copy=False, nan=3.0), y

    for right, ours in zip(f(x.copy()), cr.jvp(f, (x,), (x,))[0], strict=True):
        assert type(right) is type(ours)
        assert right == ours
    assert type(cr.jvp(np.nan_to_num, (x,), (x,))[0]) is type(np.nan_to_num(x))


def test_edges_of_no_numbers():
    x = np.zeros(0)
    np.testing.assert_array_equal(np.histogram_bin_edges(x), cr.vjp(np.histogram_bin_edges, x)[0])


def test_average_along_a_list_of_axes():
    x = np.arange(6.0).reshape(2, 3)
    assert cr.vjp(lambda x: np.average(x, [0, -1]), x)[0] == 2.5


def test_medians_of_empty_rows():
    x = np.zeros((3, 0))
    for f in (np.median, np.nanmedian):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            y, pullback = cr.vjp(lambda x, f=f: f(x, axis=(-1,)), x)
            np.testing.assert_array_equal(f(x, axis=-1), y)
            assert pullback(np.ones(3))[0].shape == (3, 0)


@pytest.mark.parametrize("ufunc", [np.mod, np.subtract, np.divide, np.add, np.maximum])
def test_a_ufuncs_reduction_of_one_row_is_no_view_of_it(ufunc):
    def f(x):
        y = ufunc.reduce(x)
        x[...] = 0.5
        return y

    x = np.array([[1.3, 0.3, 0.8]])
    same(f(x.copy()), cr.vjp(f, x)[0])
    same(f(x.copy()), cr.jvp(f, (x,), (x,))[0])


@pytest.mark.parametrize("x", [0.7, np.float64(0.7), np.float32(0.7), np.array(0.7)], ids=repr)
def test_an_array_of_one_number_is_an_array(x):
    for f in (lambda x: np.asarray(x * x), np.array, np.asanyarray):
        right = f(x)
        for ours in (cr.vjp(f, x)[0], cr.jvp(f, (x,), (x,))[0], cr.linearize(f, x)[0]):
            same(right, ours)
            assert (type(right), right.dtype) == (type(ours), ours.dtype)


@pytest.mark.parametrize("x", [0.7, np.float64(0.7), np.array(0.7)], ids=repr)
def test_trim_zeros_of_one_number_is_the_number(x):
    y = cr.vjp(np.trim_zeros, x)[0]
    assert (type(y), y) == (type(np.trim_zeros(x)), np.trim_zeros(x))
    assert cr.jvp(lambda x: np.trim_zeros(x) * 2.0, (x,), (x,))[1] == 1.4


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("f", [np.cov, np.corrcoef])
def test_covariances_of_no_variables(f):
    x = np.zeros((3, 0))
    for y in (None, [0, -1]):
        right = f(x, y, rowvar=False)
        same(right, cr.vjp(lambda x, y=y: f(x, y, rowvar=False), x)[0])
        same(right, cr.jvp(lambda x, y=y: f(x, y, rowvar=False), (x,), (x,))[0])


def test_what_fortran_order_makes_of_a_traced_array_lies_in_it():
    """An array of objects heals into the order of memory that it has, and sums keep it."""

    def orders(x):
        a = np.asfortranarray(np.reshape(x, (2, 3)))
        b = np.reshape(x, (3, 2)).T
        return [y.flags.f_contiguous for y in (a + b, a * 1.0, np.sin(a + b))]

    seen = []
    x = np.arange(6.0)
    cr.jvp(lambda x: [seen.append(orders(x)), x][1], (x,), (x,))
    cr.vjp(lambda x: [seen.append(orders(x)), x][1], x)
    assert seen == [orders(x), orders(x)] == [[True] * 3] * 2


def test_procrustes_of_points_on_a_line_is_the_one_that_scipy_finds():
    spatial = pytest.importorskip("chainrules.scipy.spatial")

    def f(x):
        a = np.asfortranarray(np.outer(x[:2], x[3:]))
        b = (x[:3] * np.eye(3) + 2.0 * np.eye(3) - 0.3).T
        return spatial.procrustes(a.T, (a + b[:2]).T)[1]

    x = np.array([0.73, 1.33, 0.36, 1.0, 1.25, 1.57])
    np.testing.assert_allclose(cr.jvp(f, (x,), (x,))[0], f(x))

    def size(x):  # which the turn does not change
        return np.sum(f(x) ** 2)

    ydot = cr.jvp(size, (x,), (x,))[1]
    np.testing.assert_allclose(ydot, (size(1.000001 * x) - size(0.999999 * x)) / 2e-6, rtol=1e-5)


def test_functions_of_scipy_heal_arrays_of_traced_objects():
    ndimage = pytest.importorskip("chainrules.scipy.ndimage")

    def f(x):
        a = np.asfortranarray(np.outer(x[:2], x[3:]))  # which asks only for np.asarray
        return ndimage.affine_transform(a.real, [[0.9, 0.1], [0.0, 1.1]], order=1)

    x = np.array([0.68, 0.62, 1.28, 0.91, 1.36, 0.79])
    y, ydot = cr.jvp(f, (x,), (x,))
    np.testing.assert_array_equal(f(x), y)
    np.testing.assert_allclose(ydot, 2 * f(x))


def test_a_copy_of_broadcast_objects_crashed_python():
    class Number:
        def __init__(self, x):
            self.x = x

        def __mul__(self, other):
            return self.x * other

    q, x = Number(2.0), np.array([1.3, 2.1])
    for _ in range(20):
        filled = np.full(64, 0x4141414141414141)  # memory that is given out again
        del filled
        compiled = cr.compile(lambda x: np.broadcast_to(q, (2, 2)) * x, captured="freeze")
        np.testing.assert_array_equal(np.asarray(compiled(x), float), [2 * x, 2 * x])
    before = sys.getrefcount(q)
    for _ in range(3):
        copied(np.broadcast_to(np.array(q, object), (2, 2)))
    assert before == sys.getrefcount(q)


@may_refuse
@pytest.mark.parametrize("transform", ["jvp", "vjp", "vmap", "compile"])
@pytest.mark.parametrize(
    "call",
    [
        lambda b, x: np.broadcast_arrays(b, x)[0],
        lambda b, x: np.atleast_2d(b, x)[0],
        lambda b, x: np.meshgrid(b, x, copy=False)[0],
    ],
    ids=["broadcast_arrays", "atleast_2d", "meshgrid"],
)
@pytest.mark.parametrize("several", [False, True])
def test_an_object_array_is_written_to_after_a_view_of_it(several, call, transform):
    def f(x):
        b = np.array([x, x] if several else x)
        c = call(b, x)
        b.ravel()[0] = 0.0
        return np.sum(c * c)

    x = np.float64(1.5)
    ours = {
        "jvp": lambda: cr.jvp(f, (x,), (x,))[0],
        "vjp": lambda: cr.vjp(f, x)[0],
        "vmap": lambda: cr.vmap(f)(np.array([x, 2 * x]))[0],
        "compile": lambda: cr.compile(f)(x),
    }[transform]
    same(f(x), ours())


@pytest.mark.parametrize("index", [slice(None, None, 2), [0, 0], 0, -1, slice(3, 3)], ids=str)
def test_flat_of_an_array_without_axes(index):
    def f(x):
        y = np.multiply(x, 2.0, out=np.empty_like(x))
        y.flat[index] = x.flat[0] * 3
        return y * np.sum(x.flat[index])

    x = np.array(2.0)
    same(f(x), cr.vjp(f, x)[0])
    same(f(x), cr.jvp(f, (x,), (x,))[0])
    same(cr.jacfwd(f)(x), cr.jacrev(f)(x))


def test_the_weights_that_an_average_returns():
    def f(x):
        return np.average(x, axis=0, weights=[1.0, 2.0, 3.0], returned=True)[1]

    for x in (np.ones(3), np.ones((3, 2))):
        same(f(x), cr.vjp(f, x)[0])
        assert type(cr.vjp(f, x)[0]) is type(f(x))
    assert cr.vjp(f, x)[0].flags.writeable


@pytest.mark.parametrize("f", [np.cov, np.corrcoef])
def test_covariances_are_numpys_to_the_last_bit(f):
    """A conjugate was a copy, and BLAS rounds a product with a copy otherwise."""
    for n in (41, 62, 139):
        x = np.random.default_rng(n).normal(size=n)

        def g(x):
            return f(x * 1.02 + np.roll(x, 3), x)

        np.testing.assert_array_equal(g(x), cr.jvp(g, (x,), (x,))[0])
        np.testing.assert_array_equal(g(x), cr.vjp(g, x)[0])
