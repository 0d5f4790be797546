"""An integer among the arguments that is another in each call is an input of one recording."""

import math
import warnings

import numpy as np
import pytest
from cached import recordings

import chainrules as cr
from chainrules.compiling.tree import RecordedPath
from chainrules.config.thresholds import COUNTED

pytest.importorskip("llvmlite")

X = np.array([0.4, -0.7, 1.2])


def adam(x, m, v, t):
    g = cr.grad(lambda x: np.sum((x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2))(x)
    m, v = 0.9 * m + 0.1 * g, 0.999 * v + 0.001 * g * g
    return x - 0.01 * m / (1 - 0.9**t) / (np.sqrt(v / (1 - 0.999**t)) + 1e-8), m, v


def test_steps_of_adam_are_one_recording():
    compiled = cr.compile(adam)
    state = expected = X, np.zeros(3), np.zeros(3)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for t in range(1, 60):
            state, expected = compiled(*state, t), adam(*expected, t)
    np.testing.assert_allclose(state[0], expected[0], rtol=1e-12)
    assert recordings(compiled) == 1


@pytest.mark.parametrize(
    "f",
    [
        lambda x, t: x * t + (t % 7) - (3 - t) * x,
        lambda x, t: (x, t, t + 1, -t, t * t, t * 3 - 1),
        lambda x, t: 0.9**t * x if t % 3 == 1 else x / (t + 1.5),
        lambda x, t: x[t % 3] + float(t),
        lambda x, t: np.sum(x) * isinstance(t, int) + math.sqrt(t + 2**33),
        lambda x, t: np.sum(np.arange(t % 4 + 1.0)) * x,
        lambda x, t: sum(x * k for k in range(t % 3)) + x,
        lambda x, t: np.full(2, t % 50) + np.array([t % 9, 1]),
        lambda x, t: {"x": x, "t": [t]},
        lambda x, t: x * t**2 - t // 3,
    ],
    ids=range(10),
)  # fmt: skip
@pytest.mark.parametrize("large", [False, True], ids=["small", "large"])
def test_it_is_what_the_function_gives(f, large):
    compiled = cr.compile(f)
    counts = [*range(20), -3, 0, *((2**31, 2**40, 2**70) if large else ()), True, 5]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", cr.CompileWarning)
        for k, t in enumerate(counts):
            x = X + 0.01 * k
            try:
                expected = f(x, t)
            except ZeroDivisionError as error:
                with pytest.raises(type(error)):
                    compiled(x, t)
                continue
            y = compiled(x, t)
            assert [*map(type, leaves(y))] == [*map(type, leaves(expected))]
            for a, b in zip(leaves(y), leaves(expected), strict=True):
                if type(b) is int:
                    assert b == a
                else:
                    np.testing.assert_allclose(a, b, rtol=1e-12)
                    assert np.asarray(b).dtype == np.asarray(a).dtype


def leaves(y):
    if isinstance(y, dict):
        y = list(y.values())
    return [z for x in y for z in leaves(x)] if isinstance(y, tuple | list) else [y]


@pytest.mark.parametrize("transform", [cr.grad, cr.hessian])
def test_derivatives(transform):
    f = transform(lambda x, t: np.sum(x**3 * t) / (1.0 + t) + np.sum(x) ** 2)
    compiled = cr.compile(f)
    for t in range(12):
        np.testing.assert_allclose(compiled(X + t, t), f(X + t, t), rtol=1e-12)
    assert recordings(compiled) == 1


def test_a_divisor_of_zero_raises():
    compiled = cr.compile(lambda x, t: (x, 7 % t))
    [compiled(X, t) for t in range(1, 12)]
    with pytest.raises(ZeroDivisionError):
        compiled(X, 0)
    assert compiled(X, 5)[1] == 2


def test_integers_that_are_replayed_belong_to_the_kind():
    compiled = cr.compile(lambda x, n: x**n)
    for n in range(2 * COUNTED):
        for _ in range(4):
            np.testing.assert_allclose(compiled(X, n), X**n)
    assert recordings(compiled) == 2 * COUNTED


@pytest.mark.parametrize(
    "f",
    [
        lambda x, t: x * 2 if type(t) is int else x * 3,
        lambda x, t: x * {k: 2 * k for k in range(30)}[t],
        lambda x, t: x * (t is t.real),
    ],
    ids=["type", "key", "attribute"],
)  # fmt: skip
def test_where_it_is_no_input_it_belongs_to_the_kind(f):
    compiled = cr.compile(f)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", cr.CompileWarning)
        for t in range(20):
            np.testing.assert_array_equal(compiled(X, t), f(X, t))


def test_cleared_it_begins_anew():
    compiled = cr.compile(lambda x, t: x * t)
    [compiled(X, t) for t in range(10)]
    assert compiled.counted.positions == {1}
    compiled.clear()
    assert compiled.counted.positions == frozenset()


def test_slow_recordings_do_not_keep_it_from_being_an_input(monkeypatch):
    settle = RecordedPath.settle
    monkeypatch.setattr(RecordedPath, "settle", lambda self, *_: settle(self, 1.0, 0.0, 0.0))
    compiled = cr.compile(adam)
    state = X, np.zeros(3), np.zeros(3)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for t in range(1, 2 * COUNTED):
            state = compiled(*state, t)
    assert recordings(compiled) == 1


def test_truths_among_integers_are_integers_of_machine_code():
    def f(x, y):
        n = (x > 0) + 2
        return x * n + y * (n + (y > 0.5) - 1) * n

    for g in (f, cr.grad(f)):
        compiled = cr.compile(g)
        for k in range(12):
            x, y = (-1) ** k * 0.3 * k, 0.1 * k
            assert compiled(x, y) == g(x, y)
        assert "machine code" in str(cr.explain(compiled))
