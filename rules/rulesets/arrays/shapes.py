"""Arrays in another shape, order or dtype: every function here is linear in its array.

A padded, tiled or resized array repeats entries of the one given; where a formula for the
transpose would be longer than the function, a map of indices says which entry went where.
"""

import math

import numpy as np

from ....config import MissingRuleError, user_line
from ... import (
    Block,
    aligned,
    dtype_of,
    linear_rule,
    primitive,
    refuse_integers,
    shape_of,
    shifted,
    unbroadcast,
)
from .indexing import scatter

# ---- reshaping ------------------------------------------------------------------------------


def as_it_lies(x, order="C", **options):
    """Say C or F for an order that depends on how ``x`` lies in memory: tangents lie otherwise."""
    if type(options.get("shape")) is int:  # which np.reshape of an array of dask takes for a tuple
        options["shape"] = (options["shape"],)
    if order == "C":
        return options
    if order in ("K", "k") and len(shape_of(x)) > 1:
        raise MissingRuleError(
            "order='K' follows the strides of the array, and its tangent may have others"
            f", in {user_line()}.\n"
            "  write order='A', which is the same for contiguous arrays, or "
            "np.ravel(np.transpose(x, axes))"
        )
    if order in ("A", "K", "a", "k"):
        flags = getattr(x.values[0] if type(x) is Block else x, "flags", None)
        order = "F" if flags is not None and flags.fnc else "C"
    return {"order": order, **options}


def reshape_transpose(ybar, space, shape, order="C", copy=None):
    return in_order(ybar, space.shape, order)


def ravel_transpose(ybar, space, order="C"):
    return in_order(ybar, space.shape, order)


def in_order(x, shape, order):
    if type(x) is np.ndarray:
        return x.reshape(shape, order=order)
    # Dask has no order, and refuses the word.
    return np.reshape(x, shape) if order == "C" else np.reshape(x, shape, order=order)


