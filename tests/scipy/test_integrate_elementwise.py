"""tanhsinh, nsum, cubature: value, both modes and second order, by differences of SciPy's own."""

import dataclasses
import inspect
import warnings

import checks_of_objects as checks
import numpy as np
import pytest
import scipy.integrate as plain
from derivatives import by_jvp

import chainrules as cr
from chainrules.scipy import integrate

check = checks.check

pytestmark = pytest.mark.skipif(not hasattr(plain, "nsum"), reason="not in this SciPy")
K, Q, INF = 1.3, 0.7, np.inf


BOTH = pytest.mark.parametrize("transform", [cr.grad, by_jvp])


def area(f, a, b, **options):
    return integrate.tanhsinh(f, a, b, **options).integral


def total(f, a, b, **options):
    return integrate.nsum(f, a, b, **options).sum


def volume(f, a, b, **options):
    return integrate.cubature(f, a, b, **options).estimate


# ---- tanhsinh -----------------------------------------------------------------------------------


def test_closed_forms():
    slope = np.exp(-K) / K - (1 - np.exp(-K)) / K**2
    for transform in (cr.grad, by_jvp):
        found = transform(lambda k: area(lambda t: np.exp(-k * t), 0, 1))(K)
        assert found == pytest.approx(slope, rel=1e-12)
        found = transform(lambda k: area(lambda t: np.exp(-k * t), 0, INF))(K)
        assert found == pytest.approx(-1 / K**2, rel=1e-12)


@pytest.mark.slow
def test_limits():
    bump = lambda k: lambda t: np.exp(-k * t) * t  # noqa: E731
    check(lambda a, b, k: area(bump(k), a, b), 0.2, 1.7, K)
    check(lambda a, b, k: area(bump(k), a, b), 1.7, 0.2, K)
    check(lambda k: area(lambda t: np.exp(-k * t), 0, INF), K)
    check(lambda k, b: area(lambda t: np.exp(k * t), -INF, b), K, 0.4)
    check(lambda k: area(lambda t: np.exp(-k * t * t), -INF, INF), K)
    check(lambda k, a: area(lambda t: np.exp(-k * t), INF, a), K, 0.2)
    assert cr.grad(lambda b: area(lambda t: np.exp(-t), 0, b))(INF) == 0
    assert cr.grad(lambda b: area(lambda t: np.exp(t), b, 0.7))(0.7) == pytest.approx(-np.exp(0.7))


@pytest.mark.skipif(
    "kwargs" not in inspect.signature(plain.tanhsinh).parameters, reason="not in this SciPy"
)
def test_arguments_by_name():
    named = {"a": 0.0, "b": 1.2}
    f = lambda t, c, *, k: np.exp(-k * t) * c  # noqa: E731
    check(lambda k, c: area(f, **named, args=(c,), kwargs={"k": k}), K, Q)
    check(lambda k, c: total(f, 0, 20, args=(c,), kwargs={"k": k}), K, Q)


def test_singular_at_an_end():
    check(lambda k: area(lambda t: t ** (k - 1), 0, 1), Q)
    check(lambda k: area(lambda t: np.log(t) * np.exp(-k * t), 0, 1), K)
    check(lambda k, b: area(lambda t: 1 / np.sqrt(k * t), 0, b), K, Q)


def test_numbers_that_overflow_near_infinity():
    check(lambda k: area(lambda t: t**2 * np.exp(-k * t), 0, INF), Q)
    check(lambda k: area(lambda t: t**4 * np.exp(-k * t * t), -INF, INF), Q)


