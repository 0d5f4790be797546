"""Line clock: a trace function that notes the time at each of the user's lines.

It notes as well how long the tapes are, by which it is known later which entries belong to a line.
"""

import bisect
import contextlib
import functools
import sys
from collections.abc import Callable, Iterator
from types import CodeType, FrameType
from typing import Any

import numpy as np

from ...config.lines import is_the_users, named_line
from ...reverse.sweep import sweep
from ...reverse.tape import Tape
from .line_marks import line_marks

ELSEWHERE = 0  # in place of a line: one of nobody's, or a sweep


class LineClock:
    """Clock of one run, which numbers the lines of all functions from one on.

    ``marks`` has an element for each event: a line begins, the user is back in one, a sweep begins
    or ends; with it the lengths of the tapes under way.
    """

    def __init__(self, at_sweep: Callable[[Any], object]) -> None:
        self.at_sweep = at_sweep  # called with the cotangents of a sweep that begins
        self.firsts: dict[int, int] = {}  # numbers less those of lines in the file
        self.marks = line_marks(self.firsts)
        self.under_way: list[tuple[int, tuple[Tape, ...]]] = [(0, ())]  # tapes, from an event on
        self.paused_at: int | None = None  # a line, while a sweep goes on
        # By the ids of code, since its hash takes long; these are held here.
        self.others: list[CodeType] = []
        self.codes: list[CodeType] = []
        self.starts = [ELSEWHERE + 1]  # numbers of the first lines of codes, and the next one
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
            self.marks.note(ELSEWHERE)
            self.marks.measure(())

    def pause(self) -> None:
        """Note nothing in a sweep: what a pullback runs is time of the line that is pulled back."""
        self.paused_at = self.marks.waiting(sys._getframe())
        self.marks.note(ELSEWHERE)
        sys.settrace(None)

    def resume(self) -> None:
        """Go on where a sweep has paused; nothing where an error came before."""
        if self.paused_at is not None:
            sys.settrace(self.called)
            self.marks.note(self.paused_at)
            self.paused_at = None

    def called(self, frame: FrameType, event: str, arg: Any) -> Callable | None:
        """Return what is told of the lines of a function that begins; None where it is not hers."""
        at = id(frame.f_code)
        if at in _OURS:
            return self.watch(frame)
        try:
            return self.tracers[at]
        except KeyError:
            tracer = None
            if is_the_users(frame):
                tracer = self.marks.tracer(self.number(frame.f_code))
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

    def watch(self, frame: FrameType) -> Callable | None:
        """Note that a tape begins or ends, or give a sweep the clock."""
        if frame.f_code is sweep.__code__:
            self.at_sweep(frame.f_locals["cotangents"])
            return None
        tape = frame.f_locals["self"]
        if frame.f_code is Tape.close.__code__:
            self.measure(tuple([x for x in self.under_way[-1][1] if x is not tape]))
            return None
        frame.f_trace_lines = False
        return functools.partial(self.begun, tape)

    def begun(self, tape: Tape, frame: FrameType, event: str, arg: Any) -> None:
        """Note that a tape has begun: the function that fills in its slots ends."""
        if hasattr(tape, "recorded"):
            self.measure((*self.under_way[-1][1], tape))

    def measure(self, tapes: tuple[Tape, ...]) -> None:
        self.under_way.append((len(self.marks), tapes))
        self.marks.measure(tuple([tape.recorded for tape in tapes]))

    def columns(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return lines, times and lengths so far; there is a length for each tape under way."""
        lines, times, lengths = self.marks.columns()
        return (
            np.frombuffer(lines, np.int64),
            np.frombuffer(times),
            np.frombuffer(lengths, np.int64),
        )

    def marks_of(self, tape: Tape) -> tuple[np.ndarray, np.ndarray]:
        """Return the lengths of a tape at the events while it was under way, and their lines."""
        lines, _, lengths = self.columns()
        found = [(lengths[:0], lines[:0])]
        ends, at = [*[begin for begin, _ in self.under_way[1:]], len(lines)], 0
        for (begin, tapes), end in zip(self.under_way, ends, strict=True):
            measured = lengths[at : at + (end - begin) * len(tapes)]
            at += len(measured)
            if tape in tapes:
                found.append((measured[tapes.index(tape) :: len(tapes)], lines[begin:end]))
        positions, names = zip(*found, strict=True)
        return np.concatenate(positions), np.concatenate(names)

    def forward(self) -> dict[int, float]:
        """Return the seconds of each line outside of sweeps, less those that events take."""
        lines, times, _ = self.columns()
        net = np.maximum(np.diff(times) - seconds_of_event(), 0.0)
        seconds, seen = np.bincount(lines[:-1], net), np.flatnonzero(np.bincount(lines[:-1]))
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
    _, times, _ = clock.columns()
    return float(np.median(np.diff(times)))


@functools.cache
def _idle_lines() -> CodeType:
    return compile("pass\n" * 64, "lines", "exec")


_OURS = frozenset(map(id, (Tape.__init__.__code__, Tape.close.__code__, sweep.__code__)))
