"""What a compiled function is called with: the kind of the arguments, and the numbers in them.

``f(x, 2, mode="fast")`` has the array ``x`` as its number; that it is a float64 of so many entries,
the 2 and the text belong to the kind, for which there are recordings of their own.
"""

from collections.abc import Callable, Hashable, Iterator
from typing import Any

import numpy as np

from ..rules import Traced, children, fold
from ..rules.containers import LEAVES, Within
from .looks import NotRecordable, bits

_array, _float64 = np.ndarray, np.float64


def signature(args: tuple, kwargs: dict) -> tuple[Hashable, list]:
    """Return what a recording is made for, and the numbers and arrays that it takes.

    Floats and complex numbers and arrays of numbers are taken; everything else belongs to the kind:
    Python's ints, which are sizes and counts, texts, None.
    """
    key: list[Any] = []
    values: list[Any] = []
    for x in args:
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


def _layout(x: np.ndarray) -> Hashable:
    flags = x.flags
    if flags.c_contiguous:
        return x.dtype, x.shape
    return x.dtype, x.shape, "F" if flags.f_contiguous else x.strides


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
            key.append((type(x), bits(parts.keys)))
            return Within(zip(parts.values), list)
        if isinstance(x, Iterator):
            raise NotRecordable(f"an argument of type {type(x).__name__}, which is used up")
        if isinstance(x, BY_VALUE):
            key.append((type(x), bits(x)))
            return None
        if type(x).__hash__ is None:
            raise NotRecordable(f"an argument of type {type(x).__name__}")
        key.append(_Same(x))
        return None

    fold(look, x)


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


def with_inputs(x: Any, take: Callable, made: list | None = None) -> Any:
    """Return arguments with ``take(x)`` for each number or array in them that is taken.

    New containers, and what was put into them, are noted in ``made``.
    """

    def look(x: Any) -> Any:
        parts = None if type(x) in LEAVES else children(x)
        if parts is None:
            return take(x) if is_taken(x) else x

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
