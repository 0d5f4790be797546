"""Cache key of the arguments of a compiled function, and the numbers in them.

``f(x, 2, mode="fast")`` has the array ``x`` as its number; that it is a float64 of so many entries,
the 2 and the text belong to the kind, for which there are recordings of their own.
"""

import enum
from collections.abc import Callable, Collection, Hashable, Iterator
from typing import Any

import numpy as np

from ...config.thresholds import COUNTED, EXAMPLE_KEPT
from ...rules import Traced, children, fold
from ...rules.containers import LEAVES, Within
from ...rules.copies import is_cached
from ...rules.known_classes import registered
from ..ir.looks import NotRecordable, bits
from .container_key import rest_of
from .state.comparison import fields_of
from .state.known_types import is_of_python

_array, _float64 = np.ndarray, np.float64
LARGEST_COUNTED = 1 << 31


def signature(args: tuple, kwargs: dict, counted: Collection[int] = ()) -> tuple[Hashable, list]:
    """Return what a recording is made for, and the numbers and arrays that it takes.

    Floats and complex numbers and arrays of numbers are taken; everything else belongs to the kind:
    Python's ints, which are sizes and counts, texts, None. Ints are taken, too, at the positions
    ``counted``.
    """
    key: list[Any] = []
    values: list[Any] = []
    for x in args if not counted else _entered(args, counted, key, values):
        kind = type(x)
        if kind is float or kind is _float64:
            key.append(kind)
            values.append(x)
        elif kind is _array and x.dtype.kind in "fcbiu":
            key.append(_layout(x))
            values.append(x)
        else:
            _enter(x, key, values)
    for name, x in kwargs.items():
        key.append(name)
        _enter(x, key, values)
    if len(values) > 1:
        arrays = [id(x) for x in values if type(x) is _array]
        if len(set(arrays)) < len(arrays):  # the function may ask for x is y
            key.append(tuple(map(arrays.index, arrays)))
    return tuple(key), values


def _entered(args: tuple, counted: Collection[int], key: list, values: list) -> Iterator[Any]:
    """Yield the arguments that are no counted integers; those are entered."""
    for k, x in enumerate(args):
        if k in counted and is_counted(x):
            key.append(int)
            values.append(x)
        else:
            yield x


def is_counted(x: Any) -> bool:
    """Say whether ``x`` is an int that single numbers of machine code hold, sums of it as well."""
    return type(x) is int and abs(x) <= LARGEST_COUNTED


def _layout(x: np.ndarray) -> Hashable:
    flags = x.flags
    if flags.carray:  # in C's order, aligned, and to be written to
        return x.dtype, x.shape
    order = "C" if flags.c_contiguous else "F" if flags.f_contiguous else x.strides
    return x.dtype, x.shape, order, flags.aligned, flags.writeable


def _enter(x: Any, key: list, values: list) -> None:
    """Add what ``x`` is to a key, and the numbers and arrays in it to the values."""

    def look(x: Any) -> Any:
        if isinstance(x, Traced):
            raise NotRecordable("a traced value")
        if is_taken(x):
            key.append(_layout(x) if type(x) is _array else type(x))
            values.append(x)
            return None
        parts = children(x)
        if parts is not None:
            beside = fields_beside(x)
            key.append((type(x), bits(parts.keys)))
            if type(x) in registered:
                key.append(rest_of(x, parts))
            if beside:
                key.append(tuple([(name, _as_key(v)) for name, v in beside.items()]))
            return Within(zip(parts.values), list)
        if isinstance(x, Iterator):
            raise NotRecordable(f"an argument of type {type(x).__name__}, which is used up")
        if isinstance(x, BY_VALUE) and not has_fields(type(x)):
            key.append((type(x), bits(x)))
            return None
        if type(x).__hash__ is None:
            plain = "; give np.asarray(x), which copies nothing" if type(x) is np.memmap else ""
            raise NotRecordable(f"an argument of type {type(x).__name__}{plain}")
        key.append(_Same(x))
        return None

    fold(look, x)


