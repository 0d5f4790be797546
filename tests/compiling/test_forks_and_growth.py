"""Forks beside threads that compile; machine code that goes with the kinds that are left out."""

import gc
import os
import subprocess
import sys
import weakref

import numpy as np
import pytest

import chainrules as cr
from chainrules.compiling import boundaries, compiled
from chainrules.compiling.native import available, locks, machine

X = np.ones(20)

FORKS = """
import os, signal, threading, time, warnings
warnings.simplefilter("ignore")
import numpy as np, chainrules as cr
x, stop = np.linspace(0.1, 1.0, 8), []
def busy():
    k = 0.0
    while not stop:
        k += 1
        h = cr.compile(lambda t: np.exp(t) * k + np.sin(t * k)); h(x); h(x)
g = cr.compile(lambda t: np.cos(t) * 2); g(x); g(x)
threads = [threading.Thread(target=busy, daemon=True) for _ in range(2)]
for thread in threads: thread.start()
right = []
for k in range(6):
    time.sleep(0.05 * k)
    child = os.fork()
    if not child:
        signal.alarm(60)
        new = cr.compile(lambda t: np.tanh(t) * 3)
        same = np.allclose(g(x), np.cos(x) * 2) and np.allclose(new(x), np.tanh(x) * 3)
        os._exit(0 if same and np.allclose(new(x), np.tanh(x) * 3) else 1)
    right.append(os.waitpid(child, 0)[1])
stop.append(1)
assert not any(right), right
h = cr.compile(lambda t: t * 5.0)     # the parent goes on, too
assert np.allclose(h(x), x * 5)
"""


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="there are no forks here")
def test_a_child_of_a_process_that_compiles_does_not_hang():
    command = [sys.executable, "-P", "-c", FORKS]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert not done.returncode, done.stderr


FIRST = """
import threading
import numpy as np
import chainrules as cr
x = np.linspace(0.1, 1.2, 6)
def f(x):
    return np.sum(cr.scan(lambda s, t: (s * t, s + np.sin(t)), 1.0, x)[1])
right, wrong, ready = cr.grad(f)(x), [], threading.Barrier(6)
def work():
    ready.wait()
    for _ in range(3):
        g = cr.compile(cr.grad(f))
        wrong.extend(1 for _ in range(3) if not np.allclose(g(x), right))
threads = [threading.Thread(target=work) for _ in range(6)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
assert not wrong
"""


@pytest.mark.slow
def test_threads_that_compile_first_at_once():
    """Code that two threads had made, of which one is kept, was freed in use: the process ended."""
    command = [sys.executable, "-P", "-c", FIRST]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert not done.returncode, done.stderr


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there are no forks here")
@pytest.mark.filterwarnings("ignore:.*fork")  # of threads of others, as of JAX
def test_a_fork_lets_go_of_what_it_holds():
    child = os.fork()
    if not child:
        os._exit(0 if locks.making.acquire(blocking=False) and not locks._held else 1)
    assert os.waitpid(child, 0)[1] == 0
    assert not locks._held


NEW = {
    "integers": lambda k: ((lambda x, n: x * n), (2.0, k)),
    "shapes": lambda k: ((lambda x: np.sum(np.sin(x))), (np.ones(k + 1),)),
    "lambdas": lambda k: ((lambda h, x: np.sum(h(x))), ((lambda t: t * k), X)),
    "gradients": lambda k: (cr.grad(lambda x, n: np.sum(np.sin(x) ** 2) * n), (X, k)),
    "branches": lambda k: ((lambda x, n: x * n if x > 0 else -x), (-1.0, k)),
}


@pytest.fixture
def made(monkeypatch):
    """Weak references to all machine code that is made, while the collector does not run."""
    for example in NEW.values() if available() else ():  # what a process makes once
        f, args = example(3)
        g = cr.compile(f)
        for _ in range(3):
            g(*args)
        g.clear()
    made, init = [], machine.Code.__init__

    def noted(self, *args):
        init(self, *args)
        made.append(weakref.ref(self))

    monkeypatch.setattr(machine.Code, "__init__", noted)
    gc.collect()
    gc.disable()
    yield lambda: sum(code() is not None for code in made)
    gc.enable()


@pytest.mark.slow
@pytest.mark.skipif(not available(), reason="there is no machine code")
@pytest.mark.parametrize("name", NEW)
def test_machine_code_goes_with_its_kind(name, made, monkeypatch):
    monkeypatch.setattr(compiled, "CACHE_ENTRIES", 4)
    g = cr.compile(NEW[name](0)[0])
    for k in range(12):
        args = NEW[name](k)[1]
        for _ in range(3):
            g(*args)
    assert made() <= 5  # and the guard of all
    g.clear()
    assert made() <= 1


@pytest.mark.slow
@pytest.mark.skipif(not available(), reason="there is no machine code")
def test_machine_code_goes_with_its_function(made):
    for k in range(6):
        f, args = NEW["gradients"](k)
        g = cr.compile(f)
        for _ in range(3):
            g(*args)
    del g
    assert made() <= 1


def test_a_kind_that_is_left_out_may_be_running(monkeypatch):
    monkeypatch.setattr(compiled, "CACHE_ENTRIES", 2)

    def f(x, n):
        return np.sum(x) * n

    g = cr.compile(f)
    assert g(X, 1) == g(X, 1) == 20.0
    run = g.kinds[next(iter(g.kinds))].root.run
    assert [g(X, k) for k in range(5)] == [20.0 * k for k in range(5)]
    assert run([X]) == (None, 20.0)


def test_integers_of_one_function_inside_derivatives(monkeypatch):
    monkeypatch.setattr(boundaries, "CACHE_ENTRIES", 3)
    g = cr.compile(lambda x, n: np.sum(x**n))
    for k in range(1, 9):
        assert cr.grad(g)(X, k)[0] == pytest.approx(k)
    assert len(g.bound) <= 3
