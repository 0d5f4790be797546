"""Compiled functions among threads, in each other, in derivatives, and in what calls back."""

import contextlib
import copy
import functools
import inspect
import io
import json
import logging
import math
import pickle
import threading
import time
import types
import warnings

import numpy as np
import pytest
from beside_eager import MODES, VALUE, compiled, differs, program, said

import chainrules as cr
import chainrules.scipy.integrate
import chainrules.scipy.linalg
import chainrules.scipy.optimize
from chainrules.config import CompileError, CompileWarning

X = np.array([1.0, 2.0, 3.0, 4.0])
GRAD = ("value_and_grad",)


# ---- looks of every replay ----------------------------------------------------------------------


@program(modes=GRAD, warns="it uses time.perf_counter")
def test_a_clock_in_the_second_branch(wrap):
    g = wrap(lambda x: np.sum(x) if x[0] > 0 else np.sum(x) * time.perf_counter())
    yield [g(X), g(X), g(2 * X)]
    ys = [float(g(-X)[0]) for _ in range(4)]
    yield len(set(ys))


@program()
def test_many_ways_of_few_branches(wrap):
    def f(x):
        y = 0.0
        for k in range(4):
            y = y + (x[k] if x[k] > 2 else x[k] ** 2 if x[k] > 1 else 3 * x[k])
        return y

    g = wrap(f)
    for k in range(16):
        yield g(np.roll(X, k % 4) - (k % 3))


@program(modes=GRAD, warns="ways through it")
def test_too_many_ways(wrap):
    g = wrap(lambda x: sum(v if v > 0 else v * v for v in x))
    for k in range(40):
        yield g(np.array([1.0 if k >> j & 1 else -1.5 for j in range(6)]) * (k + 1))


@program(modes=GRAD, paths=3, warns="ways through it")
def test_few_paths(wrap):
    g = wrap(lambda x: x * int(cr.value(x)))
    for k in range(8):
        yield g(k + 0.5)


@pytest.mark.slow
@program(modes=VALUE, warns="recorded anew")
def test_many_kinds_of_arguments(wrap):
    g = wrap(lambda x, text: np.sum(x) * len(text))
    for n in (*range(100), *range(100)):
        yield g(X, n * "a")


@program(modes=VALUE)
def test_many_integers(wrap):
    g = wrap(lambda x, n: np.sum(x) * n)
    for n in (*range(100), *range(100)):
        yield g(X, n)


@pytest.mark.slow
@pytest.mark.usefixtures("any_loss_allowed")
@program(modes=VALUE)
def test_many_kinds_of_arguments_that_come_again(wrap):
    g = wrap(lambda x, n: np.sum(x) * n)
    for n in np.repeat(range(100), 4).tolist():
        yield g(X, n)


# ---- threads ------------------------------------------------------------------------------------


def in_threads(work, count=4):
    """Run ``work(k)`` in as many threads at once; return what went wrong."""
    wrong, start = [], threading.Barrier(count)

    def run(k):
        try:
            start.wait()
            work(k)
        except BaseException as error:
            wrong.append(repr(error))

    threads = [threading.Thread(target=run, args=(k,)) for k in range(count)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    return wrong


def branches(x):
    y = np.sum(np.sin(x) ** 2) if x[0] > 0 else np.sum(x**3)
    return y * 2 if x[1] > 1 else y


@pytest.mark.slow
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("first", [True, False])
def test_four_threads_share_one_function(mode, first):
    f = MODES[mode](branches)
    for _ in range(2):
        g = compiled(f)
        if first:
            g(X)

        def work(k, g=g):
            for j in range(60):
                x = (np.linspace(0.1, 1, 300) + (j % 3)) * (-1) ** k
                assert not (found := differs(g(x), f(x))), found
                assert not (found := differs(g(x[:3]), f(x[:3]))), found

        with warnings.catch_warnings():
            warnings.simplefilter("ignore", CompileWarning)
            assert in_threads(work) == []


@pytest.mark.slow
def test_threads_compile_others_and_change_what_is_captured():
    settings = types.SimpleNamespace(rate=1.0)
    shared = compiled(cr.value_and_grad(lambda x: np.sum(np.exp(x)) * settings.rate))

    def work(k):
        for j in range(40):
            own = compiled(cr.value_and_grad(lambda x, j=j: np.sum(x**2) * (j + 1)))
            assert own(X)[0] == 30.0 * (j + 1) == own(X)[0]
            settings.rate = float(j % 2 + 1)
            with contextlib.suppress(CompileError):  # it may not know who has changed the rate
                value, _ = shared(X)
                assert value / np.sum(np.exp(X)) in (1.0, 2.0)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CompileWarning)
        assert in_threads(work) == []


