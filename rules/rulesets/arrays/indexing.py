"""Reading entries of an array: by an index of any kind, and the functions that take.

Each is a selection; its transpose adds every entry of ``ybar`` where the entry was read.
"""

import functools
import math
import operator

import numpy as np

from ....config.thresholds import MANY_ROWS, NARROW_ROWS
from ... import (
    ZERO,
    Block,
    InplaceableThunk,
    Pattern,
    ProjectContainer,
    astype,
    composed,
    dtype_of,
    entry,
    getitem,
    is_basic,
    is_foreign_array,
    linear_rule,
    matrix,
    primitive,
)
from .lazily import put

# Cotangents of these types are not traced, so they may be added into an array.
PLAIN = frozenset({np.ndarray, float, complex, np.float64, np.float32, np.complex128})


def is_mask(index):
    return getattr(getattr(index, "dtype", None), "kind", "") == "b"


def reads_once(index):
    """Say whether ``index`` is sure to read no entry twice: integers, slices and one mask."""
    if is_basic(index) or is_mask(index):
        return True
    if type(index) is not tuple:
        return False
    others = [part for part in index if type(part) is tuple or not is_basic(part)]
    return len(others) == 1 and is_mask(others[0])


def add_at(buffer, index, x):
    """Add ``x`` into a plain array at ``index``; what is read twice gets both."""
    if type(index) is np.ndarray and index.dtype.kind in "iu":
        if buffer.ndim > 1 and buffer.flags.c_contiguous:
            width = int(np.prod(buffer.shape[1:]))
            rows = np.reshape(buffer, (len(buffer), width))
            add_rows(rows, np.ravel(index), np.reshape(x, (index.size, width)))
        else:
            np.add.at(buffer, index, x)
    elif is_basic(index) and type(view := buffer[index]) is np.ndarray:
        view += x  # and not buffer[index] += x, which would copy the view onto itself
    elif reads_once(index):
        buffer[index] += x
    else:
        np.add.at(buffer, index, x)


def add_rows(buffer, index, x):
    """Add the rows of ``x`` at ``index``. NumPy is slow for rows, and fast for one axis (2.4)."""
    n, width = buffer.shape
    plain = buffer.dtype == x.dtype == np.float64 and index.dtype.kind == "i"
    if plain and width <= NARROW_ROWS and index.size >= max(n, MANY_ROWS) and np.min(index) >= 0:
        for k in range(width):
            buffer[:, k] += np.bincount(index, x[:, k], n)
    else:
        entries = np.expand_dims(index, -1) * width + np.arange(width)
        np.add.at(np.reshape(buffer, -1), np.ravel(entries), np.ravel(x))


@primitive
def scatter(x, shape, dtype, index):
    """Zeros of ``shape``, with ``x`` added at ``index``."""
    # For small arrays most of the time is spent in zeros_like.
    plain = type(x) is np.ndarray
    if not plain and is_foreign_array(x):
        return put(x, shape, dtype, index)
    y = np.zeros(shape, dtype) if plain else np.zeros_like(x, dtype=dtype, shape=shape)
    add_at(y, index, x)
    return y


def led(index):
    """Return the index that reads the same of every direction; None where there is none.

    NumPy moves the axis that several arrays read to the front where something lies between
    them; there the axis of the directions would follow. Flags count as arrays, numbers alone do
    not.
    """
    index = index if type(index) is tuple else (index,)
    arrays = [k for k, part in enumerate(index) if not isinstance(part, slice | type(None))]
    arrays = [k for k in arrays if index[k] is not ...]
    integers = all(is_integer(index[k]) for k in arrays)
    together = not arrays or arrays[-1] - arrays[0] == len(arrays) - 1
    return (slice(None), *index) if integers or together else None


def is_integer(part):
    return isinstance(part, int | np.integer) and not isinstance(part, bool)


def places(shape, index):
    """Return where in the flat array of ``shape`` the entries are that ``index`` reads."""
    return getitem(np.arange(math.prod(shape)).reshape(shape), index)


def scatter_block(x, shape, dtype, index):
    led_index = led(index)
    alone = type(index) is np.ndarray
    if led_index is not None and reads_once(led_index) and not alone:
        return scatter(x.values, (x.count, *shape), dtype, led_index)
    # Rows are added faster than columns, so here the directions are the last axis: one more
    # behind those that an array alone reads, else behind the flat places that are read.
    rows = np.moveaxis(x.values, 0, -1)
    if alone:
        return np.moveaxis(scatter(rows, (*shape, x.count), dtype, index), -1, 0)
    index = places(shape, index).ravel()
    rows = np.reshape(rows, (index.size, x.count))
    y = scatter(rows, (math.prod(shape), x.count), dtype, index)
    return np.reshape(np.moveaxis(y, -1, 0), (x.count, *shape))