def test_arrays_entry_by_entry():
    f = lambda t, k: np.exp(-k * t) * t  # noqa: E731
    check(lambda a, b, k: area(f, a, b, args=(k,)), [0.2, 0.3], [[1.7], [0.1]], [K, 2.0])
    check(lambda a, b: area(np.cos, a, b), [0.2, 0.3], 1.0)

    def of_each_kind(a, k):
        low, high = np.stack([a, -INF, a, -INF]), np.array([1.0, INF, INF, 1.0])
        return area(lambda t, k: np.exp(-k * t * t), low, high, args=(k,))

    check(of_each_kind, 0.3, K)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # SciPy's, of an entry that is infinite
        slope = cr.jacobian(lambda k: area(lambda t: k / t, 0.0, np.array([1.0, 2.0])))(1.0)
    assert slope.shape == (2,)


def test_a_function_of_another_shape():
    both = lambda k: lambda t: np.stack([np.exp(-k * t), np.sin(k * t)])  # noqa: E731
    check(lambda k: area(both(k), 0, 1, preserve_shape=True), Q)


def test_logarithms():
    check(lambda k, b: area(lambda t: -k * t, 0, b, log=True), Q, K)
    check(lambda p: total(lambda t: -p * np.log(t), 1, INF, log=True), 2.3)
    sunk = lambda k: area(lambda t: -k * t - 2000, 0, INF, log=True)  # noqa: E731
    assert cr.grad(sunk)(K) == pytest.approx(-1 / K)


def test_options_and_dtypes():
    check(lambda k: area(lambda t: np.exp(-k * t), 0, 1, rtol=1e-6, maxlevel=6, minlevel=1), K)
    f = lambda k: area(lambda t: np.exp(-k * t), np.float32(0), np.float32(1))  # noqa: E731
    y, slope = cr.value_and_grad(f)(np.float32(K))
    assert (y.dtype, slope.dtype) == (np.float32, np.float32)
    exact = np.exp(-K) / K - (1 - np.exp(-K)) / K**2
    assert slope == pytest.approx(exact, rel=1e-4)


def test_what_else_scipy_says_is_there():
    def loss(k):
        found = integrate.tanhsinh(lambda t: np.exp(-k * t), 0, 1)
        assert found.success
        assert found.nfev > 10
        return found.integral

    cr.grad(loss)(K)


# ---- nsum ---------------------------------------------------------------------------------------


def test_sums_of_few_terms():
    check(lambda a, h, k: total(lambda t: np.exp(-k * t), a, 9.0, step=h), 0.3, 0.9, K)
    expected = cr.grad(lambda k: np.sum(np.exp(-k * np.arange(1.0, 8.0))))(K)
    for transform in (cr.grad, by_jvp):
        found = transform(lambda k: total(lambda t: np.exp(-k * t), 1, 7))(K)
        assert found == pytest.approx(expected, rel=1e-14)
    assert cr.grad(lambda k: total(lambda t: k * t, 3, 1))(K) == 0


@pytest.mark.slow
def test_infinite_series():
    zeta = -0.9375482543158437  # the slope at 2, of the sum of 1 / n**p
    assert cr.grad(lambda p: total(lambda t: t**-p, 1, INF))(2.0) == pytest.approx(zeta, rel=1e-8)
    check(lambda p: total(lambda t: t**-p, 1, INF), 2.3)
    check(lambda p: total(lambda t: np.exp(p * t), -INF, 2.0), 0.3)
    check(lambda p: total(lambda t: np.exp(-p * t * t), -INF, INF), 0.3)
    check(lambda p: total(lambda t: t**-p, 1, 1e5, maxterms=10_000), 2.3)
    check(
        lambda p, a, h: total(lambda t, p: t**-p, a, INF, args=(p,), step=h), [2.3, 3.1], 1.2, 0.7
    )


@pytest.mark.slow
def test_series_of_each_kind_at_once():
    low, high = np.array([1.0, -INF, -INF, 0.0]), np.array([7.0, INF, 3.0, INF])
    check(lambda p: total(lambda t: np.exp(-p * t * t), low, high), 0.3)
    far = {"maxterms": 100, "tolerances": {"rtol": 1e-10}}
    check(
        lambda p: total(lambda t: np.exp(-p * t), np.array([0.0, 1.0]), np.array([30, 1e4]), **far),
        0.3,
    )


