"""The phase of complex eigenvectors and singular vectors, which LAPACK chooses.

With ``v`` also ``v * exp(1j * t)`` are eigenvectors, and the formulas let ``t`` be what it likes.
LAPACK makes one entry of each column real, its pivot: in a ``row``, unless it is tiny there, or
the ``LARGEST``. To ``vdot`` comes ``1j * v * rate``, with the rate that keeps the pivot real.
"""

import numpy as np

from .gaps import nan_where, undetermined

LARGEST = None


def pivots_of(v, row):
    """Return a mask of the entries that LAPACK makes real."""
    rows = np.expand_dims(np.arange(np.shape(v)[-2]), -1)
    if row is LARGEST:
        sizes = np.where(np.imag(v) == 0, np.abs(v), -1)
        return rows == np.argmax(sizes, axis=-2, keepdims=True)
    return (rows == row % len(rows)) & (np.abs(v) > np.sqrt(np.finfo(v.dtype).eps))


def pivot_entries(v, pivots):
    entries = np.sum(np.where(pivots, np.real(v), 0), axis=-2)
    return np.where(np.any(pivots, axis=-2), entries, 1)


def column_pairing(v, vbar):
    """Return ``v_j^H @ vbar_j`` for each column."""
    return np.sum(np.conj(v) * vbar, axis=-2)


def keep_phase(vdot, v, row):
    """Return ``vdot`` turned so that the pivots of ``v`` stay real."""
    if not np.iscomplexobj(v):
        return vdot
    pivots = pivots_of(v, row)
    rate = -np.sum(np.where(pivots, np.imag(vdot), 0), axis=-2) / pivot_entries(v, pivots)
    return vdot + 1j * v * np.expand_dims(rate, -2)


def keep_phase_transpose(vbar, v, row):
    if not np.iscomplexobj(v):
        return vbar
    pivots = pivots_of(v, row)
    rate_bar = np.imag(column_pairing(v, vbar)) / pivot_entries(v, pivots)
    return vbar + np.where(pivots, np.expand_dims(-1j * rate_bar, -2), 0)


def any_basis(vbar, used, w, v, row):
    """Return the cotangent of LAPACK's vectors as that of any; NaN if it depends on which."""
    unknown = undetermined(w, np.any(used, axis=-2))
    return nan_where(unknown, keep_phase_transpose(vbar, v, row))
