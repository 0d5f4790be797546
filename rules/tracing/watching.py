"""Watching: the numbers that ``cr.debug`` stops at, and the part of a level that looks for them.

Levels of runs under way are asked for nothing: those that begin while somebody watches are of
classes that note the user's line of each operation (``WatchedLevel``), and look at its numbers.
"""

import contextlib
import contextvars
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from ...config.lines import sent_from, user_file_and_line
from ..annotations import Function, Index, Value
from ..containers import iterate_leaves
from ..refusals.table import refusal
from ..shapes import shape_of
from .level import Level, Traced
from .noted_calls import FoundNumber, NotedCall, noted, numbers_of


class Stops(NamedTuple):
    """Numbers to stop at; none where lines alone are wanted, or with ``operands`` their values."""

    nan: bool = False
    inf: bool = False
    zero: bool = False
    operands: bool = False

    @property
    def looks(self) -> bool:
        return self.nan or self.inf or self.zero


_stops: contextvars.ContextVar[Stops | None] = contextvars.ContextVar("stops", default=None)
stops = _stops.get  # None where nobody watches


@contextlib.contextmanager
def watching(wanted: Stops | None) -> Iterator[None]:
    """Let the runs that begin inside note lines, and stop at numbers that are wanted."""
    token = _stops.set(wanted)
    try:
        yield
    finally:
        _stops.reset(token)


class SentFunction:
    """A function for another thread or process, watched there as it would be where it is made.

    What has no line of the user's there has the one that sent it.
    """

    def __init__(self, f: Callable) -> None:
        self.f, self.wanted, self.place = f, stops(), user_file_and_line()
        self.__name__ = f.__name__

    def __call__(self, *args: Any) -> Any:
        with sent_from(self.place), watching(self.wanted):
            return self.f(*args)


def bad_number(x: Any, wanted: Stops) -> FoundNumber | None:
    """Return the first number in ``x`` that is wanted; None without."""
    if not (wanted.nan or wanted.inf):
        return None
    for leaf in iterate_leaves(x):
        plain = numbers_of(leaf)
        if not isinstance(plain, np.ndarray | np.inexact | float | complex):
            continue
        array = np.asarray(plain)
        if array.dtype.kind not in "fc":
            continue
        for name, is_one in (("a NaN", np.isnan), ("an infinity", np.isinf)):
            if (wanted.nan if name == "a NaN" else wanted.inf) and is_one(array).any():
                index = tuple(map(int, np.argwhere(is_one(array))[0]))
                return FoundNumber(name, index, array.shape, array.ndim - len(shape_of(leaf)))
    return None


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
            call = noted(f, iterate_leaves(operands))
            cause = "" if call.through is None else call.through.cause(found)
            cause = cause or "; what it was called with has none"
            raise stop_at("bad number", **told(call, found), cause=cause)

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


def told(call: NotedCall, found: FoundNumber, key: object = None) -> dict[str, str]:
    """Return the words of a refusal for a number in the result of a call, or a cotangent of it."""
    found = call.located(found)
    given = call.given(found, key)
    return {"name": call.name, "number": found.number, "at": found.at, "line": call.line + given}


def stop_at(row: str, /, **fields: object) -> Any:
    """Build the refusal of a number that was found, which ends a batch as well as a run."""
    error = refusal(row, **fields)
    error.ends_run = True  # no item is tried by itself
    return error
