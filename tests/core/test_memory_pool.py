"""Memory pool: arrays under transforms get the memory of others that were freed, and no more."""

import threading
import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy._core.multiarray import get_handler_name

import chainrules as cr
from chainrules.config import memory

LARGE = 50_000  # float64s: 400 KB


@pytest.fixture(autouse=True)
def empty_pool():
    if memory.pool is memory.NoPool:
        pytest.skip("the accelerator is not built")
    used = memory.pool.use_pool()
    name = get_handler_name(np.ones(LARGE))
    memory.pool.leave_pool(used)
    if name != "chainrules":
        pytest.skip("the size of a block cannot be asked for")
    memory.pool.empty_pool()
    yield
    memory.pool.empty_pool()


def names_of_handlers(f):
    found = []

    def noted(x):
        found.append(get_handler_name(np.ones(3)))
        return f(x)

    return noted, found


X = np.ones(LARGE)
DOORS = {
    "grad": lambda f: cr.grad(f)(X),
    "jvp": lambda f: cr.jvp(f, (X,), (X,)),
    "vjp": lambda f: cr.vjp(f, X)[1](1.0),
    "hvp": lambda f: cr.hvp(f, (X,), (X,)),
    "linearize": lambda f: cr.linearize(f, X)[1](X),
    "vmap": lambda f: cr.vmap(f)(X[None]),
}


@pytest.mark.parametrize("door", DOORS)
def test_it_serves_within_a_transform_alone(door):
    f, found = names_of_handlers(lambda x: np.sum(np.sin(x) ** 2))
    DOORS[door](f)
    assert set(found) == {"chainrules"}
    assert get_handler_name(np.ones(LARGE)) == "default_allocator"


def test_it_is_left_after_an_error_and_within_another_transform():
    def fails(x):
        cr.grad(lambda y: np.sum(y * y))(X)
        assert get_handler_name(np.ones(3)) == "chainrules"
        raise KeyError

    with pytest.raises(KeyError):
        cr.grad(fails)(X)
    assert get_handler_name(np.ones(3)) == "default_allocator"


def test_a_result_lives_on_and_is_freed_by_whom_it_was_made():
    y = cr.grad(lambda x: np.sum(np.sin(x)))(X)
    memory.pool.empty_pool()
    np.testing.assert_array_equal(y, np.cos(X))
    del y
    assert memory.pool.empty_pool() > 0


def test_what_it_keeps_is_bounded():
    used = memory.pool.use_pool()
    for _ in range(3):
        arrays = [np.ones(1_000_000 + k) for k in range(30)]  # 240 MB
        del arrays
    memory.pool.leave_pool(used)
    assert 0 < memory.pool.empty_pool() <= 1 << 27


def test_peaks_of_memory_are_seen():
    tracemalloc.start()
    try:
        cr.grad(lambda x: np.sum(np.sin(x)))(X)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert X.nbytes < peak < 20 * X.nbytes


def test_threads():
    wrong = []

    def work(seed):
        rng = np.random.default_rng(seed)
        for _ in range(20):
            x = rng.uniform(size=rng.integers(3_000, 40_000))
            y = cr.grad(lambda x: np.sum(np.exp(np.sin(x) * x)))(x)
            expected = np.exp(np.sin(x) * x) * (np.sin(x) + x * np.cos(x))
            if not np.allclose(y, expected, rtol=1e-13):
                wrong.append(seed)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


SIZES = st.sampled_from([0, 1, 2047, 2048, 2049, 2560, 3000, 4096, 5000, 70_000])
STEPS = st.one_of(
    st.tuples(st.sampled_from(["empty", "zeros", "objects"]), SIZES),
    st.tuples(st.just("of no rows"), SIZES),
    st.tuples(st.just("free"), st.integers(0, 20)),
    st.tuples(st.just("resize"), SIZES),
    st.tuples(st.just("pool"), st.none()),
)


@given(st.lists(STEPS, max_size=40))
def test_no_two_arrays_share_memory(steps):
    """Each array holds its own number until it is freed, wherever it was made and freed."""
    live, used = [], []
    try:
        for k, (step, n) in enumerate(steps, 1):
            if step == "pool":
                if used:
                    memory.pool.leave_pool(used.pop())
                else:
                    used.append(memory.pool.use_pool())
            elif step == "free":
                if live:
                    del live[n % len(live)]
            elif step == "resize":
                if live and live[-1][0].dtype == float:
                    x, number = live.pop()
                    x.resize(n, refcheck=False)
                    x[:] = number
                    live.append((x, number))
            elif step == "of no rows":
                live.append((np.empty((0, n)), 0.0))
            elif step == "objects":
                x = np.empty(n, object)
                assert all(entry is None for entry in x)
                x[:] = str(k)
                live.append((x, str(k)))
            else:
                x = getattr(np, step)(n)
                assert step == "empty" or not x.any()
                x[:] = k
                live.append((x, float(k)))
            assert all(np.all(x == number) for x, number in live)
    finally:
        while used:
            memory.pool.leave_pool(used.pop())
