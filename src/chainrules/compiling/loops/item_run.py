"""Run of a loop over the items of a batch: natively, and in Python where no way fits an item."""

from typing import Any, NamedTuple

import numpy as np

from ...config import user_line
from ...config.thresholds import ITEM_PIECE
from ..ir.looks import NotRecordable, UnsuitedLoopError
from ..native.branching import BranchingLoop
from ..native.threads import share
from .native_loop import LoopRun, NativeLoop, _dense

_NO_WAY, _NESTED = 1, 2  # why a branching loop ended


class Missed(NamedTuple):
    """An item that no way fits, the end of its piece, and the reason, with numbers of a round."""

    item: int
    end: int
    why: int
    numbers: np.ndarray


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
        pieces = range(0, self.end, ITEM_PIECE)
        self.waiting = [(k, min(k + ITEM_PIECE, self.end)) for k in reversed(pieces)]
        self.missed: list[Missed] = []  # the first item first
        self.code: BranchingLoop | None = None

    def native(self) -> bool:
        """Go on natively; return whether there is an item that no way fits, which is ``done``."""
        while self.waiting and (not self.missed or self.waiting[-1][0] < self.missed[0].item):
            self.code = self.loop.branched()
            if self.code is None:
                first, end = self.waiting.pop()
                self.missed.append(Missed(first, end, _NO_WAY, self.captured))
            else:
                self._run_pieces(self.code)
        if not self.missed:
            return False
        self.done = self.missed[0].item
        return True

    def _run_pieces(self, code: BranchingLoop) -> None:
        threads = 1 if self.missed or len(self.layouts.carry) else self.items.threads
        pieces = [self.waiting.pop()]
        if threads > 1:
            pieces, self.waiting = [*pieces, *self.waiting[::-1]], []
        found: list[Missed] = []
        rest = iter(pieces)

        def work() -> None:
            for piece in rest:
                self._run_piece(code, *piece, found)

        if len(pieces) > 1:
            share(work, min(threads, len(pieces)))
        else:
            work()
        self.missed += found
        self.missed.sort(key=lambda miss: miss.item)

    def _run_piece(self, code: BranchingLoop, first: int, end: int, found: list) -> None:
        """Run some items; enter the first that no way fits."""
        steps = self.taken.strides[0] if len(self.taken) else 0, self.given.strides[0]
        state = np.array([first, end, *steps, 0], np.int64)
        scratch = np.zeros(code.scratch)
        code.run(state, self.carry, self.captured, self.taken, self.given, scratch)
        item, *_, why = state.tolist()
        if why:
            found.append(Missed(item, end, why, scratch))

    def round_in_python(self) -> bool:
        """Find a way for the first item that none fits, or run the item in Python."""
        item, end, why, numbers = self.missed.pop(0)
        if why < _NESTED or not self._found_round(why - _NESTED, numbers):
            self._run_item(item)
            item += 1
        if item < end:
            self.waiting.append((item, end))
        return True

    def _found_round(self, k: int, numbers: np.ndarray) -> bool:
        """Run a nested loop by itself, from where no way was found; say whether one is new."""
        assert self.code is not None
        inner = self.code.nested[k]
        known, layouts = len(inner.bodies), inner.layouts
        cut = layouts.carry.size
        inner(-1, *layouts.carry.read(numbers), *layouts.captured.read(numbers[cut:]))
        self.loop.branching = None
        return len(inner.bodies) > known

    def _run_item(self, item: int) -> None:
        loop, layouts = self.loop, self.layouts
        row = layouts.taken.read(self.taken[item]) if len(self.taken) else []
        carry = layouts.carry.read(self.carry)
        try:
            self._record(carry, row)
            after, given = loop.step.run(carry, self.plain, row)
            layouts.given.write(self.given[item], _dense(layouts.given, given))
            layouts.carry.write(self.carry, _dense(layouts.carry, after))
        except NotRecordable as error:
            raise UnsuitedLoopError(str(error)) from error

    def _record(self, carry: list, row: list) -> None:
        loop = self.loop
        if len(loop.bodies) < self.items.ways:
            loop.try_to(loop.add_way, carry, self.plain, row)
        elif not self.told:
            self.told = True
            self.items.tell(f"more than {self.items.ways} ways", user_line())

    def results(self) -> tuple:
        self.done = self.end
        places = self.layouts.given.places
        if len(places) == 1 and not places[0].whole and not self.loop.backwards:
            rows = self.given.reshape(self.end, *places[0].form.shape)
            return np.int64(self.end), *self.layouts.carry.read(self.carry), rows
        return super().results()
