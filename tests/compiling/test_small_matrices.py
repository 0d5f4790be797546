"""Linear algebra of small matrices in machine code, beside plain NumPy."""

import warnings

import numpy as np
import pytest
from cached import ways
from three_ways import Recorded, differences, run

import chainrules as cr
from chainrules.rules.rulesets.linalg.systems import inverse_or_nan
from chainrules.rules.rulesets.linalg.triangular import (
    cholesky_pull,
    inverse_of_lower,
    solve_by_blocks,
)
from chainrules.rules.tracing.funnel import call

pytest.importorskip("llvmlite")

RNG = np.random.default_rng(0)
# Sizes and stacks: each of both, and the largest alone and in a stack.
SHAPES = [(1, ()), (2, (3,)), (3, ()), (3, (2, 2)), (5, ()), (5, (3,)), (8, ()), (8, (2, 2))]


def matrices(n, stack=(), seed=0):
    return np.random.default_rng(seed).normal(size=(*stack, n, n))


def positive(a):
    return a @ np.swapaxes(a, -1, -2) + np.eye(a.shape[-1])


def of(f, *args):
    """Call a primitive of the rules, as a recorder sees it."""
    return call(f, args, {})


VALUES = {
    "solve": lambda a: np.linalg.solve(a, a[..., :1] + 1.0),
    "solve, columns": lambda a: np.linalg.solve(a, np.sin(a)),
    "solve, a vector": lambda a: np.linalg.solve(a, np.arange(1.0, 1.0 + a.shape[-1])),
    "solve, transposed": lambda a: np.linalg.solve(np.swapaxes(a, -1, -2), a),
    "solve, both": lambda a: np.linalg.solve(a, np.linalg.solve(np.swapaxes(a, -1, -2), a)),
    "solve_by_blocks": lambda a: of(solve_by_blocks, a, a),
    "inv": lambda a: np.linalg.inv(a),
    "det": lambda a: np.linalg.det(a),
    "slogdet": lambda a: tuple(np.linalg.slogdet(a)),
    "inverse_or_nan": lambda a: of(inverse_or_nan, a, np.linalg.slogdet(a)[0]),
    "cholesky": lambda a: np.linalg.cholesky(positive(a)),
    "cholesky, upper": lambda a: np.linalg.cholesky(positive(a), upper=True),
    "cholesky, one triangle": lambda a: np.linalg.cholesky(positive(a) + np.triu(a, 1)),
    "inverse_of_lower": lambda a: of(inverse_of_lower, np.tril(a) + 3.0 * np.eye(a.shape[-1])),
    "cholesky_pull": lambda a: of(cholesky_pull, np.linalg.cholesky(positive(a)), a),
    "tril and triu": lambda a: np.tril(a, 1) * 2.0 + np.triu(a, -1),
}
FUNCTIONS = {
    "solve": lambda a: np.sum(np.linalg.solve(a, np.arange(1.0, 1.0 + len(a))) ** 2),
    "inv": lambda a: np.sum(np.linalg.inv(a) ** 2),
    "det": lambda a: np.linalg.det(a),
    "slogdet": lambda a: np.linalg.slogdet(a)[1],
    "cholesky": lambda a: np.sum(np.linalg.cholesky(positive(a)) * a),
}


@pytest.mark.parametrize(("n", "stack"), SHAPES, ids=str)
@pytest.mark.parametrize("name", VALUES)
def test_values_are_numpys_to_rounding_at_other_numbers(name, n, stack):
    recorded = Recorded(VALUES[name], matrices(n, stack))
    made = recorded.by("numbers")
    for seed in (0, 1, 2):
        a = matrices(n, stack, seed)
        missed, found = run(made, (a,))
        assert missed is None
        condition = np.max(np.linalg.cond(a)) ** 2
        assert not differences(found, VALUES[name](a), 64.0 * condition, zeros=False)


@pytest.mark.parametrize("order", ["F", "turned", "gaps"])
def test_matrices_lie_in_memory_as_they_like(order):
    f = VALUES["solve, columns"]
    a = matrices(4)
    a = {"F": np.asfortranarray(a), "turned": a.T, "gaps": np.repeat(a, 2, axis=1)[:, ::2]}[order]
    g = cr.compile(f)
    for scale in (1.0, 1.1, 1.3):
        np.testing.assert_allclose(g(a * scale), f(a * scale), rtol=1e-12)


@pytest.mark.parametrize(
    "f",
    [
        pytest.param(cr.grad, id="reverse"),
        pytest.param(cr.jacfwd, id="forward"),
        pytest.param(cr.hessian, id="second order"),
        pytest.param(lambda f: cr.jacfwd(cr.grad(f)), id="forward over reverse"),
    ],
)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_derivatives_are_one_native_function(name, f):
    f = f(FUNCTIONS[name])
    g = cr.compile(f)
    for seed in (3, 4, 5, 6):
        a = matrices(3, seed=seed)
        expected = f(a)
        np.testing.assert_allclose(g(a), expected, rtol=1e-7, atol=1e-9 * np.max(np.abs(expected)))
    if f is not cr.hessian:
        assert all("operations on numbers" in way for way in ways(g))


