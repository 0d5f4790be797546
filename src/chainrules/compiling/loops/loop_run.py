"""Run of a native loop: natively as far as the known ways go, and rounds in Python between."""

from typing import TYPE_CHECKING, Any

import numpy as np

from ...config.thresholds import LOOP_CAPACITY, LOOP_CHUNK
from ...rules import AbstractZero
from ...rules.engines.buffers import settled
from ..native.steps.stepping import driver

if TYPE_CHECKING:
    from .native_loop import NativeLoop

_STOPPED = 2  # state of a native loop that a condition ended


def capacity(count: int) -> int:
    """Return how many rows a loop without an end makes room for, of which it does ``count``."""
    room = LOOP_CAPACITY
    while room < count:
        room *= 2
    return room


def dense(layout: Any, values: list) -> list:
    """Return plain values, with arrays and numbers of zeros for zero tangents."""
    values = [settled(x) for x in values]
    if not any(isinstance(x, AbstractZero) for x in values):
        return values
    return [
        place.read(np.zeros(layout.size)) if isinstance(x, AbstractZero) else x
        for place, x in zip(layout.places, values, strict=True)
    ]


class LoopRun:
    """One run of a loop: its rows, and how far it is."""

    def __init__(
        self, loop: "NativeLoop", count: Any, carry: list, captured: list, columns: list
    ) -> None:
        self.loop, self.layouts, self.plain = loop, loop.layouts, captured
        self.endless = loop.step.goes_on is not None
        self.done = 0
        self.end = LOOP_CAPACITY if self.endless else int(count)
        self.carry, self.next = np.zeros(self.layouts.carry.size), np.zeros(self.layouts.carry.size)
        self.captured = np.zeros(self.layouts.captured.size)
        self.truths = np.zeros(256, np.bool_)
        self.layouts.carry.put(self.carry, carry)
        self.layouts.captured.put(self.captured, captured)
        self.taken = self.layouts.taken.rows(columns, self.end if columns else 0)
        # As many as the stacks have: of those of an endless loop a derivative takes the first ones.
        rows = self.end if self.endless or not columns else max(self.end, len(columns[0]))
        self.rows = np.zeros((rows, self.layouts.given.size))
        self.given = self.rows[: self.end]
        if loop.backwards:
            self.taken, self.given = self.taken[::-1], self.given[::-1]

    def native(self) -> bool:
        """Go on natively as far as that goes; return whether there are rounds left."""
        bodies = self.loop.bodies
        while bodies:
            table = np.array([body.row for body in bodies], np.int64)
            room = max(len(body.expected) for body in bodies)
            if room > len(self.truths):
                self.truths = np.zeros(room, np.bool_)
            steps = self.taken.strides[0] if len(self.taken) else 0, self.given.strides[0]
            state = np.array([self.done, self.end, *steps, len(bodies), 0, 0], np.int64)
            driver()(
                table, state, self.carry, self.next, self.captured, self.taken, self.given,
                self.truths,
            )  # fmt: skip
            self._at(int(state[0]))
            if state[6] == _STOPPED:
                return False
            if state[6] or not self.endless:
                break
            self._grow()
        return self.endless or self.done < self.end

    def _at(self, done: int) -> None:
        if (done - self.done) % 2:
            self.carry, self.next = self.next, self.carry
        self.done = done

    def _grow(self) -> None:
        """Make room for as many rounds again; without rows for a second's, then signals come in."""
        width = self.layouts.given.size
        self.end += self.end if width else min(self.end, LOOP_CHUNK)
        given = np.zeros((self.end, width))
        given[: len(self.given)] = self.given
        self.given = self.rows = given

    def round_in_python(self) -> bool:
        """Do one round in Python, and record its way; return whether it was done."""
        carry = self.layouts.carry.read(self.carry)
        if not self.loop.goes_on(carry, self.plain):
            self.loop.try_to(self.loop.add_end, carry, self.plain)
            return False
        if self.done == self.end:
            self._grow()
        row = self.layouts.taken.read(self.taken[self.done]) if len(self.taken) else []
        self.loop.try_to(self.loop.add_way, carry, self.plain, row)
        after, given = self.loop.step.run(carry, self.plain, row)
        self.layouts.carry.write(self.next, dense(self.layouts.carry, after))
        self.layouts.given.write(self.given[self.done], dense(self.layouts.given, given))
        self._at(self.done + 1)
        return True

    def is_finite(self) -> bool:
        return bool(np.isfinite(self.carry).all() and np.isfinite(self.given).all())

    def results(self) -> tuple:
        columns = [place.column(self.rows) for place in self.layouts.given.places]
        return np.int64(self.done), *self.layouts.carry.read(self.carry), *columns
