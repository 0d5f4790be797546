"""Containers as arguments and results: how deep, how large, whose they are, and of which class."""

import argparse
import collections
import dataclasses
import functools
import sys
import time
import types

import numpy as np
import pytest
from counted_calls import calls_of
from test_errors import raises

import chainrules as cr
from chainrules.config.thresholds import DEEP
from chainrules.rules import children, innermost, iterate_leaves, map_leaves, strip
from chainrules.rules.containers import Within, fold
from chainrules.rules.engines.inputs import taken

# Python lets a thousand calls be made in each other, and at as many containers a walk looks for
# cycles; less deep ones show the same in a fifth of the time.
MOST = 300
DEPTH = 400
X = np.array([1.0, 2.0])


@dataclasses.dataclass
class Node:
    weight: object
    rest: object = None


def inside(part):
    """Go down to the number at the bottom."""
    while not isinstance(part, float):
        assert not isinstance(part, cr.ZeroTangent | cr.NoTangent)
        if isinstance(part, Node):
            part = part.rest
        elif isinstance(part, cr.Tangent):
            part = part[{dict: "k", Node: "rest"}.get(part.primal_type, 0)]
        else:
            part = part["k"] if isinstance(part, dict) else part[0]
    return part


def square_inside(part):
    return inside(part) ** 2


def nested(wrap):
    part = 3.0
    for _ in range(DEPTH):
        part = wrap(part)
    return part


NESTS = {
    "lists": lambda part: [part],
    "dicts": lambda part: {"k": part},
    "tuples": lambda part: (part, 1),
    "lists of dicts": lambda part: [{"k": part}],
    "objects": lambda part: Node("", part),
}


@pytest.fixture(params=["lists of dicts", "tuples", "objects"])
def deep(request):
    return nested(NESTS[request.param])


@pytest.fixture
def few_recursions(monkeypatch):
    for room in ("containers", "tracing.level", "tracing.object_arrays"):
        monkeypatch.setattr(f"chainrules.rules.{room}.DEEP", MOST)
    before, frame = sys.getrecursionlimit(), sys._getframe()
    depth = 0
    while frame is not None:
        depth, frame = depth + 1, frame.f_back
    sys.setrecursionlimit(depth + MOST)
    yield
    sys.setrecursionlimit(before)


