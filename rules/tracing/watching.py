"""Watching: which numbers ``cr.debug`` stops at, and the operation that a sweep pulls back through.

Levels of runs under way are asked for nothing: those that begin while somebody watches are of
classes that note the user's line of each operation (``WatchedLevel``), and look at its numbers.
"""

import contextlib
import contextvars
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from ...config.lines import Place, line_at, user_place
from ..annotations import Function, Index, Value
from ..containers import iterate_leaves
from ..refusals.table import refusal
from ..signatures import name_of
from .level import Level, Traced, value
from .running import a_run


class Stops(NamedTuple):
    """Numbers to stop at; none of them where lines alone are wanted."""

    nan: bool = False
    inf: bool = False
    zero: bool = False


class CalledAt(NamedTuple):
    """The name of a function that was called, and the user's line of the call."""

    name: str
    line: str


# A function, or the name of an operation; where it was called; and what was pulled back through.
CalledFrom = tuple[Function | str, Place | None, "CalledFrom | None"]


_stops: contextvars.ContextVar[Stops | None] = contextvars.ContextVar("stops", default=None)
# What a sweep under way pulls back through, and the run that it is part of.
_pulled: contextvars.ContextVar[tuple] = contextvars.ContextVar("pulled", default=(None, None))

stops = _stops.get  # None where nobody watches


def pulled() -> CalledFrom | None:
    """Return what is pulled back through, if somebody watches; None in a run that began since."""
    operation, run = _pulled.get()
    return operation if run is a_run() else None


def pull_through(operation: CalledFrom | None) -> None:
    """Say that what follows belongs to the pullback of an operation, within ``pulling``."""
    _pulled.set((operation, a_run()))


@contextlib.contextmanager
def pulling() -> Iterator[None]:
    """Let what is pulled back through be said inside; at first it is nothing."""
    outer = _pulled.get()
    pull_through(None)
    try:
        yield
    finally:
        _pulled.set(outer)  # no token: a sweep that was left by an error may end elsewhere


@contextlib.contextmanager
def watching(wanted: Stops) -> Iterator[None]:
    """Let the runs that begin inside note lines, and stop at numbers that are wanted."""
    token = _stops.set(wanted)
    try:
        yield
    finally:
        _stops.reset(token)


def bad_number(x: Any, wanted: Stops) -> tuple[str, tuple[int, ...]] | None:
    """Return which number that is wanted ``x`` has, and the index of the first; None without."""
    if not (wanted.nan or wanted.inf):
        return None
    for leaf in iterate_leaves(value(x)):
        array = np.asarray(leaf) if isinstance(leaf, np.ndarray | np.inexact | float) else None
        if array is None or array.dtype.kind not in "fc":
            continue
        for name, is_one in (("a NaN", np.isnan), ("an infinity", np.isinf)):
            if (wanted.nan if name == "a NaN" else wanted.inf) and is_one(array).any():
                return name, tuple(map(int, np.argwhere(is_one(array))[0]))
    return None


def at_index(index: tuple[int, ...]) -> str:
    """Return the words for a place in an array; none for that of a number."""
    return f" at {list(index)}" if index else ""


class WatchedLevel(Level):
    """The part of a level that notes lines and looks at numbers; it stands before an engine.

    ``note(f, y)`` is told of each operation of the level, and ``operands`` are what it read.
    """

    __slots__ = ()

    def note(self, f: Function | str, y: Value, operands: tuple) -> None:
        """Look at the result ``y`` of ``f``, called with ``operands``."""
        wanted = stops()
        if wanted is None or (found := bad_number(y, wanted)) is None:
            return
        if bad_number(operands, wanted) is None:
            name, line = operation_of(f)
            raise refusal(
                "bad number", name=name, number=found[0], at=at_index(found[1]), line=line
            )

    def unary(self, ufunc: np.ufunc, operation: Callable, x: Traced) -> Value:
        y = super().unary(ufunc, operation, x)  # type: ignore[safe-super]
        self.note(ufunc, y, (x,))
        return y

    def binary(self, ufunc: np.ufunc, operation: Callable, a: Value, b: Value) -> Value:
        y = super().binary(ufunc, operation, a, b)  # type: ignore[safe-super]
        if y is not NotImplemented:
            self.note(ufunc, y, (a, b))
        return y

    def call(self, f: Function, args: tuple, kwargs: dict) -> Value:
        y = super().call(f, args, kwargs)  # type: ignore[safe-super]
        self.note(f, y, (*args, *kwargs.values()))
        return y

    def getitem(self, x: Traced, index: Index) -> Value:
        y = super().getitem(x, index)  # type: ignore[safe-super]
        self.note("x[...]", y, (x,))
        return y


def operation_now(f: Function | str) -> CalledFrom:
    """Return the operation that runs now, as one notes it."""
    return f, user_place(), pulled()


def operation_of(f: Function | str) -> CalledAt:
    """Return the operation that runs now; in a sweep its line is that of what is pulled back."""
    return called_at(operation_now(f))


def called_at(operation: CalledFrom) -> CalledAt:
    """Return the name and the line of an operation that was noted."""
    f, place, through = operation
    name = f if isinstance(f, str) else name_of(f).rpartition(".")[2]
    if through is None:
        return CalledAt(name, line_at(place))
    outer = called_at(through)
    return CalledAt(f"{name} in the pullback of {outer.name}", outer.line)
