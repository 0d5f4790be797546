"""Discrete Fourier transforms: all are linear, over the reals at least.

By the convention that C is R^2, the pull of ``y = F @ x`` is ``adjoint(F) @ ybar``: for a whole
spectrum the transform the other way, with the norm the other way round. Half a spectrum
stands for the whole: each of its entries but the first, and the middle one of an even length,
is there for two. The tools take the real part for a real argument.
"""

import math

import numpy as np

from ....config import MissingRuleError
from ... import dtype_of, getitem, linear_rule, refuse_too_many
from .reductions import sum_pattern
from .shapes import pad_zeros

OTHER_NORM = {None: "forward", "backward": "forward", "forward": "backward", "ortho": "ortho"}


def fit(x, shape):
    """Crop ``x``, or pad it with zeros, to ``shape``: the transpose of doing the reverse."""
    given = np.shape(x)
    if any(n > m for n, m in zip(given, shape)):
        x = getitem(x, tuple(slice(min(n, m)) for n, m in zip(given, shape)))
    if any(n < m for n, m in zip(given, shape)):
        x = pad_zeros(x, [(0, max(m - n, 0)) for n, m in zip(given, shape)])
    return x


def multiplicity(n, axis, x):
    """Return the multiplicity of each entry of a half spectrum in the full one of length ``n``.

    Shapes: (n // 2 + 1, 1, ..., 1), so that it lies along ``axis`` of ``x``.
    """
    dtype = np.finfo(np.result_type(dtype_of(x), np.float32)).dtype  # single stays single
    counts = np.full(n // 2 + 1, 2, dtype)
    counts[0] = 1
    if n % 2 == 0:
        counts[-1] = 1
    return np.reshape(counts, (-1,) + (1,) * (np.ndim(x) - 1 - axis % np.ndim(x)))


# ---- patterns -------------------------------------------------------------------------------


def mixed(transform, x, axes, *options):
    """Return the pattern of a function that mixes all entries along some axes."""
    shape = np.shape(transform(np.zeros(x.shape), *options))
    total = sum_pattern(x, tuple({axis % x.rank for axis in axes}), keepdims=True)
    refuse_too_many(transform, math.prod(shape), total.rows.nnz // max(total.size, 1))
    return total.taken(np.broadcast_to(total.ids, shape))


def mixes(transform):
    """Return the pattern of a transform along one axis."""

    def transform_pattern(a, n=None, axis=-1, norm=None):
        return mixed(transform, a, (axis,), n, axis)

    return transform_pattern


# ---- along one axis -------------------------------------------------------------------------


@linear_rule(np.fft.fft, axes="axis", pattern=mixes(np.fft.fft))
def fft_transpose(ybar, space, n=None, axis=-1, norm=None):
    return fit(np.fft.ifft(ybar, axis=axis, norm=OTHER_NORM[norm]), space.shape)


@linear_rule(np.fft.ifft, axes="axis", pattern=mixes(np.fft.ifft))
def ifft_transpose(ybar, space, n=None, axis=-1, norm=None):
    return fit(np.fft.fft(ybar, axis=axis, norm=OTHER_NORM[norm]), space.shape)


@linear_rule(np.fft.rfft, axes="axis", pattern=mixes(np.fft.rfft))
def rfft_transpose(ybar, space, n=None, axis=-1, norm=None):
    n = space.shape[axis] if n is None else n
    halves = ybar / multiplicity(n, axis, ybar)
    return fit(np.fft.irfft(halves, n, axis, OTHER_NORM[norm]), space.shape)


@linear_rule(np.fft.irfft, axes="axis", pattern=mixes(np.fft.irfft))
def irfft_transpose(ybar, space, n=None, axis=-1, norm=None):
    spectrum = np.fft.rfft(ybar, axis=axis, norm=OTHER_NORM[norm])
    return fit(spectrum * multiplicity(np.shape(ybar)[axis], axis, ybar), space.shape)


# hfft(x, norm) is irfft(conj(x), other norm), and ihfft(x, norm) is conj(rfft(x, other norm)).
@linear_rule(np.fft.hfft, axes="axis", pattern=mixes(np.fft.hfft))
def hfft_transpose(ybar, space, n=None, axis=-1, norm=None):
    spectrum = np.fft.ihfft(ybar, axis=axis, norm=OTHER_NORM[norm])
    return fit(spectrum * multiplicity(np.shape(ybar)[axis], axis, ybar), space.shape)


@linear_rule(np.fft.ihfft, axes="axis", pattern=mixes(np.fft.ihfft))
def ihfft_transpose(ybar, space, n=None, axis=-1, norm=None):
    n = space.shape[axis] if n is None else n
    halves = ybar / multiplicity(n, axis, ybar)
    return fit(np.fft.hfft(halves, n, axis, OTHER_NORM[norm]), space.shape)


# ---- along several axes ---------------------------------------------------------------------


def transformed(space, s, axes):
    """Return the axes that are transformed, and the length that each was cropped or padded to."""
    if axes is None:
        axes = range(space.ndim) if s is None else range(space.ndim - len(s), space.ndim)
    axes = [axis % space.ndim for axis in axes]
    if len(set(axes)) < len(axes):
        raise MissingRuleError(
            f"the rules of numpy.fft do not support repeated axes {tuple(axes)}.\n"
            "  call the transforms one after the other"
        )
    lengths = [None] * len(axes) if s is None else s
    return axes, [space.shape[k] if n in (None, -1) else n for k, n in zip(axes, lengths)]


def fftn_transpose(ybar, space, s=None, axes=None, norm=None):
    axes, _ = transformed(space, s, axes)
    return fit(np.fft.ifftn(ybar, axes=axes, norm=OTHER_NORM[norm]), space.shape)


def ifftn_transpose(ybar, space, s=None, axes=None, norm=None):
    axes, _ = transformed(space, s, axes)
    return fit(np.fft.fftn(ybar, axes=axes, norm=OTHER_NORM[norm]), space.shape)


def rfftn_transpose(ybar, space, s=None, axes=None, norm=None):
    axes, s = transformed(space, s, axes)
    halves = ybar / multiplicity(s[-1], axes[-1], ybar)
    return fit(np.fft.irfftn(halves, s, axes, OTHER_NORM[norm]), space.shape)


def irfftn_transpose(ybar, space, s=None, axes=None, norm=None):
    axes, _ = transformed(space, s, axes)
    spectrum = np.fft.rfftn(ybar, axes=axes, norm=OTHER_NORM[norm])
    n = np.shape(ybar)[axes[-1]]
    return fit(spectrum * multiplicity(n, axes[-1], ybar), space.shape)


def in_two_axes(transpose):
    """Return the transpose of the form whose default is the last two axes."""

    def transpose_in_two_axes(ybar, space, s=None, axes=(-2, -1), norm=None):
        return transpose(ybar, space, s, axes, norm)

    return transpose_in_two_axes


def over_several(transform, transpose, default):
    """Define a transform over several axes, ``default`` if none are given."""

    def axes_of(a, s, axes):
        if axes is None:
            axes = range(a.rank) if s is None else range(a.rank - len(s), a.rank)
        return tuple(axes)

    def transform_block(a, s=None, axes=default, norm=None):
        return transform(a.values, s, a.axes(axes_of(a, s, axes)), norm)

    def transform_pattern(a, s=None, axes=default, norm=None):
        return mixed(transform, a, axes_of(a, s, axes), s, axes)

    linear_rule(transform, transpose, block=transform_block, pattern=transform_pattern)


for _over_any, _over_two, _transpose in (
    (np.fft.fftn, np.fft.fft2, fftn_transpose),
    (np.fft.ifftn, np.fft.ifft2, ifftn_transpose),
    (np.fft.rfftn, np.fft.rfft2, rfftn_transpose),
    (np.fft.irfftn, np.fft.irfft2, irfftn_transpose),
):
    over_several(_over_any, _transpose, None)
    over_several(_over_two, in_two_axes(_transpose), (-2, -1))


# ---- moving the zero frequency --------------------------------------------------------------


@linear_rule(np.fft.fftshift, moves=True, views=False, axes="axes")
def fftshift_transpose(ybar, space, axes=None):
    return np.fft.ifftshift(ybar, axes)


@linear_rule(np.fft.ifftshift, moves=True, views=False, axes="axes")
def ifftshift_transpose(ybar, space, axes=None):
    return np.fft.fftshift(ybar, axes)
