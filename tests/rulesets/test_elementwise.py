"""The elementwise rules: arithmetic, powers, exponentials, trigonometry, complex parts."""

import math

import numpy as np
import pytest
from both_modes import both_engines, both_rules

import chainrules as cr
from chainrules.rules import frule, rrule
from chainrules.testing import test_rrule, test_scalar

# Of one argument, each with points inside its domain.
REAL = {
    np.negative: (-0.7, 2.0), np.positive: (-0.7, 2.0), np.reciprocal: (-0.7, 2.0),
    np.square: (-0.7, 2.0), np.sqrt: (0.3, 2.0), np.cbrt: (-0.7, 2.0),
    np.exp: (-0.7, 2.0), np.exp2: (-0.7, 2.0), np.expm1: (-0.7, 1e-3), np.log: (0.3, 2.0),
    np.log2: (0.3, 2.0), np.log10: (0.3, 2.0), np.log1p: (-0.7, 1e-3),
    np.absolute: (-0.7, 2.0), np.fabs: (-0.7, 2.0), np.conjugate: (-0.7, 2.0),
    np.sin: (-0.7, 2.0), np.cos: (-0.7, 2.0), np.tan: (-0.7, 1.2), np.arcsin: (-0.7, 0.4),
    np.arccos: (-0.7, 0.4), np.arctan: (-0.7, 2.0), np.sinh: (-0.7, 2.0), np.cosh: (-0.7, 2.0),
    np.tanh: (-0.7, 2.0), np.arcsinh: (-0.7, 2.0), np.arccosh: (1.3, 2.0), np.arctanh: (-0.7, 0.4),
    np.deg2rad: (-70.0, 2.0), np.radians: (-70.0, 2.0), np.rad2deg: (-0.7, 2.0),
    np.degrees: (-0.7, 2.0), np.sinc: (-0.7, 2.0), np.i0: (-0.7, 2.0), np.real: (-0.7, 2.0),
}  # fmt: skip

COMPLEX = (
    np.negative, np.positive, np.reciprocal, np.square, np.sqrt, np.exp, np.exp2, np.expm1,
    np.log, np.log2, np.log10, np.log1p, np.absolute, np.conjugate, np.sign, np.real, np.imag,
    np.angle, np.sin, np.cos, np.tan, np.arcsin, np.arccos, np.arctan, np.sinh, np.cosh, np.tanh,
    np.arcsinh, np.arccosh, np.arctanh, np.sinc,
)  # fmt: skip

# One point in each quarter of the plane, because inverse functions have branch cuts.
QUARTERS = np.array([1.2 + 0.5j, -0.6 + 0.8j, -1.3 - 0.7j, 0.4 - 1.1j])

# Of two arguments, each with two points inside its domain.
BINARY = {
    np.add: ((0.3, 2.0), (-1.2, 0.4)), np.subtract: ((0.3, 2.0), (-1.2, 0.4)),
    np.multiply: ((0.3, 2.0), (-1.2, 0.4)), np.divide: ((0.3, 2.0), (-1.2, 0.4)),
    np.power: ((0.3, 2.0), (-1.2, 2.4)), np.float_power: ((0.3, 2.0), (-1.2, 2.4)),
    np.hypot: ((0.3, 2.0), (-1.2, 0.4)), np.arctan2: ((0.3, 2.0), (-1.2, 0.4)),
    np.logaddexp: ((0.3, 2.0), (-1.2, 0.4)), np.logaddexp2: ((0.3, 2.0), (-1.2, 0.4)),
    np.maximum: ((0.3, 2.0), (-1.2, 2.4)), np.minimum: ((0.3, 2.0), (-1.2, 2.4)),
    np.fmax: ((0.3, 2.0), (-1.2, 2.4)), np.fmin: ((0.3, 2.0), (-1.2, 2.4)),
    np.remainder: ((5.3, -2.0), (1.2, 0.7)), np.fmod: ((5.3, -2.0), (1.2, 0.7)),
    np.copysign: ((0.3, -2.0), (-1.2, 0.4)), np.heaviside: ((0.3, -2.0), (-1.2, 0.4)),
}  # fmt: skip

