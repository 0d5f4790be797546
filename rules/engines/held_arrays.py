"""Held arrays: what stood in plain arrays that a function reads, for its evaluations later on."""

from collections.abc import Iterable
from typing import Any

import numpy as np

from ...config.thresholds import COPIED_AT_ONCE
from ..tracing.captured import Watch, may_change, same_bits
from ..tracing.views import copied
from .buffers import buffer, settled


class HeldArrays:
    """Plain arrays among ``objects`` as they are now: copies of small ones, digests of others.

    A large one that the function changes when it is first run is its own, to write into, and is not
    compared afterwards. A tape's ``watch`` knows those of all its calls, and compares them itself.
    """

    def __init__(self, objects: Iterable, watch: Watch | None = None) -> None:
        self.copies: dict[int, tuple[Any, np.ndarray]] = {}
        self.large = Watch() if watch is None else watch
        self.is_own = watch is None
        self.new: set[int] = set()  # ids of large ones, up to the first run
        self.has_run = False
        for x in objects:
            array = settled(x)
            if type(array) is np.ndarray and not array.dtype.hasobject and may_change(array):
                if array.nbytes > COPIED_AT_ONCE:
                    if self.large.watch(array):
                        self.new.add(id(array))
                else:
                    self.copies[id(x)] = x, copied(array)

    def moved(self) -> dict[int, Any]:
        """Return copies of what stood in small arrays, by their ids, where it does no longer.

        Raises
        ------
        MutationError
            Where a large one is not what it was.
        """
        if self.has_run and self.is_own:
            self.large.check()
        return self._moved()

    def _moved(self) -> dict[int, Any]:
        return {
            i: copied(held) if type(x) is np.ndarray else buffer(copied(held))
            for i, (x, held) in self.copies.items()
            if not _is_same(settled(x), held)
        }

    def forget_moved(self) -> None:
        """Leave out all that is not what it was."""
        self.after_run()
        for i in self._moved():
            del self.copies[i]

    def after_run(self) -> None:
        """Leave out large arrays that the function has written into."""
        if self.new:
            self.large.forget_changed(self.new)
            self.new = set()
        self.has_run = True


def _is_same(x: Any, held: np.ndarray) -> bool:
    return type(x) is np.ndarray and x.shape == held.shape and same_bits(x, held)
