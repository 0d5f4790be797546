"""Traced arrays: sequences that can be indexed, iterated and written to, as NumPy's arrays.

``x.shape``, ``x[1:]``, ``for row in x``, ``x += 1`` and ``x.sum(axis=0)`` do what NumPy's array
does.
"""

import math
import operator
import sys
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from ..accelerated import numbers
from ..annotations import Index, Value
from ..containers import LEAVES, children
from ..known_classes import asked_by, built_in, keepers
from ..refusals.table import refusal
from ..shapes import dtype_of, is_lazy, shape_of
from .array_api import follow_standard
from .classes.duck_typing import hide_from_pythons
from .classes.other_classes import is_computed_with
from .conversions import describe, refuse_array, refuse_reader_of_memory, tell_of_entries
from .funnel import array_of, call, getitem
from .level import Traced, type_under, value
from .number import OPERATORS, TracedNumber
from .object_arrays import entries_of, in_place_operand, is_object_array, refuse_nested
from .shown import as_object_array, shown
from .views import (
    Memory,
    Path,
    bare,
    draft_of,
    follow,
    give_value,
    has_other_views,
    is_draft,
    memory_of,
    root_of,
    shares_memory,
    slot_of,
)
from .writing import hand_out, refuse_overlap, take_over

# Slots that a write empties, and that are filled again when they are read.
_LAZY = frozenset({"primal", "position", "tangent", "block"})
_ASKED = frozenset({"_typ", "_values"})  # by pandas, of what it makes columns of


def _is_view_at(v: "TracedArray", x: "TracedArray", index: Index) -> bool:
    """Say whether ``v`` is the view ``x[index]`` of memory that is being written to.

    ``x[index] += a`` writes into that view, and then, as Python has it, the view into ``x``: that
    changes nothing.
    """
    (root, path), (root_of_v, path_of_v) = root_of(x), root_of(v)
    if root_of_v is not root or len(path_of_v) != len(path) + 1 or not is_draft(root):
        return False
    f, options, _ = path_of_v[-1]
    same_base = all(map(operator.is_, path, path_of_v))
    return same_base and f is getitem and _is_same(options["index"], index)


def _is_same(a: Index, b: Index) -> bool:
    """Say whether an index is the same as ``a``, by which a view is read."""
    if a is b:
        return True
    if type(a) is tuple is type(b):
        return len(a) == len(b) and all(map(_is_same, a, b))
    return type(a) is type(b) and bool(a == b)


class Flat(Iterator):
    """``x.flat``: the entries of a traced array one after the other, to read and to write.

    Like NumPy's it is an iterator, at entry ``index``, and starts anew where it is indexed.
    """

    __slots__ = ("base", "index")

    def __init__(self, x: "TracedArray") -> None:
        self.base = x
        self.index = 0

    @property
    def coords(self) -> tuple:
        return np.unravel_index(self.index, self.base.shape)

    def __len__(self) -> int:
        return self.base.size

    def __next__(self) -> Any:
        if self.index >= self.base.size:
            raise StopIteration
        y = self.base[self.coords]
        self.index += 1
        return y

    def copy(self) -> Any:
        return np.copy(np.ravel(self.base))

    def __getitem__(self, index: Index) -> Any:
        base = self._with_axes()
        return base[self._coords_of(index, base.shape)]  # a copy, as NumPy's

    def __setitem__(self, index: Index, v: Value) -> None:
        refuse_overlap(self.base, v)
        base = self._with_axes()
        base[self._coords_of(index, base.shape)] = v

    def _with_axes(self) -> Any:
        return self.base if self.base.shape else np.reshape(self.base, 1)

    def _coords_of(self, index: Index, shape: tuple[int, ...]) -> tuple:
        self.index = 0
        n = self.base.size
        positions = range(n)[index] if type(index) is int else np.arange(n)[index]
        return np.unravel_index(positions, shape)


def _without_buffers(index: Index) -> Any:
    """Return an index with what the buffers in it hold: masks, and integers, of adopted code."""
    if isinstance(index, Traced):
        return index.primal if index.at_level.number == math.inf else index
    return tuple(map(_without_buffers, index)) if type(index) is tuple else index


def _is_whole_mask(index: Index, x: Value) -> bool:
    """Say whether an index is a mask of all entries, by which NumPy writes one after another."""
    if type(index) is tuple and len(index) == 1:
        (index,) = index
    mask: Any = np.asarray(index) if type(index) is list else index
    return dtype_of(mask) == np.bool_ and len(shape_of(mask)) == len(shape_of(bare(x)))


