"""Joining arrays, and taking them apart again.

What joins is linear in the list of its parts: the cotangent of each is a slice of ``ybar``.
What takes apart is composed of slices.
"""

import itertools

import numpy as np

from ... import (
    Block,
    Traced,
    astype,
    composed,
    dtype_of,
    getitem,
    linear_rule,
    refuse_integers,
    shape_of,
    shifted,
    spread,
)
from .building import indices_of
from .elementwise import as_array

# ---- joining --------------------------------------------------------------------------------

JOINS = {"moves": True, "views": False}


def cut(ybar, space, axis, seen_as=None):
    """Cut ``ybar`` along ``axis`` into the parts that were joined there.

    ``seen_as(shape)`` is the shape in which a part was joined, where that is not its own.
    """
    parts = getattr(space, "parts", None)
    shapes = [space.shape[1:]] * space.shape[0] if parts is None else [x.shape for x in parts]
    before = (slice(None),) * (axis % len(shape_of(ybar)))
    xbars, start = [], 0
    for shape in shapes:
        stop = start + (seen_as(shape) if seen_as else shape)[axis]
        xbar = ybar[(*before, slice(start, stop))]
        xbars.append(np.reshape(xbar, shape) if seen_as else xbar)
        start = stop
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


def joined(arrays):
    """Return the values of every part, directions first, and the rank of one value."""
    parts = [x.values for x in arrays if type(x) is Block]
    if len(parts) < len(arrays):
        count = shape_of(parts[0])[0]
        parts = [spread(x, count) for x in arrays]
    return parts, parts[0].ndim - 1


def concatenate_block(arrays, axis=0, **options):
    if type(arrays) is Block:
        return NotImplemented
    parts, rank = joined(arrays)
    if axis is None:
        if options.get("dtype") is None:  # in which a number of Python's is as weak as elsewhere
            numbers = int, float, complex
            kinds = [x if type(x) in numbers else dtype_of(part) for x, part in zip(arrays, parts)]
            options["dtype"] = np.result_type(*kinds)
        return np.concatenate([Block(x).flat for x in parts], 1, **options)
    return np.concatenate(parts, shifted(axis, rank), **options)


linear_rule(np.concatenate, concatenate_transpose, adapt=refuse_integers, **JOINS,
            block=concatenate_block)  # fmt: skip


def stack_transpose(ybar, space, axis=0, dtype=None, casting="same_kind"):
    if axis == 0 and type(ybar) is np.ndarray and hasattr(space, "parts"):
        return list(ybar)
    xbars = ybar if axis == 0 else np.moveaxis(ybar, axis, 0)
    if not hasattr(space, "parts"):
        return xbars
    places = range(len(xbars))
    traced = isinstance(xbars, Traced)  # which reads them by itself, and sooner
    return [xbars[i] if traced else getitem(xbars, i) for i in places]


def stack_block(arrays, axis=0, **options):
    if type(arrays) is Block:
        return NotImplemented
    parts, rank = joined(arrays)
    return np.stack(parts, shifted(axis, rank + 1), **options)


linear_rule(np.stack, stack_transpose, adapt=refuse_integers, **JOINS, block=stack_block)


def vstack_transpose(ybar, space, dtype=None, casting="same_kind"):
    return cut(ybar, space, 0, in_2d)


def joined_as(seen_as, axis):
    """Return the block form of joining parts along an axis in the shapes that they are seen as."""

    def block(tup, **options):
        if type(tup) is Block:
            return NotImplemented
        parts = [np.reshape(x, (len(x), *seen_as(shape_of(x)[1:]))) for x in joined(tup)[0]]
        # Behind the axis of directions; parts of one axis have no second one.
        return np.concatenate(parts, min(axis + 1, len(shape_of(parts[0])) - 1), **options)

    return block


linear_rule(np.vstack, vstack_transpose, adapt=refuse_integers, **JOINS, block=joined_as(in_2d, 0))


def hstack_transpose(ybar, space, dtype=None, casting="same_kind"):
    return cut(ybar, space, 0 if np.ndim(ybar) == 1 else 1, in_1d)


linear_rule(np.hstack, hstack_transpose, adapt=refuse_integers, **JOINS, block=joined_as(in_1d, 1))


@linear_rule(np.dstack, **JOINS, block=joined_as(in_3d, 2))
def dstack_transpose(ybar, space):
    return cut(ybar, space, 2, in_3d)


@linear_rule(np.column_stack, **JOINS, block=joined_as(in_columns, 1))
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
        arr, values, axis = np.ravel(arr), np.ravel(as_array(values)), 0
    return np.concatenate([arr, values], axis)


@composed(np.insert, value="own")
def insert(arr, obj, values, axis=None):
    arr = as_array(arr)
    values = astype(as_array(values), dtype_of(arr))
    numbers = np.insert(indices_of(arr), obj, indices_of(values, np.size(arr)), axis)
    return np.take(np.concatenate([np.ravel(arr), np.ravel(values)]), numbers)


@composed(np.delete, value="own")
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
    before = (slice(None),) * (axis % np.ndim(ary))
    return [ary[(*before, slice(start, stop))] for start, stop in itertools.pairwise([0, *ends])]


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
