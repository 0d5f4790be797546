"""Loops that are one step of a recording: what they may do, and what is refused."""

import dataclasses
import subprocess
import sys
import threading
import warnings
from pathlib import Path

import numpy as np
import pytest
from cached import recordings_of_each

import chainrules as cr

pytest.importorskip("llvmlite")
P = np.array([0.7, 0.4])
LOOPS = cr.loop, cr.scan, cr.while_loop  # at the first use they are imported, by a hook of pytest


def close(found, expected):
    np.testing.assert_allclose(found, expected, rtol=1e-11, atol=1e-13)


def test_one_recording_serves_any_number_of_rounds(rounds):
    def root(p):
        def far(x):
            return abs(x * x / p[0] - 1.0) > 1e-12

        return cr.while_loop(far, lambda x: (x + p[0] / x) / 2, p[0] + p[1])

    gradient = cr.grad(root)
    compiled = cr.compile(gradient, fallback="error")
    for k in range(12):
        p = P * 10.0**k
        close(compiled(p), gradient(p))
    assert recordings_of_each(compiled) == [1]
    assert len(set(rounds)) > 5


@pytest.mark.parametrize("n", [0, 1, 31, 32, 33, 500])
def test_loops_of_few_and_of_many_rounds(n):
    def f(p):
        return cr.loop(n, lambda x: np.sin(x) + p[0] * x, p[1])

    for d in (lambda f: f, cr.grad, cr.hessian):
        close(cr.compile(d(f), fallback="error")(P), d(f)(P))


@pytest.mark.parametrize("start", [-1.0, 0.5, 2.0])
def test_a_while_loop_that_ends_at_once_or_soon(start):
    def f(p):
        return cr.while_loop(lambda x: x < 1.0, lambda x: x + p[0], start)

    compiled = cr.compile(cr.value_and_grad(f))
    for p in (P, 5 * P, P):
        y, g = compiled(p)
        assert y == f(p)
        close(g, cr.grad(f)(p))


rate = 0.9


def test_what_a_step_reads_may_change(rounds):
    global rate

    def step(x, row):
        if x > 2.0:  # not on the way that is recorded first
            return x * rate, x
        return x * 1.1, x

    def f(p):
        return np.sum(cr.scan(step, p[0], np.zeros(60))[1])

    compiled = cr.compile(cr.grad(f))
    for rate in (0.9, 0.5, 0.25, 0.9):  # noqa: B007
        close(compiled(P), cr.grad(f)(P))
    assert rounds
    rate = 0.9


def test_a_structural_zero_stays_one():
    # The slope of a root at 0 is infinite, and times a zero that is stored it would be NaN.
    def step(carry, _):
        x, y = carry
        return (x + 0.1, np.sqrt(y) * 0.0 + np.sqrt(abs(y))), np.sqrt(y)

    def f(p):
        return cr.scan(step, (p[0], 0.0), np.zeros(50))[0][0]

    def g(p):
        return cr.scan(step, (p[0], 0.0 * p[1]), np.zeros(50))[0][0]

    for h in (f, g):
        for d in (cr.grad, cr.jacfwd, cr.hessian):
            with np.errstate(all="ignore"):
                np.testing.assert_array_equal(cr.compile(d(h), check=False)(P), d(h)(P))


def test_counters_stay_python_integers():
    def f(p):
        def step(carry):
            x, k, m = carry
            return x + p[0] * k / (k + 1) + 0.1 * (k > 20), k + 1, m + k * k - 2

        return cr.loop(60, step, (p[1], 0, 0))

    compiled = cr.compile(f, fallback="error")
    for p in (P, 2 * P):
        x, k, m = compiled(p)
        expected = f(p)
        close(x, expected[0])
        assert (k, m) == expected[1:]
        assert type(k) is type(m) is int


def test_integers_that_grow_are_exact():
    def f(p):
        return cr.loop(50, lambda c: (c[0] * p[0] + 1, c[1] * 3 + 1), (p[1], 1))

    compiled = cr.compile(f, fallback="error")
    for p in (P, 2 * P):
        assert compiled(p)[1] == f(p)[1] > 2**70


