"""Compiled batches whose items go ways of their own, beside a loop over the items."""

import warnings

import numpy as np
import pytest
from cached import paths
from items_in_a_loop import looped

import chainrules as cr
from chainrules.compiling.compiled import Compiled
from chainrules.compiling.native import available
from chainrules.config import thresholds

pytestmark = pytest.mark.skipif(not available(), reason="no machine code here")
RNG = np.random.default_rng(11)
SCALE = 2.0


def payoff(p):
    if p[0] < 0.8:
        return 0.0 * p[0]
    if p[0] < 1.2:
        return (p[0] - 0.8) ** 2 * p[1]
    return SCALE * p[1] + np.log(p[0] / 1.2)


def constant_on_one_side(p):
    return 0.0 if p[0] < 1.0 else p[1] * np.sin(p[0])


def root(p):
    x = p[0]
    while (x**3 + p[1] * x - p[0]) ** 2 > 1e-20:
        x = x - (x**3 + p[1] * x - p[0]) / (3 * x * x + p[1])
    return x


def root_by_while_loop(p):
    def is_far(x):
        return (x**3 + p[1] * x - p[0]) ** 2 > 1e-20

    return cr.while_loop(is_far, lambda x: x - (x**3 + p[1] * x - p[0]) / (3 * x * x + p[1]), p[0])


def branches_around_a_loop(p):
    def halved(x):
        return x / 2 if x > 1.4 else x - 0.3 * p[1]

    x = cr.while_loop(lambda x: x > 0.9, halved, p[0] + p[1])
    if x > 0.7:
        return x * p[1]
    return -x if p[0] > 1.1 else x * p[0]


def two_loops(p):
    x = cr.while_loop(lambda x: x < 3.0, lambda x: x * 1.5, p[0])
    y = cr.while_loop(lambda y: y < 4.0, lambda y: y * 1.5, p[0])
    return x + y * p[1]


def extremes(p):
    return max(p[0], p[1]) * min(p[0] ** 2, 1.1)


def small_arrays(p):
    x = np.stack([p[0], p[1], 1.0]) if p[0] > 1 else np.stack([p[1], p[1], p[0]])
    return np.sum(np.outer(x, x) @ x)


MOVES = np.linspace(-1.0, 1.0, 40)


def a_chain(p):
    def move(state, by):
        x, accepted = state
        new = x + 0.5 * by * p[1]
        if new * new < x * x + 0.3 + by:
            return (new, accepted + 1), new
        return (x, accepted), x * p[0]

    (x, accepted), path = cr.scan(move, (p[0], 0), MOVES)
    return x * accepted + np.mean(path**2) * p[1]


def a_loop_of_a_fixed_length(p):
    def step(x):
        return x * 0.9 + 0.1 * p[1] if x > 0.6 else x + 0.07

    return cr.loop(50, step, p[0]) if p[1] > 0.8 else p[1] * p[0]


PROGRAMS = (
    a_chain, a_loop_of_a_fixed_length,
    payoff, constant_on_one_side, root, root_by_while_loop, branches_around_a_loop, two_loops,
    extremes, small_arrays,
)  # fmt: skip


def given(count=10):
    return 0.5 + RNG.random((count, 2))


def is_one_loop(compiled):
    """Say whether there is one recording, in which the items are one native loop."""
    how = [" ".join(path.how) for path in paths(compiled)]
    return len(how) == 1 and "loop" in how[0]


TRANSFORMS = {
    "value": (cr.vmap, lambda f: lambda xs: looped(f, xs)),
    "gradient": (lambda f: cr.vmap(cr.grad(f)), lambda f: lambda xs: looped(cr.grad(f), xs)),
    "tangent": (
        lambda f: cr.vmap(lambda x: cr.jvp(f, (x,), (np.cos(x),))[1]),
        lambda f: lambda xs: looped(lambda x: cr.jvp(f, (x,), (np.cos(x),))[1], xs),
    ),
    "Hessian": (lambda f: cr.vmap(cr.hessian(f)), lambda f: lambda xs: looped(cr.hessian(f), xs)),
    "gradient of the sum": (
        lambda f: cr.grad(lambda xs: np.sum(cr.vmap(f)(xs) ** 2)),
        lambda f: lambda xs: looped(cr.grad(lambda x: f(x) ** 2), xs),
    ),
    "tangent of the batch": (
        lambda f: lambda xs: cr.jvp(cr.vmap(f), (xs,), (np.cos(xs),))[1],
        lambda f: lambda xs: looped(lambda x: cr.jvp(f, (x,), (np.cos(x),))[1], xs),
    ),
}


