"""Functions and containers with holes in place of the traced values in them.

So they can be sent elsewhere, and the values, which are arguments of a rule, beside them.
"""

import contextlib
import operator
from collections.abc import Callable
from typing import Any

from ....containers import LEAVES
from ..closures import Copies, TakenOut, given_others
from ..reachable import Reachable
from .elsewhere import for_reading_only


class Hole:
    """Placeholder for the value of this number."""

    __slots__ = ("number",)

    def __init__(self, number: int) -> None:
        self.number = number


LEAVES.add(Hole)


def emptied(x: Any) -> tuple[Any, tuple]:
    """Return ``x`` with holes in place of its traced values, and these values."""
    out = TakenOut(x)
    if not out.parameters:
        return x, ()
    return out(*map(Hole, range(len(out.parameters)))), tuple(out.parameters)


class WithHoles:
    """A function or a container with holes, which is filled many times."""

    __slots__ = ("holes", "lists", "ways", "x")

    def __init__(self, x: Any) -> None:
        graph = Reachable(x)
        self.x = x
        self.holes = [part for part in graph.objects.values() if type(part) is Hole]
        self.ways = graph.ways(self.holes, {})
        self.lists: list[tuple[list, list]] = []

    def __reduce__(self) -> tuple:
        return arrived, (self.x,)  # what leads to the holes is known by addresses

    def has_written(self) -> bool:
        """Say whether a list has been changed that came along."""
        return any(
            len(x) != len(before) or not all(map(operator.is_, x, before))
            for x, before in self.lists
        )

    def filled(self, values: tuple) -> Any:
        """Return a copy with ``values`` in the holes."""
        if not self.holes:
            return self.x
        return Copies(self.holes, self._chosen(values), self.ways).of(self.x)

    def opened(self, values: tuple, what: str) -> contextlib.AbstractContextManager[Callable]:
        """Give such a copy of a function, which must not write to them: see ``closures.opened``."""
        if not self.holes:
            return contextlib.nullcontext(self.x)
        return given_others(self.x, self.holes, self._chosen(values), self.ways, {}, what)

    def _chosen(self, values: tuple) -> list:
        return [values[hole.number] for hole in self.holes]


def arrived(x: Any) -> WithHoles:
    """Return what was sent here, which nobody is to write to."""
    made = WithHoles(x)
    made.lists = for_reading_only(x)
    return made
