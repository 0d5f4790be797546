"""Entries of a tape: their forms, how one is appended, and what its result was made of.

The position of an entry is the name of the value that it made. An entry is a tuple, and its
length says of which form it is: nearly all are made by elementwise rules, and must be cheap.
``sweep`` pulls cotangents back through them, ``forward_sweep`` pushes tangents along them.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ..rules.annotations import Index, Tangentlike
from ..rules.engines.engine import escaped

if TYPE_CHECKING:
    from .cotangents import Cotangents

Entry = tuple[Any, ...]

INPUT = 0  # ()                                 an input of the transform
NODE = 1  # (node,)                             anything else: see ``TapeNode``
OF_NUMBER = 2  # (a, da)                        a float that depends on one: the partial's value
OF_ARRAY = 3  # (a, partial, args)              an array: the partial, and what it is called on
OF_NUMBERS = 4  # (a, da, b, db)                a float that depends on two
OF_ARRAYS = 5  # (a, partial_a, b, partial_b, args)
# (a, index, shape, dtype, None, None): a number read by integers from an array of ``shape`` and
# ``dtype``, complex128, or None for float64.
READ = 6
# (a, partial_a, shape_a, b, partial_b, shape_b, args, shape): arrays that were broadcast to
# ``shape``. Cotangents are summed to ``shape_a`` and ``shape_b``, None where that is ``shape``.
BROADCAST = 8

ELEMENTWISE = (OF_NUMBER, OF_NUMBERS)
OF_NUMBERS_ALONE = (OF_NUMBER, OF_NUMBERS, READ)
OF_TWO = (OF_NUMBERS, OF_ARRAYS)
ON_ARRAYS = (OF_ARRAY, OF_ARRAYS)


class TapeNode:
    """The one element of an entry of no other form, which knows its way back itself."""

    __slots__ = ()
    takes_pieces = False  # whether it is pulled with ``Pieces``, and not with the array of them
    sensitive = False  # whether structural zeros of its cotangent matter: see ``is_sensitive``
    template: Any = None  # the structure of a result that is a container
    form: Any  # of the result, for ``space_at``

    def pull(self, ybar: Tangentlike, cotangents: "Cotangents") -> None:
        """Hand the cotangents of the parents on, given that of the result."""
        raise NotImplementedError

    def parents(self) -> Sequence[int]:
        """Return the entries that the result was made of."""
        return ()


def parents_of(entry: Entry) -> Sequence[int]:
    """Return the entries that an entry was made of."""
    size = len(entry)
    if size == INPUT:
        return ()
    if size == NODE:
        return entry[0].parents()
    if size in OF_TWO:
        return entry[0], entry[2]
    if size == BROADCAST and entry[3] is not None:
        return entry[0], entry[3]
    return (entry[0],)


class _Closed(list):
    """Stands where the entries were, once the transform has ended."""

    def append(self, entry: Entry) -> None:
        raise escaped()


class _Discarded(list):
    """Takes entries during a sweep: there captured values are read for their numbers only."""

    def append(self, entry: Entry) -> None:
        pass

    def __getitem__(self, index: Index) -> Any:
        return ()


CLOSED = _Closed()
DISCARDED = _Discarded()


def index_of(entry: Entry, entries: list[Entry], index: int) -> int:
    """Return where ``entry`` is, which was to be at ``index``: another thread came in between."""
    if entries is DISCARDED:
        return 0
    while entries[index] is not entry:
        index += 1
    return index


def append(entries: list[Entry], entry: Entry) -> int:
    """Append ``entry``, and return where it is; threads may append to one list."""
    index = len(entries)
    entries.append(entry)
    return index if entries[index] is entry else index_of(entry, entries, index)


def is_sensitive(entry: Entry) -> bool:
    """Say whether it matters to an entry which zeros of its cotangent are structural.

    So it is where the entry multiplies by a partial, which may be infinite, or hands its cotangent
    on to one that does, as a read number's may.
    """
    size = len(entry)
    return entry[0].sensitive if size == NODE else size > NODE
