"""Convolutions and correlations in one dimension: linear in each of the two."""

import numpy as np

from ... import Block, Pattern, bilinear_rule, composed, matrix
from .products import conj
from .shapes import pad_zeros

MODES = {"valid": 0, "same": 1, "full": 2}


def part_of_full(m, n, mode):
    """Return where the entries of this mode begin and end in the full convolution."""
    short, long = sorted((m, n))
    k = MODES.get(mode, mode)
    start = (short - 1, (short - 1) // 2, 0)[k]
    return start, start + (long - short + 1, long, short + long - 1)[k]


def as_full(ybar, a, v, mode):
    """Put ``ybar`` where the entries of this mode are in the full convolution."""
    m, n = np.size(a), np.size(v)
    start, end = part_of_full(m, n, mode)
    return pad_zeros(ybar, (start, m + n - 1 - end))


# y_n = sum_m a_m v_{n - m}
def convolve_left(ybar, a, v, mode="full"):
    return np.correlate(as_full(ybar, a, v, mode), np.ravel(v), "valid")


def convolve_right(ybar, a, v, mode="full"):
    return np.correlate(as_full(ybar, a, v, mode), np.ravel(a), "valid")


def convolve_block(a, v, mode="full"):
    """All directions at once: a product with a Toeplitz matrix, or one signal after the other.

    Beyond the ends of the longer one are zeros, of which infinities in the shorter make NaN.
    """
    x, kernel = (a, v) if type(a) is Block else (v, a)
    if type(kernel) is not np.ndarray or type(x.values) is not np.ndarray or x.rank != 1:
        return NotImplemented
    count, n = x.values.shape
    m = kernel.size
    full = m + n - 1
    finite = np.isfinite(x.values if n <= m else kernel)
    if min(count, m, n) == 0 or np.count_nonzero(finite) < finite.size:
        return NotImplemented
    if n <= m:  # row j: the kernel, j places later
        padded = np.zeros(m + 2 * (n - 1), kernel.dtype)
        padded[n - 1 : full] = kernel.reshape(-1)
        width = padded.itemsize
        later = np.ndarray((n, full), padded.dtype, padded, (n - 1) * width, (-width, width))
        y = np.dot(x.values, later)
    else:
        rows = np.zeros((count, full), x.values.dtype)
        rows[:, :n] = x.values
        y = np.convolve(rows.reshape(-1), kernel.reshape(-1))[: count * full].reshape(count, full)
    start, end = part_of_full(m, n, mode)
    return y[:, start:end]


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


bilinear_rule(
    np.convolve, convolve_left, convolve_right, block=convolve_block, pattern=convolve_pattern
)


@composed(np.correlate)
def correlate(a, v, mode="valid"):
    if np.size(a) >= np.size(v):
        return np.convolve(a, conj(np.flip(v)), mode)
    return np.copy(conj(np.flip(np.convolve(v, conj(np.flip(a)), mode))))
