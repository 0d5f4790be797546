"""Splines through the pixels of an image, and their values at other places.

An image is filtered to the coefficients of B-splines first. Their sums at given coordinates are
linear in the coefficients; in a coordinate they are polynomials between the pixels.
Source: Unser (1999), splines, a perfect fit for signal and image processing.
"""

import math

import numpy as np
from scipy import ndimage, special

from .... import (
    AbstractZero,
    NoTangent,
    ProjectTo,
    array_of,
    composed,
    is_traced,
    pair_rule,
    primitive,
    pushes_stacks,
    rrule,
    thunk,
    value,
)
from ...arrays.products import conj
from ..followed import linear_pair
from .boundaries import CONSTANT_MODES, checked, per_axis
from .meeting import Meeting

# ---- from pixels to coefficients ------------------------------------------------------------

# Below this length SciPy's start of its recursion is an approximation in these modes.
SHORT = 32


def spline_filter1d_adjoint(ybar, space, order=3, axis=-1, output=None, mode="mirror"):
    """Sampling with mirrored borders is symmetric, but that entries at the ends count half.

    With the borders inside the reflection, or around a circle, it is symmetric.
    """
    n = ybar.shape[axis]
    if order < 2 or n == 1:
        return ybar
    if mode in ("reflect", "grid-mirror", "nearest") and n < SHORT:
        matrix = ndimage.spline_filter1d(np.eye(n), order, 0, mode=mode)
        return np.moveaxis(np.tensordot(matrix, ybar, (0, axis)), 0, axis)
    weights = np.ones(n)
    if mode not in ("reflect", "grid-mirror", "nearest", "grid-wrap"):
        weights[[0, -1]] = 0.5
    weights = weights.reshape((-1,) + (1,) * (ybar.ndim - 1 - axis % ybar.ndim))
    dtype = complex if np.iscomplexobj(ybar) else float
    return weights * ndimage.spline_filter1d(ybar / weights, order, axis, dtype, mode)


spline_filter1d = linear_pair(ndimage.spline_filter1d, spline_filter1d_adjoint, axis=-1)


@composed(ndimage.spline_filter)
def spline_filter(input, order=3, output=np.float64, mode="mirror"):
    checked(output, "spline_filter")
    complex_ = np.iscomplexobj(input) and np.dtype(output).kind != "c"
    dtype = np.result_type(output, np.complex64) if complex_ else output
    if order in (0, 1) or np.ndim(input) == 0:
        return input.astype(dtype)
    for axis in range(np.ndim(input)):
        input = spline_filter1d(input, order, axis, dtype, mode)
    return input


# ---- values ---------------------------------------------------------------------------------


@primitive
def interpolated(c, x, order, mode, times):
    """Sum the splines with coefficients ``c`` at ``x``, differentiated so many times along each."""
    if any(times):
        return Meeting(np.shape(c), x, order, mode).sums(c, [times])[0]
    return ndimage.map_coordinates(c, x, order=order, mode=mode, prefilter=False)


@primitive
def interpolated_back(ybar, x, shape, order, mode, times):
    return Meeting(shape, x, order, mode).back(ybar, times)


def slopes_of(c, x, order, mode, times):
    """The derivatives of ``interpolated`` in each of the coordinates."""
    each = [(*times[:k], times[k] + 1, *times[k + 1 :]) for k in range(len(times))]
    if type(c) is type(x) is np.ndarray:  # all of them from the same splines
        return np.stack(Meeting(c.shape, x, order, mode).sums(c, each))
    return np.stack([interpolated(c, x, order, mode, more) for more in each])


