"""Loops over large arrays on several threads: the numbers of one, whoever computes what."""

import os
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("llvmlite")

from native.native_interpreter import build, op

import chainrules as cr
from chainrules.compiling.native import Input, Output, available
from chainrules.compiling.native.arrays import axes
from chainrules.compiling.native.threads import InPieces
from chainrules.compiling.passes.scalar import scalar_program

pytestmark = pytest.mark.skipif(not available(), reason="no native code here")


@pytest.fixture(autouse=True, scope="module")
def small_pieces():
    before = axes.PIECE_POINTS, axes.REST_POINTS, scalar_program.SCALAR_ENTRIES
    axes.PIECE_POINTS, axes.REST_POINTS, scalar_program.SCALAR_ENTRIES = 64, 16, -1
    yield
    axes.PIECE_POINTS, axes.REST_POINTS, scalar_program.SCALAR_ENTRIES = before


# ---- the same numbers ---------------------------------------------------------------------------

OPS = [
    op("multiply", 0, 1), op("sin", 2), op("power", 0, 1.5), op("maximum", 3, 1), op("exp", 1),
    op("fmod", 5, 0.3), op("less", 3, 4), op("where", 8, 6, 5),
]  # fmt: skip
REDUCTIONS = ("sum", "prod", "max", "min", "any", "all")


