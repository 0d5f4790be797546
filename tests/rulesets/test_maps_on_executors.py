"""Maps and folds on threads and on processes: the same numbers as here, to third order."""

import dataclasses
import functools
import pickle
import random
import sys
import types
from concurrent.futures import Future, ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import chainrules as cr
from chainrules.rules.rulesets.functions.executors import pools
from chainrules.rules.rulesets.functions.executors.tasks import HeldResult

cloudpickle = pytest.importorskip("cloudpickle")
# Processes cannot import this file.
cloudpickle.register_pickle_by_value(sys.modules[__name__])

W, V = np.array([0.7, -1.2]), np.array([0.3, 1.0])
XS = np.array([[0.5, 1.0], [-1.5, 2.0], [0.1, -0.4]])


class Inline:
    """An executor of which nothing is known but ``submit``; it runs things at once."""

    def submit(self, f, *args):
        future = Future()
        try:
            future.set_result(f(*args))
        except Exception as error:
            future.set_exception(error)
        return future


@dataclasses.dataclass
class Pair:
    first: float
    rest: np.ndarray
    count: int = 2


def shared(w, xs, **on):
    return sum(cr.map(lambda x: np.sum(np.sin(w * x)) * w[0], list(XS), **on))


def own(w, xs, **on):
    return np.sum(cr.map(lambda x: x**3, xs, **on) * w)


def both(w, xs, **on):
    return np.sum(cr.map(lambda x, k: np.exp(w * x) * k, xs, [1, 2, 3], **on) ** 2 * w[0])


def containers(w, xs, **on):
    def f(pair):
        return {"pair": Pair(pair.first * w[1], pair.rest * w), "name": "x", "n": pair.count}

    ys = cr.map(f, [Pair(x[0], x) for x in xs], **on)
    return sum(y["pair"].first * np.sum(y["pair"].rest ** 2) * y["n"] for y in ys[:2])


def folded(w, xs, **on):
    rows = [np.outer(x, w) + np.eye(2) for x in [*xs, *xs, *xs, *xs]]
    return np.sum(cr.reduce(lambda a, b: a @ b / 2, rows, **on))


PROGRAMS = pytest.mark.parametrize("f", [shared, own, both, containers, folded])
ORDERS = {
    "value": lambda f: f(W, XS),
    "jvp": lambda f: cr.jvp(f, (W, XS), (V, XS[::-1])),
    "grad": lambda f: cr.grad(f, (0, 1))(W, XS),
    "hvp": lambda f: cr.hvp(f, (W, XS), (V, XS[::-1])),
    "hessian": lambda f: cr.hessian(f)(W, XS),
    "reverse over reverse": lambda f: cr.jacrev(cr.grad(f))(W, XS),
    "reverse over forward": lambda f: cr.grad(lambda w: cr.jvp(f, (w, XS), (V, XS))[1])(W),
    "third": lambda f: cr.jvp(cr.hessian(f), (W, XS), (V, XS))[1],
}


def check(f, order, **on):
    expected = ORDERS[order](f)
    found = ORDERS[order](lambda w, xs: f(w, xs, **on))
    for a, b in zip(cr.flatten(expected)[0], cr.flatten(found)[0], strict=True):
        np.testing.assert_allclose(b, a, rtol=1e-11, atol=1e-11)


@PROGRAMS
@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("back", [None, "tape", "recompute"])
def test_threads(f, order, back, threads):
    check(f, order, executor=threads, back=back)


@PROGRAMS
@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("back", [None, "recompute"])
def test_an_executor_that_keeps_nothing(f, order, back):
    check(f, order, executor=Inline(), back=back)


@PROGRAMS
@pytest.mark.parametrize("order", ["grad", "hvp", "third"])
def test_processes(f, order, processes):
    check(f, order, executor=processes)


@pytest.mark.parametrize("order", ORDERS)
def test_slopes(order, threads):
    check(shared, order, executor=threads, back="slopes")
    check(shared, order, executor=Inline(), back="slopes")


# ---- random programs ------------------------------------------------------------------------