def scatter_pattern(x, shape, dtype, index):
    size = math.prod(shape)
    at = np.broadcast_to(places(shape, index), x.shape)
    return Pattern(shape, matrix(at, np.arange(x.size), (size, x.size)) @ x.rows)


@linear_rule(scatter, block=scatter_block, pattern=scatter_pattern)
def scatter_transpose(ybar, space, shape, dtype, index):
    return getitem(ybar, index)


def getitem_transpose(ybar, space, index):
    if type(space) is ProjectContainer:
        return part_transpose(ybar, space, index)
    dense = functools.partial(scatter, ybar, shape=space.shape, dtype=space.dtype, index=index)
    if type(ybar) not in PLAIN:
        return dense()

    def add_into(buffer):
        add_at(buffer, index, ybar)
        return buffer

    return InplaceableThunk(add_into, dense)


def getitem_block(x, index):
    if type(x) is not Block:
        return NotImplemented
    led_index = led(index)
    if led_index is None:
        return np.take(x.flat, places(x.shape, index), 1)
    return getitem(x.values, led_index)


linear_rule(getitem, getitem_transpose, moves=True, drops=True, block=getitem_block)


def entry_transpose(ybar, space, index=()):
    return scatter(ybar, space.shape, space.dtype, index) if index else ybar


def entry_block(x, index=()):
    dtype = dtype_of(x.values)
    if dtype.kind in "fc":
        dtype = np.result_type(dtype, np.float64)
    elif dtype.kind in "iu" and dtype != np.uint64:
        dtype = np.dtype(np.int64)
    return astype(getitem(x.values, (slice(None), *index)), dtype)


linear_rule(entry, entry_transpose, moves=True, drops=True, views=False, block=entry_block)


def part_transpose(ybar, space, index):
    """Pull to a container from one of its parts, or from a slice of them."""
    if issubclass(space.primal_type, dict):
        return {index: ybar}
    parts = [ZERO] * len(space.parts)
    parts[index] = list(ybar) if type(index) is slice else ybar
    return parts


@composed(operator.getitem)
def operator_getitem(x, index):
    return getitem(x, index)


# ---- functions that take --------------------------------------------------------------------


def take_index(shape, indices, axis, mode):
    """Return the index that reads what ``np.take`` takes; without axis where ``x`` has none."""
    axis = axis if shape else None
    n = int(np.prod(shape)) if axis is None else shape[axis]
    indices = np.asarray(indices).astype(int)  # NumPy takes 0.4 for 0, if it is no array
    if mode == "wrap":
        indices = indices % n
    elif mode == "clip":
        indices = np.clip(indices, 0, n - 1)
    return (slice(None),) * (axis % len(shape)) + (indices,) if axis else indices


def take_transpose(ybar, space, indices, axis=None, mode="raise"):
    if not np.size(ybar):  # NumPy takes any index of lanes that have no entries
        return np.zeros(space.shape, space.dtype)
    index = take_index(space.shape, indices, axis, mode)
    if axis is not None and space.ndim:
        return getitem_transpose(ybar, space, index)
    size = int(np.prod(space.shape))
    return np.reshape(scatter(ybar, (size,), space.dtype, index), space.shape)


def take_block(x, indices, axis=None, mode="raise"):
    if axis is None or x.rank == 0:
        return np.take(x.flat, indices, 1, mode=mode)
    return np.take(x.values, indices, x.axes(axis), mode=mode)


linear_rule(np.take, take_transpose, moves=True, drops=True, views=False, block=take_block)


def along_axis_index(shape, indices, axis):
    """Return the index that reads what ``np.take_along_axis`` takes, and the shape it reads."""
    if axis is None:
        return (indices,), (int(np.prod(shape)),)
    index = list(np.ogrid[tuple(map(slice, shape))])
    index[axis] = indices
    return tuple(index), shape


def take_along_axis_transpose(ybar, space, indices, axis=-1):
    index, shape = along_axis_index(space.shape, indices, axis)
    return np.reshape(scatter(ybar, shape, space.dtype, index), space.shape)


def take_along_axis_block(x, indices, axis=-1):
    if axis is None:
        return np.take_along_axis(x.flat, np.expand_dims(indices, 0), 1)
    return np.take_along_axis(x.values, np.expand_dims(indices, 0), x.axes(axis))


linear_rule(np.take_along_axis, take_along_axis_transpose, moves=True, drops=True, views=False,
            block=take_along_axis_block)  # fmt: skip


@composed(np.compress)
def compress(condition, a, axis=None):
    return np.take(a, np.flatnonzero(condition), axis=axis)


@composed(np.extract)
def extract(condition, arr):
    return np.take(arr, np.flatnonzero(condition))