@pytest.mark.parametrize(
    "name", [pytest.param(x, marks=pytest.mark.slow if x == "Hessian" else ()) for x in TRANSFORMS]
)
@pytest.mark.parametrize("f", PROGRAMS)
def test_values_and_derivatives_are_those_of_a_loop(f, name):
    batch, loop = TRANSFORMS[name]
    compiled = cr.compile(batch(f), fallback="error")
    for _ in range(3):
        xs = given()
        np.testing.assert_allclose(compiled(xs), loop(f)(xs), rtol=1e-9, atol=1e-11)
    assert is_one_loop(compiled)


@pytest.mark.slow
@pytest.mark.parametrize("f", PROGRAMS)
def test_a_batch_of_a_compiled_function_is_a_compiled_batch(f):
    compiled = cr.compile(f)
    for transform in (lambda f: f, cr.grad):
        for _ in range(3):
            xs = given()
            ours = cr.vmap(transform(compiled))(xs)
            np.testing.assert_allclose(ours, looped(transform(f), xs), rtol=1e-9, atol=1e-11)
    xs = given()
    ours = cr.grad(lambda xs: np.sum(cr.vmap(compiled)(xs)))(xs)
    np.testing.assert_allclose(ours, looped(cr.grad(f), xs), rtol=1e-9, atol=1e-11)


def test_a_batch_of_a_compiled_function_of_arrays_runs_at_once():
    f = cr.compile(lambda x, w: np.tanh(w @ x))
    w = RNG.normal(size=(3, 3))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for _ in range(3):
            xs = RNG.normal(size=(6, 3))
            np.testing.assert_allclose(cr.vmap(f, (0, None))(xs, w), np.tanh(xs @ w.T), rtol=1e-12)
        twice = cr.vmap(cr.vmap(f, (0, None)), (None, 0))(xs, np.stack([w, -w]))
    np.testing.assert_allclose(twice, np.stack([np.tanh(xs @ w.T), -np.tanh(xs @ w.T)]))


def test_second_derivatives_of_a_sum_over_items():
    def total(w, xs):
        return np.sum(cr.vmap(lambda x: w[0] * w[1] * x if x > 1 else w[1] ** 2 * x)(xs))

    hessian = cr.compile(cr.hessian(total))
    for _ in range(3):
        w, xs = RNG.normal(size=2), 0.5 + RNG.random(9)
        large, small = np.sum(xs[xs > 1]), np.sum(xs[xs <= 1])
        np.testing.assert_allclose(hessian(w, xs), [[0, large], [large, 2 * small]], rtol=1e-12)


def test_what_all_items_share_has_the_sum_of_their_derivatives():
    def loss(w, x):
        return 0.0 if x[0] < 0.8 else w["a"] * x[1] if x[0] < 1.2 else x[1] * np.sum(w["b"] ** 2)

    def total(w, xs):
        return np.sum(cr.vmap(loss, (None, 0))(w, xs))

    compiled = cr.compile(cr.grad(total, argnums=(0, 1)), fallback="error")
    for k in range(3):
        w, xs = {"a": 1.0 + k, "b": RNG.normal(size=3)}, given()
        ours, right = compiled(w, xs), cr.grad(total, argnums=(0, 1))(w, xs)
        np.testing.assert_allclose(ours[0]["a"], right[0]["a"], rtol=1e-12)
        np.testing.assert_allclose(ours[0]["b"], right[0]["b"], rtol=1e-12)
        np.testing.assert_allclose(ours[1], right[1], rtol=1e-12)


