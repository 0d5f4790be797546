"""The examples of "Which functions need rules?" and of the design limitations, in Python.

What had to be a limitation there is either no limitation here or an error that says what to do;
a rule is never needed to find that out, and takes effect at once.
"""

import ctypes
import ctypes.util
import dataclasses
import math
import time

import numpy as np
import pytest
import scipy.integrate
from counted_calls import arrays_made

import chainrules as cr
from chainrules.testing import check_grad, test_frule, test_rrule

XS = np.array([0.3, -1.2, 2.0, 0.7])
YS = np.array([0.1, 0.4, -0.5, 1.5])


# ---- loops ----------------------------------------------------------------------------------


def make_mse():
    def mse(y, yhat):
        s = 0.0
        for i in range(len(y)):
            s += (y[i] - yhat[i]) ** 2.0
        return s / len(y)

    return mse


def register_mse(mse):
    calls = []

    @cr.rrule.register(mse)
    def mse_rrule(mse, x, xhat):
        calls.append("rule")

        def mse_pullback(ybar):
            calls.append("pullback")
            xbar = (2 / len(x)) * (x - xhat) * ybar
            return cr.NoTangent(), xbar, -xbar

        return mse(x, xhat), mse_pullback

    return calls


def test_mse():
    """mse, a loop over entries: with the rule and without, the gradient is the same."""
    plain, ruled = make_mse(), make_mse()
    calls = register_mse(ruled)
    expected = cr.grad(plain, argnums=(0, 1))(XS, YS)
    got = cr.grad(ruled, argnums=(0, 1))(XS, YS)
    assert ["rule", "pullback"] == calls
    for a, b in zip(got, expected, strict=True):
        np.testing.assert_allclose(a, b)
    np.testing.assert_allclose(expected[0], (XS - YS) / 2)
    test_rrule(ruled, XS, YS)


def test_a_rule_registered_after_the_first_gradient():
    """Restarting the session: a new rule is used at the next call, by the same gradient."""
    mse = make_mse()
    gradient = cr.grad(mse)
    before = gradient(XS, YS)
    calls = register_mse(mse)
    after = gradient(XS, YS)
    assert ["rule", "pullback"] == calls
    np.testing.assert_allclose(before, after)


def test_the_rule_of_a_primitive_is_used_inside_other_functions():
    """f and f_cr, one with and one without a rule, side by side."""
    f = make_mse()
    f_cr = cr.primitive(f)
    calls = register_mse(f_cr)

    def loss(g):
        return lambda x: np.sin(g(np.exp(x), YS)) ** 2

    np.testing.assert_allclose(cr.grad(loss(f_cr))(XS), cr.grad(loss(f))(XS))
    assert ["rule", "pullback"] == calls
    np.testing.assert_allclose(cr.hessian(loss(f_cr))(XS), cr.hessian(loss(f))(XS), rtol=1e-12)


def test_a_rule_of_a_newer_session_replaces_the_older():
    @cr.primitive
    def f(x):
        return x

    def register(factor):
        @cr.rrule.register(f)
        def f_rrule(f, x):
            def f_pullback(ybar):
                return cr.NoTangent(), factor * ybar

            return f(x), f_pullback

    gradient = cr.grad(lambda x: 2 * f(x))
    assert 2.0 == gradient(1.0)
    for factor in (10.0, 20.0):
        register(factor)
        assert 2 * factor == gradient(1.0)


# ---- reading entries ------------------------------------------------------------------------


def sum3(array):
    x = array[0]
    y = array[1]
    z = array[2]
    return x + y + z


def test_sum3():
    """sum3, in-place accumulation: reading single entries."""
    np.testing.assert_array_equal([1.0, 1.0, 1.0, 0.0], cr.grad(sum3)(XS))


def test_sum3_with_its_rule():
    def sum3_cr(array):
        return sum3(array)

    @cr.rrule.register(sum3_cr)
    def sum3_cr_rrule(sum3_cr, a):
        def sum3_cr_pullback(ybar):
            return cr.NoTangent(), np.concatenate([ybar * np.ones(3), np.zeros_like(a[3:])])

        return sum3_cr(a), sum3_cr_pullback

    np.testing.assert_array_equal(cr.grad(sum3)(XS), cr.grad(sum3_cr)(XS))
    test_rrule(sum3_cr, XS)


