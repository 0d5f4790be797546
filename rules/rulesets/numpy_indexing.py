"""Reading entries of an array: by an index of any kind, and the functions that take.

Each is a selection; its transpose adds every entry of ``ybar`` where the entry was read.
"""

import functools
import operator

import numpy as np

from ..calls import getitem, primitive
from ..definitions import composed, linear_rule
from ..operands import is_basic
from ..project import ProjectContainer
from ..tangents import ZERO, InplaceableThunk

# So many rows of so few entries are faster added up column by column.
MANY, NARROW = 500, 8

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
    if is_basic(index) and type(view := buffer[index]) is np.ndarray:
        view += x  # and not buffer[index] += x, which would copy the view onto itself
    elif reads_once(index):
        buffer[index] += x
    elif type(index) is np.ndarray and buffer.ndim > 1 and buffer.flags.c_contiguous:
        width = int(np.prod(buffer.shape[1:]))
        rows = np.reshape(buffer, (len(buffer), width))
        add_rows(rows, np.ravel(index), np.reshape(x, (index.size, width)))
    else:
        np.add.at(buffer, index, x)


def add_rows(buffer, index, x):
    """Add the rows of ``x`` at ``index``. NumPy is slow for rows, and fast for one axis (2.4)."""
    n, width = buffer.shape
    plain = buffer.dtype == x.dtype == np.float64 and index.dtype.kind == "i"
    if plain and width <= NARROW and index.size >= max(n, MANY) and np.min(index) >= 0:
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
    y = np.zeros(shape, dtype) if plain else np.zeros_like(x, dtype=dtype, shape=shape)
    add_at(y, index, x)
    return y


@linear_rule(scatter)
def scatter_transpose(ybar, space, shape, dtype, index):
    return getitem(ybar, index)


def mark_getitem(alive, index):
    alive[index] = True


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


linear_rule(getitem, getitem_transpose, mark=mark_getitem)


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
    indices = np.asarray(indices, None if np.size(indices) else int)
    if mode == "wrap":
        indices = indices % n
    elif mode == "clip":
        indices = np.clip(indices, 0, n - 1)
    return (slice(None),) * (axis % len(shape)) + (indices,) if axis else indices


def mark_take(alive, indices, axis=None, mode="raise"):
    index = take_index(alive.shape, indices, axis, mode)
    along = axis is not None and alive.ndim
    mark_getitem(alive if along else np.reshape(alive, -1), index)


def take_transpose(ybar, space, indices, axis=None, mode="raise"):
    index = take_index(space.shape, indices, axis, mode)
    if axis is not None and space.ndim:
        return getitem_transpose(ybar, space, index)
    size = int(np.prod(space.shape))
    return np.reshape(scatter(ybar, (size,), space.dtype, index), space.shape)


linear_rule(np.take, take_transpose, mark=mark_take)


def along_axis_index(shape, indices, axis):
    """Return the index that reads what ``np.take_along_axis`` takes, and the shape it reads."""
    if axis is None:
        return (indices,), (int(np.prod(shape)),)
    index = list(np.ogrid[tuple(map(slice, shape))])
    index[axis] = indices
    return tuple(index), shape


def mark_take_along_axis(alive, indices, axis=-1):
    index, shape = along_axis_index(alive.shape, indices, axis)
    np.reshape(alive, shape)[index] = True


def take_along_axis_transpose(ybar, space, indices, axis=-1):
    index, shape = along_axis_index(space.shape, indices, axis)
    return np.reshape(scatter(ybar, shape, space.dtype, index), space.shape)


linear_rule(np.take_along_axis, take_along_axis_transpose, mark=mark_take_along_axis)


@composed(np.compress)
def compress(condition, a, axis=None):
    return np.take(a, np.flatnonzero(condition), axis=axis)


@composed(np.extract)
def extract(condition, arr):
    return np.take(arr, np.flatnonzero(condition))
