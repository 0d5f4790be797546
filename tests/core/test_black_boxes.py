"""primitive(f, derivative=...) and primitive(f, jac=...): functions that nobody can look into."""

import ctypes
import ctypes.util
import math
import subprocess
import sys

import numpy as np
import pytest
from both_modes import both_rules

import chainrules as cr
from chainrules.testing import check_grad, test_rrule

A = np.array([0.3, 1.0, 2.0])
B = np.array([[0.5, -1.0], [2.0, 0.1]])


def wave(a, x, times=1, scale=1.0):
    """Looks into its arguments in ways that only plain numbers bear."""
    assert type(a) is np.ndarray
    row = [math.sin(p) * float(x) * scale for p in a.ravel().tolist()]
    return np.array([row] * int(times))


def wave_by_numpy(a, x, times=1, scale=1.0):
    return np.stack([np.sin(np.ravel(a)) * x * scale] * times)


DIFFERENCES = cr.primitive(wave, derivative="finite-difference")
COMPLEX_STEP = cr.primitive(wave_by_numpy, derivative="complex-step")


def jac_of_wave(a, x, times=1, scale=1.0):
    abar = np.diag(np.cos(a) * x * scale)
    return np.stack([abar] * times), np.stack([np.sin(a) * scale] * times), None


BY_JAC = cr.primitive(wave, jac=jac_of_wave)
BOXES = {"differences": DIFFERENCES, "complex step": COMPLEX_STEP, "jac": BY_JAC}


@pytest.mark.parametrize("box", BOXES.values(), ids=BOXES)
@pytest.mark.parametrize("jacobian", [cr.jacfwd, cr.jacrev, cr.jacobian])
def test_jacobians(box, jacobian):
    def with_options(f):
        return lambda a, x: np.tanh(f(a, x * 2, 2, scale=0.5)) * x

    found = jacobian(with_options(box), argnums=(0, 1))(A, 0.7)
    expected = jacobian(with_options(wave_by_numpy), argnums=(0, 1))(A, 0.7)
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-11)
        assert one.shape == other.shape


@pytest.mark.parametrize("box", BOXES.values(), ids=BOXES)
def test_products(box):
    y, ydot = cr.jvp(box, (A, 0.7), (A * 2, -1.0))
    expected, expected_dot = cr.jvp(wave_by_numpy, (A, 0.7), (A * 2, -1.0))
    np.testing.assert_array_equal(expected, y)
    np.testing.assert_allclose(ydot, expected_dot, rtol=1e-9)
    _, pullback = cr.vjp(box, A, 0.7)
    for _ in range(2):  # the Jacobian is kept
        for one, other in zip(pullback(y), cr.vjp(wave_by_numpy, A, 0.7)[1](y), strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-9)
    np.testing.assert_allclose(cr.linearize(box, A, 0.7)[1](A * 2, -1.0), expected_dot, rtol=1e-9)


@pytest.mark.parametrize("box", BOXES.values(), ids=BOXES)
@pytest.mark.parametrize(
    "args",
    [(A, 0.7), (A, np.float32(0.5)), (np.zeros(0), 0.7), (np.zeros(3), 0.0), (A, np.array(0.7))],
    ids=["floats", "float32", "empty", "zeros", "0-d"],
)
def test_rules(box, args):
    if box is BY_JAC:
        both_rules(box, *args)
    else:
        both_rules(box, *args, second_order=False)


def test_float32_stays():
    sin = cr.primitive(lambda x: np.float32(math.sin(x)), derivative="finite-difference")
    x = np.float32(0.5)
    slope = cr.grad(sin)(x)
    assert (np.float32, np.float32) == (type(slope), type(cr.jvp(sin, (x,), (x,))[1]))
    np.testing.assert_allclose(slope, np.cos(0.5), rtol=1e-3)


def test_second_derivatives_by_jac():
    def loss(f):
        return lambda a, x: np.sum(np.sin(f(a, x)))

    for order in (cr.hessian, lambda f: cr.jacrev(cr.grad(f)), lambda f: cr.jacfwd(cr.jacfwd(f))):
        found, expected = order(loss(BY_JAC))(A, 0.7), order(loss(wave_by_numpy))(A, 0.7)
        np.testing.assert_allclose(found, expected, rtol=1e-12)
    check_grad(loss(BY_JAC), A, 0.7)


