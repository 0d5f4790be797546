"""Long work shows itself, where somebody looks: a bar, or one line without tqdm."""

import contextlib
import io
import math
import sys
import types
from concurrent.futures import ThreadPoolExecutor
from typing import ClassVar

import numpy as np
import pytest

import chainrules as cr
from chainrules.config import progress
from chainrules.scipy import integrate, optimize

X = np.linspace(0.1, 0.9, 6)


class Terminal(io.StringIO):
    def isatty(self):
        return True


class Bar:
    """A bar that keeps what it is told."""

    made: ClassVar[list] = []

    def __init__(self, desc, total, initial, unit):
        self.desc, self.total, self.n, self.unit, self.closed = desc, total, initial, unit, False
        Bar.made.append(self)

    def update(self, count):
        self.n += count

    def set_description_str(self, text, refresh):
        self.desc = text

    def close(self):
        self.closed = True


@pytest.fixture
def terminal(monkeypatch):
    """Let somebody look, to whom all work is long."""
    monkeypatch.setattr(progress, "_is_terminal", lambda stream: True)
    monkeypatch.setattr(progress, "LONG_WORK", -1.0)
    monkeypatch.delenv(progress.SWITCH, raising=False)


@pytest.fixture
def bars(terminal, monkeypatch):
    monkeypatch.setitem(sys.modules, "tqdm.auto", types.SimpleNamespace(tqdm=Bar))
    monkeypatch.setattr(Bar, "made", [])
    return Bar.made


def on_threads():
    with ThreadPoolExecutor(2) as pool:
        return cr.map(np.sin, list(X), executor=pool)


def in_words(x):
    return float(f"{x:.3f}") * x


def item_after_item():
    with pytest.warns(cr.BatchWarning, match="one item after another"):
        return cr.vmap(in_words, ways=2)(X)


@cr.primitive
def at_item(x):
    return np.float64(math.gamma(x))


WORKS = {
    "loop": (lambda: cr.loop(5, np.sin, 1.0), 5, "steps"),
    "scan": (lambda: cr.scan(lambda c, x: (c + x, c), 0.0, X), 6, "steps"),
    "map": (lambda: cr.map(np.sin, X), 6, "items"),
    "threads": (on_threads, 6, "items"),
    "vmap(in_words)": (item_after_item, 6, "items"),
    "at_item": (lambda: cr.vmap(lambda x: at_item(x) + x)(X), 6, "items"),
    "pullbacks": (lambda: cr.jacrev(np.sin)(np.ones(3000)), 3000, "directions"),
    "linear map": (lambda: cr.jacfwd(lambda x: np.sin(x) * x)(np.ones(3000)), None, "operations"),
}


@pytest.mark.parametrize("name", WORKS)
def test_a_bar_that_ends(name, bars):
    work, total, unit = WORKS[name]
    work()
    bar = bars[0]
    assert bar.desc == name.replace("threads", "map")
    assert bar.unit == f" {unit}"
    total = total or bar.total  # of operations there are as many as fit into the memory at once
    assert (total, total, True) == (bar.total, bar.n, bar.closed)


def halved(a):
    return cr.while_loop(lambda x: x > 1e-40, lambda x: x * 0.5, a)


def decayed(rate, method="RK45"):
    return integrate.solve_ivp(lambda t, y: -rate * y, (0.0, 3.0), [1.0], method).y[0, -1]


def nearest(a):
    return optimize.minimize(lambda x: np.sum(np.cosh(x - a)), np.zeros(2), jac=cr.ad, tol=1e-10).x[
        0
    ]


# Nobody knows before how many steps there are.
OPEN = {
    "while_loop": (lambda: halved(1.0), "steps"),
    "while_loop, traced": (lambda: cr.grad(halved)(1.0), "steps"),
    "minimize": (lambda: cr.grad(nearest)(1.0), "evaluations"),
    "root": (
        lambda: cr.grad(lambda a: optimize.root(lambda x: x**3 - a, np.ones(2)).x[0])(2.0),
        "evaluations",
    ),
    "brentq": (lambda: optimize.brentq(lambda x: x**2 - 2.0, 0.0, 2.0), "evaluations"),
    "RK45": (lambda: cr.grad(decayed)(0.5), "steps"),
    "BDF": (lambda: cr.grad(decayed)(0.5, "BDF"), "steps"),
}


@pytest.mark.parametrize("name", OPEN)
def test_a_bar_without_a_total_ends_with_the_work(name, bars):
    work, unit = OPEN[name]
    work()
    bar = bars[0]
    assert bar.desc == name.partition(",")[0]
    assert bar.unit == f" {unit}"
    assert bar.total is None
    assert bar.n > 2
    assert bar.closed


def test_the_way_back_through_steps_is_counted(bars):
    cr.grad(decayed)(0.5, "Radau")
    assert ["Radau", "solve_ivp, back"] == [bar.desc for bar in bars]
    assert bars[1].n == bars[1].total == bars[0].n


@pytest.mark.parametrize("solve", [optimize.minimize, optimize.root])
def test_an_error_ends_the_bar(solve, bars):
    evaluated = []

    def fails(x):
        evaluated.append(x)
        if len(evaluated) > 1:
            raise KeyError("no")
        return np.sum(x**4)

    with pytest.raises(KeyError):
        solve(fails, 1.0)
    assert bars[0].closed


