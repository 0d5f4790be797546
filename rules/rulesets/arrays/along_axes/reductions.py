"""Sums, means, products, spreads and extremes of arrays.

``max`` and ``min`` share the derivative evenly among equal winners. The derivative of ``std`` of
equal numbers is 0, the shortest of its subgradients. Products are differentiated without division.
"""

import functools
import math

import numpy as np

from .....config import MissingRuleError, user_line
from .... import (
    Pattern,
    array_of,
    astype,
    composed,
    composed_where_traced,
    dtype_of,
    is_lazy,
    is_traced,
    linear_rule,
    matrix,
    reduction_rule,
    refuse_integers,
    refuse_real,
    restore,
    select,
    shape_of,
    spread_over,
    value,
)
from ..elementwise import or_one, over_length
from ..products import conj
from ..ties import chooses, in_order
from .accumulations import from_lanes, in_lanes, prior

# ---- sums and means ----


def sum_transpose(ybar, space, axis=None, dtype=None, keepdims=False, initial=0, where=True):
    if axis is not None:
        ybar = restore(ybar, axis, keepdims, space.ndim)
    ybar = spread_over(ybar, space)
    return ybar if where is True else select(where, ybar)


def sum_pattern(x, axis=None, dtype=None, out=None, keepdims=False, **options):
    entries = np.ones(x.shape)
    reduced = np.sum(entries, axis=axis, keepdims=True)
    places = np.broadcast_to(np.arange(reduced.size).reshape(reduced.shape), x.shape)
    groups = matrix(places, np.arange(x.size), (reduced.size, x.size))
    return Pattern(np.sum(entries, axis=axis, keepdims=keepdims).shape, groups @ x.rows)


linear_rule(np.sum, sum_transpose, adapt=refuse_integers, constants=("initial",), adds=True,
            axes="axis", pattern=sum_pattern)  # fmt: skip


def mean_transpose(ybar, space, axis=None, dtype=None, keepdims=False, where=True):
    ybar = restore(ybar, axis, keepdims, space.ndim)
    number = space.size if axis is None and where is True else count(space.shape, axis, where)
    none = where is not True or not number  # or perhaps none
    ybar = ybar / or_one(number) * np.where(number, 1, np.nan) if none else ybar / number
    return sum_transpose(ybar, space, axis, dtype, keepdims=True, where=where)


linear_rule(np.mean, mean_transpose, adapt=refuse_integers, adds=True, axes="axis",
            pattern=sum_pattern)  # fmt: skip


def count(shape, axis, where):
    """Return the number of entries in each result; an int where it is the same for all results."""
    if where is not True:
        return np.sum(np.broadcast_to(where, shape), axis=axis, keepdims=True)
    if axis is None or not shape:
        return math.prod(shape)
    return math.prod([shape[k] for k in axis]) if type(axis) is tuple else shape[axis]


@composed(np.average)
def average(a, axis=None, weights=None, returned=False, *, keepdims=False):
    axis = tuple(axis) if isinstance(axis, list) else axis
    if weights is None:
        y = np.mean(a, axis=axis, keepdims=keepdims)
        total = count(np.shape(a), axis, True) * np.ones_like(y) if returned else None
    else:
        a, weights = array_of(a), fit_weights(array_of(weights), np.shape(a), axis)
        weights = in_dtype_of_average(weights, dtype_of(a))
        total = np.sum(weights, axis=axis, keepdims=keepdims)
        if np.any(total == 0):
            raise ZeroDivisionError("Weights sum to zero, can't be normalized")
        y = np.sum(a * weights, axis=axis, keepdims=keepdims) / total
    if returned and np.shape(total) != np.shape(y):
        total = np.copy(np.broadcast_to(total, np.shape(y)))
    return (y, total) if returned else y


def in_dtype_of_average(weights, dtype):
    """Return the weights in the dtype in which NumPy adds up and multiplies: at least float64."""
    computed = np.result_type(dtype, dtype_of(weights), *([float] if dtype.kind in "biu" else []))
    return weights if dtype_of(weights) == computed else astype(weights, computed)


def fit_weights(weights, shape, axis):
    """Lay weights that are given for the averaged axes only along these axes."""
    if np.shape(weights) == shape:
        return weights
    axes = [k % len(shape) for k in (axis if type(axis) is tuple else (axis,))]
    weights = np.transpose(weights, np.argsort(axes))
    return np.reshape(weights, [n if k in axes else 1 for k, n in enumerate(shape)])


# ---- products ----


