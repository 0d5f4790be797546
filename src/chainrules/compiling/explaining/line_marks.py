"""Line marks: a column each of the lines, times and lengths of tapes at the events of one run.

The accelerator has the same class in C: a trace function of Python's takes longer than a line of
single numbers.
"""

import time
from array import array
from collections.abc import Callable
from types import FrameType
from typing import Any

from ...rules.accelerated import numbers


class LineMarks:
    """Marks of one run, which has a number for each line of the user's.

    ``firsts`` has by the id of a code what its numbers are more than those of lines in its file.
    """

    def __init__(self, firsts: dict[int, int]) -> None:
        self.firsts = firsts
        self.lists: tuple[list, ...] = ()
        self.lines, self.times, self.lengths = array("q"), array("d"), array("q")

    def __len__(self) -> int:
        return len(self.lines)

    def note(self, line: int) -> None:
        """Note that a line begins, or goes on."""
        self.lines.append(line)
        for measured in self.lists:
            self.lengths.append(len(measured))
        self.times.append(time.perf_counter())

    def measure(self, lists: tuple[list, ...]) -> None:
        """Note from now on the lengths of these lists."""
        self.lists = lists

    def tracer(self, first: int) -> Callable:
        """Return what is told of each line of a function, whose numbers are more by ``first``."""

        def told(frame: FrameType, event: str, arg: Any) -> Callable:
            self.note(self.waiting(frame) if event == "return" else first + frame.f_lineno)
            return told

        return told

    def waiting(self, frame: FrameType) -> int:
        """Return the user's line that waits for a function to end; 0 where none does."""
        outer = frame.f_back
        while outer is not None:
            first = self.firsts.get(id(outer.f_code))
            if first is not None:
                return first + outer.f_lineno
            outer = outer.f_back
        return 0

    def columns(self) -> tuple[bytes, bytes, bytes]:
        """Return lines, times and lengths so far, as bytes; there is a length for each list."""
        return self.lines.tobytes(), self.times.tobytes(), self.lengths.tobytes()


line_marks: Callable[..., LineMarks] = LineMarks if numbers is None else numbers.LineMarks