# ---- cubature -----------------------------------------------------------------------------------


def wave(k):
    return lambda x: np.exp(-k * x[:, 0] * x[:, 1])


@pytest.mark.parametrize("rule", ["gk21", "gk15", "genz-malik", "gauss-kronrod"])
def test_rules_of_cubature(rule):
    check(lambda k, b: volume(wave(k), [0.0, 0.0], b, rule=rule), K, [1.0, 2.0])


@pytest.mark.slow
def test_boxes():
    check(lambda k, a, b: volume(wave(k), a, b), K, [0.1, 1.3], [1.0, 0.2])
    bell = lambda k: lambda x: np.exp(-k * x[:, 0] ** 2 - x[:, 1])  # noqa: E731
    check(lambda k, a: volume(bell(k), np.stack([-INF, a]), [INF, INF]), K, 0.3)
    check(lambda k, a, b: volume(wave(k), np.stack([a, 0.2]), np.stack([b, 0.9])), K, 0.3, Q)
    steep = lambda k: lambda x: np.exp(-k * x[:, 0] - x[:, 1])  # noqa: E731
    check(lambda k, a, b: volume(steep(k), np.stack([a, b]), [INF, 0.2]), K, 0.3, 0.9)


def test_many_regions():
    sharp = lambda k: lambda x: 1 / (k * k * 1e-2 + x[:, 0] ** 2 + x[:, 1] ** 2)  # noqa: E731
    check(lambda k: volume(sharp(k), [-1.0, -1.0], [1.0, 1.0]), K)
    bent = lambda k: lambda x: k * k * np.abs(x[:, 0] - 0.3)  # noqa: E731
    check(lambda k, b: volume(bent(k), [0.0], b, points=[[0.3]]), K, [0.9])


def test_cubature_of_arrays_with_args():
    def f(x, k, scale):
        return scale * np.stack([np.sin(k * x[:, 0]), x[:, 0] ** k], axis=-1)

    check(lambda k, a, b: volume(f, a, b, args=(k, 2.0)), K, [0.1], [1.4])
    three = lambda k: volume(lambda x: np.cos(k * np.sum(x, axis=1)), np.zeros(3), np.ones(3))  # noqa: E731
    check(three, K)


def test_a_limit_that_scipy_mirrors():
    for transform in (cr.grad, by_jvp):
        with pytest.raises(cr.MissingRuleError, match=r"(?s)-inf.*test_integrate_elem.*f\(-x\)"):
            transform(lambda k: volume(lambda x: np.exp(-k * x[:, 0] ** 2), [-INF], [0.0]))(1.0)


# ---- all three ----------------------------------------------------------------------------------


@dataclasses.dataclass
class Gas:
    a: float
    b: float

    def density(self, t):
        return np.exp(-self.a * t) * self.b


def test_parameters_in_objects_and_containers():
    for f, exact in ((area, 1 / 2.0), (total, 1 / (1 - np.exp(-2.0)))):
        slope = cr.grad(lambda gas, f=f: f(gas.density, 0, INF))(Gas(2.0, 3.0))
        assert slope.b == pytest.approx(exact)
    given = {"k": 2.0, "q": [3.0]}
    found = cr.grad(lambda p: area(lambda t: np.exp(-p["k"] * t) * p["q"][0], 0, INF))(given)
    assert (found["k"], found["q"][0]) == (pytest.approx(-0.75), pytest.approx(0.5))


def test_one_inside_the_other():
    inner = lambda k: area(lambda t: np.exp(-k * t), 0, 1)  # noqa: E731
    nested = cr.grad(lambda k: integrate.quad(lambda x: inner(k * x), 0, 1)[0])(K)
    expected = cr.grad(lambda k: integrate.quad(lambda x: (1 - np.exp(-k * x)) / (k * x), 0, 1)[0])(
        K
    )
    assert nested == pytest.approx(expected)
    mean = lambda k: area(lambda t: cr.grad(lambda s: np.sum(np.sin(k * s)))(t), 0, 1)  # noqa: E731
    assert cr.grad(mean)(K) == pytest.approx(np.cos(K))


