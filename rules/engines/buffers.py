"""Buffers: arrays that are plain until a traced value is written into them.

NumPy gives a tracer no say in ``buffer[i] = x`` where the buffer is an array of its own. So
``chainrules.numpy`` makes buffers of this kind while a transform runs. They stand at a level of
their own, inside all others, which hands every call on with what they hold: a plain array at
first, and from the first traced value that is written an array of that value's level.
"""

import math
import operator
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from ...config import EscapedTraceError
from ..accelerated import numbers
from ..annotations import Function, Index, Value
from ..containers import LEAVES, children, iterate_leaves, map_leaves
from ..refusals.table import refusal
from ..tracing.array import TracedArray
from ..tracing.funnel import astype, call
from ..tracing.level import Level, Traced, innermost
from ..tracing.object_arrays import healed
from ..tracing.running import is_running
from ..tracing.views import (
    follow,
    living_views,
    memory_of,
    register_view,
    root_of,
    shares_memory,
    view_by,
)
from ..tracing.writing import hand_out

_transpose = np.transpose
# Functions that write into their first argument.
writers: set[Any] = set()


class BufferArray(TracedArray):
    """An array to be written to. Views of it keep the path from the array that they belong to."""

    __slots__ = ()

    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> np.ndarray:
        content = self.primal
        if isinstance(content, Traced):
            return content.__array__(dtype, copy)  # type: ignore[attr-defined]
        if copy or (dtype is not None and np.dtype(dtype) != content.dtype):
            return np.array(content, dtype, copy=copy)
        # Through a memoryview, so that whoever looks into this array keeps it, and not its memory.
        array = np.asarray(memoryview(content))
        hand_out(root_of(self)[0], array)
        return array

    def view(self, *args: object, **kwargs: object) -> Any:
        # Not of an array: that of another class or dtype is NumPy's own.
        ours = isinstance(self.primal, Traced) or (not kwargs and args in ((), (np.ndarray,)))
        if ours:
            return TracedArray.view(self, *args, **kwargs)
        return np.asarray(self).view(*args, **kwargs)

    def __buffer__(self, flags: int) -> memoryview:
        return memoryview(np.asarray(self))  # type: ignore[arg-type]


def _of_plain(name: str) -> property:
    """Return an attribute of a plain buffer's own array; while that is held, nothing is traced."""

    def attribute(self: BufferArray) -> Any:
        held = super(BufferArray, self) if isinstance(self.primal, Traced) else np.asarray(self)
        return getattr(held, name)  # of which ``__getattr__``, which is asked next, says more

    return property(attribute)


# What looks into memory, or takes it along. (By ``__array_interface__`` NumPy would, unasked.)
for _name in (
    "ctypes", "data", "byteswap", "getfield", "tobytes", "tofile", "dump", "dumps", "__reduce_ex__",
):  # fmt: skip
    setattr(BufferArray, _name, _of_plain(_name))


def _compare(operation: Callable) -> Any:
    def compare(self: BufferArray, other: Value) -> Any:
        return buffer(operation(settled(self), settled(other)))

    return compare


for _name in ("lt", "le", "gt", "ge", "eq", "ne"):
    setattr(BufferArray, f"__{_name}__", _compare(getattr(operator, _name)))


class BufferLevel(Level):
    """The level of all buffers; it keeps nothing."""

    __slots__ = ()
    number = math.inf

    def unary(self, ufunc: np.ufunc, operation: Callable, x: Traced) -> Value:
        return buffer(operation(x.primal))

    def binary(self, ufunc: np.ufunc, operation: Callable, a: Value, b: Value) -> Value:
        return buffer(operation(settled(a), settled(b)))

    def call(self, f: Function, args: tuple, kwargs: dict) -> Value:
        if f is _transpose and len(args) == 1 and not kwargs and type(args[0]) is BufferArray:
            x = args[0]
            if type(x.primal) is np.ndarray:  # the commonest view, by a short way
                view = _wrapped(x.primal.T)
                _tie(view, x, f, {})
                return view
        if args and type(args[0]) is BufferArray and is_writer(f):
            rest = all_settled((args[1:], kwargs))
            self._receive(args[0], innermost(rest))
            return f(args[0].primal, *rest[0], **rest[1])
        flat = not kwargs and LEAVES.issuperset(map(type, args))  # as most calls are
        given, options = (
            (tuple(map(settled, args)), kwargs)
            if flat
            else (all_settled(args), all_settled(kwargs))
        )
        # A function that prepares its arguments has done so.
        prepares = getattr(f, "__prepares__", False)
        y = call(f, given, options) if prepares else f(*given, **options)
        leaves = args if flat else tuple(iterate_leaves((args, kwargs)))
        for x in leaves:
            if type(x) is BufferArray and not isinstance(x.primal, Traced):
                y = self._tied(y, x, f, args, kwargs)
        of_ufunc = isinstance(getattr(f, "__self__", None), np.ufunc)  # a method of one
        if of_ufunc or f is astype or (getattr(f, "__module__", None) or "").startswith("numpy"):
            return _buffer_if_new(y, leaves)
        return y

    def _tied(self, y: Value, x: Traced, f: Function, args: tuple, kwargs: dict) -> Any:
        """Return ``y = f(*args)`` as a view of the buffer ``x`` among ``args``, if it is one."""
        if y is x.primal:
            return x
        if type(y) is np.ndarray and shares_memory(y, x.primal) and args[0] is x:
            return _view_by(f, y, x, args[1:], kwargs)
        if type(y) is np.ndarray and y.base is None:
            return y
        if any(shares_memory(part, x.primal) for part in iterate_leaves(y)):
            hand_out(root_of(x)[0], x.primal)  # for good: nobody knows who holds it
        return y

    def getitem(self, x: Traced, index: Index) -> Value:
        index = all_settled(index)
        y = x.primal[index]
        if type(y) is not np.ndarray:
            return y
        if y.base is None:
            return buffer(y)  # a copy of entries, which may be filled as well
        view = _wrapped(y)
        register_view(view, x, _getitem, {"index": index})
        return view

    def write(self, x: TracedArray, index: Index, v: Value) -> None:
        v = settled(v)
        if not isinstance(v, Traced):
            v = healed(v)
        self._receive(x, v.at_level if isinstance(v, Traced) else innermost((v,)))
        root, path = root_of(x)
        try:
            follow(path, root.primal)[index] = v
        except EscapedTraceError:
            raise refusal("buffer filled again") from None

    def constant(self, x: Value) -> Value:
        return buffer(x)

    def _receive(self, x: Value, level: Level) -> None:
        """Make the array that owns the memory of ``x`` one that values of ``level`` fit into."""
        root, _ = root_of(x)
        if level is None or (
            isinstance(root.primal, Traced) and root.primal.at_level.number >= level.number
        ):
            return
        memory = memory_of(root)
        views = living_views(root) if memory.views else ()
        if memory.seen_by and memory.is_seen():
            raise refusal("plain buffer seen elsewhere")
        root.primal = level.constant(root.primal)
        for view in views:
            view.primal = follow(root_of(view)[1], root.primal)