COMPLEX_BINARY = (np.add, np.subtract, np.multiply, np.divide, np.power, np.float_power)


def name(f):
    return getattr(f, "__name__", str(f))


def derivative(f, x):
    """Of a function of one number, the same in both modes."""
    forward = cr.jvp(f, (x,), (1.0,))[1]
    np.testing.assert_array_equal(forward, cr.grad(f)(x))
    return float(forward)


@pytest.mark.parametrize("f", REAL, ids=name)
def test_of_a_number(f):
    for x in REAL[f]:
        test_scalar(f, x)


@pytest.mark.parametrize("f", REAL, ids=name)
def test_of_an_array(f):
    x = np.array([REAL[f], REAL[f][::-1], REAL[f]])
    both_rules(f, x)
    test_rrule(f, x[:0])
    test_rrule(f, np.array(x[0, 0]))


@pytest.mark.parametrize("f", REAL, ids=name)
def test_of_float32(f):
    both_rules(f, np.array(REAL[f], np.float32))
    test_rrule(f, np.float32(REAL[f][0]))


@pytest.mark.parametrize("f", REAL, ids=name)
def test_of_an_integer(f):
    x = 2 if f not in (np.arcsin, np.arccos, np.arctanh, np.reciprocal) else 0
    if f is np.reciprocal:  # of integers it is one of whole numbers
        return
    expected = derivative(f, float(x))
    assert derivative(f, x) == pytest.approx(expected, rel=1e-15)
    assert derivative(f, np.int32(x)) == pytest.approx(expected, rel=1e-15)


@pytest.mark.parametrize("f", COMPLEX, ids=name)
def test_of_a_complex_number(f):
    for x in QUARTERS:
        test_scalar(f, complex(x))


@pytest.mark.parametrize("f", COMPLEX, ids=name)
def test_of_a_complex_array(f):
    both_rules(f, QUARTERS)
    both_rules(f, QUARTERS.astype(np.complex64))


@pytest.mark.parametrize("f", BINARY, ids=name)
def test_of_two_numbers(f):
    for a, b in zip(*BINARY[f]):
        both_rules(f, a, b)
        test_rrule(f, np.float64(a), b)


@pytest.mark.parametrize("f", BINARY, ids=name)
def test_of_two_arrays(f):
    a, b = map(np.array, BINARY[f])
    both_rules(f, a, b)
    both_rules(f, a, b[:, None])
    both_rules(f, np.stack([a, a]), b[:1])
    both_rules(f, a, BINARY[f][1][0])
    test_rrule(f, BINARY[f][0][0], b)
    test_rrule(f, a[:0], BINARY[f][1][0])


@pytest.mark.parametrize("f", BINARY, ids=name)
def test_of_two_arrays_of_float32(f):
    a, b = (np.array(x, np.float32) for x in BINARY[f])
    both_rules(f, a, b)
    both_rules(f, a, BINARY[f][1][0], second_order=False)


@pytest.mark.parametrize("f", COMPLEX_BINARY, ids=name)
def test_of_two_complex_arrays(f):
    both_rules(f, QUARTERS, QUARTERS[::-1] + 0.1)
    both_rules(f, QUARTERS, np.array([0.7, 1.2, 0.4, 2.0]))
    both_rules(f, np.array([0.7, -1.2, 0.4, 2.0]), QUARTERS)


# The engines keep only what they see a partial read, and have ways of their own for floats.


def in_the_engines(f, *args):
    both_engines(lambda *args: f(*args), *args, second_order=False)


@pytest.mark.parametrize("f", REAL, ids=name)
def test_of_one_in_the_engines(f):
    in_the_engines(f, REAL[f][0])
    in_the_engines(f, np.float64(REAL[f][0]))
    in_the_engines(f, np.array(REAL[f]))
    if f in COMPLEX:
        in_the_engines(f, QUARTERS)


