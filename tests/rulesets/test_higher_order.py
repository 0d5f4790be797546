"""map, reduce, accumulate, scan, checkpoint, and NumPy's own functions of a function."""

import builtins
import dataclasses
import math
import operator
import tracemalloc

import numpy as np
import pytest
from differences import slope_of

import chainrules as cr
from chainrules.testing import test_frule, test_rrule

XS = np.array([0.3, -1.2, 2.0])
YS = np.array([0.7, 0.4, -0.5])
ROWS = np.array([[0.3, -1.2], [2.0, 0.5], [-0.7, 1.1]])


def bend(x):
    """A function with a branch, which no array can take whole."""
    return x**3 if x > 0 else np.sin(x)


@dataclasses.dataclass
class Line:
    slope: float
    offset: float

    def __call__(self, x):
        return self.slope * x + self.offset * np.sin(x)


LINE = Line(0.5, -0.3)


# ---- map: values ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("expected", "f", "xs"),
    [
        (np.array([1.0, 4.0]), np.square, (np.array([1.0, 2.0]),)),
        ([1.0, 4.0], lambda x: x * x, ([1.0, 2.0],)),
        ((1.0, 4.0), lambda x: x * x, ((1.0, 2.0),)),
        ([3.0, 8.0], operator.mul, ([1.0, 2.0], (3.0, 4.0, 5.0))),
        (np.array([3.0, 8.0]), operator.mul, (np.array([1.0, 2.0]), [3.0, 4.0, 5.0])),
        (np.array([3.0, 7.0]), np.sum, (np.array([[1.0, 2.0], [3.0, 4.0]]),)),
        (
            np.array([[1.0, 2.0], [2.0, 4.0]]),
            lambda x: x * np.array([1.0, 2.0]),
            (np.array([1.0, 2.0]),),
        ),
        (np.array([], np.float32), bend, (np.array([], np.float32),)),
        ([], bend, ([],)),
        ((), bend, ((), [1.0])),
        ([0, 1, 4], lambda x: x * x, (range(3),)),
        (["a1", "b2"], lambda key, x: f"{key}{x}", ({"a": 1, "b": 2}, [1, 2])),
    ],
)
def test_map(expected, f, xs):
    y = cr.map(f, *xs)
    assert type(expected) is type(y)
    np.testing.assert_array_equal(expected, y)


def test_map_keeps_float32():
    assert np.float32 == cr.map(np.sin, XS.astype(np.float32)).dtype
    gradient = cr.grad(lambda x: np.sum(cr.map(np.sin, x)))(XS.astype(np.float32))
    assert np.float32 == gradient.dtype


def test_map_of_containers_gives_a_container_of_stacks():
    y = cr.map(lambda x: (x, {"twice": np.array([x, 2 * x])}), XS)
    np.testing.assert_array_equal(XS, y[0])
    np.testing.assert_array_equal(np.stack([XS, 2 * XS], 1), y[1]["twice"])


def test_map_refuses_to_stack_different_structures():
    with pytest.raises(TypeError, match="results of different structure cannot be stacked"):
        cr.map(lambda x: (x,) if x > 0 else x, XS[::-1])


def test_map_needs_a_sequence():
    with pytest.raises(TypeError, match="at least two arguments"):
        cr.map(np.sin)


# ---- map: the rules -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("f", "xs"),
    [
        (bend, (XS,)),
        (np.sin, (XS,)),
        (bend, ([0.3, -1.2],)),
        (bend, ((0.3, -1.2),)),
        (operator.mul, (XS, YS)),
        (operator.mul, (XS, [0.1, 0.2])),
        (operator.mul, ([0.1, 0.2], XS)),
        (operator.mul, ((0.1, 0.2), (0.3, 0.4, 0.5))),
        (lambda x: x * np.array([1.0, 2.0]), (XS,)),
        (lambda x: (x * x, {"a": np.sin(x)}), (XS,)),
        (lambda x: x * (1 + 2j), (XS,)),
        (lambda z: z * z, (XS + 1j * YS,)),
        (lambda row: np.sum(row**2), (ROWS,)),
        (lambda row: row[::-1] * row, (ROWS,)),
        (lambda row, x: row * x, (ROWS, XS)),
        (lambda x: np.sin(x) if x > 0 else 1.0, (XS,)),
        (LINE, (XS,)),
        (LINE, ([0.3, -1.2],)),
        (lambda pair: pair["a"] * pair["b"], ([{"a": 1.0, "b": 2.0}, {"a": 3.0, "b": 4.0}],)),
        (bend, (XS[:0],)),
        (LINE, (XS[:0],)),
        (bend, ([],)),
    ],
)  # fmt: skip
def test_map_rules(f, xs):
    test_rrule(cr.map, f, *xs)
    test_frule(cr.map, f, *xs)