def product_of_others(x, y, axis, initial):
    all_of_it = axis is None or (type(axis) is not tuple and np.ndim(x) == 1)
    if type(x) is np.ndarray and x.dtype.kind in "fc" and x.size and all_of_it:
        return times(initial, product_of_other_numbers(x))
    if is_divisible(x, y):
        return y / x
    lanes = in_lanes(x, axis)
    before = prior(np.cumprod(lanes, -1), 1)
    after = np.flip(prior(np.cumprod(np.flip(lanes, -1), -1), 1), -1)
    return times(initial, from_lanes(before * after, np.shape(x), axis))


def product_of_other_numbers(x):
    others, flat = np.ones(x.size, x.dtype), x.reshape(-1)
    np.multiply.accumulate(flat[:-1], out=others[1:])
    others[:-1] *= np.multiply.accumulate(flat[:0:-1])[::-1]
    return others.reshape(x.shape)


def is_divisible(x, y):
    """Say whether ``y / x`` is the product of the others: nothing is 0, and no digits are lost.

    Those of its derivative would be, where numbers are of very different size.
    """
    if type(x) is not np.ndarray or x.dtype.kind not in "fc" or is_traced(y):
        return False
    if x.dtype != dtype_of(y):
        return False
    size = np.abs(y)
    return bool(np.all((size >= np.finfo(x.dtype).smallest_normal) & (size < np.inf)))


@reduction_rule(np.prod)
def prod_weights(prod, x, y, axis, where=True, initial=None):
    return product_of_others(select(where, x, 1), y, axis, initial)


def times(initial, x):
    return x if initial is None else initial * x


# ---- spreads ----


def numbers_that_count(var, x, where):
    return where & ~np.isnan(value(x)) if var in (np.nanvar, np.nanstd) else where


def sum_of(x, axis):
    """``np.sum``, with the axes kept; of a plain array without NumPy's wrappers around it."""
    if type(x) is np.ndarray:
        return np.add.reduce(x, axis=axis, keepdims=True)
    return np.sum(x, axis=axis, keepdims=True)


def deviation(var, x, axis, ddof, where, mean):
    """Return the mask of entries that count, the deviations, and the divisor of their squares."""
    where = numbers_that_count(var, x, where)
    counted = count(shape_of(x), axis, where)
    if mean is None:
        mean = sum_of(select(where, x), axis) / or_one(counted)
    c = select(where, x - mean)
    n = counted - ddof
    if type(n) is not int or n <= 0:
        n = np.where(n > 0, n, np.nan) if np.ndim(n) else n if n > 0 else np.nan
    return where, c, n


def refuse_complex_spread(x, dtype=None, **options):
    """Refuse a complex ``dtype`` for complex numbers: what is real would be called complex."""
    options = refuse_real(x, dtype, **options)
    if dtype is not None and np.iscomplexobj(x):
        raise MissingRuleError(
            f"a variance or a deviation of complex numbers is real, and has no rule with "
            f"dtype={np.dtype(dtype)}, in {user_line()}.\n  leave out dtype"
        )
    return options


@reduction_rule(np.var, np.nanvar, adapt=refuse_complex_spread, counts=numbers_that_count)
def var_weights(var, x, y, axis, ddof=0, where=True, mean=None, correction=None):
    """From ``y = sum(|c|^2) / n``, ``c = x - mean(x)``: ``ydot = 2 sum(Re(conj(c) xdot)) / n``.

    The derivative of the mean is constant, and ``c`` sums to 0, so that it plays no part. A
    given ``mean`` is a constant itself.
    """
    _, c, n = deviation(var, x, axis, ddof if correction is None else correction, where, mean)
    return conj(c) * (2 / n)


@reduction_rule(np.std, np.nanstd, adapt=refuse_complex_spread, counts=numbers_that_count)
def std_weights(std, x, y, axis, ddof=0, where=True, mean=None, correction=None):
    """From ``y^2 = sum(|c|^2) / n``: ``ydot = sum(Re(conj(c) xdot)) / (n y)``; 0 where ``y`` is."""
    where, c, n = deviation(std, x, axis, ddof if correction is None else correction, where, mean)
    weights = over_length(conj(c), y) / n
    # One number alone has no spread, wherever it moves.
    alone = mean is None and count(shape_of(x), axis, where) == 1
    return weights if alone is False else np.where(alone, 0, weights)


# ---- extremes ----