def test_containers_integers_and_several_arguments():
    def f(n, x, w):
        k = n * 2 if n > 3 else -n
        return {"k": k, "y": (x * w if x > 0 else x, x), "name": None}

    compiled = cr.compile(cr.vmap(f, (0, 0, None)), fallback="error")
    for _ in range(3):
        n, x = RNG.integers(0, 8, 20), RNG.normal(size=20)
        ours, right = compiled(n, x, 1.5), cr.vmap(f, (0, 0, None))(n, x, 1.5)
        assert ours["k"].dtype == np.int64
        np.testing.assert_array_equal(ours["k"], right["k"])
        np.testing.assert_allclose(ours["y"], right["y"])
        assert ours["name"] is None


@pytest.mark.parametrize(
    "xs",
    [
        np.array([[0.8, 1.0], [1.2, 1.0], [0.0, -0.0], [np.nan, 1.0], [np.inf, 1.0]]),
        np.ones((1, 2)), np.zeros((0, 2)), np.ones((3, 2), np.float32), np.ones((2, 4))[:, ::2],
    ],
)  # fmt: skip
@pytest.mark.parametrize("f", [payoff, cr.grad(payoff), extremes])
def test_edges(f, xs):
    compiled = cr.compile(cr.vmap(f))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        right = cr.vmap(f)(xs)
        for _ in range(3):
            ours = compiled(xs)
            assert (ours.dtype, ours.shape) == (right.dtype, right.shape)
            np.testing.assert_allclose(ours, right, rtol=1e-6)


def test_complex_items_and_results_of_several_types_go_as_before():
    def of_complex(z):
        return z if z.real > 0 else -z

    def of_two_types(x):
        return 0 if x < 1 else x

    def of_truths(x):
        return x > 1 if x < 2 else False

    zs, xs = RNG.normal(size=5) + 1j, np.array([0.5, 1.5, 2.5])
    for f, x in ((of_complex, zs), (of_two_types, xs), (of_truths, xs)):
        compiled = cr.compile(cr.vmap(f))
        for _ in range(3):
            ours, right = compiled(x), cr.vmap(f)(x)
            assert ours.dtype == right.dtype
            np.testing.assert_array_equal(ours, right)


def test_what_items_capture_may_change(monkeypatch):
    tolerance = [1e-2]

    def near(x):
        return cr.while_loop(lambda y: abs(y * y - x) > tolerance[0], lambda y: (y + x / y) / 2, x)

    compiled, roots = cr.compile(cr.vmap(payoff)), cr.compile(cr.vmap(near))
    xs = given()
    for _ in range(3):
        np.testing.assert_allclose(compiled(xs), looped(payoff, xs))
        np.testing.assert_allclose(roots(xs[:, 0]), looped(near, xs[:, 0]))
    monkeypatch.setitem(globals(), "SCALE", 3.0)
    tolerance[0] = 1e-12
    np.testing.assert_allclose(compiled(xs), looped(payoff, xs))
    np.testing.assert_allclose(roots(xs[:, 0]), np.sqrt(xs[:, 0]), rtol=1e-12)


def test_an_error_is_that_of_the_first_item_that_raises():
    def f(x):
        if x > 3:
            raise ValueError(f"too large: {x:.1f}")
        return x if x > 1 else -x

    xs = np.array([0.5, 1.5, 2.0])
    for threads in (1, 2):
        compiled = cr.compile(cr.vmap(f), threads=threads)
        for _ in range(3):
            np.testing.assert_array_equal(compiled(xs), looped(f, xs))
        with pytest.raises(ValueError, match=r"too large: 5\.5"):
            compiled(np.array([0.5, 5.5, 7.0]))
        np.testing.assert_array_equal(compiled(xs), looped(f, xs))


def steps(x):
    n = 0
    while x > 1.0:
        x = x - 0.5
        n = n + 1
    return n


@pytest.mark.slow
def test_more_ways_than_are_native_go_item_after_item_and_say_so():
    xs = np.linspace(1.0, 36.0, 72)
    compiled = cr.compile(cr.vmap(steps), check=False)
    with pytest.warns(cr.BatchWarning, match=r"more than 64 ways, in test_compiled_items\.py"):
        np.testing.assert_array_equal(compiled(xs), looped(steps, xs))
    with pytest.warns(cr.BatchWarning):
        np.testing.assert_array_equal(compiled(xs), looped(steps, xs))