@pair_rule(interpolated)
def interpolated_pair(interpolated, c, x, *fixed):
    def interpolated_pushforward(cdot, xdot, *_):
        ydot = cdot
        if not isinstance(cdot, AbstractZero):
            several = np.ndim(cdot) > np.ndim(c)  # directions
            rows = cdot if several else (cdot,)
            each = [interpolated(row, x, *fixed) for row in rows]
            ydot = np.stack(each) if several else each[0]
        if not isinstance(xdot, AbstractZero):
            ydot = ydot + np.sum(slopes_of(c, x, *fixed) * xdot, axis=-np.ndim(x))
        return ydot

    def interpolated_pullback(ybar):
        cbar = thunk(lambda: interpolated_back(ybar, x, np.shape(c), *fixed))
        xbar = thunk(lambda: conj(slopes_of(c, x, *fixed)) * ybar)
        return cbar, xbar, *[NoTangent()] * len(fixed)

    return interpolated(c, x, *fixed), interpolated_pushforward, interpolated_pullback


pushes_stacks(interpolated, most=math.inf)


@rrule.register(interpolated_back)
def interpolated_back_rrule(back, ybar, x, shape, *fixed):
    project_y, project_x = ProjectTo(ybar), ProjectTo(x)

    def interpolated_back_pullback(cbar):
        ybarbar = thunk(lambda: project_y(interpolated(cbar, x, *fixed)))
        xbar = thunk(lambda: project_x(conj(ybar) * slopes_of(cbar, x, *fixed)))
        return NoTangent(), ybarbar, xbar, *[NoTangent()] * (1 + len(fixed))

    return back(ybar, x, shape, *fixed), interpolated_back_pullback


def at_coordinates(x, coordinates, order, mode, prefilter):
    """Return ``map_coordinates`` of ``x``, which is zero beyond constant borders."""
    if prefilter and order > 1:
        if mode in ("nearest", "grid-constant"):
            x = np.pad(x, 12, "edge" if mode == "nearest" else "constant")
            coordinates = coordinates + 12
        x = spline_filter(x, order, mode=mode)
    if np.iscomplexobj(value(coordinates)):  # whose real part SciPy takes
        coordinates = np.real(coordinates)
    return interpolated(x, coordinates, order, mode, (0,) * np.ndim(x))


def over_constant(cval, x, coordinates, order, mode, prefilter):
    """An image that is ``cval`` all over is so at every place: what it is more than that moves."""
    if mode not in CONSTANT_MODES or (not is_traced(cval) and cval == 0):
        return at_coordinates(x, coordinates, order, mode, prefilter)
    return at_coordinates(x - cval, coordinates, order, mode, prefilter) + cval


@composed(ndimage.map_coordinates, value="own")
def map_coordinates(input, coordinates, output=None, order=3, mode="constant", cval=0.0,
                    prefilter=True):  # fmt: skip
    checked(output, "map_coordinates")
    traced = is_traced(coordinates)
    coordinates = array_of(coordinates) if traced else np.asarray(coordinates, float)
    return over_constant(cval, input, coordinates, order, mode, prefilter)


def grid(shape):
    return np.indices(shape, float)


def over_all(x, ndim):
    """A number for each axis, in the shape of one for each pixel."""
    x = np.broadcast_to(np.asarray(x, float) if not is_traced(x) else x, (ndim,))
    return np.reshape(x, (-1,) + (1,) * ndim)


@composed(ndimage.shift, value="own")
def shift(input, shift, output=None, order=3, mode="constant", cval=0.0, prefilter=True):
    checked(output, "shift")
    coordinates = grid(np.shape(input)) + over_all(-1 * stacked(shift), np.ndim(input))
    return over_constant(cval, input, coordinates, order, mode, prefilter)


def stacked(x):
    """A list of numbers, some of them traced, as an array."""
    return np.stack(x) if isinstance(x, list | tuple) else np.asarray(x) if not is_traced(x) else x


# SciPy hands ``grid_mode`` on to the zooms of real and imaginary parts, or forgets it there.
_RAMP, _GRID = np.arange(3.0), {"order": 1, "mode": "nearest", "grid_mode": True}
GRID_MODE_OF_COMPLEX = np.allclose(
    ndimage.zoom(_RAMP + 0j, 2, **_GRID), ndimage.zoom(_RAMP, 2, **_GRID)
)


