"""Zeros, structural tangents, thunks, and how values nest."""

import collections
import copy
import dataclasses
import enum
import functools
import pickle
from typing import NamedTuple

import numpy as np
import pytest

import chainrules as cr
from chainrules.rules import add, children, iterate_leaves, map_leaves, sum_tangents
from chainrules.rules.tangents.structural import child_tangents

NO, ZERO = cr.NoTangent(), cr.ZeroTangent()


class Pair(NamedTuple):
    a: float
    b: float


@dataclasses.dataclass(frozen=True)
class Foo:
    a: float
    b: object = None


class Plain:
    def __init__(self, a, b):
        self.a, self.b = a, b


class Slotted:
    __slots__ = ("a", "unset")

    def __init__(self, a):
        self.a = a


class MoreSlotted(Slotted):
    __slots__ = ("b",)


class Colour(enum.Enum):
    RED = 1


# ---- zeros ----------------------------------------------------------------------------------


def test_zeros_are_single():
    assert ZERO is cr.ZeroTangent() is copy.deepcopy(ZERO) is pickle.loads(pickle.dumps(ZERO))
    assert NO is cr.NoTangent() is copy.copy(NO)
    assert ZERO == cr.ZeroTangent()
    assert ZERO != NO
    assert 2 == len({ZERO, NO, cr.ZeroTangent()})
    assert ("ZeroTangent()", "NoTangent()") == (repr(ZERO), repr(NO))


@pytest.mark.parametrize("zero", [ZERO, NO])
def test_arithmetic_of_zeros_and_numbers(zero):
    array = np.array([1.0, 2.0])
    for x in (2.0, 3, 1j, np.float32(2), cr.Tangent(tuple, 1.0)):
        assert x is zero + x is x + zero is x - zero
        assert zero == zero * x == x * zero == zero / 2.0
    for y in (zero + array, array + zero, array - zero):
        assert array is y
    np.testing.assert_array_equal(-array, zero - array)
    assert zero is zero * array is array * zero is zero / array
    assert zero is np.multiply(array, zero) is np.negative(zero) is -zero is +zero
    assert zero is zero @ array is array @ zero is np.conj(zero)
    assert cr.Tangent(tuple, -1.0) == zero - cr.Tangent(tuple, 1.0)


def test_arithmetic_of_zeros_among_themselves():
    assert NO is NO + ZERO is ZERO + NO is NO - ZERO is np.add(ZERO, NO)
    assert ZERO is NO * ZERO is ZERO * NO is np.multiply(NO, ZERO)
    assert NO is NO + NO is NO * NO
    assert ZERO is ZERO + ZERO is ZERO * ZERO


@pytest.mark.parametrize("zero", [ZERO, NO])
def test_what_is_linear_leaves_a_zero(zero):
    for y in (
        zero[1:2, None], zero.T, zero.real, zero.imag, zero.conj(), zero.copy(),
        zero.sum(axis=0), zero.reshape(2, 3), zero.astype(float), zero.ravel(),
        np.sum(zero), np.reshape(zero, (2, 3)), np.transpose(zero), np.broadcast_to(zero, (2,)),
        np.einsum("i->", zero), np.dot(np.ones(2), zero), np.real(zero),
    ):  # fmt: skip
        assert zero is y
    assert (False, 0.0, 0j) == (bool(zero), float(zero), complex(zero))
    with pytest.raises(TypeError):
        np.exp(zero)


def test_a_zero_never_opens_a_thunk():
    t = cr.thunk(lambda: pytest.fail("opened"))
    assert ZERO is ZERO * t
    assert t is ZERO + t
    assert 2.0 == cr.thunk(lambda: 2.0) + ZERO


# ---- structures -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "t"),
    [
        ("Tangent(tuple, 1.0, ZeroTangent())", cr.Tangent(tuple, 1.0, ZERO)),
        ("Tangent(list)", cr.Tangent(list)),
        ("Tangent(dict, {'a': 1.0})", cr.Tangent(dict, {"a": 1.0})),
        ("Tangent(Foo, a=1.0)", cr.Tangent(Foo, a=1.0)),
        ("Tangent(Pair, a=1.0, b=2.0)", cr.Tangent(Pair, 1.0, 2.0)),
        ("Tangent(Pair, b=2.0)", cr.Tangent(Pair, b=2.0)),
    ],
)
def test_tangents_show_themselves(text, t):
    assert text == repr(t)


