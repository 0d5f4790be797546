"""Functions of NumPy that choose among numbers, bound them, or put them in order.

Equal numbers share the derivative evenly, at a bound of ``np.clip`` and in ``np.sort`` as in
``np.max``: ``np.sort(x)[-1]`` and ``np.max(x)`` have the same one. What is differentiated again
at a tie takes the branch of a point beside it: see ``ties``.
"""

import math

import numpy as np

from .....config import LostDerivativeError, defined_at, user_line
from .... import (
    Block,
    Kind,
    NoTangent,
    Traced,
    add_kind,
    aligned,
    array_of,
    astype,
    composed,
    dtype_of,
    is_traced,
    linear_rule,
    pair_rule,
    primitive,
    selection_rule,
    type_under,
    unbroadcast,
    value,
)
from ....shapes import FLOATS
from ..elementwise import as_array
from ..ties import has_branch, in_order, motion, moving_with, shared, shared_again, through
from .accumulations import from_lanes, in_lanes

selection_rule(np.where)


def promoted(x):
    """Return what ``x`` adds to the dtype of a result; a number of Python's gives way."""
    kind = type_under(x)
    return kind(0) if kind in (int, float, complex) else dtype_of(array_of(x))


@composed(np.select)
def select(condlist, choicelist, default=0):
    dtype = np.result_type(*map(promoted, (*choicelist, default)))
    y = default if dtype_of(array_of(default)) == dtype else astype(array_of(default), dtype)
    for condition, choice in reversed(list(zip(condlist, choicelist, strict=True))):
        y = np.where(condition, choice, y)
    return np.copy(y, order="C") if np.ndim(y) > 1 else y


@composed(np.choose)
def choose(a, choices, mode="raise"):
    # NumPy itself wraps, clips or refuses what is out of range.
    place = np.choose(value(a), range(len(choices)), mode=mode)
    y = choices[0]
    for k in range(1, len(choices)):
        y = np.where(place == k, choices[k], y)
    y = np.broadcast_to(y, np.broadcast_shapes(np.shape(place), np.shape(y)))
    y = np.copy(y, order="C")
    return y if np.ndim(y) else y[()]  # of numbers, NumPy returns a number


# ---- bounds ----


def attained(i, y, xs):
    """Return the mask where ``xs[i]`` is the result, and the number of ``xs`` that are it there."""
    places = [x is not None and x == y for x in xs]
    place, also, third = places[i], places[i - 1], places[i - 2]
    if type(place) is np.ndarray and not np.count_nonzero(place & (also | third)):
        return place, 1  # most numbers are not at their bounds
    x, low, _ = xs
    if low is not None:  # the upper bound is that of the larger of the two
        places[0] = places[0] & np.greater_equal(x, low)
        places[1] = places[1] & np.greater_equal(low, x)
        place, also, third = places[i], places[i - 1], places[i - 2]
    return place, np.add(place & also, place & third, dtype=np.int8) + 1


def is_at_no_bound(y, xs):
    """Say whether each plain result is one of ``xs`` alone: seen by their number, without NaN."""
    if type(y) in FLOATS:
        return sum(x == y for x in xs) == 1
    if type(y) is not np.ndarray or np.count_nonzero(np.isnan(y)):
        return False
    return sum(np.count_nonzero(x == y) for x in xs) == y.size


KNOWN = frozenset({np.ndarray, float, int, np.float64, type(None)})


