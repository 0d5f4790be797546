"""LU factorization, whose pivots are constant, and systems that are solved by it."""

import numpy as np
from scipy import linalg

from .... import (
    NoTangent,
    composed,
    is_traced,
    library_value,
    linear_rule,
    own_valued,
    pair_rule,
    primitive,
    seen,
    value,
)
from ...arrays.products import adjoint
from .systems import as_columns


def triangles(y):
    """Return the two factors that are stored in one square matrix."""
    return np.tril(y, -1) + np.eye(np.shape(y)[-1], dtype=y.dtype), np.triu(y)


def solve_with(a, b, trans=0, **options):
    return seen(linalg.solve_triangular)(a, b, trans, check_finite=False, **options)


def solve_from_right(b, upper, trans=0):
    """Return ``b @ inv(upper)``, or with ``trans=2`` that of the adjoint."""
    return adjoint(solve_with(upper, adjoint(b), 2 - trans))


@primitive
def square_factors(a, own):
    """The factors of ``a`` without pivots, in one matrix; SciPy has found them."""
    return own


@pair_rule(square_factors)
def square_factors_pair(square_factors, a, own):
    """From ``l @ u = a``: with ``b = inv(l) @ adot``, ``inv(l) @ ldot = tril(b @ inv(u), -1)``.

    And ``udot = b - inv(l) @ ldot @ u``. Below the diagonal ``b @ inv(u)`` does not depend on the
    last pivot, so that this may be 0, as of a matrix whose columns add up to nothing.

    Shapes: ``a``, ``y``, ``ybar``: (..., n, n).
    Source: Walter and Lehmann (2012), algorithmic differentiation of linear algebra functions.
    """
    y = square_factors(a, own)
    lower, upper = triangles(y)
    last = np.zeros(np.shape(y)[-2:], bool)
    last[-1:, -1:] = True
    solvable = np.where(last, 1.0, upper)

    def square_factors_pushforward(adot, _owndot):
        inner = solve_with(y, adot, lower=True, unit_diagonal=True)
        below = np.tril(solve_from_right(inner, solvable), -1)
        return lower @ below + np.triu(inner - below @ upper)

    def square_factors_pullback(ybar):
        above = np.triu(ybar)
        below = np.tril(adjoint(lower) @ np.tril(ybar, -1) - above @ adjoint(upper), -1)
        inner = above + solve_from_right(below, solvable, 2)
        return solve_with(y, inner, 2, lower=True, unit_diagonal=True), NoTangent()

    return y, square_factors_pushforward, square_factors_pullback


def permuted(a, order):
    """Take the rows of each matrix in a stack in this order."""
    if np.ndim(order) == 1:
        return a[..., order, :]
    shape = np.broadcast_shapes(np.shape(a)[:-2], np.shape(order)[:-1])
    a = np.broadcast_to(a, (*shape, *np.shape(a)[-2:]))
    index = np.broadcast_to(order[..., None], (*shape, np.shape(order)[-1], np.shape(a)[-1]))
    return np.take_along_axis(a, index, axis=-2)


def stored_factors(a, own):
    """Return both factors of ``a``, whose rows are in order, in one matrix of its shape.

    Rows below the square, and columns beside it, are made by one of its factors alone.
    """
    rows, columns = np.shape(a)[-2:]
    k = min(rows, columns)
    square = square_factors(a[..., :k, :k], own[..., :k, :k])
    if rows > k:
        return np.concatenate([square, solve_from_right(a[..., k:, :], np.triu(square))], axis=-2)
    if columns > k:
        rest = solve_with(square, a[..., k:], lower=True, unit_diagonal=True)
        return np.concatenate([square, rest], axis=-1)
    return square


def order_of(pivots, rows):
    """Return the order of rows after all exchanges, for each list of them in a stack."""
    order = np.empty((*np.shape(pivots)[:-1], rows), int)
    for index in np.ndindex(np.shape(pivots)[:-1]):
        places = np.arange(rows)
        for i, j in enumerate(pivots[index]):
            places[[i, j]] = places[[j, i]]
        order[index] = places
    return order


@composed(linalg.lu_factor, value="own")
def lu_factor(a, *, own):
    factors, pivots = own
    return stored_factors(permuted(a, order_of(pivots, np.shape(a)[-2])), factors), pivots


def places_and_factors(a):
    """SciPy's places of the rows, and both factors in one array."""
    places, low, high = linalg.lu(a, p_indices=True)
    k = low.shape[-1]
    factors = np.zeros(np.shape(a), low.dtype)
    factors[..., :k] += np.tril(low, -1)
    factors[..., :k, :] += high
    return places, factors


@composed(linalg.lu, value="own")
def lu(a, permute_l=False, p_indices=False, *, own):
    places, factors = library_value(places_and_factors, (a,), {})
    rows, k = np.shape(a)[-2], min(np.shape(a)[-2:])
    y = stored_factors(permuted(a, np.argsort(places, axis=-1)), factors)
    lower = np.tril(y[..., :k], -1) + np.eye(rows, k, dtype=y.dtype)
    upper = np.triu(y[..., :k, :])
    return (permuted(lower, places), upper) if permute_l else (own[0], lower, upper)


# ---- systems --------------------------------------------------------------------------------


@primitive
def factored_solve(b, y, pivots, trans, check_finite):
    """SciPy's ``lu_solve``, which is linear in ``b``."""
    return linalg.lu_solve((y, pivots), b, trans, check_finite=check_finite)


def factored_solve_block(b, **factors):
    if b.rank > 2:
        return NotImplemented
    return b.in_columns(lambda b: factored_solve(b, **factors))


@linear_rule(factored_solve, block=factored_solve_block)
def factored_solve_transpose(ybar, space, y, pivots, trans, check_finite):
    if trans == 1:
        return np.conj(factored_solve(np.conj(ybar), y, pivots, 0, check_finite))
    return factored_solve(ybar, y, pivots, 2 - trans, check_finite)


def solve_by_triangles(lu_and_piv, b, trans=0):
    y, pivots = lu_and_piv
    order, vector = order_of(np.asarray(value(pivots)), np.shape(y)[-2]), np.ndim(b) == 1
    b = as_columns(b, vector)
    unit = {"lower": True, "unit_diagonal": True}
    if trans == 0:
        x = solve_with(y, solve_with(y, permuted(b, order), **unit))
    else:
        x = solve_with(y, solve_with(y, b, trans), trans, **unit)
        x = permuted(x, np.argsort(order, axis=-1))
    return x[..., 0] if vector else x


by_triangles = own_valued(linalg.lu_solve, solve_by_triangles)


@composed(linalg.lu_solve)
def lu_solve(lu_and_piv, b, trans=0, check_finite=True):
    y, pivots = lu_and_piv
    if is_traced(y) or np.ndim(y) > 2:
        return by_triangles(lu_and_piv, b, trans, check_finite=check_finite)
    return factored_solve(b, y, pivots, trans, check_finite)