BODIES = [
    lambda w, x: np.sum(w * x),
    lambda w, x: np.sin(x) * w[0],
    lambda w, x: (x @ w) ** 2,
    lambda w, x: {"a": x * x, "b": [w[1] * 2.0, 3, "text", None]},
    lambda w, x: (np.sum(x) if np.sum(x) > 0 else w, 1.5),
    lambda w, x: np.float32(2.0) * np.sum(np.where(x > 0, np.sqrt(np.abs(x)), w)),
    lambda w, x: 2.0,
]


def weighed(ys, weights):
    """Use the numbers in some of the results."""
    total = 0.0
    for y, weight in zip(ys, weights):
        for part in cr.flatten(y)[0] if weight else ():
            total = total + weight * part**2
    return total


@pytest.mark.slow
@settings(max_examples=40)
@given(
    body=st.sampled_from(BODIES),
    form=st.sampled_from([list, tuple, np.asarray]),
    count=st.integers(1, 4),
    constant=st.sets(st.integers(0, 3)),
    weights=st.lists(st.sampled_from([0, 1.0, -0.5]), min_size=4, max_size=4),
    order=st.sampled_from(sorted(ORDERS)),
    back=st.sampled_from([None, "tape", "recompute"]),
    in_threads=st.booleans(),
)
def test_random_maps(body, form, count, constant, weights, order, back, in_threads):
    if body in BODIES[3:5]:
        form = list if form is np.asarray else form
    points = np.resize(XS, (4, 2))

    def f(w, xs, **on):
        items = [points[i] if i in constant else xs[i % 3] * (i + 1) for i in range(count)]
        items = cr.array(items) if form is np.asarray else form(items)
        ys = cr.map(lambda x: body(w, x), items, **on)
        return weighed(list(ys), weights) + np.sum(w) ** 3 + np.sum(xs) ** 3

    if in_threads:
        with ThreadPoolExecutor(2) as pool:
            check(f, order, executor=pool, back=back)
    else:
        check(f, order, executor=Inline(), back=None if back == "tape" else back)


# ---- forms, kinds of numbers, functions -------------------------------------------------------


@pytest.mark.parametrize(
    "xs", [[1.0, 2.0], (1.0, 2), np.arange(3), np.ones((2, 2)), [], np.zeros((0, 2)), {1.0: "a"}]
)
def test_form(xs):
    expected, found = cr.map(lambda x: 2 * x, xs), cr.map(lambda x: 2 * x, xs, executor=Inline())
    assert type(expected) is type(found)
    np.testing.assert_array_equal(expected, found)


def test_kinds_of_numbers():
    def total(w, s=1.0):
        return sum(cr.map(lambda x: np.sum(w * x), [s, 2 * s], executor=Inline()))

    assert cr.grad(total)(np.ones(2, np.float32)).dtype == np.float32
    assert cr.grad(total)(3) == 3.0  # an integer counts as a float

    def holomorphic(z):
        return np.abs(np.sum(cr.map(lambda s: z**s, XS[0], executor=Inline()))) ** 2

    def plain(z):
        return np.abs(z**0.5 + z) ** 2

    np.testing.assert_allclose(cr.grad(plain)(1 + 2j), cr.grad(holomorphic)(1 + 2j))


class Model:
    def __init__(self, w):
        self.w = w

    def run(self, x):
        return np.sum(self.w * x)


@pytest.mark.parametrize(
    "bound",
    [
        lambda w: Model(w).run,
        lambda w: functools.partial(np.dot, w),
        lambda w: functools.partial(lambda ws, x: np.sum(ws["w"][0] * x), {"w": [w]}),
        lambda w: lambda x, w=w: np.sum(w * x),
    ],
)
def test_where_f_holds_what_it_captures(bound):
    found = cr.grad(lambda w: sum(cr.map(bound(w), list(XS), executor=Inline())))(W)
    np.testing.assert_allclose(found, XS.sum(axis=0))


@cr.primitive
def doubled(x):
    return 2 * x


cr.scalar_rule(doubled, lambda y, x: 7.0)


def test_rules_of_f_are_asked():
    found = cr.grad(lambda x: sum(cr.map(doubled, [x, x], executor=Inline())))(1.0)
    assert found == 14.0


