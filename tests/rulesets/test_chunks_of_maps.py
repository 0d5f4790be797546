"""Maps on executors: chunks of items, arrays that are sent once, and what ends a map early."""

import _thread
import multiprocessing
import os
import signal
import sys
import threading
import time
from concurrent.futures import Future, ProcessPoolExecutor, ThreadPoolExecutor

import numpy as np
import pytest

import chainrules as cr
from chainrules.rules.rulesets.functions.executors import chunks, parcels, pools

cloudpickle = pytest.importorskip("cloudpickle")
# Processes cannot import this file.
cloudpickle.register_pickle_by_value(sys.modules[__name__])


def loss(xs, **on):
    return lambda w: np.sum(cr.map(lambda x: np.sin(w * x) * x, xs, **on))


# ---- sizes ----


def sizes_of(count, given=None, workers=2, seconds=(0.001,)):
    times = iter(seconds)
    return list(chunks.sizes([(k,) for k in range(count)], given, workers, lambda: next(times)))


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        (sizes_of(5), [1] * 5),  # few are not joined
        (sizes_of(0), []),
        (sizes_of(10, given=4), [4, 4, 2]),
        (sizes_of(3, given=100), [3]),
        (sizes_of(20, seconds=[1.0]), [1] * 20),  # long ones neither
        (sizes_of(1000, seconds=[0.001, 0.001]), [1, 1, 50, 50, *[50] * 17, 48]),
        (sizes_of(1000, seconds=[0.1]), [1] * 1000),  # the first was slow, and so it stays
        (sizes_of(1000, seconds=[0.01, 1e-9]), [1, 1, 5, 5, *[123] * 8, 4]),
    ],
)
def test_sizes(found, expected):
    assert found == expected


@pytest.mark.parametrize("chunksize", [None, 1, 3, 1000])
@pytest.mark.parametrize("back", [None, "recompute", "tape"])
@pytest.mark.parametrize("count", [0, 1, 7, 40])
def test_chunks_change_nothing(count, back, chunksize, threads, processes):
    xs = np.linspace(-1.0, 1.0, count)
    alone = loss(list(xs)) if count else lambda w: 0.0 * w
    for pool in (threads, processes):
        if back == "tape" and pool is processes:
            continue
        f = loss(list(xs), executor=pool, back=back, chunksize=chunksize)
        w = 0.7
        np.testing.assert_allclose(f(w), alone(w), rtol=1e-12)
        if count:
            slope = cr.grad(alone)(w)
            np.testing.assert_allclose(cr.grad(f)(w), slope, rtol=1e-12)
            np.testing.assert_allclose(cr.jvp(f, (w,), (1.0,))[1], slope, rtol=1e-12)
        if 0 < count < 10:
            second = cr.grad(cr.grad(f))(w)
            np.testing.assert_allclose(second, cr.grad(cr.grad(alone))(w), rtol=1e-12)


def test_reduce_in_chunks(threads):
    xs = list(np.linspace(0.5, 1.5, 100))

    def fold(w, **on):
        return cr.reduce(lambda a, b: a * b, [w * x for x in xs], **on)

    expected = cr.grad(fold)(1.01)
    found = cr.grad(lambda w: fold(w, executor=threads, chunksize=2))(1.01)
    np.testing.assert_allclose(found, expected, rtol=1e-10)


def test_options_that_make_no_sense(threads):
    for given in (0, -1, 1.5):
        with pytest.raises(ValueError, match="chunksize=1 or more"):
            cr.map(abs, [1.0], executor=threads, chunksize=given)
    with pytest.raises(ValueError, match=r"timeout=\.\.\. in seconds"):
        cr.map(abs, [1.0], executor=threads, timeout=0)
    with pytest.raises(TypeError, match=r"chunksize=\.\.\.\) says how an executor does it"):
        cr.map(abs, [1.0], chunksize=2)
    with pytest.raises(TypeError, match=r"timeout=\.\.\.\) says how an executor does it"):
        cr.reduce(abs, [1.0], timeout=2)


# ---- large arrays ----


class Counting:
    """Executor in this process that counts the bytes which are sent."""

    def __init__(self, workers=2):
        self._max_workers, self.sent = workers, []

    def submit(self, f, *args):
        blob = cloudpickle.dumps((f, args))
        self.sent.append(len(blob))
        future = Future()
        f, args = cloudpickle.loads(blob)
        try:
            future.set_result(f(*args))
        except BaseException as error:
            future.set_exception(error)
        return future


def test_large_captured_arrays_are_sent_once_to_each_worker(monkeypatch):
    monkeypatch.setattr(parcels, "_here", {})
    big, small = np.arange(300_000.0), np.arange(10.0)
    pool = Counting()

    def f(w):
        return np.sum(cr.map(lambda k: w * big[k] * small[k], list(range(8)), executor=pool))

    expected = np.sum(big[:8] * small[:8])
    np.testing.assert_allclose(cr.grad(f)(1.0), expected)
    large = [size for size in pool.sent if size > big.nbytes]
    assert len(large) == 2  # for each of two workers, as far as anybody knows
    pool.sent.clear()
    np.testing.assert_allclose(f(2.0), 2 * expected)
    assert sum(size > big.nbytes for size in pool.sent) == 2


