"""Reductions over every set of axes against NumPy's, and how exact sums are."""

import itertools
import math

import numpy as np
import pytest

pytest.importorskip("llvmlite")

from native_interpreter import REDUCE, build, op

from chainrules.compiling.native import Input, Output, available
from chainrules.compiling.native import kernel as kernels

pytestmark = pytest.mark.skipif(not available(), reason="no native code here")

SHAPES = [
    (), (1,), (5,), (8,), (33,), (1000,), (0,), (3, 4), (4, 1), (2, 9), (17, 130), (0, 3), (3, 0),
    (2, 3, 4), (5, 1, 9), (9, 2, 1), (3, 0, 2), (4, 17, 12),
]  # fmt: skip


def subsets(rank):
    return [s for k in range(rank + 1) for s in itertools.combinations(range(rank), k)]


def strides_of(x):
    return tuple(s // x.itemsize for s in x.strides)


def reduced_strides(y, axes, rank):
    """Of the result ``y``, per axis of the iteration shape."""
    left = iter(strides_of(y))
    return tuple(0 if k in axes else next(left) for k in range(rank))


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("name", REDUCE)
def test_every_set_of_axes(shape, name):
    if name in ("max", "min") and 0 in shape:
        pytest.skip("of nothing there is none")
    rng = np.random.default_rng(3)
    x = np.asarray(rng.normal(size=shape))
    if name in ("any", "all"):
        x = np.asarray(rng.random(shape) < (0.9 if name == "all" else 0.1))
    dtype = "b1" if x.dtype == bool else "f8"
    for axes in subsets(len(shape)):
        expected = np.asarray(REDUCE[name](x, axis=axes))
        y = np.full(expected.shape, 7, x.dtype)
        output = Output(0, reduced_strides(y, axes, len(shape)), name, dtype)
        build(shape, [Input(dtype, strides_of(x))], [], [output])(x, y)
        np.testing.assert_allclose(y, expected, rtol=1e-13, atol=1e-13)


@pytest.mark.parametrize("dtype", ["f4", "i8", "i4"])
@pytest.mark.parametrize("name", REDUCE)
def test_of_other_kinds(name, dtype):
    for shape in ((1000,), (0, 3), (17, 130), (4, 17, 12)):
        x = np.random.default_rng(3).integers(-9, 9, size=shape).astype(dtype)
        x = np.sign(2 * x + 1) if name == "prod" else x
        for axes in subsets(len(shape)):
            if name in ("max", "min") and 0 in shape:
                continue
            truths = name in ("any", "all")
            expected = np.asarray(REDUCE[name](x, axis=axes))
            expected = expected.astype(bool if truths else dtype)
            y = np.full(expected.shape, 1, expected.dtype)
            kind = "b1" if truths else dtype
            output = Output(0, reduced_strides(y, axes, len(shape)), name, kind)
            build(shape, [Input(dtype, strides_of(x))], [], [output])(x, y)
            np.testing.assert_array_equal(expected, y)


@pytest.mark.parametrize("order", list(itertools.permutations(range(3))))
def test_of_transposed_and_reversed(order):
    x = np.random.default_rng(0).normal(size=(6, 7, 9)).transpose(order)[::-1, :, ::-2]
    for axes in subsets(3):
        expected = np.asarray(np.sum(x, axis=axes))
        y = np.empty(expected.shape)
        output = Output(0, reduced_strides(y, axes, 3), "sum")
        build(x.shape, [Input("f8", strides_of(x))], [], [output])(x, y)
        np.testing.assert_allclose(y, expected, rtol=1e-13, atol=1e-13)


@pytest.mark.parametrize("name", ["max", "min", "sum", "prod"])
@pytest.mark.parametrize("n", [1, 7, 8, 40, 1003])
def test_nan_and_infinity(name, n):
    for special in (np.nan, np.inf, -np.inf):
        for at in {0, n // 2, n - 1}:
            x = np.linspace(1, 1.1, n)
            x[at] = special
            y = np.empty(())
            build((n,), [Input("f8", (1,))], [], [Output(0, (0,), name)])(x, y)
            np.testing.assert_array_equal(y, REDUCE[name](x))


def test_truths_and_numbers_into_each_other():
    x = np.array([0.0, 0.5, np.nan, 0.0, -2.0])
    count, some, most, stored = np.empty(()), np.empty((), bool), np.empty((), bool), np.empty(5)
    ops = [op("bool", 0)]
    outputs = [
        Output(1, (0,), "sum"),
        Output(0, (0,), "any", "b1"),
        Output(1, (0,), "max", "b1"),
        Output(1, (1,)),
    ]
    build((5,), [Input("f8", (1,))], ops, outputs)(x, count, some, most, stored)
    assert (3.0, True, True) == (count, some, most)
    np.testing.assert_array_equal([0, 1, 1, 0, 1], stored)


@pytest.mark.parametrize("shape", [(), (1,), (1, 1)])
def test_any_of_one_number_is_a_truth(shape):
    strides = (0,) * len(shape)
    y = np.empty(2)
    outputs = [Output(0, strides, "any"), Output(0, strides, "all", "f8", 1, 0)]
    build(shape, [Input("f8", strides)], [], outputs)(np.full(shape, -2.5), y)
    np.testing.assert_array_equal(1, y)


def test_several_results_in_one_array_and_elementwise_beside():
    x = np.random.default_rng(0).normal(size=(20, 30))
    total, each = np.empty(32), np.empty((20, 30))
    outputs = [
        Output(1, (0, 0), "sum", "f8", 0),
        Output(0, (0, 0), "max", "f8", 1, 0),
        Output(1, (0, 1), "sum", "f8", 2, 0),
        Output(1, (30, 1)),
    ]
    build((20, 30), [Input("f8", (30, 1))], [op("exp", 0)], outputs)(x, total, each)
    np.testing.assert_allclose(each, np.exp(x), rtol=1e-15)
    np.testing.assert_allclose(total[0], np.exp(x).sum(), rtol=1e-14)
    np.testing.assert_allclose(total[1], x.max())
    np.testing.assert_allclose(total[2:], np.exp(x).sum(axis=0), rtol=1e-14)


@pytest.mark.parametrize("axes", subsets(2))
def test_of_what_is_the_same_along_an_axis(axes):
    x, c = np.arange(1.0, 6), 0.5
    y = np.empty([n for k, n in enumerate((5, 21)) if k not in axes])
    output = Output(2, reduced_strides(y, axes, 2), "sum")
    build((5, 21), [Input("f8", (1, 0)), Input("f8", None)], [op("multiply", 0, 1)], [output])(
        x, c, y
    )
    np.testing.assert_allclose(y, np.sum(np.broadcast_to(c * x[:, None], (5, 21)), axis=axes))


@pytest.mark.parametrize("width", [1, 2, 4, 8])
def test_other_widths(width, monkeypatch):
    monkeypatch.setattr(kernels, "host_width", lambda: width)
    kernels._known.clear()
    x = np.random.default_rng(0).normal(size=(7, 45))
    for axes in subsets(2):
        for name in REDUCE:
            y = np.empty([n for k, n in enumerate((7, 45)) if k not in axes])
            output = Output(1, reduced_strides(y, axes, 2), name)
            build((7, 45), [Input("f8", (45, 1))], [op("tanh", 0)], [output])(x, y)
            np.testing.assert_allclose(y, REDUCE[name](np.tanh(x), axis=axes), rtol=1e-13)
    kernels._known.clear()


def test_a_matrix_product():
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(5, 7)), rng.normal(size=(7, 11))
    y = np.empty((5, 11))
    inputs = [Input("f8", (7, 1, 0)), Input("f8", (0, 11, 1))]
    build((5, 7, 11), inputs, [op("multiply", 0, 1)], [Output(2, (11, 0, 1), "sum")])(a, b, y)
    np.testing.assert_allclose(y, a @ b, rtol=1e-13, atol=1e-14)


@pytest.mark.slow
@pytest.mark.parametrize("n", [1000, 10**5, 10**7])
def test_sums_are_as_exact_as_numpys(n):
    x = np.random.default_rng(0).random(n) ** 4 * np.random.default_rng(1).choice([1, -0.5], n)
    y = np.empty(())
    build((n,), [Input("f8", (1,))], [], [Output(0, (0,), "sum")])(x, y)
    exact = math.fsum(x)
    room = np.spacing(exact) + 2 * abs(np.sum(x) - exact)
    assert abs(float(y) - exact) <= room


@pytest.mark.parametrize("n", [1, 3, 8, 10, 17, 32, 33])
@pytest.mark.parametrize("function", ["negative", "exp"])
def test_sums_over_every_set_of_axes_beside_each_other(n, function):
    """Rows so short that all of one is in registers, with sums along and across them."""
    x = np.random.default_rng(n).normal(size=(3, 20, n))
    y = getattr(np, function)(x)
    expected = [y] + [f(y, axis=axes) for axes in subsets(3)[1:] for f in (np.sum, np.max)]
    made = [np.full(z.shape, 7.0) for z in map(np.asarray, expected)]
    outputs = [Output(1, strides_of(x))]
    for k, axes in enumerate(subsets(3)[1:]):
        for j, name in enumerate(("sum", "max")):
            z = made[1 + 2 * k + j]
            outputs.append(Output(1, reduced_strides(z, axes, 3), name))
    build(x.shape, [Input("f8", strides_of(x))], [op(function, 0)], outputs)(x, *made)
    for found, z in zip(made, expected):
        np.testing.assert_allclose(found, z, rtol=1e-13, atol=1e-13)


@pytest.mark.parametrize("n", [3, 10, 24])
def test_truths_across_short_rows(n):
    x = np.random.default_rng(n).random((50, n)) < 0.05
    some, none = np.empty(n, bool), np.empty(n, bool)
    outputs = [Output(0, (0, 1), "any", "b1"), Output(1, (0, 1), "all", "b1")]
    build(x.shape, [Input("b1", (n, 1))], [op("logical_not", 0)], outputs)(x, some, none)
    np.testing.assert_array_equal(x.any(0), some)
    np.testing.assert_array_equal(~x.any(0), none)
