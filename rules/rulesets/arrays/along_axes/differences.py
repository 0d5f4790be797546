"""Differences, slopes and areas of sampled functions."""

import numpy as np
from numpy.lib.array_utils import normalize_axis_tuple

from .... import (
    Pattern,
    astype,
    composed,
    dtype_of,
    is_traced,
    linear_rule,
    primitive,
    shape_of,
)
from ..elementwise import as_array
from .accumulations import from_lanes, in_lanes

# ---- differences ----


@primitive
def differences(x, n, axis):
    return np.diff(x, n, axis)


def differences_pattern(x, n, axis):
    for _ in range(n):
        ids = np.moveaxis(x.ids, axis, -1)
        ids, previous = (np.moveaxis(part, -1, axis) for part in (ids[..., 1:], ids[..., :-1]))
        x = Pattern(ids.shape, x.taken(ids).rows + x.taken(previous).rows)
    return x


@linear_rule(differences, axes="axis", pattern=differences_pattern)
def differences_transpose(ybar, space, n=1, axis=-1):
    if 0 in shape_of(ybar):  # of as many entries as n, or fewer
        return np.zeros_like(ybar, shape=space.shape)
    ybar = in_lanes(ybar, axis)
    for _ in range(n):
        nothing = np.zeros_like(ybar, shape=(*shape_of(ybar)[:-1], 1))
        ybar = -differences(np.concatenate([nothing, ybar, nothing], axis=-1), 1, -1)
    return from_lanes(ybar, space.shape, axis)


@composed(np.diff)
def diff(a, n=1, axis=-1, prepend=None, append=None):
    if n == 0:
        return a  # before it is lengthened by the ends, as NumPy does
    ends = [
        end if end is None or np.ndim(end) else np.broadcast_to(end, end_shape(a, axis))
        for end in (prepend, append)
    ]
    if any(end is not None for end in ends):
        a = np.concatenate([part for part in (ends[0], a, ends[1]) if part is not None], axis)
    return differences(a, n, axis)


def end_shape(a, axis):
    shape = list(np.shape(a))
    shape[axis] = 1
    return tuple(shape)


@composed(np.ediff1d)
def ediff1d(ary, to_end=None, to_begin=None):
    y = differences(np.ravel(ary), 1, -1)
    # Ends are cast to the dtype of the differences, as NumPy does.
    ends = [None if end is None else astype(np.ravel(end), y.dtype) for end in (to_begin, to_end)]
    return np.concatenate([part for part in (ends[0], y, ends[1]) if part is not None])


# ---- slopes and areas ----


@composed(np.gradient, value="own")
def gradient(f, *varargs, axis=None, edge_order=1):
    axes = normalize_axis_tuple(range(np.ndim(f)) if axis is None else axis, np.ndim(f))
    f = f * 1.0 if dtype_of(f) is not None and dtype_of(f).kind in "iu" else f  # as NumPy does
    spacings = varargs or (1.0,)
    if len(spacings) == 1 and np.ndim(spacings[0]) == 0:
        spacings = spacings * len(axes)
    if len(spacings) != len(axes):
        raise TypeError("invalid number of arguments")
    slopes = tuple(
        np.moveaxis(slope(np.moveaxis(f, k, -1), h, edge_order), -1, k)
        for k, h in zip(axes, spacings)
    )
    return slopes[0] if len(axes) == 1 else slopes


@primitive
def slopes(f, edge_order):
    """``np.gradient`` along the last axis, of samples one apart."""
    return np.gradient(f, axis=-1, edge_order=edge_order)


@linear_rule(slopes, block=lambda f, edge_order: slopes(f.values, edge_order))
def slopes_transpose(ybar, space, edge_order):
    """Each slope is of two samples, or of three at an end: to these it goes, by their weights."""
    count = space.shape[-1]
    inner = ybar[..., 1:-1] * 0.5
    ends = np.array([-1.0, 1.0] if edge_order == 1 else [-1.5, 2.0, -0.5])
    first, last = ybar[..., :1] * ends, ybar[..., -1:] * ends[::-1]
    return (
        filled_up(inner, 2, count) - filled_up(inner, 0, count)
        + filled_up(first, 0, count) - filled_up(last, count - len(ends), count)
    )  # fmt: skip


def filled_up(x, start, count):
    """Return ``x`` from place ``start`` of the last axis on, among ``count``, and else zeros."""
    before = np.zeros_like(x, shape=(*shape_of(x)[:-1], start))
    after = np.zeros_like(x, shape=(*shape_of(x)[:-1], count - start - shape_of(x)[-1]))
    return np.concatenate([before, x, after], axis=-1)


def slope(f, h, edge_order):
    """The derivative along the last axis, sampled ``h`` apart, or at the places ``h``."""
    count = np.shape(f)[-1]
    if count < edge_order + 1:
        raise ValueError(f"gradient needs {edge_order + 1} samples along the axis, not {count}.")
    if np.ndim(h) == 1:
        h = differences(as_array(h) * 1.0, 1, -1)
        if not is_traced(h) and np.all(h == h[0]):
            h = h[0]
    if np.ndim(h) == 0:
        return slopes(f, edge_order) / h
    a, b = h[:-1], h[1:]
    inner = (
        -b / (a * (a + b)) * f[..., :-2]
        + (b - a) / (a * b) * f[..., 1:-1]
        + a / (b * (a + b)) * f[..., 2:]
    )
    first = edge_terms(f[..., :3], h[:2], edge_order)
    last = edge_terms(f[..., ::-1][..., :3], h[::-1][:2], edge_order)
    return np.concatenate([sum(first), inner, -sum(last)], axis=-1)


def edge_terms(f, h, edge_order):
    """The terms of the slope at the first sample, from those that follow it."""
    f, g, k = f[..., :1], f[..., 1:2], f[..., 2:3]
    if edge_order == 1:
        return [(g - f) / h[0]]
    a, b = h[0], h[1]
    return [-(2.0 * a + b) / (a * (a + b)) * f, (a + b) / (a * b) * g, -a / (b * (a + b)) * k]


@composed(np.trapezoid)
def trapezoid(y, x=None, dx=1.0, axis=-1):
    y = np.moveaxis(y, axis, -1)
    if x is not None:
        dx = differences(x if np.ndim(x) == 1 else np.moveaxis(x, axis, -1), 1, -1)
    return np.sum(dx * (y[..., 1:] + y[..., :-1]) / 2.0, axis=-1)