@reduction_rule(np.max, np.amax, np.nanmax, np.min, np.amin, np.nanmin)
@chooses(in_order)
def winners(extreme, x, y, axis, where=True, initial=None):
    """Return the mask of the entries of ``x`` equal to ``y``, and their number in each result."""
    attained = x == y if where is True else (x == y) & where
    lazy = is_lazy(attained)  # of which nothing is looked at
    if axis is None and not lazy:
        number = int(np.count_nonzero(attained))  # which leaves float32 as it is
    elif not lazy and has_one_each(attained, y, where, initial):
        return attained, 1
    else:
        number = np.sum(attained, axis=axis, keepdims=True, dtype=np.real(y).dtype)
    if initial is not None:
        number = number + (y == initial)
    return attained, or_one(number)


def has_one_each(attained, y, where, initial):
    """Say whether each result has one winner: by the total, as each result has at least one."""
    if where is not True or initial is not None or np.count_nonzero(attained) != y.size:
        return False
    return not np.count_nonzero(np.isnan(y))


@composed(np.ptp)
def ptp(a, axis=None, keepdims=False):
    return np.max(a, axis=axis, keepdims=keepdims) - np.min(a, axis=axis, keepdims=keepdims)


# ---- options that are differentiated themselves ----

VARIANCE = {np.std: np.var, np.nanstd: np.nanvar}


def var_about(var, x, *, mean, axis=None, dtype=None, ddof=0, keepdims=False, where=True,
              correction=None):  # fmt: skip
    refuse_complex_spread(x, dtype)
    ddof = ddof if correction is None else correction
    x = x if dtype is None else astype(x, dtype)
    where, c, n = deviation(var, x, axis, ddof, where, mean)
    squares = np.square(np.real(c))
    if np.iscomplexobj(c):
        squares = squares + np.square(np.imag(c))
    y = np.sum(squares, axis=axis, keepdims=keepdims)
    return y / (n if np.ndim(n) == 0 or keepdims else np.reshape(n, np.shape(y)))


def std_about(var, x, *, mean, **options):
    y = var(x, mean=mean, **options)
    return np.sqrt(or_one(y)) * (y != 0)


for _std, _var in VARIANCE.items():
    composed_where_traced(_var, "mean")(functools.partial(var_about, _var))
    composed_where_traced(_std, "mean")(functools.partial(std_about, _var))


def starts_from(reduce, ufunc, x, *, initial, axis=None, keepdims=False, **options):
    y = reduce(x, axis=axis, keepdims=keepdims, **options)
    return ufunc(astype(initial, dtype_of(y)), y)


for _reduce, _ufunc in ((np.sum, np.add), (np.prod, np.multiply)):
    composed_where_traced(_reduce, "initial")(functools.partial(starts_from, _reduce, _ufunc))


def extreme_from(extreme, x, *, initial, axis=None, keepdims=False, where=True):
    """One more number among the others, so that ties are shared among all of them."""
    shape = np.shape(x)
    lanes = in_lanes(x, axis)
    initial = astype(initial, dtype_of(lanes))
    first = np.broadcast_to(initial, (*np.shape(lanes)[:-1], 1))
    counts = in_lanes(np.broadcast_to(where, shape), axis)
    counts = np.concatenate([np.ones(np.shape(first), bool), counts], axis=-1)
    lanes = np.concatenate([first, lanes], axis=-1)
    y = extreme(np.where(counts, lanes, first), axis=-1)
    kept = np.shape(np.sum(np.empty(shape, bool), axis=axis, keepdims=keepdims))
    return np.reshape(y, kept)


for _extreme in (np.max, np.amax, np.nanmax, np.min, np.amin, np.nanmin):
    composed_where_traced(_extreme, "initial")(functools.partial(extreme_from, _extreme))


# ---- reductions that pass over NaN ----


@composed(np.nansum)
def nansum(a, axis=None, dtype=None, keepdims=False, **options):
    return np.sum(np.where(np.isnan(a), 0, a), axis, dtype, keepdims=keepdims, **options)


@composed(np.nanprod)
def nanprod(a, axis=None, dtype=None, keepdims=False, **options):
    return np.prod(np.where(np.isnan(a), 1, a), axis, dtype, keepdims=keepdims, **options)


@composed(np.nanmean)
def nanmean(a, axis=None, dtype=None, keepdims=False, **options):
    missing = np.isnan(a)
    total = np.sum(np.where(missing, 0, a), axis, dtype, keepdims=keepdims, **options)
    return total / np.sum(~missing, axis, total.dtype, keepdims=keepdims, **options)
