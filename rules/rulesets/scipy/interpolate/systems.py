"""Sparse linear systems given by their entries: those that define the coefficients of splines."""

import numpy as np
from scipy import sparse
from scipy.linalg import solve_banded
from scipy.sparse import linalg

from .....config.thresholds import NARROW_BAND
from .... import AbstractZero, Block, NoTangent, block_rule, dtype_of, pair_rule, primitive, value
from ...arrays.indexing import scatter


def or_one(x):
    """``x``, and 1 where it is 0, to divide by."""
    return np.where(value(x) == 0, 1.0, x)


def scattered(x, index, n):
    """Add the rows of ``x`` into ``n`` rows of zeros, at ``index``."""
    return scatter(x, (n, *np.shape(x)[np.ndim(index) :]), dtype_of(value(x)), index)


def matrix_product(entries, x, rows, columns, n):
    """``a @ x``, where ``a`` has n rows and ``entries`` at ``(rows, columns)``."""
    return scattered(entries[:, None] * x[columns], rows, n)


@primitive
def solution(entries, b, rows, columns):
    """Solve ``a @ y = b``, where ``a`` is square, with ``entries`` added at ``(rows, columns)``.

    Shapes: ``entries``, ``rows``, ``columns``: (m,); ``b``, ``y``: (n, r).
    """
    n = len(b)
    above, below = np.max(columns - rows), np.max(rows - columns)
    if min(above, below) >= 0 and above + below <= NARROW_BAND:
        band = np.zeros((above + below + 1, n), entries.dtype)
        np.add.at(np.reshape(band, -1), (above + rows - columns) * n + columns, entries)
        return solve_banded((below, above), band, b, check_finite=False)
    a = sparse.csc_array((entries, (rows, columns)), shape=(n, n))
    a = a.astype(np.result_type(a.dtype, b.dtype))
    return linalg.splu(a).solve(np.ascontiguousarray(b, a.dtype))


@block_rule(solution)
def solution_block(entries, b, rows, columns):
    if type(entries) is Block:
        return NotImplemented
    return b.in_columns(lambda b: solution(entries, b, rows, columns))


@pair_rule(solution)
def solution_pair(solution, entries, b, rows, columns):
    """From ``adot @ y + a @ ydot = bdot``: ``ydot = solve(a, bdot - adot @ y)``."""
    y = solution(entries, b, rows, columns)

    def solution_pushforward(entriesdot, bdot, _2, _3):
        if not isinstance(entriesdot, AbstractZero):
            bdot = bdot - matrix_product(entriesdot, y, rows, columns, np.shape(b)[0])
        return bdot if isinstance(bdot, AbstractZero) else solution(entries, bdot, rows, columns)

    def solution_pullback(ybar):
        bbar = solution(np.conj(entries), ybar, columns, rows)
        entriesbar = -np.sum(bbar[rows] * np.conj(y)[columns], axis=-1)
        return entriesbar, bbar, NoTangent(), NoTangent()

    return y, solution_pushforward, solution_pullback


def solved(parts, b):
    """Solve a system given by parts ``(rows, columns, entries)``, for ``b`` with any axes behind.

    Each part has one entry for each row, or one number for all of them.
    """
    rows, columns, entries = [], [], []
    for row, column, entry in parts:
        row, column = np.atleast_1d(row), np.atleast_1d(column)
        rows.append(row)
        columns.append(column)
        entries.append(np.broadcast_to(entry, row.shape))
    shape = np.shape(b)
    flat = np.reshape(b, (shape[0], -1)) if np.size(b) else np.zeros((shape[0], 0))
    if not np.size(b):
        return np.zeros(shape)
    entries = np.concatenate(entries)
    y = solution(entries, flat, np.concatenate(rows), np.concatenate(columns))
    return np.reshape(y, shape)
