"""Whole scripts, each in a process of its own: threads, interrupts, forks, growth, odd inputs."""

import subprocess
import sys

from fuzz_oracle import CHECKS, Failure
from fuzz_program import Program
from hypothesis import strategies as st

FUNCTIONS = [
    "def f(x):\n    return np.sum(np.sin(x) * x)",
    "def f(x):\n    y = np.zeros_like(x)\n    for i in range(len(x)):\n"
    "        y[i] = np.sin(x[i]) + 0.5 * y[i - 1]\n    return np.sum(y * y)",
    "def f(x):\n    y = x * 1.0\n    y[::2] *= 2.0\n    for v in y:\n        v = v * 2.0\n"
    "    return np.sum(y * y)",
    "def f(x):\n    vs = [x[i] * x[i - 1] for i in range(len(x))]\n    return sum(vs)",
]
HEAD = """\
import concurrent.futures as cf, gc, os, random, signal, threading, time, warnings, weakref
import chainrules.numpy as cnp
warnings.simplefilter("ignore")
x = np.linspace(0.2, 1.4, {n})
right = cr.grad(f)(x)
rng = random.Random({seed})
enter, leave = threading.Event(), threading.Event()
def hanging(t):
    enter.set()
    leave.wait(20)
    return np.sum(t * t)"""