@pytest.mark.parametrize("f", BINARY, ids=name)
def test_of_two_in_the_engines(f):
    a, b = BINARY[f]
    in_the_engines(f, a[0], b[0])
    in_the_engines(f, np.array(a), np.array(b))
    in_the_engines(f, np.array(a), np.array(b)[:, None])
    in_the_engines(lambda a: f(a, b[0]), np.array(a))
    in_the_engines(lambda b: f(a[0], b), np.array(b))
    in_the_engines(lambda a: f(a, b[0]), a[0])
    in_the_engines(lambda b: f(np.array(a), b), b[0])


# ---- edges ----


@pytest.mark.parametrize("f", [abs, np.absolute, np.fabs, np.sign], ids=name)
@pytest.mark.parametrize("x", [0.0, -0.0])
def test_zero_at_a_kink(f, x):
    assert derivative(f, x) == 0


@pytest.mark.parametrize("f", [np.absolute, np.angle, np.sign], ids=name)
def test_complex_zero(f):
    _, xdot = frule((cr.NoTangent(), 1 + 2j), f, 0j)
    _, pullback = rrule(f, 0j)
    assert xdot == 0
    assert pullback(1.0)[1] == 0


def test_hypot_at_the_origin():
    both_rules(np.hypot, 0.0, 2.0)
    assert [0.0, 0.0] == [float(bar) for bar in cr.grad(np.hypot, (0, 1))(0.0, 0.0)]
    a = np.array([0.0, 3.0])
    abar = cr.grad(lambda a: np.sum(np.hypot(a, [0.0, 4.0])))(a)
    np.testing.assert_allclose(abar, [0.0, 0.6])


@pytest.mark.filterwarnings("ignore:divide by zero")
@pytest.mark.parametrize("f", [np.sqrt, np.cbrt], ids=name)
def test_roots_at_zero(f):
    assert derivative(f, 0.0) == math.inf


@pytest.mark.filterwarnings("ignore:invalid value")
def test_arctan2_at_the_origin():
    assert math.isnan(derivative(lambda a: np.arctan2(a, 0.0), 0.0))


# Values from ChainRules.jl, tests of ^.
@pytest.mark.filterwarnings("ignore:divide by zero")
@pytest.mark.filterwarnings("ignore:invalid value")
@pytest.mark.parametrize(
    ("x", "p", "xbar", "pbar"),
    [
        (0.0, 2.0, 0.0, 0.0),
        (0.0, 1.0, 1.0, 0.0),
        (0.0, 0.0, 0.0, math.nan),
        (0.0, -1.0, -math.inf, math.nan),
        (-0.0, -2.0, math.inf, math.nan),
        (0.0, 0.5, math.inf, 0.0),
        (0.0, 3.5, 0.0, 0.0),
        (0.0, -1.5, -math.inf, math.nan),
        (1.0, 2.0, 2.0, 0.0),
        (2.0, 2.0, 4.0, 4 * math.log(2)),
        (-2.0, 3.0, 12.0, -8 * math.log(2)),
        (-2.0, 0.0, 0.0, math.log(2)),
    ],
)
@pytest.mark.parametrize("f", [np.power, np.float_power], ids=name)
@pytest.mark.parametrize("kind", [float, np.float64, lambda x: np.array([x])], ids=name)
def test_power_at(f, kind, x, p, xbar, pbar):
    x, p = kind(x), kind(p)
    _, pullback = cr.vjp(f, x, p)
    bars = pullback(np.ones_like(x) if np.ndim(x) else 1.0)
    np.testing.assert_allclose(np.ravel(bars), [xbar, pbar], rtol=1e-14)
    _, xdot = cr.jvp(lambda x: f(x, p), (x,), (x * 0 + 1.0,))
    np.testing.assert_allclose(np.ravel(xdot), [xbar], rtol=1e-14)


