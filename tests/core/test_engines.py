"""An engine of one's own: traced values whose calls are answered by two methods."""

import numpy as np
import pytest

import chainrules as cr
from chainrules.rules import (
    AbstractZero,
    Engine,
    Level,
    ProjectTo,
    TracedArray,
    TracedNumber,
    children,
    frule,
    strip,
    unthunk,
)


class Pair(TracedNumber):
    __slots__ = ("tangent",)


class PairArray(TracedArray):
    __slots__ = ("tangent",)


class Pairs(Engine):
    """Forward mode, as somebody else would write it."""

    table = frule

    def apply_kind(self, kind, f, args, kwargs, values, y):
        return self.wrap(y, kind.push_all(map(self.tangent_of, args), y, values, kwargs))

    def apply_rule(self, rule, f, args, kwargs, values):
        tangents = tuple(map(self.tangent_of, (f, *args)))
        return self.wrap(*frule.run(rule, self.config, tangents, strip(f, self), values, kwargs))

    def wrap(self, y, ydot):
        ydot = unthunk(ydot)
        parts = children(y)
        if isinstance(ydot, AbstractZero):
            return y
        if parts is not None:
            return parts.rebuild(list(map(self.wrap, parts.values, ydot)))
        traced = PairArray() if isinstance(y, np.ndarray) else Pair()
        traced.primal, traced.at_level = y, self
        traced.tangent = ProjectTo(y)(np.broadcast_to(ydot, np.shape(y))[()])
        return traced

    def tangent_of(self, x):
        if self.carries(x):
            return x.tangent
        parts = children(x)
        found = [] if parts is None else list(map(self.tangent_of, parts.values))
        if all(isinstance(xdot, AbstractZero) for xdot in found):
            return cr.ZeroTangent()
        return cr.Tangent(type(x), *found)


class PairsConfig(cr.RuleConfig, cr.HasForwardsMode, cr.NoReverseMode):
    def frule_via_ad(self, tangents, f, *args, **kwargs):
        level = Pairs(self)
        f, *duals = [
            x if isinstance(xdot, AbstractZero) else level.wrap(x, xdot)
            for x, xdot in zip((f, *args), tangents, strict=True)
        ]
        y = f(*duals, **kwargs)
        return strip(y, level), level.tangent_of(y)


@cr.primitive
def by_a_rule(x):
    return np.sin(x) ** 2


cr.scalar_rule(by_a_rule, lambda _, x: 2 * np.sin(x) * np.cos(x))
A = np.array([[2.0, 0.3, 0.1], [0.3, 1.5, 0.2], [0.1, 0.2, 1.1]])
PROGRAMS = [
    lambda x: np.sum(np.exp(-x) * x + 3),
    lambda x: 2.0 - x / 3 + A @ x - abs(x) ** 1.5,
    lambda x: x[0] * x[1:] + x[[0, 2]] * x[-1],
    lambda x: np.stack([x, 2 * x, np.ones(3)]),
    lambda x: np.append(x, x[0]),
    lambda x: np.linalg.norm(x) * np.linalg.norm(np.outer(x, x), axis=1),
    lambda x: np.linalg.solve(A * x, x),
    lambda x: np.linalg.eigh(A + np.diag(x))[0],
    lambda x: cr.map(lambda t: t * t, x),
    lambda x: cr.reduce(lambda a, b: a * b + a, x),
    lambda x: by_a_rule(x) * 3,
    lambda x: np.where(x > 0.8, x, x**2) + np.maximum(x, 0.9) + np.sort(x),
    lambda x: np.einsum("i,ij,j->", x, A, x),
    lambda x: np.array([x[0] * 2, 1.0, x[1]]) * x,
    lambda x: sum(t * t for t in x) + max(x) * float(np.floor(cr.value(x[0]))),
    lambda x: np.divmod(x, 0.4)[1] + np.modf(x)[0],
    lambda x: np.cumsum(np.prod(np.reshape(np.tile(x, 2), (2, 3)), axis=0)),
]


@pytest.mark.parametrize("f", PROGRAMS, ids=range(len(PROGRAMS)))
def test_another_engine_answers_what_ours_answer(f):
    x, xdot = np.array([0.5, 1.2, 0.9]), np.array([1.0, -0.5, 0.25])
    y, ydot = cr.jvp(f, (x,), (xdot,))
    found, found_dot = cr.frule_via_ad(PairsConfig(), (cr.NoTangent(), xdot), f, x)
    np.testing.assert_array_equal(y, found)
    np.testing.assert_allclose(found_dot, ydot, rtol=1e-14)
    np.testing.assert_array_equal(y, cr.jvp(f, (x,), (xdot,), config=PairsConfig())[0])


def test_engines_nest_in_any_order():
    x = np.array([0.5, 1.2])

    def slope(t):
        f = lambda x: np.sum(np.sin(x) * t**2)  # noqa: E731
        return cr.frule_via_ad(PairsConfig(), (cr.NoTangent(), np.ones(2)), f, x)[1]

    expected = 2 * 0.7 * np.sum(np.cos(x))
    assert expected == pytest.approx(cr.grad(slope)(0.7))
    assert expected == pytest.approx(cr.jvp(slope, (0.7,), (1.0,))[1])

    def outer(t):
        return cr.grad(lambda x: np.sum(np.sin(x) * t**2))(x)

    _, found = cr.frule_via_ad(PairsConfig(), (cr.NoTangent(), 1.0), outer, 0.7)
    np.testing.assert_allclose(found, 2 * 0.7 * np.cos(x))


def test_an_engine_that_does_not_follow_writes_says_so():
    def f(x):
        y = x * 1.0
        y[0] = 2.0
        return y

    with pytest.raises(cr.MutationError, match=r"Pairs cannot follow writes[^$]*np\.where"):
        cr.frule_via_ad(PairsConfig(), (cr.NoTangent(), np.ones(2)), f, np.ones(2))


def test_a_level_is_all_of_its_methods():
    with pytest.raises(TypeError, match="abstract"):
        type("Part", (Level,), {"call": None, "write": None})()
    assert Level.__abstractmethods__ == {
        "call", "unary", "binary", "getitem", "constant", "write"
    }  # fmt: skip
