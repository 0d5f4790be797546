"""Loops in segments: what reverse mode keeps, what is lifted out of closures, what is refused."""

import functools
import itertools
import subprocess
import sys
import tracemalloc
import weakref
from pathlib import Path

import numpy as np
import pytest
from both_modes import both_rules

import chainrules as cr
from chainrules.config.thresholds import SHORTEST_SEGMENT as SHORTEST
from chainrules.rules import is_traced, value
from chainrules.rules.rulesets.functions.closures import Lifted, lifted
from chainrules.rules.rulesets.functions.scan import steps_in_segment
from chainrules.testing import check_grad

W = np.array([0.7, -0.4])
XS = np.linspace(-1.0, 1.0, 7)


# ---- memory ---------------------------------------------------------------------------------


def peak_of(f, *args):
    f(*args)  # what is loaded once
    tracemalloc.start()
    f(*args)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return peak


SIZE = 1000  # numbers in the state: 8 kB


def looped(w, n):
    return np.sum(cr.loop(n, lambda c: c + 0.001 * np.sin(w * c), w))


def scanned(w, n):
    def step(c, x):
        return c + 0.001 * np.sin(w * c) * x, np.sum(c)

    carry, ys = cr.scan(step, w, np.linspace(0.0, 1.0, n))
    return np.sum(carry) + np.sum(ys)


def checkpointed(w, n):
    c = w
    for _ in range(0, n, SHORTEST):

        def steps(c):
            for _ in range(SHORTEST):
                c = c + 0.001 * np.sin(w * c)
            return c

        c = cr.checkpoint(steps)(c)
    return np.sum(c)


def gradient(f):
    return lambda w, n: cr.grad(f)(w, n)


def product(f):
    """Forward over reverse."""
    return lambda w, n: cr.hvp(lambda w: f(w, n), (w,), (w,))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("f", "transform"),
    [(looped, gradient), (scanned, gradient), (checkpointed, gradient), (looped, product)],
)
def test_memory_grows_slower_than_the_steps(f, transform):
    w = np.linspace(0.5, 1.0, SIZE)
    short, long = (peak_of(transform(f), w, n) for n in (144, 1296))
    assert long < 2.0 * short
    # Recorded whole it is nine times as much, and at least three states at each step.
    assert long < 1296 * 3 * 8 * SIZE / 5