@pytest.mark.slow
@pytest.mark.usefixtures("few_recursions")
class TestDepth:
    def test_grad(self, deep):
        assert 6.0 == inside(cr.grad(square_inside)(deep))

    def test_jvp(self, deep):
        assert (9.0, 6.0) == cr.jvp(square_inside, (deep,), (cr.grad(inside)(deep),))

    def test_vjp(self, deep):
        assert 30.0 == inside(cr.vjp(square_inside, deep)[1](5.0)[0])

    @pytest.mark.parametrize("jacobian", [cr.jacobian, cr.jacfwd, cr.jacrev])
    def test_jacobians(self, jacobian):
        assert 6.0 == inside(jacobian(square_inside)(nested(NESTS["lists of dicts"])))

    def test_linearize(self, deep):
        y, pushforward = cr.linearize(square_inside, deep)
        t = cr.grad(inside)(deep)
        assert (9.0, 6.0) == (y, pushforward(t))
        block = map_leaves(lambda leaf: np.array([1.0, 2.0]), nested(NESTS["lists"]))
        ydots = cr.linearize(square_inside, nested(NESTS["lists"]))[1](block, block=True)
        np.testing.assert_array_equal([6.0, 12.0], ydots)

    @pytest.mark.parametrize("deep", ["dicts", "objects"], indirect=True)
    def test_second_derivatives(self, deep):
        t = cr.grad(inside)(deep)
        assert 2.0 == inside(cr.hvp(square_inside, (deep,), (t,)))
        deep = nested(NESTS["lists of dicts"])
        assert 2.0 == inside(inside(cr.hessian(square_inside)(deep)))

    @pytest.mark.parametrize("deep", ["tuples", "objects"], indirect=True)
    def test_results(self, deep):
        def renest(x):
            return map_leaves(lambda leaf: x * x if leaf == 3.0 else leaf, deep)

        one = cr.grad(inside)(deep)
        y, ydot = cr.jvp(renest, (3.0,), (1.0,))
        assert (9.0, 6.0) == (inside(y), inside(ydot))
        y, pushforward = cr.linearize(renest, 3.0)
        assert (9.0, 6.0) == (inside(y), inside(pushforward(1.0)))
        y, pullback = cr.vjp(renest, 3.0)
        assert (9.0, (6.0,)) == (inside(y), pullback(one))
        for jacobian in (cr.jacfwd, cr.jacrev, cr.jacobian):
            assert 6.0 == inside(jacobian(renest)(3.0))

    @pytest.mark.parametrize("deep", ["lists of dicts", "objects"], indirect=True)
    def test_results_of_rules(self, deep):
        @cr.primitive
        def renest(x):
            return map_leaves(lambda leaf: x * 3.0 if leaf == 3.0 else leaf, deep)

        one = cr.ProjectTo(deep)(cr.grad(inside)(deep))

        @cr.frule.register(renest)
        def renest_frule(tangents, renest, x):
            _, xdot = tangents
            return renest(x), 3.0 * xdot * one

        @cr.rrule.register(renest)
        def renest_rrule(renest, x):
            def renest_pullback(ybar):
                return cr.NoTangent(), 3.0 * inside(ybar)

            return renest(x), renest_pullback

        def f(x):
            return inside(renest(x)) ** 2

        assert 36.0 == cr.jvp(f, (2.0,), (1.0,))[1]
        assert 36.0 == cr.linearize(f, 2.0)[1](1.0)
        assert 36.0 == cr.grad(f)(2.0)

    @pytest.mark.parametrize("deep", ["lists of dicts", "objects"], indirect=True)
    def test_arguments_of_rules(self, deep):
        @cr.primitive
        def outside(x):
            return inside(x) * 2.0

        one = cr.ProjectTo(deep)(cr.grad(inside)(deep))

        @cr.frule.register(outside)
        def outside_frule(tangents, outside, x):
            _, xdot = tangents
            return outside(x), 2.0 * inside(xdot)

        @cr.rrule.register(outside)
        def outside_rrule(outside, x):
            def outside_pullback(ybar):
                return cr.NoTangent(), 2.0 * ybar * one

            return outside(x), outside_pullback

        def f(x):
            p = map_leaves(lambda leaf: x if leaf == 3.0 else leaf, deep)
            return outside(p) ** 2

        assert 24.0 == cr.jvp(f, (3.0,), (1.0,))[1]
        assert 24.0 == cr.linearize(f, 3.0)[1](1.0)
        assert 24.0 == cr.grad(f)(3.0)
        assert 8.0 == cr.hessian(f)(3.0)

    def test_flatten(self, deep):
        vector, unflatten = cr.flatten(deep)
        assert 3.0 == vector[0]
        assert 6.0 == inside(unflatten(2 * vector))

    def test_projection_and_zeros(self, deep):
        zero = cr.zero_tangent(deep)
        assert 0.0 == inside(cr.ProjectTo(deep)(zero))

    def test_arithmetic(self, deep):
        t = cr.ProjectTo(deep)(cr.grad(inside)(deep))
        assert 2.5 == inside(2 * t + t / 2)
        assert t + t == 2 * t
        assert t != -t
        assert cr.zero_tangent(deep) == t - t
        assert 4.0 == inside(deep + t)

    def test_values(self, deep):
        assert 27.0 == inside(cr.grad(lambda p: inside(p) * inside(cr.value(p)) ** 2)(deep)) * 3

    def test_a_repr_is_cut_short(self, deep):
        text = repr(cr.zero_tangent(deep))
        assert len(text) < 2000
        assert "..." in text

    def test_an_error_names_the_last_keys(self):
        deep = nested(NESTS["lists"])
        with raises(
            cr.TangentError, "the tangent of argument 0, ..., at 0, at 0", "at 0 has shape"
        ):
            cr.jvp(square_inside, (deep,), (map_leaves(lambda leaf: X, deep),))

    def test_walks(self, deep):
        assert 3.0 in list(iterate_leaves(deep))
        assert innermost((deep,)) is None
        assert strip(deep, None) is deep


