"""Convolutions and correlations in one dimension: linear in each of the two."""

import numpy as np

from ... import Pattern, bilinear_rule, composed, matrix
from .products import conj
from .shapes import pad_zeros


def as_full(ybar, a, v, mode):
    """Put ``ybar`` where the entries of this mode are in the full convolution."""
    short, long = sorted((np.size(a), np.size(v)))
    same, valid = (short - 1) // 2, short - 1
    start = {"full": 0, "same": same, "valid": valid, 2: 0, 1: same, 0: valid}[mode]
    return pad_zeros(ybar, (start, short + long - 1 - start - np.size(ybar)))


# y_n = sum_m a_m v_{n - m}
def convolve_left(ybar, a, v, mode="full"):
    return np.correlate(as_full(ybar, a, v, mode), np.ravel(v), "valid")


def convolve_right(ybar, a, v, mode="full"):
    return np.correlate(as_full(ybar, a, v, mode), np.ravel(a), "valid")


def convolve_pattern(a, v, mode="full"):
    if type(a) is type(v):
        return NotImplemented
    x, kernel = (a, np.ravel(v)) if type(a) is Pattern else (v, np.ravel(a))
    full = x.size + kernel.size - 1
    taps = np.flatnonzero(kernel != 0)
    places = np.arange(x.size)[:, None] + taps
    sources = np.broadcast_to(np.arange(x.size)[:, None], places.shape)
    whole = Pattern((full,), matrix(places, sources, (full, x.size)) @ x.rows)
    ones = np.ones(x.size), np.ones(kernel.size)
    n = np.convolve(*ones, mode).size
    first = 0 if mode == "full" else (full - n) // 2
    return whole.taken(whole.ids[first : first + n])


bilinear_rule(np.convolve, convolve_left, convolve_right, pattern=convolve_pattern)


@composed(np.correlate)
def correlate(a, v, mode="valid"):
    if np.size(a) >= np.size(v):
        return np.convolve(a, conj(np.flip(v)), mode)
    return np.copy(conj(np.flip(np.convolve(v, conj(np.flip(a)), mode))))
