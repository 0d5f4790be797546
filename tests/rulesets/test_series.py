"""Roots, fits and Vandermonde matrices of the series of ``np.polynomial``."""

import itertools

import numpy as np
import pytest
from both_modes import both, both_rules
from differences import jacobian_of

import chainrules as cr
from chainrules.rules.rulesets.arrays.series import FUNCTIONS, MODULES
from chainrules.testing import test_rrule

RNG = np.random.default_rng(21)
X = RNG.uniform(-1, 1, size=9)
Y = RNG.normal(size=9)
W = RNG.uniform(0.5, 1.5, size=9)


@pytest.mark.parametrize("family", MODULES)
def test_roots(family):
    roots = FUNCTIONS[f"{family}roots"]
    c = getattr(MODULES[family], f"{family}fromroots")([0.5, -0.7, 1.1])
    np.testing.assert_allclose([-0.7, 0.5, 1.1], roots(c))
    both_rules(roots, c)
    complex_roots = np.array([2.0, 0.3, 1.5])
    both_rules(roots, complex_roots)
    test_rrule(roots, RNG.normal(size=3) + 1j * RNG.normal(size=3))
    integers = np.array([-3, 1, 1])
    assert roots(integers).dtype == cr.jacrev(roots)(integers).dtype


@pytest.mark.parametrize("family", MODULES)
def test_fit(family):
    plain = getattr(MODULES[family], f"{family}fit")
    fit = FUNCTIONS[f"{family}fit"]
    for deg in (2, [0, 3, 1]):
        np.testing.assert_allclose(plain(X, Y, deg, w=W), fit(X, Y, deg, w=W))
        both(lambda x, y, w, deg=deg: fit(x, y, deg, w=w), X, Y, W)
    both(lambda y: fit(X, np.stack([y, y**2], 1), 1), Y)
    for expected, found in zip(plain(X, Y, 2, full=True)[1], fit(X, Y, 2, full=True)[1]):
        np.testing.assert_allclose(expected, found, rtol=1e-9)


@pytest.mark.parametrize("family", MODULES)
def test_vander(family):
    plain, vander = getattr(MODULES[family], f"{family}vander"), FUNCTIONS[f"{family}vander"]
    for x, deg in [(X, 3), (X.reshape(3, 3), 2), (X, 0), (0.4, 2), (X + 1j * Y, 2)]:
        np.testing.assert_array_equal(plain(x, deg), cr.jvp(vander, (x, deg), (x, 0))[0])
        both_rules(vander, x, deg)
    both(lambda x: vander([x[0], 0.3, x[1] * x[2]], 3), X)


def test_vander_computes_with_arrays():
    columns = np.polynomial.Laguerre.basis
    slopes = cr.grad(lambda x: np.sum(FUNCTIONS["lagvander"](x, 4)))(np.linspace(0, 1, 50))
    np.testing.assert_allclose(
        slopes, sum(columns(k).deriv()(np.linspace(0, 1, 50)) for k in range(5))
    )
    calls = cr.cost(lambda x: np.sum(FUNCTIONS["lagvander"](x, 4)), np.linspace(0, 1, 50))
    assert calls is not None


def test_fit_warns_of_rank():
    with pytest.warns(np.exceptions.RankWarning):
        FUNCTIONS["polyfit"](np.ones(7), Y[:7], 1)


@pytest.mark.parametrize(
    "values", [[0.5, 2.0, -1.0, 4.0], [1.0, np.inf, 2.0, 3.0], [1j, 2.0, 0.5, 1.0]]
)
@pytest.mark.parametrize("grid", [[0.0, 0.5, 1.0, 2.0], [0.0, 1.0, 1.0, 2.0]])
def test_interp_of_one_number_is_that_of_an_array(grid, values):
    grid, values = np.array(grid), np.array(values)
    for x in (-1.0, 0.0, 0.3, 0.5, 1.0, 1.7, 2.0, 3.0, np.nan):
        y, ydot = cr.jvp(lambda x: np.interp(x, grid, values), (x,), (1.0,))
        ys, ysdot = cr.jvp(lambda x: np.interp(x, grid, values), (np.array([x]),), (np.ones(1),))
        np.testing.assert_array_equal(np.interp(x, grid, values), y)
        np.testing.assert_array_equal(ysdot[0], ydot)
        assert type(y) is type(np.interp(x, grid, values))
        slope = cr.grad(lambda x: np.real(np.interp(x, grid, values)))(np.float64(x))
        np.testing.assert_array_equal(np.real(ysdot[0]), slope)
        assert ys.dtype == y.dtype


@pytest.mark.parametrize("by", list(itertools.product((cr.jacfwd, cr.jacrev), repeat=3)))
@pytest.mark.parametrize("factor", [1.0, 1.0 + 0.5j])
def test_interp_of_moving_places_grid_and_samples_to_third_order(by, factor):
    at, grid, samples = np.linspace(-0.2, 1.3, 8), np.array([0.0, 0.3, 0.4, 1.0]), Y[:4]

    def f(v):
        x, xp = at * v[0] + 0.013, grid * v[1] + 0.1 * v[2] * grid**2
        y = np.interp(x, xp, np.sin(samples * v[2]) * factor)
        return np.sum(np.real(y * np.conj(y)) * np.cos(x)) + np.interp(0.45, xp, samples * v[0])

    v = np.array([1.0, 0.9, 1.1])
    outer, middle, inner = by
    thirds = jacobian_of(middle(inner(f)), v)
    np.testing.assert_allclose(outer(middle(inner(f)))(v), thirds, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("by", [cr.jacfwd, cr.jacrev])
def test_interp_of_moving_grid_at_its_places_takes_the_slope_to_the_right(by):
    grid, samples = np.array([0.0, 1.0, 3.0]), np.array([1.0, 3.0, 2.0])
    x = np.array([-1.0, 0.0, 1.0, 3.0, 4.0])
    slopes = np.array([0.0, 2.0, -0.5, 0.0, 0.0])
    np.testing.assert_array_equal(
        slopes, by(lambda t: np.interp(x + t, grid * (1 + 0 * t), samples))(0.0)
    )
    np.testing.assert_array_equal(-slopes, by(lambda t: np.interp(x, grid + t, samples))(0.0))