def test_random_numbers_in_a_second_branch_while_threads_run():
    g = compiled(lambda x: np.sum(x) if x[0] > 0 else np.sum(x) * np.random.normal())
    g(X), g(X)
    end = threading.Event()
    thread = threading.Thread(target=end.wait)
    thread.start()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", CompileWarning)
            try:
                found = {float(g(-X)) for _ in range(4)}
            except CompileError:
                return
        assert len(found) == 4
    finally:
        end.set()
        thread.join()


@program(modes=VALUE, warns="")
def test_threads_inside(wrap):
    from concurrent.futures import ThreadPoolExecutor

    def f(x):
        with ThreadPoolExecutor(2) as pool:
            return sum(pool.map(lambda v: v * v, [x[0], x[1], x[2]]))

    g = wrap(f)
    yield [g(X), g(X)]
    yield g(2 * X)


# ---- compiled inside compiled, and recursion ----------------------------------------------------


@program()
def test_compiled_inside_compiled(wrap):
    settings = {"rate": 2.0}
    inner = compiled(lambda x, n=2: np.sum(np.sin(x) ** n) * settings["rate"] if x[0] > 0 else x[1])
    g = wrap(lambda x: inner(x) * inner(2 * x) + inner(-x) + inner(x, 3))
    yield [g(X), g(X), g(2 * X), g(-X)]
    settings["rate"] = 5.0
    yield g(X), g(-X), g(X)


@program()
def test_recursion_through_the_compiled(wrap):
    def power(x, n):
        return x if n == 0 else x * again(x / 2, n - 1)

    again = compiled(power)
    g = wrap(lambda x: again(x, 3) + again(x, 2))
    for x in (2.0, 3.0, -1.0, 2.0):
        yield g(x)


@program()
def test_compiled_methods(wrap):
    class Model:
        def __init__(self, w):
            self.w = w

        @compiled
        def loss(self, x):
            return np.sum(self.w * x**2)

        @staticmethod
        @compiled
        def link(x):
            return np.exp(-x)

        @classmethod
        @compiled
        def scaled(cls, x):
            return x * cls.scale

        @property
        @compiled
        def total(self):
            return np.sum(self.w)

        scale = 2.0

    a, b = Model(np.ones(4)), Model(2 * np.ones(4))
    g = wrap(lambda x: a.loss(x) + b.loss(x) + np.sum(Model.link(x) + a.scaled(x)) * a.total)
    yield [g(X), g(X), g(2 * X)]
    a.w[0], b.w, Model.scale = 7.0, np.zeros(4), 3.0
    yield g(X), g(X)


def test_names_and_signatures():
    def f(x: float, n: int = 2) -> float:
        """A power."""
        return x**n

    g = compiled(f)
    assert (g.__name__, g.__doc__, g.__wrapped__) == ("f", "A power.", f)
    assert inspect.signature(g) == inspect.signature(f)
    assert said(g) == said(f)
    assert said(g, 1.0, 2, 3) == said(f, 1.0, 2, 3)
    assert said(g, 1.0, k=3) == said(f, 1.0, k=3)


# ---- derivatives of the compiled ----------------------------------------------------------------


def curve(x):
    return np.sum(np.exp(-x) * x**3) + x[0] * x[1] if x[0] > 0 else np.sum(np.sin(x))


NESTS = {
    "grad": lambda g: cr.grad(g),
    "value_and_grad": lambda g: cr.value_and_grad(g),
    "jvp": lambda g: lambda x: cr.jvp(g, (x,), (x + 1,)),
    "vjp": lambda g: lambda x: cr.vjp(g, x)[1](2.0),
    "hvp": lambda g: lambda x: cr.hvp(g, (x,), (x + 1,)),
    "hessian": lambda g: cr.hessian(g),
    "jacfwd": lambda g: cr.jacfwd(lambda x: g(x) * x),
    "jacrev": lambda g: cr.jacrev(lambda x: g(x) * x),
    "linearize": lambda g: lambda x: cr.linearize(g, x)[1](x),
    "grad of grad": lambda g: cr.grad(lambda x: np.sum(cr.grad(g)(x) * x)),
    "grad of jvp": lambda g: cr.grad(lambda x: cr.jvp(g, (x,), (X,))[1]),
    "jvp of grad": lambda g: lambda x: cr.jvp(cr.grad(g), (x,), (X,)),
    "three": lambda g: cr.grad(lambda x: cr.hvp(g, (x,), (X,)) @ X),
}


@pytest.mark.parametrize("nest", NESTS)
@pytest.mark.parametrize("where", ["inside", "outside", "both"])
def test_derivatives_of_the_compiled(nest, where):
    inner = curve if where == "outside" else compiled(curve)
    g, h = NESTS[nest](inner), NESTS[nest](curve)
    g = g if where == "inside" else compiled(g)
    warnings.simplefilter("ignore", CompileWarning)
    for x in (X, 2 * X, -X, X, X + 0.5):
        assert not (found := differs(said(g, x), said(h, x))), found


