"""Joining arrays, and taking them apart again.

What joins is linear in the list of its parts: the cotangent of each is a slice of ``ybar``.
What takes apart is composed of slices.
"""

import itertools

import numpy as np

from ..calls import astype, getitem
from ..definitions import composed, linear_rule
from ..levels import value
from ..project import dtype_of
from .numpy_building import indices_of, number_or_array
from .numpy_shapes import refuse_integers
from .numpys_own import composed_for_derivatives

# ---- joining --------------------------------------------------------------------------------


def slices_along(axis, ends):
    """Return the indices of consecutive parts along ``axis``, given where each ends."""
    before = (slice(None),) * axis
    return [(*before, slice(start, stop)) for start, stop in itertools.pairwise([0, *ends])]


def cut(ybar, space, axis, seen_as=None):
    """Cut ``ybar`` along ``axis`` into the parts that were joined there.

    ``seen_as(shape)`` is the shape in which a part was joined, where that is not its own.
    """
    parts = getattr(space, "parts", None)
    shapes = [space.shape[1:]] * space.shape[0] if parts is None else [x.shape for x in parts]
    lengths = [(seen_as(shape) if seen_as else shape)[axis] for shape in shapes]
    slices = slices_along(axis % np.ndim(ybar), itertools.accumulate(lengths))
    xbars = [np.reshape(getitem(ybar, index), shape) for index, shape in zip(slices, shapes)]
    return xbars if parts is not None else np.stack(xbars)


def flat(shape):
    return (int(np.prod(shape)),)


def in_1d(shape):
    return shape or (1,)


def in_2d(shape):
    return shape if len(shape) >= 2 else (1, *in_1d(shape))


def in_3d(shape):
    return shape if len(shape) >= 3 else (*in_2d(shape), 1)


def in_columns(shape):
    return shape if len(shape) >= 2 else (*in_1d(shape), 1)


def concatenate_transpose(ybar, space, axis=0, dtype=None, casting="same_kind"):
    return cut(ybar, space, 0, flat) if axis is None else cut(ybar, space, axis)


linear_rule(np.concatenate, concatenate_transpose, adapt=refuse_integers)


def stack_transpose(ybar, space, axis=0, dtype=None, casting="same_kind"):
    xbars = np.moveaxis(ybar, axis, 0)
    return [getitem(xbars, i) for i in range(len(xbars))] if hasattr(space, "parts") else xbars


linear_rule(np.stack, stack_transpose, adapt=refuse_integers)


def vstack_transpose(ybar, space, dtype=None, casting="same_kind"):
    return cut(ybar, space, 0, in_2d)


linear_rule(np.vstack, vstack_transpose, adapt=refuse_integers)


def hstack_transpose(ybar, space, dtype=None, casting="same_kind"):
    return cut(ybar, space, 0 if np.ndim(ybar) == 1 else 1, in_1d)


linear_rule(np.hstack, hstack_transpose, adapt=refuse_integers)


@linear_rule(np.dstack)
def dstack_transpose(ybar, space):
    return cut(ybar, space, 2, in_3d)


@linear_rule(np.column_stack)
def column_stack_transpose(ybar, space):
    return cut(ybar, space, 1, in_columns)


@composed(np.block)
def block(arrays):
    depth = depth_of(arrays)
    ndim = max(depth, *map(np.ndim, leaves_of(arrays)))

    def assemble(part, level):
        if isinstance(part, list):
            parts = [assemble(inner, level + 1) for inner in part]
            return np.concatenate(parts, axis=level - depth)
        return np.reshape(part, (1,) * (ndim - np.ndim(part)) + np.shape(part))

    return assemble(arrays, 0) if isinstance(arrays, list) else np.copy(arrays, order="C")


def depth_of(arrays):
    return 1 + depth_of(arrays[0]) if isinstance(arrays, list) else 0


def leaves_of(arrays):
    if isinstance(arrays, list):
        return [leaf for part in arrays for leaf in leaves_of(part)]
    return [arrays]


# ---- adding and removing entries ------------------------------------------------------------


@composed(np.append)
def append(arr, values, axis=None):
    if axis is None:
        arr, values, axis = np.ravel(arr), np.ravel(number_or_array(values)), 0
    return np.concatenate([arr, values], axis)


@composed_for_derivatives(np.insert)
def insert(arr, obj, values, axis=None):
    arr = number_or_array(arr)
    values = astype(number_or_array(values), dtype_of(value(arr)))
    numbers = np.insert(indices_of(arr), obj, indices_of(values, np.size(arr)), axis)
    return np.take(np.concatenate([np.ravel(arr), np.ravel(values)]), numbers)


@composed_for_derivatives(np.delete)
def delete(arr, obj, axis=None):
    return np.take(arr, np.delete(indices_of(arr), obj, axis))


# ---- taking apart ---------------------------------------------------------------------------


@composed(np.array_split)
def array_split(ary, indices_or_sections, axis=0):
    n = np.shape(ary)[axis]
    if np.ndim(indices_or_sections) > 0:
        ends = [*indices_or_sections, n]
    else:
        # The first parts are one longer where the sections do not divide the axis.
        each, longer = divmod(n, int(indices_or_sections))
        lengths = [each + 1] * longer + [each] * (int(indices_or_sections) - longer)
        ends = list(itertools.accumulate(lengths))
    return [ary[index] for index in slices_along(axis % np.ndim(ary), ends)]


@composed(np.split)
def split(ary, indices_or_sections, axis=0):
    if np.ndim(indices_or_sections) == 0 and np.shape(ary)[axis] % indices_or_sections:
        raise ValueError("array split does not result in an equal division")
    return array_split(ary, indices_or_sections, axis)


@composed(np.hsplit)
def hsplit(ary, indices_or_sections):
    return np.split(ary, indices_or_sections, 0 if np.ndim(ary) == 1 else 1)


@composed(np.vsplit)
def vsplit(ary, indices_or_sections):
    return np.split(ary, indices_or_sections, 0)


@composed(np.dsplit)
def dsplit(ary, indices_or_sections):
    return np.split(ary, indices_or_sections, 2)


@composed(np.unstack)
def unstack(x, /, *, axis=0):
    return tuple(np.moveaxis(x, axis, 0))
