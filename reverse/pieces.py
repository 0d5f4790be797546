"""The cotangent of an array that was read piece by piece, where the pieces are traced.

Plain numbers are added into one array as the sweep goes. A traced cotangent cannot be, and
an array of zeros for every ``x[i]`` would cost n**2 for n of them. So they are collected, and
put into their places by one ``scatter``.
"""

import math
from typing import Any

import numpy as np

from ..rules import add, array_of
from ..rules.masked import Masked
from ..rules.project import shape_of

_INTEGERS = (int, np.integer)
# A piece is large that is at least this fraction of its array.
LARGE = 8


class Pieces:
    """Cotangents of ``x[index]``, for several basic indices, and the ``rest`` of that of ``x``."""

    __slots__ = ("elementwise", "indices", "kind", "rest", "space", "values")

    def __init__(self, kind: Any, space: Any, elementwise: bool, rest: Any) -> None:
        self.kind = kind
        self.space = space
        # Whether the entry of ``x`` multiplies by a partial, to which a structural zero matters.
        self.elementwise = elementwise
        self.rest = rest
        self.indices: list[Any] = []
        self.values: list[Any] = []

    def append(self, index: Any, ybar: Any) -> None:
        """Add the cotangent of ``x[index]``."""
        self.indices.append(index)
        self.values.append(ybar)

    def gathered(self) -> Any:
        """Return the cotangent of ``x``."""
        space = self.space
        pairs = list(zip(self.indices, self.values, strict=True))
        # A piece that is a good part of the whole costs no more by itself.
        large = [pair for pair in pairs if LARGE * math.prod(shape_of(pair[1])) >= space.size]
        small = [pair for pair in pairs if LARGE * math.prod(shape_of(pair[1])) < space.size]
        if len(small) > 1:
            small = [self._joined(*zip(*small, strict=True))]
        xbar = self.rest
        for index, ybar in [*large, *small]:
            placed = self.kind.pull(0, ybar, None, (None,), {"index": index}, space)
            if self.elementwise:
                alive = np.zeros(space.shape, bool)
                alive[index] = True
                placed = Masked(placed, alive)
            xbar = placed if xbar is None else add(xbar, placed)
        return xbar

    def _joined(self, indices: tuple, values: tuple) -> tuple[Any, Any]:
        """Return several pieces as one, with its index."""
        if self.space.ndim == 1 and all(type(index) is int for index in indices):
            return np.array(indices), array_of(list(values))
        places = [positions(index, self.space.shape) for index in indices]
        flat = [np.reshape(ybar, (-1,)) for ybar in values]
        return np.unravel_index(np.concatenate(places), self.space.shape), np.concatenate(flat)


def positions(index: Any, shape: tuple[int, ...]) -> np.ndarray:
    """Return where the entries that a basic ``index`` reads are in the flat array, in order."""
    index = index if type(index) is tuple else (index,)
    index = tuple(part for part in index if part is not None)
    if any(part is ... for part in index):
        k = next(k for k, part in enumerate(index) if part is ...)
        filling = (slice(None),) * (len(shape) - len(index) + 1)
        index = (*index[:k], *filling, *index[k + 1 :])
    index = (*index, *(slice(None),) * (len(shape) - len(index)))
    places = np.zeros(1, int)
    for part, n in zip(index, shape, strict=True):
        one = isinstance(part, _INTEGERS)
        along = np.array([part % n]) if one else np.arange(*part.indices(n))
        places = (places[:, None] * n + along).reshape(-1)
    return places