@pytest.mark.slow
def test_the_measurement_of_long_loops():
    script = Path(__file__).parents[2] / "benchmarks" / "long_loops.py"
    done = subprocess.run(
        [sys.executable, str(script), "--one", "loop", "3000"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert '"error": ' in done.stdout
    error = float(done.stdout.partition('"error": ')[2].rstrip("}\n"))
    assert error < 1e-8


def test_what_is_kept():
    kept = []

    def step(c, x):
        inner = np.exp(-c)
        kept.append(weakref.ref(value(inner)))
        return np.sin(inner) * x, None

    recorded = cr.vjp(lambda w: cr.scan(step, w, XS, segment=3)[0], W)
    # Of seven steps, the last segment is recorded and no other.
    assert [False] * 6 + [True] == [k() is not None for k in kept[:7]]
    assert 2 == len(recorded)


@pytest.mark.parametrize("n", [0, 1, 2, 6, 7, 12])
def test_how_often_a_step_is_evaluated(n):
    calls = []

    def step(c):
        calls.append(1)
        return np.sin(c) + c

    cr.grad(lambda x: cr.loop(n, step, x, segment=3))(0.3)
    again = (max(n - 1, 0) // 3) * 3
    assert len(calls) == n + again


def test_steps_in_a_segment():
    assert [64, 64, 64, 101, 1000] == [
        steps_in_segment(n, None) for n in (0, 1, 4000, 10200, 10**6)
    ]
    assert 5 == steps_in_segment(1000, 5)
    with pytest.raises(ValueError, match="at least one step, not 0"):
        cr.scan(lambda c, x: (c, x), 1.0, XS, segment=0)
    with pytest.raises(TypeError):
        cr.loop(3, np.sin, 1.0, segment=1.5)


# ---- values and rules -----------------------------------------------------------------------


def step(carry, x):
    a, b = carry["a"], carry["b"]
    return {"a": np.tanh(a * x + b), "b": b * 0.9}, (a, {"sum": np.sum(a) * x})


@pytest.mark.parametrize("segment", [None, 1, 3, 7])
@pytest.mark.parametrize("xs", [XS[:5], XS[:4].astype(np.float32), list(XS[:4]), XS[:0], XS[:1]])
def test_the_rules_of_scan(xs, segment):
    carry = {"a": W, "b": 0.3}
    if len(xs):
        both_rules(cr.scan, step, carry, xs, segment=segment)
    plain, traced = cr.scan(step, carry, xs), cr.vjp(lambda c: cr.scan(step, c, xs, segment), carry)
    for a, b in zip(leaves(plain), leaves(traced[0]), strict=True):
        assert (type(a), a.dtype, a.shape) == (type(b), b.dtype, b.shape)
        np.testing.assert_array_equal(a, b)


def leaves(tree):
    if isinstance(tree, cr.Tangent):
        tree = list(tree)
    if isinstance(tree, dict):
        tree = list(tree.values())
    if isinstance(tree, tuple | list):
        return [leaf for part in tree for leaf in leaves(part)]
    return [np.asarray(tree)]


def test_loop():
    assert 8.0 == cr.loop(3, lambda c: 2 * c, 1.0)
    assert 1.0 == cr.loop(0, lambda c: 2 * c, 1.0)
    assert 8.0 == cr.loop(np.int64(3), lambda c: 2 * c, carry=1.0)
    check_grad(lambda x, z: cr.loop(5, lambda c: np.sin(c) * x, z, segment=2), W, W)
    found = cr.grad(lambda z: np.abs(cr.loop(5, lambda c: c * c, z, segment=2)))(0.5 + 0.5j)
    expected = cr.grad(lambda z: np.abs(z**32))(0.5 + 0.5j)
    np.testing.assert_allclose(found, expected, rtol=1e-13)
    with pytest.raises(ValueError, match="not negative, and got -1"):
        cr.loop(-1, np.sin, 1.0)
    with pytest.raises(TypeError):
        cr.loop(2.5, np.sin, 1.0)


@pytest.mark.parametrize("xs", [range(2), np.arange(2), [0, 1]])
@pytest.mark.parametrize("segment", [1, 2])
@pytest.mark.parametrize("carry", [1.0, lambda w: w[0] / cr.value(w[0])])
def test_items_that_are_constant_may_be_an_index(xs, segment, carry):
    def loss(w):
        first = carry(w) if callable(carry) else carry
        return cr.scan(lambda c, k: (c * w[k], k), first, xs, segment)[0]

    expected = W[::-1] + (np.array([W[1], 0.0]) if callable(carry) else 0.0)
    np.testing.assert_allclose(cr.grad(loss)(W), expected)


@pytest.mark.parametrize("segment", [1, 2, 5])
def test_a_step_that_writes_into_its_carry(segment):
    def step(c, x):
        c *= x
        return c, c

    first = W.copy()
    carry, ys = cr.scan(step, first, XS[:5] + 2, segment)
    np.testing.assert_array_equal(W, first)
    np.testing.assert_allclose(ys, W * np.cumprod(XS[:5] + 2)[:, None], rtol=1e-14)
    np.testing.assert_array_equal(ys[-1], carry)
    y, slopes = cr.value_and_grad(lambda w: np.sum(cr.scan(step, w, XS[:5] + 2, segment)[1]))(first)
    np.testing.assert_allclose(np.sum(ys), y, rtol=1e-14)
    np.testing.assert_allclose(slopes, np.sum(np.cumprod(XS[:5] + 2)), rtol=1e-14)
    np.testing.assert_array_equal(W, first)


def test_a_step_with_rules_of_its_own():
    def cube(carry):
        return carry**3

    @cr.rrule.register(cube)
    def cube_rrule(cube, carry):
        def cube_pullback(ybar):
            return cr.NoTangent(), 100 * ybar

        return cube(carry), cube_pullback

    assert 10_000.0 == cr.grad(lambda x: cr.loop(2, cube, x))(1.0)
    assert 10_000.0 == cr.grad(lambda x: cr.loop(2, cube, x, segment=1))(1.0)
    assert 10_000.0 == cr.grad(lambda x: cr.reduce(lambda c, _: cube_of(c), [0, 0], x))(1.0)


def cube_of(carry):
    return 100.0 * carry - cr.stop_gradient(100.0 * carry) + cr.stop_gradient(carry**3)


class OneStepAtATime(cr.RuleConfig, cr.HasForwardsMode, cr.HasReverseMode):
    """An engine that is not known to follow Python, so that it is called back at every step."""

    def __init__(self):
        self.calls = []

    def frule_via_ad(self, tangents, f, *args, **kwargs):
        self.calls.append(f)
        return cr.ForwardConfig().frule_via_ad(tangents, f, *args, **kwargs)

    def rrule_via_ad(self, f, *args, **kwargs):
        self.calls.append(f)
        return cr.ReverseConfig().rrule_via_ad(f, *args, **kwargs)


def mix(c, x):
    return np.sin(c) * x + c


@pytest.mark.parametrize(
    ("function", "args"),
    [
        (cr.scan, (lambda c, x: (mix(c, x), c * x), 0.4, XS)),
        (cr.reduce, (mix, XS)),
        (cr.reduce, (mix, XS, 0.4)),
        (functools.reduce, (mix, XS, 0.4)),
        (cr.accumulate, (mix, XS, 0.4)),
        (cr.accumulate, (mix, tuple(XS))),
    ],
)
def test_engines_that_are_called_back_at_every_step(function, args):
    config = OneStepAtATime()
    one, whole = (cr.rrule(c, function, *args) for c in (config, cr.ReverseConfig()))
    assert 6 <= len(config.calls)
    assert {args[0]} == set(config.calls)
    ybar = one[0] if function is not cr.scan else cr.Tangent(tuple, *one[0])
    for a, b in zip(leaves(one[0]), leaves(whole[0]), strict=True):
        np.testing.assert_array_equal(a, b)
    for a, b in zip(one[1](ybar)[2:], whole[1](ybar)[2:], strict=True):
        for p, q in zip(leaves(a), leaves(b), strict=True):
            np.testing.assert_allclose(p, q, rtol=1e-13)
    tangents = (cr.NoTangent(), cr.NoTangent(), *args[1:])
    if isinstance(args[1], tuple):
        tangents = (*tangents[:2], cr.Tangent(tuple, *args[1]))
    one, whole = (cr.frule(c, tangents, function, *args) for c in (config, cr.ForwardConfig()))
    for a, b in zip(leaves(one[1]), leaves(whole[1]), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-13)


@pytest.mark.parametrize("options", [{}, {"initial": 0.4}], ids=str)
def test_pythons_accumulate_is_called_back_at_every_step(options):
    config, call = OneStepAtATime(), (itertools.accumulate, XS, mix)
    one, whole = (cr.rrule(c, *call, **options) for c in (config, cr.ReverseConfig()))
    assert list(itertools.accumulate(XS, mix, **options)) == list(one[0])
    ybar = 1.0 + np.arange(len(one[0]))
    np.testing.assert_allclose(one[1](ybar)[1], whole[1](ybar)[1], rtol=1e-13)
    tangents = (cr.NoTangent(), XS, cr.NoTangent())
    one, whole = (cr.frule(c, tangents, *call, **options) for c in (config, cr.ForwardConfig()))
    first = len(options)  # it does not move
    np.testing.assert_allclose(list(one[1])[first:], list(whole[1])[first:], rtol=1e-13)
    assert {mix} == set(config.calls)


# ---- what is lifted -------------------------------------------------------------------------


class Model:
    def __init__(self, w):
        self.w, self.count = w, 3

    def __call__(self, c):
        return np.sin(c * self.w)

    def step(self, c):
        return self(c) + self.w


def through_a_default(w):
    return lambda c, w=w, *, v=w: c * w + v


def through_a_function(w):
    def inner(c):
        return c * w

    return lambda c: inner(c) + inner(w)


def through_itself(w):
    def power(c, n=3):
        return c if n == 0 else power(c, n - 1) * w

    return power


def through_two_functions(w):
    def even(c, n=4):
        return c * w if n == 0 else odd(c, n - 1)

    def odd(c, n):
        return c + w if n == 0 else even(c, n - 1)

    return even


def through_containers(w):
    parts = {"a": [w, (w * 2, None)], "f": lambda c: c - w}
    return lambda c: parts["f"](c) * parts["a"][0] + parts["a"][1][0]


def through_a_wrapper(w):
    @functools.wraps(np.sin)
    def f(c):
        return np.sin(c) * w

    return f


WAYS = {
    "variable": lambda w: lambda c: np.sin(c) * w,
    "default": through_a_default,
    "function": through_a_function,
    "itself": through_itself,
    "two functions": through_two_functions,
    "containers": through_containers,
    "partial": lambda w: functools.partial(lambda u, c, *, v: c * u + v, w, v=w),
    "method": lambda w: Model(w).step,
    "object": lambda w: (lambda model: lambda c: model(c))(Model(w)),
    "partial of a method": lambda w: functools.partial(Model.step, Model(w)),
    "wrapper": through_a_wrapper,
}


@pytest.mark.parametrize("make", WAYS.values(), ids=WAYS)
def test_what_is_lifted(make):
    seen = []

    def f(w):
        step = make(np.cos(w))
        found = lifted(step)
        seen.append(type(found) is Lifted and all(map(is_traced, found.values)))
        np.testing.assert_array_equal(value(found(cr.value(w))), value(step(cr.value(w))))
        y = cr.loop(4, lambda c: 0.3 * step(c), w, segment=2)
        return np.sum(y * cr.checkpoint(step)(y))

    def loop(w):
        step, y = make(np.cos(w)), w
        for _ in range(4):
            y = 0.3 * step(y)
        return np.sum(y * step(y))

    np.testing.assert_allclose(cr.grad(f)(W), cr.grad(loop)(W), rtol=1e-13)
    assert [True] == seen
    np.testing.assert_allclose(cr.hessian(f)(W), cr.hessian(loop)(W), rtol=1e-12)
    reverse = cr.jacrev(cr.grad(f))(W)
    np.testing.assert_allclose(reverse, cr.hessian(loop)(W), rtol=1e-12)


def test_what_is_not_lifted():
    assert lifted(np.sin) is np.sin
    assert lifted(mix) is mix
    holder = {}

    def late(c):
        return holder_of()["w"] * c

    def holder_of():
        return globals()["HOLDER"]

    globals()["HOLDER"] = holder

    def f(w):
        holder["w"] = w * 2
        return np.sum(cr.checkpoint(late)(w) * cr.loop(3, late, w, segment=1))

    # A global variable stays where it is, which is right, too.
    np.testing.assert_allclose(cr.grad(f)(W), 16 * 6 * W**5)


def test_a_captured_function_with_a_rule_is_asked_for_it():
    def f(w):
        @cr.primitive
        def scaled(c):
            return c * cr.value(w)

        cr.scalar_rule(scaled, lambda y, c: 100.0)
        return np.sum(cr.checkpoint(lambda c: scaled(c) * w)(w))

    np.testing.assert_allclose(cr.grad(f)(W), 100 * W + W**2)


def test_later_changes_of_what_was_captured():
    def f(w):
        parts, factor = {"w": w * 1.0}, w * 1.0
        y = cr.checkpoint(lambda x: np.sum((x - cr.value(x)) * factor * parts["w"]))(w)
        z = cr.loop(3, lambda c: c * factor * parts["w"], w, segment=1)
        factor[0] = 100.0
        parts["w"] = w * 50.0
        factor = 3.0
        return y + np.sum(z)

    np.testing.assert_allclose(cr.grad(f)(W), W**2 + 7 * W**6)


class Counting:
    """Holds what is differentiated, what counts, and what is computed once."""

    def __init__(self, w):
        self.w, self.count, self.time, self.log, self.known = w, 0, 0.0, [], None

    @functools.cached_property
    def square(self):
        return self.w**2

    def step(self, c):
        self.count += 1
        self.log.append(self.count)
        if self.known is None:
            self.known = np.ones(2)
        return c * self.square * self.known

    def timed(self, c):
        self.time += 0.1
        self.count += 1
        return c * self.w * (self.time + self.count)


def test_objects_that_count():
    counted = []

    def f(w):
        model = Counting(w)
        y = cr.loop(5, model.step, w, segment=2) * cr.checkpoint(model.step)(w)
        counted.append((model.count, len(model.log), model.known is not None))
        return np.sum(y)

    np.testing.assert_allclose(cr.grad(f)(W), 14 * W**13)
    np.testing.assert_allclose(f(W), np.sum(W**14))
    assert [(6, 6, True)] * 2 == counted


@pytest.mark.parametrize("segment", [2, 5])
def test_objects_whose_state_matters(segment):
    """The value goes on from segment to segment; it cannot be had twice, and that is an error."""

    def f(w):
        return np.sum(cr.loop(5, Counting(w).timed, w, segment=segment))

    expected = f(W)
    assert cr.jvp(f, (W,), (W,))[0] == expected
    y, pullback = cr.vjp(f, W)
    assert y == expected
    if segment == 5:
        np.testing.assert_allclose(pullback(1.0)[0], 6 * W**5 * expected / np.sum(W**6))
    else:
        with pytest.raises(cr.MutationError, match="gave another value"):
            pullback(1.0)


class Alone:
    """Refuses to be copied."""

    def __init__(self, w):
        self.w = w

    def __copy__(self):
        return self

    def step(self, c):
        return c * self.w


def test_objects_that_cannot_be_copied_are_not_lifted():
    def f(w):
        return np.sum(cr.loop(5, Alone(w).step, w, segment=2))

    np.testing.assert_allclose(cr.grad(f)(W), 6 * W**5)


def test_objects_that_hold_each_other():
    def f(w):
        one, other = Model(w), Model(w)
        one.other, other.other = other, one
        return np.sum(cr.loop(3, lambda c: one.other.other.other(c), w, segment=1))

    def loop(w):
        y = w
        for _ in range(3):
            y = np.sin(y * w)
        return np.sum(y)

    np.testing.assert_allclose(cr.grad(f)(W), cr.grad(loop)(W), rtol=1e-13)


# ---- what is refused ------------------------------------------------------------------------


def writes_into_an_array(w, run):
    buffer = w * 1.0

    def step(c):
        buffer[0] = c[0]
        return c * buffer

    return run(step, w)


def adds_in_place(w, run):
    total = w * 1.0

    def step(c):
        nonlocal total
        total = total + c
        return c * total

    return run(step, w)


def appends(w, run):
    log = [w * 1.0]

    def step(c):
        log.append(c)
        return c * log[0]

    return run(step, w)


def sets_a_field(w, run):
    model = Model(w * 1.0)

    def step(c):
        model.w = c
        return c * model.w

    return run(step, w)


RUNS = {
    "checkpoint": lambda step, w: np.sum(cr.checkpoint(step)(w)),
    "loop": lambda step, w: np.sum(cr.loop(5, step, w, segment=2)),
}


@pytest.mark.parametrize("run", RUNS.values(), ids=RUNS)
@pytest.mark.parametrize("f", [writes_into_an_array, adds_in_place, appends, sets_a_field])
@pytest.mark.parametrize("transform", [cr.grad, cr.jacfwd, cr.hessian])
def test_writes_to_what_is_captured(f, run, transform):
    what = "step writes to a traced value that it captures"
    with pytest.raises(cr.MutationError, match=what) as caught:
        transform(lambda w: f(w, run))(W)
    assert "carry it along" in str(caught.value)


def test_a_short_loop_may_write_to_what_it_captures():
    def f(w, loop):
        buffer = w * 1.0

        def step(c):
            buffer[0] = c[0]
            return c * buffer

        return np.sum(loop(3, step, np.ones(2)))

    def python(n, step, c):
        for _ in range(n):
            c = step(c)
        return c

    np.testing.assert_allclose(cr.grad(f)(W, cr.loop), cr.grad(f)(W, python), rtol=1e-13)


def random_step(rng):
    return lambda c: c * rng.normal()


def counting_step(calls):
    def step(c):
        calls.append(1)
        return c * len(calls)

    return step


@pytest.mark.parametrize(
    "step", [random_step(np.random.default_rng(0)), counting_step([])], ids=["random", "counting"]
)
@pytest.mark.parametrize("transform", [cr.grad, cr.hessian])
def test_steps_that_do_not_repeat_themselves(step, transform):
    what = r"(step|<lambda>), evaluated in .*test_long_loops.* of a loop, gave another value"
    with pytest.raises(cr.MutationError, match=what) as caught:
        transform(lambda w: np.sum(cr.loop(5, step, w, segment=2)))(W)
    assert "pass to it as an argument whatever may change" in str(caught.value)
    # Recorded whole, nothing is evaluated again.
    assert np.all(np.isfinite(cr.grad(lambda w: np.sum(cr.loop(5, step, w, segment=5)))(W)))


def test_a_captured_array_that_changes():
    def f(w):
        factor = np.ones(2)
        y = cr.scan(lambda c, x: (c * factor, None), w, XS, segment=2)[0]
        factor[:] = 2.0
        return np.sum(y)

    with pytest.raises(cr.MutationError, match="captures has been changed since"):
        cr.grad(f)(W)


def test_an_error_in_a_step_arrives_as_it_is():
    def step(c, x):
        if x > 0.5:
            raise KeyError("in the middle")
        return c * x, None

    for transform in (cr.grad, cr.jacfwd, cr.hessian):
        with pytest.raises(KeyError, match="in the middle"):
            transform(lambda w: np.sum(cr.scan(step, w, XS, segment=2)[0]))(W)
    assert 6.0 == cr.grad(lambda x: cr.loop(3, lambda c: c + x, x, segment=1) * 1.5)(1.0)
