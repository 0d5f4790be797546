"""Equal eigenvalues, and equal singular values: what has a derivative there, and what is NaN.

Equal is what differs by no more than rounding. The vectors of equal values are any basis
of a space. A ``Masked`` cotangent tells which of them a result was computed from: the others
may be any, and what depends on these is NaN.
"""

import numpy as np

from ... import AbstractZero, Masked, dense, is_traced
from ..arrays.quotients import not_smooth, quotient
from .systems import over_matrices


def rounding(w):
    """Return how far LAPACK may be off the values of each matrix, and what made the matrix."""
    none = {} if np.shape(w)[-1] else {"initial": 0}
    largest = np.abs(w).max(axis=-1, keepdims=True, **none)
    return 4 * np.shape(w)[-1] * np.finfo(w.dtype).eps * largest


def gaps_of(w):
    """Return ``w[j] - w[i]`` for each i and j."""
    return np.expand_dims(w, -2) - np.expand_dims(w, -1)


def equal_pairs(w):
    """Say for each i and j, two numbers, whether ``w[i]`` and ``w[j]`` are equal."""
    close = np.abs(gaps_of(w)) <= np.expand_dims(rounding(w), -1)
    return close & ~np.eye(np.shape(w)[-1], dtype=bool)


def over_gaps(x, w):
    """Return ``x[i, j] / (w[j] - w[i])`` off the diagonal, and 0 on it.

    Where two of ``w`` are equal it is infinite, unless that entry of ``x`` is 0: what does not
    depend on the eigenvectors of a repeated eigenvalue has a derivative.
    """
    if type(x) is type(w) is np.ndarray:
        gaps = w[..., None, :] - w[..., None]
        largest = np.maximum.reduce(np.abs(w), -1, initial=0.0)[..., None, None]
        close = np.abs(gaps) <= 4 * w.shape[-1] * np.finfo(w.dtype).eps * largest
        if np.count_nonzero(close) == w.size:  # none is equal but to itself, as nearly always
            gaps[close] = 1
            return np.where(close, 0, x / gaps)
    eye = np.eye(np.shape(w)[-1], dtype=bool)
    gaps = np.where(equal_pairs(w), 0, gaps_of(w))
    return quotient(np.where(eye, 0, x), np.where(eye, 1, gaps))


# ---- of the vectors -------------------------------------------------------------------------


def told_used(vbar, v):
    """Return ``vbar`` as plain numbers, and which of its entries anything was computed from."""
    if type(vbar) is Masked:
        return vbar.value, vbar.alive
    return dense(vbar, v), np.full(np.shape(v), not isinstance(vbar, AbstractZero))


def that_weigh(used, vbar, wbar):
    """Leave out of ``used`` vectors that weigh nothing, nor do their values, for good."""
    if is_traced(vbar) or is_traced(wbar):
        return used
    return used & ((vbar != 0) | np.expand_dims(wbar != 0, -2))


def undetermined(w, used):
    """Say of each matrix whether an eigenvector is used whose eigenvalue another one has.

    What was computed from it may not depend on which basis of the space was taken, such as
    ``(v * f(w)) @ v.T``; but its derivative cannot be had from its cotangent alone.
    """
    return np.any(equal_pairs(w) & np.expand_dims(used, -1), axis=(-2, -1))


def nan_where(undetermined, x):
    """Return a stack of matrices with NaN for those that are undetermined."""
    return np.where(over_matrices(undetermined), np.nan, x)


# ---- of the values alone --------------------------------------------------------------------


def has_equal(w):
    """Say of each matrix whether two of its eigenvalues are equal."""
    return over_matrices(np.any(equal_pairs(w), axis=(-2, -1)))


def is_uniform(wbar):
    """Say whether all eigenvalues have one and the same constant weight: their sum is a trace."""
    return not is_traced(wbar) and bool(np.all(wbar == wbar[..., :1]))


def of_values(w, wbar, *vectors):
    """Return ``wbar`` and the vectors of the values, to be multiplied, as far as they are smooth.

    Weights that vary have no derivative where ``w`` are equal: how they would differ if ``w`` did,
    nobody knows then. Vectors that weigh nothing play no part.
    """
    if not any(map(is_traced, (wbar, *vectors))):
        return wbar, *vectors
    equal = np.any(equal_pairs(w), axis=-1)
    if type(equal) is np.ndarray and not equal.any():
        return wbar, *vectors
    left_out = np.expand_dims(equal & (wbar == 0), -2)
    wbar = not_smooth(wbar, equal) if is_traced(wbar) else wbar
    return wbar, *[np.where(left_out, 0, v) for v in vectors]