@pytest.mark.parametrize("p", [0, 1, 2, 3, 5, 0.5, -1, -2.5])
def test_power_of_a_plain_exponent(p):
    x = np.array([0.3, 1.7])
    test_rrule(np.power, x, cr.testing.primal_with_tangent(p, cr.NoTangent()))
    test_rrule(np.power, x.astype("f"), cr.testing.primal_with_tangent(p, cr.NoTangent()))
    test_rrule(np.power, 0.3, cr.testing.primal_with_tangent(p, cr.NoTangent()))
    np.testing.assert_allclose(
        cr.hessian(lambda x: np.sum(x**p))(x), np.diag(p * (p - 1) * x ** (p - 2.0)), atol=1e-14
    )


@pytest.mark.parametrize("p", [0, 1, 2])
def test_power_of_integers(p):
    x = np.array([0, 1, 2])
    xbar = cr.grad(lambda x: np.sum(x**p * 1.0))(x)
    np.testing.assert_array_equal(xbar, [[0, 0, 0], [1, 1, 1], [0, 2, 4]][p])
    powers = np.full(3, p)
    np.testing.assert_array_equal(cr.grad(lambda x: np.sum(x**powers * 1.0))(x), xbar)


def test_mixed_second_derivative_of_power_at_exponent_zero():
    """d/dp of p * x**(p - 1) at p = 0 is 1 / x."""
    mixed = cr.jvp(cr.grad(np.power), (2.0, 0.0), (0.0, 1.0))[1]
    assert mixed == pytest.approx(0.5)
    assert cr.grad(cr.grad(np.power, 1))(2.0, 0.0) == pytest.approx(0.5)


@pytest.mark.parametrize("p", [-1.0, 0.0, 1.0, 2.0, 2.5])
@pytest.mark.parametrize("x", [0.5, 2.0])
@pytest.mark.parametrize("kind", [float, np.array], ids=name)
def test_powers_of_two_levels(kind, x, p):
    def derivative(order):
        f = np.power
        for argnum in order:
            f = (cr.grad if argnum else cr.jacfwd)(f, argnum)
        return f(kind(x), kind(p))

    log = math.log(x)
    expected = {
        (0, 1): x ** (p - 1) * (1 + p * log),
        (1, 1): x**p * log**2,
        (0, 0, 1): x ** (p - 2) * (2 * p - 1 + p * (p - 1) * log),
        (1, 0, 1): x ** (p - 1) * log * (2 + p * log),
    }
    for order, value in expected.items():
        assert derivative(order) == pytest.approx(value, rel=1e-12, abs=1e-14)
        assert derivative(order[::-1]) == pytest.approx(value, rel=1e-12, abs=1e-14)


@pytest.mark.parametrize("f", [np.maximum, np.minimum, np.fmax, np.fmin], ids=name)
def test_ties_share_evenly(f):
    assert [0.5, 0.5] == [float(bar) for bar in cr.grad(f, (0, 1))(1.0, 1.0)]
    assert derivative(lambda x: f(x, x), 2.0) == 1.0
    x = np.array([0.0, 1.0, -1.0])
    xbar = cr.grad(lambda x: np.sum(f(x, 0.0)))(x)
    np.testing.assert_array_equal(xbar, [0.5, 1, 0] if "max" in f.__name__ else [0.5, 0, 1])


@pytest.mark.parametrize("f", [np.fmax, np.fmin], ids=name)
def test_nan_is_passed_over(f):
    assert [0.0, 1.0] == [float(bar) for bar in cr.grad(f, (0, 1))(math.nan, 1.0)]
    assert [1.0, 0.0] == [float(bar) for bar in cr.grad(f, (0, 1))(1.0, math.nan)]


