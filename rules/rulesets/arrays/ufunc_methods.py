"""The methods of NumPy's ufuncs: ``reduce``, ``accumulate``, ``reduceat`` and ``outer``.

Sums, products, extremes and sums of exponentials have rules of their own. Any other ufunc is
called once for each entry along the axis, as NumPy does it, and each call has its rule.
"""

import numpy as np

from ... import (
    array_of,
    astype,
    composed_each,
    dtype_of,
    linear_rule,
    non_differentiable,
    reduction_rule,
    refuse_integers,
    rrule,
    select,
    value,
)
from . import trigonometry  # noqa: F401 - the rules of its ufuncs come first
from .along_axes.accumulations import in_lanes
from .constant import COMPARISONS, LOGIC
from .elementwise import or_one
from .indexing import scatter

# A sum in another dtype is rounded otherwise than one of numbers that were converted before.
SUMS = {np.add.reduce: np.sum, np.multiply.reduce: np.prod}
EXTREMES = {
    np.maximum.reduce: np.max, np.minimum.reduce: np.min,
    np.fmax.reduce: np.nanmax, np.fmin.reduce: np.nanmin,
}  # fmt: skip


@composed_each(SUMS)
def summed_along(function, array, axis=0, dtype=None, keepdims=False, **options):
    options |= {} if dtype is None else {"dtype": dtype}
    return function(array_of(array), axis=axis, keepdims=keepdims, **options)


@composed_each(EXTREMES)
def extreme_along(function, array, axis=0, dtype=None, keepdims=False, **options):
    array = array_of(array) if dtype is None else astype(array_of(array), dtype)
    if not np.ndim(array) and axis in (0, -1, None, ()):
        # Of a number that does not count np.nanmax forgets the initial value.
        array, axis, keepdims = np.reshape(array, 1), None, False
    return function(array, axis=axis, keepdims=keepdims, **options)


# ---- sums of exponentials ----

EXP = {np.logaddexp.reduce: np.exp, np.logaddexp2.reduce: np.exp2}


def portions(exp, x, y, axis, where, initial):
    """``exp(x - y)``, which sums to 1; even between equal infinities."""
    infinite = np.isinf(y) & (x == y) & where
    number = np.sum(infinite, axis=axis, keepdims=True, dtype=y.dtype)
    if initial is not None:
        number = number + (y == initial)
    portion = exp(np.where(infinite, 0, x) - np.where(infinite, 0, y))
    return select(where, np.where(infinite, 1 / or_one(number), portion))


@reduction_rule(np.logaddexp.reduce, np.logaddexp2.reduce)
def logaddexp_weights(reduce, x, y, axis=0, where=True, initial=None):
    return portions(EXP[reduce], x, y, axis, where, initial)


# ---- sums of segments ----


def add_reduceat_transpose(ybar, space, indices, axis=0, dtype=None):
    """Segment k sums from ``indices[k]`` up to the next index, or one entry where that is less."""
    axis = axis % space.ndim
    lengths = np.maximum(np.diff(indices, append=space.shape[axis]), 1)
    ends = np.cumsum(lengths)
    position = np.arange(ends[-1]) + np.repeat(np.array(indices) + lengths - ends, lengths)
    index = (*(slice(None),) * axis, position)
    return scatter(np.repeat(ybar, lengths, axis), space.shape, space.dtype, index)


linear_rule(np.add.reduceat, add_reduceat_transpose, adapt=refuse_integers)


# ---- any ufunc ----


def in_loop(ufunc, array, dtype):
    """Convert ``array`` to the dtype in which ``ufunc`` runs along it."""
    array = array_of(array)
    own = dtype_of(array)
    asked = {} if dtype is None else {"signature": (None, None, np.dtype(dtype))}
    loop = ufunc.resolve_dtypes((own, own, None), casting="unsafe", **asked)[-1]
    return array if own == loop else astype(array, loop)


# With AVX-512 NumPy itself reduces these two wrongly along contiguous axes (2.4): no rule.
MISREDUCED = (np.arctan2, np.power)


def is_binary(ufunc):
    return isinstance(ufunc, np.ufunc) and ufunc.nin == 2 and ufunc.nout == 1


