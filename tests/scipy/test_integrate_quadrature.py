"""Integrals of functions: value, both modes and second order, by differences of SciPy's own."""

import ctypes
import dataclasses
import functools
import math
import types
import warnings

import checks_of_objects as checks
import numpy as np
import pytest
import scipy.integrate as plain
from derivatives import by_jvp
from scipy import LowLevelCallable
from scipy.stats import qmc

import chainrules as cr
from chainrules.scipy import integrate

check = checks.check

K, Q = 1.3, 0.7


def decay(k):
    """The integral of ``exp(-k * t)`` from 0 to 1."""
    return integrate.quad(lambda t: np.exp(-k * t), 0, 1)[0]


def closed(k):
    return (1 - np.exp(-k)) / k


# ---- quad ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("transform", [cr.grad, lambda f: lambda k: cr.jvp(f, (k,), (1.0,))])
def test_how_often_the_function_is_evaluated(transform):
    """At SciPy's nodes, and once at each node of the derivative; in the middle for its shape."""
    calls = 0

    def counted(t, k):
        nonlocal calls
        calls += 1
        return np.exp(-k * t)

    transform(lambda k: integrate.quad(counted, 0, 1, args=(k,))[0])(K)
    assert calls <= 2 * 21 + 1


def test_one_parameter_of_a_complex_function():
    def wave(k):
        y = integrate.quad(lambda t: np.exp(1j * k * t), 0, 1, complex_func=True)[0]
        return np.real(y) + 2 * np.imag(y)

    check(wave, K)


def test_a_closed_form():
    slope = np.exp(-2.0) / 2 - closed(2.0) / 2
    assert cr.grad(decay)(2.0) == pytest.approx(slope, rel=1e-12)
    assert cr.jvp(decay, (2.0,), (1.0,))[1] == pytest.approx(slope, rel=1e-12)
    assert decay(2.0) == cr.jvp(decay, (2.0,), (1.0,))[0] == cr.vjp(decay, 2.0)[0]


def test_end_points():
    check(lambda a, b, k: integrate.quad(lambda t: np.exp(-k * t) * t, a, b)[0], 0.2, 1.7, K)
    check(lambda a, b, k: integrate.quad(lambda t: np.exp(-k * t) * t, a, b)[0], 1.7, 0.2, K)
    check(lambda a: integrate.quad(lambda t: t, a, 2 * a)[0], 0.4)


def test_an_end_point_that_is_differentiated_where_nothing_else_is():
    assert cr.grad(lambda b: integrate.quad(math.exp, 0.0, b)[0])(0.7) == pytest.approx(
        math.exp(0.7)
    )
    assert cr.hessian(lambda b: integrate.quad(np.exp, 0.0, b)[0])(0.7) == pytest.approx(
        math.exp(0.7)
    )


def test_parameters_by_args():
    def f(t, k, q):
        return np.exp(-k * t) * np.sin(q * t)

    check(lambda k, q: integrate.quad(f, 0, 2, args=(k, q))[0], K, Q)
    check(lambda k: integrate.quad(lambda t, k: np.cos(k * t), 0, 2, args=k)[0], K)
    check(lambda x: integrate.quad(lambda t, x: np.sum(np.sin(x * t)), 0, 2, (x,))[0], [K, Q, 0.1])


def test_infinite_ranges():
    check(lambda k: integrate.quad(lambda t: np.exp(-k * t), 0, np.inf)[0], K)
    check(lambda k: integrate.quad(lambda t: np.exp(k * t), -np.inf, 0.3)[0], K)
    bell = lambda t, k, m: np.exp(-k * (t - m) ** 2)  # noqa: E731
    check(lambda *p: integrate.quad(bell, -np.inf, np.inf, p)[0], K, Q, second=False)
    check(lambda k, a: integrate.quad(lambda t: np.exp(-k * t), a, np.inf)[0], K, Q)
    assert cr.grad(lambda b: integrate.quad(lambda t: np.exp(-t), 0, b)[0])(np.inf) == 0


@pytest.mark.parametrize(("a", "b"), [(2.0, np.inf), (-np.inf, -2.0), (3.0, 2.0)])
def test_integrands_are_called_within_the_range(a, b):
    asked = []

    def f(k):
        decay = lambda t: asked.append(cr.value(t)) or np.exp(-k * abs(t))  # noqa: E731
        return integrate.quad(decay, a, b)[0]

    cr.grad(f)(1.3)
    assert min(a, b) < min(asked) < max(asked) < max(a, b)


