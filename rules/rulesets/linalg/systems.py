"""Inverses, linear systems and determinants, for stacks of matrices.

Cotangents are conjugated by the convention that C is R^2. Source of the rules for ``inv``,
``solve`` and ``det``: Giles (2008), matrix derivative results for forward and reverse mode.
"""

import math

import numpy as np

from ....config.thresholds import SOLVED_WHOLE
from ... import (
    Block,
    NoTangent,
    ProjectTo,
    Tangent,
    ZeroTangent,
    array_of,
    block_rule,
    composed,
    frule,
    non_differentiable,
    pair_rule,
    primitive,
    rrule,
    shape_of,
    unbroadcast,
    value,
)
from ..arrays.products import adjoint, conj
from .matrix_rule import matrix_rule
from .triangular import are_plain, solve_by_blocks

non_differentiable(np.linalg.matrix_rank)


def diagonal_of(a):
    return np.diagonal(a, axis1=-2, axis2=-1)


def diagonal_matrix(x):
    """Return a matrix with ``x`` on its diagonal, for each vector in a stack."""
    return np.where(np.eye(np.shape(x)[-1], dtype=bool), np.expand_dims(x, -1), 0)


def over_matrices(x):
    """Give a number for each matrix in a stack the axes of the matrices; one alone needs none."""
    return x[..., None, None] if getattr(x, "ndim", 0) else x


# ---- inverses and systems -------------------------------------------------------------------


@primitive
def inverse_or_nan(a, sign):
    """Return the inverse of each matrix in a stack, NaN for those whose determinant is 0."""
    if type(a) is np.ndarray and np.count_nonzero(sign) == np.size(sign):
        return np.linalg.inv(a)
    singular = over_matrices(sign == 0)
    inverse = np.linalg.inv(np.where(singular, np.eye(np.shape(a)[-1], dtype=bool), a))
    return np.where(singular, math.nan, inverse)


def inv_push(adot, y, a):
    return -y @ adot @ y


def inv_pull(ybar, y, _a):
    """Inverse of each matrix in a stack.

    From ``a @ y = I``: ``ydot = -y @ adot @ y``.

    Shapes: ``a``, ``y``, ``ybar``: (..., n, n).
    """
    return -adjoint(y) @ ybar @ adjoint(y)


matrix_rule(np.linalg.inv, inv_push, inv_pull)


@pair_rule(inverse_or_nan)
def inverse_or_nan_pair(inverse_or_nan, a, sign):
    y = inverse_or_nan(a, sign)

    def inverse_or_nan_pushforward(adot, _1):
        return inv_push(adot, y, a)

    def inverse_or_nan_pullback(ybar):
        return inv_pull(ybar, y, a), NoTangent()

    return y, inverse_or_nan_pushforward, inverse_or_nan_pullback


def as_column(x):
    return np.expand_dims(x, -1)


@block_rule(np.linalg.solve)
def solve_block(a, b):
    rank = len(shape_of(b))
    if len(shape_of(a)) != 2 or rank not in (1, 2):
        return NotImplemented
    if type(a) is Block:
        right = b.values if type(b) is Block else b
        y = np.linalg.solve(a.values, np.expand_dims(right, -1) if rank == 1 else right)
        return y[..., 0] if rank == 1 else y
    return b.in_columns(lambda b: np.linalg.solve(a, b))  # one factorization


@frule.register(np.linalg.solve)
def solve_frule(tangents, solve, a, b):
    _, adot, bdot = tangents
    y = solve(a, b)
    if len(shape_of(b)) == 1 and len(shape_of(a)) == 2:  # of several directions each is a row
        rest = bdot - adot @ y
        return y, np.linalg.solve(a, rest.T).T
    if np.ndim(b) != 1:
        return y, solve_all(a, bdot - adot @ y)
    # A vector may meet a stack of matrices, so y is a stack of columns.
    rest = np.expand_dims(bdot, -1) - adot @ np.expand_dims(y, -1)
    return y, solve_all(a, rest)[..., 0]


def solve_all(a, b):
    """Solve for a stack of ``b``: one factorization of a single matrix serves all of them."""
    shape = shape_of(b)
    if len(shape) == 2 or len(shape_of(a)) != 2:
        return np.linalg.solve(a, b)
    columns = np.moveaxis(b, -2, 0)
    y = np.linalg.solve(a, np.reshape(columns, (shape[-2], math.prod((*shape[:-2], shape[-1])))))
    return np.moveaxis(np.reshape(y, shape_of(columns)), 0, -2)


