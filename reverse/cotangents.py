"""The cotangents of a sweep under way, and which of them it may write into.

``y = x * a + x * b`` sends two cotangents to ``x``. The first is borrowed as it is, the second
makes a sum of the sweep's own, and any further one is added into that, in place. With large
arrays a new array for every product costs as much as the product: so products, too, are made in
the memory of what the sweep has made itself. What a rule returned, the seeds, and what went to
two places are not its own.

``y = x[0] * x[1]`` sends one entry each time: plain ones are added into an array of the sweep's
own, with a flag for each where it matters which entries nothing was read from. Traced ones are
added into an accumulator of their level, or kept as ``Pieces`` until somebody asks for the whole.
"""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from ..config.thresholds import WRITTEN_INTO
from ..rules import ZERO, AbstractZero, InplaceableThunk, Thunk, Traced, add, unthunk
from ..rules.accelerated import numbers
from ..rules.annotations import Index, Tangentlike
from ..rules.shapes import FIELDS, FLOAT64
from ..rules.table.structural_zeros import Masked, unmask
from ..rules.tangents.project import ProjectArray, Projector, space_of_arrays
from .entries import Entry, is_sensitive
from .pieces import Pieces

if TYPE_CHECKING:
    from .tape import Tape

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

    __slots__ = ("bars", "entries", "owned", "tape")

    def __init__(self, tape: "Tape") -> None:
        self.tape = tape
        self.entries: list[Entry] = tape.recorded
        self.bars: Any = [None] * len(self.entries)
        self.owned: set[int] = set()

    def order(self, inputs: int, last: bool) -> Iterable[int]:
        """Return the entries to pull back through, the last one first.

        The accelerated iterator leaves out the common ones: it pulls back through them itself.
        """
        if numbers is not None:
            return numbers.order(self, inputs, last, WRITTEN_INTO)
        return range(len(self.entries) - 1, inputs - 1, -1)

    def left(self) -> None:
        """Take back, when the sweep has ended, by an error or not, what the order has set.

        A generator cannot: one that an error leaves ends when the collector finds it, at any time.
        """

    def add(self, index: int, xbar: Any) -> None:
        """Add ``xbar`` to the cotangent of an entry.

        The first contribution is borrowed, the second makes a sum of the sweep's own, further
        ones are added in place into that. Nothing that somebody else holds is written to.
        """
        bars = self.bars
        present = bars[index]
        if type(xbar) is _array or type(xbar) in FIELDS:
            if present is None:
                bars[index] = xbar
                return
        else:
            if type(xbar) is Pieces and present is not None:
                xbar = xbar.gathered()
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

    def give(self, index: int, ybar: Tangentlike) -> None:
        """Hand on a cotangent that the sweep made, and that nobody else holds."""
        if self.bars[index] is None:
            self.bars[index] = ybar
            self.owned.add(index)
        else:
            self.add(index, ybar)

    def add_in_place(
        self, index: int, xbar: InplaceableThunk, space: Projector, marks: Any = None
    ) -> None:
        """Let ``xbar`` add itself into an array of the sweep's own, made if need be.

        ``marks``, added into a boolean array, sets the entries that ``xbar`` comes from: the
        others stay structurally zero.
        """
        present = self._own(index, space, marks is not None)
        if present is None:
            self.add(index, xbar)
            return
        xbar.add_into(unmask(present))
        if type(present) is Masked:
            if marks is None:
                self.bars[index] = present.value
            else:
                marks.add_into(present.alive)

    def add_plain(
        self, index: int, place: Index, ybar: Tangentlike, shape: tuple, dtype: np.dtype = FLOAT64
    ) -> bool:
        """Add the plain cotangent of ``x[place]``, a basic index, to that of ``x``, of ``shape``.

        Say whether it could be done: not where that is traced, or no array.
        """
        if index in self.owned:
            present = self.bars[index]
        else:
            space = space_of_arrays(shape, dtype)
            present = self._own(index, space, is_sensitive(self.entries[index]))
        if type(present) is Masked:
            present.alive[place] = True
            present = present.value
        if type(present) is _array:
            present[place] += ybar
            return True
        ours = index in self.owned and isinstance(present, Traced)
        return ours and present.at_level.add_at(present, place, ybar)

    def add_piece(self, index: int, place: Index, ybar: Tangentlike, space: Projector) -> bool:
        """Add the cotangent of ``x[place]``, a basic index, to the pieces of that of ``x``.

        Say whether it is a piece: a traced one is, and others are where there are pieces already.
        """
        present = self.bars[index]
        if type(present) is not Pieces:
            if not isinstance(ybar, Traced):
                return False
            if index not in self.owned or type(unmask(present)) is _array:
                self._accumulate_apart(index, ybar, space)
            present = self.bars[index]
            whole = unmask(present)
            ours = index in self.owned and isinstance(whole, Traced)
            if ours and whole.at_level.add_at(whole, place, ybar):
                if type(present) is Masked:
                    present.alive[place] = True
                return True
            present = Pieces(space, is_sensitive(self.entries[index]), present)
            self.bars[index] = present
            self.owned.discard(index)
        present.append(place, ybar)
        return True

    def _accumulate_apart(self, index: int, ybar: Any, space: Projector) -> None:
        """Give an entry a cotangent of the sweep's own, of the level of ``ybar``, if it can.

        It begins with what is there; where structural zeros matter, with the marks of these.
        """
        present, level = self.bars[index], ybar.at_level
        start = unmask(present)
        traced = isinstance(start, Traced) and start.at_level is level
        plain = type(start) is _array and start.dtype is space.dtype
        if type(space) is not ProjectArray or not (start is None or traced or plain):
            return
        made = level.accumulator(space.shape, space.dtype, start if plain else None)
        if made is None or (traced and not level.add_at(made, ..., start)):
            return
        if is_sensitive(self.entries[index]):
            alive = present.alive if type(present) is Masked else start is not None
            made = Masked(made, np.array(np.broadcast_to(alive, space.shape)))
        self.bars[index] = made
        self.owned.add(index)

    def _own(self, index: int, space: Projector, masked: bool) -> Any:
        """Return the array of the sweep's own that an entry has, or is given now; or None.

        One that is given has structural zeros everywhere, if it is to be ``masked``.
        """
        present = self.bars[index]
        if index in self.owned:
            return present if type(unmask(present)) is _array else None
        if present is None:
            present = space.zeros()
            if masked:
                present = Masked(present, np.zeros(space.shape, bool))
        elif type(present) is _array:
            present = present.copy()
        elif type(present) is Masked and type(present.value) is _array:
            present = Masked(present.value.copy(), present.alive.copy())
        if type(unmask(present)) is not _array:
            return None
        self.bars[index] = present
        self.owned.add(index)
        return present

    def of_inputs(self, inputs: int) -> list[Any]:
        """Return the cotangent of each input, zero if none arrived; arrays nobody else holds."""
        xbars = []
        for index in range(inputs):
            xbar = self.bars[index]
            if xbar is None:
                xbars.append(ZERO)
            else:
                xbars.append(unmask(xbar) if index in self.owned else own(xbar))
        return xbars


def own(xbar: Tangentlike | Pieces) -> Any:
    """Return a tangent that nobody else holds, so that users may write into what they get."""
    if type(xbar) in FIELDS:
        return xbar
    if type(xbar) is _array:
        return xbar.copy()
    xbar = unmask(unthunk(xbar.gathered() if type(xbar) is Pieces else xbar))
    return xbar.copy() if type(xbar) is _array else xbar
