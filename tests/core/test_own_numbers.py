"""Subclasses of numbers and sequences with operators of their own beside traced values."""

import numpy as np
import pytest
from differences import slope_of

import chainrules as cr


def operators(number):
    """Return methods of a product that on each side is another one."""
    return {
        "__rmul__": lambda self, k: 10 * k * number(self),
        "__mul__": lambda self, k: 100 * k * number(self),
    }


def first(xs):
    return list.__getitem__(xs, 0) if isinstance(xs, list) else tuple.__getitem__(xs, 0)


Own = type("Own", (float,), operators(lambda x: float.__pos__(x)))
Preferred = type("Preferred", (Own,), {"__array_priority__": 10.0})
Whole = type("Whole", (int,), operators(lambda x: int.__pos__(x)))
Numpys = type("Numpys", (np.float64,), operators(lambda x: float.__float__(x)))
Vector = type("Vector", (tuple,), {"__rmul__": lambda self, k: 10 * k * first(self)})
Row = type("Row", (list,), {"__rmul__": lambda self, k: 10 * k * first(self)})
Bare = type("Bare", (float,), {})

OTHERS = [Own(2), Preferred(2), Whole(2), Numpys(2), Vector((1.0, 2.0)), Row([1.0, 2.0]), Bare(2)]
PROGRAMS = {
    "x*q": lambda x, q: x * q,
    "q*x": lambda x, q: q * x,
    "-(x*q)": lambda x, q: -(x * q),
    "np.sin(x)*q*x": lambda x, q: np.sin(x) * q * x,
    "np.multiply": lambda x, q: np.multiply(x, q),
    "np.dot": lambda x, q: np.dot(x, q),
    "np.outer": lambda x, q: np.outer(x, q),
    "np.hypot": lambda x, q: np.hypot(q, x),
    "np.where": lambda x, q: np.where(np.greater(x, 1.0), x * x, q),
    "np.stack": lambda x, q: np.stack([np.ravel(x)[0], np.ravel(q)[0]]) * 2,
}


@pytest.mark.parametrize("program", PROGRAMS)
@pytest.mark.parametrize("q", OTHERS, ids=lambda q: type(q).__name__)
@pytest.mark.parametrize("x", [1.3, np.float64(1.3), np.array([1.3, 2.0])], ids=["1", "2", "3"])
def test_value_and_slope_are_those_of_plain_numbers(program, q, x):
    def f(x):
        return np.sum(PROGRAMS[program](x, q))

    try:
        value, slope = f(x), slope_of(f, (x,), (1.0,))
    except TypeError:
        pytest.skip("not for plain numbers")
    y, ydot = cr.jvp(f, (x,), (np.ones_like(x),))
    np.testing.assert_allclose([y, ydot], [value, slope], rtol=1e-5)
    for way in (cr.value_and_grad(f), cr.compile(cr.value_and_grad(f))):
        y, gradient = way(x)
        np.testing.assert_allclose([y, np.sum(gradient)], [value, slope], rtol=1e-5)
        assert type(gradient) in (float, np.float64, np.ndarray)
    curvature = (np.sum(cr.grad(f)(x + 1e-6)) - np.sum(cr.grad(f)(x - 1e-6))) / 2e-6
    found = np.sum(cr.hvp(f, (x,), (np.ones_like(x),)))
    np.testing.assert_allclose(found, curvature, rtol=1e-4, atol=1e-6)


def test_functions_of_math_take_the_number():
    import math

    q = Own(2)
    adopted = cr.grad(lambda x: cr.numpy.hypot(x, q))(1.5)
    assert adopted == pytest.approx(1.5 / math.hypot(1.5, 2))


def test_a_subclass_with_numpys_protocol_gets_its_turn():
    class Scaled(float):
        def __array_ufunc__(self, ufunc, method, *xs, **options):
            xs = [float.__pos__(x) if isinstance(x, Scaled) else x for x in xs]
            return 3 * getattr(ufunc, method)(*xs, **options)

    q = Scaled(2)
    for x in (np.float64(1.5), np.array([1.5, 2.0])):
        plain = np.multiply(x, q)
        y, ydot = cr.jvp(lambda x: np.multiply(x, q), (x,), (np.ones_like(x),))
        np.testing.assert_allclose(y, plain)
        np.testing.assert_allclose(ydot, np.full_like(x, 6.0))