def test_singular_at_an_end():
    check(lambda k: integrate.quad(lambda t: np.log(t) * np.exp(-k * t), 0, 1)[0], K, second=False)
    check(lambda k: integrate.quad(lambda t: t ** (k - 1), 0, 1)[0], Q, second=False)
    check(lambda k: integrate.quad(lambda t: 1 / (k * t**0.5), 0, 1)[0], Q)  # 1 / 0 at the end


def test_options():
    check(
        lambda k: integrate.quad(lambda t: abs(t - 0.5) ** 1.5 * k * k, -1, 2, points=[0.5])[0], K
    )
    check(lambda k: integrate.quad(lambda t: np.exp(-k * t), 0, 5, epsabs=1e-12, limit=90)[0], K)
    check(lambda k: integrate.quad(lambda t: k * k * t, 0, 1, weight="cos", wvar=3.0)[0], K)
    check(lambda k: integrate.quad(lambda t: k * k * t, -1, 2, weight="cauchy", wvar=0.4)[0], K)
    _, error, info = integrate.quad(lambda t: t, 0, 1, full_output=1)
    found = []

    def loss(k):
        found.append(integrate.quad(lambda t: k * t, 0, 1, full_output=1))
        return found[0][0]

    assert cr.grad(loss)(1.0) == pytest.approx(0.5)
    assert (found[0][1], found[0][2]["neval"]) == (error, info["neval"])


def test_complex_functions():
    def f(k):
        return integrate.quad(lambda t: np.exp(1j * k * t), 0, 1, complex_func=True)[0]

    check(f, K)
    z = 0.7 + 0.2j
    loss = cr.grad(
        lambda z: abs(integrate.quad(lambda t: np.exp(z * t), 0, 1, complex_func=True)[0]) ** 2
    )
    plain_loss = cr.grad(lambda z: abs((np.exp(z) - 1) / z) ** 2)
    assert loss(z) == pytest.approx(plain_loss(z))
    assert cr.grad(lambda z: integrate.quad(lambda t: abs(z) ** 2 * t, 0, 1)[0])(
        z
    ) == pytest.approx(z)


@dataclasses.dataclass
class Gas:
    a: float
    b: float
    name: str = "gas"

    def density(self, t):
        return np.exp(-self.a * t) * self.b


class Counter:
    def __init__(self, k):
        self.k, self.calls = k, []

    def __call__(self, t):
        self.calls.append(t)
        return self.k * t * t


def test_parameters_in_containers_and_objects():
    def of_dict(p):
        return integrate.quad(lambda t: np.exp(-p["k"] * t) * p["q"][0], 0, 1)[0]

    assert cr.grad(of_dict)({"k": 2.0, "q": [3.0]})["q"][0] == pytest.approx(closed(2.0))
    slope = cr.grad(lambda gas: integrate.quad(gas.density, 0, 1)[0])(Gas(2.0, 3.0))
    assert slope.b == pytest.approx(closed(2.0))
    by_args = cr.grad(lambda gas: integrate.quad(lambda t, gas: gas.density(t), 0, 1, gas)[0])
    assert by_args(Gas(2.0, 3.0)).b == pytest.approx(closed(2.0))
    assert cr.grad(lambda k: integrate.quad(Counter(k), 0, 3)[0])(1.0) == pytest.approx(9.0)


def test_what_a_function_captures():
    def nested(k):
        def outer(t, scale=2 * k):
            def inner(s):
                return s * k if s < 1 else inner(s - 1)  # it captures itself

            return inner(t) * scale

        return integrate.quad(outer, 0, 1)[0]

    check(nested, K)
    check(lambda k: integrate.quad(functools.partial(lambda k, t: k * k * t, k), 0, 1)[0], K)
    seen = []

    def counting(k):
        count = 0

        def f(t):
            nonlocal count
            count += 1
            seen.append(t)
            return k * t

        return integrate.quad(f, 0, 1)[0] + 0.0 * count

    assert cr.grad(counting)(1.0) == pytest.approx(0.5)
    assert len(seen) == 21  # a list that it adds to is the same one; once at each node