def test_gradients_are_those_of_finite_differences():
    a = matrices(3, seed=7) + 2.0 * np.eye(3)
    for f in FUNCTIONS.values():
        g = cr.compile(cr.grad(f))
        g(a + 0.1)
        g(a - 0.1)
        for at in np.ndindex(a.shape):
            step = np.zeros_like(a)
            step[at] = 1e-6
            slope = (f(a + step) - f(a - step)) / 2e-6
            np.testing.assert_allclose(g(a)[at], slope, rtol=1e-5, atol=1e-6)


# ---- singular matrices, ties, zeros, NaN -------------------------------------------------------

SINGULAR = {
    "zeros": np.zeros((3, 3)),
    "a row of zeros": np.diag([1.0, 0.0, 2.0]),
    "equal rows": np.array([[1.0, 2.0, 3.0], [1.0, 2.0, 3.0], [0.0, 1.0, 1.0]]),
    "to rounding": np.array([[0.1, 0.2, 0.3], [0.3, 0.6, 0.9], [0.7, 0.1, 0.3]]),
    "of whole numbers": np.arange(9.0).reshape(3, 3),
}


def parts(y):
    return np.stack(y) if isinstance(y, tuple) else np.asarray(y)


def outcome(f, *args):
    try:
        return f(*args)
    except np.linalg.LinAlgError as error:
        return str(error)


@pytest.mark.parametrize("kept", SINGULAR)
@pytest.mark.parametrize("name", ["solve, columns", "inv", "det", "slogdet", "inverse_or_nan"])
def test_what_is_singular_is_numpys_own(name, kept):
    f, a = VALUES[name], SINGULAR[kept]
    g = cr.compile(f)
    g(matrices(3))
    g(matrices(3, seed=1))
    for _ in range(3):
        found, expected = outcome(g, a), outcome(f, a)
        if isinstance(expected, str):
            assert found == expected
        else:
            np.testing.assert_array_equal(parts(found), parts(expected))
    a = matrices(3, seed=2)
    np.testing.assert_allclose(parts(g(a)), parts(f(a)), rtol=1e-9)


def test_a_constant_matrix_is_factorised_when_it_is_recorded():
    """A replay has no pivots to look for: what was computed of constants is one."""
    kept = matrices(4)

    def f(b):
        return np.sum(np.linalg.solve(kept, np.sin(b)))

    g, b = cr.compile(f), np.arange(4.0)
    np.testing.assert_allclose(g(b), f(b), rtol=1e-12)
    text = str(cr.explain(g, stage="scalarized"))
    assert "sin(" in text
    assert "greater(" not in text
    assert "where(" not in text


def test_a_singular_matrix_is_said_to_be_one():
    g = cr.compile(lambda a, b: np.sum(np.linalg.solve(a, b)))
    b = np.arange(3.0)
    g(matrices(3), b)
    g(matrices(3, seed=1), b)
    for _ in range(2):
        with pytest.raises(np.linalg.LinAlgError, match="Singular matrix"):
            g(np.zeros((3, 3)), b)
    assert g(np.eye(3), b) == 3.0


def test_what_is_not_positive_definite_is_said_to_be_so():
    g = cr.compile(np.linalg.cholesky)
    g(np.eye(3))
    g(2.0 * np.eye(3))
    for bad in (-np.eye(3), np.zeros((3, 3)), np.ones((3, 3)) - np.eye(3)):
        with pytest.raises(np.linalg.LinAlgError, match="not positive definite"):
            g(bad)
    np.testing.assert_array_equal(g(4.0 * np.eye(3)), 2.0 * np.eye(3))


@pytest.mark.parametrize("name", ["solve, columns", "inv", "det", "slogdet"])
def test_ties_of_pivots_and_zeros_on_the_diagonal(name):
    f = VALUES[name]
    g = cr.compile(f)
    signs = np.array([[0.0, 1.0, -1.0], [1.0, -1.0, 0.0], [-1.0, 0.0, 2.0]])
    turned = np.eye(3)[[2, 0, 1]]
    for a in (matrices(3), signs, turned, turned.T, -signs, np.diag([1e-200, 1.0, 1e200])):
        for x, y in zip(np.atleast_1d(g(a)), np.atleast_1d(f(a)), strict=True):
            np.testing.assert_allclose(x, y, rtol=1e-13, atol=1e-13)


def test_determinants_out_of_range_are_numpys():
    for f in (np.linalg.det, lambda a: np.linalg.slogdet(a)[1]):
        g = cr.compile(f)
        g(np.eye(3))
        for sizes in ((1e200, 1e200, 1e-300), (1e-200, 1e-200, 1e300), (1e200, 1e200, 1e200)):
            with np.errstate(all="ignore"):
                np.testing.assert_allclose(g(np.diag(sizes)), f(np.diag(sizes)), rtol=1e-12)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("name", ["solve, columns", "inv", "det", "slogdet", "cholesky"])
