"""Nothing is shared between runs: threads, exceptions and the garbage collector."""

import gc
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import chainrules as cr
from chainrules import numpy


def nested(a):
    def inner(x):
        return np.sin(a * x) * x

    return cr.grad(lambda x: x * cr.grad(inner)(x) * cr.jvp(inner, (x,), (1.0,))[1])(0.4)


def test_nested_gradients_in_eight_threads():
    points = np.linspace(0.1, 2.0, 200)
    expected = [nested(a) for a in points]
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(8) as pool:
            found = list(pool.map(nested, points, chunksize=1))
    finally:
        sys.setswitchinterval(interval)
    assert found == expected


def test_one_pullback_in_many_threads():
    x = np.linspace(0.0, 1.0, 50)
    _, pullback = cr.vjp(lambda x: np.cumsum(np.sin(x) * x), x)
    seeds = [np.full(50, float(k)) for k in range(40)]
    expected = [pullback(seed)[0] for seed in seeds]
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda seed: pullback(seed)[0], seeds))
    np.testing.assert_array_equal(found, expected)


def test_an_exception_leaves_nothing_behind():
    def fails(x):
        np.sin(x)
        raise ZeroDivisionError("mine")

    for transform in (cr.grad(fails), lambda x: cr.jvp(fails, (x,), (1.0,))):
        with pytest.raises(ZeroDivisionError, match="mine"):
            transform(1.0)
        assert gc.isenabled()
    assert cr.grad(np.sin)(0.0) == 1.0


def test_the_collector_is_left_alone():
    seen = []
    cr.grad(lambda x: (seen.append(gc.isenabled()), gc.disable(), x * x)[2])(1.0)
    try:
        assert seen == [True]
        assert not gc.isenabled()
    finally:
        gc.enable()


def test_other_threads_do_not_see_that_a_transform_runs():
    inside, done = threading.Event(), threading.Event()

    def waits(x):
        inside.set()
        done.wait(10)
        return x * x

    thread = threading.Thread(target=cr.grad(waits), args=(1.0,))
    thread.start()
    inside.wait(10)
    assert type(numpy.zeros(2)) is np.ndarray
    done.set()
    thread.join()


def test_a_long_tape_needs_no_recursion():
    def chain(x):
        for _ in range(100_000):
            x = x * 1.0000001
        return x

    assert cr.grad(chain)(1.0) == pytest.approx(1.0000001**100_000)
