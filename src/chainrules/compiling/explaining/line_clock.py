"""Line clock: a trace function that notes the time at each of the user's lines.

It notes as well how long the tapes are, by which it is known later which entries belong to a line.
"""

import bisect
import contextlib
import functools
import sys
import time
from collections.abc import Callable, Iterator
from types import CodeType, FrameType
from typing import Any

import numpy as np

from ...config.lines import is_the_users, named_line
from ...reverse.sweep import sweep
from ...reverse.tape import Tape

ELSEWHERE = 0  # in place of a line: one of nobody's, or a sweep


class LineClock:
    """Clock of one run, which numbers the lines of all functions from one on.

    ``lines``, ``times`` and ``lengths`` have an element for each event: a line begins, the user is
    back in one, a sweep begins or ends. A length is that of the tape under way; where there are
    several under way, it is a tuple of theirs.
    """

    def __init__(self, at_sweep: Callable[[Any], object]) -> None:
        self.at_sweep = at_sweep  # called with the cotangents of a sweep that begins
        self.lines: list[int] = []
        self.times: list[float] = []
        self.lengths: list[Any] = []
        self.length: Callable[[], Any] = int  # which is 0: there is no tape
        self.under_way: list[tuple[int, tuple[Tape, ...]]] = [(0, ())]  # tapes, from an event on
        self.paused_at: int | None = None  # a line, while a sweep goes on
        # By the ids of code, since its hash takes long; these are held here.
        self.others: list[CodeType] = []
        self.codes: list[CodeType] = []
        self.starts = [ELSEWHERE + 1]  # numbers of the first lines of codes, and the next one
        self.firsts: dict[int, int] = {}  # numbers less those of lines in the file
        self.tracers: dict[int, Callable | None] = {}

    @contextlib.contextmanager
    def running(self) -> Iterator[None]:
        """Let events inside be noted."""
        outer = sys.gettrace()
        sys.settrace(self.called)
        try:
            yield
        finally:
            sys.settrace(outer)
            self.note(ELSEWHERE)

    def pause(self) -> None:
        """Note nothing in a sweep: what a pullback runs is time of the line that is pulled back."""
        self.paused_at = self.lines[-1] if self.lines else ELSEWHERE
        self.note(ELSEWHERE)
        sys.settrace(None)

    def resume(self) -> None:
        """Go on where a sweep has paused; nothing where an error came before."""
        if self.paused_at is not None:
            sys.settrace(self.called)
            self.note(self.paused_at)
            self.paused_at = None

    def note(self, line: int) -> None:
        self.lines.append(line)
        self.lengths.append(self.length())
        self.times.append(time.perf_counter())

    def called(self, frame: FrameType, event: str, arg: Any) -> Callable | None:
        """Return what is told of the lines of a function that begins; None where it is not hers."""
        at = id(frame.f_code)
        if at in _OURS:
            self.watch(frame)
            return None
        try:
            return self.tracers[at]
        except KeyError:
            tracer = self.tracer(self.number(frame.f_code)) if is_the_users(frame) else None
            if tracer is None:
                self.others.append(frame.f_code)
            return self.tracers.setdefault(at, tracer)

    def number(self, code: CodeType) -> int:
        """Give the lines of a function numbers; return what these are more than in the file."""
        lines = {code.co_firstlineno, *[line or 0 for *_, line in code.co_lines()]}
        self.codes.append(code)
        self.firsts[id(code)] = first = self.starts[-1] - min(lines)
        self.starts.append(first + max(lines) + 1)
        return first

    def watch(self, frame: FrameType) -> None:
        """Note that a tape begins or ends, or give a sweep the clock."""
        if frame.f_code is sweep.__code__:
            self.at_sweep(frame.f_locals["cotangents"])
            return
        tape, tapes = frame.f_locals["self"], self.under_way[-1][1]
        if frame.f_code is Tape.__init__.__code__:
            tapes = (*tapes, tape)
        else:
            tapes = tuple([x for x in tapes if x is not tape])
        self.under_way.append((len(self.lines), tapes))
        self.length = self.first_length

    def first_length(self) -> Any:
        """Return the lengths of tapes, of which the last one has begun and has entries by now."""
        entries: list[list] = [getattr(tape, "recorded", []) for tape in self.under_way[-1][1]]
        if len(entries) == 1:
            self.length = entries[0].__len__
        else:
            self.length = lambda: tuple(map(len, entries))
        return self.length()

    def tracer(self, first: int) -> Callable:
        """Return what is told of each line of a function, whose lines are numbered from there."""
        # Each line of each round of a loop comes by.
        add_line, add_length, add_time = self.lines.append, self.lengths.append, self.times.append
        now = time.perf_counter

        def told(frame: FrameType, event: str, arg: Any) -> Callable:
            add_line(self.caller(frame) if event == "return" else first + frame.f_lineno)
            add_length(self.length())
            add_time(now())
            return told

        return told

    def caller(self, frame: FrameType) -> int:
        """Return the user's line that waits for a function to end."""
        outer = frame.f_back
        while outer is not None:
            first = self.firsts.get(id(outer.f_code))
            if first is not None:
                return first + outer.f_lineno
            outer = outer.f_back
        return ELSEWHERE

    def marks_of(self, tape: Tape) -> tuple[np.ndarray, np.ndarray]:
        """Return the lengths of a tape at the events while it was under way, and their lines."""
        positions: list[int] = []
        lines: list[int] = []
        ends = [*[at for at, _ in self.under_way[1:]], len(self.lines)]
        for (begin, tapes), end in zip(self.under_way, ends, strict=True):
            if tape not in tapes:
                continue
            found, which = self.lengths[begin:end], tapes.index(tape)
            positions += found if len(tapes) == 1 else [x[which] for x in found]
            lines += self.lines[begin:end]
        return np.array(positions, int), np.array(lines, int)

    def forward(self) -> dict[int, float]:
        """Return the seconds of each line outside of sweeps, less those that events take."""
        net = np.maximum(np.diff(self.times) - seconds_of_event(), 0.0)
        lines = np.array(self.lines[:-1])
        seconds, seen = np.bincount(lines, net), np.flatnonzero(np.bincount(lines))
        found = dict(zip(seen.tolist(), seconds[seen].tolist(), strict=True))
        found.pop(ELSEWHERE, None)
        return found

    def name(self, line: int) -> str:
        code = self.codes[bisect.bisect(self.starts, line) - 1]
        return named_line(code.co_filename, line - self.firsts[id(code)])


def seconds_of_event() -> float:
    """Return what it takes to note that a line begins: the time of lines that do nothing."""
    clock = LineClock(id)
    with clock.running():
        exec(_idle_lines(), {"__name__": "lines"})
    return float(np.median(np.diff(clock.times)))


@functools.cache
def _idle_lines() -> CodeType:
    return compile("pass\n" * 128, "lines", "exec")


_OURS = frozenset(map(id, (Tape.__init__.__code__, Tape.close.__code__, sweep.__code__)))