def test_second_derivatives_by_a_jac_that_is_a_black_box():
    exp = cr.primitive(math.exp, jac=cr.primitive(math.exp, derivative="finite-difference"))
    for second in (cr.grad(cr.grad(exp)), cr.hessian(exp), cr.jacfwd(cr.jacfwd(exp))):
        np.testing.assert_allclose(second(1.0), math.e, rtol=1e-9)
    with pytest.raises(cr.MissingDerivativeError, match="no second ones"):
        cr.grad(cr.hessian(exp))(1.0)


@pytest.mark.parametrize("method", ["finite-difference", "complex-step"])
@pytest.mark.parametrize(
    "second", [lambda f: cr.grad(cr.grad(f)), cr.hessian, lambda f: cr.jacfwd(cr.jacfwd(f))]
)
def test_no_second_derivatives_without_jac(method, second):
    f = cr.primitive(lambda x: np.sin(x) * x, derivative=method)
    with pytest.raises(cr.MissingDerivativeError, match=f"by {method}, and no second ones"):
        second(f)(0.3)
    # Where none is needed there is no error.
    assert 3.0 == cr.grad(lambda x: x * 3.0 + cr.value(cr.grad(f)(x)))(0.3)
    np.testing.assert_allclose(cr.grad(cr.grad(lambda x: x**2 + f(0.5) * x))(0.3), 2.0)


def test_second_derivatives_by_a_jac_that_cannot_be_followed():
    exp = cr.primitive(math.exp, jac=math.exp)
    assert math.e == cr.grad(exp)(1.0)
    with pytest.raises(cr.MissingDerivativeError, match="exp needs that of its jac, which cannot"):
        cr.grad(cr.grad(exp))(1.0)


def test_complex_numbers_by_jac():
    square = cr.primitive(lambda z: complex(z) ** 2, jac=lambda z: 2 * z)
    assert (2 - 2j) * 3j == cr.vjp(square, 1 + 1j)[1](3j)[0]
    assert (2 + 2j) * 3j == cr.jvp(square, (1 + 1j,), (3j,))[1]
    test_rrule(square, 1 + 1j)


def test_only_what_is_asked_for_is_measured():
    calls = []

    @cr.primitive(derivative="finite-difference")
    def f(a, x):
        calls.append(1)
        return np.sum(a) * x

    cr.grad(f, argnums=1)(np.ones(1000), 2.0)
    assert len(calls) < 60
    calls.clear()
    cr.jvp(f, (np.ones(1000), 2.0), (np.ones(1000), 0.0))
    assert len(calls) < 60


def test_one_sided_at_the_end_of_the_domain():
    f = cr.primitive(lambda x: math.sqrt(x) ** 3 + x, derivative="finite-difference", tolerance=0.1)
    np.testing.assert_allclose(cr.grad(f)(0.0), 1.0, rtol=0.05)


def noisy():
    rng = np.random.default_rng(0)
    return lambda x: x * x + 1e-6 * rng.normal()


@pytest.mark.parametrize(
    "f", [noisy(), lambda x: float(np.floor(x)), lambda x: math.sqrt(x - 1.0), lambda x: math.nan]
)
@pytest.mark.parametrize("slope", [cr.grad, lambda f: lambda x: cr.jvp(f, (x,), (1.0,))])
def test_slopes_that_cannot_be_trusted(f, slope):
    f = cr.primitive(f, derivative="finite-difference")
    with pytest.raises(cr.InaccurateDerivativeError, match=r"may be off .* in .*black_boxes"):
        slope(f)(1.0)


def test_a_larger_tolerance():
    f = cr.primitive(noisy(), derivative="finite-difference", tolerance=1.0)
    np.testing.assert_allclose(cr.grad(f)(1.0), 2.0, rtol=0.2)


@pytest.mark.parametrize(
    ("f", "what"),
    [
        (abs, "finite differences give another one"),
        (lambda x: x * np.conj(x), "finite differences give another one"),
        (math.sin, "it fails for complex numbers"),
        (lambda x: np.sin(x.real), "finite differences give another one"),
    ],
)
def test_functions_that_are_not_analytic(f, what):
    box = cr.primitive(f, derivative="complex-step")
    with pytest.raises(cr.InaccurateDerivativeError, match=what) as caught:
        cr.grad(box)(1.5)
    assert 'write derivative="finite-difference"' in str(caught.value)
    differences = cr.primitive(f, derivative="finite-difference")
    np.testing.assert_allclose(cr.grad(differences)(1.5), cr.testing.central_fdm(5, 1)(f, 1.5))


