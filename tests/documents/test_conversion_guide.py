"""The example of the guide for converting rules, in Python."""

import dataclasses

import pytest

import chainrules as cr
from chainrules.testing import WrongDerivativeError, WrongStructureError, test_rrule


@dataclasses.dataclass
class Foo:
    a: float
    b: float


def f(x, y, z):
    return 2 * x + y.a


@cr.rrule.register(f)
def f_rrule(f, x, y: Foo, z):
    def f_pullback(ybar):
        return cr.NoTangent(), 2 * ybar, cr.Tangent(Foo, a=ybar), cr.ZeroTangent()

    return f(x, y, z), f_pullback


def test_the_converted_rule():
    test_rrule(f, 2.5, Foo(9.9, 7.2), 31.0)


def test_its_cotangents():
    y, pullback = cr.rrule(f, 2.5, Foo(9.9, 7.2), 31.0)
    assert 14.9 == y
    fbar, xbar, foo_bar, zbar = pullback(3.0)
    assert (cr.NoTangent(), 6.0, cr.ZeroTangent()) == (fbar, xbar, zbar)
    assert cr.Tangent(Foo, a=3.0) == foo_bar == cr.Tangent(Foo, a=3.0, b=cr.ZeroTangent())


def test_its_gradients():
    found = cr.grad(f, argnums=(0, 1, 2))(2.5, Foo(9.9, 7.2), 31.0)
    assert (2.0, cr.Tangent(Foo, a=1.0, b=0.0), 0.0) == found


def test_what_test_rrule_would_have_caught():
    """Without the entry for the function itself, or with a factor forgotten."""

    def g(x):
        return 2 * x

    @cr.rrule.register(g)
    def g_rrule(g, x):
        def g_pullback(ybar):
            return (2 * ybar,)

        return g(x), g_pullback

    with pytest.raises(cr.RuleError, match=r"the pullback of g returned 1 cotangents") as caught:
        cr.grad(g)(1.0)
    assert "return a tuple of 2: one for the function" in str(caught.value)
    with pytest.raises((WrongStructureError, cr.RuleError)):
        test_rrule(g, 2.5)

    @cr.rrule.register(g)
    def g_forgetful_rrule(g, x):
        def g_pullback(ybar):
            return cr.NoTangent(), ybar

        return g(x), g_pullback

    with pytest.raises(WrongDerivativeError):
        test_rrule(g, 2.5)