def test_a_division_by_zero_raises_as_in_python():
    def f(p):
        return cr.scan(lambda x, k: (x + p[0] / (k - 40), None), p[1], range(60))[0]

    # float64 over int is inf in NumPy; a Python float raises.
    def g(p):
        return f(p * 1.0)

    with np.errstate(all="ignore"):
        assert cr.compile(g)(P) == g(P)

    def h(a):
        return cr.loop(60, lambda c: (c[0] + 1.0 / (c[1] - 40.0), c[1] + 1.0), (a, 0.0))[0]

    compiled = cr.compile(h)
    with pytest.raises(ZeroDivisionError):
        compiled(1.0)


@pytest.mark.parametrize("effect", ["append", "print", "draw"])
def test_a_step_that_does_more_than_compute(effect, capsys):
    seen = []

    def step(x, _):
        if effect == "append":
            seen.append(1)
        elif effect == "print":
            print("step")
        return np.sin(x) + (np.random.normal() if effect == "draw" else 0.1), None

    compiled = cr.compile(lambda p: cr.scan(step, p[0], np.zeros(40))[0])
    if effect == "print":
        with pytest.warns(cr.CompileWarning, match="may print"):
            close(compiled(P), cr.scan(step, P[0], np.zeros(40))[0])
        return
    with pytest.raises(cr.CompileError):
        [compiled(P) for _ in range(3)]


class Counter:
    def __init__(self, p):
        self.p, self.calls, self.seen = p, 0, []

    def step(self, x, _):
        self.calls += 1
        return np.sin(x) + 0.1 * self.p, None


@pytest.mark.parametrize("kept", ["list", "values", "array", "object", "late"])
def test_what_a_step_keeps_in_the_function_is_kept_at_each_round(kept):
    def f(p):
        if kept == "object":
            counter = Counter(p[0])
            return cr.scan(counter.step, p[1], np.zeros(40))[0] * counter.calls
        seen, counts = [], np.zeros(2)

        def step(x, row):
            if kept in ("list", "values"):
                seen.append(1.0 if kept == "list" else x)
            elif kept == "array":
                counts[0] += 1
            elif row > 0.5 and x > 1.5:  # not on the way that is recorded first
                seen.append(1.0)
            return np.sin(x) + p[0], None

        end = cr.scan(step, p[1], np.linspace(0, 1, 40))[0]
        return end * (len(seen) + counts[0])

    for check in (False, True):
        for d in (lambda f: f, cr.jacfwd):
            compiled = cr.compile(d(f), check=check)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", cr.CompileWarning)
                for p in (P, 2 * P, 3 * P, P):
                    try:
                        found = compiled(p)
                    except (cr.CompileError, cr.EscapedTraceError):
                        assert kept == "values"
                        break
                    close(found, d(f)(p))


def test_a_step_may_write_into_its_carry():
    def step(x, row):
        x[0] = x[1] * row
        return x, x[0]

    def f(p):
        return np.sum(cr.scan(step, p * 1.0, np.linspace(0.5, 1.0, 50))[1])

    close(cr.compile(cr.grad(f))(P), cr.grad(f)(P))


@dataclasses.dataclass
class State:
    x: float
    v: np.ndarray


def test_containers_are_carried_and_given():
    def f(p):
        def step(s, row):
            new = {"s": State(s["s"].x + row, np.sin(s["s"].v) * p), "n": (s["n"][0] + 1,)}
            return new, {"x": s["s"].x * p[0], "none": None, "v": [s["s"].v]}

        end, ys = cr.scan(step, {"s": State(p[0], p * 1.0), "n": (0,)}, np.linspace(0, 1, 45))
        assert ys["none"] is None
        return end["s"].x + np.sum(end["s"].v) + np.sum(ys["x"]) + np.sum(ys["v"][0]) + end["n"][0]

    for d in (lambda f: f, cr.grad, cr.hessian):
        compiled = cr.compile(d(f), fallback="error")
        for p in (P, 2 * P):
            close(compiled(p), d(f)(p))


@pytest.mark.parametrize("dtype", ["float32", "complex128", "int64"])
def test_other_dtypes_are_right(dtype):
    xs = np.arange(40).astype(dtype)

    def f(p):
        return np.sum(np.abs(cr.scan(lambda c, x: (c * 0.9 + x, c), p[0] + xs[0], xs)[1]))

    compiled = cr.compile(f)
    y = compiled(P)
    assert y.dtype == f(P).dtype
    close(y, f(P))


