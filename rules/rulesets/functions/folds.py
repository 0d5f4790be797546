"""Loops that carry a value along, ``reduce`` and ``accumulate``: ours and Python's own."""

import functools
import itertools
import operator
from collections.abc import Callable
from typing import Any

from ....config import (
    ArgumentTypeError,
    HasForwardsMode,
    HasReverseMode,
    frule_via_ad,
    rrule_via_ad,
)
from ....config.tracebacks import door
from ... import ZERO, NoTangent, add, call, frule, rrule
from .bodies import Back, asked, handed_whole, prepares_for, refuse_options
from .sequences import (
    ResultStructure,
    Sequence,
    copied,
    form_of,
    gather,
    held,
    own_items,
    pull_item,
    released,
    sum_of_fbars,
    unstack,
    unzip,
)


class _NoInitial:
    """Stands for the initial value that is not given: None may be one."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "<none>"


NO_INITIAL: Any = _NoInitial()


def at_first(initial: Any) -> tuple:
    """Return what comes before the items: the initial value, if there is one."""
    return () if initial is NO_INITIAL else (initial,)


@door
def reduce(
    f: Callable,
    xs: Any,
    initial: Any = NO_INITIAL,
    *,
    executor: Any = None,
    back: Back = None,
    progress: bool = False,
    chunksize: int | None = None,
    timeout: float | None = None,
) -> Any:
    """Carry a value through ``f(carry, x)`` along a sequence, and return the last one.

    Parameters
    ----------
    f : callable
        Takes the carried value and an item, returns the next carried value.
    xs : array_like
        An array (its items are rows) or another iterable.
    initial : Any, optional
        The first carried value; without it, the first item.
    executor : optional
        Where to call ``f``: see ``map``. **With an executor f is associative**: ``f(f(a, b), c)``
        is ``f(a, f(b, c))``, for items and carried values alike, and nobody checks it. Runs of
        eight items are folded side by side, then runs of eight results, in their order. (A sum
        then rounds otherwise.)
    back, progress, chunksize, timeout : optional
        On an executor, as in ``map``; a chunk is so many runs.

    Raises
    ------
    TypeError
        If there is no item and no initial value.

    Examples
    --------
    >>> import numpy as np
    >>> import chainrules as cr
    >>> horner = lambda x, c: cr.reduce(lambda carry, a: carry * x + a, c, 0.0)
    >>> cr.grad(horner, argnums=1)(2.0, np.ones(3))
    array([4., 2., 1.])
    """
    if executor is not None:
        from .executors import MapOptions, is_under_way, reduce_on

        if not is_under_way(executor):
            options = MapOptions(back, progress, chunksize, timeout)
            return reduce_on(executor, f, [*at_first(initial), *xs], options)
    else:
        refuse_options("reduce", back, progress, chunksize, timeout)
    return call(reduce, (f, *held((xs, *at_first(initial)))), {})


@door
def accumulate(f: Callable, xs: Any, initial: Any = NO_INITIAL) -> Any:
    """Carry a value through ``f(carry, x)`` along a sequence, and return every one.

    Parameters
    ----------
    f : callable
        Takes the carried value and an item, returns the next carried value.
    xs : array_like
        An array (its items are rows) or another iterable.
    initial : Any, optional
        The first carried value, which is then also the first result; without it, the first item.

    Returns
    -------
    array, list or tuple
        A stacked array for an array, a tuple for a tuple, else a list.

    Examples
    --------
    >>> import numpy as np
    >>> import chainrules as cr
    >>> cr.accumulate(lambda carry, x: 0.5 * carry + x, np.ones(3), 0.0)
    array([0.  , 1.  , 1.5 , 1.75])
    >>> cr.jacobian(lambda xs: cr.accumulate(np.multiply, xs))(np.array([2.0, 3.0]))
    array([[1., 0.],
           [3., 2.]])
    """
    return call(accumulate, (f, *held((xs, *at_first(initial)))), {})


def push_fold(config: Any, f: Any, fdot: Any, items: list, dots: list) -> tuple:
    """Return the carried values, the first item being one, and their tangents."""
    pushed = [*zip(items[:1], dots[:1])]
    for x, xdot in zip(items[1:], dots[1:]):
        carry, carrydot = pushed[-1]
        pushed.append(frule_via_ad(config, (fdot, carrydot, xdot), f, carry, x))
    return unzip(pushed, 2)


def record_over(config: Any, f: Any, first: tuple, xs: Any) -> tuple[list, Callable]:
    """Return the carried values, and what pulls cotangents back: to ``f``, ``xs`` and ``first``."""
    items = list(xs)
    sequence, items = Sequence(xs, len(items)), [*first, *items]
    carries, pullbacks = items[:1], []
    for x in items[1:]:
        carry, pullback = rrule_via_ad(config, f, carries[-1], x)
        carries.append(carry)
        pullbacks.append(pullback)

    def pull(carrybars: list) -> tuple[Any, Any, list]:
        fbars, itembars = [], []
        carrybar: Any = ZERO
        for pullback, bar in zip(reversed(pullbacks), reversed(carrybars)):
            fbar, carrybar, itembar = pull_item(pullback, add(carrybar, bar), 3)
            fbars.append(fbar)
            itembars.append(itembar)
        itembars += [add(carrybar, bar) for bar in carrybars[:1]]
        bars = itembars[::-1]
        return sum_of_fbars(f, fbars), sequence.collect(bars[len(first) :]), bars[: len(first)]

    return carries, pull


def with_tangents(first: tuple, firstdot: list, xs: Any, xsdot: Any) -> tuple[list, list]:
    """Return the items of a fold and their tangents; an initial value given by name has none."""
    items = list(xs)
    return [*first, *items], [*(firstdot or [ZERO] * len(first)), *unstack(xsdot, len(items))]


def last_of(carries: Any) -> Any:
    if not carries:
        raise ArgumentTypeError("reduce of an empty sequence needs an initial value.")
    return copied(carries[-1])


@frule.register(reduce)
@frule.register(functools.reduce)
def reduce_frule(config: HasForwardsMode, tangents, reduce, f, xs, *given, initial=NO_INITIAL):
    _, fdot, xsdot, *givendot = tangents
    xs, given = released((xs, given))
    items, dots = with_tangents(given or at_first(initial), givendot, xs, xsdot)
    carries, carrydots = push_fold(config, f, fdot, items, dots)
    return last_of(carries), carrydots[-1]


@rrule.register(reduce)
@rrule.register(functools.reduce)
def reduce_rrule(config: HasReverseMode, reduce, f, xs, *given, initial=NO_INITIAL):
    xs, given = released((xs, given))
    carries, pull = record_over(config, f, given or at_first(initial), xs)
    y, zeros = last_of(carries), [ZERO] * (len(carries) - 1)

    def reduce_pullback(ybar):
        fbar, xsbar, firstbar = pull([*zeros, ybar])
        return NoTangent(), fbar, xsbar, *firstbar[: len(given)]

    return y, reduce_pullback


@frule.register(accumulate)
def accumulate_frule(
    config: HasForwardsMode, tangents, accumulate, f, xs, *given, initial=NO_INITIAL
):
    _, fdot, xsdot, *givendot = tangents
    xs, given = released((xs, given))
    items, dots = with_tangents(given or at_first(initial), givendot, xs, xsdot)
    carries, carrydots = push_fold(config, f, fdot, items, dots)
    form = form_of(xs)
    return gather(carries, form, xs), ResultStructure(carries, form).collect(carrydots)


@rrule.register(accumulate)
def accumulate_rrule(config: HasReverseMode, accumulate, f, xs, *given, initial=NO_INITIAL):
    xs, given = released((xs, given))
    carries, pull = record_over(config, f, given or at_first(initial), xs)
    form = form_of(xs)
    results = ResultStructure(carries, form)

    def accumulate_pullback(ybar):
        fbar, xsbar, firstbar = pull(results.split(ybar))
        return NoTangent(), fbar, xsbar, *firstbar[: len(given)]

    return gather(carries, form, xs), accumulate_pullback


@frule.register(itertools.accumulate)
def itertools_accumulate_frule(
    config: HasForwardsMode, tangents, accumulate, iterable, *given, func=None, initial=None
):
    """Python's own: the items come first, it adds by default, and the results are listed."""
    _, xsdot, *fdots = tangents
    (f,), (fdot,) = given or (func or operator.add,), fdots or (NoTangent(),)
    first = () if initial is None else (initial,)
    items, dots = with_tangents(first, [], iterable, xsdot)
    carries, carrydots = push_fold(config, f, fdot, items, dots)
    return list(carries), ResultStructure(carries, list).collect(carrydots)


