"""Functions of NumPy that choose among numbers, bound them, or put them in order.

Equal numbers share the derivative evenly, at a bound of ``np.clip`` and in ``np.sort`` as in
``np.max``: ``np.sort(x)[-1]`` and ``np.max(x)`` have the same one. Its own derivative is NaN at a
tie, where the equal numbers move apart: see ``ties``.
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
from .numpy_elementwise import as_array, or_one, slope_of_abs
from .ties import has_kink, kink_of_neighbours

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
    """Where each argument is the result, how many of them are, and the kinks between these."""
    xs = (a, *bounds)
    places = [x == y for x in xs]
    number = or_one(np.add(places[0], places[1], dtype=np.int8) + places[2])
    if not any(has_kink(x, number) for x in xs):
        return places, number, None
    kinks = 0.0
    for i, k in ((0, 1), (0, 2), (1, 2)):
        if xs[i] is not None and xs[k] is not None:
            tied = places[i] & places[k] & np.isfinite(value(y))
            kinks = kinks + slope_of_abs(np.where(tied, xs[i] - xs[k], 0))
    return places, number, kinks


def shared(t, place, number, kinks):
    """The share of ``t`` that an argument has which is the result in a ``place``."""
    share = np.where(place, t, 0) / number
    return share if kinks is None else share + np.where(place, kinks, 0)


@frule.register(np.clip)
def clip_frule(tangents, clip, a, *bounds, a_min=None, a_max=None, min=None, max=None):
    both = bounds_of(bounds, a_min, a_max, min, max)
    y = clip(a, *both)
    places, number, kinks = attained(y, a, both)
    ydot = sum_tangents(
        shared(as_array(as_structured(x, xdot)), place, number, kinks)
        for x, place, xdot in zip((a, *bounds), places, tangents[1:])
        if not isinstance(xdot, AbstractZero)
    )
    return y, ProjectTo(y)(ydot)


@rrule.register(np.clip)
def clip_rrule(clip, a, *bounds, a_min=None, a_max=None, min=None, max=None):
    both = bounds_of(bounds, a_min, a_max, min, max)
    y = clip(a, *both)
    places, number, kinks = attained(y, a, both)
    shapes = [np.shape(x) for x in (a, *both)]
    projections = [ProjectTo(x) for x in (a, *bounds)]

    def clip_pullback(ybar):
        def pull(place, shape, project):
            return project(unbroadcast(shared(ybar, place, number, kinks), shape))

        return NoTangent(), *(
            thunk(functools.partial(pull, *pulled)) for pulled in zip(places, shapes, projections)
        )

    return y, clip_pullback


# ---- order ----


def mean_of_ties(t, y):
    """Replace each of ``t`` by its mean over neighbours that are equal in ``y``, in lanes."""
    ties = y[..., 1:] == y[..., :-1]
    if not np.any(ties):
        return t
    goes_on = np.concatenate([0 * ties[..., :1], ties], axis=-1) * 1.0

    def total(t):
        return recurrence(goes_on, t) + recurrence_transpose(goes_on, t) - t

    if is_traced(y):
        t = t + kink_of_neighbours(y, ties)
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
    """The sorted lanes, and from where in those of ``a`` they were taken."""
    lanes = in_lanes(value(y), axis)
    order = order_of(sort, in_lanes(value(a), axis), lanes, options)
    if is_traced(a):
        # Not ``y``: of equal numbers that has the mean, which does not show them moving apart.
        lanes = np.take_along_axis(in_lanes(as_array(a), axis), order, axis=-1)
    return lanes, order


@frule.register(np.sort)
@frule.register(np.partition)
def sort_frule(tangents, sort, a, *, axis=-1, **options):
    _, adot = tangents
    y = sort(a, axis=axis, **options)
    lanes, order = sorted_lanes(sort, a, y, axis, options)
    ydot = mean_of_ties(np.take_along_axis(in_lanes(adot, axis), order, axis=-1), lanes)
    return y, ProjectTo(y)(from_lanes(ydot, np.shape(y), axis))


@rrule.register(np.sort)
@rrule.register(np.partition)
def sort_rrule(sort, a, *, axis=-1, **options):
    project_a = ProjectTo(a)
    y = sort(a, axis=axis, **options)
    lanes, order = sorted_lanes(sort, a, y, axis, options)

    def sort_pullback(ybar):
        ybar = mean_of_ties(in_lanes(ybar, axis), lanes)
        abar = np.take_along_axis(ybar, inverse(order), axis=-1)
        return NoTangent(), project_a(from_lanes(abar, project_a.shape, axis))

    return y, sort_pullback


@composed(np.sort_complex)
def sort_complex(a):
    return np.sort(a) + 0j