INTEGERS = np.array([1, 2, 3])


@pytest.mark.parametrize(
    ("expected", "f"),
    [
        ([2.0, 4.0, 6.0], lambda n: np.sum(cr.map(lambda x: x**2, n))),
        ([2.0, 4.0, 6.0], lambda n: sum(cr.map(lambda x: x**2, list(n)))),
        ([6.0, 3.0, 2.0], lambda n: cr.reduce(operator.mul, n)),
        ([6.0, 3.0, 2.0], lambda n: cr.scan(lambda carry, x: (carry * x, None), 1, n)[0]),
        ([2.0, 4.0, 6.0], lambda n: cr.checkpoint(lambda x: np.sum(x * x))(n)),
    ],
)
@pytest.mark.parametrize("transform", [cr.grad, cr.jacfwd])
def test_integers_count_as_float64(transform, f, expected):
    derivative = transform(f)(INTEGERS)
    np.testing.assert_array_equal(expected, derivative)
    assert np.float64 == derivative.dtype


def test_map_gives_zeros_to_surplus_items():
    _, abar, bbar = pull(cr.map, 1.0, operator.mul, XS, [2.0, 3.0])
    np.testing.assert_array_equal([2.0, 3.0, 0.0], abar)
    np.testing.assert_array_equal(XS[:2], list(bbar))
    _, abar, bbar = pull(cr.map, 1.0, operator.mul, [2.0, 3.0], XS)
    assert cr.Tangent(list, *XS[:2]) == abar
    np.testing.assert_array_equal([2.0, 3.0, 0.0], bbar)


def pull(f, scale, *args):
    """Pull a cotangent of ones back through the rule of ``f``, at the function and arguments."""
    y, pullback = cr.rrule(cr.ReverseConfig(), f, *args)
    stacked = isinstance(y, np.ndarray)
    ybar = scale * np.ones_like(y) if stacked else cr.Tangent(list, *[scale] * len(y))
    fbar, *bars = pullback(ybar)
    assert cr.NoTangent() == fbar
    return bars


def test_map_of_a_plain_function_has_no_fbar():
    for xs in (XS, list(XS), XS[:, None], XS[:0], []):
        assert cr.NoTangent() == pull(cr.map, 1.0, lambda x: np.sum(x), xs)[0]
    assert cr.NoTangent() == pull(cr.map, cr.ZeroTangent(), np.sum, list(XS))[0]
    assert cr.ZeroTangent() == pull(cr.map, 1.0, LINE, [])[0]


def test_map_sums_fbar_over_positions():
    fbar, _ = pull(cr.map, 2.0, LINE, XS)
    assert cr.Tangent(Line, slope=2 * np.sum(XS), offset=2 * np.sum(np.sin(XS))) == fbar


def test_zeros_stay_zeros():
    y, pullback = cr.rrule(cr.ReverseConfig(), cr.map, operator.mul, XS, YS)
    assert (cr.ZeroTangent(),) * 4 == pullback(cr.ZeroTangent())
    still = (cr.NoTangent(), cr.NoTangent(), cr.ZeroTangent())
    assert cr.ZeroTangent() == cr.frule(cr.ForwardConfig(), still, cr.map, np.sin, XS)[1]
    assert cr.ZeroTangent() == cr.rrule(cr.ReverseConfig(), cr.map, np.floor, XS)[1](y)[2]
    moving = (*still[:2], np.ones(3))
    assert cr.ZeroTangent() == cr.frule(cr.ForwardConfig(), moving, cr.map, np.floor, XS)[1]


