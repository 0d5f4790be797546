"""State that a derivative left behind in the process; each script has a process of its own."""

import subprocess
import sys

import pytest

HEAD = """\
import gc, os, random, signal, threading, time, warnings, weakref
import concurrent.futures as cf
import multiprocessing
import numpy as np
import chainrules as cr
import chainrules.numpy as cnp
warnings.simplefilter("ignore")
enter, leave = threading.Event(), threading.Event()
def hanging(x):
    enter.set()
    leave.wait(20)
    return x * x
def beside_a_thread_that_hangs(check):
    t = threading.Thread(target=cr.grad(hanging), args=(1.0,), daemon=True)
    t.start()
    enter.wait()
    try:
        check()
    finally:
        leave.set()
        t.join()
def clean():
    assert gc.isenabled(), "the collector is off"
    assert type(cnp.zeros(3)) is np.ndarray, "it counts as recording"
"""
SCRIPTS = {
    "interrupts leave the collector on": """
def handler(*args):
    raise KeyboardInterrupt
signal.signal(signal.SIGALRM, handler)
rng = random.Random(0)
for _ in range(3000):
    try:
        signal.setitimer(signal.ITIMER_REAL, rng.uniform(5e-6, 2e-4))
        for _ in range(20):
            cr.grad(lambda t: np.sin(t) * t)(0.7)
        signal.setitimer(signal.ITIMER_REAL, 0)
    except KeyboardInterrupt:
        pass
    finally:
        try:
            signal.setitimer(signal.ITIMER_REAL, 0)
        except KeyboardInterrupt:
            pass
    clean()
""",
    "a fork beside a trace leaves the collector on": """
stop = threading.Event()
def work():
    while not stop.is_set():
        cr.grad(lambda x: sum(np.sin(x) for _ in range(500)))(1.0)
t = threading.Thread(target=work, daemon=True)
t.start()
for _ in range(20):
    pid = os.fork()
    if pid == 0:
        cr.grad(np.sin)(1.0)
        os._exit(0 if gc.isenabled() else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
stop.set()
t.join()
""",
    "workers forked in a differentiated function have the collector on": """
seen = []
def f(x):
    with cf.ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("fork")) as pool:
        seen.append(pool.submit(gc.isenabled).result())
    return x * x
cr.grad(f)(1.0)
assert seen == [True]
""",
    "the collector is on while a thread hangs": """
beside_a_thread_that_hangs(clean)
""",
    "chainrules.numpy makes arrays while another thread hangs": """
def check():
    assert type(cnp.zeros(3)) is np.ndarray
    assert type(cnp.array([1.0, 2.0])) is np.ndarray
beside_a_thread_that_hangs(check)
""",
    "the user's word on the collector holds": """
cr.grad(lambda x: (gc.disable(), x * x)[1])(1.0)
assert not gc.isenabled()
cr.grad(lambda x: (gc.enable(), x * x)[1])(1.0)
assert gc.isenabled()
""",
    "a signal handler may differentiate": """
rng = random.Random(1)
def handler(*args):
    cr.grad(lambda t: t ** 3)(2.0)
    signal.setitimer(signal.ITIMER_REAL, rng.uniform(2e-6, 2e-4))
signal.signal(signal.SIGALRM, handler)
signal.setitimer(signal.ITIMER_REAL, 1e-4)
end = time.time() + 4
while time.time() < end:
    cr.grad(lambda t: t * t)(3.0)
signal.signal(signal.SIGALRM, signal.SIG_IGN)  # a late handler starts the timer once more
signal.setitimer(signal.ITIMER_REAL, 0)
""",
    "primitives and their rules can be collected": """
def make():
    @cr.primitive
    def p(t):
        return t * t
    cr.scalar_rule(p, lambda y, t: 2 * t)
    cr.grad(p)(1.0)
    return weakref.ref(p)
r = make()
gc.collect()
assert r() is None
""",
}


@pytest.mark.slow
@pytest.mark.parametrize("name", SCRIPTS)
def test_nothing_is_left_behind(name):
    command = [sys.executable, "-P", "-c", HEAD + SCRIPTS[name]]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
