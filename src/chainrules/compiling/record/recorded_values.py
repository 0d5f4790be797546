"""Recorded values: they stand for the plain numbers and arrays of one call, and of the next.

What is computed with a recorded value is recorded. The recorder notes what looks have seen, and a
run that would see something else is another recording: see ``observed``.
"""

from typing import Any

import numpy as np

from ...rules import TracedArray, TracedNumber
from ...rules.tracing.observed import Observed, whole_value
from ...rules.tracing.views import give_value, root_of
from ..ir.looks import NotRecordable


class RecordedNumber(Observed, TracedNumber):
    """A number that step ``position`` of a recording gives; ``sample`` is that of this run."""

    __slots__ = ("position", "sample")
    position: int

    def __hash__(self) -> int:
        if self.at_level.refuses_hash():
            raise NotRecordable("a number that a cache keeps results by (functools.lru_cache)")
        return hash(self.at_level.look(self, "value", whole_value))


class RecordedArray(Observed, TracedArray):
    """An array that step ``position`` of a recording gives; ``sample`` is that of this run."""

    __slots__ = ("position", "sample")
    position: int

    __hash__ = None

    def __getattr__(self, name: str) -> Any:
        if name in ("sample", "position") and root_of(self)[1]:
            give_value(self)  # a view of an array that was written to
            return getattr(self, name)
        return Observed.__getattr__(self, name)

    def __len__(self) -> int:
        return len(self.sample)

    def __contains__(self, x: Any) -> bool:
        return bool(np.any(self == x))

    def tolist(self) -> Any:
        if self.ndim == 0:
            return self.item()
        if self.ndim == 1:
            return [self.item(i) for i in range(len(self))]
        return [row.tolist() for row in self]
