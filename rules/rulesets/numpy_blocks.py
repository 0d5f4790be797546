"""How linear functions of NumPy run on a block of directions.

The directions are the first axis, so axes counted from the end stay what they are, and the
others move by one. Functions that are not here are called for one direction after another.
"""

import math

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from ..blocks import Block, aligned, block_rule, elementwise, spread
from ..calls import astype, getitem
from ..operands import is_basic
from ..project import shape_of
from ..views import follow, laid_out
from ..writing import raised, written
from .numpy_indexing import reads_once, scatter
from .numpy_shapes import pad_widths, pad_zeros


def shifted(axis, rank):
    """Return where an axis, or each of several, is in a block of values of ``rank`` axes."""
    if isinstance(axis, tuple | list | range):
        return tuple(shifted(k, rank) for k in axis)
    return axis % rank + 1


def axes_of(x, axis):
    return tuple(range(1, x.rank + 1)) if axis_is_all(x, axis) else shifted(axis, x.rank)


def axis_is_all(x, axis):
    """Say whether a function goes along all axes; those that take axis 0 of a number do."""
    return axis is None or x.rank == 0


def flat(x):
    return np.reshape(x.values, (x.count, math.prod(x.shape)))


# ---- entry by entry -------------------------------------------------------------------------

block_rule(np.real)(elementwise(np.real))
block_rule(np.imag)(elementwise(np.imag))
block_rule(np.conj)(elementwise(np.conj))


@block_rule(np.copy)
def copy_block(x, order="K", subok=False):
    return np.copy(x.values)


@block_rule(astype)
def astype_block(x, dtype, **options):
    return astype(x.values, dtype, **options)


# ---- sums -----------------------------------------------------------------------------------


@block_rule(np.sum)
def sum_block(x, axis=None, **options):
    return np.sum(x.values, axis=axes_of(x, axis), **options)


@block_rule(np.mean)
def mean_block(x, axis=None, **options):
    return np.mean(x.values, axis=axes_of(x, axis), **options)


@block_rule(np.cumsum)
def cumsum_block(x, axis=None, **options):
    if axis_is_all(x, axis):
        return np.cumsum(flat(x), axis=1, **options)
    return np.cumsum(x.values, axis=shifted(axis, x.rank), **options)


@block_rule(np.trace)
def trace_block(x, offset=0, axis1=0, axis2=1, **options):
    return np.trace(x.values, offset, shifted(axis1, x.rank), shifted(axis2, x.rank), **options)


# ---- shapes ---------------------------------------------------------------------------------