def test_a_polynomial_that_is_captured():
    """Of ``np.poly1d``, whose field of coefficients has a property of its name."""

    def f(t):
        p = np.poly1d(cr.array([t, 1.0, 2.0]))
        return integrate.quad(lambda x: p(x), 0.0, 1.0)[0]

    np.testing.assert_allclose(cr.grad(f)(0.7), 1 / 3)
    np.testing.assert_allclose(cr.jvp(f, (0.7,), (1.0,))[1], 1 / 3)


def test_a_spline_that_is_captured():
    from chainrules.scipy import interpolate

    def area(y):
        spline = interpolate.CubicSpline(np.arange(4.0), y)
        return integrate.quad(lambda t: spline(t) ** 2, 0, 3, points=[1.0, 2.0])[0]

    check(area, [0.3, 1.0, -0.2, 0.8])


def test_a_quad_in_a_quad():
    def f(k):
        return integrate.quad(
            lambda x: integrate.quad(lambda t: np.exp(-k * t * x), 0, x)[0], 0, 1
        )[0]

    check(f, K, second=False)
    assert cr.hessian(f)(K) == pytest.approx(checks.differences(cr.grad(f), (K,), (1.0,)), rel=1e-6)
    inner = cr.grad(lambda x: integrate.quad(lambda t: np.exp(-t * x), 0, 1)[0])
    assert integrate.quad(inner, 1.0, 2.0)[0] == pytest.approx(closed(2.0) - closed(1.0))


NESTS: dict[str, list] = {
    "grad of jvp of grad": [cr.grad, by_jvp, cr.grad],
    "jvp of grad of jvp": [by_jvp, cr.grad, by_jvp],
    "jvp of jvp of jvp": [by_jvp] * 3,
    "grad of grad of grad": [cr.grad] * 3,
    "jacrev of jacfwd of grad": [cr.grad, cr.jacfwd, cr.jacrev],
}


@pytest.mark.parametrize("nest", NESTS)
def test_nests(nest):
    f, g = decay, closed
    for transform in NESTS[nest]:
        f, g = transform(f), transform(g)
    assert f(2.0) == pytest.approx(g(2.0), rel=1e-10)


def test_values_of_an_outer_transform():
    """The integrand captures values of both, or of the outer one only."""
    both = cr.grad(lambda w: cr.grad(lambda u: integrate.quad(lambda t: u * w * w * t, 0, u)[0])(w))
    assert both(2.0) == pytest.approx(cr.grad(lambda w: 1.5 * w**4)(2.0))
    outer = cr.grad(lambda w: cr.grad(lambda u: integrate.quad(lambda t: w * t, 0, u)[0] * u)(w))
    assert outer(2.0) == pytest.approx(cr.grad(lambda w: 1.5 * w**3)(2.0))


def test_small_and_large_derivatives_are_as_accurate():
    """The tolerances are about numbers of the size of 1; cotangents may have any."""

    def wave(k):
        return integrate.quad(lambda t: np.cos(k * t), 0, 60)[0]

    exact = cr.grad(lambda k: np.sin(60 * k) / k)(2.0)
    for size in (1e-12, 1e12):
        (slope,) = cr.vjp(wave, 2.0)[1](size)
        assert slope == pytest.approx(size * exact, rel=1e-8)
        assert cr.jvp(wave, (2.0,), (size,))[1] == pytest.approx(size * exact, rel=1e-8)


def test_float32_and_empty_parameters():
    slope = cr.grad(lambda k: integrate.quad(lambda t: np.sum(k * t), 0, 1)[0])(
        np.array([1, 2], np.float32)
    )
    assert slope.dtype == np.float32
    np.testing.assert_allclose(slope, [0.5, 0.5])
    none = cr.grad(lambda k: integrate.quad(lambda t: t + np.sum(k), 0, 1)[0])(np.zeros(0))
    assert none.shape == (0,)


# ---- quad_vec -----------------------------------------------------------------------------------


def test_quad_vec():
    def f(t, k):
        return np.stack([np.cos(k * t), t**k])

    first = {"second": False}
    check(lambda a, b, k: integrate.quad_vec(f, a, b, args=(k,))[0], 0.2, 1.5, K)
    check(lambda k: integrate.quad_vec(lambda t: np.exp(-k * t), 0, np.inf)[0], [K, Q], **first)
    check(lambda k: integrate.quad_vec(lambda t: np.exp(1j * k * t), 0, 1)[0], [K, Q], **first)
    check(lambda k: integrate.quad_vec(lambda t: k * abs(t), -1, 1, points=[0.0], norm="max")[0], K)
    check(
        lambda k: integrate.quad_vec(lambda t: np.array([k * t, k]), 0, 1, full_output=True)[0],
        K,
        **first,
    )


