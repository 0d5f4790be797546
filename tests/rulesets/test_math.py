"""Python's math and cmath through chainrules: their own values, and derivatives of them."""

import cmath as python_cmath
import math as python_math

import numpy as np
import pytest
from differences import slope_of

import chainrules as cr
from chainrules import cmath, math
from chainrules._numbers import Complex

X = 0.7
# Arguments of each function; X is what is differentiated.
ARGUMENTS = {
    "acosh": (1 + X,), "atan2": (X, 1.3), "comb": (5, 2), "copysign": (X, -1.0),
    "cumulative": (), "dist": ((X, 1.2), (0.3, 0.4)), "factorial": (4,), "fma": (X, 1.3, 2.0),
    "fmax": (X, 0.2), "fmin": (X, 0.2), "fmod": (2.3, X), "fsum": ([X, 2.0, X],), "gcd": (4, 6),
    "hypot": (X, 1.3, 0.2), "isclose": (X, 0.7), "isqrt": (9,), "lcm": (4, 6), "ldexp": (X, 3),
    "log": (X, 2.5), "nextafter": (X, 1.0), "perm": (5, 2), "pow": (X, 1.7), "prod": ([X, 2.0, X],),
    "rect": (X, 0.4), "remainder": (2.3, X), "sumprod": ([X, 2.0], [1.5, X]),
}  # fmt: skip
NO_FLOATS = {"comb", "factorial", "gcd", "isqrt", "lcm", "perm"}


def names(module):
    return [n for n in dir(module) if callable(getattr(module, n)) and not n.startswith("_")]


def first_number(y):
    y = y[0] if isinstance(y, tuple) else y
    return y if isinstance(cr.value(y), bool | int) else y.real + 2.0 * y.imag


def calls(module, name):
    """The function of X alone that the call with its other arguments is."""

    def f(x):
        def filled(a):
            return type(a)(map(filled, a)) if isinstance(a, tuple | list) else moved(a)

        def moved(a):
            return a + x - X if isinstance(a, float) and a in (X, 1 + X) else a

        return first_number(getattr(module, name)(*map(filled, ARGUMENTS.get(name, (X,)))))

    return f


@pytest.mark.parametrize(
    ("ours", "pythons", "name"),
    [(math, python_math, n) for n in names(python_math) if n not in NO_FLOATS]
    + [(cmath, python_cmath, n) for n in names(python_cmath)],
)
def test_function(ours, pythons, name):
    f, plain = calls(ours, name), calls(pythons, name)
    assert f(X) == plain(X)
    if isinstance(plain(X), int):
        assert cr.value(cr.jvp(lambda x: f(x) * 1.0, (X,), (1.0,))[1]) == 0
        return
    expected = slope_of(plain, (X,), (1.0,))
    y, ydot = cr.jvp(f, (X,), (1.0,))
    assert y == plain(X)
    assert ydot == pytest.approx(expected, rel=1e-6, abs=1e-8)
    assert cr.grad(f)(X) == pytest.approx(expected, rel=1e-6, abs=1e-8)
    second = slope_of(cr.grad(f), (X,), (1.0,), 1e-5)
    for hessian in (cr.hessian(f), cr.grad(cr.grad(f)), cr.jacfwd(cr.jacfwd(f))):
        assert hessian(X) == pytest.approx(second, rel=1e-5, abs=1e-7)


def test_all_names_are_there():
    for ours, pythons in ((math, python_math), (cmath, python_cmath)):
        assert set(names(pythons)) == set(names(ours)) & set(names(pythons))
        assert ours.pi == pythons.pi
        assert ours.__all__ == [n for n in dir(pythons) if not n.startswith("_")]


def test_python_says_what_is_out_of_its_domain():
    for f in (math.sqrt, math.log, math.acosh):
        with pytest.raises(ValueError, match=r"domain|positive|expected|non"):
            cr.grad(f)(-1.0)


def test_numbers_out_of_arrays():
    def f(x):
        return math.sin(x[0]) * math.floor(x[1]) + math.hypot(*x)

    x = np.array([0.3, 2.5])
    expected = [np.cos(0.3) * 2 + x[0] / np.hypot(*x), x[1] / np.hypot(*x)]
    np.testing.assert_allclose(cr.grad(f)(x), expected)
    np.testing.assert_allclose(cr.jacfwd(f)(x), expected)


def test_gamma_at_a_pole_is_refused_by_python():
    with pytest.raises(ValueError, match=r"domain|noninteger"):
        cr.grad(math.gamma)(-1.0)


@pytest.mark.parametrize(
    "f",
    [
        lambda z: np.emath.sqrt(z), lambda z: np.emath.log(z), lambda z: np.emath.power(z, 0.3),
        lambda z: cmath.log(z), lambda z: cmath.sqrt(z),
        lambda z: np.power(z, 0.3),
    ],
)  # fmt: skip
@pytest.mark.parametrize("zero", [0.0, -0.0])
def test_both_sides_of_a_cut(f, zero):
    def along(t):
        return f(Complex(-t, zero))

    y, ydot = cr.jvp(along, (4.0,), (1.0,))
    assert y == f(complex(-4.0, zero))
    expected = (f(complex(-4.0 - 1e-6, zero)) - f(complex(-4.0 + 1e-6, zero))) / 2e-6
    np.testing.assert_allclose(ydot, expected, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("zero", [0.0, -0.0])
def test_the_slope_in_an_exponent_on_a_cut(zero):
    z = complex(-4.0, zero)
    slope = cr.jvp(lambda p: np.power(z, p), (0.3,), (1.0,))[1]
    expected = (np.power(z, 0.3 + 1e-6) - np.power(z, 0.3 - 1e-6)) / 2e-6
    np.testing.assert_allclose(slope, expected, rtol=1e-6)


def test_parts_of_a_complex_number_are_exact():
    for real, imag in ((1.0, np.inf), (-0.0, 2.0), (np.inf, -0.0), (2.0, np.nan)):
        y = cr.jvp(lambda x, imag=imag: Complex(x, imag), (real,), (1.0,))[0]
        assert str(y) == str(complex(real, imag))
