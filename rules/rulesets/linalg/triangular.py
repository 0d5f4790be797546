"""Triangular matrices, block by block: NumPy has no routines that leave out their zeros.

Plain arrays only: these are primitives without rules, so that a recording keeps each as one step.
Blocks turn most of the work into products, which are faster than factorizations. Shapes: (..., n,
n).
"""

import numpy as np

from ....config.thresholds import ONE_SOLVE, ROWS_OF_A_BLOCK, SOLVED_WHOLE
from ... import primitive
from ..arrays.products import adjoint


def are_plain(*arrays):
    """Say whether all arguments are plain arrays, or stand for plain arrays in a recording."""
    return all(type(x) is np.ndarray or getattr(x, "records", False) for x in arrays)


def quarters(a):
    """Return the blocks of ``a``: upper left, upper right, lower left, lower right."""
    h = np.shape(a)[-1] // 2
    return a[..., :h, :h], a[..., :h, h:], a[..., h:, :h], a[..., h:, h:]


@primitive
def inverse_of_lower(a):
    """Return the inverse of a lower triangle, by rows of blocks.

    From ``[b, c] @ [y, z] = [0, 1]``: ``z = solve(c, [-b @ y, 1])``. To multiply by ``inv(c)``
    instead loses digits.
    """
    n = np.shape(a)[-1]
    if n <= ONE_SOLVE:
        return np.linalg.inv(a)
    y = np.zeros_like(a)
    eye = np.eye(ROWS_OF_A_BLOCK, dtype=a.dtype)
    for start in range(0, n, ROWS_OF_A_BLOCK):
        rows = slice(start, min(start + ROWS_OF_A_BLOCK, n))
        size = rows.stop - start
        rest = np.empty((*np.shape(a)[:-2], size, rows.stop), a.dtype)
        np.matmul(-a[..., rows, :start], y[..., :start, :start], out=rest[..., :start])
        rest[..., start:] = eye[:size, :size]
        y[..., rows, : rows.stop] = np.linalg.solve(a[..., rows, rows], rest)
    return y


@primitive
def solve_by_blocks(a, b):
    """Return ``solve(a, b)`` for matrices ``b``, faster where a block of ``a`` is zero."""
    if np.shape(a)[-1] > SOLVED_WHOLE:
        first, above, below, last = quarters(a)
        h = np.shape(first)[-1]
        if not (np.any(above[..., 0, -1]) or np.any(above)):
            y_first = solve_by_blocks(first, b[..., :h, :])
            y_last = solve_by_blocks(last, b[..., h:, :] - below @ y_first)
            return np.concatenate([y_first, y_last], axis=-2)
        if not (np.any(below[..., -1, 0]) or np.any(below)):
            y_last = solve_by_blocks(last, b[..., h:, :])
            y_first = solve_by_blocks(first, b[..., :h, :] - above @ y_last)
            return np.concatenate([y_first, y_last], axis=-2)
    return np.linalg.solve(a, b)


def lower_part(a, b, y):
    """Write the lower triangle of ``a @ b`` to ``y``, and zeros above, for a lower triangle ``b``.

    The upper triangle of ``b`` may hold anything where ``a`` is an upper triangle.
    """
    n = np.shape(a)[-1]
    above = ~np.tri(ROWS_OF_A_BLOCK, dtype=bool)
    for start in range(0, n, ROWS_OF_A_BLOCK):
        columns = slice(start, start + ROWS_OF_A_BLOCK)
        np.matmul(a[..., start:, start:], b[..., start:, columns], out=y[..., start:, columns])
        y[..., :start, columns] = 0
        corner = y[..., columns, columns]
        size = np.shape(corner)[-1]
        np.copyto(corner, 0, where=above[:size, :size])
    return y


def halve_diagonal(x):
    diagonal = np.einsum("...ii->...i", x)
    diagonal /= 2
    return x


@primitive
def cholesky_pull(y, ybar):
    """Pull ``ybar`` through ``y @ y^H = a``, where only the lower triangle of ``a`` is read.

    The products are those of the rule. To halve the pull itself, as Murray (2016) does, is
    faster still, and loses all digits where ``a`` is nearly singular.
    """
    return pull_by_inverse(y, inverse_of_lower(y), ybar)


def pull_by_inverse(y, inverse, ybar):
    inner = np.empty(np.shape(y), np.result_type(y, ybar))
    inner = halve_diagonal(lower_part(adjoint(y), ybar, inner))
    whole = inner + adjoint(inner)
    # The arrays are written to again: new ones would take as long as a product.
    moved = lower_part(whole, inverse, inner)
    return halve_diagonal(lower_part(adjoint(inverse), moved, whole))