@pytest.mark.parametrize(
    ("message", "make"),
    [
        ("Foo has no field 'c'; its fields are a, b", lambda: cr.Tangent(Foo, c=1.0)),
        ("Pair has no field 'c'", lambda: cr.Tangent(Pair, c=1.0)),
        (r"name the fields: Tangent\(Foo, field=\.\.\.\)", lambda: cr.Tangent(Foo, 1.0)),
        ("the Tangent of a tuple has no named fields", lambda: cr.Tangent(tuple, a=1.0)),
        ("Pair has 2 fields, and its Tangent was given 1", lambda: cr.Tangent(Pair, 1.0)),
    ],
)
def test_backings_that_do_not_fit(message, make):
    with pytest.raises(cr.TangentError, match=message):
        make()


def test_reading_a_tangent():
    t = cr.Tangent(Foo, a=cr.thunk(lambda: 2.0))
    assert (2.0, ZERO, 2.0, ["a"]) == (t.a, t.b, t["a"], list(t.keys()))
    t = cr.Tangent(tuple, 1.0, cr.thunk(lambda: 2.0))
    assert (1.0, 2.0, 2, [1.0, 2.0]) == (t[0], t[1], len(t), list(t))
    a, b = t
    assert (1.0, 2.0) == (a, b)
    pair = cr.Tangent(Pair, b=2.0)
    assert (ZERO, 2.0, [ZERO, 2.0], 2) == (pair[0], pair.b, list(pair), len(pair))
    assert (1.0, ZERO) == (cr.Tangent(dict, {"a": 1.0})["a"], cr.Tangent(dict, {})["b"])
    with pytest.raises(AttributeError, match="cannot be written to"):
        t.a = 1.0
    with pytest.raises(AttributeError, match="has no field 'a'"):
        _ = t.a


@pytest.mark.parametrize(
    "copied", [copy.copy, copy.deepcopy, lambda t: pickle.loads(pickle.dumps(t))]
)
def test_a_tangent_can_be_copied(copied):
    t = cr.Tangent(dict, {"pair": cr.Tangent(tuple, 1.0, ZERO), "b": cr.Tangent(Plain, a=2.0)})
    assert t == copied(t)
    assert t is not copied(t)


def test_equality_of_tangents():
    assert cr.Tangent(Foo, a=1.0) == cr.Tangent(Foo, b=ZERO, a=np.float32(1))
    assert cr.Tangent(Foo, a=0.0) == cr.Tangent(Foo)
    assert cr.Tangent(Foo, a=np.zeros(2)) == cr.Tangent(Foo, b=NO)
    assert cr.Tangent(Foo, a=cr.thunk(lambda: 1.0)) == cr.Tangent(Foo, a=1.0)
    assert cr.Tangent(Foo, a=1.0) != cr.Tangent(Foo, a=2.0)
    assert cr.Tangent(tuple, 1.0) != cr.Tangent(list, 1.0)
    assert cr.Tangent(tuple, 1.0) != cr.Tangent(tuple, 1.0, 0.0)
    assert cr.Tangent(tuple, 1.0) != (1.0,)
    with pytest.raises(TypeError, match="unhashable"):
        hash(cr.Tangent(Foo))


def test_arithmetic_of_tangents():
    t = cr.Tangent(Foo, a=1.0)
    assert cr.Tangent(Foo, a=3.0, b=2.0) == t + cr.Tangent(Foo, a=2.0, b=2.0)
    assert cr.Tangent(Foo, a=3.0) == 3 * t == t * 3.0 == t / (1 / 3)
    assert cr.Tangent(Foo, a=-1.0) == -t
    assert cr.Tangent(Foo) == t - t
    assert cr.Tangent(dict, {"a": 1.0, "b": 2.0}) == cr.Tangent(dict, a=1.0) + cr.Tangent(
        dict, b=2.0
    )
    assert cr.Tangent(tuple, 4.0, 2.0) == cr.Tangent(tuple, 1.0, 2.0) + cr.Tangent(tuple, 3.0, ZERO)
    assert cr.Tangent(list, 2.0) == add([1.0], cr.Tangent(list, 1.0))
    for refused in (lambda: t * t, lambda: t * np.ones(2), lambda: t / t, lambda: np.ones(2) * t):
        with pytest.raises(TypeError):
            refused()
    with pytest.raises(
        cr.TangentError, match="Tangent of Foo cannot be added to a Tangent of tuple"
    ):
        t + cr.Tangent(tuple, 1.0)
    with pytest.raises(cr.TangentError, match="of different lengths"):
        cr.Tangent(tuple, 1.0) + cr.Tangent(tuple, 1.0, 2.0)


