"""Memory that a pullback holds, by the user's line whose operation needs it.

A tape knows no lines: the function runs once more on a watched tape, which has the same entries.
"""

import functools
import sys
from collections.abc import Callable, Iterable, Iterator
from types import CellType, FunctionType, MethodType, ModuleType
from typing import Any, NamedTuple

import numpy as np

from ..rules import Traced
from ..rules.annotations import Value
from ..rules.tracing.level import Level
from ..rules.tracing.watching import Stops, watching
from .vjp import PullbackAt, Recording
from .watched import WatchedTape

_PACKAGE = __name__.partition(".")[0]
_SEQUENCES = tuple | list | set | frozenset


class CalledAt(NamedTuple):
    """The name of a function that was called, and the user's line of the call."""

    name: str
    line: str


ARGUMENTS = CalledAt("arguments", "")


class HeldBytes(NamedTuple):
    """Bytes that operations of one name in one line of the user's hold, and how many they are."""

    line: str
    name: str
    bytes: int
    operations: int


def held_by(pullback: PullbackAt) -> list[HeldBytes]:
    """Return what a pullback holds, the most first.

    What several operations need belongs to the first of them. Arrays of the user's that it reads
    are counted as well: the pullback keeps them alive.
    """
    known: set[int] = set()
    found: dict[CalledAt, list[int]] = {}

    def add(place: CalledAt, x: object) -> None:
        sizes = found.setdefault(place, [])
        sizes.append(sum(_sizes(x, known)))

    add(ARGUMENTS, pullback.primals)
    recording = getattr(pullback.pull, "__self__", None)
    if type(recording) is Recording:
        called_at = _calls(pullback, recording)
        for position, entry in enumerate(recording.tape.recorded):
            if entry:
                add(called_at(position), entry)
        add(CalledAt("copies of what it reads", ""), recording.tape.watch)
    else:
        add(CalledAt("the rule of the function", ""), pullback.pull)
    held = [HeldBytes(at.line, at.name, sum(sizes), len(sizes)) for at, sizes in found.items()]
    return sorted([x for x in held if x.bytes], key=lambda x: -x.bytes)


def _calls(pullback: PullbackAt, recording: Recording) -> Callable[[int], CalledAt]:
    """Return what tells the operations of a tape's entries, if the function goes the same way."""
    tape = recording.tape
    if not isinstance(tape, WatchedTape):
        with watching(Stops()):
            primals = pullback.primals
            tape = WatchedTape(tape.config, Stops())
            again = Recording(tape, pullback.f, primals, {}, range(len(primals)))
        if len(again.tape.recorded) != len(recording.tape.recorded):
            tape.made.clear()

    @functools.cache
    def called_at(position: int) -> CalledAt:
        call = tape.call_of(position)
        return CalledAt(call.name, call.line)

    return called_at


def _sizes(x: Any, known: set[int]) -> Iterator[int]:
    """Yield the bytes of ``x`` and of what it holds, once for each object."""
    waiting: list[Any] = [x]
    while waiting:
        x = waiting.pop()
        # Not isinstance: traced arrays, which functions capture, pass for arrays.
        while issubclass(type(x), np.ndarray) and issubclass(type(x.base), np.ndarray):
            x = x.base  # who owns the memory
        if id(x) in known or isinstance(x, type | ModuleType | Level | str | int | None):
            continue
        known.add(id(x))
        if issubclass(type(x), np.ndarray):
            yield x.nbytes
        elif issubclass(type(x), float | complex | np.generic):
            yield sys.getsizeof(x)
        else:
            parts = list(_parts(x))
            if isinstance(x, _SEQUENCES | dict):
                yield sys.getsizeof(x)
            waiting += parts


def _parts(x: Any) -> Iterable[Value]:
    """Return what an object of Python's, or of ours, holds; nothing of other objects."""
    if isinstance(x, _SEQUENCES):
        return x
    if isinstance(x, dict):
        return x.values()
    if isinstance(x, functools.partial):
        return [x.func, *x.args, *x.keywords.values()]
    if isinstance(x, MethodType):
        return [x.__self__, x.__func__]
    if isinstance(x, FunctionType):
        return [*(x.__closure__ or ()), *(x.__defaults__ or ())]
    if isinstance(x, CellType):
        try:
            return [x.cell_contents]
        except ValueError:  # it is empty
            return []
    if isinstance(x, Traced) or type(x).__module__.partition(".")[0] == _PACKAGE:
        slots = [name for cls in type(x).__mro__ for name in _slots(cls)]
        held = [getattr(x, name) for name in slots if hasattr(x, name)]
        return [*held, *getattr(x, "__dict__", {}).values()]
    return []


def _slots(cls: type) -> list[str]:
    names = vars(cls).get("__slots__", ())
    named = [names] if isinstance(names, str) else list(names)
    return [name for name in named if name not in ("__weakref__", "__dict__")]
