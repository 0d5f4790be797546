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

    A large one that the function itself changes when it is run is its own, to write into, and is
    not compared afterwards.
    """

    def __init__(self, objects: Iterable) -> None:
        self.copies: dict[int, tuple[Any, np.ndarray]] = {}
        self.large = Watch()
        self.has_run = False
        for x in objects:
            array = settled(x)
            if type(array) is np.ndarray and not array.dtype.hasobject and may_change(array):
                if array.nbytes > COPIED_AT_ONCE:
                    self.large.watch(array)
                else:
                    self.copies[id(x)] = x, copied(array)

    def moved(self) -> dict[int, Any]:
        """Return copies of what stood in small arrays, by their ids, where it does no longer.

        Raises
        ------
        MutationError
            Where a large one is not what it was.
        """
        if self.has_run:
            self.large.check()
        return {
            i: copied(held) if type(x) is np.ndarray else buffer(copied(held))
            for i, (x, held) in self.copies.items()
            if not _is_same(settled(x), held)
        }

    def forget_moved(self) -> None:
        """Leave out all that is not what it was."""
        self.after_run()
        for i in self.moved():
            del self.copies[i]

    def after_run(self) -> None:
        """Leave out what the function has written into."""
        self.large.forget_changed()
        self.has_run = True


def _is_same(x: Any, held: np.ndarray) -> bool:
    return type(x) is np.ndarray and x.shape == held.shape and same_bits(x, held)
