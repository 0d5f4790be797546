"""Fast path: a native function checks that arguments and captured state match the previous call.

It compares the arguments (their types, dtypes and shapes) and what the function captures with what
they were, word by word in memory, where it is known how that lies there; the rest is compared as
ever. What differs in any way goes the long way, which sees what it is: so a yes is always right,
and a no costs some nanoseconds.
"""

from collections.abc import Callable, Hashable
from typing import Any, NamedTuple

import numpy as np

from ..config.thresholds import QUICK_ARRAYS
from .record.constants import Constants
from .record.state import state_guard as by
from .record.state.captured_state import Captured

_array = np.ndarray
_C_ORDER, _ALIGNED, _WRITEABLE = 0x1, 0x100, 0x400  # flags of NumPy


class Quick(NamedTuple):
    """Guards for calls of one kind: ``same`` of the arguments, and ``others`` if needed."""

    entry: Any
    key: Hashable
    captured: Captured
    same: Callable[..., bool]
    others: Callable[[], bool] | None
    held: list  # whose addresses are compared, besides what ``captured`` holds

    def others_same(self) -> bool:
        """Say whether what the native function does not compare is as it was."""
        try:
            return self.others is None or self.others()
        except (ValueError, AttributeError, RuntimeError):
            return False


def quick(captured: Captured, key: Hashable, args: tuple, values: list) -> Quick | None:
    """Return the quick way for arguments of one kind, which it lacks; None if there is none."""
    from .native import available

    if len(args) != len(values) or not available():
        return None
    from .native import guard

    rows = _Rows(guard)
    if not rows.of_arguments(args):
        return None
    left = []
    if not captured.frozen:
        left = [place for place in captured.places if not rows.of_place(*place[3])]
        if captured.arrays and not rows.of_arrays(captured.constants):
            return None
    same = guard.guard(len(args), rows.rows)
    others = by.comparing(left) if left else None
    return Quick(None, key, captured, same, others, rows.held)


class _Rows:
    """The table of what is compared, in the making; without what is not known to lie in memory."""

    def __init__(self, native: Any) -> None:
        self.native = native
        self.fields: dict[str, int] = native.fields()
        self.rows: list[tuple[int, int, int, int, int]] = []
        self.held: list[Any] = []

    def of_arguments(self, args: tuple) -> bool:
        """Compare floats by their types, and arrays in C's order by dtype and shape."""
        arrays = [k for k, x in enumerate(args) if type(x) is _array]
        if len({id(args[k]) for k in arrays}) < len(arrays) or len(arrays) > QUICK_ARRAYS:
            return False
        for k, x in enumerate(args):
            if type(x) not in (float, np.float64, _array):
                return False
            self.rows.append((self.native.WORD + 1, k, self.fields["type"], 0, id(type(x))))
            flags = _C_ORDER | _ALIGNED | _WRITEABLE
            if type(x) is _array and not (x.flags.c_contiguous and self.of_array(k, 1, x, flags)):
                return False
        pairs = [(a, b) for a in arrays for b in arrays if a < b]
        self.rows += [(self.native.OTHER + 1, a, b, 0, 0) for a, b in pairs]
        return True

    def of_array(self, which: int, odd: int, x: np.ndarray, flags: int = _C_ORDER) -> bool:
        """Compare dtype, shape and flags of an array that is an argument, or lies somewhere."""
        n, at = self.native, self.fields
        if "array.dtype" not in at:
            return False
        self.held.append(x.dtype)
        self.rows += [
            (n.WORD + odd, which, at["array.dtype"], 0, id(self.held[-1])),
            (n.PART + odd, which, at["array.ndim"], 0xFFFFFFFF, x.ndim),
            (n.PART + odd, which, at["array.flags"], flags, x.flags.num & flags),
        ]
        for k, size in enumerate(x.shape):
            self.rows.append((n.BEYOND + odd, which, at["array.shape"], 8 * k, size))
        return True

    def of_arrays(self, constants: Constants) -> bool:
        """Compare the entries of small arrays that a function captures."""
        if constants.digests:
            return False
        for reference, copy in constants.copies.values():
            x = reference()
            # ``captured.seen`` holds it.
            if x is None or not (x.flags.c_contiguous and copy.flags.c_contiguous):
                return False
            if not self.of_array(id(x), 0, x):
                return False
            given = self.fields["array.data"], copy.ctypes.data, copy.nbytes
            self.rows.append((self.native.BYTES, id(x), *given))
            self.held.append(copy)
        return True

    def of_place(self, expression: str, names: tuple) -> bool:
        """Compare a place of captured state; return False where that is left to Python."""
        x, at = names[0], self.fields
        if expression == by.CONTENTS and "cell.contents" in at:
            return self.word(x, at["cell.contents"], id(names[1]))
        if expression == by.TYPE:
            return self.word(x, at["type"], id(names[1]))
        if expression == by.BASES and "type.__mro__" in at:
            return self.word(x, at["type.__mro__"], id(names[1]))
        if expression in by.FIELDS:
            field = at.get(f"function.{by.FIELDS[expression]}")
            value = 0 if names[1] is None else id(names[1])
            return field is not None and self.word(x, field, value)
        if type(x) is list and expression == by.LISTED and "list.items" in at:
            self.word(x, at["list.length"], len(names[1]))
            items = [(8 * k, id(y)) for k, y in enumerate(names[1])]
            self.rows += [(self.native.BEYOND, id(x), at["list.items"], *item) for item in items]
            return True
        if type(x) is not dict:
            return False
        if expression == by.NAMED:
            return self.named(x, names[2], id(names[1]))
        if expression == by.ABSENT:
            return all(self.named(x, name, 0) for name in names[1])
        if "dict.length" not in at:
            return False
        if expression == by.OF_LENGTH:
            return self.word(x, at["dict.length"], names[3])
        if expression == f"{by.OF_LENGTH} and {by.NAMED}":
            length = self.word(x, at["dict.length"], names[3])
            return length and self.named(x, names[2], id(names[1]))
        if expression == by.ITEMS:
            return self.items(x, *names[1:])
        return False

    def word(self, x: Any, at: int, value: int) -> bool:
        self.rows.append((self.native.WORD, id(x), at, 0, value))
        return True

    def items(self, x: dict, values: tuple, keys: tuple) -> bool:
        """Compare the addresses of all keys and values, in their order."""
        pairs = [id(part) for pair in zip(keys, values, strict=True) for part in pair]
        self.held.append(np.array(pairs, np.int64))
        self.rows.append((self.native.ITEMS, id(x), 0, self.held[-1].ctypes.data, len(keys)))
        return True

    def named(self, x: dict, name: str, value: int) -> bool:
        """Compare the address of an entry, 0 if there is none."""
        self.rows.append((self.native.ENTRY, id(x), 0, id(name), value))
        return True