def test_fold_answers_from_the_leaves_up():
    def look(x, y):
        parts = children(x)
        return x * y if parts is None else Within(zip(parts.values, y), sum)

    assert 1 * 5 + 2 * 6 + 3 * 7 == fold(look, [1, [2, [3]]], [5, [6, [7]]])
    assert 6 == fold(look, 2, 3)
    assert 0 == fold(look, [[], ()], [[], ()])


def test_a_wide_container_at_the_depth_where_a_cycle_is_looked_for():
    wide = [[0.0] for _ in range(20_000)]
    for _ in range(DEEP - 2):
        wide = [wide]
    leaves = []
    calls = calls_of(lambda: leaves.extend(iterate_leaves(wide)))
    assert 20_000 == len(leaves)
    assert len(calls) < 50 * 20_000


class Key:
    """A key that counts comparisons."""

    compared = 0

    def __init__(self, number):
        self.number = number

    def __hash__(self):
        return hash(self.number)

    def __eq__(self, other):
        Key.compared += 1
        return self.number == other.number


def test_the_cost_of_a_dict_grows_with_its_keys():
    n = 1000
    weights = {Key(i): float(i) for i in range(n)}

    def loss(w):
        return sum(v * v for v in w.values())

    Key.compared = 0
    gradient = cr.grad(loss)(weights)
    _, pullback = cr.vjp(lambda w: dict(w), weights)
    pullback(gradient)
    cr.jvp(loss, (weights,), (gradient,))
    cr.jvp(loss, (weights,), (cr.Tangent(dict, gradient),))
    assert Key.compared < 20 * n
    names = [f"x{i}" for i in range(n)]
    fields = collections.namedtuple("Fields", names)
    assert n == len(cr.Tangent(fields, **dict.fromkeys(names, 1.0)))


class TestWhoseContainersTheyAre:
    """The structure of an argument is what it was when the derivative was asked for."""

    @staticmethod
    def weights():
        return {"w": X.copy(), "log": [], "seen": {}, "names": ["a"]}

    @staticmethod
    def logs(p):
        p["log"].append(np.sum(p["w"]))
        p["seen"]["w"] = p["w"]
        p["new"] = p["w"]
        p["names"].append(p["w"])
        return np.sum(p["w"] ** 2) + p["log"][0]

    def check(self, p):
        assert {"w", "log", "seen", "names"} == set(p)
        assert ([], {}, ["a"]) == (p["log"], p["seen"], p["names"])

    def test_a_function_adds_to_a_list_and_a_dict_of_its_argument(self):
        p, right = self.weights(), 2 * X + 1
        along = {"w": np.ones(2), "log": [], "seen": {}, "names": [cr.NoTangent()]}
        np.testing.assert_array_equal(right, cr.grad(self.logs)(p)["w"])
        np.testing.assert_array_equal(right, cr.vjp(self.logs, p)[1](1.0)[0]["w"])
        np.testing.assert_array_equal(right, cr.jacobian(self.logs)(p)["w"])
        np.testing.assert_array_equal(right, cr.jacfwd(self.logs)(p)["w"])
        assert np.sum(right) == cr.jvp(self.logs, (p,), (along,))[1]
        assert np.sum(right) == cr.linearize(self.logs, p)[1](along)
        np.testing.assert_array_equal([2.0, 2.0], cr.hvp(self.logs, (p,), (along,))["w"])
        self.check(p)

    def test_even_where_its_tangent_is_zero(self):
        p = self.weights()
        assert 1.0 == cr.jvp(lambda p, x: self.logs(p) + x, (p, 1.0), (cr.ZeroTangent(), 1.0))[1]
        self.check(p)

    def test_map_goes_to_the_end(self):
        gradients = list(map(cr.grad(self.logs), [self.weights() for _ in range(3)]))
        assert 3 == len(gradients)

    def test_a_function_takes_out_of_its_argument(self):
        def total(p):
            return sum(p.pop() ** 2 for _ in range(len(p)))

        p = [1.0, 2.0]
        assert [2.0, 4.0] == cr.grad(total)(p) == cr.vjp(total, p)[1](1.0)[0]
        assert [1.0, 2.0] == p

    def test_through_a_closure(self):
        p = [1.0, 2.0]

        def total(q):
            p.append(3.0)
            return q[0] * q[1]

        assert [2.0, 1.0] == cr.grad(total)(p) == cr.vjp(total, p)[1](1.0)[0][:2]

    def test_the_caller_changes_the_argument_before_the_pullback(self):
        p = {"w": 1.0, "v": 2.0}
        _, pullback = cr.vjp(lambda p: p["w"] ** 2, p)
        p["u"] = 3.0
        assert ({"w": 2.0, "v": 0.0},) == pullback(1.0)

    def test_the_caller_changes_the_result_before_the_pullback(self):
        y, pullback = cr.vjp(lambda x: [x, {"a": x**2}], 3.0)
        y.append(1.0)
        y[1].clear()
        assert (7.0,) == pullback([1.0, {"a": 1.0}])

    def test_an_object_without_numbers_stays_itself(self):
        class Mode:
            def __init__(self, name):
                self.name = name

        mode = Mode("sin")

        def loss(p):
            return np.sin(p["x"]) if p["mode"] is mode else p["x"]

        p = {"x": 0.0, "mode": mode}
        assert 1.0 == cr.grad(loss)(p)["x"]
        assert mode is taken(p)["mode"]

    def test_flatten(self):
        tree = [1.0, 2.0]
        vector, unflatten = cr.flatten(tree)
        tree.append(3.0)
        assert [1.0, 2.0] == unflatten(vector)


