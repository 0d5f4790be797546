"""Convolutions and correlations: linear in each of the two.

The full convolution is ``y[n] = sum_m a[m] b[n - m]``; the other modes take a part of it, and their
adjoints put ``ybar`` there, among zeros. A correlation is the convolution with the second turned
round and conjugated.
"""

import functools

import numpy as np
from scipy import signal

from .... import Block, array_of, bilinear_rule, composed, shape_of
from ...arrays.products import conj
from ...arrays.shapes import pad_zeros
from ..followed import followed


def as_full(ybar, a, b, mode, axes=None):
    """Put ``ybar`` where the entries of this mode are in the full convolution."""
    widths = []
    for axis, (m, n) in enumerate(zip(shape_of(a), shape_of(b))):
        mixed = axes is None or axis in axes
        full = m + n - 1 if mixed else max(m, n)
        size = np.shape(ybar)[axis]
        start = {"full": 0, "same": (full - size) // 2, "valid": min(m, n) - 1 if mixed else 0}
        widths.append((start[mode], full - size - start[mode]))
    return pad_zeros(ybar, widths) if widths else ybar


def are_empty(a, b):
    return 0 in shape_of(a) or 0 in shape_of(b)


def convolve_left(ybar, a, b, mode="full", method="auto"):
    if are_empty(a, b):
        return np.zeros(shape_of(a))
    return correlate(as_full(ybar, a, b, mode), b, "valid", method)


def convolve_right(ybar, a, b, mode="full", method="auto"):
    return convolve_left(ybar, b, a, mode, method)


def correlate_left(ybar, a, b, mode="full", method="auto"):
    if are_empty(a, b):
        return np.zeros(shape_of(a))
    return convolve(as_full(ybar, a, b, mode), b, "valid", method)


def correlate_right(ybar, a, b, mode="full", method="auto"):
    if are_empty(a, b):
        return np.zeros(shape_of(b))
    return correlate(a, as_full(ybar, a, b, mode), "valid", method)


def first_in_block(own):
    """Return the form of ``own`` for a first operand in a block: the second has one entry along it.

    Of a "valid" mode, and of a block in the second place, it depends on the shapes which goes over
    which.
    """

    def block(a, b, mode="full", method="auto"):
        if type(a) is not Block or type(b) is Block or mode == "valid":
            return NotImplemented
        return own(a.values, array_of(b)[None], mode, method)

    return block


convolve, correlate = followed(signal.convolve), followed(signal.correlate)
bilinear_rule(convolve, convolve_left, convolve_right, block=first_in_block(convolve))
bilinear_rule(correlate, correlate_left, correlate_right, block=first_in_block(correlate))


def transforms_pull(own, ybar, a, b, to, by, mode, axes):
    """The pull of a convolution along ``axes``; along the others the two broadcast."""
    if are_empty(a, b):
        return np.zeros(shape_of(to))
    over = range(np.ndim(a)) if axes is None else np.atleast_1d(axes).tolist()
    over = [axis % np.ndim(a) for axis in over]
    full = as_full(ybar, a, b, mode, over)
    return own(full, conj(np.flip(by, over)), "valid", over)


def transforms_left(own, ybar, a, b, mode="full", axes=None):
    return transforms_pull(own, ybar, a, b, a, b, mode, axes)


def transforms_right(own, ybar, a, b, mode="full", axes=None):
    return transforms_pull(own, ybar, a, b, b, a, mode, axes)


def transforms_block(own, a, b, mode="full", axes=None):
    """All directions at once: along their axis the two operands broadcast."""
    x, other = (a, b) if type(a) is Block else (b, a)
    if type(other) is Block or np.ndim(other) != x.rank or x.rank == 0:
        return NotImplemented
    if mode == "same" and x is b:  # as the first, which is one for all directions
        return NotImplemented
    led = [part.values if type(part) is Block else array_of(part)[None] for part in (a, b)]
    return own(*led, mode, x.axes(axes if axes is None else tuple(np.atleast_1d(axes).tolist())))


for _own in map(followed, (signal.fftconvolve, signal.oaconvolve)):
    bilinear_rule(_own, functools.partial(transforms_left, _own),
                  functools.partial(transforms_right, _own),
                  block=functools.partial(transforms_block, _own))  # fmt: skip

# ---- in two dimensions, with borders --------------------------------------------------------

PAD_MODES = {"fill": "constant", "wrap": "wrap", "symm": "symmetric"}


def with_borders(x, b, boundary, fillvalue):
    """``x`` with as much of what is beyond its borders as a convolution with ``b`` meets."""
    widths = [(n - 1, n - 1) for n in np.shape(b)]
    if boundary != "fill":
        return np.pad(x, widths, PAD_MODES[boundary])
    # The value beyond may be no integer where all within are.
    return np.pad(array_of(x) * 1.0, widths, "constant", constant_values=fillvalue)


def part_of_full(y, a, b, mode, start):
    if mode == "full":
        return y
    return y[tuple(slice(start(n), start(n) + m) for m, n in zip(np.shape(a), np.shape(b)))]


def is_inside(a, b):
    return all(m <= n for m, n in zip(np.shape(a), np.shape(b)))


@composed(signal.convolve2d, value="own")
def convolve2d(in1, in2, mode="full", boundary="fill", fillvalue=0):
    if mode == "valid":
        return convolve(in1, in2, mode)
    full = convolve(with_borders(in1, in2, boundary, fillvalue), in2, "valid")
    return part_of_full(full, in1, in2, mode, lambda n: (n - 1) // 2)


@composed(signal.correlate2d, value="own")
def correlate2d(in1, in2, mode="full", boundary="fill", fillvalue=0):
    if mode == "valid":
        if is_inside(in1, in2) and np.shape(in1) != np.shape(in2):
            # As SciPy does, which conjugates the smaller one then too.
            return np.flip(correlate(in2, in1, mode))
        return correlate(in1, in2, mode)
    full = correlate(with_borders(in1, in2, boundary, fillvalue), in2, "valid")
    return part_of_full(full, in1, in2, mode, lambda n: n // 2)