def test_rules_are_handed_the_config():
    class Loud(cr.ReverseConfig):
        pass

    @cr.primitive
    def square(x):
        return x * x

    @cr.rrule.register(square)
    def square_rrule(config: Loud, square, x):
        def square_pullback(ybar):
            return cr.NoTangent(), 100.0 * ybar

        return square(x), square_pullback

    with ThreadPoolExecutor(1) as pool:

        def f(x):
            return sum(cr.map(square, [x], executor=pool))

        assert cr.grad(f, config=Loud())(1.0) == 100.0


def test_an_unused_result_adds_nothing():
    # 0 * inf would be NaN.
    def second(x, **on):
        return cr.map(np.sqrt, [x[0], x[1]], **on)[1]

    with np.errstate(divide="ignore"), ThreadPoolExecutor(1) as pool:
        for on in ({"executor": pool, "back": "tape"}, {"executor": Inline()}):
            np.testing.assert_array_equal(
                [0.0, 0.25], cr.grad(lambda x, on=on: second(x, **on))(np.array([0.0, 4.0]))
            )


def test_derivatives_inside_of_derivatives():
    def outer(x, **on):
        def inner(y):
            return sum(cr.map(lambda t: x * y**2 * t, [x, 2.0, y], **on))

        return x * cr.grad(inner)(3.0) + cr.hessian(inner)(x)

    with ThreadPoolExecutor(1) as pool:
        for on in ({"executor": pool, "back": "tape"}, {"executor": Inline()}):
            for derivative in (cr.grad, cr.hessian):
                expected = derivative(outer)(1.3)
                found = derivative(lambda x, on=on: outer(x, **on))(1.3)
                np.testing.assert_allclose(found, expected)


def test_derivatives_inside_of_items():
    def loss(w, **on):
        def slope(x):
            return cr.grad(lambda z: np.sin(w * z) * z)(x)

        return sum(cr.map(slope, [0.5, 1.5], **on))

    np.testing.assert_allclose(
        cr.hessian(lambda w: loss(w, executor=Inline()))(0.7), cr.hessian(loss)(0.7)
    )


def test_reduce_takes_an_initial_value():
    on = {"executor": Inline()}
    assert cr.reduce(np.add, [1.0] * 30, 5.0, **on) == 35.0
    assert cr.reduce(np.add, [], 5.0, **on) == cr.reduce(np.add, [5.0], **on) == 5.0
    words = [chr(97 + k) for k in range(26)]
    assert cr.reduce(lambda a, b: a + b, words, **on) == "".join(words)


# ---- errors -----------------------------------------------------------------------------------


def raises(error, match, f, *xs, **on):
    with pytest.raises(error, match=match):
        cr.grad(lambda w: np.sum(sum(cr.map(lambda x: f(w, x), *xs, **on))))(1.5)


def test_no_executor():
    with pytest.raises(TypeError, match=r"(?s)cr.map needs .*submit.*got int, in test_maps_on_ex"):
        cr.map(np.sin, [1.0], executor=2)
    with pytest.raises(TypeError, match=r"cr.reduce needs"):
        cr.reduce(np.add, [1.0], executor="processes")


def test_ways_back():
    with pytest.raises(ValueError, match=r"(?s)needs workers that keep tapes.*Inline"):
        cr.map(np.sin, [1.0], executor=Inline(), back="tape")
    with pytest.raises(ValueError, match="knows 'tape', 'slopes', 'recompute', and None"):
        cr.map(np.sin, [1.0], executor=Inline(), back="tapes")
    raises(
        TypeError, r"(?s)one real number for each item, and it returned float64\[2\]",
        lambda w, x: w * x, list(XS), executor=Inline(), back="slopes",
    )  # fmt: skip


def test_options_without_an_executor():
    with pytest.raises(TypeError, match=r"cr.map\(..., back=...\).*executor"):
        cr.map(np.sin, [1.0], back="tape")
    with pytest.raises(TypeError, match=r"cr.reduce\(..., progress=...\).*executor"):
        cr.reduce(np.add, [1.0], progress=True)


def test_a_rule_that_is_asked_by_name():
    with pytest.raises(NotImplementedError, match="executor"):
        cr.rrule(cr.ReverseConfig(), cr.map, np.sin, [1.0], executor=Inline())