@rrule.register(itertools.accumulate)
def itertools_accumulate_rrule(
    config: HasReverseMode, accumulate, iterable, *given, func=None, initial=None
):
    (f,) = given or (func or operator.add,)
    carries, pull = record_over(config, f, () if initial is None else (initial,), iterable)
    results = ResultStructure(carries, list)

    def itertools_accumulate_pullback(ybar):
        fbar, xsbar, _ = pull(results.split(ybar))
        return NoTangent(), xsbar, *[fbar][: len(given)]

    return carries, itertools_accumulate_pullback


# ---- where the engine follows Python ---------------------------------------------------------


def carries_of(f: Callable, first: tuple, xs: Any) -> list:
    return list(itertools.accumulate([*first, *xs], asked(f)))


def whole_reduce(f, xs, *given, initial=NO_INITIAL):
    xs, given = released((xs, given))
    items = [*(given or at_first(initial)), *xs]
    return copied(functools.reduce(asked(f), items)) if items else last_of(items)


def own_reduce(f, xs, *given, initial=NO_INITIAL):
    return whole_reduce(f, own_items(released(xs)), *map(copied, given), initial=initial)


def whole_accumulate(f, xs, *given, initial=NO_INITIAL):
    xs, given = released((xs, given))
    first = tuple(map(copied, given or at_first(initial)))
    return gather(carries_of(f, first, own_items(xs)), form_of(xs), xs)


def whole_itertools_accumulate(iterable, *given, func=None, initial=None):
    (f,) = given or (func or operator.add,)
    return [*map(copied, carries_of(f, () if initial is None else (initial,), iterable))]


prepares_for(reduce, own_reduce)
prepares_for(accumulate, whole_accumulate)
handed_whole(reduce, own_reduce)
handed_whole(functools.reduce, whole_reduce)
handed_whole(accumulate, whole_accumulate)
handed_whole(itertools.accumulate, whole_itertools_accumulate)