def test_a_matrix_that_is_not_finite(name, bad):
    f = VALUES[name]
    g = cr.compile(f)
    g(matrices(3))
    g(matrices(3, seed=1))
    for at in np.ndindex(3, 3):
        a = matrices(3, seed=2)
        a[at] = bad
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)
            found, expected = outcome(g, a), outcome(f, a)
        if isinstance(expected, str):
            assert found == expected
        else:
            assert np.array_equal(np.isnan(parts(found)), np.isnan(parts(expected)))


def test_a_right_side_that_is_not_finite():
    f = np.linalg.solve
    g = cr.compile(f)
    a, b = matrices(3), np.arange(3.0)
    g(a, b)
    g(a, b + 1.0)
    for k in range(3):
        b[k] = np.nan
        np.testing.assert_array_equal(np.isnan(g(a, b)), np.isnan(f(a, b)))


def test_constant_matrices():
    a = matrices(3)
    g = cr.compile(lambda b: np.linalg.solve(a, b) + np.linalg.det(a))
    for scale in (1.0, 2.0, 3.0):
        b = scale * np.arange(3.0)
        np.testing.assert_allclose(g(b), np.linalg.solve(a, b) + np.linalg.det(a), rtol=1e-12)
    singular = np.ones((2, 2))
    g = cr.compile(lambda b: np.linalg.slogdet(singular)[1] + b)
    assert g(1.0) == g(2.0) == -np.inf


@pytest.mark.parametrize("dtype", ["f4", "c16", "i8"])
def test_other_dtypes_are_numpys(dtype):
    a = (10.0 * matrices(3)).astype(dtype)
    for f in (np.linalg.inv, np.linalg.det):
        g = cr.compile(f)
        for _ in range(3):
            y = g(a)
            assert y.dtype == f(a).dtype
            np.testing.assert_allclose(y, f(a), rtol=1e-5 if dtype == "f4" else 1e-12)


def test_matrices_of_nothing_and_large_ones():
    for a in (np.zeros((0, 0)), np.zeros((2, 0, 0)), np.zeros((0, 3, 3)), np.eye(9), np.eye(20)):
        g = cr.compile(np.linalg.inv)
        for _ in range(3):
            np.testing.assert_array_equal(g(a), np.linalg.inv(a))
    with pytest.raises(np.linalg.LinAlgError):
        cr.compile(np.linalg.inv)(np.ones((2, 3)))


# ---- in loops and batches ----------------------------------------------------------------------


def test_a_step_of_a_loop_that_solves_is_native():
    def settled(x):
        a = np.stack([np.stack([3.0 + x[0], x[1]]), np.stack([x[1] * x[0], 4.0 - x[0]])])
        return np.sum(cr.loop(40, lambda y: np.linalg.solve(a, y + x), x) ** 2)

    f = cr.grad(settled)
    g = cr.compile(f)
    for start in ([1.5, 1.7], [1.4, 1.9], [1.6, 1.2]):
        x = np.array(start)
        np.testing.assert_allclose(g(x), f(x), rtol=1e-9)


def test_a_loop_meets_a_singular_matrix():
    def f(x):
        return cr.loop(40, lambda y: 0.5 * np.linalg.solve(np.stack([x, x[::-1]]), y), x)

    g = cr.compile(f)
    for x in ([1.0, 3.0], [2.0, 5.0], [1.0, 4.0]):
        np.testing.assert_allclose(g(np.array(x)), f(np.array(x)), rtol=1e-10)
    with pytest.raises(np.linalg.LinAlgError, match="Singular matrix"):
        g(np.array([2.0, 2.0]))


def test_items_of_a_batch():
    def f(a):
        return np.linalg.slogdet(positive(a))[1] + np.sum(np.linalg.inv(a))

    g = cr.compile(cr.vmap(cr.grad(f)))
    for seed in (0, 1, 2):
        a = matrices(3, (6,), seed) + 2.0 * np.eye(3)
        np.testing.assert_allclose(g(a), np.stack([cr.grad(f)(x) for x in a]), rtol=1e-8)


def test_a_filter_is_one_native_function():
    def cost(noise, seen):
        x, p, total = np.zeros(2), np.eye(2), 0.0
        move, look = np.array([[1.0, 0.1], [0.0, 1.0]]), np.eye(2)
        for y in seen:
            x, p = move @ x, move @ p @ move.T + noise[0] * np.eye(2)
            s = look @ p @ look.T + noise[1] * np.eye(2)
            gain, missed = np.linalg.solve(s, look @ p).T, y - look @ x
            total = total + missed @ np.linalg.solve(s, missed) + np.linalg.slogdet(s)[1]
            x, p = x + gain @ missed, p - gain @ look @ p
        return total

    f = cr.grad(cost)
    g = cr.compile(f)
    for seed in (0, 1, 2):
        args = np.array([0.1, 0.2]) + 0.01 * seed, np.random.default_rng(seed).normal(size=(10, 2))
        np.testing.assert_allclose(g(*args), f(*args), rtol=1e-9)
    assert "operations on numbers" in ways(g)[0]