def test_a_function_that_cannot_be_pickled(monkeypatch):
    lock = __import__("threading").Lock()
    what = r"(?s)<lambda>, or what it captures, cannot be pickled.*test_maps_on_ex.*lock.*threads"
    with pytest.raises(TypeError, match=what):
        cr.map(lambda x: lock and x, [1.0], executor=Inline())
    monkeypatch.setitem(sys.modules, "cloudpickle", None)
    with pytest.raises(TypeError, match="pip install cloudpickle"):
        cr.map(lambda x: x, [1.0], executor=Inline())
    assert pools.dumps(np.sin)


def test_the_users_own_error(processes, threads):
    def f(w, x):
        raise ZeroDivisionError("mine")

    for on in ({"executor": threads}, {"executor": processes}):
        with pytest.raises(ZeroDivisionError, match="mine") as caught:
            cr.map(lambda x: f(1.0, x), [1.0, 2.0], **on)
        text = str(caught.value.__cause__) + "".join(str(entry) for entry in caught.traceback)
        assert "test_maps_on_executors.py" in text  # where it was raised


def test_another_value_at_the_second_evaluation():
    rng = np.random.default_rng(0)
    raises(
        cr.MutationError, "(?s)<lambda>, evaluated by cr.map.*gave another value.*random",
        lambda w, x: w * x * rng.random(2), [1.0, 2.0], executor=ThreadPool(), back="recompute",
    )  # fmt: skip


def drawing(w, x):
    return w * np.random.default_rng().random()


def test_another_value_of_what_was_held():
    class Forgetful(ThreadPool):
        """One that loses what its workers held, and has it evaluated again."""

        def submit(self, f, *args):
            task, common, rows, where = args
            rows = [tuple(map(self.sent, row)) for row in rows]
            return super().submit(f, task, common, rows, where)

        def sent(self, x):
            return pickle.loads(cloudpickle.dumps(x)) if type(x) is HeldResult else x

    on = {"executor": Forgetful(), "back": "tape"}
    found = cr.grad(lambda w: sum(cr.map(lambda x: w * x, [1.0, 2.0], **on)))(1.5)
    assert found == 3.0
    raises(cr.MutationError, "gave another value", drawing, [1.0], **on)


class ThreadPool(ThreadPoolExecutor):
    def submit(self, f, *args):
        return Inline().submit(f, *args)


def write_item(w, x):
    x[0] = 1.0
    return np.sum(w * x)


def test_writes_into_items():
    raises(
        cr.MutationError, r"(?s)writes into an item.*copy",
        write_item, [np.ones(2)], executor=ThreadPool(),
    )  # fmt: skip


def test_writes_to_captured_values():
    def loss(w):
        def f(x):
            w[0] = x
            return np.sum(w)

        return sum(cr.map(f, [1.0, 2.0], executor=ThreadPool()))

    with pytest.raises(cr.MutationError, match="writes to a traced value that it captures"):
        cr.grad(loss)(W)


def test_traced_values_in_global_variables():
    def loss(w):
        global GLOBAL
        GLOBAL = w
        return sum(cr.map(lambda x: x * GLOBAL, [1.0], executor=ThreadPool()))

    try:
        with pytest.raises(cr.LostDerivativeError, match=r"(?s)global variable, in test_maps_on"):
            cr.grad(loss)(1.0)
    finally:
        del globals()["GLOBAL"]


class Settings:
    rate = 1.0


class Sampler:
    def __init__(self):
        self.generator = np.random.default_rng(0)

    def draw(self, x):
        return x * self.generator.normal()


def module_of(text):
    module = types.ModuleType("made_for_a_test")
    exec(text, vars(module))
    return module


def test_traced_values_in_modules_and_classes(monkeypatch):
    module = module_of("rate = 1.0\ndef scaled(x): return rate * x")
    monkeypatch.setitem(sys.modules, "made_for_a_test", module)
    monkeypatch.setattr(Settings, "rate", 1.0)
    places = {
        "the module made_for_a_test": lambda x: module.rate * x,
        "a global variable": module.scaled,
        "the class Settings": lambda x: Settings.rate * x,
    }
    for place, f in places.items():

        def loss(w, f=f):
            module.rate = Settings.rate = w
            return sum(cr.map(f, [1.0, 2.0], executor=Inline()))

        with pytest.raises(cr.LostDerivativeError, match=f"reads a traced value from {place}"):
            cr.grad(loss)(0.7)