class TestWhatIsHandedOut:
    """Arrays that come out of a transform are nobody else's."""

    def test_jvp(self):
        xdot = np.ones(2)
        _, (a, b, c) = cr.jvp(lambda x: (x + 1.0, x - 1.0, x), (X,), (xdot,))
        for one, other in [(a, xdot), (b, xdot), (c, xdot), (a, b), (a, c), (b, c)]:
            assert not np.shares_memory(one, other)

    def test_vjp(self):
        for f in (lambda a, b: a + b, np.add):
            ybar = np.ones(2)
            abar, bbar = cr.vjp(f, X, X)[1](ybar)
            for one, other in [(abar, ybar), (bbar, ybar), (abar, bbar)]:
                assert not np.shares_memory(one, other)

    def test_vjp_of_a_rule_of_a_list(self):
        ybar = np.ones(4)
        (xsbar,) = cr.vjp(np.concatenate, [X, X])[1](ybar)
        assert not any(np.shares_memory(xbar, ybar) for xbar in xsbar)

    @pytest.mark.parametrize("inner", ["jvp", "vjp"])
    def test_inside_another_transform(self, inner):
        def f(x):
            if inner == "jvp":
                _, (p, q) = cr.jvp(lambda t: (t + 1.0, t - 1.0), (X,), (x,))
            else:
                p, q = cr.vjp(lambda a, b: a + b, X, X)[1](x)
            p[0] = 0.0
            x[1] = 7.0
            return np.sum(p * [10.0, 1.0]) + np.sum(q * [100.0, 1000.0])

        np.testing.assert_array_equal([100.0, 1001.0], cr.grad(f)(X))
        assert 1101.0 == cr.jvp(f, (X,), (np.ones(2),))[1]

    @pytest.mark.parametrize("constant", [cr.value, cr.stop_gradient, cr.ignore_derivatives])
    @pytest.mark.parametrize("size", [3, 10_000])
    def test_a_value_is_a_copy(self, constant, size):
        x = np.linspace(1.0, 2.0, size)

        def f(x):
            y = x * x
            for v in (constant(x), constant([x])[0], constant({"y": y})["y"]):
                v[:] = 0.0
            return np.sum(y * x)

        np.testing.assert_allclose(3 * x**2, cr.grad(f)(x))
        np.testing.assert_allclose(3 * np.sum(x**2), cr.jvp(f, (x,), (np.ones(size),))[1])

    def test_a_function_that_is_ignored_gets_copies(self):
        def f(x):
            cr.ignore_derivatives(lambda t: t.fill(0.0))(x)
            return np.sum(x * x)

        np.testing.assert_array_equal(2 * X, cr.grad(f)(X))

    def test_a_value_of_what_is_not_traced_is_that(self):
        for x in (X, [X], {"a": 1.0}, "text"):
            assert x is cr.value(x)

    def test_aux_is_a_copy(self):
        x = X.copy()
        _, aux = cr.grad(lambda x: (np.sum(x), x), has_aux=True)(x)
        assert not np.shares_memory(x, aux)


