"""Classes of others with NumPy's protocols, which ask the rules: answered, or refused in words."""

import numpy as np
import pytest

import chainrules as cr


class Dual:
    """Dual number of thirty lines, such as others write."""

    def __init__(self, x, xdot):
        self.x, self.xdot = x, xdot

    def __array_ufunc__(self, ufunc, method, *args, **kwargs):
        return self.ask(ufunc, args, kwargs)

    def __array_function__(self, f, types, args, kwargs):
        return self.ask(f, args, kwargs)

    def __mul__(self, other):
        return np.multiply(self, other)

    __rmul__ = __mul__

    def __add__(self, other):
        return np.add(self, other)

    def ask(self, f, args, kwargs):
        tangents = cr.NoTangent(), *[self.tangent_of(x) for x in args]
        return type(self)(*cr.frule(tangents, f, *map(self.primal_of, args), **kwargs))

    def primal_of(self, x):
        return x.x if isinstance(x, Dual) else x

    def tangent_of(self, x):
        return x.xdot if isinstance(x, Dual) else cr.ZeroTangent()


class DualOfLists(Dual):
    def primal_of(self, x):
        return [self.primal_of(part) for part in x] if isinstance(x, list) else super().primal_of(x)

    def tangent_of(self, x):
        return (
            [self.tangent_of(part) for part in x] if isinstance(x, list) else super().tangent_of(x)
        )


class Itself(Dual):
    def primal_of(self, x):
        return x


X, XDOT = np.array([1.0, 2.0]), np.array([1.0, 0.0])


def test_rules_answer_a_class_of_others():
    x = DualOfLists(X, XDOT)
    y = np.sum(np.stack([np.sin(x), 2.0 * x]))
    np.testing.assert_allclose(y.x, np.sum(np.sin(X)) + 6)
    np.testing.assert_allclose(y.xdot, np.cos(1.0) + 2)


@pytest.mark.parametrize("f", [np.sin, np.sum, lambda x: np.stack([x, x]), np.var])
def test_a_class_that_hands_the_call_back_is_refused_in_words(f):
    with pytest.raises(cr.RuleError) as caught:
        f(Itself(X, XDOT))
    said = str(caught.value)
    assert "was asked for the same arguments" in said
    assert "test_classes_that_ask_rules.py:" in said
    assert "give frule the value under your type" in said


def test_a_list_of_a_class_of_others_is_refused_in_words():
    x = Dual(X, XDOT)
    with pytest.raises(cr.RuleError, match=r"frule of numpy\.stack was asked for the same"):
        np.stack([x, 2 * x])
    np.testing.assert_allclose(np.sin(x).xdot, np.cos(X) * XDOT)  # nothing is left behind


def test_an_rrule_is_guarded_as_well():
    class Taped(Itself):
        def ask(self, f, args, kwargs):
            return cr.rrule(f, *args, **kwargs)

    with pytest.raises(cr.RuleError, match=r"rrule of numpy\.sin was asked for the same"):
        np.sin(Taped(X, XDOT))


def test_numbers_of_others_inside_of_each_other_and_of_transforms():
    def f(x):
        return np.sin(x) * x

    def slope(x):
        return f(Dual(x, 1.0)).xdot

    expected = 2 * np.cos(1.5) - 1.5 * np.sin(1.5)
    inner = f(Dual(Dual(1.5, 1.0), Dual(1.0, 0.0)))
    assert inner.xdot.xdot == pytest.approx(expected)
    assert cr.grad(slope)(1.5) == pytest.approx(expected)
    assert cr.jvp(slope, (1.5,), (1.0,))[1] == pytest.approx(expected)