def test_reading_every_entry_costs_no_array_each():
    """n reads cost O(n): as many arrays are made as for one."""

    def total(x):
        s = 0.0
        for i in range(len(x)):
            s = s + x[i]
        return s

    few, many = np.ones(10), np.ones(1000)
    np.testing.assert_array_equal(many, cr.grad(total)(many))
    assert arrays_made(lambda: cr.grad(total)(few)) == arrays_made(lambda: cr.grad(total)(many))


# ---- buffers of a function's own ------------------------------------------------------------


def addone(a):
    b = np.zeros(len(a))
    for i in range(len(a)):
        b[i] = float(a[i]) + 1
    return np.sum(b)


def test_a_function_that_writes_into_a_buffer():
    """addone: what it does to a buffer of plain numbers cannot be followed, and says so."""
    said = r"float\(a\[i\]\).* in test_documents\.py:\d+"
    with pytest.raises(cr.LostDerivativeError, match=said):
        cr.grad(addone)(XS)


def test_a_function_that_writes_into_a_buffer_with_its_rule():
    ruled = cr.primitive(addone)

    @cr.rrule.register(ruled)
    def addone_rrule(addone, a):
        def addone_pullback(ybar):
            return cr.NoTangent(), ybar * np.ones_like(a)

        return addone(a), addone_pullback

    np.testing.assert_array_equal(2 * np.ones(4), cr.grad(lambda a: 2 * ruled(a))(XS))
    test_rrule(ruled, XS, second_order=False)  # there is no frule to take for the second


def test_mutation_of_an_array_of_ones_own():
    """The slides' mutation(n): nothing is differentiated, so nothing is in the way."""

    def mutation(n):
        array = np.zeros(n)
        array[0] = 1
        return np.sum(array)

    assert 2.0 == cr.grad(lambda x: x * mutation(3) * 2)(5.0)


# ---- exceptions -----------------------------------------------------------------------------


def square(x):
    try:
        return x**2
    except TypeError as error:
        raise ValueError("could not square input") from error


def test_exceptions():
    """exception(x): try and except are Python's own, and no rule is needed."""
    assert 6.0 == cr.grad(square)(3.0)
    assert 6.0 == cr.jvp(square, (3.0,), (1.0,))[1]


def test_exceptions_with_a_rule():
    def ruled(x):
        return square(x)

    @cr.rrule.register(ruled)
    def ruled_rrule(ruled, x):
        def ruled_pullback(ybar):
            return cr.NoTangent(), 2 * x * ybar

        return ruled(x), ruled_pullback

    assert 6.0 == cr.grad(ruled)(3.0)
    test_rrule(ruled, 3.0)


def test_exceptions_that_are_thrown():
    """safe_sqrt: the derivative of the branch that ran, also where that is the except clause."""

    def safe_sqrt(x):
        try:
            if x < 0:
                raise ValueError("math domain error")
            return np.sqrt(x)
        except ValueError:
            return 0.0 * x

    for transform in (cr.grad, cr.jacfwd):
        assert 0.25 == transform(safe_sqrt)(4.0)
        assert 0.0 == transform(safe_sqrt)(-1.0)


def test_an_exception_leaves_nothing_behind():
    with pytest.raises(ValueError, match="could not square input"):
        cr.grad(lambda x: square({}))(1.0)
    assert 6.0 == cr.grad(square)(3.0)


# ---- foreign calls --------------------------------------------------------------------------


def test_foreign_calls_of_the_math_module():
    """math.sin needs a number; without a rule the error says what to do."""
    with pytest.raises(cr.LostDerivativeError, match=r"math\.sin\(x\) needs .*\n  write np\.sin"):
        cr.grad(lambda x: math.sin(x))(1.0)
    sin = cr.primitive(math.sin)
    with pytest.raises(cr.MissingRuleError, match=r"sin has no rrule.*\n.*\n.*rrule\.register"):
        cr.grad(lambda x: sin(x))(1.0)
    cr.scalar_rule(sin, lambda y, x: math.cos(cr.value(x)))
    assert math.cos(1.0) == cr.grad(lambda x: sin(x))(1.0)
    assert math.cos(1.0) == cr.jvp(lambda x: sin(x), (1.0,), (1.0,))[1]