def test_a_comparison_that_depends_on_who_is_asked_first_is_refused():
    """``max(x, q)`` asks ``q > x``, of which Python makes ``x < q`` where ``x`` is traced."""

    def other_way(self, ufunc, method, *args):
        return ufunc is np.greater

    q = type("Turned", (float,), {"__array_ufunc__": other_way})(1.7)
    x = np.float64(1.3)
    assert max(x, q) == 1.7
    assert not x < q
    with pytest.raises(cr.LostDerivativeError, match="a comparison was given a Turned"):
        cr.grad(lambda x: max(x, q) * 1.0)(x)


def test_a_number_in_a_list_and_an_enumeration():
    import enum

    class Axis(enum.IntEnum):
        LAST = 1

    a = np.array([[1.0, 2.0], [3.0, 4.0]])
    g = cr.grad(lambda a: np.sum(np.sum(a, axis=Axis.LAST) ** 2) * Axis.LAST)(a)
    np.testing.assert_allclose(g, [[6.0, 6.0], [14.0, 14.0]])
    g = cr.grad(lambda x: np.sum(np.concatenate([[x], [Own(2)]]) ** 2))(1.5)
    assert g == 3.0


@pytest.mark.parametrize("name", ["dot", "vdot", "inner", "outer", "kron", "multiply.outer"])
def test_what_shows_an_array_is_one_to_functions_of_numpy(name):
    class Quantity:
        dtype, shape = np.dtype(float), ()
        __array_ufunc__ = None

        def __init__(self, v):
            self.v = v

        def __array__(self, dtype=None, copy=None):
            return np.array(0.1 * self.v, dtype)

        def __rmul__(self, k):
            return Quantity(0.1 * k * self.v / 0.1)

        __mul__ = __rmul__

    f = np.multiply.outer if "." in name else getattr(np, name)
    q = Quantity(1.7)
    try:
        plain = f(1.3, q)
    except TypeError:
        plain = None  # a ufunc, which it refuses
    for g in (lambda x: np.sum(f(x, q)), lambda x: np.sum(f(q, x))):
        if plain is None:
            with pytest.raises(TypeError):
                cr.grad(g)(1.3)
            continue
        np.testing.assert_allclose(cr.value_and_grad(g)(1.3), (np.sum(plain), 0.17))
        np.testing.assert_allclose(cr.jvp(g, (1.3,), (1.0,)), (np.sum(plain), 0.17))


def test_operators_ask_ufuncs_alone():
    """NumPy's numbers leave ``__array_function__`` to functions, and take the number in ``q``."""
    own = {"__array_function__": lambda *args: NotImplemented, "__rmul__": lambda self, k: -k}
    q = type("Functional", (float,), own)(2)
    for x in (np.float64(1.5), np.array([1.5, 2.0])):
        np.testing.assert_allclose(cr.vmap(lambda x: x * q)(np.stack([x, x])), 2 * np.stack([x, x]))
        np.testing.assert_allclose(cr.jvp(lambda x: x * q, (x,), (np.ones_like(x),))[1], x * 0 + 2)
        with pytest.raises((cr.LostDerivativeError, TypeError)):
            cr.jvp(lambda x: np.dot(x, q), (x,), (np.ones_like(x),))


def test_a_comparison_in_a_batch_asks_as_an_item_does():
    own = {"__array_ufunc__": lambda self, ufunc, way, a, b: ufunc(0.1 * self, a)}
    q, xs = type("Tenth", (float,), own)(1.7), np.array([1.3, 1.9, 0.3])
    for f in (lambda x: x * (q > x), lambda x: x * (x < q), lambda x: x * (q == x)):
        with pytest.warns(cr.BatchWarning, match="a comparison meets a Tenth"):
            np.testing.assert_array_equal(cr.vmap(f)(xs), [f(x) for x in xs])
