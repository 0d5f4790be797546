"""Batch forms of functions of NumPy: one call for a whole batch of arrays.

``np.sort(x)`` of a batch is ``np.sort(xs, axis=-1)`` of an array with one axis more in front. The
forms of linear functions stand with their rules; here are the others, and products of two batches.
"""

import functools
from typing import Any

import numpy as np

from ... import (
    Block,
    aligned,
    batch_form,
    dtype_of,
    positional_names,
    rank_of,
    shape_of,
    shifted,
    spread,
    with_value,
)


def holds_block(xs):
    return any(type(x) is Block for x in xs)


_f: Any

# ---- entry by entry -------------------------------------------------------------------------


def elementwise(f):
    def elementwise_block(*args, **options):
        if holds_block(options.values()):
            return NotImplemented
        rank = max(len(shape_of(x)) for x in args if dtype_of(x) or type(x) is Block)
        return f(*[aligned(x, rank) for x in args], **options)

    return elementwise_block


for _f in (
    np.angle, np.around, np.clip, np.fix, np.i0, np.imag, np.iscomplex, np.isclose, np.isneginf,
    np.isposinf, np.isreal, np.nan_to_num, np.real, np.round, np.sinc,
):  # fmt: skip
    batch_form(_f)(elementwise(_f))


# ---- along axes -----------------------------------------------------------------------------


def along(f, default, flat=False):
    """Return ``f`` with its axes one further back; without an axis it takes all, or one flat one.

    ``default`` is the axis where none is given.
    """
    names = positional_names(f)

    @functools.wraps(f)
    def along_block(*args, **options):
        x, options = args[0], {**dict(zip(names[1:], args[1:])), **options}
        axis = options.pop("axis", default)
        if type(x) is not Block or holds_block(options.values()):
            return NotImplemented
        if x.rank == 0 and axis is not None:
            return NotImplemented
        if axis is None and (flat or x.rank == 0):
            return NotImplemented if options.get("keepdims") else f(x.flat, axis=1, **options)
        return f(x.values, axis=x.axes(axis), **options)

    return along_block


for _f in (np.all, np.any, np.count_nonzero, np.ptp, np.nanmax, np.nanmin, np.nansum, np.nanprod,
           np.nanmean, np.nanvar, np.nanstd, np.nanmedian):  # fmt: skip
    batch_form(_f)(along(_f, None))
for _f in (np.argmax, np.argmin, np.nanargmax, np.nanargmin, np.cumprod, np.nancumsum,
           np.nancumprod):  # fmt: skip
    batch_form(_f)(along(_f, None, flat=True))
for _f in (np.sort, np.argsort, np.partition, np.argpartition):
    batch_form(_f)(along(_f, -1, flat=True))


@batch_form(np.take_along_axis)
def take_along_axis_of_both(arr, indices, axis=-1):
    if type(indices) is not Block or axis is None or len(shape_of(arr)) != indices.rank:
        return NotImplemented
    values = spread(arr, indices.count)
    return np.take_along_axis(values, indices.values, shifted(axis, indices.rank))


def differences(x, n=1, axis=-1, prepend=np._NoValue, append=np._NoValue):
    if type(x) is not Block or prepend is not np._NoValue or append is not np._NoValue:
        return NotImplemented
    return np.diff(x.values, n, shifted(axis, x.rank))


def trapezoids(y, x=None, dx=1.0, axis=-1):
    if type(y) is not Block or holds_block((x, dx)) or len(shape_of(x)) > 1:
        return NotImplemented
    return np.trapezoid(y.values, x, dx, shifted(axis, y.rank))


def quantiles_of(f):
    def quantiles_block(a, q, axis=None, **options):
        if type(a) is not Block or a.rank == 0 or holds_block((q, *options.values())):
            return NotImplemented
        if 0 in a.shape:  # of which NumPy gives the mean, without the axis of q
            return NotImplemented
        y = f(a.values, q, a.axes(axis), **options)
        return np.moveaxis(y, len(shape_of(q)), 0)

    return quantiles_block


batch_form(np.diff)(differences)
batch_form(np.trapezoid)(trapezoids)
for _f in (np.quantile, np.percentile, np.nanquantile, np.nanpercentile):
    batch_form(_f)(quantiles_of(_f))


# ---- matrices, whose stacks NumPy takes as they are -----------------------------------------


def stacked(f):
    def stacked_block(x, *args, **options):
        alone = type(x) is Block and not holds_block((*args, *options.values()))
        return f(x.values, *args, **options) if alone and x.rank >= 2 else NotImplemented

    return stacked_block


