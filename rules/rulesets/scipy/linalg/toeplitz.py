"""Toeplitz and circulant matrices: systems and products.

A Toeplitz matrix is known by the values on its diagonals, from the upper right corner to the
lower left one: ``a[i, j] = values[i - j + columns - 1]``.
"""

import numpy as np
from scipy import linalg

from .... import array_of, composed, primitive, value
from .systems import as_columns, linear_system


def column_and_row(c_or_cr):
    return c_or_cr if isinstance(c_or_cr, tuple) else (c_or_cr, np.conj(c_or_cr))


def diagonal_values(c_or_cr):
    c, r = map(array_of, column_and_row(c_or_cr))
    r, c = r[..., :0:-1], c
    stack = np.broadcast_shapes(np.shape(c)[:-1], np.shape(r)[:-1])
    parts = [np.broadcast_to(x, (*stack, np.shape(x)[-1])) for x in (r, c)]
    return np.concatenate(parts, axis=-1)


def toeplitz_product(values, y, **_):
    n = np.shape(y)[-2]
    return values[..., np.arange(n)[:, None] - np.arange(n) + n - 1] @ y


def toeplitz_pull(w, y, **_):
    """Sum over the diagonals of ``w @ y^H``.

    With its rows in reverse, each one entry longer than ``values``, diagonals stand in columns.
    """
    n = np.shape(y)[-2]
    products = np.flip(w @ np.conj(np.swapaxes(y, -1, -2)), -2)
    stack = np.shape(products)[:-2]
    longer = np.concatenate([products, np.zeros_like(products)], axis=-1)
    flat = np.reshape(longer, (*stack, 2 * n * n))[..., : n * (2 * n - 1)]
    return np.flip(np.sum(np.reshape(flat, (*stack, n, 2 * n - 1)), axis=-2), -1)


@primitive
def toeplitz_solve(values, b, *, check_finite):
    n = (np.shape(values)[-1] + 1) // 2
    c, r = values[..., n - 1 :], values[..., n - 1 :: -1]
    return linalg.solve_toeplitz((c, r), b, check_finite=check_finite)


linear_system(
    toeplitz_solve,
    toeplitz_product,
    toeplitz_pull,
    lambda values, **options: (np.conj(np.flip(values, -1)), options),
)


@composed(linalg.solve_toeplitz)
def solve_toeplitz(c_or_cr, b, check_finite=True):
    c, r = value(column_and_row(c_or_cr))
    if np.shape(c)[-1:] != np.shape(r)[-1:]:
        return linalg.solve_toeplitz((c, r), value(b))  # which is an error
    return toeplitz_solve(diagonal_values(c_or_cr), b, check_finite=check_finite)


@composed(linalg.matmul_toeplitz, value="own")
def matmul_toeplitz(c_or_cr, x):
    """As SciPy does: a corner of a circulant matrix, which the Fourier transform diagonalizes."""
    c, r = column_and_row(c_or_cr)
    vector = np.ndim(x) == 1
    x, rows = as_columns(x, vector), np.shape(c)[-1]
    around = np.roll(diagonal_values((c, r)), rows, axis=-1)
    n = np.shape(around)[-1]
    if any(map(np.iscomplexobj, (around, x))):
        y = np.fft.ifft(np.fft.fft(around)[..., None] * np.fft.fft(x, n, axis=-2), axis=-2)
    else:
        moved = np.fft.rfft(around)[..., None] * np.fft.rfft(x, n, axis=-2)
        y = np.fft.irfft(moved, n, axis=-2)
    y = y[..., :rows, :]
    return y[..., 0] if vector else y


@composed(linalg.solve_circulant, value="own")
def solve_circulant(c, b, singular="raise", tol=None, caxis=-1, baxis=0, outaxis=0):
    """Division of transforms; under ``singular="lstsq"`` without what is not above ``tol``."""
    real = not (np.iscomplexobj(c) or np.iscomplexobj(b))
    c, b = np.atleast_1d(c), np.atleast_1d(b)
    moved = np.fft.fft(np.moveaxis(c, caxis, -1))
    sizes = np.abs(value(moved))
    if tol is None:
        largest = np.max(sizes, axis=-1, keepdims=True, initial=0)
        tol = largest * np.shape(moved)[-1] * np.finfo(np.float64).eps
    zero = sizes <= tol
    quotient = np.fft.fft(np.moveaxis(b, baxis, -1)) / np.where(zero, 1, moved)
    y = np.fft.ifft(np.where(zero, 0, quotient))
    return np.moveaxis(np.real(y) if real else y, -1, outaxis)