@pytest.mark.parametrize("name", OPEN)
def test_solvers_give_the_same_where_somebody_looks(name, monkeypatch, bars):
    work, _ = OPEN[name]
    watched = work()
    monkeypatch.setenv(progress.SWITCH, "0")
    np.testing.assert_array_equal(work(), watched)


def test_what_a_pullback_evaluates_again_is_counted(bars):
    cr.grad(lambda x: cr.loop(500, lambda c: c * x, 1.0))(0.9)
    assert bars[0].total > 500
    assert bars[0].total == bars[0].n


def test_a_recording(bars):
    def many(x):
        for _ in range(1500):
            x = np.sin(x)
        return x

    cr.compile(many)(1.0)
    (bar,) = bars
    assert "many, machine code" == bar.desc
    assert bar.n >= 1500
    assert bar.closed


def test_one_line_without_tqdm(terminal, monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    cr.loop(5, np.sin, 1.0)
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("loop: 1 of 5 steps after 0 s, about 0 s in all")


@pytest.mark.parametrize("name", WORKS)
def test_nothing_is_shown_where_nobody_looks(name, monkeypatch, bars):
    monkeypatch.setattr(progress, "_is_terminal", lambda stream: False)
    WORKS[name][0]()
    assert [] == bars


@pytest.mark.parametrize("name", WORKS)
def test_it_can_be_switched_off(name, monkeypatch, bars):
    monkeypatch.setenv(progress.SWITCH, "0")
    WORKS[name][0]()
    assert [] == bars


def test_short_work_shows_nothing(monkeypatch, bars):
    monkeypatch.setattr(progress, "LONG_WORK", 60.0)
    for work, *_ in WORKS.values():
        work()
    assert [] == bars


def test_notebooks(monkeypatch):
    monkeypatch.setattr(progress, "_is_terminal", lambda stream: False)
    assert not progress.is_watched()
    monkeypatch.setitem(sys.modules, "ipykernel", types.ModuleType("ipykernel"))
    assert progress.is_watched()


@pytest.mark.parametrize("stream", [io.StringIO(), object(), closed := io.StringIO()])
def test_what_is_no_terminal(stream):
    closed.close()
    assert not progress._is_terminal(stream)
    assert progress._is_terminal(Terminal())


def test_without_a_stream():
    with contextlib.redirect_stderr(None):
        assert not progress.is_watched()


def test_results_are_the_same(monkeypatch, bars):
    f = lambda x: cr.scan(lambda c, v: (np.sin(c + v), c * v), x, X)  # noqa: E731
    shown = cr.vjp(f, 0.5)
    slope = shown[1]((1.0, np.ones(6)))
    second = cr.hessian(lambda x: f(x)[0])(0.5)
    assert bars
    monkeypatch.setenv(progress.SWITCH, "0")
    np.testing.assert_array_equal(shown[0][1], f(0.5)[1])
    np.testing.assert_array_equal(slope, cr.vjp(f, 0.5)[1]((1.0, np.ones(6))))
    np.testing.assert_array_equal(second, cr.hessian(lambda x: f(x)[0])(0.5))


def fails_at(k):
    """Return a function that fails when it is called the k-th time."""
    called = []

    def step(x, *more):
        called.append(x)
        if len(called) == k:
            raise KeyError("no")
        return x * 0.9

    return step


def on_pool(f):
    with ThreadPoolExecutor(2) as pool:
        return cr.map(f, list(X), executor=pool)


FAILING = {
    "map": lambda f: cr.map(f, list(X)),
    "map of the user's own": lambda f: list(cr.map(f, iter(list(X)))),
    "grad of a map": lambda f: cr.grad(lambda x: sum(cr.map(f, list(x))))(X),
    "slopes of a map": lambda f: cr.grad(lambda x: np.sum(cr.map(f, x)))(X),
    "tangents of a map": lambda f: cr.jvp(lambda x: sum(cr.map(f, list(x))), (X,), (X,)),
    "threads": on_pool,
    "loop": lambda f: cr.loop(6, f, 1.0),
    "grad of a loop": lambda f: cr.grad(lambda x: cr.loop(6, f, x))(1.0),
    "scan": lambda f: cr.scan(lambda c, x: (f(c), c), 0.0, X),
    "while_loop": lambda f: cr.while_loop(lambda x: x > 0.1, f, 1.0),
    "grad of a while_loop": lambda f: cr.grad(lambda x: cr.while_loop(lambda c: c > 0.1, f, x))(
        1.0
    ),
    "solve_ivp": lambda f: cr.jvp(
        lambda a: integrate.solve_ivp(lambda t, y: f(y) * a, (0.0, 3.0), [1.0]).y[0, -1],
        (1.0,),
        (1.0,),
    ),
}


@pytest.mark.parametrize("fail", FAILING.values(), ids=FAILING)
def test_an_error_leaves_no_bar(fail, bars):
    with pytest.raises(KeyError) as error:
        fail(fails_at(14 if fail is FAILING["solve_ivp"] else 4))
    assert bars
    assert all(bar.closed for bar in bars)
    del error


def test_steps_that_are_taken_again_are_not_counted(bars):
    cr.grad(halved)(1.0)
    assert [bar.desc for bar in bars] == ["while_loop"]


def test_an_event_ends_the_bar_of_a_solver(bars):
    def low(t, y):
        return y[0] - 0.5

    low.terminal = True
    cr.jvp(
        lambda a: integrate.solve_ivp(lambda t, y: -a * y, (0.0, 3.0), [1.0], events=low).y[0, -1],
        (1.0,),
        (1.0,),
    )
    assert bars[0].closed
