"""Callable classes for one item of a map, which can be pickled and sent to a worker.

Each of these classes is called as ``h(data, shared, own) -> (adds, gives)``. ``data`` belongs to
the item and is constant, ``shared`` are values that all items read, ``own`` those of this one;
``adds`` are summed over the items, ``gives`` are listed (where they never hold anything, they are
``nothing``). The pushforward and the pullback of such a function are such functions again:
cotangents of what is shared are summed, the others listed.
"""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

from .....config import MutationError, frule_via_ad, rrule_via_ad
from .... import (
    AbstractZero,
    NoTangent,
    NotImplementedTangent,
    ProjectTo,
    Tangent,
    Within,
    child_tangents,
    children,
    fold,
    is_perturbable_input,
    iterate_leaves,
    lent,
    name_of,
    structural,
    unthunk,
    value,
)
from ..bodies import asked
from .chunks import is_memory_own
from .holes import WithHoles


class Item:
    """``f(*args)``, where ``f`` has holes for what is shared, and its arguments for what is own."""

    def __init__(self, f: Any) -> None:
        self.f = WithHoles(f)

    def gives_nothing(self, owns: tuple) -> bool:
        return False

    def __call__(self, data: tuple, shared: tuple, own: tuple) -> tuple:
        name = name_of(self.f.x)
        data = WithHoles(data).filled(own) if own else data
        args = [for_reading(x) for x in data]
        with self.f.opened(shared, f"{name} writes") as f:
            try:
                y = asked(f)(*args)
            except ValueError as error:
                if "read-only" in str(error):
                    raise MutationError(
                        f"{name} writes into an item, or into an array that it captures, which "
                        "others read, or which is a copy here.\n"
                        "  write into a copy (x.copy()), and return what is to be seen"
                    ) from error
                raise
        if self.f.has_written():
            raise MutationError(
                f"{name} writes into a list that it captures, which is a copy here.\n"
                "  return what is to be seen"
            )
        return (), y


class Both:
    """The values of ``h``, and their tangents."""

    def __init__(self, h: Any, config: Any) -> None:
        self.h, self.config = h, config

    @property
    def nothing(self) -> tuple:
        return self.h.nothing, ()

    def gives_nothing(self, owns: tuple) -> bool:
        return self.h.gives_nothing([own for own, _ in owns])

    def __call__(self, data: Any, shared: tuple, own: tuple) -> tuple:
        (adds, gives), addsdot, givesdot = push(self, data, shared, own)
        return (*adds, *addsdot), (gives, givesdot)


class PushItem(Both):
    """The tangents of what ``h`` gives, alone: linear in those of what it is given."""

    nothing = ()

    def __call__(self, data: Any, shared: tuple, own: tuple) -> tuple:
        _, addsdot, givesdot = push(self, data, shared, own)
        return addsdot, givesdot


def push(of: Both, data: Any, shared: tuple, own: tuple) -> tuple[tuple, tuple, tuple]:
    (shared, shareddot), (own, owndot) = shared, own
    tangents = NoTangent(), from_leaves(shared, shareddot), from_leaves(own, owndot)
    y, ydot = frule_via_ad(of.config, tangents, partial(of.h, data), shared, own)
    (adds, gives), (addsdot, givesdot) = y, child_tangents(y, ydot)
    return y, tuple(map(unthunk, child_tangents(adds, addsdot))), flattened(gives, givesdot)


class PullItem:
    """The cotangents of what ``h`` is given: sums for what is shared.

    Its ``data`` are those of ``h``, and the digest of what that gave, which it must give again.
    """

    nothing = ()

    def __init__(self, h: Any, config: Any) -> None:
        self.h, self.config = h, config

    def gives_nothing(self, owns: tuple) -> bool:
        """Say whether no item has a value of its own, whose cotangent would be listed."""
        return not any(own for own, _ in owns)

    def __call__(self, data: tuple, shared: tuple, own: tuple) -> tuple:
        (data, expected), (shared, addbars), (own, givebars) = data, shared, own
        y, pullback = rrule_via_ad(self.config, partial(self.h, data), shared, own)
        refuse_another(self.h, expected, y[1])
        return pulled_leaves(pullback, y, shared, own, addbars, givebars)


