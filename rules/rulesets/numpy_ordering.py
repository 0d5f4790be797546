"""Functions of NumPy that choose among numbers, bound them, or put them in order.

Equal numbers share the derivative evenly, at a bound of ``np.clip`` and in ``np.sort`` as in
``np.max``: ``np.sort(x)[-1]`` and ``np.max(x)`` have the same one. What is differentiated again
at a tie takes one branch: see ``ties``.
"""

import functools

import numpy as np

from ..definitions import composed, selection_rule
from ..kinds import unbroadcast
from ..levels import is_traced, value
from ..project import ProjectTo
from ..registry import frule, rrule
from ..tangents import AbstractZero, NoTangent, sum_tangents
from ..thunks import thunk
from ..zeros import as_structured
from .numpy_accumulations import from_lanes, in_lanes, recurrence, recurrence_transpose
from .numpy_elementwise import as_array, or_one
from .ties import has_branch, shared, through

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
    low = next((bound for bound in (low, a_min, min) if bound is not None), None)
    high = next((bound for bound in (high, a_max, max) if bound is not None), None)
    return as_array(low), as_array(high)


def attained(y, a, bounds):
    """Where each argument is the result, how many of them are, and which one is chosen.

    The choice is that of ``minimum(maximum(a, low), high)``, for what is differentiated again.
    """
    xs = (a, *bounds)
    places = [x == y for x in xs]
    number = or_one(np.add(places[0], places[1], dtype=np.int8) + places[2])
    if not has_branch(number, *xs):
        return y, places, number, (None,) * 3
    in_a, low, high = (np.logical_or(place, False) for place in places)
    chosen = in_a & ~low, low, high & ~(in_a | low)
    y = value(y)
    for x, choice in zip(xs, chosen):
        if x is not None:
            y = np.where(choice, x, y)
    return y[()], places, number, chosen


@frule.register(np.clip)
def clip_frule(tangents, clip, a, *bounds, a_min=None, a_max=None, min=None, max=None):
    both = bounds_of(bounds, a_min, a_max, min, max)
    y, places, number, chosen = attained(clip(a, *both), a, both)
    shares = zip(places, (number,) * 3) if chosen[0] is None else zip(chosen, (1,) * 3)
    ydot = sum_tangents(
        shared(as_array(as_structured(x, xdot)), *share)
        for x, share, xdot in zip((a, *bounds), shares, tangents[1:])
        if not isinstance(xdot, AbstractZero)
    )
    return y, ProjectTo(y)(ydot)


@rrule.register(np.clip)
def clip_rrule(clip, a, *bounds, a_min=None, a_max=None, min=None, max=None):
    both = bounds_of(bounds, a_min, a_max, min, max)
    y, places, number, chosen = attained(clip(a, *both), a, both)
    shapes = [np.shape(x) for x in (a, *both)]
    projections = [ProjectTo(x) for x in (a, *bounds)]

    def clip_pullback(ybar):
        def pull(place, choice, shape, project):
            return project(unbroadcast(shared(ybar, place, number, choice, a, *both), shape))

        return NoTangent(), *(
            thunk(functools.partial(pull, *pulled))
            for pulled in zip(places, chosen, shapes, projections)
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


def sorted_lanes(sort, a, y, axis, options):
    """The sorted array; in lanes, from where in ``a`` it was taken, and which are ties."""
    lanes = in_lanes(value(y), axis)
    order = order_of(sort, in_lanes(value(a), axis), lanes, options)
    if is_traced(a):
        # Differentiated again, equal numbers stay in the order that they are in.
        taken = np.take_along_axis(in_lanes(as_array(a), axis), order, axis=-1)
        y = from_lanes(taken, np.shape(y), axis)
    return y, order, lanes[..., 1:] == lanes[..., :-1]


@frule.register(np.sort)
@frule.register(np.partition)
def sort_frule(tangents, sort, a, *, axis=-1, **options):
    _, adot = tangents
    y, order, ties = sorted_lanes(sort, a, sort(a, axis=axis, **options), axis, options)
    ydot = np.take_along_axis(in_lanes(adot, axis), order, axis=-1)
    ydot = ydot if is_traced(a) else mean_of_ties(ydot, ties)
    return y, ProjectTo(y)(from_lanes(ydot, np.shape(y), axis))


@rrule.register(np.sort)
@rrule.register(np.partition)
def sort_rrule(sort, a, *, axis=-1, **options):
    project_a = ProjectTo(a)
    y, order, ties = sorted_lanes(sort, a, sort(a, axis=axis, **options), axis, options)

    def sort_pullback(ybar):
        ybar = in_lanes(ybar, axis)
        even = mean_of_ties(ybar, ties)
        ybar = through(ybar, even, a) if is_traced(a) and np.any(ties) else even
        abar = np.take_along_axis(ybar, inverse(order), axis=-1)
        return NoTangent(), project_a(from_lanes(abar, project_a.shape, axis))

    return y, sort_pullback


@composed(np.sort_complex)
def sort_complex(a):
    return np.sort(a) + 0j