def reshape_block(x, shape, order="C", copy=None):
    if order != "C" or copy is False:  # which is refused, where an item cannot be a view
        return NotImplemented
    shape = tuple(np.ravel(shape).tolist())  # a number, a sequence, or an array of integers
    if -1 in shape:
        # What is left out cannot be told from the block where there are no directions.
        others = -math.prod(shape)
        shape = tuple([(math.prod(x.shape) // others if others else 0) if n == -1 else n
                       for n in shape])  # fmt: skip
    y = np.reshape(x.values, (x.count, *shape))
    return np.copy(y) if copy else y


def ravel_block(x, order="C"):
    return x.flat if order == "C" else NotImplemented


linear_rule(np.reshape, reshape_transpose, adapt=as_it_lies, moves=True, block=reshape_block)
linear_rule(np.ravel, ravel_transpose, adapt=as_it_lies, moves=True, block=ravel_block)


def same_entries_transpose(ybar, space, axis=None):
    return in_order(ybar, space.shape, "C")


def expand_dims_block(x, axis):
    added = len(axis) if isinstance(axis, tuple | list) else 1
    return np.expand_dims(x.values, shifted(axis, x.rank + added))


def squeeze_block(x, axis=None):
    if axis is None or x.rank == 0:
        axis = tuple(k for k, n in enumerate(x.shape) if n == 1)
    return np.squeeze(x.values, shifted(axis, x.rank)) if axis != () else x.values


linear_rule(np.expand_dims, same_entries_transpose, moves=True, block=expand_dims_block)
linear_rule(np.squeeze, same_entries_transpose, moves=True, block=squeeze_block)


def copy_block(x, order="K", subok=False):
    if order in ("C", "K"):
        return np.copy(x.values, order)
    if order == "A":
        return NotImplemented
    reverse = (0, *range(1, x.rank + 1)[::-1])
    return np.transpose(np.copy(np.transpose(x.values, reverse), "C"), reverse)


@linear_rule(np.copy, moves=True, views=False, block=copy_block)
def copy_transpose(ybar, space, order="K", subok=False):
    return ybar


def broadcast_to_block(x, shape, subok=False):
    shape = shape if isinstance(shape, tuple | list) else (shape,)
    return np.broadcast_to(aligned(x, len(shape)), (x.count, *shape))


@linear_rule(np.broadcast_to, moves=True, block=broadcast_to_block)
def broadcast_to_transpose(ybar, space, shape, subok=False):
    return unbroadcast(ybar, space.shape)


# ---- moving axes ----------------------------------------------------------------------------


def transpose_block(x, axes=None):
    axes = range(x.rank)[::-1] if axes is None else np.atleast_1d(axes).tolist()
    return np.transpose(x.values, (0, *x.axes(tuple(axes))))


@linear_rule(np.transpose, moves=True, block=transpose_block)
def transpose_transpose(ybar, space, axes=None):
    if axes is not None:
        axes = [axis % space.ndim for axis in np.atleast_1d(axes).tolist()]
        axes = sorted(range(space.ndim), key=axes.__getitem__)
    return ybar.transpose(axes) if type(ybar) is np.ndarray else np.transpose(ybar, axes)


def matrix_transpose_transpose(ybar, space):
    return np.matrix_transpose(ybar)


def matrix_transpose_block(x):
    return np.matrix_transpose(x.values)


for _f in (np.matrix_transpose, np.linalg.matrix_transpose):
    linear_rule(_f, matrix_transpose_transpose, moves=True, block=matrix_transpose_block)


@linear_rule(np.swapaxes, moves=True, axes=("axis1", "axis2"))
def swapaxes_transpose(ybar, space, axis1, axis2):
    swap = np.ndarray.swapaxes if type(ybar) is np.ndarray else np.swapaxes
    return swap(ybar, axis1, axis2)


@linear_rule(np.moveaxis, moves=True, axes=("source", "destination"))
def moveaxis_transpose(ybar, space, source, destination):
    return np.moveaxis(ybar, destination, source)


def rollaxis_block(a, axis, start=0):
    return np.rollaxis(
        a.values, shifted(axis, a.rank), (start if start >= 0 else start + a.rank) + 1
    )


@linear_rule(np.rollaxis, moves=True, block=rollaxis_block)
def rollaxis_transpose(ybar, space, axis, start=0):
    axis = axis % space.ndim
    start = start + space.ndim if start < 0 else start
    return np.moveaxis(ybar, start - 1 if axis < start else start, axis)


# ---- moving entries -------------------------------------------------------------------------


@linear_rule(np.flip, moves=True, axes="axis")
def flip_transpose(ybar, space, axis=None):
    return np.flip(ybar, axis)


@linear_rule(np.fliplr, moves=True, block=lambda m: np.flip(m.values, 2))
def fliplr_transpose(ybar, space):
    return np.fliplr(ybar)


@linear_rule(np.flipud, moves=True, block=lambda m: np.flip(m.values, 1))
def flipud_transpose(ybar, space):
    return np.flipud(ybar)


@linear_rule(np.rot90, moves=True, axes="axes")
def rot90_transpose(ybar, space, k=1, axes=(0, 1)):
    return np.rot90(ybar, -k, axes)


def roll_block(x, shift, axis=None):
    if axis is None:
        return np.reshape(np.roll(x.flat, shift, 1), shape_of(x.values))
    return np.roll(x.values, shift, shifted(axis, x.rank))


@linear_rule(np.roll, moves=True, views=False, block=roll_block)
def roll_transpose(ybar, space, shift, axis=None):
    return np.roll(ybar, np.negative(shift), axis)


# ---- repeating entries ----------------------------------------------------------------------


def repeat_block(x, repeats, axis=None):
    if axis is None or x.rank == 0:
        return np.repeat(x.flat, repeats, 1)
    return np.repeat(x.values, repeats, shifted(axis, x.rank))


@linear_rule(np.repeat, moves=True, views=False, block=repeat_block)
def repeat_transpose(ybar, space, repeats, axis=None):
    along = axis is not None and space.ndim  # the only axis of a number is none
    shape = space.shape if along else (int(np.prod(space.shape)),)
    axis = axis % len(shape) if along else 0
    before, n, after = shape[:axis], shape[axis], shape[axis + 1 :]
    if np.size(repeats) == 1:
        count = int(np.ravel(repeats)[0])
        xbar = np.sum(np.reshape(ybar, (*before, n, count, *after)), axis + 1)
    else:
        index = (slice(None),) * axis + (np.repeat(np.arange(n), repeats),)
        xbar = scatter(ybar, shape, space.dtype, index)
    return np.reshape(xbar, space.shape)


def tile_block(x, reps):
    reps = tuple(np.atleast_1d(reps))
    rank = max(len(reps), x.rank)
    return np.tile(aligned(x, rank), (1,) * (1 + rank - len(reps)) + reps)


@linear_rule(np.tile, moves=True, views=False, block=tile_block)
def tile_transpose(ybar, space, reps):
    reps = tuple(np.atleast_1d(reps))
    reps = (1,) * (space.ndim - len(reps)) + reps
    shape = (1,) * (len(reps) - space.ndim) + space.shape
    pairs = [length for pair in zip(reps, shape) for length in pair]
    repeated = tuple(range(0, len(pairs), 2))
    return np.reshape(np.sum(np.reshape(ybar, pairs), repeated), space.shape)


@primitive
def pad_zeros(x, pad_width):
    """``np.pad`` with zeros."""
    return np.pad(x, pad_width)


def pad_zeros_block(x, pad_width):
    return pad_zeros(x.values, [(0, 0), *pad_widths(pad_width, x.rank)])


def pad_zeros_moves(shape, pad_width):
    return np.pad(np.ones(shape, bool), pad_width)


@linear_rule(pad_zeros, moves=True, views=False, idles=pad_zeros_moves, block=pad_zeros_block)
def pad_zeros_transpose(ybar, space, pad_width):
    widths = pad_widths(pad_width, space.ndim)
    return ybar[tuple(slice(before, before + n) for (before, _), n in zip(widths, space.shape))]


def pad_widths(pad_width, ndim):
    """Return the widths before and after, axis by axis, from any form ``np.pad`` takes."""
    if isinstance(pad_width, dict):
        by_axis = {axis % ndim: width for axis, width in pad_width.items()}
        pad_width = [np.broadcast_to(by_axis.get(axis, 0), 2) for axis in range(ndim)]
    return np.broadcast_to(pad_width, (ndim, 2)).tolist()


# ---- triangles and diagonals ----------------------------------------------------------------


def tril_block(x, k=0):
    return np.tril(x.values, k) if x.rank > 1 else NotImplemented


def triu_block(x, k=0):
    return np.triu(x.values, k) if x.rank > 1 else NotImplemented


@linear_rule(np.tril, moves=True, drops=True, views=False, block=tril_block)
def tril_transpose(ybar, space, k=0):
    return unbroadcast(np.tril(ybar, k), space.shape)


@linear_rule(np.triu, moves=True, drops=True, views=False, block=triu_block)
def triu_transpose(ybar, space, k=0):
    return unbroadcast(np.triu(ybar, k), space.shape)


def diagonal_index(n, offset):
    row, column = max(-offset, 0), max(offset, 0)
    return ..., np.arange(row, row + n), np.arange(column, column + n)


def on_diagonal(x, shape, offset):
    """Return matrices of zeros with ``x`` on a diagonal; each of its places is there once."""
    index = diagonal_index(shape_of(x)[-1], offset)
    if type(x) is not np.ndarray:
        return scatter(x, shape, dtype_of(x), index)
    y = np.zeros(shape, x.dtype)
    y[index] = x
    return y


def diagonal_transpose(ybar, space, offset=0, axis1=0, axis2=1):
    axes = (axis1 % space.ndim, axis2 % space.ndim)
    others = [n for axis, n in enumerate(space.shape) if axis not in axes]
    shape = (*others, *(space.shape[axis] for axis in axes))
    y = on_diagonal(ybar, shape, offset)
    last = (space.ndim - 2, space.ndim - 1)
    return y if axes == last else np.moveaxis(y, last, axes)


def matrix_diagonal_transpose(ybar, space, offset=0):
    return diagonal_transpose(ybar, space, offset, -2, -1)


linear_rule(np.diagonal, diagonal_transpose, moves=True, drops=True, axes=("axis1", "axis2"))
linear_rule(
    np.linalg.diagonal,
    matrix_diagonal_transpose,
    moves=True,
    drops=True,
    block=lambda x, offset=0: np.linalg.diagonal(x.values, offset=offset),
)


def diag_block(x, k=0):
    return np.diagonal(x.values, k, 1, 2) if x.rank == 2 else diagflat_block(x, k)


def diagflat_block(x, k=0):
    count, n = shape_of(x.flat)
    return on_diagonal(x.flat, (count, n + abs(k), n + abs(k)), k)


def diag_moves(shape, k=0):
    return diagflat_moves(shape, k) if len(shape) == 1 else None


def diagflat_moves(shape, k=0):
    n = math.prod(shape)
    return on_diagonal(np.ones(n, bool), (n + abs(k), n + abs(k)), k)


@linear_rule(np.diag, moves=True, drops=True, idles=diag_moves, block=diag_block)
def diag_transpose(ybar, space, k=0):
    return np.diagonal(ybar, k) if space.ndim == 1 else diagonal_transpose(ybar, space, k)


@linear_rule(np.diagflat, moves=True, views=False, idles=diagflat_moves, block=diagflat_block)
def diagflat_transpose(ybar, space, k=0):
    return np.reshape(np.diagonal(ybar, k), space.shape)


def trace_transpose(ybar, space, offset=0, axis1=0, axis2=1, dtype=None):
    rows, columns = space.shape[axis1], space.shape[axis2]
    n = max(0, min(rows + min(offset, 0), columns - max(offset, 0)))
    spread = np.broadcast_to(np.reshape(ybar, (*shape_of(ybar), 1)), (*shape_of(ybar), n))
    return diagonal_transpose(spread, space, offset, axis1, axis2)


def matrix_trace_transpose(ybar, space, offset=0, dtype=None):
    return trace_transpose(ybar, space, offset, -2, -1)


linear_rule(np.trace, trace_transpose, adapt=refuse_integers, adds=True, drops=True,
            axes=("axis1", "axis2"))  # fmt: skip
linear_rule(np.linalg.trace, matrix_trace_transpose, adapt=refuse_integers, adds=True, drops=True,
            block=lambda a, **options: np.linalg.trace(a.values, **options))  # fmt: skip