SCENES = {
    "pool inside": """\
many = np.stack([x] * 8)
g = cr.grad(lambda t: sum(f(t[i]) for i in range(8)))(many)
with cf.ThreadPoolExecutor(8) as pool:
    for _ in range(25):
        try:
            same = cr.grad(lambda t: sum(pool.map(f, [t[i] for i in range(8)])))(many)
        except cr.ChainRulesError:
            continue
        assert np.allclose(same, g), "wrong gradient beside other threads"
""",
    "pool outside": """\
with cf.ThreadPoolExecutor(6) as pool:
    for g in pool.map(lambda _: cr.grad(f)(x), range(100)):
        assert np.allclose(g, right), "wrong gradient in a thread"
""",
    "interrupts": """\
def handler(*args):
    raise KeyboardInterrupt
signal.signal(signal.SIGALRM, handler)
for _ in range({times}):
    try:
        signal.setitimer(signal.ITIMER_REAL, rng.uniform(5e-6, 2e-4))
        for _ in range(20):
            cr.{transform}
        signal.setitimer(signal.ITIMER_REAL, 0)
    except KeyboardInterrupt:
        pass
    finally:
        try:
            signal.setitimer(signal.ITIMER_REAL, 0)
        except KeyboardInterrupt:
            pass
    assert gc.isenabled(), "the collector is off after an interrupt"
assert type(cnp.zeros(3)) is np.ndarray, "it counts as recording after an interrupt"
""",
    "signal handler": """\
def handler(*args):
    cr.{transform}
    signal.setitimer(signal.ITIMER_REAL, rng.uniform(1e-5, 3e-4))
signal.signal(signal.SIGALRM, handler)
signal.setitimer(signal.ITIMER_REAL, 1e-4)
end = time.time() + 2
while time.time() < end:
    cr.{transform}
signal.signal(signal.SIGALRM, signal.SIG_IGN)
signal.setitimer(signal.ITIMER_REAL, 0)
""",
    "fork": """\
stop = threading.Event()
def work():
    while not stop.is_set():
        cr.grad(f)(np.linspace(0.2, 1.4, 300))
t = threading.Thread(target=work, daemon=True)
t.start()
for _ in range(10):
    pid = os.fork()
    if pid == 0:
        good = np.allclose(cr.grad(f)(x), right) and gc.isenabled()
        os._exit(0 if good and type(cnp.zeros(3)) is np.ndarray else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0, "state left behind in a child"
stop.set()
t.join()
""",
    "fork inside": """\
import multiprocessing
seen = []
def makes():
    return type(cnp.zeros(3)) is np.ndarray
def h(t):
    with cf.ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("fork")) as pool:
        seen.append(pool.submit(gc.isenabled).result())
        seen.append(pool.submit(makes).result())
    return f(t)
cr.grad(h)(x)
assert all(seen), "a child of a differentiated function has state left behind"
""",
    "hanging thread": """\
t = threading.Thread(target=cr.{outer}, args=(x,), daemon=True)
t.start()
enter.wait()
try:
    assert gc.isenabled(), "the collector is off while a thread hangs"
    assert type(cnp.zeros(3)) is np.ndarray, "chainrules.numpy records in another thread"
finally:
    leave.set()
    t.join()
""",
    "collector inside": """\
cr.grad(lambda t: (gc.disable(), f(t))[1])(x)
assert not gc.isenabled(), "the user's gc.disable() is overruled"
gc.enable()
cr.grad(lambda t: (gc.disable(), f(t), gc.enable())[1])(x)
assert gc.isenabled(), "the user's gc.enable() is overruled"
""",
    "what goes away": """\
def make():
    @cr.primitive
    def p(t):
        return t * t
    cr.scalar_rule(p, lambda y, t: 2 * t)
    cr.grad(lambda t: p(t) + f(x))(1.0)
    y, pullback = cr.vjp(f, x * 1.0)
    class Big(np.ndarray):
        pass
    big = np.ones(3).view(Big)
    cr.grad(lambda t: np.sum(t * big))(x[:3])
    return [weakref.ref(p), weakref.ref(pullback), weakref.ref(big)]
kept = make()
gc.collect()
assert [r() is None for r in kept] == [True] * 3, "kept for ever: " + str([r() for r in kept])
""",
    "generator left": """\
def steps():
    def inside(t):
        seen.append(t)
        return f(t)
    yield cr.grad(inside)(x)
    yield 1
seen = []
g = steps()
next(g)
del g
assert gc.isenabled() and type(cnp.zeros(3)) is np.ndarray
try:
    y = np.sum(seen[0] * 2.0)
except cr.ChainRulesError:
    pass
assert np.allclose(cr.grad(f)(x), right), "a value that outlived its trace"
""",
    "exceptions": """\
for k in range(12):
    calls = []
    def h(t):
        for _ in range(12):
            calls.append(1)
            if len(calls) == k:
                raise ZeroDivisionError
            t = t * 1.0
        return f(t)
    try:
        cr.{transform_of_h}
    except ZeroDivisionError:
        pass
    assert gc.isenabled() and type(cnp.zeros(3)) is np.ndarray, "state after an exception"
assert np.allclose(cr.grad(f)(x), right)
""",
    "growth": """\
def seconds(n):
    make, h = {growing}
    p = make(n)
    best = 9e9
    for _ in range(3):
        start = time.process_time()
        cr.grad(h)(p)
        best = min(best, time.process_time() - start)
    return best
seconds({small})
ratio = seconds(4 * {small}) / max(seconds({small}), 1e-3)
assert ratio < 12, "four times as much takes %.0f times as long" % ratio
""",
    "depth": """\
p = 2.0
for k in range({small}):
    p = {nest}
def h(p):
    while not isinstance(p, float) and not hasattr(p, "ndim"):
        p = p[0] if not isinstance(p, dict) else p["k"]
    return p * p
cr.grad(h)(p)
""",
    "captured": """\
c = np.ones({large})
wrong = 0
for k in range(10):
    def h(t):
        y = t * c
        c[rng.randrange(c.size)] = 5.0
        return np.sum(y)
    c[:] = 1.0
    try:
        wrong += cr.grad(h)(2.0) != c.size
    except cr.MutationError:
        pass
assert not wrong, "a captured array that was changed: %d of 10" % wrong
""",
    "odd inputs": """\
class Foreign:  # speaks neither of NumPy's protocols
    def __init__(self, a): self.a = np.asarray(a, float)
    shape = property(lambda self: self.a.shape)
    ndim = property(lambda self: self.a.ndim)
    dtype = property(lambda self: self.a.dtype)
    size = property(lambda self: self.a.size)
    def __array__(self, dtype=None, copy=None): return np.array(self.a, dtype=dtype)
    def __getitem__(self, i): return Foreign(self.a[i])
    def __len__(self): return len(self.a)
    def __mul__(self, b): return Foreign(self.a * np.asarray(b))
    __rmul__ = __mul__
    def __add__(self, b): return Foreign(self.a + np.asarray(b))
    __radd__ = __add__
odd = {odd}
h = lambda t: {use}
base = {base}
total = lambda t: float(np.sum(np.asarray(h(t), float)))
try:
    expected = (total(base + 1e-6) - total(base - 1e-6)) / 2e-6
except Exception:
    raise SystemExit
try:
    ours = {mode}
except (cr.ChainRulesError, TypeError) as error:
    assert len(str(error)) > 20, error
    raise SystemExit
assert np.allclose(np.asarray(ours, float), expected, rtol=1e-3), "%s for %s" % (ours, expected)
""",
}
TRANSFORMS = [
    "grad(f)(x)",
    "jvp(f, (x,), (x,))",
    "vjp(f, x)[1](1.0)",
    "linearize(f, x)[1](x)",
    "hvp(f, (x,), (x,))",
    "grad(np.sin)(0.7)",
    "value_and_grad(f)(x)",
]
GROWING = [
    '(lambda n: {f"k{i}": 1.0 for i in range(n)}), (lambda p: sum(v * v for v in p.values()))',
    "(lambda n: [1.0] * n), (lambda p: sum(v * v for v in p))",
    "(lambda n: {i: [1.0] for i in range(n)}), (lambda p: sum(v[0] for v in p.values()))",
    "(lambda n: tuple([1.0] * n)), (lambda p: sum(p))",
    "(lambda n: np.ones(n)), (lambda p: [y := p * 1.0, vs := [y[i:i + 1] for i in range(len(p))],"
    " [v.__imul__(2.0) for v in vs], np.sum(y)][-1])",
    "(lambda n: np.ones(n)), (lambda p: sum(p[i] * p[i] for i in range(len(p))))",
    "(lambda n: np.ones(n)), (lambda p: [y := p * 1.0,"
    " [y.__setitem__(i, y[i - 1] * 0.5) for i in range(len(p))], np.sum(y)][-1])",
    "(lambda n: np.ones(n)), (lambda p: sum([v for v in p * 1.0]))",
]
ODD = [
    "Foreign([1.0, 2.0])",
    "np.array([1.0, 2.0], object)",
    "np.array([True, False])",
    "np.array([1, 2], np.float16)",
    "np.array([1.0, 2.0], '>f8')",
    "np.ones(2).view(np.recarray)",
]
USES = [
    "t * odd",
    "odd * t",
    "np.sum(odd * t)",
    "np.sum(t) * odd",
    "np.dot(t, odd)",
    "np.stack([t, odd])",
    "t + odd",
    "np.multiply(odd, t)",
]
CONSTANT = [
    "cr.jvp(lambda t: np.sum(h(t)), (base,), (np.ones(2),))[1]",
    "np.sum(cr.grad(lambda t: np.sum(h(t)))(base))",
]
ARGUMENT = ["cr.jvp(h, (odd,), (np.ones(2),))[1]", "np.sum(cr.grad(h)(odd))"]
OF_ARGUMENT = ["np.sum(t * t) * 1.0", "np.sum(t[1:] * t[:-1]) * 1.0", "np.sum(np.sin(t[0] * t))"]