@composed(ndimage.zoom, value="own")
def zoom(input, zoom, output=None, order=3, mode="constant", cval=0.0, prefilter=True, *,
         grid_mode=False, own):  # fmt: skip
    """The factor rounds to the shape of the result, and goes into it by that alone."""
    checked(output, "zoom")
    grid_mode = grid_mode and (GRID_MODE_OF_COMPLEX or not np.iscomplexobj(value(input)))
    if prefilter and all(z == 1 for z in per_axis(value(zoom), range(own.ndim))):
        return input * 1
    steps = [
        1.0 if n == 1 - grid_mode else (m - 1 + grid_mode) / (n - 1 + grid_mode)
        for m, n in zip(np.shape(input), own.shape)
    ]
    steps = over_all(steps, own.ndim)
    places = grid(own.shape)
    coordinates = steps * (places + 0.5) - 0.5 if grid_mode else steps * places
    return over_constant(cval, input, coordinates, order, mode, prefilter)


def affine_coordinates(matrix, offset, shape):
    ndim = np.shape(matrix)[0]
    if np.ndim(matrix) == 1:
        slopes, start = over_all(matrix, ndim), over_all(offset, ndim)
        return slopes * (grid(shape) + start / slopes)
    places = grid(shape)
    # In SciPy's order of sums, so that no border is crossed by rounding.
    y = np.reshape(np.broadcast_to(offset, (ndim,)), (-1,) + (1,) * len(shape))
    for k in range(len(shape)):
        y = y + np.reshape(matrix[:, k], (-1,) + (1,) * len(shape)) * places[k]
    return y


@composed(ndimage.affine_transform, value="own")
def affine_transform(input, matrix, offset=0.0, output_shape=None, output=None, order=3,
                     mode="constant", cval=0.0, prefilter=True, *, own):  # fmt: skip
    checked(output, "affine_transform")
    matrix, offset, ndim = stacked(matrix), stacked(offset), np.ndim(input)
    if np.ndim(matrix) == 2 and np.shape(matrix)[1] == ndim + 1:
        matrix, offset = matrix[:ndim, :ndim], matrix[:ndim, ndim]
    coordinates = affine_coordinates(matrix, offset, own.shape)
    return over_constant(cval, input, coordinates, order, mode, prefilter)


@composed(ndimage.rotate, value="own")
def rotate(input, angle, axes=(1, 0), reshape=True, output=None, order=3, mode="constant",
           cval=0.0, prefilter=True, *, own):  # fmt: skip
    checked(output, "rotate")
    first, second = sorted(axis % own.ndim for axis in axes)
    plane = [own.shape[first], own.shape[second]]
    c, s = special.cosdg(angle), special.sindg(angle)
    matrix = np.stack([np.stack([c, s]), np.stack([-s, c])])
    center = (np.array([np.shape(input)[first], np.shape(input)[second]]) - 1) / 2
    offset = center - matrix @ ((np.array(plane) - 1) / 2)
    down, right = affine_coordinates(matrix, offset, plane)
    # Along the other axes each plane stays where it is.
    coordinates = list(grid(own.shape))
    other = [k for k in range(own.ndim) if k not in (first, second)]
    coordinates[first] = np.expand_dims(down, other) + np.zeros(own.shape)
    coordinates[second] = np.expand_dims(right, other) + np.zeros(own.shape)
    return rotated(cval, input, np.stack(coordinates), order, mode, prefilter, other)


def rotated(cval, x, coordinates, order, mode, prefilter, other):
    """Resample planes, which are not filtered along the ``other`` axes across them."""
    if prefilter and order > 1 and other:
        planes = np.moveaxis(x, other, range(len(other)))
        places = np.moveaxis(coordinates, [k + 1 for k in other], range(1, len(other) + 1))
        axes = [k for k in range(np.ndim(x)) if k not in other]
        shape = np.shape(planes)[: len(other)]
        parts = [
            over_constant(cval, planes[k], np.stack([places[axis][k] for axis in axes]), order,
                          mode, True)
            for k in np.ndindex(*shape)
        ]  # fmt: skip
        y = np.reshape(np.stack(parts), (*shape, *np.shape(parts[0])))
        return np.moveaxis(y, range(len(other)), other)
    return over_constant(cval, x, coordinates, order, mode, prefilter)