@dataclasses.dataclass
class Cached:
    w: object

    @functools.cached_property
    def norm(self):
        return np.sum(self.w**2)


class PlainCached:
    def __init__(self, w):
        self.w = w

    @functools.cached_property
    def norm(self):
        return np.sum(self.w**2)


@pytest.mark.parametrize("cls", [Cached, PlainCached])
def test_a_cached_property_that_was_computed_before_is_no_field(cls):
    p = cls(X)
    assert 5.0 == p.norm
    assert ("w",) == children(p).keys
    assert 6.0 == cr.jvp(lambda p: p.norm, (p,), (cls(np.ones(2)),))[1]
    np.testing.assert_array_equal(2 * X, cr.grad(lambda p: p.norm)(p).w)
    np.testing.assert_array_equal(2 * X, cr.vjp(lambda p: p.norm, p)[1](1.0)[0].w)
    vector, unflatten = cr.flatten(p)
    assert 20.0 == unflatten(2 * vector).norm
    assert 5.0 == p.norm


class Lowered(dict):
    """Writes other keys than it is given, and counts writes."""

    def __init__(self, owner):
        self.owner, self.writes = owner, 0

    def __setitem__(self, key, value):
        self.writes += 1
        super().__setitem__(key.lower(), float(value))


class Doubling(list):
    def __init__(self, *numbers):
        super().__init__(2 * number for number in numbers)


class Shifted(tuple):
    def __new__(cls, a, b):
        self = super().__new__(cls, (a + 1, b + 1))
        self.label = "shifted"
        return self


class TestClassesOfTheUsers:
    def test_a_counter(self):
        counts = collections.Counter(a=3, b=1)
        gradient = cr.grad(lambda c: c["a"] ** 2.0 - c["b"])(counts)
        assert {"a": 6.0, "b": -1.0} == dict(gradient)
        assert 5.0 == cr.jvp(lambda c: c["a"] ** 2.0 - c["b"], (counts,), ({"a": 1, "b": 1},))[1]

    def test_the_sum_of_tangents_of_counters_is_that_of_a_vector(self):
        a = collections.Counter(a=1.0, b=-2.0)
        assert cr.Tangent(collections.Counter, {"a": 2.0, "b": -4.0}) == cr.rules.add(a, a)

    def test_a_dict_that_converts_what_is_written(self):
        p = Lowered("me")
        dict.update(p, {"A": 3.0, "b": 2.0})

        def f(p):
            assert ("me", 0, Lowered) == (p.owner, p.writes, type(p))
            return p["A"] * p["b"]

        assert {"A": 2.0, "b": 3.0} == dict(cr.grad(f)(p))

    def test_a_defaultdict_keeps_its_factory(self):
        p = collections.defaultdict(float, w=3.0)
        assert {"w": 6.0} == dict(cr.grad(lambda p: p["w"] ** 2 + p["none"])(p))

    def test_an_ordereddict_keeps_its_order(self):
        p = collections.OrderedDict(a=1.0, b=2.0, c=3.0)
        p.move_to_end("a")

        def f(p):
            first, *_, last = p.values()
            return first * last**2

        assert [("b", 1.0), ("c", 0.0), ("a", 4.0)] == list(cr.grad(f)(p).items())

    def test_a_list_whose_constructor_does_something(self):
        p = Doubling(1.0, 2.0)
        p.name = "weights"
        gradient = cr.grad(lambda p: p[0] * p[1] if p.name == "weights" else p[0])(p)
        assert [4.0, 2.0] == list(gradient)

    def test_a_tuple_whose_constructor_does_something(self):
        p = Shifted(1.0, 2.0)
        gradient = cr.grad(lambda p: p[0] * p[1] if p.label == "shifted" else p[0])(p)
        assert (3.0, 2.0) == tuple(gradient)

    def test_a_time(self):
        moment = time.gmtime(0)
        assert 2.0 == cr.grad(lambda t: t.tm_mday * 2.0)(moment)[2]

    def test_a_container_that_cannot_be_copied(self):
        class Single(dict):
            def __copy__(self):
                return self

        with raises(TypeError, "copy.copy of a Single gave itself", "give plain containers"):
            cr.grad(lambda p: p["w"])(Single(w=1.0))