def test_a_cotangent_of_some_items_only():
    _, pullback = cr.rrule(cr.ReverseConfig(), cr.map, bend, list(XS))
    xsbar = pullback(cr.Tangent(list, 1.0, cr.ZeroTangent(), cr.ZeroTangent()))[2]
    assert cr.Tangent(list, 3 * 0.3**2, 0.0, 0.0) == xsbar


class Counter:
    """A function that remembers how often it was called: the value depends on it."""

    def __init__(self):
        self.calls = []

    def __call__(self, x, *others):
        self.calls.append(float(cr.value(x)))
        return sum((len(self.calls) * part for part in (x, *others)), 0.0)


def stateful(seen):
    """A primitive whose pullback writes down its argument."""

    @cr.primitive
    def f(x):
        return 2 * x

    @cr.rrule.register(f)
    def f_rrule(f, x):
        def f_pullback(ybar):
            seen.append(float(x))
            return cr.NoTangent(), 2 * ybar

        return f(x), f_pullback

    return f


@pytest.mark.parametrize("xs", [XS, list(XS), tuple(XS)])
def test_pullbacks_run_in_reverse_order(xs):
    seen = []
    _, pullback = cr.rrule(cr.ReverseConfig(), cr.map, stateful(seen), xs)
    assert [] == seen
    pullback(np.ones(3) if isinstance(xs, np.ndarray) else [1.0] * 3)
    assert list(XS[::-1]) == seen


def test_a_stateful_function_is_called_once_an_item():
    for xs in ((XS,), (list(XS),), (XS, YS)):
        count = Counter()
        gradients = cr.grad(
            lambda *xs, f=count: sum(cr.map(lambda *x: f(*x), *xs)), tuple(range(len(xs)))
        )(*xs)
        assert list(XS) == count.calls
        for gradient in gradients:
            np.testing.assert_array_equal([1.0, 2.0, 3.0], gradient)


def test_a_function_with_vectors_for_results_is_called_once_an_item():
    calls = []

    def powers(x):
        calls.append(None)
        return np.stack([x, x * x])

    gradient = cr.grad(lambda xs: np.sum(cr.map(powers, xs)))(XS)
    np.testing.assert_allclose(1 + 2 * XS, gradient)
    assert 3 == len(calls)


def test_a_function_that_only_has_an_rrule_keeps_it():
    seen = []
    np.testing.assert_array_equal(
        [2.0] * 3, cr.grad(lambda xs: np.sum(cr.map(stateful(seen), xs)))(XS)
    )
    assert list(XS[::-1]) == seen


def test_a_call_that_only_reverse_mode_has_a_rule_for():
    gradient = cr.grad(lambda xs: np.sum(cr.map(lambda x: 3 * only_reverse(x), xs)))(XS)
    np.testing.assert_allclose(3 * np.cos(XS), gradient)


only_reverse = cr.primitive(math.sin)


@cr.rrule.register(only_reverse)
def only_reverse_rrule(only_reverse, x):
    def only_reverse_pullback(ybar):
        return cr.NoTangent(), np.cos(x) * ybar

    return only_reverse(x), only_reverse_pullback


# ---- map: engines ---------------------------------------------------------------------------


class FiniteDifferenceConfig(cr.RuleConfig, cr.NoReverseMode, cr.HasForwardsMode):
    """A third engine: it pushes tangents through functions by differences alone."""

    def frule_via_ad(self, tangents, f, *args, **kwargs):
        answer = cr.frule(self, tangents, f, *args, **kwargs)
        if answer is not None:
            return answer
        h = 1e-5
        ahead, behind = (
            f(*(x + step * xdot for x, xdot in zip(args, tangents[1:])), **kwargs)
            for step in (h, -h)
        )
        return f(*args, **kwargs), (ahead - behind) / (2 * h)


class CountingConfig(cr.RuleConfig, cr.HasReverseMode):
    """Reverse mode, and a tally of what rules ask for."""

    def __init__(self):
        self.pulled = self.pushed = 0

    def rrule_via_ad(self, f, *args, **kwargs):
        self.pulled += 1
        return cr.rrule_via_ad(cr.ReverseConfig(), f, *args, **kwargs)


class OnlyReverseConfig(CountingConfig, cr.NoForwardsMode):
    pass


