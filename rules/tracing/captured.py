"""Captured arrays: arrays that a tape keeps while the user's code may still write into them.

``y = x * c; c[:] = 0; z = x * c`` must not be differentiated with the second ``c`` twice. So an
array is kept as a copy; or as it is, where ``c.flags.writeable`` is False all the way down to what
owns the memory, or ``lent`` made it so. An array above ``DIGESTED`` bytes is kept as it is, too,
and compared before the derivative is computed: where a digest of all its entries is not what it
was, that is an error.
"""

from collections.abc import Iterable
from typing import Any

import numpy as np

from ...config import user_line
from ...config.thresholds import COPIED_AT_ONCE, DIGESTED
from ..accelerated import numbers
from ..annotations import Value
from ..containers import LEAVES, Within, are_settings, children, fold, is_flat, iterate_leaves
from ..refusals.table import refusal
from .array import TracedArray
from .conversions import describe
from .level import Traced
from .views import copied, snapshot

WORDS = 1021, 1019  # primes, so that rows or entries that changed places are noticed


class Watch:
    """The plain arrays that one tape keeps: copies by what was copied, and large ones."""

    __slots__ = ("arrays", "copies")

    def __init__(self) -> None:
        self.arrays: dict[int, tuple[np.ndarray, bytes, str]] = {}
        self.copies: dict[int, tuple[np.ndarray, np.ndarray]] = {}

    def hold(self, x: Any) -> Any:
        """Return what to keep for ``x``, which may be anything."""
        cls = type(x)
        if cls is np.ndarray:
            if x.nbytes <= COPIED_AT_ONCE or x.dtype.kind == "O":
                return copied(x)
            if not may_change(x):
                return x
            if x.nbytes > DIGESTED:
                self.watch(x)
                return x
            known = self.copies.get(id(x))
            if known is None or not same_bits(*known):
                known = self.copies[id(x)] = x, copied(x)
            return known[1]
        if cls in LEAVES:
            return snapshot(x) if issubclass(cls, TracedArray) else x
        if cls is tuple and are_settings(x):
            return x
        if cls is list and are_settings(x):
            return x.copy()
        return fold(self._hold, x)

    def _hold(self, x: Any) -> Any:
        cls = type(x)
        if cls is list or cls is tuple:
            return Within(zip(x), cls)
        if cls is dict:
            return Within(zip(x.values()), lambda values: dict(zip(x, values, strict=True)))
        if cls in LEAVES:
            return self.hold(x)
        if isinstance(x, np.ndarray):
            if x.nbytes <= DIGESTED:
                return x.copy(order="K")
            self.watch(x)
        elif children(x) is not None:
            # An object of the user's is kept as it is: a copy of it might not be its equal.
            for part in iterate_leaves(x):
                if isinstance(part, np.ndarray) and not isinstance(part, Traced):
                    self.watch(part)
        return x

    def hold_beside(self, value: Any, x: Any) -> Any:
        """Hold what is plain in ``x``; ``value`` is ``x`` without its traced values."""
        if value is x:
            return self.hold(x)
        if isinstance(x, Traced):
            return value
        if is_flat(x):
            return type(x)([self.hold(v) if v is p else v for v, p in zip(value, x, strict=True)])
        return fold(self._hold_beside, value, x)

    def _hold_beside(self, value: Any, x: Any) -> Any:
        if value is x:
            return self.hold(x)
        if type(x) is list or type(x) is tuple:
            return Within(zip(value, x, strict=True), type(x))
        return value

    def hold_all(self, options: dict) -> dict:
        """Hold every array among keyword options."""
        if are_settings(options.values()):
            return options
        return {name: self.hold(x) for name, x in options.items()}

    def check(self) -> None:
        """Raise where an array is not what it was.

        Raises
        ------
        MutationError
        """
        for x, before, line in self.arrays.values():
            if digest(x) != before:
                raise refusal("captured array changed", x=describe(x), line=line)

    def forget_changed(self, known: Iterable[int]) -> None:
        """Leave out arrays of these ids that are not what they were: they may be anything."""
        for i in known:
            x, before, _ = self.arrays[i]
            if digest(x) != before:
                del self.arrays[i]

    def watch(self, x: np.ndarray) -> bool:
        """Have ``check`` compare an array with what it is now; say whether it is a new one."""
        if id(x) in self.arrays or x.dtype.kind == "O" or not may_change(x):
            return False
        self.arrays[id(x)] = x, digest(x), user_line()
        return True


class Unwatched(Watch):
    """Of a run that keeps nothing: arrays are read at once, and never again."""

    __slots__ = ()

    def hold(self, x: Value) -> Any:
        return x

    def hold_beside(self, value: Value, x: Value) -> Any:
        return value

    def hold_all(self, options: dict) -> dict:
        return options


def may_change(x: Value) -> bool:
    """Say whether somebody can write into the memory of ``x``, which may be a view."""
    while isinstance(x, np.ndarray):
        if x.flags.writeable:
            return True
        x = x.base
    return not (x is None or type(x) is bytes or type(x) is _Lent)


def lent(x: np.ndarray) -> np.ndarray:
    """Return ``x`` for reading alone, where nobody writes to its memory for as long as it is read.

    Who calls it answers for that: a tape keeps what it returns without a copy or a digest.
    """
    if x.dtype.kind not in "biufc":
        x = x.view()
        x.flags.writeable = False
        return x
    return np.asarray(_Lent(x))


class _Lent:
    """Owner of the memory of an array that was lent, of which NumPy makes none for writing."""

    __slots__ = ("__array_interface__", "array")

    def __init__(self, x: np.ndarray) -> None:
        interface = x.__array_interface__
        self.array = x
        self.__array_interface__ = {**interface, "data": (interface["data"][0], True)}


def same_bits(x: np.ndarray, y: np.ndarray) -> bool:
    return x.dtype == y.dtype and np.array_equal(_words(x), _words(y))


def _words(x: np.ndarray) -> np.ndarray:
    """Return the entries of an array in memory order, or its objects' addresses, as integers."""
    data = x.ravel(order="K")
    data = np.frombuffer(data.tobytes(), np.uint8) if x.dtype.hasobject else data.view(np.uint8)
    return data.view(np.uint64) if data.size % 8 == 0 else data


def digest(x: np.ndarray) -> bytes:
    """Return the form of ``x``, and sums over its entries, that differ where ``x`` does."""
    x = np.asarray(x)
    form = f"{x.shape} {x.strides} {x.dtype.str}".encode()  # which can be set in place, too
    data = _words(x)
    if numbers is not None:
        return form + numbers.checksum(data)  # one pass, in place of two
    sums = []
    for words in WORDS:
        end = data.size - data.size % words
        sums.append(np.add.reduce(data[:end].reshape(-1, words), axis=0, dtype=np.uint64))
        sums.append(data[end:])
    return form + b"".join(part.tobytes() for part in sums)
