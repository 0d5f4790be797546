"""Held arrays: what stood in plain arrays that a function reads, for its evaluations later on."""

import array
import copy
from collections.abc import Iterable
from typing import Any

import numpy as np

from ...config.thresholds import COPIED_AT_ONCE
from ..tracing.captured import Watch, may_change, same_bits
from ..tracing.level import Traced
from ..tracing.object_arrays import holds_traced
from ..tracing.views import copied
from .buffers import buffer, settled


class HeldArrays:
    """Plain arrays among ``objects`` as they are now: copies of small ones, digests of others.

    A large one that the function changes when it is first run is its own, to write into, and is not
    compared afterwards. A tape's ``watch`` knows those of all its calls, and compares them itself.
    """

    def __init__(self, objects: Iterable, watch: Watch | None = None) -> None:
        self.copies: dict[int, tuple[Any, Any]] = {}
        self.large = Watch() if watch is None else watch
        self.is_own = watch is None
        self.new: set[int] = set()  # ids of large ones, up to the first run
        self.has_run = False
        for x in objects:
            held = settled(x)
            if not _may_be_written(held):
                continue
            is_array = isinstance(held, np.ndarray) and not held.dtype.hasobject
            if is_array and held.nbytes > COPIED_AT_ONCE:
                if self.large.watch(held):
                    self.new.add(id(held))
            else:
                self.copies[id(x)] = x, _copy(held)

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
            i: buffer(_copy(held)) if isinstance(x, Traced) else _copy(held)
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


def _may_be_written(x: Any) -> bool:
    if isinstance(x, np.ndarray) and not isinstance(x, Traced):
        return may_change(x) and not (x.dtype.hasobject and holds_traced(x))
    return isinstance(x, array.array | bytearray)


def _copy(x: Any) -> Any:
    return copied(x) if type(x) is np.ndarray else copy.copy(x)


def _is_same(x: Any, held: Any) -> bool:
    if type(x) is not type(held):
        return False
    if not isinstance(x, np.ndarray):
        return bytes(x) == bytes(held)
    if x.shape != held.shape or not same_bits(x.view(np.ndarray), held.view(np.ndarray)):
        return False
    masks = np.ma.getmask(x), np.ma.getmask(held)
    return masks[0] is masks[1] or np.array_equal(*masks)
