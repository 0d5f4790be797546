"""Linear systems with a dense matrix, and inverses.

A solver is told what it may assume of the matrix, and then reads a part of its entries. What it
does not read has no derivative.
"""

import math

import numpy as np
from scipy import linalg

from .... import (
    AbstractZero,
    Block,
    block_rule,
    composed,
    own_valued,
    pair_rule,
    primitive,
    shape_of,
    value,
)
from ...arrays.products import adjoint


def transpose(a):
    return np.swapaxes(a, -1, -2)


def as_columns(x, vector):
    return np.expand_dims(x, -1) if vector else x


def nearly_singular(a):
    """Say of each matrix whether a singular value is 0 up to rounding; with axes of a matrix."""
    s = np.linalg.svd(value(a), compute_uv=False)
    smallest = s[..., -1:, None] if s.shape[-1] else np.ones((1, 1))
    return smallest <= max(np.shape(a)[-2:]) * np.finfo(s.dtype).eps * s[..., :1, None]


def linear_system(solve, product, pull, adjoint_of):
    """Give the rules of ``solve(p, b, **options)``, whose matrix ``m`` is linear in ``p``.

    From ``m(p) @ y = b``: ``ydot = solve(p, bdot - m(pdot) @ y)``.

    Parameters
    ----------
    product : callable
        ``product(p, y, **options)`` is ``m(p) @ y``, for columns y.
    pull : callable
        ``pull(w, y, **options)`` is its transpose in p: that of ``w @ y^H``.
    adjoint_of : callable
        ``adjoint_of(p, **options)`` returns p and the options of the adjoint matrix.
    """

    @block_rule(solve)
    def system_block(p, b, **options):
        if type(p) is Block or len(shape_of(p)) > 2 or b.rank not in (1, 2):
            return NotImplemented
        return b.in_columns(lambda b: solve(p, b, **options))

    @pair_rule(solve)
    def system_pair(solve, p, b, **options):
        y = solve(p, b, **options)
        vector = np.ndim(b) == 1

        def system_pushforward(pdot, bdot):
            if isinstance(pdot, AbstractZero):
                return solve(p, bdot, **options)
            moved = product(pdot, as_columns(y, vector), **options)
            if vector and np.ndim(y) == 1:
                return solve(p, bdot - moved[..., 0], **options)
            # A vector may have met a stack of matrices.
            ydot = solve(p, as_columns(bdot, vector) - moved, **options)
            return ydot[..., 0] if vector else ydot

        def system_pullback(ybar):
            moved, turned = adjoint_of(p, **options)
            columns = vector and np.ndim(ybar) > 1
            bbar = solve(moved, as_columns(ybar, columns), **turned)
            bbar = bbar[..., 0] if columns else bbar
            return pull(-as_columns(bbar, vector), as_columns(y, vector), **options), bbar

        return y, system_pushforward, system_pullback


# ---- any matrix -----------------------------------------------------------------------------

HALVES = {"sym": transpose, "symmetric": transpose}
HALVES |= dict.fromkeys(("her", "hermitian", "pos", "positive definite"), adjoint)
TURNED = {"upper triangular": "lower triangular", "lower triangular": "upper triangular"}


def triangle(a, lower):
    return np.tril(a) if lower else np.triu(a)


def half(a, lower):
    """Return a triangle with half its diagonal; as a linear map its own transpose."""
    part = triangle(a, lower)
    return np.where(np.eye(np.shape(a)[-1], dtype=bool), part / 2, part)


def entries_read(a, assume_a, lower):
    """Return the matrix that is solved with, where the solver is told to assume so much."""
    if assume_a in HALVES:
        part = half(a, lower)
        return part + HALVES[assume_a](part)
    return entries_in_place(a, assume_a)


def entries_read_transpose(abar, assume_a, lower):
    if assume_a in HALVES:
        return half(abar + HALVES[assume_a](abar), lower)
    return entries_in_place(abar, assume_a)


def entries_in_place(a, assume_a):
    if assume_a == "diagonal":
        return np.where(np.eye(np.shape(a)[-1], dtype=bool), a, 0)
    if assume_a == "tridiagonal":
        return np.triu(np.tril(a, 1), -1)
    return triangle(a, assume_a == "lower triangular") if assume_a in TURNED else a