# ---- several variables --------------------------------------------------------------------------


def test_dblquad():
    def f(k, b):
        return integrate.dblquad(
            lambda y, x, c: np.exp(-k * x * y * c), 0, b, lambda x: x * k, 2.0, args=(k,)
        )[0]

    check(f, K, Q, second=False)


@pytest.mark.slow
def test_tplquad():
    def f(k):
        return integrate.tplquad(
            lambda z, y, x: k * x * y * z, 0, k, 0, lambda x: x, lambda x, y: 0, 1.0, epsabs=1e-4
        )[0]

    for transform in (cr.grad, by_jvp):
        assert transform(f)(K) == pytest.approx(5 * K**4 / 16, rel=1e-8)  # of k**5 / 16


def test_nquad():
    def f(k):
        ranges = [lambda y, z: (0, k * z), (0.0, k)]
        opts = [{"epsabs": 1e-10}, {}]
        return integrate.nquad(lambda x, y, z: x * y * z * k, ranges, (k,), opts)[0]

    check(f, K, second=False)
    y, error, info = integrate.nquad(lambda x, y: x * y, [[0, 1], [0, 1]], full_output=True)
    assert (y, error, info) == plain.nquad(lambda x, y: x * y, [[0, 1], [0, 1]], full_output=True)
    sharp = [lambda y: {"points": [0.2 * y]}, {}]
    check(
        lambda k: integrate.nquad(
            lambda x, y: k * k * abs(x - 0.2 * y), [[0, 1], [0, 1]], opts=sharp
        )[0],
        K,
        second=False,
    )


def test_second_derivative_of_a_kink_that_moves():
    """Of ``k**2 / 75 - k / 10 + 1 / 2``; it was 0."""

    def f(k):
        opts = [lambda y: {"points": [0.2 * k * y]}, {}]
        return integrate.nquad(lambda x, y: abs(x - 0.2 * k * y), [[0, 1], [0, 1]], opts=opts)[0]

    assert cr.grad(f)(K) == pytest.approx(K / 37.5 - 0.1)
    assert cr.grad(cr.grad(f))(K) == pytest.approx(1 / 37.5)
    assert cr.jvp(cr.grad(f), (K,), (1.0,))[1] == pytest.approx(1 / 37.5)


def test_qmc_quad():
    def halton():
        return qmc.Halton(2, seed=np.random.default_rng(3))

    def f(a, b, k):
        low = np.stack([a, a])
        given = {"qrng": halton(), "n_points": 32, "n_estimates": 3}
        return np.stack(integrate.qmc_quad(lambda x: np.exp(-k * x[0] * x[1]), low, b, **given))

    check(f, 0.1, [1.0, -2.0], K)


# ---- samples, and what SciPy gives where nothing is traced --------------------------------------


def test_weights_of_newton_and_cotes():
    """At places from 0 to n, the ends of which stand still."""

    def places(inside):
        return np.concatenate([[0.0], inside, [len(inside) + 1.0]])

    for inside in ([1.1, 1.8, 3.2], [0.8, 2.1], [1.4]):
        check(lambda x: integrate.newton_cotes(places(x))[0], inside)
        check(lambda x: integrate.newton_cotes(places(x))[1], inside)
    weights, error = integrate.newton_cotes(4, 1)
    assert (list(weights), error) == (
        list(plain.newton_cotes(4, 1)[0]),
        plain.newton_cotes(4, 1)[1],
    )
    check(lambda h: h * np.sum(integrate.newton_cotes(4)[0]), 0.3)


def test_nothing_traced_is_scipys_own():
    for f, args in (
        (plain.quad, (np.sin, 0.0, 1.0)), (plain.dblquad, (np.hypot, 0, 1, 0, 1)),
        (plain.quad_vec, (np.sin, 0.0, 1.0)), (plain.tplquad, (lambda *x: 1.0, 0, 1, 0, 1, 0, 1)),
    ):  # fmt: skip
        assert f(*args) == getattr(integrate, f.__name__)(*args)


# ---- what is refused, or goes wrong -------------------------------------------------------------


def of(f, *args, **kwargs):
    return lambda k: f(lambda t, *_: k * t, *args, **kwargs)[0]