@pytest.mark.parametrize("f", [np.logaddexp, np.logaddexp2], ids=name)
@pytest.mark.parametrize(
    ("a", "b", "abar"),
    [
        (-math.inf, -math.inf, 0.5), (math.inf, math.inf, 0.5), (-math.inf, 1.0, 0.0),
        (1.0, -math.inf, 1.0), (math.inf, 1.0, 1.0), (1.0, math.inf, 0.0), (1.0, 1.0, 0.5),
        (800.0, 0.0, 1.0), (-800.0, 0.0, math.exp(-800)),
    ],
)  # fmt: skip
def test_logaddexp_of_infinities(f, a, b, abar):
    bars = [float(bar) for bar in cr.grad(f, (0, 1))(a, b)]
    assert bars == pytest.approx([abar, 1 - abar])
    second = cr.grad(cr.grad(f))(a, b)
    assert math.isfinite(second)


@pytest.mark.parametrize("f", [np.remainder, np.fmod], ids=name)
@pytest.mark.parametrize(("a", "b"), [(-5.3, 1.2), (5.3, -1.2), (-5.3, -1.2), (0.3, 1.2)])
def test_remainders_of_all_signs(f, a, b):
    both_rules(f, a, b)
    both_rules(f, np.float32(a), np.float32(b))


def test_remainder_of_a_whole_quotient():
    assert [1.0, -3.0] == [float(bar) for bar in cr.grad(np.remainder, (0, 1))(6.0, 2.0)]
    assert [1.0, -3.0] == [float(bar) for bar in cr.grad(np.fmod, (0, 1))(6.0, 2.0)]
    assert [1.0, -3.0] == [float(bar) for bar in cr.grad(lambda a, b: a % b, (0, 1))(6.0, 2.0)]


@pytest.mark.parametrize("x", [0.0, 1e-9, 1e-4, 0.1, 0.3183, 0.3184, 1.0, 30.5])
def test_sinc_near_zero(x):
    test_scalar(np.sinc, x)
    # sinc'' = -pi^2 / 3 at 0
    if x < 1e-3:
        assert cr.grad(cr.grad(np.sinc))(x) == pytest.approx(-(math.pi**2) / 3, rel=1e-6)


@pytest.mark.parametrize("x", [-30.0, 1e-3, 0.0, 80.0])
def test_i0(x):
    test_rrule(np.i0, x, second_order=x != 0)
    special = pytest.importorskip("scipy.special")
    assert float(cr.grad(np.i0)(x)) == pytest.approx(special.i1(x), rel=1e-13)


# ---- several outputs, options, functions that are no ufuncs ----


def test_several_outputs():
    x = np.array([5.3, 2.2, -1.7])
    for f in (np.modf, np.frexp):
        both_rules(f, 5.3)
        both_rules(f, x)
        both_rules(f, x.astype(np.float32))
    b = np.array([1.2, 0.7, 1.1])
    both_rules(np.divmod, x, b)
    assert [1.0, -4.0] == [
        float(bar) for bar in cr.grad(lambda a, b: divmod(a, b)[1], (0, 1))(9, 2)
    ]


def test_ldexp_and_nextafter():
    exponents = np.array([3, -2])
    both_rules(np.ldexp, np.array([0.3, -1.2]), exponents)
    both_rules(np.ldexp, np.array([0.3, -1.2], np.float32), exponents)
    assert derivative(lambda x: np.ldexp(x, 3), 0.3) == 8
    assert derivative(lambda x: np.nextafter(x, 9.0), 0.3) == 1


@pytest.mark.parametrize("deg", [False, True])
def test_angle(deg):
    both_rules(np.angle, QUARTERS, deg=deg)
    both_rules(np.angle, QUARTERS.astype(np.complex64), deg=deg)
    test_rrule(np.angle, -1.2 + 0.4j, deg=deg)
    assert derivative(np.angle, -1.2) == 0
    assert derivative(np.angle, 0.0) == 0


def test_unwrap():
    phase = np.array([[0.1, 3.0, -3.0, -1.0], [0.1, 4.0, 9.0, -9.0]])
    both_rules(np.unwrap, phase)
    both_rules(np.unwrap, phase, axis=0)
    both_rules(np.unwrap, phase, discont=3.5, period=7.0)


