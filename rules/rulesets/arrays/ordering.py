"""Functions of NumPy that choose among numbers, bound them, or put them in order.

Equal numbers share the derivative evenly, at a bound of ``np.clip`` and in ``np.sort`` as in
``np.max``: ``np.sort(x)[-1]`` and ``np.max(x)`` have the same one. What is differentiated again
at a tie takes the branch of a point beside it: see ``ties``.
"""

import functools

import numpy as np

from ... import (
    AbstractZero,
    NoTangent,
    ProjectTo,
    as_structured,
    composed,
    frule,
    is_traced,
    pair_rule,
    rrule,
    selection_rule,
    shape_of,
    sum_tangents,
    thunk,
    unbroadcast,
    value,
)
from .accumulations import from_lanes, in_lanes, recurrence, recurrence_transpose
from .elementwise import as_array, or_one
from .numpys_own import with_value
from .ties import has_branch, in_order, motion, shared, shared_again, through

selection_rule(np.where)


@composed(np.select)
def select(condlist, choicelist, default=0):
    y = default
    for condition, choice in reversed(list(zip(condlist, choicelist, strict=True))):
        y = np.where(condition, choice, y)
    return y


@composed(np.choose)
def choose(a, choices, mode="raise"):
    # NumPy itself wraps, clips or refuses what is out of range.
    place = np.choose(value(a), range(len(choices)), mode=mode)
    y = choices[0]
    for k in range(1, len(choices)):
        y = np.where(place == k, choices[k], y)
    y = np.broadcast_to(y, np.broadcast_shapes(np.shape(place), np.shape(y)))
    return np.copy(y, order="C")


# ---- bounds ----


def bounds_of(bounds, a_min, a_max, min, max):
    """Return the lower and the upper bound from the three ways to give them."""
    low, high = (*bounds, None, None)[:2]
    if low is None:
        low = min if a_min is None else a_min
    if high is None:
        high = max if a_max is None else a_max
    return as_array(low), as_array(high)


def attained(y, *xs):
    """Where each of ``xs`` is the result, and how many of them are."""
    places = [x == y for x in xs]
    number = or_one(np.add(places[0], places[1], dtype=np.int8) + places[2])
    return [(place, number) for place in places]


def clipped(clip, *xs):
    """The result, how ``xs`` share in it, and how where that is differentiated again at a tie."""
    y = clip(*xs)
    even = attained(y, *xs)
    if not has_branch(even[0][1], *xs):
        return y, even, (None,) * 3
    ordered = iter(in_order(*(x for x in xs if x is not None)))
    ordered = [x if x is None else next(ordered) for x in xs]
    chosen = attained(clip(*ordered), *ordered)
    terms = [shared(motion(x), *share) for x, share in zip(xs, chosen) if x is not None]
    return with_value(sum(terms), value(y)), even, chosen


@frule.register(np.clip)
def clip_frule(tangents, clip, a, *bounds, a_min=None, a_max=None, min=None, max=None):
    both = bounds_of(bounds, a_min, a_max, min, max)
    y, even, chosen = clipped(clip, a, *both)
    shares = even if chosen[0] is None else chosen
    ydot = sum_tangents(
        shared(as_array(as_structured(x, xdot)), *share)
        for x, share, xdot in zip((a, *bounds), shares, tangents[1:])
        if not isinstance(xdot, AbstractZero)
    )
    return y, ProjectTo(y)(ydot)


@rrule.register(np.clip)
def clip_rrule(clip, a, *bounds, a_min=None, a_max=None, min=None, max=None):
    both = bounds_of(bounds, a_min, a_max, min, max)
    y, even, chosen = clipped(clip, a, *both)
    shapes = [() if x is None else shape_of(x) for x in (a, *both)]
    projections = [ProjectTo(x) for x in (a, *bounds)]

    def clip_pullback(ybar):
        def pull(share, choice, shape, project):
            return project(unbroadcast(shared_again(ybar, share, choice, a, *both), shape))

        return NoTangent(), *(
            thunk(functools.partial(pull, *pulled))
            for pulled in zip(even, chosen, shapes, projections)
        )

    return y, clip_pullback


# ---- order ----


def mean_of_ties(t, ties):
    """Replace each of ``t`` by its mean over the neighbours that are ``ties``, in lanes."""
    if not np.any(ties):
        return t
    goes_on = np.concatenate([0 * ties[..., :1], ties], axis=-1) * 1.0

    def total(t):
        return recurrence(goes_on, t) + recurrence_transpose(goes_on, t) - t

    return total(t) / total(np.ones_like(t))


def inverse(order):
    """The permutation that undoes ``order``, in lanes."""
    y = np.empty_like(order)
    np.put_along_axis(y, order, np.broadcast_to(np.arange(order.shape[-1]), order.shape), axis=-1)
    return y


def order_of(sort, a, y, options):
    """In lanes, the places in ``a`` from where ``y`` was taken."""
    order = np.argsort(a, axis=-1, kind="stable")
    if sort is np.sort and not options.keys() & {"descending"}:
        return order
    return np.take_along_axis(order, inverse(np.argsort(y, axis=-1, kind="stable")), axis=-1)


def sorted_lanes(sort, a, axis, options):
    """The sorted array; in lanes, from where in ``a`` it was taken, and which are ties.

    And which are ties where it is differentiated again, or None.
    """
    y = sort(a, axis=axis, **options)
    lanes = in_lanes(value(y), axis)
    ties = neighbours_in(lanes)
    if not is_traced(a) or not np.any(ties):
        return y, order_of(sort, in_lanes(value(a), axis), lanes, options), ties, None
    ordered = in_lanes(*in_order(a), axis)
    order = order_of(sort, ordered, lanes, options)
    closer = neighbours_in(np.take_along_axis(ordered, order, axis=-1))
    ydot = mean_of_ties(taken(motion(as_array(a)), order, axis), closer)
    return with_value(from_lanes(ydot, np.shape(y), axis), value(y)), order, ties, closer


def neighbours_in(lanes):
    return lanes[..., 1:] == lanes[..., :-1]


def taken(a, order, axis):
    return np.take_along_axis(in_lanes(a, axis), order, axis=-1)


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
        return from_lanes(np.take_along_axis(ybar, inverse(order), axis=-1), shape, axis)

    return y, sort_pushforward, sort_pullback


@composed(np.sort_complex)
def sort_complex(a):
    return np.sort(a) + 0j