def test_weights_with_limits_or_frequencies_that_move():
    for transform in (cr.grad, by_jvp):
        with pytest.raises(
            cr.MissingRuleError, match=r"(?s)weight.*test_integrate_quadrature.*write"
        ):
            transform(lambda b: integrate.quad(np.sin, 0, b, weight="cos", wvar=2.0)[0])(1.0)
        with pytest.raises(
            cr.MissingRuleError, match=r"(?s)wvar.*test_integrate_quadrature.*write"
        ):
            transform(lambda w: integrate.quad(np.sin, 0, 1, weight="cos", wvar=w)[0])(1.0)


def test_compiled_functions():
    library = ctypes.CDLL(None)
    library.sin.restype, library.sin.argtypes = ctypes.c_double, (ctypes.c_double,)
    compiled = LowLevelCallable(library.sin)
    assert integrate.quad(compiled, 0, 1)[0] == pytest.approx(1 - np.cos(1))
    with pytest.raises(cr.MissingRuleError, match=r"(?s)compiled function.*in Python"):
        cr.grad(lambda b: integrate.quad(compiled, 0, b)[0])(1.0)
    with pytest.raises(cr.MissingRuleError, match=r"(?s)compiled function.*in Python"):
        cr.grad(lambda b: integrate.quad(library.sin, 0, b)[0])(1.0)


shared = types.SimpleNamespace(k=None)


def test_a_traced_value_in_a_global():
    def loss(k):
        shared.k = k
        return integrate.quad(lambda t: shared.k * t + k, 0, 1)[0]

    for transform in (cr.grad, by_jvp):
        with pytest.raises(
            cr.LostDerivativeError, match=r"(?s)global.*quadrature.py.*pass it in args"
        ):
            transform(loss)(1.0)


def test_a_function_that_assigns_to_what_it_captures():
    def loss(k):
        largest = 0.0 * k

        def f(t):
            nonlocal largest
            largest = max(largest, k * t)
            return k * t

        return integrate.quad(f, 0, 1)[0] + largest

    for transform in (cr.grad, by_jvp):
        with pytest.raises(
            cr.MutationError, match=r"(?s)quad called writes .*test_integrate_quad.*return"
        ):
            transform(loss)(1.0)


def test_a_counter_in_an_object():
    class Model:
        def __init__(self, k):
            self.k, self.calls = k, 0

        def rate(self, t):
            self.calls += 1
            return self.k * t

    model = None

    def loss(k):
        nonlocal model
        model = Model(k)
        return integrate.quad(model.rate, 0, 1)[0]

    assert cr.grad(loss)(1.0) == pytest.approx(0.5)
    assert model.calls == 21


@pytest.mark.parametrize("transform", [cr.grad, by_jvp])
def test_a_divergent_integral_of_the_derivative_warns(transform):
    """Of a logarithm at 0.3: its derivative in the place of the pole is 1 / (k - t)."""
    with pytest.warns(plain.IntegrationWarning, match=r"(?s)the derivative of .*quad in test_int"):
        transform(
            lambda k: integrate.quad(lambda t: k * np.log(abs(t - k)), 0, 1, points=[0.3])[0]
        )(0.3)


def test_a_warning_of_the_value_is_scipys():
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        cr.grad(lambda k: k * integrate.quad(lambda t: k / t, 0, 1)[0])(1.0)
    assert any(w.category is plain.IntegrationWarning for w in caught)


def test_an_exception_of_the_users_arrives():
    class MineError(Exception):
        pass

    def f(t, k):
        if t > 0.9:
            raise MineError("at the end")
        return k * t

    for transform in (cr.grad, by_jvp):
        with pytest.raises(MineError, match="at the end"):
            transform(lambda k: integrate.quad(f, 0, 1, (k,))[0])(1.0)
        assert cr.grad(decay)(2.0) == pytest.approx(cr.grad(closed)(2.0))


def test_nan_from_the_users_function_is_nan():
    with pytest.warns(plain.IntegrationWarning):
        slope = cr.grad(lambda k: integrate.quad(lambda t: k * np.nan, 0, 1)[0])(1.0)
    assert np.isnan(slope)


def test_a_traced_value_in_a_class_is_named():
    def loss(k):
        class Decay:
            def __call__(self, x):
                return np.exp(-k * x)

        return integrate.quad(Decay(), 0.0, 1.0)[0]

    with pytest.raises(cr.LostDerivativeError, match=r"a class.*\n.*in a field"):
        cr.grad(loss)(1.3)
