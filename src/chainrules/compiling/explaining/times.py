"""Time of each line of the user's, forward and back, from one run with a clock on.

A sweep reads the clock between the entries of one line and of the next.
"""

import math
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextvars import ContextVar

import numpy as np

from ...config.thresholds import TIMED_AT_LEAST, TIMED_STRIDE
from ...reverse.cotangents import Cotangents
from ...rules import name_of, next_level
from .line_clock import ELSEWHERE, LineClock
from .report import TIME_TITLE, Explanation, Spent

EMPTY_PARTS = 8


def times_of(f: Callable, args: tuple, kwargs: dict) -> Explanation:
    """Call ``f`` once, and return the time of each of the user's lines."""
    next_level()  # before the first one rules are loaded
    times, begun = LineTimes(), time.perf_counter()
    token = _times.set(times)
    try:
        with np.errstate(all="ignore"), times.clock.running():
            f(*args, **kwargs)
    finally:
        _times.reset(token)
    total, spent = time.perf_counter() - begun, times.spent()
    head = [f"{name_of(f)}: {1e3 * total:.3f} ms with a clock at each line", TIME_TITLE]
    return Explanation("\n".join([*head, *map(str, spent)]), spent=spent)


class Back:
    """A line on the way back: its entries, its parts of sweeps, and those that were timed."""

    __slots__ = ("entries", "parts", "seconds", "timed")

    def __init__(self) -> None:
        self.entries = self.parts = self.timed = 0
        self.seconds = 0.0

    @property
    def all_seconds(self) -> float:
        """The seconds of all parts, taken to be as long as those that were timed."""
        return self.seconds * self.parts / max(self.timed, 1)


class LineTimes:
    """Times of lines in one run."""

    def __init__(self) -> None:
        self.clock = LineClock(_with_clock)
        self.back: dict[int, Back] = defaultdict(Back)
        self.draw = np.random.default_rng(0)
        self.overhead = math.inf  # seconds of a part without entries

    def parts(self, cotangents: Cotangents, inputs: int) -> Iterator[tuple[int, Back | None]]:
        """Yield the first entry of each part of a sweep, the last part first, with its line.

        Of a line that comes often one part in 128 is by itself, and some 32 at least, drawn at
        random. Those between are one part without a line: a part may be shorter than a reading.
        """
        count = len(cotangents.entries)
        positions, lines = self.clock.marks_of(cotangents.tape)
        positions = np.maximum(positions, inputs)
        sizes = np.diff(positions, append=count)
        with_entries = np.flatnonzero(sizes)
        positions, lines, sizes = (x.take(with_entries) for x in (positions, lines, sizes))
        counts, entries = np.bincount(lines), np.bincount(lines, sizes)
        for line in np.flatnonzero(counts).tolist():
            self.back[line].parts += int(counts[line])
            self.back[line].entries += int(entries[line])
        wanted = np.maximum(1 / TIMED_STRIDE, TIMED_AT_LEAST / np.maximum(counts, 1))
        alone = np.flatnonzero(self.draw.random(len(lines)) < wanted[lines])[::-1]
        end = count
        for start, size, line in zip(
            positions[alone].tolist(), sizes[alone].tolist(), lines[alone].tolist(), strict=True
        ):
            if start + size < end:
                yield start + size, None
            yield start, self.back[line]
            end = start
        if inputs < end:
            yield inputs, None

    def spent(self) -> list[Spent]:
        """Return the time of each line, the dearest first."""
        forward, name = self.clock.forward(), self.clock.name
        found = [
            Spent(name(line), forward.get(line, 0.0), back.all_seconds, back.entries, "")
            for line in {**forward, **self.back}
            if line != ELSEWHERE and (back := self.back[line])
        ]
        return sorted(found, key=lambda x: -x.seconds)


class TimedCotangents(Cotangents):
    """Cotangents of a sweep that reads the clock between the user's lines."""

    __slots__ = ()

    def order(self, inputs: int, last: bool) -> Iterator[int]:
        times = _times.get()
        if not last:
            self.entries = self.entries.copy()  # each part takes off what it has passed
        entries = self.entries
        times.clock.pause()
        empty = Back()
        for start, line in [*[(len(entries), empty)] * EMPTY_PARTS, *times.parts(self, inputs)]:
            begun = time.perf_counter()
            yield from super().order(start, True)
            took = time.perf_counter() - begun
            if line is empty:
                times.overhead = min(times.overhead, took)
            elif line is not None:
                line.seconds += max(took - times.overhead, 0.0)
                line.timed += 1
            del entries[start:]

    def left(self) -> None:
        _times.get().clock.resume()


_times: ContextVar[LineTimes] = ContextVar("times")


def _with_clock(cotangents: Cotangents) -> None:
    if type(cotangents) is Cotangents:
        cotangents.__class__ = TimedCotangents
