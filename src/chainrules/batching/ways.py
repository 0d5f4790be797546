"""Ways through a function: a batch is split where its items answer unlike what Python asks.

``if x > 0`` of a batch stops the run: ``f`` runs again on the items that say yes, and on those that
say no. Where too many ways are met, the items that are left go one after another.
"""

import contextlib
import contextvars
from collections.abc import Iterator
from typing import Any

import numpy as np

from ..config import user_line


class Split(BaseException):
    """The items of a batch answer unlike: ``groups`` are arrays of their places, one an answer.

    It is no ``Exception``, so that most handlers of the user's let it pass. The level notes it, for
    those that do not: a run must not go on after it.
    """

    def __init__(self, level: Any, groups: list[np.ndarray], asked: str) -> None:
        super().__init__(asked)
        self.level = level
        level.stop = self
        self.groups = groups
        self.asked = asked
        self.line = user_line()


class OneByOne(BaseException):
    """The items of a batch must go one after another: ``why`` says what cannot be done at once.

    All of them, in their order, where they draw random numbers (``in_order``).
    """

    def __init__(self, level: Any, why: str, in_order: bool = False) -> None:
        super().__init__(why)
        self.level = level
        level.stop = self
        self.why = why
        self.in_order = in_order
        self.line = user_line()


class Looked(BaseException):
    """The items of a batch are asked something in a recording, where each may go its own way."""

    def __init__(self, level: Any) -> None:
        super().__init__("a look at a batch")
        self.level = level
        level.stop = self


def grouped(answers: list) -> list[np.ndarray]:
    """Return the places of equal ``answers``, which are hashable, the first seen first."""
    places: dict[Any, list[int]] = {}
    for k, answer in enumerate(answers):
        places.setdefault(answer, []).append(k)
    return [np.array(found) for found in places.values()]


_told: contextvars.ContextVar[list[str] | None] = contextvars.ContextVar("told", default=None)


@contextlib.contextmanager
def told_of_batches() -> Iterator[list[str]]:
    """Collect what batches under way say of themselves: their ways, and what has no batch form."""
    lines: list[str] = []
    token = _told.set(lines)
    try:
        yield lines
    finally:
        _told.reset(token)


def is_told() -> bool:
    """Say whether somebody wants to know what batches do."""
    return _told.get() is not None


def tell(line: str) -> None:
    """Say something of a batch, once, to who wants to know."""
    lines = _told.get()
    if lines is not None and line not in lines:
        lines.append(line)