def test_nothing_traced_is_scipys_own():
    for name, args in (("tanhsinh", (np.cos, 0, 1)), ("nsum", (lambda t: t**-2.0, 1, INF)),
                       ("cubature", (lambda x: x[:, 0], [0.0], [1.0]))):  # fmt: skip
        own, ours = getattr(plain, name), getattr(integrate, name)
        word = {"tanhsinh": "integral", "nsum": "sum", "cubature": "estimate"}[name]
        assert getattr(own(*args), word) == getattr(ours(*args), word)
        assert own.__doc__ == ours.__doc__


@BOTH
def test_a_traced_value_in_a_global(transform):
    def loss(k):
        shared["k"] = k
        return area(lambda t: shared["k"] * t + k, 0, 1)

    with pytest.raises(cr.LostDerivativeError, match=r"(?s)tanhsinh.*elementwise.py.*pass it in"):
        transform(loss)(1.0)


shared: dict = {}


@BOTH
def test_a_function_that_assigns_to_what_it_captures(transform):
    def loss(k, solve):
        largest = 0.0 * k

        def f(t):
            nonlocal largest
            largest = largest + k
            return k * t if np.ndim(t) < 2 or solve is not volume else k * t[:, 0]

        limits = ([0.0], [1.0]) if solve is volume else (0, 3)
        return np.sum(solve(f, *limits)) + largest

    for solve in (area, total, volume):
        with pytest.raises(cr.MutationError, match=r"(?s)called writes.*return what"):
            transform(lambda k, solve=solve: loss(k, solve))(1.0)


@BOTH
def test_what_scipy_does_not_reach_warns(transform):
    far = lambda k: total(lambda n: np.exp(-((n - 7000.0) ** 2) / k), 0, INF)  # noqa: E731

    def exponential(k):
        too_much = {"rtol": 0.0, "max_subdivisions": 2}
        return volume(lambda x: np.exp(k * x[:, 0]), [0.0], [1.0], **too_much)

    with pytest.warns(plain.IntegrationWarning, match="nsum in test_integ.*did not succeed"):
        transform(far)(100.0)
    with pytest.warns(plain.IntegrationWarning, match="cubature in test_integ.*did not converge"):
        transform(exponential)(1.0)


def test_a_narrow_peak_far_away():
    """The first rules, of a few hundred nodes, do not see it."""
    peak = lambda k: total(lambda n: np.exp(-((n - 700.0) ** 2) / k), 0, INF)  # noqa: E731
    assert cr.grad(peak)(100.0) == pytest.approx(np.sqrt(np.pi) / 20, rel=1e-8)


def test_nodes_of_cubature_in_many_dimensions():
    """Of rules that are products: SciPy gives as many weights as there are nodes, in a square."""
    box = np.zeros(4), np.ones(4)
    f = lambda k: volume(lambda x: np.cos(k * np.sum(x, axis=1)), *box, rule="gk15")  # noqa: E731
    exact = lambda k: np.real(((np.exp(1j * k) - 1) / (1j * k)) ** 4)  # noqa: E731
    assert cr.grad(f)(1.0) == pytest.approx(cr.grad(exact)(1.0), rel=1e-8)


@BOTH
def test_a_derivative_that_diverges_warns(transform):
    """Of sqrt(t - k) from k on: with the limit held, it is the integral of (t - k)**-1.5 / 4."""
    slope = by_jvp(lambda k: area(lambda t: np.abs(t - k) ** 0.5, Q, 1))
    with pytest.warns(plain.IntegrationWarning, match=r"(?s)derivative of .*tanhsinh in test_int"):
        transform(slope)(Q)