@primitive
def dense_solve(a, b, *, assume_a, lower, transposed, check_finite):
    options = {"lower": lower, "transposed": transposed, "check_finite": check_finite}
    return linalg.solve(a, b, assume_a=assume_a, **options)


def dense_product(a, y, *, assume_a, lower, transposed, check_finite):
    a = entries_read(a, assume_a, lower)
    return (transpose(a) if transposed else a) @ y


def dense_pull(w, y, *, assume_a, lower, transposed, check_finite):
    abar = w @ adjoint(y)
    return entries_read_transpose(transpose(abar) if transposed else abar, assume_a, lower)


def dense_adjoint(a, *, assume_a, lower, **options):
    turned = TURNED.get(assume_a, assume_a)
    return adjoint(a), {"assume_a": turned, "lower": not lower, **options}


linear_system(dense_solve, dense_product, dense_pull, dense_adjoint)


divided = own_valued(linalg.solve, lambda a, b: np.atleast_1d(b) / np.ravel(a)[0])


@composed(linalg.solve)
def solve(a, b, lower=False, assume_a=None, transposed=False, check_finite=True):
    if math.prod(shape_of(a)) == 1:  # which SciPy takes for a number
        return divided(a, b, check_finite=check_finite)
    return dense_solve(a, b, assume_a=assume_a, lower=lower, transposed=transposed,
                       check_finite=check_finite)  # fmt: skip


@primitive
def dense_inverse(a, *, assume_a, lower, **options):
    if assume_a is not None:  # SciPy has it since 1.17
        options |= {"assume_a": assume_a, "lower": lower}
    return linalg.inv(a, **options)


@pair_rule(dense_inverse)
def dense_inverse_pair(dense_inverse, a, *, assume_a, lower, **options):
    """From ``a @ y = I``: ``ydot = -y @ adot @ y``."""
    y = dense_inverse(a, assume_a=assume_a, lower=lower, **options)

    def dense_inverse_pushforward(adot):
        return -y @ entries_read(adot, assume_a, lower) @ y

    def dense_inverse_pullback(ybar):
        abar = -adjoint(y) @ ybar @ adjoint(y)
        return entries_read_transpose(abar, assume_a, lower)

    return y, dense_inverse_pushforward, dense_inverse_pullback


@composed(linalg.inv)
def inv(a, *, assume_a=None, lower=False, check_finite=True):
    return dense_inverse(a, assume_a=assume_a, lower=lower, check_finite=check_finite)


@composed(linalg.det, value="own")
def det(a):
    return np.linalg.det(a)


# ---- triangles ------------------------------------------------------------------------------


def operation(trans):
    """Return what ``trans`` stands for as 0, 1 or 2."""
    return {"N": 0, "T": 1, "C": 2}.get(trans, trans)


@primitive
def triangular_solve(a, b, *, trans, lower, unit_diagonal, check_finite):
    return linalg.solve_triangular(a, b, trans, lower, unit_diagonal, check_finite=check_finite)


def triangular_part(a, lower, unit_diagonal):
    outside = bool(unit_diagonal)
    return np.tril(a, -outside) if lower else np.triu(a, outside)


def triangular_product(a, y, *, trans, lower, unit_diagonal, check_finite):
    part = triangular_part(a, lower, unit_diagonal)
    return (part, transpose(part), adjoint(part))[trans] @ y


def triangular_pull(w, y, *, trans, lower, unit_diagonal, check_finite):
    abar = y @ adjoint(w) if trans == 2 else w @ adjoint(y)
    return triangular_part(transpose(abar) if trans == 1 else abar, lower, unit_diagonal)


def triangular_adjoint(a, *, trans, **options):
    return (
        (np.conj(a), {"trans": 0, **options})
        if trans == 1
        else (a, {"trans": 2 - trans, **options})
    )


linear_system(triangular_solve, triangular_product, triangular_pull, triangular_adjoint)


@composed(linalg.solve_triangular)
def solve_triangular(a, b, trans=0, lower=False, unit_diagonal=False, check_finite=True):
    return triangular_solve(a, b, trans=operation(trans), lower=lower,
                            unit_diagonal=unit_diagonal, check_finite=check_finite)  # fmt: skip