def _in_place(operation: Callable) -> Callable:
    def operate(self: Any, other: Value) -> Value:
        if not isinstance(other, Traced):
            if not is_computed_with(type(other), self):
                raise refusal("in-place class", cls=type(other).__name__)
            other = in_place_operand(other)
        y = operation(self, other)
        y = y if isinstance(y, Traced) else entries_of(y)
        dtype = dtype_of(y)
        if dtype is not self.dtype and not np.can_cast(dtype or float, self.dtype, "same_kind"):
            raise refusal("in-place dtype", y=describe(y), dtype=self.dtype)
        if not take_over(_without_buffers(self), y):
            self[...] = y
        return self

    return operate


def _write_part(root: "TracedArray", path: Path, at: int, index: Index, v: Value) -> None:
    """Write into a view of the real or imaginary part of a complex array: all of it anew."""
    whole, f = follow(path[:at], root), path[at][0]
    parts = [np.real(whole), np.imag(whole)]
    which = 0 if f is np.real else 1
    parts[which] = np.copy(parts[which])
    follow(path[at + 1 :], parts[which])[index] = v
    whole[...] = parts[0] + 1j * parts[1]


def _set_shape(x: "TracedArray", shape: int | tuple[int, ...]) -> None:
    kept = x.primal  # from now on no draft
    y: Any = np.reshape(x, shape)
    if y is x:
        return
    if has_other_views(x, y) or not shares_memory(y.primal, kept):
        raise refusal("set shape", x=describe(x))
    x.primal = y.primal
    for name in type(x).__slots__:
        setattr(x, name, getattr(y, name))
    if root_of(x)[1]:
        x.base_and_path = y.base_and_path
    memory_of(x).views = {}


def _read(name: str) -> Callable:
    get = operator.attrgetter(name)

    def read(self: Any) -> Any:
        try:
            return get(slot_of(self))
        except AttributeError:
            return get(self.peek())

    return read


def _refused(what: str, instead: str) -> Callable:
    def refuse(self: Traced, *args: object, **kwargs: object) -> Any:
        raise refusal("set attribute", what=what, x=describe(self), instead=instead)

    return refuse


