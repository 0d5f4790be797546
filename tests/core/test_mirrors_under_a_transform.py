"""Mirrors while a transform runs: what nothing traced came into is NumPy's, as a buffer if new."""

import numpy
import pytest

import chainrules as cr
from chainrules import numpy as np

X = numpy.arange(6.0).reshape(2, 3)
GIVEN = {
    "C": X, "F": numpy.asfortranarray(X), "T": X.T, "strided": X[:, ::2], "0-d": numpy.array(2.0),
    "float": 2.0, "list": [1.0, 2.0], "nested": [[1.0, 2.0], [3.0, 4.0]], "ints": X.astype(int),
    "float32": X.astype(numpy.float32), "empty": numpy.zeros((0, 3)),
    "masked": numpy.ma.array(X, mask=X > 3), "matrix": X.view(numpy.matrix), "bytes": bytearray(8),
}  # fmt: skip
MAKERS = {
    "array": lambda np, x: np.array(x),
    "array without a copy": lambda np, x: np.array(x, copy=None, ndmin=3),
    "array of a class": lambda np, x: np.array(x, subok=True),
    "array in F": lambda np, x: np.array(x, order="F", dtype=float),
    "asarray": lambda np, x: np.asarray(x),
    "asarray in F": lambda np, x: np.asarray(x, order="F"),
    "asanyarray": lambda np, x: np.asanyarray(x),
    "ascontiguousarray": lambda np, x: np.ascontiguousarray(x),
    "asfortranarray": lambda np, x: np.asfortranarray(x),
    "require": lambda np, x: np.require(x, requirements=["C", "O", "W"]),
    "asarray_chkfinite": lambda np, x: np.asarray_chkfinite(x),
    "full": lambda np, x: np.full((2, *numpy.shape(x)), x),
}


def seen(y):
    y = cr.value(y) if isinstance(y, numpy.ndarray) or cr.is_traced(y) else y
    return type(y), y.dtype, y.shape, y.strides, y.tolist()


@pytest.mark.parametrize("given", GIVEN)
@pytest.mark.parametrize("maker", MAKERS)
def test_plain_arguments(maker, given):
    make, x = MAKERS[maker], GIVEN[given]
    if given == "bytes" and maker == "asarray_chkfinite":
        pytest.skip("bytes are finite in no sense")
    expected, found = make(numpy, x), []

    def f(t):
        y = make(np, x)
        found.append((seen(y), y is x, numpy.shares_memory(numpy.asarray(x), cr.value(y))))
        return t

    cr.grad(f)(1.0)
    shares = numpy.shares_memory(numpy.asarray(x), expected)
    assert found == [(seen(expected), expected is x, shares)]
    assert seen(make(np, x)) == seen(expected)


@pytest.mark.parametrize("given", ["C", "F", "T", "0-d", "float", "float32", "empty"])
@pytest.mark.parametrize("maker", MAKERS)
def test_traced_arguments(maker, given):
    make, x = MAKERS[maker], GIVEN[given]
    expected = make(numpy, x)
    weights = numpy.cos(numpy.arange(expected.size)).reshape(expected.shape)
    y, pullback = cr.vjp(lambda x: make(np, x), x)
    assert (y.dtype, y.shape, y.strides) == (expected.dtype, expected.shape, expected.strides)
    numpy.testing.assert_array_equal(y, expected)
    xdot = numpy.ones(numpy.shape(x), numpy.asarray(x).dtype)[()]
    moved = cr.jvp(lambda x: make(np, x), (x,), (xdot,))
    numpy.testing.assert_array_equal(moved[1], make(numpy, xdot))
    (xbar,) = pullback(weights.astype(expected.dtype))
    numpy.testing.assert_allclose(numpy.sum(xbar), numpy.sum(weights), rtol=1e-5, atol=1e-6)