@block_rule(np.reshape)
def reshape_block(x, shape, order="C", copy=None):
    if order != "C":
        return NotImplemented
    shape = shape if isinstance(shape, tuple | list) else (shape,)
    if -1 in shape:
        # What is left out cannot be told from the block where there are no directions.
        others = -math.prod(shape)
        shape = tuple([(math.prod(x.shape) // others if others else 0) if n == -1 else n
                       for n in shape])  # fmt: skip
    return np.reshape(x.values, (x.count, *shape))


@block_rule(np.ravel)
def ravel_block(x, order="C"):
    return flat(x) if order == "C" else NotImplemented


@block_rule(np.expand_dims)
def expand_dims_block(x, axis):
    added = len(axis) if isinstance(axis, tuple | list) else 1
    return np.expand_dims(x.values, shifted(axis, x.rank + added))


@block_rule(np.squeeze)
def squeeze_block(x, axis=None):
    if axis_is_all(x, axis):
        axis = tuple(k for k, n in enumerate(x.shape) if n == 1)
    return np.squeeze(x.values, shifted(axis, x.rank)) if axis != () else x.values


@block_rule(np.broadcast_to)
def broadcast_to_block(x, shape, subok=False):
    shape = shape if isinstance(shape, tuple | list) else (shape,)
    return np.broadcast_to(aligned(x, len(shape)), (x.count, *shape))


@block_rule(np.transpose)
def transpose_block(x, axes=None):
    axes = range(x.rank)[::-1] if axes is None else axes
    return np.transpose(x.values, (0, *shifted(tuple(axes), x.rank)))


@block_rule(np.swapaxes)
def swapaxes_block(x, axis1, axis2):
    return np.swapaxes(x.values, shifted(axis1, x.rank), shifted(axis2, x.rank))


@block_rule(np.moveaxis)
def moveaxis_block(x, source, destination):
    return np.moveaxis(x.values, shifted(source, x.rank), shifted(destination, x.rank))


@block_rule(np.matrix_transpose, np.linalg.matrix_transpose)
def matrix_transpose_block(x):
    return np.matrix_transpose(x.values)


@block_rule(sliding_window_view)
def sliding_window_view_block(x, window_shape, axis=None):
    axis = range(x.rank) if axis is None else axis
    return sliding_window_view(x.values, window_shape, shifted(axis, x.rank))


@block_rule(np.flip)
def flip_block(x, axis=None):
    return np.flip(x.values, axes_of(x, axis))


@block_rule(np.roll)
def roll_block(x, shift, axis=None):
    if axis is None:
        return np.reshape(np.roll(flat(x), shift, 1), shape_of(x.values))
    return np.roll(x.values, shift, shifted(axis, x.rank))


@block_rule(np.repeat)
def repeat_block(x, repeats, axis=None):
    if axis_is_all(x, axis):
        return np.repeat(flat(x), repeats, 1)
    return np.repeat(x.values, repeats, shifted(axis, x.rank))


@block_rule(np.tile)
def tile_block(x, reps):
    reps = tuple(np.atleast_1d(reps))
    rank = max(len(reps), x.rank)
    return np.tile(aligned(x, rank), (1,) * (1 + rank - len(reps)) + reps)


@block_rule(pad_zeros)
def pad_zeros_block(x, pad_width):
    return pad_zeros(x.values, [(0, 0), *pad_widths(pad_width, x.rank)])


# ---- triangles and diagonals ----------------------------------------------------------------


@block_rule(np.tril)
def tril_block(x, k=0):
    return np.tril(x.values, k) if x.rank > 1 else NotImplemented


@block_rule(np.triu)
def triu_block(x, k=0):
    return np.triu(x.values, k) if x.rank > 1 else NotImplemented


@block_rule(np.diagonal)
def diagonal_block(x, offset=0, axis1=0, axis2=1):
    return np.diagonal(x.values, offset, shifted(axis1, x.rank), shifted(axis2, x.rank))


@block_rule(np.diag)
def diag_block(x, k=0):
    return np.diagonal(x.values, k, 1, 2) if x.rank == 2 else NotImplemented


# ---- indexing -------------------------------------------------------------------------------


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
    return np.arange(math.prod(shape)).reshape(shape)[index]


@block_rule(getitem)
def getitem_block(x, index):
    if type(x) is not Block:
        return NotImplemented
    led_index = led(index)
    if led_index is None:
        return np.take(flat(x), places(x.shape, index), 1)
    return getitem(x.values, led_index)


@block_rule(scatter)
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


@block_rule(np.take)
def take_block(x, indices, axis=None, mode="raise"):
    if axis_is_all(x, axis):
        return np.take(flat(x), indices, 1, mode=mode)
    return np.take(x.values, indices, shifted(axis, x.rank), mode=mode)


@block_rule(np.take_along_axis)
def take_along_axis_block(x, indices, axis=-1):
    if axis is None:
        return np.take_along_axis(flat(x), np.expand_dims(indices, 0), 1)
    return np.take_along_axis(x.values, np.expand_dims(indices, 0), shifted(axis, x.rank))


def fitted(v, rank):
    """The values of a block that is assigned to ``rank`` axes: NumPy drops leading ones of v."""
    if type(v) is Block and v.rank > rank:
        return np.reshape(v.values, (v.count, *v.shape[v.rank - rank :]))
    return aligned(v, rank)


@block_rule(written)
def written_block(x, path, index, v, axes=None):
    count = next(block.count for block in (x, v) if type(block) is Block)
    values = raised(np.copy(spread(x, count)), v.values if type(v) is Block else v)
    if not path and is_basic(index):
        index = (slice(None), *(index if type(index) is tuple else (index,)))
        values[index] = fitted(v, len(shape_of(values[index])) - 1)
        return values
    shape = shape_of(values)[1:]
    numbered = laid_out(np.arange(math.prod(shape)).reshape(shape), axes)
    places = follow(path, numbered)[index]
    flat = np.reshape(values, (count, math.prod(shape)))
    flat[:, places] = fitted(v, np.ndim(places))
    return np.reshape(flat, (count, *shape))


# ---- joining --------------------------------------------------------------------------------


def joined(arrays):
    """Return the values of every part, directions first, and the rank of one value."""
    count = next(x.count for x in arrays if type(x) is Block)
    parts = [spread(x, count) for x in arrays]
    return parts, len(shape_of(parts[0])) - 1


@block_rule(np.concatenate)
def concatenate_block(arrays, axis=0, **options):
    if type(arrays) is Block:
        return NotImplemented
    parts, rank = joined(arrays)
    if axis is None:
        return np.concatenate([flat(Block(x)) for x in parts], 1, **options)
    return np.concatenate(parts, shifted(axis, rank), **options)


@block_rule(np.stack)
def stack_block(arrays, axis=0, **options):
    if type(arrays) is Block:
        return NotImplemented
    parts, rank = joined(arrays)
    return np.stack(parts, shifted(axis, rank + 1), **options)


def raised_to(rank, x):
    """Put axes of length 1 before those of each value, up to ``rank`` of them."""
    count, *shape = shape_of(x)
    return np.reshape(x, (count, *(1,) * (rank - len(shape)), *shape))


@block_rule(np.hstack)
def hstack_block(tup, **options):
    if type(tup) is Block:
        return NotImplemented
    parts = [raised_to(1, x) for x in joined(tup)[0]]
    return np.concatenate(parts, 1 if len(shape_of(parts[0])) == 2 else 2, **options)


@block_rule(np.vstack)
def vstack_block(tup, **options):
    if type(tup) is Block:
        return NotImplemented
    return np.concatenate([raised_to(2, x) for x in joined(tup)[0]], 1, **options)
