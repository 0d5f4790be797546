"""Progress of long work: after two seconds a progress bar, or one line where tqdm is missing.

The clock is looked at when an item of the work is done, and only where standard error is a terminal
or a notebook runs. ``CHAINRULES_PROGRESS=0`` in the environment switches it off.
"""

import contextlib
import functools
import os
import sys
import time
import warnings
from collections.abc import Iterable, Iterator
from typing import Any, TextIO

from .thresholds import LONG_WORK

SWITCH = "CHAINRULES_PROGRESS"


def is_watched() -> bool:
    """Say whether somebody looks: at a terminal, or at a notebook."""
    stream = sys.stderr
    if stream is None or not (_is_terminal(stream) or "ipykernel" in sys.modules):
        return False
    return os.environ.get(SWITCH) != "0"


@functools.lru_cache(maxsize=4)
def _is_terminal(stream: TextIO) -> bool:
    try:
        return stream.isatty()
    except (AttributeError, ValueError):  # it is no file, or closed
        return False


def long_work(name: str, total: int | None, unit: str = "steps") -> "LongWork | None":
    """Return work that shows itself if it takes long; None where nobody looks."""
    return LongWork(name, total, unit) if total != 1 and is_watched() else None


def ending(work: "LongWork | None") -> contextlib.AbstractContextManager[object]:
    """Return a context at whose end the work is over, whatever its total."""
    return _nothing if work is None else work


_nothing = contextlib.nullcontext()


class LongWork:
    """Work under way: it counts what is done, and is seen after two seconds.

    Engines do not look into it: it has no fields that they could follow. Its words are tqdm's.
    """

    __slots__ = ("bar", "begun", "desc", "is_said", "n", "total", "unit")

    def __init__(self, name: str, total: int | None, unit: str = "steps") -> None:
        self.desc = name
        self.total = total
        self.unit = unit
        self.n = 0
        self.begun = time.perf_counter()
        self.bar: Any = None
        self.is_said = False

    def __enter__(self) -> "LongWork":
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def over(self, items: Iterable) -> Iterator[Any]:
        """Yield the items, and count each when the next one is asked for.

        An error of who asks ends the work: Python lets go of a loop's iterator at once.
        """
        is_done = False
        try:
            for item in items:
                yield item
                self.update()
            is_done = True
        finally:
            if not is_done:
                self.close()

    def expect(self, steps: int) -> None:
        """Say that there will be so many steps more."""
        self.total = (self.total or 0) + steps
        if self.bar is not None:
            self.bar.total = self.total

    def update(self, count: int = 1) -> None:
        """Count what is done."""
        self.n += count
        if self.bar is not None:
            self.bar.update(count)
            if self.n == self.total:
                self.close()
        elif self.n != self.total and time.perf_counter() - self.begun > LONG_WORK:
            self._begin()

    def set_description_str(self, text: str, refresh: bool = True) -> None:
        self.desc = text
        if self.bar is not None:
            self.bar.set_description_str(text, refresh=refresh)

    def close(self) -> None:
        """End the work; what is counted afterwards, such as steps taken again, is not shown."""
        self.is_said = True
        if self.bar is not None:
            self.bar.close()
            self.bar = None

    def _begin(self) -> None:
        """Open a bar; without tqdm, say in one line how far it is."""
        if self.is_said:
            return
        self.is_said = True
        try:
            with warnings.catch_warnings():  # in a notebook without ipywidgets it is a line of text
                warnings.simplefilter("ignore")
                from tqdm.auto import tqdm
        except ImportError:
            of = "" if self.total is None else f" of {self.total}"
            seconds = time.perf_counter() - self.begun
            line = f"{self.desc}: {self.n}{of} {self.unit} after {seconds:.0f} s"
            if self.total is not None:
                line += f", about {seconds * self.total / self.n:.0f} s in all"
            print(line, file=sys.stderr, flush=True)
            return
        self.bar = tqdm(desc=self.desc, total=self.total, initial=self.n, unit=f" {self.unit}")