@rrule.register(np.linalg.solve)
def solve_rrule(solve, a, b):
    """Solution of ``a @ y = b``, where ``b`` is one vector, or matrices.

    From ``adot @ y + a @ ydot = bdot``: ``ydot = solve(a, bdot - adot @ y)``.

    Shapes: ``a``: (..., n, n); ``b``, ``y``, ``ybar``: (..., n, k), or ``b``: (n,) and the
    others (..., n).
    """
    a, b = (array_of(x) if type(x) in (list, tuple) else x for x in (a, b))
    y = solve(a, b)
    vector = len(shape_of(b)) == 1
    project_a, project_b = ProjectTo(a), ProjectTo(b)
    small = project_a.shape[-1] <= SOLVED_WHOLE

    def solve_pullback(ybar):
        moved = adjoint(a)
        if vector and small and project_a.ndim == 2:  # one system, which needs no columns
            bbar = np.linalg.solve(moved, ybar)
            return NoTangent(), project_a(-bbar[:, None] * conj(y)), project_b(bbar)
        columns = y[..., None] if vector else y
        ybar_columns = ybar[..., None] if vector else ybar
        blocks = not small and are_plain(moved, ybar_columns)
        solved = solve_by_blocks if blocks else np.linalg.solve
        bbar = solved(moved, ybar_columns)
        # Entry by entry: a product of matrices with one column takes four times as long.
        abar = -bbar * adjoint(columns) if vector else -bbar @ adjoint(columns)
        abar = unbroadcast(abar, project_a.shape)
        bbar = unbroadcast(bbar[..., 0] if vector else bbar, project_b.shape)
        return NoTangent(), project_a(abar), project_b(bbar)

    return y, solve_pullback


@composed(np.linalg.tensorinv)
def tensorinv(a, ind=2):
    shape = np.shape(a)
    matrix = np.reshape(a, (math.prod(shape[:ind]), -1))
    return np.reshape(np.linalg.inv(matrix), shape[ind:] + shape[:ind])


@composed(np.linalg.tensorsolve)
def tensorsolve(a, b, axes=None):
    if axes is not None:
        a = np.moveaxis(a, axes, range(-len(axes), 0))
    shape = np.shape(a)[-(np.ndim(a) - np.ndim(b)) :]  # all of it where the ranks are the same
    matrix = np.reshape(a, (math.prod(shape), math.prod(shape)))
    return np.reshape(np.linalg.solve(matrix, np.ravel(b)), shape)


@composed(np.linalg.matrix_power)
def matrix_power(a, n):
    if n == 0:
        return np.linalg.matrix_power(value(a), 0)
    if n < 0:
        return np.linalg.matrix_power(np.linalg.inv(a), -n)
    if n == 3:
        return a @ a @ a
    y, power = None, a
    while n:  # in NumPy's order, to the last bit
        n, odd = divmod(n, 2)
        if odd:
            y = power if y is None else y @ power
        power = power @ power if n else power
    return y


# ---- determinants ---------------------------------------------------------------------------


def det_push(adot, y, a):
    return np.sum(np.swapaxes(adjugate(a, y), -1, -2) * adot, axis=(-2, -1))


def det_pull(ybar, y, a):
    """Determinant of each matrix in a stack, singular ones included.

    ``ydot = trace(adjugate(a) @ adot)``, Jacobi's formula.

    Shapes: ``a``: (..., n, n); ``y``, ``ybar``: (...).
    """
    return over_matrices(ybar) * adjoint(adjugate(a, y))


matrix_rule(np.linalg.det, det_push, det_pull)

LIMIT = 1e16  # of the squared condition number: beyond, an inverse has few digits


def adjugate(a, y):
    """Return ``y * inv(a)``, where ``y`` is the determinant; also where there is no inverse."""
    if all_true(y != 0):
        inverse = np.linalg.inv(a)
        if all_true(sum_of_squares(value(a)) * sum_of_squares(value(inverse)) < LIMIT):
            return over_matrices(y) * inverse
    finite = np.all(np.isfinite(value(a)), axis=(-2, -1))
    if all_true(finite):
        return adjugate_by_svd(a)
    kept = over_matrices(finite)  # LAPACK raises where NumPy's determinant is NaN
    return np.where(kept, adjugate_by_svd(np.where(kept, a, 0)), np.nan)


