"""Finite differences, complex steps, and the diagnosis of what spoils them."""

import math
import warnings
from fractions import Fraction

import numpy as np
import pytest
from scipy import special

from chainrules.testing import (
    UndecidedError,
    backward_fdm,
    central_fdm,
    forward_fdm,
    test_frule,
    test_rrule,
)
from chainrules.testing.complex_step import complex_step, consistent
from chainrules.testing.coordinates import Coordinates
from chainrules.testing.diagnosis import diagnose
from chainrules.testing.finite_differences import coefficients
from chainrules.testing.oracle import DirectionalFunction

METHOD = central_fdm(5, 1, max_range=1e-2)


def test_coefficients_are_exact():
    assert coefficients((-2, -1, 0, 1, 2), 1) == (
        Fraction(1, 12), Fraction(-2, 3), 0, Fraction(2, 3), Fraction(-1, 12),
    )  # fmt: skip
    assert coefficients((0, 1, 2), 2) == (1, -2, 1)


@pytest.mark.parametrize("grid", [(-3, -2, -1, 0, 1, 2, 3), (0, 1, 2, 3), (-4, -1, 0, 5)])
@pytest.mark.parametrize("q", [1, 2, 3])
def test_coefficients_differentiate_every_polynomial_they_can(grid, q):
    weights = coefficients(grid, q)
    for power in range(len(grid)):
        moment = sum(c * Fraction(point) ** power for c, point in zip(weights, grid))
        assert moment == (math.factorial(q) if power == q else 0)


def test_grids():
    assert central_fdm(4, 1).grid == (-2, -1, 1, 2)
    assert forward_fdm(3, 1).grid == (0, 1, 2)
    assert backward_fdm(3, 1).grid == (-2, -1, 0)


def test_too_few_points_are_refused():
    with pytest.raises(ValueError, match=r"write for example central_fdm\(5, 3\)"):
        central_fdm(3, 3)


KNOWN = {
    "sin": (np.sin, 1.0, math.cos(1.0)),
    "exp": (np.exp, 10.0, math.exp(10.0)),
    "steep": (lambda x: 1 / x, 1e-3, -1e6),
    "near the edge": (np.log, 1e-6, 1e6),
    "very near the edge": (np.log, 1e-12, 1e12),
    "near the end of arcsin": (np.arcsin, 1 - 1e-5, 1 / math.sqrt(1 - (1 - 1e-5) ** 2)),
    "large": (lambda x: x * x, 1e6, 2e6),
    "linear": (lambda x: 3.0 * x, 1.0, 3.0),
    "constant": (lambda x: 3.0, 1.0, 0.0),
    "zero": (lambda x: 0.0 * x, 1.0, 0.0),
    "fast": (lambda x: np.sin(100 * x), 0.3, 100 * math.cos(30)),
    "beside a kink": (abs, 1e-4, 1.0),
}


@pytest.mark.parametrize("name", KNOWN)
def test_known_derivatives_within_the_estimated_error(name):
    f, x, derivative = KNOWN[name]
    with np.errstate(all="ignore"):
        found = METHOD.estimate(f, x)
    assert abs(found.value - derivative) <= 3 * found.error + 1e-15
    assert found.error <= 1e-7 * max(1.0, abs(derivative))


@pytest.mark.parametrize(
    ("method", "derivative"),
    [
        (central_fdm(5, 2), -math.sin(1.0)),
        (central_fdm(7, 3), -math.cos(1.0)),
        (central_fdm(4, 1), math.cos(1.0)),
        (central_fdm(5, 1, adapt=0), math.cos(1.0)),
        (forward_fdm(5, 1), math.cos(1.0)),
        (backward_fdm(5, 1), math.cos(1.0)),
    ],
)
def test_orders_and_sides(method, derivative):
    found = method.estimate(math.sin, 1.0)
    assert abs(found.value - derivative) <= 3 * found.error
    assert found.error < 1e-5


def test_vectors_have_an_error_for_each_entry():
    scales = np.array([1.0, 1e6, 1e-6])
    found = METHOD.estimate(lambda x: scales * np.sin(x), 1.0)
    assert found.value.shape == found.error.shape == (3,)
    assert np.all(np.abs(found.value - scales * math.cos(1.0)) <= 3 * found.error)
    assert found.error[2] < 1e-9


def test_float32_is_known_by_its_spacing():
    method = central_fdm(5, 1, max_range=0.25)
    found = method.estimate(lambda x: np.sin(np.float32(x)), 1.0)
    assert abs(found.value - math.cos(1.0)) <= 3 * found.error
    assert 1e-8 < found.error < 1e-3


def test_noise_makes_the_error_honest():
    rng = np.random.default_rng(0)
    found = METHOD.estimate(lambda x: math.sin(x) + 1e-6 * rng.normal(), 1.0)
    assert abs(found.value - math.cos(1.0)) <= 3 * found.error
    assert found.error > 1e-4


def test_factor_tells_of_noise():
    rng = np.random.default_rng(0)
    method = central_fdm(5, 1, factor=1e9)
    found = method.estimate(lambda x: math.sin(x) + 1e-7 * rng.normal(), 1.0)
    assert abs(found.value - math.cos(1.0)) < 1e-4


