"""Systems with banded matrices, and their Cholesky factors.

A band has the diagonals of a matrix as rows: ``ab[above + i - j, j]`` is ``a[i, j]``. Shapes:
``ab``: (below + above + 1, n). Of a Hermitian matrix one half is stored; here it is the lower
one, the "lower form", which is a band with nothing above.
"""

import numpy as np
from scipy import linalg

from .....config.thresholds import BANDED_COLUMNS
from .... import composed, primitive, seen
from ...arrays.products import adjoint
from .systems import linear_system


def places(height, n, start):
    """Return ``j + r - start`` for row r and column j, and where that is within the matrix."""
    index = np.arange(n) + np.arange(height)[:, None] - start
    inside = (index >= 0) & (index < n)
    return np.where(inside, index, 0), inside


def transpose_band(ab, below, above):
    """Return the band of the transpose, with ``above`` diagonals below and ``below`` above."""
    height, n = np.shape(ab)[-2:]
    columns, inside = places(height, n, below)
    rows = height - 1 - np.arange(height)[:, None]
    return np.where(inside, ab[..., rows, columns], 0)


def band_product(ab, y, *, below, above, **_):
    """Multiply a band and columns; each row of the transpose meets ``y``, shifted."""
    at = transpose_band(ab, below, above)
    columns, _ = places(*np.shape(at)[-2:], below)
    return np.einsum("...rj,...rjk->...jk", at, y[..., columns, :])


def band_pull(w, y, *, below, above, **_):
    """Return the band of ``w @ y^H``."""
    rows, inside = places(below + above + 1, np.shape(y)[-2], above)
    products = np.einsum("...rjk,...jk->...rj", w[..., rows, :], np.conj(y))
    return np.where(inside, products, 0)


def band_adjoint(ab, *, below, above, **options):
    turned = np.conj(transpose_band(ab, below, above))
    return turned, {"below": above, "above": below, **options}


@primitive
def banded_solve(ab, b, *, below, above, check_finite):
    return linalg.solve_banded((below, above), ab, b, check_finite=check_finite)


linear_system(banded_solve, band_product, band_pull, band_adjoint)


@composed(linalg.solve_banded)
def solve_banded(l_and_u, ab, b, check_finite=True):
    below, above = l_and_u
    return banded_solve(ab, b, below=below, above=above, check_finite=check_finite)


# ---- Hermitian matrices ---------------------------------------------------------------------


def other_form(ab, lower):
    """Turn the lower form into the upper one, or the other way around."""
    below = np.shape(ab)[-2] - 1
    return np.conj(transpose_band(ab, below if lower else 0, 0 if lower else below))


def whole_band(ab, lower):
    """Return all diagonals of a Hermitian matrix; of the main one the real part is read."""
    low, high = (ab, other_form(ab, True)) if lower else (other_form(ab, False), ab)
    return np.concatenate([high[..., :-1, :], np.real(low[..., :1, :]), low[..., 1:, :]], axis=-2)


def hermitian_product(ab, y, *, lower, **_):
    below = np.shape(ab)[-2] - 1
    return band_product(whole_band(ab, lower), y, below=below, above=below)


def hermitian_pull(w, y, *, lower, height, **_):
    part = {"below": height - 1, "above": 0}
    low = band_pull(w, y, **part) + band_pull(y, w, **part)
    low = np.concatenate([np.real(low[..., :1, :]) / 2, low[..., 1:, :]], axis=-2)
    return low if lower else other_form(low, True)


@primitive
def hermitian_solve(ab, b, *, lower, height, check_finite):
    return linalg.solveh_banded(ab, b, lower=lower, check_finite=check_finite)


linear_system(
    hermitian_solve, hermitian_product, hermitian_pull, lambda ab, **options: (ab, options)
)


@composed(linalg.solveh_banded)
def solveh_banded(ab, b, lower=False, check_finite=True):
    return hermitian_solve(ab, b, lower=lower, height=np.shape(ab)[-2], check_finite=check_finite)


@composed(linalg.cho_solve_banded, value="own")
def cho_solve_banded(cb_and_lower, b):
    cb, lower = cb_and_lower
    low, high = (cb, other_form(cb, True)) if lower else (other_form(cb, False), cb)
    below, solve = np.shape(cb)[-2] - 1, seen(linalg.solve_banded)
    return solve((0, below), high, solve((below, 0), low, b))


def blocks_of(low, size, further):
    """Return blocks of the matrix with this lower form, so many blocks below the diagonal.

    Shapes: ``low``: (..., height, n); the blocks (..., n // size, size, size).
    """
    height, n = np.shape(low)[-2:]
    columns = np.reshape(np.arange(n), (-1, 1, size))
    rows = np.arange(size)[:, None] - np.arange(size) + further * size
    inside = (rows >= 0) & (rows < height)
    return np.where(inside, low[..., np.where(inside, rows, 0), columns], 0)


@composed(linalg.cholesky_banded, value="own")
def cholesky_banded(ab, lower=False):
    """The factor by blocks of columns, which reach the next block only: linear in the columns."""
    low = ab if lower else other_form(ab, False)
    height, n = np.shape(low)[-2:]
    size = max(height - 1, min(n, BANDED_COLUMNS))
    _, inside = places(height, n, 0)
    # Ones on the diagonal fill the last block up.
    rest = np.zeros((*np.shape(low)[:-1], -n % size)) + np.eye(height, 1)
    low = np.concatenate([np.where(inside, low, 0), rest], axis=-1)
    on, below = blocks_of(low, size, 0), blocks_of(low, size, 1)
    factor, solve = seen(linalg.cholesky), seen(linalg.solve_triangular)
    blocks = []
    taken = 0
    for i in range(np.shape(on)[-3]):
        corner = factor(on[..., i, :, :] - taken, lower=True)
        next_block = adjoint(solve(corner, adjoint(below[..., i, :, :]), lower=True))
        taken = next_block @ adjoint(next_block)
        blocks.append(np.concatenate([corner, next_block], axis=-2))
    stacked = np.stack(blocks, axis=-3)
    block, column = np.divmod(np.arange(n), size)
    y = stacked[..., block, column + np.arange(height)[:, None], column]
    y = y if lower else other_form(y, True)
    _, inside = places(height, n, 0 if lower else height - 1)
    return np.where(inside, y, ab)  # SciPy leaves there what it was given