@pytest.mark.parametrize(
    ("call", "error", "what"),
    [
        (lambda: cr.primitive(math.exp, derivative="finite"), ValueError, "write one of 'finite-"),
        (
            lambda: cr.primitive(math.exp, derivative="complex-step", jac=math.exp),
            TypeError,
            "both",
        ),
        (lambda: cr.primitive(dict, jac=math.exp), TypeError, "dict is a class"),
    ],
)
def test_refused_at_once(call, error, what):
    with pytest.raises(error, match=what):
        call()


@pytest.mark.parametrize(
    ("f", "options", "x", "error", "what"),
    [
        (lambda x: (x, x), {"derivative": "finite-difference"}, 1.0, TypeError, "returned tuple"),
        (lambda x: x["a"], {"derivative": "complex-step"}, {"a": 1.0}, TypeError, "takes dict"),
        (abs, {"derivative": "finite-difference"}, 1j, TypeError, "are for real numbers"),
        (math.exp, {"jac": lambda x: np.ones(2)}, 1.0, cr.RuleError, r"of shape \(2,\)"),
        (math.exp, {"jac": lambda x: ()}, 1.0, cr.RuleError, "0 Jacobians for 1 arguments"),
        (math.exp, {"jac": lambda x: 1 / 0}, 1.0, ZeroDivisionError, "division"),
        (lambda x: 1 / 0, {"derivative": "complex-step"}, 1.0, ZeroDivisionError, "division"),
    ],
)
@pytest.mark.parametrize("transform", [cr.grad, lambda f: lambda x: cr.jvp(f, (x,), (x,))])
def test_refused_when_asked(f, options, x, error, what, transform):
    with pytest.raises(error, match=what):
        transform(cr.primitive(f, **options))(x)


def test_a_captured_number_and_a_map():
    f = cr.primitive(math.gamma, derivative="finite-difference")
    found = cr.grad(lambda w: np.sum(cr.map(lambda x: w * f(x * w), A)))(1.5)
    exact = cr.grad(lambda w: np.sum(cr.map(lambda x: w * cr.math.gamma(x * w), A)))(1.5)
    np.testing.assert_allclose(found, exact, rtol=1e-9)


# ---- what it is for -------------------------------------------------------------------------


@pytest.mark.parametrize("made", [np.asarray, np.array, lambda x: np.array([*x])])
@pytest.mark.parametrize("options", [{}, {"jac": lambda x: np.diag(3 * x)}])
def test_rules_are_asked_of_arrays_that_numpy_makes_of_traced_numbers(made, options):
    seen = []

    @cr.primitive(**options)
    def sine(x):
        seen.append(x.dtype)
        return np.sin(x)

    if not options:
        cr.scalar_rule(sine, lambda y, x: 3 * x)
    x = np.array([0.3, -0.7])
    np.testing.assert_allclose(3 * x, cr.grad(lambda x: np.sum(sine(made(1 * x))))(x))
    np.testing.assert_allclose(3 * x, cr.jvp(lambda x: sine(made(1 * x)), (x,), (np.ones(2),))[1])
    assert {np.dtype(float)} == set(seen)


def test_a_ctypes_function():
    name = ctypes.util.find_library("m")
    if name is None:
        pytest.skip("no libm here")
    cbrt = ctypes.CDLL(name).cbrt
    cbrt.argtypes, cbrt.restype = [ctypes.c_double], ctypes.c_double
    f = cr.primitive(lambda x: cbrt(x), derivative="finite-difference")
    np.testing.assert_allclose(cr.grad(lambda x: x * f(x))(8.0), 2 + 8 / 12, rtol=1e-10)
    exact = cr.primitive(lambda x: cbrt(x), jac=lambda x: np.cbrt(x) / (3 * x))
    np.testing.assert_allclose(cr.grad(cr.grad(exact))(8.0), -2 / 9 / 32, rtol=1e-12)