BUFFERS = BufferLevel()
_tie = register_view if numbers is None else numbers.tie


def settled(x: Value) -> Any:
    """Return what a buffer holds; anything else as it is."""
    return x.primal if type(x) is BufferArray else x


def all_settled(x: Value) -> Any:
    """Settle all that is in a container."""
    if isinstance(x, Traced):
        return settled(x)
    return x if innermost((x,)) is not BUFFERS else map_leaves(settled, x)


def handed_out(x: Value) -> Any:
    """Return ``x`` with NumPy's own arrays for buffers that hold nothing traced.

    For those who keep what they are given: what they look into may not become traced later.
    """
    return x if innermost((x,)) is not BUFFERS else map_leaves(_handed_out, x)


def _handed_out(x: Value) -> Any:
    y = settled(x)
    return np.asarray(x) if type(x) is BufferArray and not isinstance(y, Traced) else y


def plain_copy(x: Value) -> Any:
    """Return a copy of a buffer that holds nothing traced, as NumPy's own; None of all else."""
    return None if isinstance(settled(x), Traced) else np.array(x)


def is_writer(f: Function) -> bool:
    """Say whether ``f`` writes into its first argument."""
    return getattr(f, "__name__", "") == "at" or (type(f).__hash__ is not None and f in writers)


def buffer(y: Any) -> Any:
    """Return a new array of numbers or truths as a buffer, where a transform runs.

    Traced numbers do not fit into integers and truths, but into what is computed from these.
    """
    array = type(y) is np.ndarray or (isinstance(y, Traced) and y.records and y.writable)
    return _wrapped(y) if array and y.dtype.kind in "fciub" and is_running() else y


def buffer_if_new(y: Value, given: Value) -> Any:
    """As ``buffer``, for what a function returned; a view of what it was ``given`` is none."""
    if type(y) is not np.ndarray:
        return y
    flat = type(given) is tuple and LEAVES.issuperset(map(type, given))
    return _buffer_if_new(y, given if flat else iterate_leaves(given))  # type: ignore[arg-type]


def buffers_if_new(y: Value, given: Value) -> Any:
    """As ``buffer_if_new``, also for the arrays in a list or tuple that own their memory."""
    if type(y) is np.ndarray:
        return buffer_if_new(y, given)
    if type(y) is list:
        return [_if_owner(part, given) for part in y]
    parts = children(y) if isinstance(y, tuple) else None
    return y if parts is None else parts.rebuild([_if_owner(x, given) for x in parts.values])


def _if_owner(y: Any, given: Value) -> Any:
    # A broadcast view warns if it is asked whether it may be written to.
    return buffer_if_new(y, given) if type(y) is np.ndarray and y.base is None else y


def _buffer_if_new(y: Value, leaves: Iterable) -> Any:
    if type(y) is not np.ndarray or not y.flags.writeable:
        return y
    owner = y.base
    while isinstance(owner, np.ndarray):
        owner = owner.base
    if owner is not None:  # the memory of an object that is no array
        return y
    for x in map(settled, leaves):
        if isinstance(x, np.ndarray) and np.may_share_memory(x, y):
            return y
    return buffer(y)


def _wrapped(y: np.ndarray) -> Any:
    traced: Any = BufferArray()
    traced.base_and_path = None
    traced.primal = y
    traced.at_level = BUFFERS
    return traced


def _view_by(f: Function, y: np.ndarray, x: Traced, rest: tuple, options: dict) -> Any:
    view = _wrapped(y)
    register_view(view, x, view_by, {"f": f, "before": (), "rest": rest, "options": options})
    return view


def _getitem(x: Any, index: Index) -> Any:
    return x[index]


if numbers is not None:
    numbers.register_buffers(BufferArray)
