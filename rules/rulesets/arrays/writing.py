"""Functions of NumPy that make arrays to be written to, and those that write into arrays."""

import math

import numpy as np

from ....config import MutationError, user_line
from ... import (
    Block,
    Traced,
    array_of,
    block_rule,
    composed,
    dtype_of,
    fitted,
    follow,
    fresh_array,
    is_basic,
    laid_out,
    number,
    pattern_rule,
    raised,
    refuse_overlap,
    shape_of,
    spread,
    value,
    writers,
    written,
)
from .indexing import along_axis_index, scatter

fresh_array(np.empty_like, np.ones_like, np.zeros_like)


# Of these only like=x makes arrays that can be written to.
fresh_array(np.empty, np.ones, np.zeros, np.eye, np.identity)


def traced_target(function, x):
    """Return ``x``, which ``function`` writes into, and refuse one that cannot be followed."""
    if not isinstance(x, Traced):
        raise MutationError(
            f"np.{function} would write a traced value into a plain array in {user_line()}.\n"
            "  make the array a traced one: np.zeros_like(x), np.zeros(shape, like=x), x.copy(); "
            "or adopt the module,\n  cr.adopt(), in which arrays take traced values"
        )
    if not x.writable:
        raise TypeError(f"np.{function} writes into an array, not into a number.")
    return x


@composed(np.copyto)
def copyto(dst, src, casting="same_kind", where=True):
    dst = traced_target("copyto", dst)
    if where is True:
        dst[...] = src
    else:
        where = np.broadcast_to(where, dst.shape)
        while np.ndim(src) > dst.ndim and np.shape(src)[0] == 1:
            src = src[0]  # as an assignment drops leading axes
        dst[where] = np.broadcast_to(src, dst.shape)[where]


@composed(np.put)
def put(a, ind, v, mode="raise"):
    if isinstance(a, Traced) and not a.writable:
        return  # NumPy writes into a copy of a number
    a = traced_target("put", a)
    if 0 in np.shape(v):
        return
    flat = np.arange(a.size).take(value(ind), mode=mode).ravel()
    a = a[None] if a.ndim == 0 else a  # a number has no places
    a[np.unravel_index(flat, a.shape)] = np.resize(array_of(v), flat.shape)


@composed(np.place)
def place(arr, mask, vals):
    arr = traced_target("place", arr)
    mask = np.reshape(mask, arr.shape).astype(bool)
    arr[mask] = np.resize(array_of(vals), np.count_nonzero(mask))


@composed(np.putmask)
def putmask(a, mask, values):
    a = traced_target("putmask", a)
    mask = np.reshape(mask, a.shape).astype(bool)
    a[mask] = np.resize(array_of(values), a.size)[np.ravel(mask)]


@composed(np.put_along_axis)
def put_along_axis(arr, indices, values, axis=-1):
    arr = traced_target("put_along_axis", arr)
    indices = value(indices)
    if axis is None:
        arr[np.unravel_index(indices, arr.shape)] = values
    else:
        arr[along_axis_index(arr.shape, indices, axis)[0]] = values


@composed(np.fill_diagonal)
def fill_diagonal(a, val, wrap=False):
    a = traced_target("fill_diagonal", a)
    refuse_overlap(a, val)
    marked = np.zeros(a.shape, bool)
    np.fill_diagonal(marked, True, wrap)
    a[marked] = np.resize(array_of(val), np.count_nonzero(marked))


SUMS = (np.add, np.subtract)


def holds_sums(a, parts):
    """Say whether sums of entries and parts are floats of the dtype of ``a``, as the parts are."""
    return dtype_of(a).kind in "fc" and dtype_of(parts) == dtype_of(a)


def add_all(a, flat, parts):
    """Add each part to the entry of ``a`` at its flat place, in the order in which NumPy does."""
    if flat.size < a.size:
        named, turns = np.unique(flat, return_inverse=True)
    else:  # without sorting
        is_named = np.zeros(a.size, bool)
        is_named[flat] = True
        named, turns = np.flatnonzero(is_named), (np.cumsum(is_named) - 1)[flat]
    where = np.unravel_index(named, a.shape)
    rows = np.concatenate([np.arange(named.size), np.ravel(turns)])
    terms = np.concatenate([a[where], parts])
    a[where] = scatter(terms, named.shape, dtype_of(a), rows)


def at_rule(ufunc):
    def at(a, indices, b):
        a = traced_target(f"{ufunc.__name__}.at", a)
        places = np.arange(a.size).reshape(a.shape)[indices]
        parts = np.ravel(np.broadcast_to(b, np.shape(places)))
        flat = np.ravel(places)
        a = a[None] if a.ndim == 0 else a  # a number has no places
        if ufunc in SUMS and type(flat) is np.ndarray and holds_sums(a, parts):
            add_all(a, flat, parts if ufunc is np.add else -parts)
            return
        # An entry that is named several times takes its turns one after the other.
        order = np.argsort(flat, kind="stable")
        turns = np.empty(flat.size, int)
        turns[order] = np.arange(flat.size) - np.searchsorted(flat[order], flat[order])
        for turn in range(turns.max(initial=-1) + 1):
            where = np.unravel_index(flat[turns == turn], a.shape)
            a[where] = ufunc(a[where], parts[turns == turn])

    return at


for ufunc in (np.add, np.subtract, np.multiply, np.divide, np.maximum, np.minimum, np.power):
    composed(ufunc.at)(at_rule(ufunc))


writers.update((np.copyto, np.put, np.place, np.putmask, np.put_along_axis, np.fill_diagonal))

# ---- writes in linear programs --------------------------------------------------------------


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


@pattern_rule(written)
def written_pattern(x, path, index, v, axes=None):
    (ids, written_ids), whole = number([x, v])
    return whole.taken(written(ids, path, index, written_ids, axes))