class ClipRule(Kind):
    """Each entry of ``clip(x, low, high)`` is one of the three, and equal ones share it evenly.

    It is ``minimum(maximum(x, low), high)``: the lesser of the first two has no share, where it
    equals the upper bound. A bound that was left out is None.
    """

    __slots__ = ()
    label = "rule of bounds"

    def __init__(self, clip):
        super().__init__(clip, 3, {"a_min", "a_max", "min", "max"}, defined_at(attained))

    def bind(self, clip, args, kwargs):
        if kwargs or len(args) != 3:
            args, kwargs = super(Kind, self).bind(clip, args, kwargs)  # bounds are no options
            given = {name: bound for name, bound in kwargs.items() if bound is not None}
            x, low, high = (*args, None, None)[:3]
            low = given.get("a_min", given.get("min")) if low is None else low
            high = given.get("a_max", given.get("max")) if high is None else high
            args = x, low, high
        return tuple([array_of(x) if type(x) in (list, tuple) else x for x in args]), {}

    def chosen(self, xs):
        """Return ``attained`` for each of ``xs``, ordered as a second derivative needs at a tie."""
        given = [x for x in xs if x is not None]
        ordered = iter(in_order(*given))
        ordered = [x if x is None else next(ordered) for x in xs]
        y = self.f(*ordered)
        return [attained(i, y, ordered) for i in range(3)]

    def evaluate(self, clip, xs, kwargs):
        if KNOWN.issuperset(map(type, xs)):
            return Kind.evaluate(self, clip, xs, kwargs)
        for x in xs:
            # Python would ask whether it and the result are the same object.
            if x is not None and type_under(x).__eq__ is object.__eq__:
                raise LostDerivativeError(
                    f"np.clip of a {type_under(x).__name__} has no derivative: it does not compare "
                    f"its entries, in {user_line()}.\n  clip the number or the array in it"
                )
        y = Kind.evaluate(self, clip, xs, kwargs)
        if not isinstance(y, Traced) or not is_traced(y):
            return y
        if is_at_no_bound(value(y), [value(x) for x in xs if x is not None]):
            return y
        if not any(has_branch(attained(i, y, xs)[1], y) for i in range(3)):
            return y
        chosen = zip(xs, self.chosen(xs))
        terms = [shared(motion(x), *share) for x, share in chosen if x is not None]
        return moving_with(y, sum(terms))

    def kept(self, active, y, xs):
        return y, xs

    def push(self, i, xdot, y, xs, kwargs):
        even = attained(i, y, xs)
        return shared(xdot, *(self.chosen(xs)[i] if has_branch(even[1], xs) else even))

    def push_block(self, i, t, y, xs, kwargs):
        even = attained(i, y, xs)
        return None if has_branch(even[1], xs) else shared(aligned(Block(t), np.ndim(y)), *even)

    def pull(self, i, ybar, y, xs, kwargs, space):
        if xs[i] is None:
            return NoTangent()
        even = attained(i, y, xs)
        chosen = self.chosen(xs)[i] if has_branch(even[1], xs) else None
        return unbroadcast(shared_again(ybar, even, chosen, *xs), space.shape)

    def rrule(self, config, clip, given, kwargs, wanted=None):
        y, pullback = Kind.rrule(self, config, clip, given, kwargs, wanted)

        def clip_pullback(ybar):
            return pullback(ybar)[: 1 + len(given)]

        return y, clip_pullback


add_kind(np.clip, ClipRule(np.clip))


class AskedBound:
    """A bound that tells which ufunc asks it."""

    def __array_ufunc__(self, ufunc, method, *args, **kwargs):
        return ufunc


# The ufunc of three operands that ``x.clip(low, high)`` calls; NumPy has no public name for it.
CLIP_OF_ARRAYS = np.zeros(1).clip(0.0, AskedBound())  # type: ignore[call-overload]


@composed(CLIP_OF_ARRAYS)
def clip_of_arrays(x, low, high):
    return np.clip(x, low, high)


# ---- order ----


def mean_of_ties(t, ties):
    """Replace each of ``t`` by its mean over the neighbours that are ``ties``, in lanes."""
    return mean_in_groups(t, ties) if np.count_nonzero(ties) else t


@primitive
def mean_in_groups(t, ties):
    """Of lanes, or of a stack of them, of which all have the same ``ties``."""
    ends = np.concatenate([~ties, np.ones_like(ties, shape=(*ties.shape[:-1], 1))], axis=-1)
    after = np.flatnonzero(ends) + 1
    counts = np.diff(after, prepend=0)
    sums = np.add.reduceat(np.reshape(t, (-1, ends.size)), after - counts, axis=-1)
    return np.reshape(np.repeat(sums / counts, counts, axis=-1), t.shape)