@program(modes=("value_and_grad", "jvp"), warns="")  # the holder keeps what has ended
def test_a_closure_over_a_traced_value(wrap):
    class Holder:
        __slots__ = ("held",)

    holder = Holder()

    def outer(w):
        field, many = types.SimpleNamespace(w=w), [w, {"w": w}]
        holder.held = w
        partial = functools.partial(np.multiply, w)
        scale = lambda x: x * scale.w  # noqa: E731
        scale.w = w
        functions = (
            lambda x: x * w, lambda x: x * field.w, lambda x: x * many[1]["w"], partial,
            lambda x: x * holder.held, scale, lambda x, v=w: x * v,
        )  # fmt: skip
        return sum(inner(3.0) for inner in map(compiled, functions)) * w

    g = wrap(outer)
    for w in (2.0, 3.0, -1.0):
        yield g(w)


@program(modes=VALUE)
def test_one_compiled_function_over_a_value_that_is_traced_at_times(wrap):
    def kept():
        return None

    w = 2.0
    inner = wrap(lambda x: x * w)
    kept.w = 2.0
    other = wrap(lambda x: x * kept.w)

    def outer(v):
        nonlocal w
        w, before = v, w
        try:
            return inner(3.0) * v
        finally:
            w = before

    def through(v):
        kept.w = v
        try:
            return other(3.0) * v
        finally:
            kept.w = 2.0

    yield [inner(3.0), inner(3.0), other(3.0), other(3.0)]
    yield cr.grad(outer)(5.0), inner(3.0), cr.grad(outer)(5.0)
    yield cr.grad(through)(5.0)


# ---- loops of ours, solvers with callbacks ------------------------------------------------------


@program()
def test_checkpoint_map_scan_loop_and_reduce(wrap):
    settings = {"rate": 0.5}

    def step(carry, x):
        carry = np.sin(carry) * settings["rate"] + x
        return carry, carry * x

    def f(x):
        y, ys = cr.scan(step, x[0], x)
        z = cr.loop(3, lambda c: c * settings["rate"] + x[1], y)
        u = cr.reduce(lambda a, b: a * settings["rate"] + b, x)
        m = cr.map(lambda v: np.cos(v) * settings["rate"] + x[2], x)
        c = cr.checkpoint(lambda v: np.sum(v**3) * settings["rate"])(x)
        return np.sum(ys) + z + u + np.sum(m) + c

    g = wrap(f)
    yield [g(X), g(X), g(2 * X)]
    settings["rate"] = 0.25
    yield g(X), g(-X), g(X[:3])


@program()
def test_segments_of_a_loop(wrap):
    def step(carry, x):
        carry = np.sin(carry) * x
        return carry, carry[0]

    def f(x):
        xs = np.concatenate([x, x * 0.5])
        y, ys = cr.scan(step, x, xs, segment=3)
        return np.sum(y) + np.sum(ys) + cr.loop(7, lambda c: c * x[1], x[0], segment=2)

    g = wrap(f)
    yield [g(X), g(X), g(2 * X), g(-X)]


@program(modes=GRAD)
def test_checkpoint_of_what_is_written_to_meanwhile(wrap):
    def f(x, w, late):
        u = w * 1.0
        y = cr.checkpoint(lambda v: np.sum(v * u))(x)
        if late:
            u[0] = u[0] + np.max(w)
        return y

    g = wrap(f)
    for w in (X, 2 * X):
        yield g(X, w, False), said(g, X, w, True)[0], g(2 * X, w, False)


@program(warns="")
def test_linear_algebra_of_scipy(wrap):
    a = np.eye(4) * 3 + np.arange(16.0).reshape(4, 4) / 9

    def f(x):
        y = cr.scipy.linalg.solve(a + np.outer(x, x), x)
        z = np.sum(cr.scipy.linalg.expm(a / 9) @ x)
        return np.sum(y) + np.linalg.slogdet(a + np.diag(x))[1] + z

    g = wrap(f)
    yield [g(X), g(X), g(2 * X)]
    a[0, 0] = 5.0
    yield g(X), said(g, np.full(4, np.nan)), g(X)


@program()
def test_solvers_that_call_back(wrap):
    settings = {"rate": 1.0}

    def root(x):
        return cr.scipy.optimize.brentq(
            lambda u: u**3 * settings["rate"] - x, 0.0, 10.0, xtol=1e-14
        )

    def area(x):
        return cr.scipy.integrate.quad(lambda t: np.sin(t * x) * settings["rate"], 0.0, 1.0)[0]

    g, h = wrap(root), wrap(area)
    yield [g(2.0), g(2.0), h(2.0), h(2.0), g(3.0), h(3.0)]
    settings["rate"] = 2.0
    yield g(2.0), h(2.0), said(g, -5.0), g(2.0)