def test_the_reach_is_limited():
    reached = []
    central_fdm(5, 1, max_range=1e-3)(lambda x: reached.append(x) or 3.0 * x, 1.0)
    assert max(abs(x - 1.0) for x in reached) <= 1e-3 * (1 + 1e-12)


def test_one_sided_at_the_edge_of_a_domain():
    reached = []

    def f(x):
        reached.append(x)
        return x * math.sqrt(x)

    assert abs(forward_fdm(5, 1)(f, 0.0)) < 1e-6
    assert min(reached) == 0.0


def test_outside_of_a_domain_the_error_is_infinite():
    with np.errstate(all="ignore"):
        found = METHOD.estimate(np.log, -1.0)
    assert np.isnan(found.value)
    assert np.isinf(found.error)


@pytest.mark.parametrize("f", [np.square, np.cos, np.cosh, special.j0, lambda x: x**4, lambda x: x])
@pytest.mark.parametrize("x", [0.0, 1e-200])
def test_the_step_keeps_its_size_where_the_function_or_its_slope_vanishes(f, x):
    found = METHOD.estimate(f, x)
    assert found.step > 1e-5
    assert found.error < 1e-12


def test_the_step_keeps_above_the_spacing_of_the_arguments():
    """Smaller steps looked ever better where both the function and its direction cancel."""
    direction = np.array([1.3, -2.1, 0.7])
    space = Coordinates(np.full(3, np.pi))
    line = DirectionalFunction(np.sin, space, direction, Coordinates(np.sin(np.full(3, np.pi))))
    found = METHOD.estimate(line)
    np.testing.assert_allclose(-direction, found.value, rtol=0, atol=1e-9)
    assert found.step > 1e-9
    test_frule(np.cos, np.full(3, np.pi))
    test_rrule(np.sin, 1e6)


def test_where_no_step_can_be_taken_nothing_is_claimed():
    with pytest.raises(UndecidedError, match="their error is inf"):
        test_rrule(np.sin, np.array([1e16, 1.0]))
    found = METHOD.estimate(lambda x: x - 1e16, 1e16)
    assert np.isnan(found.value)
    assert np.isinf(found.error)


def test_a_large_point_has_a_longer_reach():
    for f in (np.sqrt, np.log, np.square):
        test_rrule(f, 1e14)


def test_a_function_may_fill_one_array_again_and_again():
    buffer = np.zeros(2)

    def f(x):
        buffer[:] = x, x * x
        return buffer

    np.testing.assert_allclose(METHOD(f, 3.0), [1.0, 6.0], rtol=1e-9)


def test_a_function_is_called_seldom():
    calls = []
    METHOD(lambda x: calls.append(x) or math.sin(x), 1.0)
    assert len(calls) <= 14


# ---- complex step ----------------------------------------------------------------------------


def test_complex_step_is_exact():
    found = complex_step(lambda t: np.imag(np.sin(np.array([1.0, 2.0]) + t)))
    assert found is not None
    np.testing.assert_array_equal(found.value, np.cos([1.0, 2.0]))


def test_complex_step_of_what_refuses_complex_numbers():
    assert complex_step(lambda t: np.imag(np.floor(1.0 + t))) is None


@pytest.mark.parametrize("f", [np.abs, np.conj, np.real, np.sign, lambda x: np.abs(x) ** 2])
def test_complex_step_is_not_believed_where_it_is_wrong(f):
    x = np.array([1.5, 2.5])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        exact = complex_step(lambda t: np.imag(f(x + t)))
    assert exact is None or not consistent(exact, METHOD.estimate(lambda t: f(x + t)))


# ---- diagnosis -------------------------------------------------------------------------------

RNG = np.random.default_rng(0)
LOOKS = {
    "smooth": (lambda t: np.exp(3 * t), "smooth"),
    "curved": (lambda t: np.sin(100 * t + 1), "smooth"),
    "flat": (lambda t: 0.0, "smooth"),
    "large": (lambda t: 1e6 * t**3 + 5, "smooth"),
    "bend": (lambda t: abs(t) ** 1.5, "smooth"),
    "abs": (abs, "kink"),
    "relu": (lambda t: max(t, 0.0), "kink"),
    "sqrt": (lambda t: math.sqrt(abs(t)), "kink"),
    "step": (lambda t: float(t > 0), "jump"),
    "floor": (np.floor, "jump"),
    "edge": (np.sqrt, "edge"),
    "random": (lambda t: t + RNG.normal(), "random"),
    "noise": (lambda t: t + 1e-8 * math.sin(1e12 * t), "noisy"),
    "kink in one entry": (lambda t: np.array([t, abs(t), t * t]), "kink"),
}


@pytest.mark.parametrize("name", LOOKS)
def test_diagnosis(name):
    f, kind = LOOKS[name]
    assert diagnose(f).kind == kind


def test_diagnosis_of_a_kink_has_both_slopes():
    found = diagnose(lambda t: 3 * max(t, 0.0) - t)
    assert found.text == "it has a kink here: its slope is -1 to the left and 2 to the right"