def lacking(method, but=()):
    """Return this method of each binary ufunc with a rule, where the method has none yet."""
    ufuncs = {f for f in vars(np).values() if is_binary(f) and f in rrule.scalars and f not in but}
    methods = {getattr(ufunc, method): ufunc for ufunc in ufuncs}
    return {f: ufunc for f, ufunc in methods.items() if rrule.methods_of(f) is None}


@composed_each(lacking("reduce", MISREDUCED))
def reduce(ufunc, array, axis=0, dtype=None, keepdims=False, where=True, **initial):
    x = in_loop(ufunc, array, dtype)
    # NumPy's own errors, and the shape; for the numbers see the loop.
    plain = ufunc.reduce(value(x), axis, keepdims=keepdims, where=value(where),
                         **value(initial))  # fmt: skip
    lanes = np.moveaxis(in_lanes(x, axis), -1, 0)
    masks = np.moveaxis(in_lanes(np.broadcast_to(where, np.shape(x)), axis), -1, 0)
    y = initial.get("initial", ufunc.identity)
    if y is None:
        y, lanes, masks = np.copy(lanes[0]), lanes[1:], masks[1:]  # NumPy gives no view
    else:
        y = astype(np.broadcast_to(y, np.shape(lanes)[1:]), dtype_of(x))
    for entry, mask in zip(lanes, masks):
        if where is True or np.ndim(mask):
            y = ufunc(y, entry) if where is True else np.where(mask, ufunc(y, entry), y)
        elif mask:  # one number, of which nothing goes to what does not count
            y = ufunc(y, entry)
    if not isinstance(plain, np.ndarray):
        return np.reshape(y, ())[()]  # a number, where np.where gives an array without axes
    return y if np.shape(y) == plain.shape else np.reshape(y, plain.shape)


@composed_each(lacking("accumulate"), value="own")
def accumulate(ufunc, array, axis=0, dtype=None):
    x = in_loop(ufunc, array, dtype)
    if np.ndim(x) == 0:
        raise TypeError("cannot accumulate on a scalar")
    entries = np.moveaxis(x, axis, 0)
    ys = list(entries[:1])
    for entry in entries[1:]:
        ys.append(ufunc(ys[-1], entry))
    return np.moveaxis(np.stack(ys), 0, axis) if ys else x


def _in_dtype(x, dtype):
    return x if dtype is None else astype(x, dtype)


@composed_each(lacking("reduceat", MISREDUCED))
def reduceat(ufunc, array, indices, axis=0, dtype=None):
    x = np.moveaxis(in_loop(ufunc, array, dtype), axis, 0)
    indices = value(indices)
    np.add.reduceat(np.zeros(len(x)), indices)  # refuses what is out of range
    ends = [*indices[1:], len(x)]
    # One entry is itself, in the dtype of what is reduced: of narrow integers that is a wider one.
    dtype = dtype_of(ufunc.reduce(x[:1], axis=0)) if len(x) and dtype_of(x).kind in "bui" else None
    parts = [
        ufunc.reduce(x[start:end], axis=0) if start + 1 < end else _in_dtype(x[start], dtype)
        for start, end in zip(indices, ends)
    ]
    nothing = np.zeros_like(x, shape=(0, *np.shape(x)[1:]))
    return np.moveaxis(np.stack(parts) if parts else nothing, 0, axis)


@composed_each(lacking("outer") | {np.divmod.outer: np.divmod})
def outer(ufunc, A, B, /, **options):  # noqa: N803 - NumPy's names
    A, B = array_of(A), array_of(B)  # noqa: N806
    # As NumPy does: a Python number becomes an array, whose dtype counts.
    A = np.reshape(A, np.shape(A) + (1,) * np.ndim(B))  # noqa: N806
    return ufunc(A, np.reshape(B, np.shape(B)), **options)


# Of comparisons and logic the methods are as constant as the functions.
for _ufunc in (*COMPARISONS, *LOGIC):
    if isinstance(_ufunc, np.ufunc) and _ufunc.nin == 2:
        non_differentiable(_ufunc.outer, _ufunc.reduce, _ufunc.accumulate, _ufunc.reduceat)