RANGES = [
    lambda np, a: np.arange(a), lambda np, a: np.arange(a, 9.0), lambda np, a: np.arange(0, a, 0.5),
    lambda np, a: np.arange(stop=a), lambda np, a: np.arange(a, stop=9.0, step=2),
    lambda np, a: np.arange(start=a, stop=9.0), lambda np, a: np.arange(1, 9, step=a),
    lambda np, a: np.arange(a, 9, dtype=numpy.float32), lambda np, a: np.arange(9.0, 1.0, -a),
    lambda np, a: np.arange(a, 9.0, dtype=None),
]  # fmt: skip


@pytest.mark.parametrize("k", range(len(RANGES)))
def test_arange_takes_its_arguments_by_position_and_by_name(k):
    make, a = RANGES[k], 2.25
    y, step = make(numpy, a), 1e-3
    assert make(np, a).dtype == y.dtype
    found, moved = cr.jvp(lambda a: make(np, a), (a,), (1.0,))
    numpy.testing.assert_array_equal(found, y)
    assert found.dtype == y.dtype
    slopes = (make(numpy, a + step).astype(float) - make(numpy, a - step)) / (2 * step)
    numpy.testing.assert_allclose(moved, slopes, rtol=1e-3, atol=1e-3 if y.itemsize < 8 else 1e-8)


def test_names_of_one_function_are_one_function():
    assert np.concat is np.concatenate
    assert np.permute_dims is np.transpose
    y = cr.grad(lambda x: numpy.sum(np.concat([[x, 1.0], [2 * x]], axis=None) ** 2))(3.0)
    assert y == 30.0


def test_grids_may_be_filled():
    places = numpy.array([1.0, 2.0])

    def f(t):
        x, y = np.meshgrid(places, places)
        z = 2 * y
        z += t
        x[0] = t
        return np.sum(z) + np.sum(x * x)

    assert cr.value_and_grad(f)(2.0) == (33.0, 12.0)
    assert cr.grad(lambda t: np.sum(np.meshgrid(places * t, np.zeros(2))[0]))(2.0) == 6.0
    shown, _ = cr.jvp(lambda t: np.meshgrid(places, places, copy=False), (1.0,), (1.0,))
    assert [y.strides for y in shown] == [(0, 8), (8, 0)]


LISTS = {
    "select of an array and a number": lambda np, x, y: np.select([x > 1, x > 0], [x, y], 2 * y),
    "select of numbers": lambda np, x, y: np.select([x > 1, x > 0], [y, y * x]),
    "choose of an array and a number": lambda np, x, y: np.choose([0, 1, 0, 1], [x, y]),
    "histogramdd of a list of variables": lambda np, x, y: np.histogramdd([x, y * x], 3)[1][1],
    "histogramdd of lists of numbers": (
        lambda np, x, y: np.histogramdd([[y, 1.0], [2.0, y]], 2)[1][0]
    ),
    "histogram2d with a list and a number": (
        lambda np, x, y: np.histogram2d(x, y * x, bins=[[0.0, 1.0, 2.0], 3])[2]
    ),
}  # fmt: skip


@pytest.mark.parametrize("program", LISTS.values(), ids=LISTS)
def test_a_list_of_arrays_is_no_array(program):
    x, y, h = numpy.array([0.3, 1.7, -0.4, 1.1]), 0.6, 1e-6
    expected = program(numpy, x, y)
    (found,), (ydot,) = cr.jvp(lambda x, y: (program(np, x, y),), (x, y), (x, 1.0))
    numpy.testing.assert_array_equal(expected, found)
    up, down = (program(numpy, x + t * x, y + t) for t in (h, -h))
    numpy.testing.assert_allclose((up - down) / (2 * h), ydot, rtol=1e-7, atol=1e-8)
    ybar = numpy.ones_like(found)
    xbar, number_bar = cr.vjp(lambda x, y: program(np, x, y), x, y)[1](ybar)
    assert numpy.sum(xbar * x) + number_bar == pytest.approx(numpy.sum(ydot), abs=1e-12)