@st.composite
def operands(draw, shape):
    """Draw the place in memory of an array of this shape, broadcast, in any order of axes."""
    order = draw(st.permutations(range(len(shape))))
    sizes = [draw(st.sampled_from([shape[k], shape[k], 1])) for k in order]
    base = np.random.default_rng(draw(st.integers(0, 9))).normal(size=sizes)
    x = base.transpose(np.argsort(order))
    x = x[tuple(slice(None, None, draw(st.sampled_from([1, -1]))) for _ in shape)]
    start = base.__array_interface__["data"][0]
    offset = (x.__array_interface__["data"][0] - start) // 8
    strides = tuple(0 if n == 1 else s // 8 for n, s in zip(x.shape, x.strides))
    return base, np.broadcast_to(x, shape), Input("f8", strides, offset)


@st.composite
def results(draw, shape):
    """An output: a value, and an array that it fills, or over which axes it is reduced."""
    value = draw(st.integers(2, 9))
    reduce = draw(st.sampled_from([None, *REDUCTIONS]))
    if value == 8 and reduce not in (None, "any", "all"):
        reduce = "any"
    axes = draw(st.sets(st.integers(0, len(shape) - 1), min_size=1)) if reduce else set()
    truth = reduce in ("any", "all") or value == 8
    kept = [0 if k in axes else n for k, n in enumerate(shape)]
    y = np.empty([n for n in kept if n], bool if truth else float)
    steps = iter(s // y.itemsize for s in y.strides)
    strides = tuple(next(steps) if n else 0 for n in kept)
    return y, Output(value, strides, reduce, "b1" if truth else "f8")


@pytest.mark.slow
@given(st.data())
@settings(max_examples=10)
def test_the_numbers_of_one_thread(data):
    sizes = st.sampled_from([1, 2, 3, 7, 30])
    shape = tuple(data.draw(st.lists(sizes, min_size=1, max_size=3)))
    if np.prod(shape) < 100:
        shape = (*shape, 350)
    given_, _, inputs = zip(*(data.draw(operands(shape)) for _ in range(2)))
    outs = [data.draw(results(shape)) for _ in range(data.draw(st.integers(1, 3)))]
    found = []
    for threads in (1, 2, 3):
        kernel = build(shape, inputs, OPS, [place for _, place in outs], threads)
        arrays = [np.empty_like(y) for y, _ in outs]
        with np.errstate(all="ignore"):
            kernel(*given_, *arrays)
        found.append(arrays)
    for (_, place), one, two, three in zip(outs, *found):
        np.testing.assert_array_equal(two, three)
        if place.reduce == "sum":
            np.testing.assert_allclose(two, one, rtol=1e-11, atol=1e-10)
        elif place.reduce != "prod":  # which may overflow in one order, and not in another
            np.testing.assert_array_equal(one, two)


def test_a_product_in_pieces():
    x, y = np.random.default_rng(0).uniform(0.9, 1.1, (40, 40)), np.empty(40)
    build(x.shape, [Input("f8", (40, 1))], [], [Output(0, (0, 1), "prod")], 2)(x, y)
    np.testing.assert_allclose(np.prod(x, 0), y, rtol=1e-13)


def loss(x, w):
    y = np.sin(x) * w + np.exp(-x * x)
    return np.sum(y * y) + np.max(y[1:]) + np.mean(np.where(y > 0.5, y, w))


@pytest.mark.parametrize("shape", [(700,), (193,), (30, 30), (3, 400)])
def test_compiled_functions(shape):
    x, w = np.random.default_rng(0).normal(size=(2, *shape))
    for f in (loss, cr.value_and_grad(loss), lambda x, w: (np.tanh(x * w).T, np.sum(x, 0))):
        by = [cr.compile(f, threads=threads, fallback="error") for threads in (1, 2, 3)]
        for _ in range(2):
            one, two, three = [cr.flatten(g(x, w))[0] for g in by]
            np.testing.assert_array_equal(two, three)
            np.testing.assert_allclose(one, two, rtol=1e-13)
        assert "on 2 threads" in str(cr.explain(by[1]))
        assert "made, on" not in str(cr.explain(by[0]))


def test_signs_of_zero_and_nan():
    """A sum of nothing but -0.0 is 0.0, as NumPy's; one NaN in any piece is enough."""
    inputs = [Input("f8", (1,))]
    outputs = [Output(1, (0,), "sum"), Output(1, (0,), "max")]
    kernel = build((500,), inputs, [op("multiply", 0, 2.0)], outputs, 2)
    x, total, largest = np.full(500, -0.0), np.empty(()), np.empty(())
    kernel(x, total, largest)
    assert (0.0, False) == (total, np.signbit(total))
    x[400] = np.nan
    kernel(x, total, largest)
    assert np.isnan([total, largest]).all()


# ---- who computes -------------------------------------------------------------------------------


def halves():
    inputs, outputs = [Input("f8", (1,))], [Output(1, (1,)), Output(1, (0,), "sum")]
    kernel = build((640,), inputs, [op("multiply", 0, 0.5)], outputs, 2)
    return kernel, (np.arange(640.0), np.empty(640), np.empty(()))


def test_two_threads_at_once():
    kernel, args = halves()
    native, met, threads = kernel.kernel, threading.Barrier(2, timeout=600), set()

    def waits(*given):
        threads.add(threading.get_ident())
        if given[-2] < 2:
            met.wait()  # the first two pieces are done at the same time
        native(*given)

    kernel.kernel = waits
    kernel(*args)
    assert len(threads) == 2
    np.testing.assert_array_equal(0.5 * args[0], args[1])
    assert 0.5 * 639 * 320 == args[2]


def test_errors_come_out_and_leave_nothing():
    kernel, (x, y, total) = halves()
    with pytest.raises(TypeError, match="this kernel takes"):
        kernel(list(x), y, total)
    kernel(x, y, total)
    np.testing.assert_array_equal(0.5 * x, y)
    native = kernel.kernel

    def fails(*given):
        if given[-2] == 3:
            raise ArithmeticError("of piece 3")
        native(*given)

    kernel.kernel = fails
    with pytest.raises(ArithmeticError, match="of piece 3"):
        kernel(x, y, total)


@pytest.mark.parametrize("rows", [(-1, 2), (0.5, 2), (None, 2)])
def test_rows_are_whole_numbers(rows):
    kernel, args = halves()
    with pytest.raises(TypeError, match="this kernel takes"):
        kernel.kernel(*args, *rows)


def test_small_loops_stay_as_they_are():
    kernel = build((60,), [Input("f8", (1,))], [op("sin", 0)], [Output(1, (1,))], 2)
    assert not isinstance(kernel, InPieces)


def test_from_many_threads_and_within_another():
    inner = cr.compile(lambda x: np.sum(np.sin(x) * x), threads=2, fallback="error")
    outer = cr.compile(lambda x: inner(x) * np.exp(x), threads=3, fallback="error")
    xs = [np.random.default_rng(k).normal(size=900) for k in range(4)]
    expected = [np.sum(np.sin(x) * x) * np.exp(x) for x in xs]
    slopes = cr.compile(cr.grad(lambda x: np.sum(outer(x))), threads=2)
    slope = [cr.grad(lambda x: np.sum(np.sum(np.sin(x) * x) * np.exp(x)))(x) for x in xs]

    def calls(k):
        for _ in range(20):
            np.testing.assert_allclose(outer(xs[k]), expected[k], rtol=1e-12)
            np.testing.assert_allclose(slopes(xs[k]), slope[k], rtol=1e-12)

    with ThreadPoolExecutor(4) as threads:
        list(threads.map(calls, range(4)))


PROGRAM = """
import atexit, os
import numpy as np
import chainrules as cr

x = np.linspace(0.0, 1.0, 300_000)
g = cr.compile(lambda x: np.sum(np.exp(x) * x), threads=3, fallback="error")
g(x)
expected = g(x)
assert "on 3 threads" in str(cr.explain(g))
for child in range(2):
    if not (number := os.fork()):
        os._exit(0 if g(x) == expected else 1)
    assert os.waitpid(number, 0)[1] == 0
atexit.register(lambda: print("at the end", g(x) == expected))
"""


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_after_a_fork_and_at_the_end():
    command = [sys.executable, "-W", "ignore", "-c", PROGRAM]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600)
    assert (0, "at the end True\n") == (done.returncode, done.stdout), done.stderr


@pytest.mark.parametrize("threads", [0, -1, 1.5, True, "2"])
def test_numbers_of_threads(threads):
    with pytest.raises(ValueError, match=r"threads=.* is none of 1, 2, 3 and so on\.") as raised:
        cr.compile(np.sin, threads=threads)
    assert raised.value.code == "CR224"
