"""Watched batch: a run on many items that looks at each result, for ``cr.debug``."""

from ..rules.tracing.watching import WatchedLevel
from .batch_level import BatchLevel


class WatchedBatch(WatchedLevel, BatchLevel):
    """A batch level that stops at numbers that are wanted."""

    __slots__ = ()
