"""Colorings of sparse matrices: columns that no row sees two of can share one direction.

Source: Curtis, Powell and Reid (1974), on the estimation of sparse Jacobian matrices.
"""

from typing import Any

import numpy as np


def color_columns(pattern: Any) -> np.ndarray:
    """Return a color for each column of a sparse matrix, such that no row has a color twice.

    Columns with many entries come first; each takes the first color that is free in all of
    its rows. A column with no entry has color -1.

    Parameters
    ----------
    pattern : scipy.sparse array
        Of shape (m, n).

    Returns
    -------
    array of int
        Of shape (n,).
    """
    columns = pattern.tocsc()
    starts, rows = columns.indptr.tolist(), columns.indices.tolist()
    colors = np.full(pattern.shape[1], -1)
    taken = [0] * pattern.shape[0]  # by row: a bit for each color
    for j in np.argsort(-np.diff(columns.indptr), kind="stable").tolist():
        here = rows[starts[j] : starts[j + 1]]
        if not here:
            break
        used = 0
        for i in here:
            used |= taken[i]
        free = ~used & (used + 1)  # the lowest bit that is not set
        colors[j] = free.bit_length() - 1
        for i in here:
            taken[i] |= free
    return colors


def color_symmetric(pattern: Any) -> tuple[np.ndarray, np.ndarray]:
    """Color the columns of a symmetric matrix, and say which columns stand alone.

    A column with very many entries gets a color to itself. Its row is then known too, by
    symmetry, so the other columns need not differ in it.

    Returns
    -------
    colors : array of int
        Of shape (n,).
    alone : array of bool
        Which columns have a color to themselves; what is known of their rows is in them.
    """
    n = pattern.shape[0]
    degrees = np.diff(pattern.tocsr().indptr)
    order = np.argsort(-degrees, kind="stable")
    # With k columns alone, at least as many colors more are needed as the next row has entries.
    bounds = np.arange(n) + degrees[order]
    k = int(np.argmin(bounds)) if n else 0
    alone = np.zeros(n, bool)
    alone[order[:k]] = True
    others = pattern.tocoo()
    kept = ~alone[others.row] & ~alone[others.col]
    rest = type(pattern)((others.data[kept], (others.row[kept], others.col[kept])), pattern.shape)
    colors = color_columns(rest)
    first = colors.max(initial=-1) + 1
    colors[order[:k]] = first + np.arange(k)
    # A column that meets only those alone needs no direction of its own.
    return colors, alone
