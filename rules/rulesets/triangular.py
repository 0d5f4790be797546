"""Triangular matrices, block by block: NumPy has no routines that leave out their zeros.

Plain arrays only. Halving a matrix turns most of the work into products, which are faster than
factorizations. Shapes: (..., n, n).
"""

import numpy as np

from .numpy_products import adjoint

SMALL = 50  # rows; below, one call of LAPACK is as fast
SMALLEST = 32


def are_plain(*arrays):
    return all(type(x) is np.ndarray for x in arrays)


def quarters(a):
    """Return the blocks of ``a``: upper left, upper right, lower left, lower right."""
    h = np.shape(a)[-1] // 2
    return a[..., :h, :h], a[..., :h, h:], a[..., h:, :h], a[..., h:, h:]


def inverse_of_lower(a):
    """Return the inverse of a lower triangle; above it ``a`` is not read, if it is large.

    From ``[[a, 0], [b, c]]``: ``[[inv(a), 0], [-inv(c) @ b @ inv(a), inv(c)]]``.
    """
    if np.shape(a)[-1] <= SMALLEST:
        return np.linalg.inv(a)
    first, _, below, last = quarters(a)
    y = np.zeros_like(a)
    y_first, _, y_below, y_last = quarters(y)
    y_first[...], y_last[...] = inverse_of_lower(first), inverse_of_lower(last)
    np.negative(y_last @ below @ y_first, out=y_below)
    return y


def solve_by_blocks(a, b):
    """Return ``solve(a, b)`` for matrices ``b``, faster where a block of ``a`` is zero."""
    if np.shape(a)[-1] > SMALL:
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


def cholesky_pull(y, ybar, half_lower, inverse=None):
    """Pull ``ybar`` through ``y @ y^H = a``: return the hermitian ``abar``.

    Where ``a`` is ``[[d, .], [e, f]]`` and ``y`` is ``[[p, 0], [q, r]]``: ``p`` is the factor of
    ``d``, ``q = e @ inv(p)^H``, and ``r`` is the factor of ``f - q @ q^H``.

    Source: Murray (2016), differentiation of the Cholesky decomposition, section 3.3.
    """
    if np.shape(y)[-1] <= SMALL:
        inverse = inverse_of_lower(y) if inverse is None else inverse
        moved = adjoint(inverse) @ half_lower(adjoint(y) @ ybar) @ inverse
        return (moved + adjoint(moved)) / 2
    p, _, q, r = quarters(y)
    pbar, _, qbar, rbar = quarters(ybar)
    p_inverse = inverse_of_lower(p) if inverse is None else quarters(inverse)[0]
    r_inverse = None if inverse is None else quarters(inverse)[3]
    abar = np.empty_like(ybar)
    dbar, upper, ebar, fbar = quarters(abar)
    fbar[...] = cholesky_pull(r, rbar, half_lower, r_inverse)
    qbar = qbar - 2 * (fbar @ q)
    np.matmul(qbar, p_inverse / 2, out=ebar)
    upper[...] = adjoint(ebar)
    dbar[...] = cholesky_pull(p, pbar - 2 * (upper @ q), half_lower, p_inverse)
    return abar
