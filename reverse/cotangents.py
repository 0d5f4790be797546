"""The cotangents of a sweep under way, and which of them it may write into.

``y = x * a + x * b`` sends two cotangents to ``x``. The first is borrowed as it is, the second
makes a sum of the sweep's own, and any further one is added into that, in place. With large
arrays a new array for every product costs as much as the product: so products, too, are made in
the memory of what the sweep has made itself. What a rule returned, the seeds, and what went to
two places are not its own.
"""

from typing import Any

import numpy as np

from ..rules import AbstractZero, InplaceableThunk, Thunk, add, unthunk
from ..rules.annotations import Tangentlike
from ..rules.shapes import FLOAT64
from ..rules.table.structural_zeros import Masked, unmask
from ..rules.tangents.project import Projector
from .pieces import Pieces

_array = np.ndarray
_numbers = frozenset((float, int, np.float64))


def multiply_into(ybar: np.ndarray, factor: Any) -> Any:
    """Return ``factor * ybar``, in the memory of ``ybar`` where it fits."""
    if type(factor) is np.ndarray:
        fits = factor.dtype is ybar.dtype and factor.shape == ybar.shape
    else:
        fits = type(factor) in _numbers and ybar.dtype is FLOAT64
    return np.multiply(factor, ybar, out=ybar) if fits else factor * ybar


def add_into(present: np.ndarray, xbar: np.ndarray) -> np.ndarray:
    """Return ``present + xbar``, in the memory of ``present`` where it fits."""
    fits = present.dtype is xbar.dtype and present.shape == xbar.shape
    return np.add(present, xbar, out=present) if fits else present + xbar


class Cotangents:
    """The cotangents of a sweep under way, and which of them it may write into."""

    __slots__ = ("bars", "owned")

    def __init__(self, count: int) -> None:
        self.bars: list[Any] = [None] * count
        self.owned: set[int] = set()

    def add(self, index: int, xbar: Tangentlike) -> None:
        """Add ``xbar`` to the cotangent of an entry.

        The first contribution is borrowed, the second makes a sum of the sweep's own, further
        ones are added in place into that. Nothing that somebody else holds is written to.
        """
        bars = self.bars
        present = bars[index]
        if type(xbar) is _array:
            if present is None:
                bars[index] = xbar
                return
        else:
            # Not isinstance: of a traced value that would ask for the class of its number.
            if issubclass(type(xbar), Thunk):
                xbar = unthunk(xbar)
            if issubclass(type(xbar), AbstractZero):
                return
        if present is None:
            bars[index] = xbar
        elif type(present) is _array and type(xbar) is _array:
            if index in self.owned:
                bars[index] = add_into(present, xbar)
            else:
                bars[index] = present + xbar
                self.owned.add(index)
        elif type(present) is Pieces:
            present.add(xbar)
        else:
            self.owned.discard(index)
            bars[index] = add(present, xbar)

    def add_in_place(
        self, index: int, xbar: InplaceableThunk, space: Projector, marks: Any = None
    ) -> None:
        """Let ``xbar`` add itself into an array of the sweep's own, made if need be.

        ``marks``, added into a boolean array, sets the entries that ``xbar`` comes from: the
        others stay structurally zero.
        """
        present = self.bars[index]
        if present is None:
            present = space.zeros()
            if marks is not None:
                present = Masked(present, np.zeros(space.shape, bool))
            self.bars[index] = present
            self.owned.add(index)
        buffer = unmask(present)
        if type(buffer) is not np.ndarray:
            self.add(index, xbar)
            return
        if index not in self.owned:
            buffer = buffer.copy()
            present = Masked(buffer, present.alive.copy()) if type(present) is Masked else buffer
            self.bars[index] = present
            self.owned.add(index)
        xbar.add_into(buffer)
        if type(present) is Masked:
            if marks is None:
                self.bars[index] = buffer
            else:
                marks.add_into(present.alive)