def test_nan_to_num():
    x = np.array([1.0, math.nan, math.inf, -2.0])
    xbar = cr.grad(lambda x: np.sum(np.nan_to_num(x, posinf=9.0) ** 2))(x)
    np.testing.assert_array_equal(xbar, [2.0, 0.0, 0.0, -4.0])
    z = np.array([1 + 1j, complex(math.nan, 2), complex(3, math.inf)])
    zbar = cr.grad(lambda z: np.sum(np.real(np.nan_to_num(z, posinf=9.0) * (1 - 1j))))(z)
    np.testing.assert_array_equal(zbar, [1 + 1j, 1j, 1])


def test_real_if_close():
    zbar = cr.grad(lambda z: np.sum(np.real_if_close(z)))(np.array([1 + 1e-18j, 2]))
    np.testing.assert_array_equal(zbar, [1, 1])
    assert np.iscomplexobj(cr.vjp(np.real_if_close, np.array([1j]))[0])


@pytest.mark.parametrize("f", ["sqrt", "log", "log2", "log10", "arccos", "arcsin", "arctanh"])
def test_emath(f):
    f = getattr(np.emath, f)
    via_ad = {"rrule_f": cr.rrule_via_ad}
    for x in (
        0.3,
        np.array([0.3, 0.7]),
        np.array([-1.3, 0.7]),
        np.array([-1.3, 0.7], "f"),
        QUARTERS,
    ):
        test_rrule(f, x, **via_ad)
        np.testing.assert_array_equal(cr.vjp(f, x)[0], f(x))
    test_rrule(np.emath.power, np.array([-1.3, 0.7]), 2.5, **via_ad)
    test_rrule(np.emath.power, 2.0, -1.5, **via_ad)
    test_rrule(np.emath.logn, 3.0, np.array([-1.3, 0.7]), **via_ad)


def test_parts_of_real_arrays():
    x = np.array([1.0, -2.0])
    both_rules(np.real, x)
    both_rules(np.imag, x)
    both_rules(np.conjugate, x)
    assert derivative(np.imag, 1.0) == 0
    z = np.array([1 + 2j])
    np.testing.assert_array_equal(cr.grad(lambda z: np.sum(z.imag * 3))(z), [3j])


def test_sign_is_plain_for_real_numbers():

    assert derivative(lambda x: x * np.sign(x), -2.0) == -1
    np.testing.assert_array_equal(
        cr.grad(lambda x: np.sum(x * np.sign(x)))(np.array([-2.0, 3])), [-1, 1]
    )


def test_partials_keep_float16():
    x = np.array([0.3, 0.7], np.float16)
    for f in REAL:
        if f not in (np.arccosh, np.i0):
            _, pullback = cr.vjp(f, x)
            assert pullback(x)[0].dtype == np.float16


def test_every_ufunc_has_an_answer():
    """A rule, or a declaration that there is nothing to differentiate."""
    ufuncs = {getattr(np, name) for name in dir(np) if isinstance(getattr(np, name), np.ufunc)}
    unknown = {f.__name__ for f in ufuncs if f not in rrule.methods or f not in frule.methods}
    assert set() == unknown


# ---- second derivatives at a kink ---------------------------------------------------------------


SECOND = [
    cr.hessian, lambda f: cr.jacfwd(cr.grad(f)), lambda f: cr.jacrev(cr.grad(f)),
    lambda f: cr.jacrev(cr.jacfwd(f)), lambda f: cr.jacfwd(cr.jacfwd(f)),
]  # fmt: skip


