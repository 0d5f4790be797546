"""Watched tape: one that knows the user's line of each entry, and looks at cotangents.

``cr.explain`` and ``cr.debug`` ask for it: an operation of a sweep then says which call it pulls
back through, and a NaN that appears there is raised with that call's line.
"""

import functools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ..config import RuleConfig
from ..rules import Traced
from ..rules.annotations import Function, Index, Value
from ..rules.containers import iterate_leaves
from ..rules.engines.strong_levels import level_class
from ..rules.table.structural_zeros import Masked
from ..rules.tangents.thunks import Thunk
from ..rules.tracing.array import TracedArray
from ..rules.tracing.noted_calls import (
    FoundNumber,
    NotedCall,
    PulledEntry,
    noted,
    numbers_of,
    pull_through,
    put_back,
    under_way,
)
from ..rules.tracing.views import root_of
from ..rules.tracing.watching import Stops, WatchedLevel, bad_number, stop_at, stops, told
from .cotangents import Cotangents
from .entries import BROADCAST, ELEMENTWISE, OF_ARRAYS, ON_ARRAYS, Entry, parents_of
from .pieces import Pieces
from .tape import Tape

INFINITE = Stops(nan=True, inf=True)
UNNOTED = "an operation"


class WatchedCotangents(Cotangents):
    """Cotangents of a sweep that is looked at, entry by entry.

    ``infinite`` says which pullback gave the first infinity: a NaN may come of it further on.
    """

    __slots__ = ("infinite", "outer")
    tape: "WatchedTape"

    def __init__(self, tape: "WatchedTape") -> None:
        super().__init__(tape)
        self.infinite = ""
        self.outer = under_way()

    def order(self, inputs: int, last: bool) -> Iterator[int]:
        wanted = self.tape.wanted
        for i in range(len(self.entries) - 1, inputs - 1, -1):
            call, ybar, looks = self.tape.call_of(i), self.bars[i], None
            if ybar is not None and wanted.operands:
                slopes = functools.partial(_slopes, self.entries[i])
                call = call._replace(pulled=PulledEntry(_bad(ybar, INFINITE), slopes))
            if ybar is not None and wanted.looks:
                looks = self.looks(i, call, ybar)
            pull_through(None if call.f is UNNOTED else call)
            yield i
            if looks is not None:
                looks()
        self.left()

    def left(self) -> None:
        put_back(self.outer)

    def looks(self, i: int, call: NotedCall, ybar: Any) -> Callable[[], None]:
        """Look at what is there before entry ``i`` is pulled back, and return the look after it.

        Afterwards ``ybar`` may be gone: a large one is multiplied in its own memory.
        """
        wanted = self.tape.wanted
        parents = parents_of(self.entries[i])
        before = [
            (self.bars[parent] is None, _bad(self.bars[parent], wanted)) for parent in parents
        ]
        finite, good = _bad(ybar, INFINITE) is None, _bad(ybar, wanted) is None
        zero = _is_zero(ybar)

        def after() -> None:
            if finite and not self.infinite:
                self.note_infinity(call, parents)
            for parent, (first, was_bad) in zip(parents, before, strict=True):
                if good and was_bad is None:
                    self.check(call, parent, first and not zero)

        return after

    def note_infinity(self, call: NotedCall, parents: Any) -> None:
        for parent in parents:
            if (found := _bad(self.bars[parent], INFINITE)) is not None:
                words = self.told(call, found, parent)
                self.infinite = (
                    "\n  before, the pullback of {name} gave an infinity{at}, in {line}{cause}"
                ).format_map(words)

    def told(self, call: NotedCall, found: FoundNumber, parent: int) -> dict[str, str]:
        key = self.tape.number, parent
        return {**told(call, found, key), "cause": call.cause(found)}

    def check(self, call: NotedCall, parent: int, may_be_zero: bool) -> None:
        """Raise where a pullback has given a parent a number that is wanted."""
        xbar, wanted = self.bars[parent], self.tape.wanted
        if (found := _bad(xbar, wanted)) is not None:
            before = self.infinite if found.number == "a NaN" else ""
            raise stop_at("bad cotangent", **self.told(call, found, parent), before=before)
        if wanted.zero and may_be_zero and _is_zero(xbar):
            raise stop_at("zero cotangent", name=call.name, line=call.line)


class WatchedTape(WatchedLevel, Tape):
    """A tape whose ``made`` are the operations that made its entries."""

    __slots__ = ("made", "wanted")
    cotangents: type[Cotangents] = WatchedCotangents

    def __init__(self, config: RuleConfig, wanted: Stops) -> None:
        super().__init__(config)
        self.wanted = wanted
        self.made: dict[int, NotedCall] = {}

    def note(self, f: Function | str, y: Value, operands: tuple) -> None:
        # What a rule calls on this level is noted first, and names the entry.
        call: NotedCall | None = None
        for leaf in (y,) if isinstance(y, Traced) else iterate_leaves((y,)):
            if isinstance(leaf, Traced) and leaf.at_level is self:
                position = leaf.position
                if position not in self.made:
                    call = call or self.noted(f, operands)
                    self.made[position] = call
        super().note(f, y, operands)

    def write(self, x: TracedArray, index: Index, v: Value) -> None:
        super().write(x, index, v)
        self.made[root_of(x)[0].position] = self.noted("x[...] = v", (v,))

    def noted(self, f: Function | str, operands: tuple) -> NotedCall:
        return noted(f, iterate_leaves(operands) if self.wanted.operands else ())

    def call_of(self, position: int) -> NotedCall:
        """Return the call that made an entry."""
        return self.made.get(position) or NotedCall(UNNOTED, None)


def _slopes(entry: Entry) -> Iterator[Any]:
    """Yield the factors by which an elementwise entry multiplies cotangents."""
    size = len(entry)
    if size in ELEMENTWISE:
        yield from map(numbers_of, entry[1::2])
    elif size in (*ON_ARRAYS, BROADCAST):
        args = [numbers_of(x) for x in (entry[6] if size == BROADCAST else entry[-1])]
        of_b = entry[4] if size == BROADCAST else entry[3] if size == OF_ARRAYS else None
        for partial in (entry[1], of_b):
            if partial is not None:
                yield partial(*args)


def _plain(xbar: Any) -> Any:
    """Return the numbers of a cotangent, or None where they are not there yet."""
    if type(xbar) is Masked:
        xbar = xbar.value
    if xbar is None or type(xbar) is Pieces or isinstance(xbar, Thunk):
        return None
    return xbar


def _bad(xbar: Any, wanted: Stops) -> FoundNumber | None:
    return bad_number(_plain(xbar), wanted)


def _is_zero(xbar: Any) -> bool:
    plain = numbers_of(_plain(xbar))
    return isinstance(plain, np.ndarray | float) and np.size(plain) > 0 and not np.any(plain)


def new_tape(config: RuleConfig) -> Tape:
    """Return a tape for a run: a watched one, if somebody watches."""
    wanted = stops()
    if wanted is None:
        return level_class(Tape, config)(config)
    return level_class(WatchedTape, config)(config, wanted)