def mean_in_block(t, ties):
    ties = ties.values if type(ties) is Block else ties
    return mean_in_groups(t.values, ties) if type(t) is Block else NotImplemented


@linear_rule(mean_in_groups, block=mean_in_block)
def mean_in_groups_transpose(ybar, space, ties):
    return mean_in_groups(ybar, ties)


def inverse(order):
    """The permutation that undoes ``order``, in lanes."""
    if type(order) is not np.ndarray:  # of a batch
        return np.argsort(order, axis=-1)
    y, places = np.empty(order.shape, order.dtype), np.arange(order.shape[-1])
    y.reshape(-1)[in_flat(order)] = places
    return y


def in_flat(order):
    """The places in the flat array of those in lanes."""
    if order.ndim == 1:
        return order
    n = order.shape[-1]
    starts = np.arange(0, order.size, n) if n else np.zeros(math.prod(order.shape[:-1]), int)
    return order + starts.reshape((*order.shape[:-1], 1))


def reordered(lanes, order):
    # A plain array would look at an order that is recorded.
    if order.ndim == 1 and (type(lanes) is not np.ndarray or type(order) is np.ndarray):
        return lanes[order]
    if type(lanes) is type(order) is np.ndarray and lanes.shape == order.shape:
        return lanes.reshape(-1)[in_flat(order)]  # np.take_along_axis takes three times as long
    return np.take_along_axis(lanes, order, axis=-1)


def order_of(sort, a, y, options):
    """In lanes, the places in ``a`` from where ``y`` was taken."""
    order = np.argsort(a, axis=-1)
    if sort is np.sort and not options.keys() & {"descending"}:
        return order
    return reordered(order, inverse(np.argsort(y, axis=-1)))


def sorted_lanes(sort, a, axis, options):
    """The sorted array; in lanes, from where in ``a`` it was taken, and which are ties.

    And which are ties where it is differentiated again, or None.
    """
    y = sort(a, axis=axis, **options)
    lanes = in_lanes(value(y), axis)
    ties = neighbours_in(lanes)
    if not is_traced(a) or not np.count_nonzero(ties):
        return y, order_of(sort, in_lanes(value(a), axis), lanes, options), ties, None
    ordered = in_lanes(*in_order(a), axis)
    order = order_of(sort, ordered, lanes, options)
    closer = neighbours_in(reordered(ordered, order))
    ydot = mean_of_ties(taken(motion(as_array(a)), order, axis), closer)
    return moving_with(y, from_lanes(ydot, np.shape(y), axis)), order, ties, closer


def neighbours_in(lanes):
    return lanes[..., 1:] == lanes[..., :-1]


def taken(a, order, axis):
    return reordered(in_lanes(a, axis), order)


@pair_rule(np.sort, np.partition)
def sort_pair(sort, a, *, axis=-1, **options):
    y, order, ties, closer = sorted_lanes(sort, a, axis, options)
    shape = np.shape(a)

    def sort_pushforward(adot):
        ydot = mean_of_ties(taken(adot, order, axis), ties if closer is None else closer)
        return from_lanes(ydot, np.shape(y), axis)

    def sort_pullback(ybar):
        ybar = in_lanes(ybar, axis)
        even = mean_of_ties(ybar, ties)
        ybar = even if closer is None else through(mean_of_ties(ybar, closer), even, a)
        return from_lanes(reordered(ybar, inverse(order)), shape, axis)

    return y, sort_pushforward, sort_pullback


@composed(np.sort_complex)
def sort_complex(a):
    """Sorted entries as complex numbers, which are narrow of small integers alone."""
    y = np.sort(a)
    dtype = {"b": "F", "h": "F", "B": "F", "H": "F", "g": "G"}.get(y.dtype.char, "D")
    return y if np.iscomplexobj(y) else np.astype(y, np.dtype(dtype))
