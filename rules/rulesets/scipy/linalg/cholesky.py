"""Cholesky factors, and systems that are solved by them. SciPy's factors are upper by default."""

import numpy as np
from scipy import linalg

from .... import (
    composed,
    is_traced,
    linear_rule,
    own_valued,
    pair_rule,
    primitive,
    seen,
    value,
)
from ...arrays.products import adjoint
from .systems import half


def from_both_sides(factor, x, trans):
    """Return ``inv(factor) @ x @ inv(factor)^H``, or with ``trans=2`` that of its adjoint."""
    options = {"lower": True, "check_finite": False}
    half_way = seen(linalg.solve_triangular)(factor, x, trans, **options)
    return adjoint(seen(linalg.solve_triangular)(factor, adjoint(half_way), trans, **options))


@primitive
def lower_factor(a):
    return linalg.cholesky(a, lower=True, check_finite=False)


@pair_rule(lower_factor)
def lower_factor_pair(lower_factor, a):
    """From ``y @ y^H = a``: ``inv(y) @ ydot`` is half of ``inv(y) @ adot @ inv(y)^H``.

    That is its lower triangle with half the diagonal. The lower triangle of ``a`` is read.

    Shapes: ``a``, ``y``, ``ybar``: (..., n, n).
    Source: Murray (2016), differentiation of the Cholesky decomposition.
    """
    y = lower_factor(a)

    def lower_factor_pushforward(adot):
        moved = half(adot, True)
        return y @ half(from_both_sides(y, moved + adjoint(moved), 0), True)

    def lower_factor_pullback(ybar):
        inner = half(adjoint(y) @ ybar, True)
        abar = from_both_sides(y, inner + adjoint(inner), 2)
        return half(abar, True)

    return y, lower_factor_pushforward, lower_factor_pullback


@composed(linalg.cholesky, value="own")
def cholesky(a, lower=False):
    """By the lower factor: the upper triangle is the lower one of ``a^H``."""
    return lower_factor(a) if lower else adjoint(lower_factor(adjoint(a)))


@composed(linalg.cho_factor, value="own")
def cho_factor(a, lower=False, *, own):
    """In the other triangle there still is that of ``a``, before SciPy 1.18."""
    factor = seen(linalg.cholesky)(a, lower=lower, check_finite=False)
    rest, found = (np.triu(x, 1) if lower else np.tril(x, -1) for x in (a, own[0]))
    return factor + rest if np.array_equal(value(rest), found) else factor, lower


# ---- systems --------------------------------------------------------------------------------


@primitive
def definite_solve(b, c, lower, check_finite):
    """SciPy's ``cho_solve``, which is linear in ``b`` with a Hermitian matrix."""
    return linalg.cho_solve((c, lower), b, check_finite=check_finite)


def definite_solve_block(b, **factor):
    if b.rank > 2:
        return NotImplemented
    return b.in_columns(lambda b: definite_solve(b, **factor))


@linear_rule(definite_solve, block=definite_solve_block)
def definite_solve_transpose(ybar, space, c, lower, check_finite):
    return definite_solve(ybar, c, lower, check_finite)


def solve_by_triangles(c_and_lower, b):
    c, lower = c_and_lower
    solve = seen(linalg.solve_triangular)
    first, second = (0, 2) if lower else (2, 0)
    inner = solve(c, b, first, lower=lower, check_finite=False)
    return solve(c, inner, second, lower=lower, check_finite=False)


by_triangles = own_valued(linalg.cho_solve, solve_by_triangles)


@composed(linalg.cho_solve)
def cho_solve(c_and_lower, b, check_finite=True):
    c, lower = c_and_lower
    if is_traced(c) or np.ndim(c) > 2:
        return by_triangles(c_and_lower, b, check_finite=check_finite)
    return definite_solve(b, c, lower, check_finite)