def fields_beside(x: Any) -> dict[str, Any]:
    """Return the fields of a container that are no parts of it, and stay as they are.

    Those of a dataclass that are static, sizes and counts of an object, all of a class of dicts;
    what is computed from the others, and only remembered, is none.
    """
    cls = type(x)
    if cls in (tuple, list, dict) or cls in registered:
        return {}
    parts = children(x)
    of_object = parts is not None and not isinstance(x, tuple | list | dict)
    known = set(parts.keys) if parts is not None and of_object else ()
    return {k: v for k, v in fields_of(x).items() if k not in known and not is_cached(cls, k)}


def has_fields(cls: type) -> bool:
    """Say whether a class of numbers or texts is of the user's, and may hold more."""
    return cls not in LEAVES and is_of_python(cls) and not issubclass(cls, enum.Enum)


def _as_key(x: Any) -> Hashable:
    """Return what stands in a key for something that is no input."""
    if isinstance(x, Traced):
        raise NotRecordable("a traced value")
    if isinstance(x, (*BY_VALUE, float, complex)) and not has_fields(type(x)):
        return bits(x)
    if type(x) is tuple:
        return tuple(map(_as_key, x))
    return _Same(x)


BY_VALUE = (int, str, bytes, type(None), np.generic, np.dtype, range, type(...))


class _Same:
    """A part of a key which is this object, whatever it says that it is equal to."""

    __slots__ = ("x",)

    def __init__(self, x: Any) -> None:
        self.x = x

    def __eq__(self, other: Any) -> bool:
        return type(other) is _Same and self.x is other.x

    def __hash__(self) -> int:
        return id(self.x)


def with_inputs(
    x: Any, take: Callable, made: list | None = None, takes: Callable[[Any], bool] | None = None
) -> Any:
    """Return arguments with ``take(x)`` for each number or array that ``takes`` says is taken.

    New containers, and what was put into them, are noted in ``made``.
    """
    takes = takes or is_taken

    def look(x: Any) -> Any:
        parts = None if type(x) in LEAVES else children(x)
        if parts is None:
            return take(x) if takes(x) else x

        def rebuilt(values: Any) -> Any:
            y = parts.rebuild(values)
            if made is not None:
                made.append((y, list(values)))
            return y

        return Within(zip(parts.values), rebuilt)

    return fold(look, x)


def is_taken(x: Any) -> bool:
    """Say whether a leaf of the arguments is an input of the recording."""
    if type(x) is _array:
        return x.dtype.kind in "fcbiu"
    return isinstance(x, float | complex | np.inexact)


def example_of(values: list, args: tuple, kwargs: dict) -> tuple[tuple, dict] | None:
    """Return copies of arguments, to be recorded again; None where their arrays are large."""
    if sum(x.nbytes for x in values if isinstance(x, np.ndarray)) > EXAMPLE_KEPT:
        return None

    def copied(x: Any) -> Any:
        return np.copy(x, order="K") if isinstance(x, np.ndarray) else x

    return with_inputs(args, copied), with_inputs(kwargs, copied)


class CountedIntegers:
    """Positions of the arguments whose integers are inputs of recordings, and not of the kind.

    An integer that is a size or an option belongs to the kind of a call, and is a constant of its
    recording. One that is another in each call becomes an input: then it is looked at where it
    decides, and nowhere else.
    """

    __slots__ = ("positions", "seen")

    def __init__(self) -> None:
        self.positions: frozenset[int] = frozenset()
        self.seen: dict[int, set[int]] | None = {}  # None when that has failed

    def note(self, args: tuple, counts: bool) -> bool:
        """Note the integers of a call to be recorded; say whether any is an input from now on.

        That is where one was another in some calls; ``counts`` says that these are not replayed.
        """
        if self.seen is None:
            return False
        before = self.positions
        for k, x in enumerate(args):
            if k not in before and is_counted(x):
                values = self.seen.setdefault(k, set())
                if len(values) <= COUNTED:
                    values.add(x)
                if counts and len(values) > COUNTED:
                    self.positions |= {k}
        return self.positions != before

    def give_up(self) -> bool:
        """Let all integers belong to the kind for good; say whether any did not."""
        failed = bool(self.positions)
        if failed:
            self.positions, self.seen = frozenset(), None
        return failed