def test_a_worker_that_lacks_an_array_is_sent_it(monkeypatch):
    big = np.arange(300_000.0)

    class Forgetful(Counting):
        def submit(self, f, *args):
            monkeypatch.setattr(parcels, "_here", {})
            return super().submit(f, *args)

    pool = Forgetful(1)

    def f(w):
        return np.sum(cr.map(lambda k: w * big[k], [1, 2, 3], executor=pool))

    assert cr.grad(f)(1.0) == 6.0
    assert sum(size > big.nbytes for size in pool.sent) == 3


def test_kept_arrays_are_bounded(monkeypatch):
    monkeypatch.setattr(parcels, "_here", {})
    monkeypatch.setattr(parcels, "BUFFERS_KEPT", 5_000_000)
    for k in range(4):
        parcel = parcels.Parcel(np.full(300_000, k * 1.0), pools.dumps)
        array = parcels.opened(parcel.blob, parcel.keys, parcel.copies())
        assert array[-1] == k
        assert not array.flags.writeable
    assert len(parcels._here) == 2
    again = parcels.opened(parcel.blob, parcel.keys, {})
    assert again[0] == 3.0
    with pytest.raises(KeyError):
        parcels.opened(parcel.blob, [b"another"], {})


def test_writes_into_a_large_captured_array_are_refused(processes):
    big = np.zeros(300_000)

    def f(x):
        big[0] = x
        return big[0]

    with pytest.raises(cr.MutationError):
        cr.map(f, [1.0, 2.0], executor=processes)


# ---- maps inside of items ----


def test_nested_maps_on_one_pool_do_not_wait_for_each_other(threads):
    def row(w, x):
        return np.sum(cr.map(lambda y: np.sin(w * x * y), [1.0, 2.0, 3.0], executor=threads))

    def f(w):
        return np.sum(cr.map(lambda x: row(w, x), [0.1, 0.2, 0.3, 0.4], executor=threads))

    expected = sum(np.cos(0.5 * x * y) * x * y for x in (0.1, 0.2, 0.3, 0.4) for y in (1, 2, 3))
    np.testing.assert_allclose(cr.grad(f)(0.5), expected, rtol=1e-12)

    def total(a, b):
        return cr.reduce(lambda a, b: a + b, [a, b], executor=threads)

    found = cr.grad(lambda w: cr.reduce(total, [w, w * w, w], executor=threads))(3.0)
    np.testing.assert_allclose(found, 2.0 + 6.0)


# ---- errors, timeouts, and workers that are lost ----


def test_an_error_cancels_what_has_not_begun():
    begun = []

    def f(k):
        begun.append(k)
        if k == 1:
            raise RuntimeError("item 1")
        time.sleep(0.01)
        return 1.0 * k

    with ThreadPoolExecutor(1) as pool:
        for run in (
            lambda: cr.map(f, list(range(20)), executor=pool, chunksize=1),
            lambda: cr.grad(
                lambda w: np.sum(cr.map(lambda k: w * f(k), list(range(20)), executor=pool))
            )(1.0),
        ):
            begun.clear()
            with pytest.raises(RuntimeError, match="item 1"):
                run()
            pool.submit(int).result()
            assert len(begun) < 10


def test_a_timeout_is_an_error_in_words():
    ended = threading.Event()
    with ThreadPoolExecutor(1) as pool:
        begun = time.monotonic()
        with pytest.raises(TimeoutError, match=r"took more than 0\.2 s") as caught:
            cr.map(lambda k: ended.wait(20), [1, 2, 3], executor=pool, timeout=0.2)
        assert time.monotonic() - begun < 10
        assert "test_chunks_of_maps.py" in str(caught.value)
        ended.set()
        assert cr.map(abs, [-1.0], executor=pool, timeout=60) == [1.0]


def test_a_timeout_of_an_item_is_its_own():
    def f(x):
        raise TimeoutError("the server of an item")

    with ThreadPoolExecutor(1) as pool, pytest.raises(TimeoutError, match="the server of an item"):
        cr.map(f, [1.0], executor=pool, timeout=60)


def test_a_lost_process_is_an_error_in_words():
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        for _ in range(2):  # and so it stays
            with pytest.raises(cr.LostDataError) as caught:
                cr.map(lambda x: os._exit(1) or x, [1.0], executor=pool)
            assert "a worker of ProcessPoolExecutor is lost" in str(caught.value)
            assert "make a new executor" in str(caught.value)


@pytest.fixture
def interrupts():
    """Interrupts are errors, also where a shell has started the tests without them."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def test_an_interrupt_cancels_what_has_not_begun(interrupts):
    begun = []

    def f(k):
        begun.append(k)
        if k == 1:
            _thread.interrupt_main()
        time.sleep(0.02)
        return 1.0 * k

    with ThreadPoolExecutor(1) as pool:
        with pytest.raises(KeyboardInterrupt):
            cr.map(f, list(range(50)), executor=pool, chunksize=1)
        pool.submit(int).result()
    assert len(begun) < 40
