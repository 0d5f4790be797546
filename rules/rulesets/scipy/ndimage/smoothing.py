"""Gaussian, uniform and differencing filters: correlations along one axis after another."""

import functools

import numpy as np
from scipy import ndimage

from .... import astype, composed, composed_each, dtype_of, linear_rule, seen, value
from ..followed import followed, linear_pair
from .boundaries import checked, folded, normalized, per_axis

correlate1d = seen(ndimage.correlate1d)
gaussian_filter1d = seen(ndimage.gaussian_filter1d)
gaussian_filter = seen(ndimage.gaussian_filter)


def as_output(x, output):
    """``x`` in the dtype of ``output``."""
    return x if output is None or dtype_of(x) == np.dtype(output) else astype(x, output)


def gaussian_kernel(sigma, order, radius):
    """A Gaussian, sampled and normalized, or a derivative of it, as SciPy writes them.

    With ``phi`` the Gaussian the derivative of ``q phi``, for a polynomial q, is ``(q' + q p')
    phi``, where ``p' = -x / sigma**2``.
    """
    squared = sigma * sigma
    x = np.arange(-radius, radius + 1)
    phi = np.exp(-0.5 / squared * x**2)
    phi = phi / np.sum(phi)
    if order == 0:
        return phi
    exponents = np.arange(order + 1)
    step = np.diag(exponents[1:], 1) + np.diag(np.ones(order), -1) / -squared
    q = np.eye(order + 1)[0]
    for _ in range(order):
        q = step @ q
    return ((x[:, None] ** exponents) @ q) * phi


@composed(ndimage.gaussian_filter1d)
def gaussian_filter1d_of_traced(input, sigma, axis=-1, order=0, output=None, mode="reflect",
                                cval=0.0, truncate=4.0, *, radius=None):  # fmt: skip
    """Filter with a traced ``sigma``; the radius at which the Gaussian is cut off is constant."""
    if radius is None:
        radius = int(truncate * value(sigma) + 0.5)
    kernel = gaussian_kernel(sigma, order, radius)[::-1]
    return correlate1d(input, kernel, axis, output, mode, cval, 0)


@composed(ndimage.gaussian_filter)
def gaussian_filter_of_traced(input, sigma, order=0, output=None, mode="reflect", cval=0.0,
                              truncate=4.0, *, radius=None, axes=None):  # fmt: skip
    checked(output, "gaussian_filter")
    axes = normalized(axes, np.ndim(input))
    options = zip(axes, *(per_axis(o, axes) for o in (sigma, order, mode, radius)), strict=True)
    y = np.copy(input) if output is None else astype(input, output)
    for axis, s, k, m, r in options:
        if value(s) > 1e-15:
            y = gaussian_filter1d(y, s, axis, k, None, m, cval, truncate, radius=r)
    return y


@composed_each({ndimage.sobel: [1, 2, 1], ndimage.prewitt: [1, 1, 1]})
def differenced(smoothing, input, axis=-1, output=None, mode="reflect", cval=0.0):
    checked(output, "sobel and prewitt")
    axes = range(np.ndim(input))
    modes = per_axis(mode, axes)
    y = correlate1d(input, [-1, 0, 1], axis, output, modes[axis], cval, 0)
    for k in axes:
        if k != axis % len(axes):
            y = correlate1d(y, smoothing, k, output, modes[k], cval, 0)
    return y


@composed(ndimage.laplace)
def laplace(input, output=None, mode="reflect", cval=0.0, *, axes=None):
    checked(output, "laplace")
    axes = normalized(axes, np.ndim(input))
    parts = [correlate1d(input, [1, -2, 1], axis, output, m, cval, 0)
             for axis, m in zip(axes, per_axis(mode, axes), strict=True)]  # fmt: skip
    return sum(parts[1:], parts[0]) if parts else as_output(np.copy(input), output)


def sigmas_over(sigma, axes, ndim):
    sigmas = [0.0] * ndim
    for axis, s in zip(axes, per_axis(sigma, axes), strict=True):
        sigmas[axis] = s
    return sigmas


def with_order(input, sigma, output, mode, cval, axes, order, options):
    """The parts that have a Gaussian's derivative of this order along one axis each."""
    for axis, m in zip(axes, per_axis(mode, axes), strict=True):
        orders = [order if k == axis else 0 for k in range(np.ndim(input))]
        yield gaussian_filter(input, sigma, orders, output, m, cval, **options)


@composed(ndimage.gaussian_laplace)
def gaussian_laplace(input, sigma, output=None, mode="reflect", cval=0.0, *, axes=None, **options):
    checked(output, "gaussian_laplace")
    axes = normalized(axes, np.ndim(input))
    sigma = sigmas_over(sigma, axes, np.ndim(input)) if len(axes) < np.ndim(input) else sigma
    parts = list(with_order(input, sigma, output, mode, cval, axes, 2, options))
    return sum(parts[1:], parts[0]) if parts else as_output(np.copy(input), output)


@composed(ndimage.gaussian_gradient_magnitude)
def gaussian_gradient_magnitude(input, sigma, output=None, mode="reflect", cval=0.0, *, axes=None,
                                **options):  # fmt: skip
    checked(output, "gaussian_gradient_magnitude")
    axes = normalized(axes, np.ndim(input))  # SciPy smooths along the others as well
    parts = list(with_order(input, sigma, output, mode, cval, axes, 1, options))
    if not parts:
        return as_output(np.copy(input), output)
    if np.iscomplexobj(parts[0]):  # SciPy's sum of squares, which is no norm
        return np.sqrt(sum(part * part for part in parts))
    # Where all parts are zero the norm has the derivative zero, and the square root has none.
    return np.linalg.norm(np.stack(parts), axis=0)


# ---- means ----------------------------------------------------------------------------------


def uniform_filter1d_adjoint(ybar, space, size=None, axis=-1, output=None, mode="reflect",
                             cval=0.0, origin=0):  # fmt: skip
    widths = [(0, 0)] * ybar.ndim
    before = size // 2 + origin
    widths[axis] = before, size - 1 - before
    full = np.pad(ybar, widths)
    turned = -origin - (size % 2 == 0)
    full = ndimage.uniform_filter1d(full, size, axis, mode="constant", origin=turned)
    return folded(full, axis, before, space.shape[axis], mode)


uniform_filter1d = linear_pair(
    ndimage.uniform_filter1d, uniform_filter1d_adjoint, constants=("cval",), axis=-1
)


@composed(ndimage.uniform_filter)
def uniform_filter(input, size=3, output=None, mode="reflect", cval=0.0, origin=0, *, axes=None):
    checked(output, "uniform_filter")
    axes = normalized(axes, np.ndim(input))
    y = np.copy(input) if output is None else astype(input, output)
    for axis, n, m, o in zip(axes, *(per_axis(x, axes) for x in (size, mode, origin)), strict=True):
        if n > 1:
            y = uniform_filter1d(y, int(n), axis, None, m, cval, o)
    return y


# ---- filters of spectra: products with numbers ----------------------------------------------


def spectrum_transpose(own, ybar, space, *, n=-1, axis=-1, output=None, **options):
    return np.conj(own(np.conj(ybar), n=n, axis=axis, **options))


for _f in (ndimage.fourier_gaussian, ndimage.fourier_uniform, ndimage.fourier_ellipsoid,
           ndimage.fourier_shift):  # fmt: skip
    _own = followed(_f)
    linear_rule(_own, functools.partial(spectrum_transpose, _own))
