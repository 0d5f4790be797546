"""Correlations with kernels: linear in the image and in the kernel.

With ``E`` the image and what it is beyond its borders, ``y[n] = sum_k w[k] E[n + k - before]``,
where ``before`` is ``size // 2 + origin`` along each axis. The adjoint in the image correlates with
the kernel turned round, on zeros, and folds back what lies beyond the borders.
"""

import math

import numpy as np
from scipy import ndimage, signal

from .....config.thresholds import FEW_PLACES
from .... import (
    Block,
    array_of,
    bilinear_rule,
    composed,
    is_traced,
    library_value,
    primitive,
    value,
    with_values,
)
from ...arrays.products import conj
from ..followed import followed
from .boundaries import CONSTANT_MODES, PAD_MODES, checked, folded, normalized, per_axis

# ---- three maps, each linear in two, whose derivatives are made of each other ---------------


def turned_origin(size, origin):
    return -origin - (size % 2 == 0)


def borders(w, origins):
    return [(n // 2 + o, n - 1 - n // 2 - o) for n, o in zip(np.shape(w), origins)]


@primitive
def correlated(x, w, mode, origins):
    """Correlate with a kernel of as many axes, without conjugating it."""
    # SciPy would round what comes of an image of integers.
    dtype = np.result_type(x, w)
    return ndimage.correlate(x, np.conj(w), output=dtype, mode=mode, origin=origins)


@primitive
def spread_back(ybar, w, mode, origins):
    """The adjoint of ``correlated`` in the image, for a real kernel."""
    at = borders(w, origins)
    full = np.pad(ybar, at)
    turned = [turned_origin(n, o) for n, o in zip(w.shape, origins)]
    full = ndimage.correlate(full, np.conj(np.flip(w)), mode="constant", origin=turned)
    for axis, (before, _) in enumerate(at):
        full = folded(full, axis, before, ybar.shape[axis], mode)
    return full


@primitive
def met(y, x, shape, mode, origins):
    """For each place in a kernel, the sum of ``y`` times the image that it meets there."""
    if x.size == 0:
        return np.zeros(shape, np.result_type(x, y))
    at = borders(np.empty(shape), origins)
    for axis, pair in enumerate(at):
        if pair != (0, 0):
            widths = [(0, 0)] * x.ndim
            widths[axis] = pair
            x = np.pad(x, widths, PAD_MODES[mode])
    if math.prod(shape) > FEW_PLACES:
        return signal.correlate(x, np.conj(y), mode="valid")
    places = [tuple(slice(i, i + n) for i, n in zip(at, y.shape)) for at in np.ndindex(*shape)]
    return np.reshape([np.sum(y * x[place]) for place in places], shape)


def correlated_left(ybar, x, w, mode, origins):
    return spread_back(ybar, conj(w), mode, origins)


def correlated_right(ybar, x, w, mode, origins):
    return met(ybar, conj(x), np.shape(w), mode, origins)


def spread_left(xbar, ybar, w, mode, origins):
    return correlated(xbar, conj(w), mode, origins)


def spread_right(xbar, ybar, w, mode, origins):
    return met(conj(ybar), xbar, np.shape(w), mode, origins)


def met_left(wbar, y, x, shape, mode, origins):
    return correlated(conj(x), wbar, mode, origins)


def met_right(wbar, y, x, shape, mode, origins):
    return spread_back(conj(y), wbar, mode, origins)


bilinear_rule(correlated, correlated_left, correlated_right)
bilinear_rule(spread_back, spread_left, spread_right)
bilinear_rule(met, met_left, met_right)


# ---- SciPy's functions ----------------------------------------------------------------------


def as_full_kernel(w, x, axes, origin):
    """Give a kernel all axes of the image, and an origin for each."""
    axes = normalized(axes, np.ndim(x))
    origins = [0] * np.ndim(x)
    for axis, o in zip(axes, per_axis(origin, axes)):
        origins[axis] = o
    order = np.argsort(axes)
    shape = [1] * np.ndim(x)
    for k in order:
        shape[axes[k]] = np.shape(w)[k]
    return np.reshape(np.transpose(w, order), shape), origins


def defined_by_kernel(f, convolves, along_one_axis):
    """Give the rule of a correlation or a convolution, along one axis or over ``axes``."""
    own = followed(f)

    def kernel(w, x, axis, origin):
        w, origins = as_full_kernel(w, x, axis, origin)
        if convolves:
            turned = [turned_origin(n, o) for n, o in zip(np.shape(w), origins)]
            return np.flip(w), turned
        return conj(w), origins

    def image_pull(ybar, x, w, axes=None, axis=-1, output=None, mode="reflect", cval=0.0,
                   origin=0):  # fmt: skip
        w, origins = kernel(w, x, axis if along_one_axis else axes, origin)
        return spread_back(ybar, conj(w), mode, origins)

    def kernel_pull(ybar, x, w, axes=None, axis=-1, output=None, mode="reflect", cval=0.0,
                    origin=0):  # fmt: skip
        over = axis if along_one_axis else axes
        full, origins = kernel(w, x, over, origin)
        wbar = met(ybar, conj(x), np.shape(full), mode, origins)
        wbar = np.flip(wbar) if convolves else conj(wbar)
        over = normalized(over, np.ndim(x))
        order = np.argsort(np.argsort(over))
        return np.transpose(np.reshape(wbar, [np.shape(full)[k] for k in sorted(over)]), order)

    def image_block(x, w, axes=None, axis=-1, origin=0, **options):
        """Images of all directions at once, by a kernel with one entry along these."""
        if type(x) is not Block or type(w) is Block:
            return NotImplemented
        if along_one_axis:
            return own(x.values, w, axis=x.axes(axis), origin=origin, **options)
        if axes is not None or not isinstance(options.get("mode", ""), str):
            return NotImplemented
        origins = [0, *per_axis(origin, range(x.rank))]
        return own(x.values, array_of(w)[None], origin=origins, **options)

    bilinear_rule(own, image_pull, kernel_pull, block=image_block)

    def inside_a_constant(input, weights, cval=0.0, **options):
        """Beyond the borders is ``cval``, where there are no ones."""
        ones = np.ones(np.shape(input), np.result_type(value(input), np.float32))
        missing = np.sum(weights) - own(ones, weights, **options)
        return own(input, weights, **options) + cval * missing

    @composed(f)
    def correlate(input, weights, *args, **options):
        names = ("axis",) * along_one_axis + ("output", "mode", "cval", "origin")
        options = {**dict(zip(names, args)), **options}
        checked(options.get("output"), f.__name__)
        cval, mode = options.get("cval", 0.0), options.get("mode", "reflect")
        if mode not in CONSTANT_MODES or (not is_traced(cval) and cval == 0):
            return own(input, weights, **options)
        y = inside_a_constant(input, weights, **options)
        return with_values(y, library_value(f, (input, weights), options))

    return correlate


defined_by_kernel(ndimage.correlate, convolves=False, along_one_axis=False)
defined_by_kernel(ndimage.convolve, convolves=True, along_one_axis=False)
correlate1d = defined_by_kernel(ndimage.correlate1d, convolves=False, along_one_axis=True)
convolve1d = defined_by_kernel(ndimage.convolve1d, convolves=True, along_one_axis=True)
