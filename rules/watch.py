"""What a tape keeps of the user's arrays, which the user's code may still write into.

``y = x * c; c[:] = 0; z = x * c`` must not be differentiated with the second ``c`` twice. A small
array is kept as a copy. A large one, which would cost its memory again, is compared with what it
was before the derivative is computed, and a difference is an error. Up to ``WHOLE`` bytes all of
it is compared; above that a line of code has its arrays compared in whole the 1st, 2nd, 4th,
8th, ... time, and else by a sample, each time of other entries. A read-only array needs neither.
"""

from typing import Any

import numpy as np

from ..config import MutationError, user_line
from .containers import LEAVES, children, iterate_leaves
from .exits import describe
from .levels import Traced
from .traced_array import TracedArray

SMALL = 1 << 14  # bytes
WHOLE = 1 << 16  # bytes
SAMPLES = 256  # entries
WORDS = 1021  # a prime, so that rows or entries that changed places are noticed
_NUMBERS = frozenset({int, float, slice, type(None)})  # what shapes, axes and indices hold

# How many large arrays each line of code has given to a tape.
_held_by_line: dict[str, int] = {}


class Watch:
    """The large plain arrays that one tape keeps."""

    __slots__ = ("arrays",)

    def __init__(self) -> None:
        self.arrays: dict[int, tuple[np.ndarray, int | None, bytes, str]] = {}

    def hold(self, x: Any) -> Any:
        """Return what to keep for ``x``, which may be anything."""
        cls = type(x)
        if cls is np.ndarray:
            if x.nbytes <= SMALL or x.dtype.kind == "O":
                return x.copy(order="A")  # which keeps arrays of columns as they are
            self._watch(x)
            return x
        if cls in LEAVES:
            return _same_version(x) if issubclass(cls, TracedArray) else x
        if cls is tuple and _NUMBERS.issuperset(map(type, x)):
            return x
        if cls is list or cls is tuple:
            return cls([self.hold(part) for part in x])
        if cls is dict:
            return {key: self.hold(part) for key, part in x.items()}
        if isinstance(x, np.ndarray):
            if x.nbytes <= SMALL:
                return x.copy(order="A")  # which keeps arrays of columns as they are
            self._watch(x)
        elif children(x) is not None:
            # An object of the user's is kept as it is: a copy of it might not be its equal.
            for part in iterate_leaves(x):
                if isinstance(part, np.ndarray) and not isinstance(part, Traced):
                    self._watch(part)
        return x

    def hold_beside(self, value: Any, x: Any) -> Any:
        """Hold what is plain in ``x``; ``value`` is ``x`` without its traced values."""
        if value is x:
            return self.hold(x)
        if type(x) is list or type(x) is tuple:
            return type(x)([self.hold_beside(*pair) for pair in zip(value, x, strict=True)])
        return value

    def hold_all(self, options: dict) -> dict:
        """Hold every array among keyword options."""
        return {name: self.hold(x) for name, x in options.items()}

    def check(self) -> None:
        """Raise where an array is not what it was.

        Raises
        ------
        MutationError
        """
        for x, offset, before, line in self.arrays.values():
            if fingerprint(x, offset) != before:
                raise MutationError(
                    f"a plain array, {describe(x)}, was used in {line} and has been changed since, "
                    "so the derivative would be wrong.\n"
                    "  use a copy there (c.copy()), or write the changes into another array"
                )

    def _watch(self, x: np.ndarray) -> None:
        if id(x) in self.arrays or x.dtype.kind == "O" or not may_change(x):
            return
        line, offset = user_line(), None
        if x.nbytes > WHOLE:
            times = _held_by_line[line] = _held_by_line.get(line, 0) + 1
            if times & (times - 1):
                offset = times
        self.arrays[id(x)] = x, offset, fingerprint(x, offset), line


def may_change(x: Any) -> bool:
    """Say whether somebody can write into the memory of ``x``, which may be a view."""
    while isinstance(x, np.ndarray):
        if x.flags.writeable:
            return True
        x = x.base
    return not (x is None or type(x) is bytes)


def fingerprint(x: np.ndarray, offset: int | None) -> bytes:
    """Return bytes that differ where ``x`` does: of all of it, or of a sample."""
    if offset is not None:
        step = max(x.size // SAMPLES, 1)
        return x.flat[offset % step :: step].tobytes()
    data = np.asarray(x).ravel(order="K").view(np.uint8)
    end = data.size - data.size % (8 * WORDS)
    sums = np.add.reduce(data[:end].view(np.uint64).reshape(-1, WORDS), axis=0)
    return sums.tobytes() + data[end:].tobytes()


def _same_version(x: Any) -> Any:
    """Return another handle on a traced array, which writes through the first do not change."""
    handle = type(x)()
    handle.level = x.level
    handle.value = _same_version(x.value) if isinstance(x.value, TracedArray) else x.value
    for name in type(x).__slots__:
        setattr(handle, name, getattr(x, name))
    return handle