class BothConfig(CountingConfig, cr.HasForwardsMode):
    def frule_via_ad(self, tangents, f, *args, **kwargs):
        self.pushed += 1
        return cr.frule_via_ad(cr.ForwardConfig(), tangents, f, *args, **kwargs)


@pytest.mark.parametrize("map", [cr.map, builtins.map])
def test_a_third_engine_runs_the_same_rule(map):
    tangents = (cr.NoTangent(), cr.NoTangent(), YS)
    y, ydot = cr.frule_via_ad(FiniteDifferenceConfig(), tangents, map, bend, XS)
    expected = [bend(x) for x in XS], [3 * x**2 if x > 0 else np.cos(x) for x in XS] * YS
    np.testing.assert_array_equal(expected[0], y)
    np.testing.assert_allclose(expected[1], list(ydot), rtol=1e-8)


def test_a_third_engine_runs_the_rules_of_folds():
    config = FiniteDifferenceConfig()
    tangents = (cr.NoTangent(), cr.NoTangent(), YS)
    _, ydot = cr.frule_via_ad(config, tangents, cr.reduce, operator.mul, XS)
    np.testing.assert_allclose(np.sum(np.prod(XS) / XS * YS), ydot, rtol=1e-8)


def test_an_engine_with_forward_mode_only_has_no_rrule_of_map():
    assert cr.rrule(FiniteDifferenceConfig(), cr.map, bend, XS) is None
    assert cr.rrule(cr.ForwardConfig(), cr.map, bend, XS) is None


def test_without_a_config_there_is_no_rule():
    for map in (cr.map, builtins.map):
        assert cr.rrule(map, bend, XS) is None
        assert cr.frule((cr.NoTangent(), cr.NoTangent(), YS), map, bend, XS) is None


def test_reverse_mode_alone_takes_the_rule_with_pullbacks():
    config = OnlyReverseConfig()
    _, pullback = cr.rrule(config, cr.map, bend, XS)
    assert (3, 0) == (config.pulled, config.pushed)
    np.testing.assert_allclose([0.27, np.cos(-1.2), 12.0], pullback(np.ones(3))[2])


@pytest.mark.parametrize(
    ("expected", "f", "xs"),
    [
        ((0, 3), bend, (XS,)),
        ((0, 3), bend, (np.array([1, 2, 3]),)),
        ((3, 0), bend, (list(XS),)),
        ((3, 0), bend, (XS + 0j,)),
        ((3, 0), np.sum, (ROWS,)),
        ((3, 0), operator.mul, (XS, YS)),
        ((3, 0), LINE, (XS,)),
    ],
)
def test_both_modes_push_where_the_items_are_real_numbers(expected, f, xs):
    config = BothConfig()
    cr.rrule(config, cr.map, f, *xs)
    assert expected == (config.pulled, config.pushed)


def test_which():
    forward = cr.which(cr.rrule, cr.ReverseConfig(), cr.map, bend, XS)
    assert forward.startswith("rrule of map for (function, ndarray): map_numbers_rrule (map.py:")
    assert "AllOf[HasForwardsMode, HasReverseMode]" in forward
    reverse = cr.which(cr.rrule, OnlyReverseConfig(), cr.map, bend, XS)
    assert reverse.startswith("rrule of map for (function, ndarray): map_rrule (map.py:")
    assert reverse.endswith("OnlyReverseConfig() has HasReverseMode")
    none = cr.which(cr.rrule, cr.map, bend, XS)
    assert "none; those registered ask for" in none
    assert none.endswith("and no config was given")


class Loud:
    """A trait of one's own."""


class LoudConfig(FiniteDifferenceConfig, Loud):
    pass


def test_a_trait_of_ones_own():
    @cr.primitive
    def shout(x):
        return x

    @cr.frule.register(shout)
    def shout_frule(tangents, shout, x):
        return x, tangents[1]

    @cr.frule.register(shout)
    def shout_loudly_frule(config: Loud, tangents, shout, x):
        return x, 100 * tangents[1]

    def answer(config):
        return cr.frule_via_ad(config, (cr.NoTangent(), cr.NoTangent(), YS), cr.map, shout, XS)[1]

    np.testing.assert_array_equal(YS, answer(FiniteDifferenceConfig()))
    np.testing.assert_array_equal(100 * YS, answer(LoudConfig()))
    np.testing.assert_array_equal(YS, answer(cr.ForwardConfig()))


