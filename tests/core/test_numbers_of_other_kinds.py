"""Numbers of other kinds beside traced ones: fractions, own floats, and weak ones in ``r_``."""

import types
from fractions import Fraction

import numpy as np
import pytest
from differences import slope_of

import chainrules as cr

THIRD = Fraction(1, 3)
WITH_FRACTIONS = {
    "product": lambda x: x * THIRD,
    "on the left": lambda x: THIRD - x,
    "quotient": lambda x: THIRD / x,
    "power": lambda x: x**THIRD,
    "base": lambda x: THIRD**x,
    "rest": lambda x: x % THIRD,
}


@pytest.mark.parametrize("number", [float, np.float64])
@pytest.mark.parametrize("name", WITH_FRACTIONS)
def test_fractions_are_floats_as_python_has_them(name, number):
    f, x = WITH_FRACTIONS[name], number(1.25)
    y, ydot = cr.jvp(f, (x,), (1.0,))
    assert y == f(x)
    assert ydot == pytest.approx(slope_of(f, (1.25,), (1.0,)), rel=1e-8)
    assert cr.grad(f)(x) == pytest.approx(ydot, rel=1e-14)


class Length:
    def __init__(self, metres):
        self.metres = metres

    def __float__(self):
        return float(self.metres * 100.0)


def adopted(text, **names):
    module = types.ModuleType("adopted_numbers")
    vars(module).update(names)
    exec(text, vars(module))
    return module


def test_float_of_an_object_that_says_its_own():
    module = adopted("def f(x):\n    return float(Length(x)) ** 2", Length=Length)
    with cr.adopt(module), cr.adopt(Length.__float__):
        assert cr.grad(module.f)(3.0) == pytest.approx(2e4 * 3.0)
        assert module.f(3.0) == 9e4


@pytest.mark.parametrize("text", ["np.r_[x, 0.5]", "np.r_[0.5, x]", "np.c_[x, x]", "np.r_[x, a]"])
def test_numbers_are_weak_in_brackets_that_join(text):
    module = adopted(f"import numpy as np\ndef f(x, a=0.25):\n    return {text}")
    x = np.array([1.0, 2.0], np.float32)
    with cr.adopt(module):
        expected = module.f(x)
        for y in (cr.jvp(module.f, (x,), (x,))[0], cr.vjp(module.f, x)[0]):
            assert y.dtype == expected.dtype == np.float32
            np.testing.assert_array_equal(y, expected)
        y = cr.vjp(module.f, x, 0.25)[0]
        assert y.dtype == expected.dtype