def test_a_numba_function():
    numba = pytest.importorskip("numba")

    @cr.primitive(derivative="finite-difference")
    @numba.njit
    def horner(c, x):
        y = 0.0
        for k in range(c.size):
            y = y * x + c[k]
        return y

    c = np.array([1.0, -2.0, 0.5])
    found = cr.grad(horner, argnums=(0, 1))(c, 1.5)
    np.testing.assert_allclose(found[0], [2.25, 1.5, 1.0], rtol=1e-9)
    np.testing.assert_allclose(found[1], 2 * 1.5 - 2.0, rtol=1e-9)


def test_a_subprocess():
    program = "import sys; x, y = map(float, sys.stdin.read().split()); print(repr(x * y**2))"

    @cr.primitive(jac=lambda x: np.array([x[1] ** 2, 2 * x[0] * x[1]]))
    def run(x):
        given = " ".join(map(repr, x.tolist()))
        done = subprocess.run(
            [sys.executable, "-S", "-c", program], input=given, capture_output=True, text=True,
            check=True,
        )  # fmt: skip
        return float(done.stdout)

    np.testing.assert_allclose(cr.grad(run)(np.array([2.0, 3.0])), [9.0, 12.0])
    np.testing.assert_allclose(cr.hessian(run)(np.array([2.0, 3.0])), [[0, 6], [6, 4]])
    differences = cr.primitive(run.__wrapped__, derivative="finite-difference")
    slope = cr.jvp(differences, (np.array([2.0, 3.0]),), (np.array([1.0, 0.0]),))[1]
    np.testing.assert_allclose(slope, 9.0, rtol=1e-9)


def in_turn(kind):
    """A program of a box whose closure moves on between two calls."""
    options = {
        "jac": {"jac": lambda u: 2 * state["k"] * u},
        "difference": {"derivative": "finite-difference"},
    }

    state = {"k": 0.0}
    box = cr.primitive(lambda u: state["k"] * u**2, **options[kind])

    def f(x):
        state["k"] = 1.0
        y = box(x)
        state["k"] = 10.0
        return y + box(x)

    return f


def of_its_own(kind):
    """A program whose boxes capture the variable of a loop."""

    def f(x):
        y = 0.0
        for k in (1.0, 10.0):
            given = {"jac": lambda u: 2 * k * u} if kind == "jac" else {}  # noqa: B023
            options = given or {"derivative": "finite-difference"}
            y = y + cr.primitive(lambda u: k * u**2, **options)(x)  # noqa: B023
        return y

    return f


def by_what_f_left(kind):
    """A program whose Jacobian reads what the box has left for it."""
    left = {}

    def box(u):
        left["slope"] = 2 * left["k"] * u
        return left["k"] * u**2

    options = {"jac": lambda u: left["slope"]} if kind == "jac" else {}
    box = cr.primitive(box, **(options or {"derivative": "finite-difference"}))

    def f(x):
        left["k"] = 1.0
        y = box(x)
        left["k"] = 10.0
        return y + box(x)

    return f


@pytest.mark.parametrize("kind", ["jac", "difference"])
@pytest.mark.parametrize("program", [in_turn, of_its_own, by_what_f_left])
def test_what_a_box_reads_is_as_it_was_at_the_call(program, kind):
    f = program(kind)
    assert f(1.0) == 11.0
    for derivative in (cr.grad(f)(1.0), cr.jvp(f, (1.0,), (1.0,))[1], cr.jacobian(f)(1.0)):
        np.testing.assert_allclose(derivative, 22.0, rtol=1e-9)
    pull = cr.vjp(f, 1.0)[1]
    for _ in range(2):
        np.testing.assert_allclose(pull(1.0)[0], 22.0, rtol=1e-9)


GAIN = [1.0]
of_a_global = cr.primitive(lambda u: GAIN[0] * u**2, derivative="finite-difference")


def test_a_global_that_moves_on_is_refused():
    def f(x):
        GAIN[0] = 1.0
        y = of_a_global(x)
        GAIN[0] = 10.0
        return y + of_a_global(x)

    np.testing.assert_allclose(cr.jvp(f, (1.0,), (1.0,))[1], 22.0, rtol=1e-9)
    with pytest.raises(cr.MutationError, match="GAIN is read"):
        cr.grad(f)(1.0)