HOLDERS = {
    "UserDict": (lambda v: collections.UserDict(a=v), lambda p: p["a"]),
    "UserList": (lambda v: collections.UserList([v]), lambda p: p[0]),
    "ChainMap": (lambda v: collections.ChainMap({"a": v}), lambda p: p["a"]),
    "SimpleNamespace": (lambda v: types.SimpleNamespace(a=v), lambda p: p.a),
    "argparse": (lambda v: argparse.Namespace(a=v), lambda p: p.a),
}
REFUSED = {
    "deque": lambda v: collections.deque([v]),
    "mappingproxy": lambda v: types.MappingProxyType({"a": v}),
    "values": lambda v: {"a": v}.values(),
    "set": lambda v: {v},
}


class TestHoldersOfTheStandardLibrary:
    @pytest.mark.parametrize(("make", "read"), HOLDERS.values(), ids=HOLDERS)
    def test_they_are_containers(self, make, read):
        def f(p):
            return read(p) ** 2

        x, xdot = make(3.0), make(1.0)
        (one,) = children(xdot).keys
        assert (9.0, 6.0) == cr.jvp(f, (x,), (xdot,))
        assert 6.0 == cr.linearize(f, x)[1](xdot)
        for gradient in (cr.grad(f)(x), cr.vjp(f, x)[1](1.0)[0], cr.jacobian(f)(x)):
            assert 6.0 == next(iterate_leaves(gradient[one]))
        assert 2.0 == next(iterate_leaves(cr.hvp(f, (x,), (xdot,))[one]))
        assert 3.0 == read(x)

    @pytest.mark.parametrize(("make", "read"), HOLDERS.values(), ids=HOLDERS)
    def test_as_results(self, make, read):
        y, ydot = cr.jvp(lambda x: make(x * x), (3.0,), (1.0,))
        assert (type(make(0.0)), 9.0) == (type(y), read(y))
        assert [6.0] == list(iterate_leaves(ydot))
        y, pullback = cr.vjp(lambda x: make(x * x), 3.0)
        assert (9.0, (6.0,)) == (read(y), pullback(make(1.0)))

    @pytest.mark.parametrize("make", REFUSED.values(), ids=REFUSED)
    def test_others_have_no_tangents(self, make):
        x, xdot = make(3.0), make(1.0)
        for run in (
            lambda: cr.jvp(lambda p: 1.0, (x,), (xdot,)),
            lambda: cr.jvp(lambda ps: 1.0, ([x],), ([xdot],)),
            lambda: cr.linearize(lambda p: 1.0, x)[1](xdot),
            lambda: cr.vjp(lambda z: (z, x), 1.0)[1]((1.0, xdot)),
        ):
            with raises(cr.TangentError, "is not zero", "cannot be perturbed"):
                run()
        assert 0.0 == cr.jvp(lambda p: 1.0, (x,), (make(0.0),))[1]
        with raises(TypeError, "holds no number"):
            cr.grad(lambda p: 1.0)(x)


