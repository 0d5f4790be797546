"""The cotangent of an array that was read piece by piece, where the pieces are traced.

Plain numbers are added into one array as the sweep goes. A traced cotangent cannot be, and
an array of zeros for every ``x[i]`` would cost n**2 for n of them. So they are collected, and
put into their places by one ``scatter``. What ``x[i] = v`` overwrote is taken out of them again.
"""

import math
from typing import Any

import numpy as np

from ..config.thresholds import LARGE_PIECE
from ..rules import Traced, ZeroTangent, add, array_of, getitem, rrule
from ..rules.annotations import Index, Tangentlike
from ..rules.shapes import dtype_of, shape_of
from ..rules.table.structural_zeros import Masked, counts_of, unmask
from ..rules.tangents.project import ProjectForeign, Projector
from ..rules.tracing.level import ONE

_INTEGERS = (int, np.integer)


class Pieces:
    """Cotangents of ``x[index]``, for several basic indices, and the ``rest`` of that of ``x``.

    Those at integers are kept by their place, which can be taken out again: ``emptied`` are the
    places where nothing is left of ``rest``. All places have as many integers: ``axes``.
    """

    __slots__ = ("axes", "emptied", "others", "places", "rest", "sensitive", "space")

    def __init__(self, space: Projector, sensitive: bool, rest: Any) -> None:
        self.space = space
        # Whether structural zeros matter to the entry of ``x``.
        self.sensitive = sensitive
        self.rest = rest
        self.axes = 0
        self.places: dict[tuple[int, ...], Any] = {}
        self.emptied: set[tuple[int, ...]] = set()
        self.others: list[tuple[Any, Any]] = []

    def append(self, index: Index, ybar: Tangentlike) -> None:
        """Add the cotangent of ``x[index]``."""
        place = self._place(index)
        if place is None:
            if self.others and self.others[-1][0] == index:
                # A slice that was read twice in a row is put into its place once.
                ybar = add(self.others.pop()[1], ybar)
            self.others.append((index, ybar))
        else:
            present = self.places.get(place)
            if isinstance(ybar, Traced) and not ybar.writable:
                self.places[place] = ybar.at_level.multiply_add(present, ybar, ONE)
            else:
                self.places[place] = ybar if present is None else add(present, ybar)

    def add(self, xbar: Tangentlike) -> None:
        """Add a cotangent of all of ``x``."""
        if self.emptied:
            self._gather()
        self.rest = xbar if self.rest is None else add(self.rest, xbar)

    def take(self, index: Index) -> tuple[Any, Any]:
        """Take the cotangent of ``x[index]`` out, and leave zeros there.

        With it goes, where some of its entries are structural zeros, which count.
        """
        place = self._place(index)
        if self.others or place is None:
            self._gather()
        if place is None:
            return None, None
        ybar, counts = self.places.pop(place, None), None
        if self.rest is not None and place not in self.emptied:
            rest, alive = unmask(self.rest)[place], None
            if type(self.rest) is Masked and type(self.rest.alive) is np.ndarray:
                alive = self.rest.alive[place]
            if ybar is not None:
                ybar = add(rest, ybar)
            elif alive is None or alive.any():
                ybar = rest
                counts = None if alive is None or alive.all() else counts_of(alive)
        self.emptied.add(place)
        return (ZeroTangent() if ybar is None else ybar), counts

    def gathered(self) -> Any:
        """Return the cotangent of ``x``."""
        self._gather()
        return ZeroTangent() if self.rest is None else self.rest

    def _place(self, index: Index) -> tuple[int, ...] | None:
        if type(index) is int:
            place: tuple[int, ...] = (index % self.space.shape[0],)
        else:
            index = index if type(index) is tuple else (index,)
            if not index or not all(isinstance(part, _INTEGERS) for part in index):
                return None  # of x[()] it is the whole
            place = tuple([part % n for part, n in zip(index, self.space.shape, strict=False)])
        if len(place) != self.axes:
            if self.places or self.emptied:
                self._gather()
            self.axes = len(place)
        return place

    def _gather(self) -> None:
        """Put everything into ``rest``."""
        space = self.space
        if self.emptied and self.rest is not None:
            emptied = np.zeros(space.shape, bool)
            emptied[_columns(self.emptied)] = True
            zeroed = np.where(emptied, 0, unmask(self.rest))
            alive = self.rest.alive if type(self.rest) is Masked else True
            self.rest = Masked(zeroed, alive & ~emptied) if self.sensitive else zeroed
        pairs = self.others
        if not pairs and (whole := self._whole()) is not None:
            self.emptied, self.places = set(), {}
            self.rest = whole if self.rest is None else add(self.rest, whole)
            return
        if len(self.places) == 1:
            pairs = [*pairs, *self.places.items()]
        elif self.places:
            values = list(self.places.values())
            rows = len(next(iter(self.places))) < space.ndim
            together = np.stack(values) if rows else array_of(values)
            pairs = [(_columns(self.places), together), *pairs]
        self.emptied, self.places, self.others = set(), {}, []
        # A piece that is a good part of the whole costs no more by itself, nor one that is lazy.
        large = [pair for pair in pairs if self._is_large(*pair)]
        small = [pair for pair in pairs if not self._is_large(*pair)]
        if len(small) > 1:
            small = [self._joined(small)]
        for index, ybar in [*large, *small]:
            placed = rrule.kinds[getitem].pull(0, ybar, None, (None,), {"index": index}, space)
            if self.sensitive:
                alive = np.zeros(space.shape, bool)
                alive[index] = True
                placed = Masked(placed, alive)
            self.rest = placed if self.rest is None else add(self.rest, placed)

    def _whole(self) -> Any:
        """Return the pieces as all of a vector, which each entry was read of; None if not so."""
        shape, places = self.space.shape, self.places
        if self._is_lazy() or len(shape) != 1 or len(places) != shape[0] or not places:
            return None
        whole = array_of([places[place] for place in sorted(places)])
        return whole if dtype_of(whole) == self.space.dtype else None

    def _is_lazy(self) -> bool:
        return type(self.space) is ProjectForeign

    def _is_large(self, index: Index, ybar: Tangentlike) -> bool:
        joined = type(index) is tuple and any(type(part) is np.ndarray for part in index)
        return (
            joined or self._is_lazy() or LARGE_PIECE * math.prod(shape_of(ybar)) >= self.space.size
        )

    def _joined(self, pairs: list) -> tuple[Any, Any]:
        """Return several pieces as one, with its index."""
        shape = self.space.shape
        places = [positions(index, shape) for index, _ in pairs]
        flat = [np.reshape(ybar, (-1,)) for _, ybar in pairs]
        return np.unravel_index(np.concatenate(places), shape), np.concatenate(flat)


def _columns(places: Any) -> tuple:
    """Return places as an index: an array of integers for each axis."""
    return tuple([np.array(column) for column in zip(*places, strict=True)])


def positions(index: Index, shape: tuple[int, ...]) -> np.ndarray:
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
