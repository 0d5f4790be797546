"""Counts, histograms and sets: which numbers there are, and how many."""

import numpy as np

from .... import (
    ProjectTo,
    array_of,
    composed,
    dtype_of,
    is_traced,
    linear_rule,
    pair_rule,
    positional_names,
    primitive,
    value,
)
from ..elementwise import as_array
from ..indexing import scatter
from ..quotients import kink
from ..ties import has_branch, in_order

# ---- counts ----


@primitive
def weighted_counts(weights, x, minlength):
    return np.bincount(x, weights, minlength) + 0.0  # of no numbers they are integers


def counts_in_block(weights, x, minlength):
    """Give each direction places of its own, one after the other."""
    size = max(minlength, np.max(x, initial=-1) + 1)
    places = np.ravel(x + size * np.arange(weights.count)[:, None])
    flat = weighted_counts(np.ravel(weights.values), places, size * weights.count)
    return np.reshape(flat, (weights.count, size))


@linear_rule(weighted_counts, block=counts_in_block)
def weighted_counts_transpose(ybar, space, x, minlength):
    return np.take(ybar, x)


@composed(np.bincount)
def bincount(x, /, weights=None, minlength=0):
    x = value(x)
    if weights is None:
        return np.bincount(x, None, minlength)
    return weighted_counts(weights, x, minlength)


@composed(np.histogram_bin_edges)
def histogram_bin_edges(a, bins=10, range=None, weights=None):
    return bin_edges(a, bins, range, weights)


def bin_edges(a, bins, range, weights=None, of_the_sample=True):
    """Given edges are what they are; edges laid evenly move with the ends of the range.

    They have the dtype of the sample, but in several variables that of these ends.
    """
    if np.ndim(bins) == 1:
        return array_of(bins)
    edges = np.histogram_bin_edges(value(a), bins, value(range), value(weights))
    if range is None and 0 in np.shape(a):
        return edges
    low, high = (np.min(a), np.max(a)) if range is None else range
    if low == high:
        low, high = low - 0.5, high + 0.5
    return np.linspace(low, high, len(edges), dtype=edges.dtype if of_the_sample else None)


@composed(np.histogram)
def histogram(a, bins=10, range=None, density=None, weights=None):
    """The counts jump, so that only weights, and with ``density`` the edges, move them."""
    edges = bin_edges(a, bins, range, weights)
    counts, plain_edges = np.histogram(value(a), value(bins), value(range), weights=value(weights))
    if is_traced(weights):
        x = np.ravel(a)
        inside = (x >= plain_edges[0]) & (x <= plain_edges[-1])
        place = np.searchsorted(plain_edges, x[inside], side="right") - 1
        place = np.minimum(place, len(counts) - 1)  # the last bin has its upper edge as well
        found = weighted_counts(np.ravel(weights)[inside], place, len(counts))
        counts = np.astype(found, counts.dtype)
    if density:
        counts = counts / np.astype(np.diff(edges), float) / np.sum(counts)
    return counts, edges


# ---- sets ----
# Equal numbers share the derivative evenly. Counts and inverses make smooth functions of which no
# branch tells the second derivative, ``sum(counts * values**2)``: it is NaN.


@primitive
def representatives(x, index, inverse, axis):
    """Take one of each group of equal slices of ``x``: those at ``index``."""
    return np.take(x, index, axis)


def group_index(inverse, axis):
    return (slice(None),) * axis + (inverse,)


def kink_of_groups(x, index, inverse, axis):
    """0 for each of ``x``, without a derivative where a group of equal numbers moves apart.

    One number that is given twice moves as itself: see ``in_order``.
    """
    if not has_branch(np.bincount(inverse), x):
        return None

    def apart(compare, x):
        return compare(x, np.take(np.take(x, index, axis), inverse, axis))

    (ordered,) = in_order(x)
    where = apart(np.not_equal, ordered) & ~np.isnan(ordered)
    if not np.any(where):
        return None
    group = group_index(inverse, axis)
    first = np.take(x, index, axis)
    kinks = np.real(kink(apart(np.subtract, x), where))
    return np.take(scatter(kinks, np.shape(first), ProjectTo(kinks).dtype, group), inverse, axis)


