"""Compiled functions in several threads, and whose memory their results are."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from three_ways import WAYS, Recorded, differences, run

import chainrules as cr
from chainrules.compiling.passes.scalar import scalar_program

pytestmark = pytest.mark.usefixtures("small_loops")

WEIGHTS = np.linspace(-1.0, 1.0, 12).reshape(3, 4)


def loss(x):
    y = np.tanh(x @ WEIGHTS.T)
    z = x.copy()
    z[1:] *= 2.0
    return np.sum(np.where(y > 0.1, y, y**2)) + np.sum(z[::-1] * WEIGHTS) + np.max(x)


def steps(x):
    s, y = x[0, 0], x
    for k in range(5):
        y = y * s + k
        s = np.sum(y) * 0.01
    return y, s


FUNCTIONS = {"loss": loss, "gradient": cr.value_and_grad(loss), "steps": steps}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_four_threads(name, way):
    f = FUNCTIONS[name]
    xs = [np.random.default_rng(k).normal(size=(3, 4)) for k in range(4)]
    try:
        made = Recorded(f, xs[0]).by(way)
    except scalar_program.NotLowered as error:
        pytest.skip(str(error))

    def calls(x):
        expected = f(x)
        for _ in range(200):
            missed, y = run(made, (x,))
            assert missed is None
            assert not differences(y, expected, ulps=200.0)
        return True

    with ThreadPoolExecutor(4) as threads:
        assert list(threads.map(calls, xs)) == [True] * 4


@pytest.mark.slow
@pytest.mark.parametrize("native", [True, False])
def test_four_threads_call_and_compile(native, monkeypatch):
    monkeypatch.setattr(scalar_program, "SCALAR_ENTRIES", 3000 if native else -1)
    g = cr.compile(cr.value_and_grad(loss), fallback="error")

    def calls(k):
        x = np.random.default_rng(k).normal(size=(3, 4))
        h = cr.compile(lambda x: np.sin(x) * k, fallback="error")
        for _ in range(200):
            assert not differences(g(x), cr.value_and_grad(loss)(x), ulps=200.0)
            assert not differences(h(x), np.sin(x) * k)
        return True

    with ThreadPoolExecutor(4) as threads:
        assert list(threads.map(calls, range(4))) == [True] * 4


CONSTANT = np.arange(4.0)
RETURNS = {
    "the argument": lambda x: x,
    "twice the argument": lambda x: (x, x),
    "a view": lambda x: (x[1:], x.T, x.reshape(4, 3)),
    "a view of a result": lambda x: (y := x * 2, y[::-1], y.T),
    "a constant": lambda x: (CONSTANT, np.max(x)),
    "a constant twice": lambda x: (CONSTANT, CONSTANT * 1, np.zeros(3), [CONSTANT]),
    "results": lambda x: (x + 1, np.max(x, 0), x > 0, np.zeros_like(x), np.ones_like(x) * 1),
    "a constant result": lambda x: (
        x * 0 + CONSTANT,
        np.broadcast_to(x[0], (2, 4)),
        np.full(3, 2.0),
    ),
    "what was written": lambda x: (y := x.copy(), y.__setitem__(0, 1.0), y[0])[0::2],
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", RETURNS)
def test_results_are_fresh(name, way):
    """A write into a result changes no later result, and no constant.

    A result that is the argument, or a view of it, to NumPy may be an equal copy.
    """
    f = RETURNS[name]
    x = np.linspace(-1.0, 1.0, 12).reshape(3, 4)
    recorded = Recorded(lambda x: (f(x), np.sin(x)), x)
    try:
        made, kept = recorded.by(way), x.copy()
    except scalar_program.NotLowered as error:
        pytest.skip(str(error))
    expected = [np.array(y, order="C") for y in leaves(f(x))]
    for _ in range(3):
        missed, (found, _) = run(made, (x,))
        assert missed is None
        assert not differences([np.array(y, order="C") for y in leaves(found)], expected)
        for y in leaves(found):
            if y.ndim and y.flags.writeable:
                y[...] = 7.0 if y.dtype == float else True
        if not any(np.shares_memory(y, x) for y in leaves(found)):
            assert np.array_equal(x, kept)
        x[...] = kept
        assert np.array_equal(CONSTANT, np.arange(4.0))


def leaves(y):
    return (
        [part for x in y for part in leaves(x)] if isinstance(y, tuple | list) else [np.asarray(y)]
    )


@pytest.mark.parametrize("name", RETURNS)
def test_results_alias_as_by_numpy_or_not_at_all(name):
    f, x = RETURNS[name], np.linspace(-1.0, 1.0, 12).reshape(3, 4)
    g = cr.compile(f, fallback="error")
    for _ in range(3):
        found, expected = leaves(g(x)), leaves(f(x))
        for k, (a, b) in enumerate(zip(found, expected)):
            assert np.shares_memory(b, x) or not np.shares_memory(a, x)
            assert not np.shares_memory(a, CONSTANT) or np.shares_memory(b, CONSTANT)
            for c, d in zip(found[:k], expected[:k]):
                assert np.shares_memory(b, d) or not np.shares_memory(a, c)
