"""Second derivatives where numbers are equal: right or NaN, and never another number."""

import itertools

import numpy as np
import pytest

import chainrules as cr


def both_ways(x):
    return np.stack([x, x[::-1]])


# Smooth functions of three numbers that are written by what puts numbers in order or chooses
# among them, and what each one is.
SMOOTH = {
    "sort": (lambda x: np.sum(np.sort(x) ** 2), lambda x: np.sum(x**2)),
    "partition": (lambda x: np.sum(np.partition(x, 1) ** 2), lambda x: np.sum(x**2)),
    "max and min": (lambda x: np.max(x[:2]) * np.min(x[:2]), lambda x: x[0] * x[1]),
    "median": (lambda x: np.max(x) * np.min(x) * np.median(x), np.prod),
    "nanmax": (lambda x: np.nanmax(x) * np.nanmin(x) * np.nanmedian(x), np.prod),
    "reduce": (lambda x: np.maximum.reduce(x) * np.fmin.reduce(x) * np.median(x), np.prod),
    "quantile": (
        lambda x: np.quantile(x, 0) * np.percentile(x, 100) * np.quantile(x, 0.5), np.prod
    ),
    "ptp": (lambda x: np.ptp(x[:2]) ** 2, lambda x: (x[0] - x[1]) ** 2),
    "axis": (
        lambda x: np.sum(np.max(both_ways(x), axis=0) * np.min(both_ways(x), axis=0)),
        lambda x: np.sum(x * x[::-1]),
    ),
    "maximum": (lambda x: np.sum(np.maximum(x, 2 - x) ** 2 + np.minimum(x, 2 - x) ** 2),
                lambda x: np.sum(x**2 + (2 - x) ** 2)),
    "fmax": (lambda x: np.sum(np.fmax(x, x[::-1]) * np.fmin(x, x[::-1])),
             lambda x: np.sum(x * x[::-1])),
    "clip": (lambda x: np.sum((np.clip(x, 1, 9) - 1) ** 2 + (np.clip(x, -9, 1) - 1) ** 2),
             lambda x: np.sum((x - 1) ** 2)),
    "clip at arrays": (lambda x: np.sum(np.clip(x, x[::-1], 9) * np.clip(x, -9, x[::-1])),
                       lambda x: np.sum(x * x[::-1])),
    "initial": (lambda x: np.max(x[:1], initial=1.0) * np.min(x[:1], initial=1.0), lambda x: x[0]),
    "unique": (lambda x: np.sum(np.unique(x[[0, 0, 1, 1]]) ** 3 * (1.0 + (x[0] == x[1]))),
               lambda x: x[0] ** 3 + x[1] ** 3),
}  # fmt: skip
POINTS = [np.array(x) for x in ((1.0, 1, 1), (1.0, 1, 2), (2.0, 1, 1), (2.0, 1.5, 0.5))]
HESSIANS = {
    "hessian": cr.hessian,
    "one direction at a time": lambda f: lambda x: np.stack(
        [cr.hvp(f, (x,), (e,)) for e in np.eye(3)]
    ),
    "forward over forward": lambda f: cr.jacfwd(cr.jacfwd(f)),
    "linearized": lambda f: lambda x: np.stack(
        [cr.linearize(cr.grad(f), x)[1](e) for e in np.eye(3)]
    ),
}  # fmt: skip


@pytest.mark.parametrize("how", HESSIANS)
@pytest.mark.parametrize("name", SMOOTH)
def test_second_derivative_is_right_or_nan(name, how):
    f, same = SMOOTH[name]
    for x in POINTS:
        expected, found = cr.hessian(same)(x), HESSIANS[how](f)(x)
        right = np.isclose(expected, found, rtol=1e-9, atol=1e-12)
        assert np.all(right | np.isnan(found)), (x, found)


@pytest.mark.parametrize("name", SMOOTH)
def test_first_derivative_is_finite(name):
    f, same = SMOOTH[name]
    for x in POINTS:
        expected = cr.grad(same)(x)
        np.testing.assert_allclose(cr.grad(f)(x), expected, rtol=1e-12)
        np.testing.assert_allclose(cr.jacfwd(f)(x), expected, rtol=1e-12)


def test_no_kink_where_nothing_is_equal():
    x = np.array([2.0, 1.5, 0.5])
    for name in ("sort", "partition", "max and min", "median", "nanmax", "quantile", "ptp", "clip"):
        f, same = SMOOTH[name]
        for hessian in HESSIANS.values():
            np.testing.assert_allclose(cr.hessian(same)(x), hessian(f)(x), rtol=1e-9, atol=1e-12)


def test_numbers_that_move_together_have_no_kink():
    def f(x):
        return np.max(x[0] * np.ones(3)) ** 3 + np.maximum(x, x)[1] ** 2 + np.sort(x[[0, 0]])[0]

    x = np.array([1.0, 2.0])
    for hessian in (cr.hessian, lambda f: cr.jacfwd(cr.jacfwd(f))):
        np.testing.assert_allclose([[6, 0], [0, 2]], hessian(f)(x))


def test_no_kink_where_nothing_moves():
    """Rows of padding are equal numbers that depend on nothing."""
    padded = np.zeros((2, 3))
    found = cr.hessian(lambda w: np.sum(np.maximum(padded @ w, 0)) + np.sum(w**2))(np.ones(3))
    np.testing.assert_array_equal(2 * np.eye(3), found)


def test_no_kink_where_a_selection_left_it_out():
    def f(x):
        return np.sum(np.where(x > 5, np.maximum(x, 1.0), x**2))

    np.testing.assert_array_equal(2 * np.eye(2), cr.hessian(f)(np.ones(2)))


def test_kinks_of_equal_infinities_are_left_alone():
    x = np.array([np.inf, np.inf, 1.0])
    for f in (np.max, lambda x: np.sum(np.sort(x)), lambda x: np.sum(np.maximum(x, x[::-1]))):
        assert np.all(np.isfinite(cr.grad(f)(x)))
        assert np.all(np.isfinite(cr.jacfwd(cr.grad(f))(x)))


def test_third_derivatives_at_ties_are_nan():
    x = np.ones(2)
    for f in (lambda x: np.sum(np.sort(x) ** 3), lambda x: np.max(x) * np.min(x) ** 2):
        third = cr.jacfwd(cr.jacfwd(cr.grad(f)))(x)
        assert np.all(np.isnan(third))


def test_all_orders_of_ties_among_four():
    """Sorted or not, and whichever are equal: the function is the same, and smooth."""
    for x in itertools.product((1.0, 2.0), repeat=4):
        x = np.array(x)
        found = cr.hessian(lambda x: np.sum(np.sort(x.reshape(2, 2), axis=1) ** 2))(x)
        assert np.all(np.isclose(found, 2 * np.eye(4)) | np.isnan(found))
        pairs = np.repeat(x[::2] == x[1::2], 2)
        np.testing.assert_array_equal(pairs, np.isnan(np.diagonal(found)))
