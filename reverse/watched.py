"""Watched tape: one that knows the user's line of each entry, and looks at cotangents.

``cr.explain`` and ``cr.debug`` ask for it: an operation of a sweep then says which call it pulls
back through, and a NaN that appears there is raised with that call's line.
"""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ..config import RuleConfig
from ..config.lines import UNKNOWN
from ..rules import Traced
from ..rules.annotations import Function, Index, Value
from ..rules.containers import iterate_leaves
from ..rules.engines.strong_levels import level_class
from ..rules.refusals.table import refusal
from ..rules.table.structural_zeros import Masked
from ..rules.tangents.thunks import Thunk
from ..rules.tracing.array import TracedArray
from ..rules.tracing.level import value
from ..rules.tracing.views import root_of
from ..rules.tracing.watching import (
    CalledAt,
    CalledFrom,
    Stops,
    WatchedLevel,
    at_index,
    bad_number,
    called_at,
    operation_now,
    pull_through,
    pulling,
    stops,
)
from .cotangents import Cotangents
from .entries import parents_of
from .pieces import Pieces
from .sweep import sweep
from .tape import Tape

INFINITE = Stops(inf=True)


class WatchedTape(WatchedLevel, Tape):
    """A tape whose ``made`` are the operations that made its entries."""

    __slots__ = ("made", "wanted")

    def __init__(self, config: RuleConfig, wanted: Stops) -> None:
        super().__init__(config)
        self.wanted = wanted
        self.made: dict[int, CalledFrom] = {}

    def note(self, f: Function | str, y: Value, operands: tuple) -> None:
        # What a rule calls on this level is noted first, and names the entry.
        for leaf in (y,) if isinstance(y, Traced) else iterate_leaves((y,)):
            if isinstance(leaf, Traced) and leaf.at_level is self:
                position = leaf.position
                if position not in self.made:
                    self.made[position] = operation_now(f)
        super().note(f, y, operands)

    def write(self, x: TracedArray, index: Index, v: Value) -> None:
        super().write(x, index, v)
        self.made[root_of(x)[0].position] = operation_now("x[...] = v")

    def called_at(self, position: int) -> CalledAt:
        """Return the operation that made an entry, in words."""
        made = self.made.get(position)
        return CalledAt("an operation", UNKNOWN) if made is None else called_at(made)

    def sweep(self, seeds: list[tuple[int, Any]], inputs: int, last: bool) -> list[Any]:
        return self.passed(sweep, WatchedCotangents(self), seeds, inputs, last)


class WatchedCotangents(Cotangents):
    """Cotangents of a sweep that is looked at, entry by entry.

    ``infinite`` says which pullback gave the first infinity: a NaN may come of it further on.
    """

    __slots__ = ("infinite",)
    tape: WatchedTape

    def __init__(self, tape: WatchedTape) -> None:
        super().__init__(tape)
        self.infinite = ""

    def order(self, inputs: int, last: bool) -> Iterator[int]:
        made = self.tape.made
        with pulling():
            for i in range(len(self.entries) - 1, inputs - 1, -1):
                ybar = self.bars[i]
                looks = None if ybar is None else self.looks(i, ybar)
                pull_through(made.get(i))
                yield i
                if looks is not None:
                    looks()

    def looks(self, i: int, ybar: Any) -> Callable[[], None] | None:
        """Look at what is there before entry ``i`` is pulled back, and return the look after it.

        Afterwards ``ybar`` may be gone: a large one is multiplied in its own memory.
        """
        wanted = self.tape.wanted
        if not any(wanted):
            return None
        parents = parents_of(self.entries[i])
        before = [
            (self.bars[parent] is None, _bad(self.bars[parent], wanted)) for parent in parents
        ]
        finite, good = _bad(ybar, INFINITE) is None, _bad(ybar, wanted) is None
        zero = _is_zero(ybar)

        def after() -> None:
            if finite and not self.infinite:
                self.note_infinity(i, parents)
            for parent, (first, was_bad) in zip(parents, before, strict=True):
                if good and was_bad is None:
                    self.check(i, parent, wanted, first and not zero)

        return after

    def note_infinity(self, i: int, parents: Any) -> None:
        for parent in parents:
            if (found := _bad(self.bars[parent], INFINITE)) is not None:
                name, line = self.tape.called_at(i)
                place = at_index(found[1])
                self.infinite = (
                    f"\n  before, the pullback of {name} gave an infinity{place}, in {line}"
                )

    def check(self, i: int, parent: int, wanted: Stops, first: bool) -> None:
        """Raise where the pullback of entry ``i`` has given a parent a number that is wanted."""
        made = self.tape.called_at(i)
        xbar = self.bars[parent]
        if (found := _bad(xbar, wanted)) is not None:
            number, index = found
            before = self.infinite if number == "a NaN" else ""
            place = {"at": at_index(index), "line": made.line, "before": before}
            raise refusal("bad cotangent", name=made.name, number=number, **place)
        if wanted.zero and first and _is_zero(xbar):
            raise refusal("zero cotangent", name=made.name, line=made.line)


def _plain(xbar: Any) -> Any:
    """Return the numbers of a cotangent, or None where they are not there yet."""
    if type(xbar) is Masked:
        xbar = xbar.value
    if xbar is None or type(xbar) is Pieces or isinstance(xbar, Thunk):
        return None
    return value(xbar)


def _bad(xbar: Any, wanted: Stops) -> tuple[str, tuple[int, ...]] | None:
    return bad_number(_plain(xbar), wanted)


def _is_zero(xbar: Any) -> bool:
    plain = _plain(xbar)
    return isinstance(plain, np.ndarray | float) and np.size(plain) > 0 and not np.any(plain)


def new_tape(config: RuleConfig) -> Tape:
    """Return a tape for a run: a watched one, if somebody watches."""
    wanted = stops()
    if wanted is None:
        return level_class(Tape, config)(config)
    return level_class(WatchedTape, config)(config, wanted)