def test_foreign_calls_of_c():
    """A function of the C library, by ctypes."""
    library = ctypes.CDLL(ctypes.util.find_library("m"))
    library.cbrt.restype, library.cbrt.argtypes = ctypes.c_double, (ctypes.c_double,)

    @cr.primitive
    def cbrt(x):
        return library.cbrt(x)

    cr.scalar_rule(cbrt, lambda y, x: 1 / (3 * y**2))
    test_rrule(cbrt, 2.0)
    test_frule(cbrt, 2.0)
    second = cr.grad(cr.grad(lambda x: 2 * cbrt(x * x)))(2.0)
    np.testing.assert_allclose(-4 / 9 * 2 ** (-4 / 3), second)


def test_foreign_calls_beside_the_derivative():
    """jclock: what does not depend on the input needs no rule."""

    def jclock(x):
        return time.process_time_ns() * x

    assert 0 < cr.grad(jclock)(1.0)


# ---- insight: numerical integration ---------------------------------------------------------


@cr.primitive
def integrate(f, a, b):
    """The integral of f from a to b, by adaptive quadrature in Fortran."""
    return scipy.integrate.quad(f, a, b)[0]


@cr.frule.register(integrate)
def integrate_frule(config: cr.HasForwardsMode, tangents, integrate, f, a, b):
    """The fundamental theorem of calculus; under the integral sign for the fields of ``f``."""
    _, fdot, adot, bdot = tangents

    def moved(x):
        return cr.frule_via_ad(config, (fdot, cr.ZeroTangent()), f, x)[1]

    inside = cr.ZeroTangent() if isinstance(fdot, ZEROS) else integrate(moved, a, b)
    return integrate(f, a, b), f(b) * bdot - f(a) * adot + inside


@cr.rrule.register(integrate)
def integrate_rrule(config: cr.HasReverseMode, integrate, f, a, b):
    def field_bar(name):
        def integrand(x):
            fbar, _ = cr.rrule_via_ad(config, f, x)[1](1.0)
            return fbar[name]

        return integrate(integrand, a, b)

    fields = [field.name for field in dataclasses.fields(f)] if dataclasses.is_dataclass(f) else []

    def integrate_pullback(ybar):
        fbar = cr.NoTangent()
        if fields:
            fbar = cr.Tangent(type(f), **{name: ybar * field_bar(name) for name in fields})
        return cr.NoTangent(), fbar, -f(a) * ybar, f(b) * ybar

    return integrate(f, a, b), integrate_pullback


ZEROS = (cr.ZeroTangent, cr.NoTangent)


@dataclasses.dataclass
class Decay:
    rate: float
    scale: float = 2.0

    def __call__(self, x):
        return self.scale * np.exp(-self.rate * x)


def decayed(rate, scale, a, b):
    return scale * (np.exp(-rate * a) - np.exp(-rate * b)) / rate


def test_numerical_integration():
    """The derivative in the limits is f(b) and -f(a), whatever computes the integral."""
    calls = []

    def f(x):
        calls.append(x)
        return np.sin(x) / x

    abar, bbar = cr.grad(lambda a, b: integrate(f, a, b), argnums=(0, 1))(1.0, 2.0)
    assert (-np.sin(1.0), np.sin(2.0) / 2.0) == (abar, bbar)
    with_gradient = len(calls)
    integrate(f, 1.0, 2.0)
    assert with_gradient == (len(calls) - with_gradient) + 2
    np.testing.assert_allclose(
        f(2.0) - f(1.0), cr.jvp(lambda a, b: integrate(f, a, b), (1.0, 2.0), (1.0, 1.0))[1]
    )