@pair_rule(representatives)
def representatives_pair(representatives, x, *, index, inverse, axis):
    """The mean over each group."""
    y = representatives(x, index, inverse, axis)
    shape, dtype = np.shape(y), ProjectTo(y).dtype
    numbers = along(np.bincount(inverse), axis, y)
    kinks = kink_of_groups(x, index, inverse, axis)

    def representatives_pushforward(xdot):
        xdot = xdot if kinks is None else xdot + kinks
        return scatter(xdot, shape, dtype, group_index(inverse, axis)) / numbers

    def representatives_pullback(ybar):
        xbar = np.take(ybar / numbers, inverse, axis)
        return xbar if kinks is None else xbar + kinks

    return y, representatives_pushforward, representatives_pullback


def along(numbers, axis, y):
    """Lay numbers out along ``axis`` of ``y``, in its precision."""
    shape = (-1,) + (1,) * (np.ndim(y) - 1 - axis)
    return np.reshape(numbers, shape).astype(np.real(y).dtype)


@composed(np.unique)
def unique(ar, return_index=False, return_inverse=False, return_counts=False, axis=None, **options):
    ar = as_array(ar)
    x, along_axis = (np.ravel(ar), 0) if axis is None else (ar, axis % np.ndim(ar))
    _, index, inverse = np.unique(value(x), True, True, False, along_axis, **options)
    y = representatives(x, index, np.ravel(inverse), along_axis)
    if not (return_index or return_inverse or return_counts):
        return in_order_of(y, x, options)
    _, *others = np.unique(value(ar), return_index, return_inverse, return_counts, axis, **options)
    return (y, *others)


def in_order_of(y, x, options):
    """Bring the sorted ``y`` into the order that NumPy gives with ``sorted=False`` (2.3)."""
    if options.get("sorted", True) or np.ndim(x) > 1:
        return y
    wanted = np.unique(value(x), **options)
    places = np.searchsorted(y, wanted)
    missing = np.isnan(wanted)
    places[missing] += np.arange(np.count_nonzero(missing))
    return y[places]


NOT_SORTED = {"sorted": False} if "sorted" in positional_names(np.unique) else {}


@composed(np.unique_values)
def unique_values(x):
    y = np.unique(x, equal_nan=False, **NOT_SORTED)
    own = np.unique_values(value(x))  # complex numbers come in the order of a hash table
    if np.array_equal(y, own, equal_nan=True):
        return y
    return y[np.argsort(np.argsort(y))[np.argsort(np.argsort(own))]]


def sorted_values(x):
    return np.unique(x, equal_nan=False)


@composed(np.unique_counts)
def unique_counts(x):
    return np.unique_counts(value(x))._replace(values=sorted_values(x))


@composed(np.unique_inverse)
def unique_inverse(x):
    return np.unique_inverse(value(x))._replace(values=sorted_values(x))


@composed(np.unique_all)
def unique_all(x):
    return np.unique_all(value(x))._replace(values=sorted_values(x))


@composed(np.union1d)
def union1d(ar1, ar2):
    return np.unique(np.concatenate((ar1, ar2), axis=None))


def neighbours(ar1, ar2):
    """Return the numbers of both in order, and where one is as the next: for ``assume_unique``."""
    y = np.sort(np.concatenate((ar1, ar2), axis=None))
    return y, value(y)[1:] == value(y)[:-1]


def are_repeated(*arrays):
    """Say whether a number comes twice, of which NumPy is told that none does."""
    return any(np.size(np.unique(value(x))) < np.size(x) for x in arrays)


@composed(np.intersect1d)
def intersect1d(ar1, ar2, assume_unique=False, return_indices=False):
    if assume_unique and not return_indices and are_repeated(ar1, ar2):
        y, same = neighbours(ar1, ar2)
        return y[:-1][same]
    _, index1, index2 = np.intersect1d(value(ar1), value(ar2), assume_unique, True)
    ar1, ar2 = as_array(ar1), as_array(ar2)
    y = np.astype(np.ravel(ar1)[index1], np.result_type(dtype_of(ar1), dtype_of(ar2)))
    return (y, index1, index2) if return_indices else y


@composed(np.setdiff1d)
def setdiff1d(ar1, ar2, assume_unique=False):
    y = np.ravel(ar1) if assume_unique else np.unique(ar1)
    return y[np.isin(y, ar2, invert=True)]


@composed(np.setxor1d)
def setxor1d(ar1, ar2, assume_unique=False):
    if assume_unique and are_repeated(ar1, ar2):
        y, same = neighbours(ar1, ar2)
        apart = np.concatenate([[True], ~same, [True]])
        return y[apart[1:] & apart[:-1]]
    return np.sort(np.concatenate([setdiff1d(ar1, ar2), setdiff1d(ar2, ar1)]))
