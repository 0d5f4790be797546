"""The list of a tape's entries: how one is appended, and what stands there once the tape has ended.

The position of an entry is the name of the value that it made; ``sweep`` says what entries there
are. The threads of one program may append to one list.
"""

from typing import Any

from ..rules.annotations import Index
from ..rules.engines.engine import escaped

Entry = tuple[Any, ...]


class _Closed(list):
    """Stands where the entries were, once the transform has ended."""

    def append(self, entry: Any) -> None:
        raise escaped()


class _Discarded(list):
    """Takes entries during a sweep: there captured values are read for their numbers only."""

    def append(self, entry: Any) -> None:
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
    on to one that does.
    """
    return entry[0].sensitive if len(entry) == 1 else len(entry) > 1 and len(entry) != 6