class TestWhatCannotBePerturbed:
    @pytest.mark.parametrize(
        ("x", "xdot"),
        [
            (np.array([1.0, 2.0], object), np.ones(2)),
            (np.array([1.0, 2.0], object), np.array([0.0, 1.0], object)),
            (np.array([1.0, 2.0], object), [0.0, 1.0]),
            (True, 1.0),
            (np.True_, 1),
            (np.array([True, False]), np.ones(2)),
            (None, 1.0),
            ("text", 2.0),
            (len, 1.0),
        ],
    )
    def test_a_tangent_that_is_not_zero_is_refused(self, x, xdot):
        for run in (
            lambda: cr.jvp(lambda x: 1.0, (x,), (xdot,)),
            lambda: cr.jvp(lambda xs: 1.0, ([x],), ([xdot],)),
            lambda: cr.linearize(lambda x, z: z, x, 1.0)[1](xdot, 1.0),
            lambda: cr.vjp(lambda z: (z, x), 1.0)[1]((1.0, xdot)),
        ):
            with raises(cr.TangentError, "is not zero", "cannot be perturbed", "ZeroTangent()"):
                run()

    def test_the_remedy(self):
        with raises(cr.TangentError, "argument 0 is not zero", "object[2]", "x.astype(float)"):
            cr.jvp(np.sum, (np.array([1.0, 2.0], object),), (np.ones(2),))
        with raises(cr.TangentError, "bool", "float(x)"):
            cr.jvp(lambda x: x * 2.0, (True,), (1.0,))

    @pytest.mark.parametrize("xdot", [cr.ZeroTangent(), cr.NoTangent(), 0.0, None, True, "text"])
    def test_what_says_that_nothing_moves_is_fine(self, xdot):
        for x in (True, None, "text"):
            assert 1.0 == cr.jvp(lambda x, z: z, (x, 1.0), (xdot, 1.0))[1]

    def test_zeros_of_an_object_array(self):
        x = np.array([1.0, 2.0], object)
        for xdot in (np.zeros(2), np.array([0, 0.0], object), cr.ZeroTangent()):
            assert 1.0 == cr.jvp(lambda x, z: z, (x, 1.0), (xdot, 1.0))[1]

    def test_an_object_of_the_same_class_is_a_tangent(self):
        @dataclasses.dataclass
        class Model:
            w: float
            name: str
            flag: bool = True

        x, xdot = Model(3.0, "model"), Model(1.0, "model")
        assert 6.0 == cr.jvp(lambda m: m.w**2, (x,), (xdot,))[1]


class ForeignArray:
    """An array of another library, which has neither of NumPy's protocols."""

    def __init__(self, data):
        self.data = np.asarray(data)

    shape = property(lambda self: self.data.shape)
    dtype = property(lambda self: self.data.dtype)

    def __array__(self, dtype=None, copy=None):
        return np.array(self.data, dtype)

    def __getitem__(self, index):
        return ForeignArray(self.data[index])

    def __len__(self):
        return len(self.data)

    def __mul__(self, other):
        return ForeignArray(self.data * np.asarray(other))


class ExchangedArray:
    """The same, by DLPack alone."""

    def __init__(self, data):
        self.data = np.asarray(data)
        self.shape, self.dtype = self.data.shape, self.data.dtype

    def __dlpack__(self, **options):
        return self.data.__dlpack__(**options)


class TestArraysWithoutProtocols:
    @pytest.mark.parametrize("cls", [ForeignArray, ExchangedArray])
    @pytest.mark.parametrize("wrap", [lambda x: x, lambda x: [x], lambda x: {"a": (x, 1.0)}])
    def test_primals_are_refused(self, cls, wrap):
        x, zero = wrap(cls([1.0, 2.0])), cr.ZeroTangent()
        for run in (
            lambda: cr.grad(lambda x: 1.0)(x),
            lambda: cr.value_and_grad(lambda z, x: z, argnums=(0, 1))(1.0, x),
            lambda: cr.jvp(lambda x: 1.0, (x,), (zero,)),
            lambda: cr.vjp(lambda x: 1.0, x),
            lambda: cr.linearize(lambda x: 1.0, x),
            lambda: cr.hvp(lambda x: 1.0, (x,), (zero,)),
            *(
                functools.partial(transform(lambda x: 1.0), x)
                for transform in (cr.jacfwd, cr.jacrev, cr.jacobian, cr.hessian)
            ),
        ):
            with raises(cr.LostDerivativeError, cls.__name__, "np.asarray(x)"):
                run()

    def test_tangents_and_cotangents_are_converted(self):
        xdot = ForeignArray([1.0, 0.0])
        ydot = cr.jvp(lambda x: x * x, (X,), (xdot,))[1]
        np.testing.assert_array_equal([2.0, 0.0], ydot)
        np.testing.assert_array_equal([2.0, 0.0], cr.linearize(lambda x: x * x, X)[1](xdot))
        (xbar,) = cr.vjp(lambda x: [x * x], X)[1]([xdot])
        assert (np.ndarray, [2.0, 0.0]) == (type(xbar), xbar.tolist())

    def test_where_it_is_not_differentiated_it_is_nobodys_business(self):
        assert 2.0 == cr.grad(lambda z, x: z * x.shape[0])(1.0, ForeignArray([1.0, 2.0]))


# ---- fields that are constant ---------------------------------------------------------------