@pytest.mark.slow
def test_map_through_forward_mode_keeps_a_number_an_item():
    xs = np.linspace(0.1, 1.0, 2000)

    def long_way(x):
        for _ in range(50):
            x = np.sin(x)
        return x

    def kept(config):
        tracemalloc.start()
        answer = cr.rrule(config, cr.map, long_way, xs)
        size, _ = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        return size, answer

    size, (_, pullback) = kept(cr.ReverseConfig())
    assert 100 * xs.size > size
    taped, (_, taped_pullback) = kept(OnlyReverseConfig())
    assert 1000 * xs.size < taped
    np.testing.assert_allclose(
        taped_pullback(np.ones_like(xs))[2], pullback(np.ones_like(xs))[2], rtol=1e-12
    )


@pytest.mark.parametrize(
    "f",
    [
        lambda a: cr.map(lambda t: t * np.sum(a), a),
        lambda a: cr.map(lambda t: np.sin(t * a[0, 1]), a[0]),
        lambda a: cr.map(lambda t: [t * a[0, 0], {"b": np.sum(a) * t}], [*a])[0][1]["b"],
        lambda a: cr.reduce(lambda carry, t: np.sin(carry * t * np.sum(a)), a),
        lambda a: cr.scan(lambda carry, t: (carry * t * np.sum(a), t * a[0]), a[0], a)[1],
        lambda a: np.apply_along_axis(lambda t: t * np.sum(a**2), 0, a),
        lambda a: cr.checkpoint(lambda t: t * np.sum(a * a))(a),
    ],
)
def test_jacobians_where_the_function_captures_what_is_differentiated(f):
    """The recorded pullback runs when the tape that the captured values are of is closed."""
    a = np.arange(1.0, 7.0).reshape(2, 3)
    expected = cr.jacfwd(f)(a)
    np.testing.assert_allclose(expected, cr.jacrev(f)(a), rtol=1e-12)
    sparse = cr.jacrev(f, sparse=True)(a).toarray()
    np.testing.assert_allclose(expected, sparse.reshape(expected.shape), rtol=1e-12)
    second = cr.jacfwd(cr.jacfwd(f))(a)
    for transform in (cr.jacfwd, cr.jacrev):
        np.testing.assert_allclose(second, transform(cr.jacrev(f))(a), rtol=1e-11, atol=1e-12)


# ---- functions that capture traced values, given to a primitive whose arguments are plain -------


@cr.primitive
def euler(rhs, z, steps):
    """A solver that is no NumPy: it keeps plain numbers."""
    path = np.zeros((steps + 1, len(z)))
    path[0] = z
    for i in range(steps):
        path[i + 1] = path[i] + 0.1 * rhs(path[i])
    return path[-1]


@cr.frule.register(euler)
def euler_frule(tangents, euler, rhs, z, steps):
    _, _, zdot, _ = tangents
    zdot = np.zeros(len(z)) if isinstance(zdot, cr.ZeroTangent) else zdot

    def augmented(both):
        return np.concatenate([rhs(both[: len(z)]), -zdot * both[0]])

    both = euler(augmented, np.concatenate([z, np.ones(len(z))]), steps)
    return both[: len(z)], both[len(z) :]


def captured_by_the_program(k):
    return np.sum(euler(lambda z: -k * z, np.ones(2), 3))


def captured_by_the_rule(k):
    return np.sum(euler(lambda z: -z, k * np.ones(2), 3))


def in_jacfwd(f):
    return cr.jacfwd(lambda k: f(k[0] * k[1]))(np.array([2.0, 1.0]))


def in_linearize(f):
    return cr.linearize(f, 2.0)


def in_hessian(f):
    return cr.hessian(lambda k: f(k[0]))(np.ones(2))


MESSAGE = (
    r"(?s)^euler was called with a function that captures a traced value, in test_h.* pass the"
)