@pytest.mark.parametrize("second", SECOND)
@pytest.mark.parametrize(
    "f", [lambda x: np.sum(np.abs(x + 0j)), lambda x: np.sum(np.abs(1j * x) ** 2),
          lambda x: np.abs(x[0] + 0j) ** 3 + x[1], lambda x: np.hypot(x[0], 0.0 * x[1])],
)  # fmt: skip
def test_no_wrong_zero_where_there_is_no_second_derivative(f, second):
    x = np.array([0.0, 2.0])
    assert np.all(cr.grad(f)(x)[0] == 0)
    with np.errstate(all="ignore"):
        found = second(f)(x)
    assert np.isnan(found[0, 0])
    assert np.isfinite(found[1, 1]) or "hypot" in f.__code__.co_names


@pytest.mark.parametrize("of_abs", [np.abs, np.fabs, abs, lambda x: np.max(np.stack([x, -x]), 0)])
def test_abs_is_the_larger_of_a_number_and_its_negative(of_abs):
    """Smooth functions of it have their second derivative, and a kink has that of one branch."""
    pairs = [
        (lambda x: np.sum(of_abs(x) ** 2), lambda x: np.sum(x**2)),
        (lambda x: (x[0] - of_abs(x[0])) * (x[0] + of_abs(x[0])), lambda x: 0.0 * x[0]),
        (lambda x: np.sum(of_abs(x)), lambda x: 0.0 * x[0]),
        (lambda x: of_abs(x[0]) * of_abs(-x[0]) * x[1], lambda x: x[0] ** 2 * x[1]),
    ]
    modes = cr.jacfwd, cr.jacrev
    nests = [lambda f, a=a, b=b: a(b(f)) for a in modes for b in modes]
    for dtype in (np.float64, np.float32):
        x = np.array([0.0, 2.0], dtype)
        for f, same in pairs:
            for second in (cr.hessian, *nests):
                np.testing.assert_allclose(second(f)(x), cr.hessian(same)(x), atol=1e-6)
            np.testing.assert_array_equal(cr.grad(f)(x), cr.jacfwd(f)(x))


def test_what_does_not_move_a_kink_has_its_second_derivative():
    def f(x):
        return np.sum(np.abs(x)) * x[1]

    found = cr.hvp(f, (np.array([0.0, 2.0]),), (np.array([0.0, 1.0]),))
    np.testing.assert_array_equal(found, [0.0, 2.0])
    z = np.array([0.0j, 1.0 + 1.0j])
    along = cr.jvp(cr.grad(lambda z: np.sum(np.abs(z))), (z,), (np.array([0.0j, 1.0j]),))[1]
    assert np.all(np.isfinite(along))
    with np.errstate(all="ignore"):
        assert np.isnan(cr.jvp(cr.grad(np.abs), (0.0j,), (1.0j,))[1])
        rows = cr.jacrev(cr.grad(lambda x: np.sum(np.abs(1j * x))))(np.array([0.0, 2.0]))
        assert np.isnan(rows[0, 0])


@pytest.mark.parametrize("zero", [0, 0.0, -0.0, np.float64(0), 0j])
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.complex128])
@pytest.mark.parametrize("shape", [(), (1,), (2, 2)])
def test_division_by_a_zero_of_python_is_that_by_numpys(zero, dtype, shape):
    """A bug's test: the pullback of an array divided by Python's zero was a ZeroDivisionError."""
    x = np.ones(shape, dtype)[()]
    f = lambda x: np.divide(x, zero)  # noqa: E731
    with np.errstate(all="ignore"):
        expected = np.divide(np.ones(shape, np.result_type(f(x))), zero)
        found = cr.vjp(f, x)[1](np.ones_like(f(x)))[0]
        np.testing.assert_array_equal(np.isfinite(expected), np.isfinite(found))
        assert not np.any(np.isfinite(cr.jvp(f, (x,), (np.ones_like(x),))[1]))


def test_derivatives_at_pythons_zero():
    with np.errstate(all="ignore"):
        assert np.isinf(cr.grad(np.log)(0))
        assert np.isinf(cr.jvp(cr.grad(np.log), (0,), (1.0,))[1])
        assert not np.isfinite(cr.jvp(np.log, (0j,), (1 + 0j,))[1])