@dataclasses.dataclass
class Simulation:
    w: float = 1.5
    steps: int = 3
    shape: tuple = (2, 2)
    seed: int = 0
    gain: float = 2  # annotated as a float, and so a number like others
    corners: tuple[float, float] = (0, 1)
    table: np.ndarray = dataclasses.field(
        default_factory=lambda: np.arange(4.0), metadata={"static": True}
    )


class Counted:
    def __init__(self, w, k):
        self.w, self.k, self.many = w, np.int64(k), [1, 2]


def simulated(m):
    noise = np.random.default_rng(m.seed).normal()
    total = sum(m.w * m.gain for _ in range(m.steps)) + m.w**2 * noise
    return total + m.table[m.steps] * m.w + np.sum(np.zeros(m.shape) + m.corners[1] * m.w)


def test_integers_in_fields_are_constants_and_usable_as_sizes():
    noise = np.random.default_rng(0).normal()
    expected = {"w": 3 * 2 + 2 * 1.5 * noise + 3 + 4, "gain": 4.5, "corners": (0.0, 6.0)}
    point = Simulation()
    gradients = [
        cr.grad(simulated)(point),
        cr.jacfwd(simulated)(point),
        cr.jacrev(simulated)(point),
        cr.vjp(simulated, point)[1](1.0)[0],
    ]
    for gradient in gradients:
        for name, slope in expected.items():
            np.testing.assert_allclose(gradient[name], slope)
        for name in ("steps", "shape", "seed", "table"):
            assert gradient[name] is cr.NoTangent()
    slope = cr.jvp(simulated, (point,), (cr.Tangent(Simulation, w=1.0),))[1]
    np.testing.assert_allclose(slope, expected["w"])
    np.testing.assert_allclose(
        cr.linearize(simulated, point)[1](gradients[0]), expected["w"] ** 2 + 4.5**2 + 36
    )
    np.testing.assert_allclose(cr.hessian(simulated)(point).w.w, 2 * noise)
    assert cr.hessian(simulated)(point).w.steps is cr.NoTangent()


def test_constant_fields_stay_in_flatten_and_in_updates():
    point = Simulation()
    vector, unflatten = cr.flatten(point)
    np.testing.assert_array_equal(vector, [1.5, 2.0, 0.0, 1.0])
    moved = [unflatten(2 * vector), point - 0.1 * cr.grad(simulated)(point)]
    for m in moved:
        assert (3, (2, 2), 0) == (m.steps, m.shape, m.seed)
        assert all(type(n) is int for n in (m.steps, *m.shape, m.seed))
        assert m.table is point.table
        assert m.w != point.w


def test_integers_in_fields_of_other_objects_and_in_lists():
    def f(m):
        return sum(m.w * n for n in m.many) * [1.0, 2.0, 4.0][m.k]

    gradient = cr.grad(f)(Counted(2.0, 2))
    assert (12.0, cr.NoTangent(), [8.0, 8.0]) == (gradient.w, gradient.k, gradient.many)
    moved = Counted(2.0, 2) + gradient
    assert (14.0, 2, [9.0, 10.0]) == (moved.w, moved.k, moved.many)
    assert {"w": 3.0, "n": 2.0} == cr.grad(lambda d: d["w"] * d["n"])({"w": 2.0, "n": 3})
    assert 6.0 == cr.grad(lambda n: n * n)(3)
    with pytest.raises(cr.LostDerivativeError, match="as fields of an object: there"):
        cr.grad(lambda d: sum(d["w"] for _ in range(d["n"])))({"w": 2.0, "n": 3})


@dataclasses.dataclass
class Counts:
    n: int = 3


@pytest.mark.parametrize("given", [{"steps": 1.0}, {"shape": (0.0, 1.0)}, {"table": np.ones(4)}])
def test_a_tangent_of_a_constant_field_is_refused(given):
    (name,) = given
    message = f"at {name!r} is not zero, and the field is constant"
    with pytest.raises(cr.TangentError, match=message):
        cr.jvp(simulated, (Simulation(),), (cr.Tangent(Simulation, **given),))
    with pytest.raises(TypeError, match="integers in its fields are constants, floats are not"):
        cr.grad(lambda m: m.n * 2.0)(Counts())