@pytest.mark.parametrize("run", [in_jacfwd, in_linearize])
def test_a_rule_that_captures_a_traced_tangent_is_to_pass_it_as_an_argument(run):
    """In jvp the tangent is a plain number; elsewhere it is traced."""
    slope = cr.jvp(captured_by_the_rule, (2.0,), (0.5,))
    np.testing.assert_allclose(slope[0], 4 * 0.9**3)
    with pytest.raises(cr.LostDerivativeError, match=MESSAGE):
        run(captured_by_the_rule)


@pytest.mark.parametrize("run", [in_jacfwd, in_linearize, in_hessian, lambda f: cr.grad(f)(2.0)])
def test_a_function_that_captures_a_traced_value_is_to_get_it_as_an_argument(run):
    with pytest.raises(cr.LostDerivativeError, match=MESSAGE):
        run(captured_by_the_program)


def test_an_error_of_a_function_without_traced_values_stays_as_it_is():
    def rhs(z):
        raise ValueError("no such rate")

    with pytest.raises(ValueError, match="no such rate"):
        cr.grad(lambda k: k * euler(rhs, np.ones(2), 3)[0])(2.0)
    with pytest.raises(ValueError, match="no such rate"):
        cr.grad(lambda k: euler(lambda z: rhs(k), [1.0], 1)[0])(2.0)


ROWS = np.array([2.0, 3.0, 5.0, 7.0])
WHOLE = {
    "a counter": lambda x: cr.scan(
        lambda c, _: ((c[0] + 1, c[1] * np.sin(ROWS[c[0] % 4])), None), (0, x), range(3)
    )[0][1],
    "a counter, in segments": lambda x: cr.loop(
        100,
        lambda c: {"k": c["k"] + 1, "x": np.sin(0.2 * c["x"] * ROWS[c["k"] % 4]) + x},
        {"k": 0, "x": x},
    )["x"],
    "indices beside numbers": lambda x: sum(cr.map(lambda i, y: ROWS[i] * y, [0, 1], [x, x * x])),
    "an array of indices": lambda x: np.sum(
        cr.map(lambda i, y: ROWS[i] * y, np.array([0, 3]), np.stack([x, x]))
    ),
    "items of reduce": lambda x: cr.reduce(lambda y, i: np.sin(y * ROWS[i]), [0, 1, 2], x),
    "items of accumulate": lambda x: cr.accumulate(lambda y, i: y * ROWS[i], range(3), x)[-1],
    "an argument of checkpoint": lambda x: cr.checkpoint(lambda x, i: np.sin(ROWS[i] * x))(x, 2),
    "an array in a container": lambda x: cr.checkpoint(
        lambda p: np.sum(np.sin(ROWS[p["rows"]] * p["x"]))
    )({"x": x, "rows": np.array([0, 2])}),
}


@pytest.mark.parametrize("name", WHOLE)
def test_whole_numbers_stay_what_they_are(name):
    """A counter, an index or a size is one in each mode; only what is differentiated is a float."""
    f, h = WHOLE[name], 1e-4
    slope = slope_of(f, (0.3,), (1.0,), h)
    np.testing.assert_allclose(cr.grad(f)(0.3), slope, rtol=1e-5, atol=1e-12)
    np.testing.assert_allclose(cr.jvp(f, (0.3,), (1.0,))[1], slope, rtol=1e-5, atol=1e-12)
    bend = cr.jvp(cr.grad(f), (0.3,), (1.0,))[1]
    np.testing.assert_allclose(bend, cr.grad(cr.grad(f))(0.3), rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(
        bend, (f(0.3 + h) - 2 * f(0.3) + f(0.3 - h)) / h**2, rtol=1e-5, atol=1e-5
    )


@pytest.mark.parametrize("n", [3, np.int64(3)])
@pytest.mark.parametrize(
    "f",
    [
        lambda n: cr.checkpoint(lambda n: n * n)(n),
        lambda n: cr.loop(100, lambda c: (c[0], c[1] + c[0] * n), (n, 0.0))[1] / 100,
        lambda n: cr.reduce(lambda c, x: c * x, [n, n]),
        lambda n: cr.map(lambda x, k: x * x * k, [n], [1])[0],
    ],
)
def test_whole_numbers_that_are_differentiated_count_as_floats(f, n):
    np.testing.assert_allclose((cr.grad(f)(n), cr.jvp(f, (n,), (1.0,))[1]), 6.0)