def all_true(x):
    """Return ``np.all(x)``, which takes longer than all else does of one small matrix."""
    return np.all(x) if getattr(x, "ndim", 0) else bool(x)


def sum_of_squares(a):
    """Sum the squares of the entries of each matrix in a stack."""
    if type(a) is np.ndarray and a.ndim == 2:
        return float(np.vdot(a, a).real)  # which warns of no overflow
    return np.sum(np.abs(a) ** 2, axis=(-2, -1))


def entry_sum(a):
    return np.sum(np.abs(a), axis=(-2, -1))


@primitive
def adjugate_by_svd(a):
    """Transposed cofactors of each matrix in a stack, with no division.

    From ``a = u @ diag(s) @ vh``: ``det(u) * det(vh) * vh^H @ diag(p) @ u^H``, where ``p`` are
    the products of all singular values but one.
    """
    u, s, vh, unit = svd_and_unit(a)
    products = products_without(s, np.eye(np.shape(s)[-1], dtype=bool))
    return unit * (adjoint(vh) * np.expand_dims(products, -2)) @ adjoint(u)


def svd_and_unit(a):
    u, s, vh = np.linalg.svd(a)
    return u, s, vh, over_matrices(np.linalg.det(u) * np.linalg.det(vh))


def products_without(s, masks):
    """Return the product of ``s`` over where each mask is False."""
    s = np.reshape(s, (*np.shape(s)[:-1], *(1,) * (np.ndim(masks) - 1), np.shape(s)[-1]))
    return np.prod(np.where(masks, 1, s), axis=-1)


def adjugate_of_diagonal(x, s):
    """Derivative of the adjugate of ``diag(s)`` along ``x``; it is its own transpose.

    Off the diagonal it is ``-x[i, j]``, on it the sum of the other ``x[j, j]``, each times
    the product of all of ``s`` but i and j.
    """
    eye = np.eye(np.shape(s)[-1], dtype=bool)
    pairs = products_without(s, eye[:, None] | eye)
    pairs = np.where(eye, 0, pairs)
    return diagonal_matrix((pairs @ as_column(diagonal_of(x)))[..., 0]) - pairs * x


def adjugate_push(adot, _y, a):
    u, s, vh, unit = svd_and_unit(a)
    inner = adjugate_of_diagonal(adjoint(u) @ adot @ adjoint(vh), s)
    return unit * adjoint(vh) @ inner @ adjoint(u)


def adjugate_pull(ybar, _y, a):
    u, s, vh, unit = svd_and_unit(a)
    inner = adjugate_of_diagonal(vh @ (np.conj(unit) * ybar) @ u, s)
    return u @ inner @ vh


matrix_rule(adjugate_by_svd, adjugate_push, adjugate_pull)


def slogdet_push(adot, y, a):
    inverse = inverse_or_nan(a, y.sign)
    z = np.sum(np.swapaxes(inverse, -1, -2) * adot, axis=(-2, -1))
    turn = 1j * np.imag(z) * y.sign if np.iscomplexobj(y.sign) else ZeroTangent()
    return Tangent(type(y), turn, np.real(z))


def slogdet_pull(ybar, y, a):
    """Sign (or phase) and logarithm of the determinant of each matrix in a stack.

    With ``z = trace(inv(a) @ adot)``: the logarithm moves by ``Re z``, the phase by
    ``1j * Im(z) * sign``.

    Shapes: ``a``: (..., n, n); ``sign``, ``logabsdet``: (...).
    """
    zbar = ybar.logabsdet
    if np.iscomplexobj(y.sign):
        zbar = zbar + 1j * np.imag(ybar.sign * np.conj(y.sign))
    return over_matrices(zbar) * adjoint(inverse_or_nan(a, y.sign))


matrix_rule(np.linalg.slogdet, slogdet_push, slogdet_pull)


@composed(np.linalg.cond, value="own")
def cond(x, p=None):
    if p in (None, 2, -2):
        s = np.linalg.svd(x, compute_uv=False)
        return s[..., 0] / s[..., -1] if p != -2 else s[..., -1] / s[..., 0]
    inverse = np.linalg.inv(x)
    return np.linalg.norm(x, p, (-2, -1)) * np.linalg.norm(inverse, p, (-2, -1))
