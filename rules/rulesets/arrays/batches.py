"""Batch forms of functions of NumPy that are not linear: one call for a whole batch of arrays.

``np.sort(x)`` of a batch is ``np.sort(xs, axis=-1)`` of an array with one axis more in front.
"""

import functools
from typing import Any

import numpy as np

from ... import Block, aligned, block_rule, dtype_of, positional_names, shape_of, shifted


def holds_block(xs):
    return any(type(x) is Block for x in xs)


_f: Any

# ---- entry by entry -------------------------------------------------------------------------


def elementwise(f):
    def form(*args, **options):
        if holds_block(options.values()):
            return NotImplemented
        rank = max(len(shape_of(x)) for x in args if dtype_of(x) or type(x) is Block)
        return f(*[aligned(x, rank) for x in args], **options)

    block_rule(f)(form)


for _f in (
    np.angle, np.around, np.clip, np.fix, np.i0, np.imag, np.iscomplex, np.isclose, np.isneginf,
    np.isposinf, np.isreal, np.nan_to_num, np.real, np.round, np.sinc,
):  # fmt: skip
    elementwise(_f)


# ---- along axes -----------------------------------------------------------------------------


def along(f, default, flat=False):
    """Let ``f`` have its axes one further back; without an axis it takes all, or one that is flat.

    ``default`` is the axis where none is given.
    """
    names = positional_names(f)

    @functools.wraps(f)
    def form(*args, **options):
        x, options = args[0], {**dict(zip(names[1:], args[1:])), **options}
        axis = options.pop("axis", default)
        if type(x) is not Block or holds_block(options.values()) or x.rank == 0:
            return NotImplemented
        if axis is None and flat:
            return NotImplemented if options.get("keepdims") else f(x.flat, axis=1, **options)
        axis = x.axes(axis)
        return f(x.values, axis=axis, **options)

    block_rule(f)(form)


for _f in (np.all, np.any, np.count_nonzero, np.ptp, np.nanmax, np.nanmin, np.nansum, np.nanprod,
           np.nanmean, np.nanvar, np.nanstd, np.nanmedian):  # fmt: skip
    along(_f, None)
for _f in (np.argmax, np.argmin, np.nanargmax, np.nanargmin, np.cumprod, np.nancumsum,
           np.nancumprod):  # fmt: skip
    along(_f, None, flat=True)
for _f in (np.sort, np.argsort, np.partition, np.argpartition):
    along(_f, -1, flat=True)


def differences(x, n=1, axis=-1, prepend=np._NoValue, append=np._NoValue):
    if type(x) is not Block or prepend is not np._NoValue or append is not np._NoValue:
        return NotImplemented
    return np.diff(x.values, n, shifted(axis, x.rank))


def trapezoids(y, x=None, dx=1.0, axis=-1):
    if type(y) is not Block or holds_block((x, dx)) or len(shape_of(x)) > 1:
        return NotImplemented
    return np.trapezoid(y.values, x, dx, shifted(axis, y.rank))


def quantiles_of(f):
    def form(a, q, axis=None, **options):
        if type(a) is not Block or a.rank == 0 or holds_block((q, *options.values())):
            return NotImplemented
        y = f(a.values, q, a.axes(axis), **options)
        return np.moveaxis(y, len(shape_of(q)), 0)

    return form


block_rule(np.diff)(differences)
block_rule(np.trapezoid)(trapezoids)
for _f in (np.quantile, np.percentile, np.nanquantile, np.nanpercentile):
    block_rule(_f)(quantiles_of(_f))


# ---- matrices, whose stacks NumPy takes as they are -----------------------------------------


def stacked(f):
    def form(x, *args, **options):
        alone = type(x) is Block and not holds_block((*args, *options.values()))
        return f(x.values, *args, **options) if alone and x.rank >= 2 else NotImplemented

    block_rule(f)(form)


for _f in (
    np.linalg.cholesky, np.linalg.cond, np.linalg.det, np.linalg.eig, np.linalg.eigh,
    np.linalg.eigvals, np.linalg.eigvalsh, np.linalg.inv, np.linalg.matrix_power,
    np.linalg.matrix_rank, np.linalg.pinv, np.linalg.qr, np.linalg.slogdet, np.linalg.svd,
    np.linalg.svdvals,
):  # fmt: skip
    stacked(_f)


@block_rule(np.linalg.norm)
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