@st.composite
def scripts(draw, names):
    scene = draw(st.sampled_from(names))
    n, argument = draw(st.sampled_from([3, 8, 60])), draw(st.booleans())
    words = {
        "n": 200 if scene.startswith("pool") else n,
        "seed": draw(st.integers(0, 99)),
        "times": 1500,
        "transform": draw(st.sampled_from(TRANSFORMS)),
        "transform_of_h": draw(st.sampled_from(TRANSFORMS[:5])).replace("(f", "(h"),
        "outer": draw(st.sampled_from(["grad(hanging)", "jacfwd(hanging)", "jacrev(hanging)"])),
        "growing": draw(st.sampled_from(GROWING)),
        "small": draw(st.sampled_from([100, 1000])) if scene != "growth" else 0,
        "nest": draw(st.sampled_from(['{"k": p}', "[p]", "(p,)", '[{"k": p}]'])),
        "large": draw(st.sampled_from([10, 10**4, 10**5, 10**6])),
        "odd": draw(st.sampled_from(ODD[:-2] if argument else ODD)),
        "use": draw(st.sampled_from(OF_ARGUMENT if argument else USES)),
        "mode": draw(st.sampled_from(ARGUMENT if argument else CONSTANT)),
        "base": "np.asarray(odd, float)" if argument else "x[:2]",
    }
    if scene == "growth":
        words["small"] = 50 if "imul" in words["growing"] else 2000
    text = SCENES[scene]
    head = HEAD.replace("{n}", str(words["n"])).replace("{seed}", str(words["seed"]))
    for word, value in words.items():
        text = text.replace("{" + word + "}", str(value))
    function = draw(st.sampled_from(FUNCTIONS))
    return Program((), (), "None", (function, head, text.rstrip("\n")), "script")


QUICK_SCENES = [
    "collector inside",
    "what goes away",
    "generator left",
    "exceptions",
    "odd inputs",
    "hanging thread",
    "depth",
]


def programs():
    return scripts([*SCENES, "odd inputs", "odd inputs", "growth"])


def quick():
    return scripts(QUICK_SCENES)


def script(program):
    """The script ends well, and in time."""
    source = "import numpy as np\nimport chainrules as cr\n" + "\n".join(program.setup)
    command = [sys.executable, "-P", "-c", source]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=100)
    except subprocess.TimeoutExpired:
        yield Failure("a script hangs")
        return
    if done.returncode:
        last = (done.stderr.strip().splitlines() or [f"ended with {done.returncode}"])[-1]
        yield Failure(f"a script: {last.split(':')[0]}: {last.partition(':')[2][:40]}", last[:200])


CHECKS["script"] = script
