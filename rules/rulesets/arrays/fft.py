"""Discrete Fourier transforms: all are linear, over the reals at least.

By the convention that C is R^2, the pull of ``y = F @ x`` is ``adjoint(F) @ ybar``: for a whole
spectrum the transform the other way, with the norm the other way round. Half a spectrum
stands for the whole: each of its entries but the first, and the middle one of an even length,
is there for two. The tools take the real part for a real argument.
"""

import math

import numpy as np

from ....config import MissingRuleError, user_line
from ... import dtype_of, getitem, linear_rule, refuse_too_many
from .along_axes.reductions import sum_pattern
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


# ---- the transposes, of NumPy's transforms and of SciPy's -------------------------------------


def axes_of(ndim, s, axes):
    """Return the axes of a transform: where none are given all, or the last for lengths ``s``."""
    if axes is None:
        axes = range(ndim) if s is None else range(ndim - np.size(s), ndim)
    return tuple(np.atleast_1d(axes).tolist())


def transformed(space, s, axes):
    """Return the axes that are transformed, and the length that each was cropped or padded to."""
    axes = [axis % space.ndim for axis in axes_of(space.ndim, s, axes)]
    if len(set(axes)) < len(axes):
        raise MissingRuleError(
            f"the rules of the Fourier transforms do not support repeated axes {tuple(axes)}"
            f", in {user_line()}.\n"
            "  call the transforms one after the other"
        )
    lengths = [None] * len(axes) if s is None else np.atleast_1d(s).tolist()
    return axes, [space.shape[k] if n in (None, -1) else n for k, n in zip(axes, lengths)]


def whole(back):
    """Transposes of a transform with a whole spectrum: that the other way, with the other norm."""

    def one(ybar, space, n=None, axis=-1, norm=None, **rest):
        return fit(back(ybar, axis=axis, norm=OTHER_NORM[norm], **rest), space.shape)

    def several(ybar, space, s=None, axes=None, norm=None, **rest):
        axes, _ = transformed(space, s, axes)
        return fit(back(ybar, axes=axes, norm=OTHER_NORM[norm], **rest), space.shape)

    return one, several


def to_half(back):
    """Transposes of a transform to half a spectrum, whose entries stand for one or for two."""

    def one(ybar, space, n=None, axis=-1, norm=None, **rest):
        n = space.shape[axis] if n is None else n
        halves = ybar / multiplicity(n, axis, ybar)
        return fit(back(halves, n, axis, OTHER_NORM[norm], **rest), space.shape)

    def several(ybar, space, s=None, axes=None, norm=None, **rest):
        axes, s = transformed(space, s, axes)
        halves = ybar / multiplicity(s[-1], axes[-1], ybar)
        return fit(back(halves, s, axes, OTHER_NORM[norm], **rest), space.shape)

    return one, several


def of_half(back):
    """Transposes of a transform of half a spectrum."""

    def one(ybar, space, n=None, axis=-1, norm=None, **rest):
        spectrum = back(ybar, axis=axis, norm=OTHER_NORM[norm], **rest)
        return fit(spectrum * multiplicity(np.shape(ybar)[axis], axis, ybar), space.shape)

    def several(ybar, space, s=None, axes=None, norm=None, **rest):
        axes, _ = transformed(space, s, axes)
        spectrum = back(ybar, axes=axes, norm=OTHER_NORM[norm], **rest)
        return fit(spectrum * multiplicity(np.shape(ybar)[axes[-1]], axes[-1], ybar), space.shape)

    return one, several


# The transform that each transpose is made of, and how. hfft(x, norm) is irfft(conj(x), other),
# and ihfft(x, norm) is conj(rfft(x, other)).
TRANSPOSED = {
    "fft": ("ifft", whole), "ifft": ("fft", whole), "rfft": ("irfft", to_half),
    "irfft": ("rfft", of_half), "hfft": ("ihfft", of_half), "ihfft": ("hfft", to_half),
}  # fmt: skip


def in_two_axes(transpose):
    """Return the transpose of the form whose default is the last two axes."""

    def transpose_in_two_axes(ybar, space, s=None, axes=(-2, -1), norm=None, **rest):
        return transpose(ybar, space, s, axes, norm, **rest)

    return transpose_in_two_axes


def transposes(transform_of):
    """Yield (name, transpose) of each transform; ``transform_of(name)`` is a primitive."""

    def late(name):
        return lambda *args, **options: transform_of(name)(*args, **options)

    for name, (back, form) in TRANSPOSED.items():
        yield name, form(late(back))[0]
        several = form(late(f"{back}n"))[1]
        yield f"{name}n", several
        yield f"{name}2", in_two_axes(several)


def over_several_in_block(transform, default):
    """Return the form of a transform over several axes for blocks of directions."""

    def transform_block(a, s=None, axes=default, **options):
        return transform(a.values, s=s, axes=a.axes(axes_of(a.rank, s, axes)), **options)

    return transform_block


def over_several_in_pattern(transform, default):
    """Return the form of a transform over several axes for sparsity patterns."""

    def transform_pattern(a, s=None, axes=default, norm=None):
        return mixed(transform, a, axes_of(a.rank, s, axes), s, axes)

    return transform_pattern


for _name, _transpose in transposes(lambda name: getattr(np.fft, name)):
    _transform = getattr(np.fft, _name, None)
    if _transform is not None and _name[-1] in "n2":
        _given = _transform, (-2, -1) if _name[-1] == "2" else None
        linear_rule(_transform, _transpose, block=over_several_in_block(*_given),
                    pattern=over_several_in_pattern(*_given))  # fmt: skip
    elif _transform is not None:
        linear_rule(_transform, _transpose, axes="axis", pattern=mixes(_transform))


# ---- moving the zero frequency --------------------------------------------------------------


@linear_rule(np.fft.fftshift, moves=True, views=False, axes="axes")
def fftshift_transpose(ybar, space, axes=None):
    return np.fft.ifftshift(ybar, axes)


@linear_rule(np.fft.ifftshift, moves=True, views=False, axes="axes")
def ifftshift_transpose(ybar, space, axes=None):
    return np.fft.fftshift(ybar, axes)
