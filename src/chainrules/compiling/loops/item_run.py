"""Run of a loop over the items of a batch: natively, and in Python where no way fits an item."""

from collections import Counter
from typing import Any, NamedTuple

import numpy as np

from ...config import CompileError, user_line
from ...config.thresholds import ITEM_PIECE, ITEM_SINGLES, LOOP_REFUSALS
from ..ir.looks import NotRecordable, UnsuitedLoopError
from ..native.steps.branching import BranchingLoop
from ..native.steps.stepping import StepBody
from ..native.threads import share
from .loop_run import LoopRun, dense
from .native_loop import NativeLoop

_NO_WAY, _NESTED = 1, 2  # why a branching loop ended


class Missed(NamedTuple):
    """An item that no way fits, the end of its piece, and the reason, with numbers of a round."""

    item: int
    end: int
    why: int
    numbers: np.ndarray
    code: BranchingLoop | None


def _parting(bodies: list[StepBody]) -> str:
    """Return the user's line of the guard that most ways end with."""
    lines = Counter(body.lines[-1] for body in bodies if body.lines)
    return lines.most_common(1)[0][0] if lines else user_line()


class ItemRun(LoopRun):
    """One run over the items of a batch, in their order as far as anybody sees.

    What is carried is a sum over the items, if anything.
    """

    def __init__(
        self, loop: NativeLoop, count: Any, carry: list, captured: list, columns: list
    ) -> None:
        super().__init__(loop, count, carry, captured, columns)
        assert loop.items is not None
        self.items, self.told = loop.items, False
        self.singles = 0  # items that were tried by another function than the first
        if len(loop.codes) > 1:
            loop.branched(as_one=True)
        self.refused = 0  # items that could not be compiled
        pieces = range(0, self.end, ITEM_PIECE)
        self.waiting = [(k, min(k + ITEM_PIECE, self.end)) for k in reversed(pieces)]
        self.missed: list[Missed] = []  # the first item first

    def native(self) -> bool:
        """Go on natively; return whether there is an item that no way fits, which is ``done``."""
        while self.waiting and (not self.missed or self.waiting[-1][0] < self.missed[0].item):
            codes = self.loop.branched(self.singles > ITEM_SINGLES)
            if codes:
                self._run_pieces([code.code for code in codes])
            else:
                self.missed.append(Missed(*self.waiting.pop(), _NO_WAY, self.captured, None))
        if not self.missed:
            return False
        self.done = self.missed[0].item
        return True

    def _run_pieces(self, codes: list[BranchingLoop]) -> None:
        threads = 1 if self.missed or len(self.layouts.carry) else self.items.threads
        pieces = [self.waiting.pop()]
        if threads > 1:
            pieces, self.waiting = [*pieces, *self.waiting[::-1]], []
        found: list[Missed] = []
        rest = iter(pieces)

        def work() -> None:
            for piece in rest:
                if (missed := self._run_piece(codes, *piece)) is not None:
                    found.append(missed)

        if len(pieces) > 1:
            share(work, min(threads, len(pieces)))
        else:
            work()
        self.missed += found
        self.missed.sort(key=lambda miss: miss.item)

    def _run_piece(self, codes: list[BranchingLoop], first: int, end: int) -> Missed | None:
        """Run some items, by the first of the functions that knows their way; return a miss."""
        steps = self.taken.strides[0] if len(self.taken) else 0, self.given.strides[0]
        state = np.array([first, end, *steps, 0], np.int64)
        scratch = np.zeros(max(code.scratch for code in codes))
        arrays = self.carry, self.captured, self.taken, self.given, scratch
        while True:
            last = codes[0]
            state[1] = end
            last.run(state, *arrays)
            for code in codes[1:]:
                if state[4] != _NO_WAY:
                    break
                last, state[1] = code, state[0] + 1
                code.run(state, *arrays)
                self.singles += 1
            if state[4]:
                return Missed(int(state[0]), end, int(state[4]), scratch, last)
            if state[0] >= end:
                return None

    def round_in_python(self) -> bool:
        """Find a way for the first item that none fits, or run the item in Python."""
        missed = self.missed.pop(0)
        item = missed.item
        if missed.why < _NESTED or not self._found_round(missed):
            self._run_item(item)
            item += 1
        if item < missed.end:
            self.waiting.append((item, missed.end))
        return True

    def _found_round(self, missed: Missed) -> bool:
        """Run a nested loop by itself, where a round fits no way; say whether one is new."""
        assert missed.code is not None
        nested = missed.code.nested[missed.why - _NESTED]
        inner, rounds = nested.of, nested.rounds
        known, layouts = len(inner.bodies), inner.layouts
        carry, captured, rows = np.split(
            missed.numbers, np.cumsum([layouts.carry.size, layouts.captured.size])
        )
        rows = rows[: (rounds or 0) * nested.taken].reshape(-1, max(nested.taken, 1))
        columns = [place.column(rows) for place in layouts.taken.places]
        count = -1 if rounds is None else rounds
        inner(count, *layouts.carry.read(carry), *layouts.captured.read(captured), *columns)
        self.loop.codes = []
        return len(inner.bodies) > known

    def _run_item(self, item: int) -> None:
        layouts = self.layouts
        row = layouts.taken.read(self.taken[item]) if len(self.taken) else []
        carry = layouts.carry.read(self.carry)
        try:
            self._record(carry, row)
            after, given = self._one(carry, row)
            layouts.given.write(self.given[item], dense(layouts.given, given))
            layouts.carry.write(self.carry, dense(layouts.carry, after))
        except NotRecordable as error:
            raise UnsuitedLoopError(str(error)) from error

    def _one(self, carry: list, row: list) -> tuple[list, list]:
        """Return what the step of an item gives: by a replay, where items have no native form."""
        loop = self.loop
        if loop.refused > LOOP_REFUSALS and self.refused <= LOOP_REFUSALS:
            try:
                y = list(loop.replayed_item()(*carry, *self.plain, *row))
                return y[: len(carry)], y[len(carry) :]
            except CompileError as error:
                self.refused += 1
                self._tell(str(error).partition("\n")[0], user_line())
        return loop.step.run(carry, self.plain, row)

    def _record(self, carry: list, row: list) -> None:
        """Record the way of an item, unless there are too many, or items without a native form."""
        loop = self.loop
        if loop.refused > LOOP_REFUSALS:
            return
        if len(loop.bodies) < self.items.ways:
            loop.try_to(loop.add_way, carry, self.plain, row, patient=True)
        else:
            self._tell(f"more than {self.items.ways} ways", _parting(loop.bodies))

    def _tell(self, why: str, line: str) -> None:
        """Say, once in a run, that items run in Python."""
        if not self.told:
            self.told = True
            self.items.tell(why, line)

    def results(self) -> tuple:
        self.done = self.end
        places = self.layouts.given.places
        if len(places) == 1 and not places[0].whole and not self.loop.backwards:
            rows = self.given.reshape(self.end, *places[0].form.shape)
            return np.int64(self.end), *self.layouts.carry.read(self.carry), rows
        return super().results()