@pytest.mark.slow
def test_the_number_of_native_ways_can_be_raised():
    xs = np.linspace(1.0, 40.0, 90)
    with warnings.catch_warnings():
        warnings.simplefilter("error", cr.BatchWarning)
        compiled = cr.compile(cr.vmap(steps, ways=90), check=False)
        for _ in range(2):
            np.testing.assert_array_equal(compiled(xs), looped(steps, xs))


def test_one_way_is_refused_as_without_compile():
    compiled = cr.compile(cr.vmap(payoff, ways=1))
    with pytest.raises(cr.BatchError, match="a condition"):
        compiled(given())


def test_a_round_of_a_loop_that_is_new_is_found_within_an_item():
    compiled = cr.compile(cr.vmap(branches_around_a_loop), fallback="error")
    alike = np.full((4, 2), 1.05)
    for _ in range(2):
        np.testing.assert_allclose(compiled(alike), looped(branches_around_a_loop, alike))
    xs = np.concatenate([alike[:0], given(4)])
    np.testing.assert_allclose(compiled(xs), looped(branches_around_a_loop, xs), rtol=1e-12)
    assert is_one_loop(compiled)


@pytest.mark.slow
def test_threads_give_the_numbers_of_one(monkeypatch):
    monkeypatch.setattr("chainrules.compiling.loops.item_run.ITEM_PIECE", 100)
    xs = given(1001)
    for f in (payoff, root, branches_around_a_loop, cr.grad(payoff)):
        one, two = (cr.compile(cr.vmap(f), threads=threads) for threads in (1, 3))
        for _ in range(3):
            np.testing.assert_array_equal(one(xs), two(xs))


def test_items_that_are_long_are_no_native_loop():
    size = thresholds.ITEM_OPERATIONS

    def f(x):
        return np.sum(np.tanh(x) ** 2) if x[0] > 0 else x[1]

    xs = RNG.normal(size=(3, size))
    compiled = cr.compile(cr.vmap(f))
    for _ in range(2):
        np.testing.assert_allclose(compiled(xs), looped(f, xs), rtol=1e-12)


def test_a_draw_or_a_write_outside_of_an_item_is_not_lost():
    rng, seen = np.random.default_rng(0), []

    def draws(x):
        return x * rng.normal() if x > 1 else x

    def writes(x):
        if x > 1:
            seen.append(1)
        return x

    xs = np.array([0.5, 1.5])
    compiled = cr.compile(cr.vmap(draws))
    with pytest.warns(cr.BatchWarning, match="draws"), pytest.raises(cr.CompileError):
        compiled(xs)
    compiled = cr.compile(cr.vmap(writes))
    compiled(xs)
    with pytest.raises(cr.CompileError, match="changes what it captures"):
        compiled(xs)


def test_items_at_a_tie_are_found_in_python():
    def f(x):
        return abs(x) * x if x < 2 else x

    compiled = cr.compile(cr.vmap(cr.grad(cr.grad(f))))
    xs = np.linspace(-1.0, 3.0, 41)
    for _ in range(3):
        np.testing.assert_allclose(compiled(xs), looped(cr.grad(cr.grad(f)), xs))
    assert is_one_loop(compiled)


def test_a_batch_in_a_batch():
    def f(x):
        return x * x if x > 1 else -x

    compiled = cr.compile(cr.vmap(cr.vmap(f)))
    for _ in range(3):
        xs = given()
        np.testing.assert_allclose(compiled(xs), np.where(xs > 1, xs * xs, -xs))


def test_explain_names_the_loop():
    compiled: Compiled = cr.compile(cr.vmap(payoff))
    compiled(given())
    assert "a native loop over items, by 3 ways" in str(cr.explain(compiled))
    long = cr.compile(cr.vmap(lambda x: np.sum(x) if x[0] > 0 else x[1]))
    long(RNG.normal(size=(3, 3000)))
    assert "items one after another" in str(cr.explain(long))