@pytest.mark.parametrize(
    ("expected", "x", "t"),
    [
        ((6.0, "a"), (5.0, "a"), cr.Tangent(tuple, 1.0, NO)),
        ([5.0, [3.0]], [5.0, [2.0]], cr.Tangent(list, ZERO, cr.Tangent(list, 1.0))),
        ({"a": 6.0, "b": 1.0}, {"a": 5.0, "b": 1.0}, cr.Tangent(dict, a=1.0)),
        (Pair(6.0, 1.0), Pair(5.0, 1.0), cr.Tangent(Pair, a=1.0)),
        (Foo(6.0, "x"), Foo(5.0, "x"), cr.Tangent(Foo, a=1.0)),
    ],
)
def test_a_primal_moves_along_a_tangent(expected, x, t):
    assert expected == x + t == t + x == x - (-t)
    assert type(expected) is type(x + t)


def test_a_primal_of_another_type_does_not_move():
    with pytest.raises(cr.TangentError, match="a Tangent of Foo cannot be added to a Pair"):
        Pair(1.0, 2.0) + cr.Tangent(Foo, a=1.0)


def test_tangents_of_parts():
    for t in (
        cr.Tangent(tuple, 1.0, ZERO),
        (1.0, ZERO),
        [1.0, ZERO],
        cr.thunk(lambda: (1.0, ZERO)),
    ):
        assert [1.0, ZERO] == child_tangents((5.0, 6.0), t)
    for t in (cr.Tangent(Foo, a=1.0), {"a": 1.0}, Foo(1.0, ZERO)):
        assert [1.0, ZERO] == child_tangents(Foo(5.0, 6.0), t)
    assert [ZERO, 1.0] == child_tangents({"b": 5.0, "a": 6.0}, {"a": 1.0})
    assert [NO, NO] == child_tangents((5.0, 6.0), NO)


@pytest.mark.parametrize(
    ("message", "x", "t"),
    [
        ("the tangent of a tuple of 2 parts has 1", (1.0, 2.0), (1.0,)),
        ("the tangent of a tuple of 2 is a sequence, not a float", (1.0, 2.0), 1.0),
        ("a dict has no part 'b'", {"a": 1.0}, {"b": 1.0}),
        ("the tangent of a Foo is a Tangent or a dict, not a tuple", Foo(1.0), (1.0,)),
        ("the tangent of a tuple is a Tangent or a dict, not a str", (1.0,), "a"),
    ],
)
def test_tangents_that_do_not_fit(message, x, t):
    with pytest.raises(cr.TangentError, match=message):
        child_tangents(x, t)


def test_sums():
    array = np.ones(2)
    total = sum_tangents([ZERO, array, NO, cr.thunk(lambda: array), array])
    np.testing.assert_array_equal([3.0, 3.0], total)
    np.testing.assert_array_equal([1.0, 1.0], array)
    assert ZERO is sum_tangents([])
    assert NO is sum_tangents([NO, NO])
    assert cr.Tangent(tuple, 3.0) == sum_tangents([(1.0,), cr.Tangent(tuple, 2.0)])


def test_zero_tangents():
    assert (0.0, float) == (cr.zero_tangent(2.0), type(cr.zero_tangent(2.0)))
    assert np.float32(0) == cr.zero_tangent(np.float32(2))
    assert np.float32 is type(cr.zero_tangent(np.float32(2)))
    assert (0.0, 0j) == (cr.zero_tangent(2), cr.zero_tangent(1j))
    array = cr.zero_tangent(np.arange(3))
    assert (np.float64, (3,)) == (array.dtype, array.shape)
    for nothing in ("a", None, True, print, np.array([True]), np.array(["a"]), slice(2)):
        assert NO == cr.zero_tangent(nothing)
    t = cr.zero_tangent({"a": [1.0, Foo(2.0, "b")]})
    assert "Tangent(dict, {'a': Tangent(list, 0.0, Tangent(Foo, a=0.0, b=NoTangent()))})" == repr(t)


# ---- thunks ---------------------------------------------------------------------------------


def test_thunks():
    calls = []

    def compute():
        calls.append(None)
        return np.arange(3.0)

    t = cr.thunk(compute)
    assert "thunk(...)" == repr(t)
    assert 3.0 == np.sum(t) == t.sum() == t @ np.ones(3)
    assert (1.0, 3, (3,)) == (t[1], len(t), t.shape)
    np.testing.assert_array_equal([1.0, 3.0, 5.0], 1 + 2 * t)
    np.testing.assert_array_equal([0.0, 1.0, 2.0], np.asarray(t))
    np.testing.assert_array_equal([0.0, 1.0, 2.0], list(t))
    assert 1 == len(calls)
    assert "thunk(array([0., 1., 2.]))" == repr(t)
    assert (2.0, 2 + 0j) == (float(cr.thunk(lambda: 2.0)), complex(cr.thunk(lambda: 2)))
    assert 3.0 == cr.unthunk(cr.thunk(lambda: cr.thunk(lambda: 3.0)))