def test_numerical_integration_of_a_functor():
    """The parameters of the integrand: its fields, by the config that the rule is handed."""

    def f(f, a, b):
        return integrate(f, a, b)

    point = (Decay(0.7), 0.5, 2.0)
    found = cr.grad(f, argnums=(0, 1, 2))(*point)
    expected = cr.grad(decayed, argnums=(0, 1, 2, 3))(0.7, 2.0, 0.5, 2.0)
    np.testing.assert_allclose([found[0].rate, found[0].scale, *found[1:]], expected, rtol=1e-10)
    _, ydot = cr.jvp(f, point, (cr.Tangent(Decay, rate=1.0, scale=2.0), 3.0, 4.0))
    np.testing.assert_allclose(ydot, np.dot(expected, [1.0, 2.0, 3.0, 4.0]), rtol=1e-10)


def test_numerical_integration_again():
    hessian = cr.hessian(lambda b: integrate(np.cos, 0.0, b))(1.3)
    np.testing.assert_allclose(hessian, -np.sin(1.3))
    check_grad(lambda b: integrate(Decay(0.7), b, b**2), 1.3)


@cr.primitive
def gauss(f, a, b):
    """The integral of f from a to b, by a fixed rule in NumPy."""
    nodes, weights = np.polynomial.legendre.leggauss(12)
    return (b - a) / 2 * np.sum(weights * f((a + b) / 2 + (b - a) / 2 * nodes))


@cr.rrule.register(gauss)
def gauss_rrule(gauss, f, a, b):
    def gauss_pullback(ybar):
        return cr.NoTangent(), cr.NoTangent(), -f(a) * ybar, f(b) * ybar

    return gauss(f, a, b), gauss_pullback


def test_numerical_integration_of_a_closure():
    """The engine adds the path through what the integrand captures to the rule's own."""

    def loss(w, b):
        return gauss(lambda x: 2.0 * np.exp(-w * x), 0.5, b * w)

    def exact(w, b):
        return decayed(w, 2.0, 0.5, b * w)

    np.testing.assert_allclose(
        cr.grad(loss, argnums=(0, 1))(0.7, 2.0), cr.grad(exact, argnums=(0, 1))(0.7, 2.0)
    )
    np.testing.assert_allclose(
        cr.hessian(lambda w: loss(w[0], w[1]))(np.array([0.7, 2.0])),
        cr.hessian(lambda w: exact(w[0], w[1]))(np.array([0.7, 2.0])),
        rtol=1e-10,
    )


# ---- known issues over there ----------------------------------------------------------------


def test_variables_bound_again():
    """mysum: the same name for a new value, also of another type."""

    def mysum(x, n):
        tot = 0
        for _ in range(n):
            tot += x**n
        return tot

    assert 3 * 3 * 4.0 == cr.grad(mysum)(2.0, 3)


def test_a_field_that_is_written_to():
    """mutable struct: a field of an object of the function's own."""

    class State:
        pass

    def f(x):
        state = State()
        state.a = x
        state.a = state.a * x
        return state.a * 3

    assert 12.0 == cr.grad(f)(2.0)


def test_map_and_comprehensions_instead_of_mutation():
    """g_better: what a loop over a buffer can be written as."""
    y = np.arange(3.0)
    expected = 2 * np.ones(3)
    for g in (
        lambda y: 2 * y,
        lambda y: cr.array([2 * y[i] for i in range(len(y))]),
        lambda y: np.stack([2 * part for part in y]),
        lambda y: cr.map(lambda part: 2 * part, y),
    ):
        np.testing.assert_array_equal(expected, cr.grad(lambda y, g=g: np.sum(g(y)))(y))


def test_second_derivatives():
    """Reverse over reverse, forward over reverse, and the other two: all the same."""

    def f(x):
        return np.sum(np.tanh(x) ** 2 * x[::-1])

    expected = cr.jacfwd(cr.grad(f))(XS)
    for outer, inner in ((cr.jacrev, cr.grad), (cr.jacfwd, cr.jacfwd), (cr.jacrev, cr.jacfwd)):
        np.testing.assert_allclose(outer(inner(f))(XS), expected, rtol=1e-12)