for _f in (
    np.linalg.cholesky, np.linalg.cond, np.linalg.det, np.linalg.eig, np.linalg.eigh,
    np.linalg.eigvals, np.linalg.eigvalsh, np.linalg.inv, np.linalg.matrix_power,
    np.linalg.matrix_rank, np.linalg.pinv, np.linalg.qr, np.linalg.slogdet, np.linalg.svd,
    np.linalg.svdvals,
):  # fmt: skip
    batch_form(_f)(stacked(_f))


@batch_form(np.linalg.norm)
def norm_block(x, ord=None, axis=None, keepdims=False):
    if type(x) is not Block or x.rank == 0 or holds_block((ord, axis)):
        return NotImplemented
    if axis is None:
        if x.rank > 2 or keepdims:
            return NotImplemented
        flat = ord is None and x.rank == 2
        axis = tuple(range(1, x.rank + 1)) if x.rank == 2 else 1
        return np.linalg.norm(x.flat, axis=1) if flat else np.linalg.norm(x.values, ord, axis)
    return np.linalg.norm(x.values, ord, shifted(axis, x.rank), keepdims)


# ---- products of two batches --------------------------------------------------------------------


@batch_form(np.matmul, np.linalg.matmul)
def matmul_of_both(a, b):
    if not (type(a) is type(b) is Block) or 0 in (a.rank, b.rank):
        return NotImplemented
    x = np.expand_dims(a.values, 1) if a.rank == 1 else a.values
    z = np.expand_dims(b.values, -1) if b.rank == 1 else b.values
    rank = max(len(shape_of(x)), len(shape_of(z))) - 1
    y = aligned(Block(x), rank) @ aligned(Block(z), rank)
    y = y[..., 0] if b.rank == 1 else y
    if a.rank > 1:
        return y
    return y[..., 0] if b.rank == 1 else y[..., 0, :]


@batch_form(np.dot)
def dot_of_both(a, b):
    if type(a) is type(b) is Block and a.rank > 1 and b.rank > 2:
        return tensordot_of_both(a, b, ((-1,), (-2,)))
    return matmul_of_both(a, b)


@batch_form(np.vdot)
def vdot_of_both(a, b):
    return np.vecdot(a.flat, b.flat) if type(a) is type(b) is Block else NotImplemented


@batch_form(np.outer, np.linalg.outer)
def outer_of_both(a, b):
    if not type(a) is type(b) is Block:
        return NotImplemented
    return np.expand_dims(a.flat, -1) * np.expand_dims(b.flat, 1)


@batch_form(np.tensordot, np.linalg.tensordot)
def tensordot_of_both(a, b, axes=2):
    if not type(a) is type(b) is Block:
        return NotImplemented
    if isinstance(axes, int | np.integer):
        axes = range(a.rank - axes, a.rank), range(axes)
    of_a, of_b = [(k,) if isinstance(k, int | np.integer) else tuple(k) for k in axes]
    # Axis 0 is that of the batch; each other has a number, and those that are summed over share it.
    numbers_a = range(1, a.rank + 1)
    numbers_b = list(range(a.rank + 1, a.rank + b.rank + 1))
    for k, also in zip(shifted(of_a, a.rank), shifted(of_b, b.rank), strict=True):
        numbers_b[also - 1] = k
    left = [k for k in (*numbers_a, *numbers_b) if not (k in numbers_a and k in numbers_b)]
    return np.einsum(a.values, [0, *numbers_a], b.values, [0, *numbers_b], [0, *left])


@batch_form(np.inner)
def inner_of_both(a, b):
    if not type(a) is type(b) is Block or 0 in (a.rank, b.rank):
        return NotImplemented
    return tensordot_of_both(a, b, ((-1,), (-1,)))


@batch_form(np.cross)
def cross_of_batch(a, b, axisa=-1, axisb=-1, axisc=-1, axis=None):
    axes = (axisa, axisb, axisc) if axis is None else (axis, axis, axis)
    ranks = rank_of(a), rank_of(b), max(rank_of(a), rank_of(b))
    if 0 in ranks or holds_block(axes):
        return NotImplemented
    from_the_end = [k if k < 0 else k - rank for k, rank in zip(axes, ranks, strict=True)]
    return np.cross(aligned(a, ranks[2]), aligned(b, ranks[2]), *from_the_end)


@batch_form(np.kron)
def kron_of_batch(a, b):
    if not (holds_block((a, b)) and type(a) is not type(b)):
        return NotImplemented  # of two batches each item has its own
    rank = max(rank_of(a), rank_of(b))
    return np.kron(aligned(a, rank), aligned(b, rank))


@batch_form(with_value)
def with_value_of_batch(y, own):
    count = next(x.count for x in (y, own) if type(x) is Block)
    return with_value(spread(y, count), spread(own, count))
