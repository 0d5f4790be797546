"""Calls: wrong arguments, references, threads, the life of machine code, equal requests."""

import gc
import sys
import threading
import weakref

import numpy as np
import pytest

pytest.importorskip("llvmlite")

from native_interpreter import build, op

from chainrules.compiling.native import Input, Output, available
from chainrules.compiling.native import entry as entries

pytestmark = pytest.mark.skipif(not available(), reason="no native code here")


def scale():
    inputs = [Input("f8", (1,)), Input("f8", None)]
    return build((5,), inputs, [op("multiply", 0, 1)], [Output(2, (1,))])


class Number(float):
    pass


class Array(np.ndarray):
    pass


def test_numbers_of_all_kinds_of_float():
    x, y = np.arange(5.0), np.empty(5)
    for number in (1.5, np.float64(1.5), Number(1.5)):
        y[:] = 0
        assert scale()(x, number, y) is None
        np.testing.assert_array_equal(1.5 * x, y)


@pytest.mark.parametrize(
    "arguments",
    [
        (),
        (np.zeros(5), 1.0),
        (np.zeros(5), 1.0, np.zeros(5), 1.0),
        (1.0, 1.0, np.zeros(5)),
        (np.zeros(5), 1, np.zeros(5)),
        (np.zeros(5), True, np.zeros(5)),
        (np.zeros(5), np.zeros(5), np.zeros(5)),
        (np.zeros(5), np.float32(1), np.zeros(5)),
        (np.zeros(5).view(Array), 1.0, np.zeros(5)),
        (np.zeros(5), 1.0, None),
    ],
)
def test_wrong_arguments(arguments):
    with pytest.raises(TypeError, match="this kernel takes array, float, array"):
        scale()(*arguments)


def test_keywords_are_refused():
    with pytest.raises(TypeError, match="no keyword"):
        scale()(np.zeros(5), 1.0, y=np.zeros(5))


def test_truths_are_the_two_of_python_or_of_numpy():
    y = np.empty(3)
    kernel = build((3,), [Input("b1", None)], [op("float", 0)], [Output(1, (1,))])
    for truth in (True, np.True_, False, np.False_):
        kernel(truth, y)
        np.testing.assert_array_equal(float(truth), y)
    for other in (1, 0.0, None):
        with pytest.raises(TypeError, match="bool"):
            kernel(other, y)


def test_references_stay_as_they_were():
    x, y, kernel = np.arange(5.0), np.empty(5), scale()
    number = Number(2.5)
    before = [sys.getrefcount(o) for o in (None, x, y, number, kernel)]
    for _ in range(1000):
        kernel(x, number, y)
    after = [sys.getrefcount(o) for o in (None, x, y, number, kernel)]
    assert abs(before[0] - after[0]) < 100
    assert before[1:] == after[1:]


def test_code_goes_with_its_function():
    kernel = build((7,), [Input("f8", (1,))], [op("exp", 0)], [Output(1, (1,))])
    code = weakref.ref(kernel.__self__)
    x = np.zeros(7)
    kernel(x, x)
    assert code() is not None
    del kernel
    gc.collect()
    assert code() is None
    np.testing.assert_array_equal(1, x)


def test_many_come_and_go():
    y = np.empty(3)
    for k in range(50):
        build((3,), [], [op("add", float(k), 1.0)], [Output(0, (1,))])(y)
        np.testing.assert_array_equal(k + 1, y)


def test_equal_requests_are_one_kernel():
    assert scale() is not None
    one, two = scale(), scale()
    assert one is two
    zero, minus = (
        build((2,), [Input("f8", (1,))], [op("copysign", 0, c)], [Output(1, (1,))])
        for c in (0.0, -0.0)
    )
    assert zero is not minus


def test_threads_call_one_kernel():
    n = 4000
    nest = build((n,), [Input("f8", (1,))], [op("sin", 0)], [Output(1, (1,))])
    chain = [op("add", k, 1.0) for k in range(300)] + [op("multiply", 300, 7)]
    numbers = build((), [Input("f8", ())], chain, [Output(301, ())])
    wrong = []

    def work(seed):
        x, y, z = np.full(n, float(seed)), np.empty(n), np.empty(())
        for _ in range(300):
            nest(x, y)
            numbers(x, z)
            if y[0] != y[-1] or abs(y[0] - np.sin(seed)) > 1e-15:
                wrong.append(seed)
            if z != (seed + 300) * (seed + 7):
                wrong.append(seed)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(6)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not wrong


def test_threads_build_at_once():
    results = {}

    def work(k):
        y = np.empty(4)
        for c in range(5):
            build((4,), [], [op("add", float(c), float(k))], [Output(0, (1,))])(y)
            results[k, c] = y[0]

    threads = [threading.Thread(target=work, args=(k,)) for k in range(6)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert {(k, c): float(k + c) for k in range(6) for c in range(5)} == results


def test_where_objects_lie_otherwise_nothing_native_is_offered(monkeypatch):
    entries.layout.cache_clear()
    monkeypatch.setattr(entries.platform, "python_implementation", lambda: "PyPy")
    try:
        assert not available()
    finally:
        monkeypatch.undo()
        entries.layout.cache_clear()
    assert available()