def pulled_leaves(
    pullback: Callable, y: tuple, shared: tuple, own: tuple, addbars: tuple, givebars: tuple
) -> tuple[tuple, tuple]:
    """Pull the cotangents of ``y`` back to one for each number or array in what was given."""
    adds, gives = y
    # What another item adds may be zero in this one, and has no cotangent then.
    bars = [b if is_perturbable_input(x) else NoTangent() for x, b in zip(adds, addbars)]
    ybar = Tangent(tuple, Tangent(tuple, *bars), from_leaves(gives, givebars))
    _, sharedbar, ownbar = pullback(ybar)
    return flattened(shared, sharedbar), flattened(own, ownbar)


# ---- tangents of containers as tuples ------------------------------------------------------


def moving(x: Any) -> Iterator[Any]:
    """Yield the numbers and arrays in ``x``."""
    return filter(is_perturbable_input, iterate_leaves(x))


def flattened(x: Any, xdot: Any) -> tuple:
    """Return one tangent for each number or array in ``x``; zeros stay zeros."""
    found = []

    def look(x: Any, xdot: Any) -> Any:
        parts = children(x)
        if parts is not None:
            return Within(zip(parts.values, child_tangents(x, xdot)), list)
        if is_perturbable_input(x):
            xdot = unthunk(xdot)
            is_number = not isinstance(xdot, AbstractZero | NotImplementedTangent)
            found.append(ProjectTo(x)(xdot) if is_number else xdot)
        return None

    fold(look, x, xdot)
    return tuple(found)


def from_leaves(x: Any, flat: tuple) -> Any:
    """Return the tangent of ``x`` from one for each number or array in it."""
    rest = iter(flat)

    def look(x: Any) -> Any:
        parts = children(x)
        if parts is not None:
            return Within(zip(parts.values), partial(structural, type(x), parts.keys))
        return next(rest) if is_perturbable_input(x) else NoTangent()

    return fold(look, x)


# ---- a second evaluation -------------------------------------------------------------------


def for_reading(x: Any) -> Any:
    """Return ``x`` with its arrays for reading, where it is one or a tuple, list or dict of these.

    On the worker it may be read again: by another map, or for its derivative.
    """
    if type(x) is np.ndarray:
        if is_memory_own():
            return lent(x)
        x = x.view()
        x.flags.writeable = False
        return x
    if type(x) in (tuple, list, dict):
        parts = children(x)
        assert parts is not None
        return parts.rebuild([for_reading(part) for part in parts.values])
    return x


def digest(y: Any) -> list[tuple]:
    """Return a few numbers that tell ``y`` from another one, not from one rounded otherwise."""
    return [
        (np.shape(x), np.sum(x), float(np.sum(np.abs(x))))
        for x in map(np.asarray, moving(value(y)))
    ]


def refuse_another(h: Any, expected: list[tuple], y: Any) -> None:
    """Raise ``MutationError`` where ``y`` is not what ``h`` gave when it was evaluated first."""
    found = digest(y)
    if len(found) == len(expected) and all(map(_agree, expected, found)):
        return
    while not isinstance(h, Item):
        h = h.h
    raise MutationError(
        f"{name_of(h.f.x)}, evaluated by cr.map with an executor, gave another value when it was "
        "evaluated again for its derivative.\n  did it draw a random number, or read what was "
        "written to meanwhile? Draw before, and give the numbers to it as an argument"
    )


def _agree(first: tuple, second: tuple) -> bool:
    (shape, total, size), (shape_again, total_again, size_again) = first, second
    # Another machine may round otherwise.
    near = partial(np.isclose, rtol=1e-6, equal_nan=True, atol=1e-6 * size)
    return shape == shape_again and bool(near(total, total_again) and near(size, size_again))