def test_generators_would_draw_the_same_for_each_item():
    generator = np.random.default_rng(0)
    held = [
        lambda x: x * generator.normal(),
        functools.partial(lambda g, x: x * g.random(), random.Random(0)),
        Sampler().draw,
        cr.grad(lambda x: x * generator.normal()),
        cr.checkpoint(lambda x: x * generator.normal()),
    ]
    for f in held:
        with pytest.raises(cr.MutationError, match=r"captures a generator.*(?s:.*)seed"):
            cr.map(f, [1.0, 2.0], executor=Inline())
    seeded = cr.map(
        lambda x, seed: x * np.random.default_rng(seed).random(),
        [1.0, 1.0],
        [1, 2],
        executor=Inline(),
    )
    assert seeded[0] != seeded[1]


def test_writes_into_what_came_along():
    array, listed = np.zeros(2), [0.0]

    def into_array(x):
        array[0] = x
        return x

    writers = {"array": into_array, "list": lambda x: listed.append(x) or x}
    for held, f in writers.items():
        with pytest.raises(cr.MutationError, match=rf"writes into .*{held} that it captures"):
            cr.map(f, [1.0, 2.0], executor=Inline())
    assert array.flags.writeable
    array[0] = 2.0
    assert cr.map(lambda x: x * array[0], [3.0], executor=Inline()) == [6.0]


@pytest.mark.parametrize("back", [None, "tape", "recompute"])
def test_what_f_leaves_behind_in_threads(back):
    def loss(w):
        log = []
        cr.map(lambda x: log.append(w * x) or x, [1.0], executor=ThreadPool(), back=back)
        return sum(log)

    with pytest.raises(cr.EscapedTraceError):
        cr.grad(loss)(1.0)


def test_a_compiled_function_runs_as_it_always_did():
    f = cr.compile(lambda w: sum(cr.map(lambda x: w * x, [1.0, 2.0], executor=Inline())))
    with pytest.warns(cr.CompileWarning):
        assert f(2.0) == 6.0
    assert f(3.0) == 9.0


# ---- progress ---------------------------------------------------------------------------------


@pytest.mark.slow
def test_progress(monkeypatch, capsys):
    pytest.importorskip("tqdm")
    on = {"executor": ThreadPool(), "progress": True, "back": "tape"}
    cr.grad(lambda w: sum(cr.map(lambda x: np.sum(w * x), list(XS), **on)))(W)
    said = capsys.readouterr().err
    assert "map: 100%" in said
    assert "map, back: 100%" in said
    assert "3/3" in said
    monkeypatch.setitem(sys.modules, "tqdm", None)
    with pytest.raises(ModuleNotFoundError, match=r"(?s)map\(..., progress=True\).*progress\]"):
        cr.map(np.sin, [1.0], **on)


class Sending(Inline):
    """A pool as mpi4py's: what is submitted goes to other processes, and comes back, in text."""

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.closed = True

    def submit(self, f, *args):
        sent = [pickle.loads(cloudpickle.dumps(part)) for part in (f, *args)]
        return Inline.submit(self, *sent)


class Ray:
    """The part of ray that docs/how_to/many_machines.md uses."""

    def remote(self, f):
        return types.SimpleNamespace(remote=lambda *args: self.reference(f, args))

    def reference(self, f, args):
        answer = Sending().submit(f, *args)
        return types.SimpleNamespace(future=lambda: answer)


def submitted_to_ray():
    ray = Ray()

    @ray.remote
    def call(f, *args):
        return f(*args)

    class OnRay:
        def submit(self, f, *args):
            return call.remote(f, *args).future()

    return OnRay()


@pytest.mark.parametrize("make", [Sending, submitted_to_ray])
@pytest.mark.parametrize("f", [shared, containers])
def test_executors_that_take_what_is_sent(f, make):
    on = {"executor": make()}
    np.testing.assert_allclose(
        cr.grad(lambda w: f(w, list(XS), **on))(W), cr.grad(lambda w: f(w, list(XS)))(W), 1e-13
    )
    np.testing.assert_allclose(
        cr.hessian(lambda w: f(w, list(XS), **on))(W),
        cr.hessian(lambda w: f(w, list(XS)))(W),
        1e-12,
    )
    with Sending() as pool:
        assert cr.map(np.sin, [0.0], executor=pool) == [0.0]
    assert pool.closed