def test_a_thunk_lets_go_of_what_it_was_computed_from():
    import gc
    import weakref

    big = np.ones(3)
    t = cr.thunk(functools.partial(np.sum, big))
    alive = weakref.ref(big)
    del big
    assert alive() is not None
    assert 3.0 == cr.unthunk(t)
    gc.collect()
    assert alive() is None


def test_inplaceable_thunks():
    buffer = np.ones(2)
    t = cr.InplaceableThunk(lambda into: np.add(into, 1, out=into), lambda: np.full(2, 1.0))
    assert buffer is t.add_into(buffer)
    np.testing.assert_array_equal([2.0, 2.0], buffer)
    np.testing.assert_array_equal([1.0, 1.0], t + 0.0)
    with pytest.raises(cr.TangentError, match="a thunk cannot be written to"):
        t[0] = 2.0


# ---- containers -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("keys", "x"),
    [
        ((0, 1), (1.0, 2.0)),
        ((0,), [1.0]),
        ((), []),
        (("a", "b"), {"a": 1.0, "b": 2.0}),
        (("a", "b"), Pair(1.0, 2.0)),
        (("a", "b"), Foo(1.0)),
        (("a", "b"), Plain(1.0, 2.0)),
        (("a",), Slotted(1.0)),
        (("a",), MoreSlotted(1.0)),
        (("b", "a"), collections.OrderedDict(b=1.0, a=2.0)),
    ],
)
def test_containers(keys, x):
    parts = children(x)
    assert set(keys) == set(parts.keys)
    rebuilt = parts.rebuild([2 * value for value in parts.values if value is not None]
                            + [None for value in parts.values if value is None])  # fmt: skip
    assert type(x) is type(rebuilt)
    assert rebuilt is not x or not keys
    assert [2 * value for value in parts.values if value] == [
        value for value in children(rebuilt).values if value
    ]


@pytest.mark.parametrize(
    "x",
    [
        1.0, "ab", b"ab", None, True, np.ones(2), np.float32(1), range(3), slice(2), {1.0}, print,
        np.sin, Foo, Colour.RED, ValueError("a"), np.random.default_rng(0), iter([1.0]), object(),
        functools.partial(max, 1.0), Foo(1.0).__repr__, (x for x in "ab"), np.vectorize(abs),
    ],
)  # fmt: skip
def test_leaves(x):
    assert children(x) is None
    assert x is next(iterate_leaves([x]))


def test_a_copy_keeps_what_is_not_a_part():
    x = collections.defaultdict(list, a=1.0)
    rebuilt = children(x).rebuild([2.0])
    assert (list, {"a": 2.0}, {"a": 1.0}) == (rebuilt.default_factory, dict(rebuilt), dict(x))


def test_leaves_of_a_nest():
    nest = {"a": [1.0, (2.0, Foo(3.0, Plain(4.0, 5.0)))]}
    assert [1.0, 2.0, 3.0, 4.0, 5.0] == list(iterate_leaves(nest))
    doubled = map_leaves(lambda x: 2 * x, nest)
    assert [2.0, 4.0, 6.0, 8.0, 10.0] == list(iterate_leaves(doubled))
    assert [1.0, 2.0, 3.0, 4.0, 5.0] == list(iterate_leaves(nest))


@pytest.mark.parametrize("zero", [ZERO, NO])
def test_iterating_over_a_zero_is_refused(zero):
    # By __getitem__ alone it would never end.
    for iterate in (iter, list, lambda t: dict(zip("ab", t))):
        with pytest.raises(cr.RuleError, match=r"(?s)was iterated over in test_.*cr\.unstack"):
            iterate(zero)
    assert [zero, zero] == cr.unstack(zero, 2)
    assert [1.0, 2.0] == cr.unstack(np.array([1.0, 2.0]), 2)


def test_none_is_no_tangent():
    for x in (1.0, np.float32(1.0), np.ones(2), np.ones((2, 2), np.float32)):
        with pytest.raises(cr.TangentError, match=r"None is no tangent|does not fit"):
            cr.ProjectTo(x)(None)