def test_rows_have_derivatives(rounds):
    def f(x):
        xs = x.reshape(2, 50).T[::-1]
        end, ys = cr.scan(lambda c, row: (c * row[0] + np.sin(row[1]), c * row), 0.3, xs)
        return end + np.sum(ys**2)

    x = np.linspace(0.1, 0.9, 100)
    for d in (cr.grad, cr.jacfwd, lambda f: lambda x: cr.hvp(f, (x,), (x,))):
        compiled = cr.compile(d(f), fallback="error")
        close(compiled(x), d(f)(x))
        close(compiled(x[::-1].copy()), d(f)(x[::-1].copy()))
    assert rounds


def test_a_loop_in_a_loop():
    def f(p):
        def outer(x, row):
            inner = cr.loop(40, lambda y: y + 0.01 * np.sin(p[0] * y), x)

            def far(y):
                return abs(y * y - 2.0 - p[1]) > 1e-10

            return 0.5 * inner + row, cr.while_loop(far, lambda y: (y + (2.0 + p[1]) / y) / 2, 1.5)

        end, ys = cr.scan(outer, p[1], np.linspace(0.0, 0.1, 50))
        return end + np.sum(ys)

    for d in (lambda f: f, cr.grad, cr.hessian):
        compiled = cr.compile(d(f), fallback="error")
        for p in (P, 2 * P):
            close(compiled(p), d(f)(p))


def test_threads_at_once():
    def f(p):
        return cr.loop(200, lambda x: np.sin(x) + p[0] * x * 0.1, p[1])

    compiled = cr.compile(cr.grad(f), fallback="error")
    compiled(P)
    found = {}

    def work(k):
        found[k] = [compiled(P * (1 + k + i)) for i in range(30)]

    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    [t.start() for t in threads]
    [t.join() for t in threads]
    for k, ys in found.items():
        for i, y in enumerate(ys):
            close(y, cr.grad(f)(P * (1 + k + i)))


def test_more_ways_than_are_kept_are_run_in_python():
    def step(x, k):
        for j in range(40):
            if k == j:
                return x * (1.0 + 0.01 * j), None
        return x * p0, None

    p0 = 1.01

    def f(p):
        return cr.scan(step, p[0], range(60))[0]

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", cr.CompileWarning)
        compiled = cr.compile(cr.grad(f))
        for p in (P, 2 * P, P):
            close(compiled(p), cr.grad(f)(p))


def test_what_the_loop_gives_has_the_types_of_the_function():
    def f(a):
        return cr.loop(50, lambda x: x * 0.5 + 1.0, a)

    assert type(cr.compile(f)(2.0)) is type(f(2.0)) is float

    def g(a):
        return cr.loop(50, lambda x: np.sin(x), a)

    assert type(cr.compile(g)(2.0)) is type(g(2.0)) is np.float64


def test_a_step_with_derivatives_on_some_ways_only():
    # At first the best is a constant; on another way it is not, which is not seen at first.
    def f(p):
        def step(carry, row):
            x, best = carry
            x = np.sin(x) + p[0] * row
            return (x, x if row > 0.8 and p[1] > 1.0 else best), None

        (x, best), _ = cr.scan(step, (p[1], 0.0), np.linspace(0.0, 1.0, 50))
        return x + 3.0 * best

    for d in (cr.grad, cr.jacfwd, cr.hessian):
        compiled = cr.compile(d(f), fallback="error")
        for p in (P, 4 * P, 5 * P, P):
            close(compiled(p), d(f)(p))
        assert compiled.unrolls is (d is not cr.grad)


def test_the_benchmark_of_loops():
    pytest.importorskip("scipy")
    script = Path(__file__).parents[3] / "benchmarks" / "loops.py"
    command = [sys.executable, str(script), "--repeats", "3", "--only", "Newton"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1].split()[-2:] == ["1", "|"]


def test_the_explanation_counts_native_loops():
    compiled = cr.compile(cr.grad(lambda p: cr.loop(50, lambda x: np.sin(x) * p[0], p[1])))
    compiled(P)
    assert "2 native loops, and by NumPy" in str(cr.explain(compiled))