@program(modes=("value", "jvp"), warns="")
def test_odes_and_minima(wrap):
    def path(x):
        out = cr.scipy.integrate.solve_ivp(lambda t, y: -x * y, (0.0, 1.0), np.ones(2), rtol=1e-8)
        return np.sum(out.y[:, -1])

    g = wrap(path)
    for x in (1.0, 1.0, 2.0, 30.0):
        yield said(g, x)


@program(modes=VALUE, warns="")
def test_plain_solvers_of_scipy(wrap):
    import scipy.optimize

    g = wrap(lambda x: scipy.optimize.brentq(lambda u: u**3 - x, 0.0, 10.0))
    h = wrap(lambda x: scipy.optimize.minimize(lambda u: np.sum((u - x) ** 2), np.zeros(4)).x[0])
    for k in (2.0, 2.0, 3.0):
        yield g(k), round(float(h(k * X)), 4)


@program()
def test_user_primitives_and_opt_outs(wrap):
    settings = {"rate": 2.0}

    @cr.primitive
    def scaled(x):
        return np.array([v * settings["rate"] for v in x.tolist()])

    cr.scalar_rule(scaled, lambda y, x: settings["rate"])
    g = wrap(lambda x: np.sum(scaled(x) ** 2) + np.sum(cr.stop_gradient(x) * x))
    yield [g(X), g(X), g(2 * X)]
    settings["rate"] = 3.0
    yield g(X), g(X)


# ---- pickles and copies -------------------------------------------------------------------------


def cube(x):
    return np.sum(x**3)


@compiled
def decorated(x):
    return np.sum(x**3)


def test_pickles_and_copies():
    g = compiled(cube, paths=3, fallback="error")
    g(X)
    for other in (pickle.loads(pickle.dumps(g)), copy.copy(g), copy.deepcopy(g)):
        assert (other(X), other(2 * X), other.paths) == (cube(X), cube(2 * X), 3)


def test_a_decorated_function_is_pickled():
    assert pickle.loads(pickle.dumps(decorated))(X) == cube(X)


# ---- what is only noticed from outside ----------------------------------------------------------


def test_a_failing_first_call_leaves_nothing():
    g = compiled(lambda x: np.sum(x @ x) if x.ndim == 1 else x["no"])
    with pytest.raises(IndexError):
        g(np.ones((2, 2)))
    assert g(X) == g(X) == 30.0
    with pytest.raises(KeyboardInterrupt):
        compiled(lambda x: (_ for _ in ()).throw(KeyboardInterrupt))(X)
    assert cr.grad(lambda x: x * x)(3.0) == 6.0


def test_an_iterator_that_is_given():
    def f(x, it):
        y = x * sum(it)
        return json.dumps(y)

    g = compiled(f)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CompileWarning)
        for _ in range(3):
            assert g(2.0, iter([1.0, 2.0])) == f(2.0, iter([1.0, 2.0]))


def test_printing_and_files():
    out = io.StringIO()
    g = compiled(lambda x: (print(f"{math.floor(x)}", file=out), x * 2)[1])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CompileWarning)
        assert [g(x) for x in (1.0, 2.0, 1.0)] == [2.0, 4.0, 2.0]
    assert out.getvalue().startswith("1")


@program(modes=GRAD)
def test_loggers(wrap):
    logger = logging.getLogger("chainrules.test")
    logger.setLevel("ERROR")

    def f(x):
        logger.debug("at %s", x)
        return np.sum(x * x)

    g = wrap(f)
    yield [g(X), g(2 * X)]


def test_a_logger_among_thousands():
    manager = logging.Manager(logging.RootLogger(logging.WARNING))
    for k in range(3_000):
        manager.getLogger(f"other.{k}")
    logger = manager.getLogger("ours.of.this")

    def f(x):
        return np.sum(x * x) if logger.isEnabledFor(logging.INFO) else np.sum(x)

    g = cr.compile(f)
    with warnings.catch_warnings():
        warnings.simplefilter("error", CompileWarning)
        assert g(X) == g(X) == f(X) == 10
        manager.getLogger("ours").setLevel(logging.DEBUG)
        assert g(X) == g(X) == f(X) == 30
        manager.disable = logging.CRITICAL  # logging keeps what it answered
        assert g(X) == g(X) == f(X) == 30
        manager.getLogger("ours").setLevel(logging.DEBUG)  # until a level is set
        assert g(X) == g(X) == f(X) == 10