class TracedArray(TracedNumber):
    """A traced array: a traced number that is also a sequence, and that can be written to.

    ``base_and_path`` is set on views, and ``memory`` on roots that have views or were written to;
    see ``views.py``.
    """

    __slots__ = ("__weakref__", "base_and_path", "memory")
    base_and_path: tuple[Any, Path] | None  # an empty slot takes longer to find than None
    memory: Memory

    __hash__ = None  # type: ignore[assignment]
    __class__ = property(type_under)  # its slot may be empty

    def __getattr__(self, name: str) -> Any:
        slot = name in _LAZY and hasattr(type(self), name)  # not each level has each
        if slot and (root_of(self)[1] or draft_of(self) is not None):
            give_value(self)
            return getattr(self, name)
        if name in _ASKED:
            asking = sys._getframe(1).f_back  # above the function that takes arrays out of tables
            names = {} if asking is None else asking.f_globals
            shown = asked_by.get((names.get("__name__", ""), name))
            found = None if shown is None else shown(self)
            if found is not None:
                return found
        return TracedNumber.__getattr__(self, name)

    writable = True

    def peek(self) -> Any:
        try:
            return slot_of(self)
        except AttributeError:
            root, path = root_of(self)
            draft = draft_of(root)
            return self.primal if draft is None else follow(path, draft[0])

    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> np.ndarray:
        refuse_array(self, dtype)
        if not copy:
            refuse_reader_of_memory(self)
        tell_of_entries(self)
        if copy:
            return as_object_array(self)
        array = shown(self, dtype is not None)
        # Of an array without axes in a list NumPy keeps that itself: for good, for all we know.
        hand_out(root_of(self)[0], array, for_good=array.ndim == 0)
        return array

    def __len__(self) -> int:
        try:
            return len(slot_of(self))
        except AttributeError:
            draft = draft_of(self)  # as while it is filled
            return len(self.peek() if draft is None else draft[0])

    def __getitem__(self, index: Index) -> Any:
        return self.at_level.getitem(self, index)

    def __iter__(self) -> Iterator[Any]:
        return map(self.__getitem__, range(len(self)))

    def __contains__(self, x: Value) -> bool:
        return value(x) in value(self)

    def copy(self, order: str = "C") -> Any:
        keeper = keepers.get(sys._getframe(1).f_globals.get("__name__", ""))
        kept = None if keeper is None else keeper(self)
        if kept is not None:
            return kept
        if not is_lazy(bare(self)):
            return call(np.copy, (self,), {"order": order})
        return call(np.positive, (self,), {})  # np.copy would compute all of it

    def __copy__(self) -> Any:
        return self.copy("K")

    def __deepcopy__(self, memo: dict) -> Any:
        return self.copy("K")

    def view(self, *args: object, **kwargs: object) -> Any:
        (cls,) = args or (np.ndarray,) if len(args) < 2 and not kwargs else (None,)
        if isinstance(cls, type) and issubclass(cls, np.ndarray):
            if cls is np.ndarray:
                return self[...]
            y = np.asarray(self).view(cls)
            parts = children(y)
            return y if parts is None else parts.rebuild([self])  # as a quantity, of its magnitude
        return TracedNumber.view(self, *args, **kwargs)

    def tolist(self) -> Any:
        if self.ndim == 0:
            return self[()]
        return [row.tolist() for row in self]

    # ---- writing ----

    def __setitem__(self, index: Index, v: Value) -> None:
        if isinstance(v, TracedArray) and v.base_and_path and _is_view_at(v, self, index):
            return
        if is_object_array(v):
            refuse_nested(v)
        elif type(v) not in LEAVES:
            parts = children(v)  # by which the class of a labelled array becomes known
            if isinstance(v, list | tuple):
                v = array_of(v)
            elif parts is not None and type(v) in built_in:
                (v,) = parts.values
            else:
                v = entries_of(v)
        if type(index) is not int and type(index) is not slice:
            index = _without_buffers(index)
            if isinstance(v, Traced) and _is_whole_mask(index, self):
                refuse_overlap(self, v)
        root, path = root_of(self)
        for at, (f, _, _) in enumerate(path):
            if f is np.real or f is np.imag:
                _write_part(root, path, at, index, v)
                return
        self.at_level.write(self, index, v)

    @property
    def flat(self) -> "Flat":
        return Flat(self)

    @flat.setter
    def flat(self, v: Value) -> None:
        refuse_overlap(self, v)
        self[...] = np.resize(array_of(v), self.shape)

    @TracedNumber.real.setter
    def real(self, v: Value) -> None:
        self.real[...] = v

    @TracedNumber.imag.setter
    def imag(self, v: Value) -> None:
        if self.dtype.kind != "c":
            raise TypeError("array does not have imaginary part to set")
        self.imag[...] = v

    shape = property(_read("shape"), _set_shape)
    dtype = property(_read("dtype"), _refused("x.dtype = ...", "write x = x.astype(...)"))
    strides = property(_read("strides"), _refused("x.strides = ...", "index or transpose x"))
    ndim, size, flags = property(_read("ndim")), property(_read("size")), property(_read("flags"))
    itemsize, nbytes = property(_read("itemsize")), property(_read("nbytes"))

    def fill(self, v: Value) -> None:
        self[...] = v

    def sort(self, axis: int = -1, **options: Any) -> None:
        self[...] = np.sort(self, axis=axis, **options)

    def partition(self, kth: Any, axis: int = -1, **options: Any) -> None:
        self[...] = np.partition(self, kth, axis=axis, **options)

    def put(self, indices: object, values: Value, mode: str = "raise") -> None:
        call(np.put, (self, indices, values, mode), {})

    resize = _refused("x.resize(...)", "write x = np.resize(x, ...) or np.reshape(x, ...)")
    __delitem__ = _refused("del x[index]", "write x = np.delete(x, index)")


class EntryNumber(TracedNumber):
    """A number that entry ``position`` of a record made: of a tape, or of a linear program."""

    __slots__ = ("position",)


class EntryArray(TracedArray):
    """An array that entry ``position`` of a record made."""

    __slots__ = ("position",)


for _name in OPERATORS:
    _word, _operation = _name.strip("_"), getattr(operator, _name)
    setattr(TracedArray, f"__i{_word}__", _in_place(_operation))
hide_from_pythons(TracedNumber, TracedArray)
follow_standard(TracedNumber)
if numbers is not None:
    numbers.accelerate_arrays(TracedArray)
