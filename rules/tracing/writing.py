"""Writes into traced arrays: the checks before a write, and the writes that are refused.

``y[0] = x`` of a traced ``y`` is followed; of a plain array it would lose ``x``, and is an error.

A write is refused where it would not be seen by others that show the same memory, where it would
lose a derivative, and where NumPy refuses it.
"""

import weakref
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.lib.array_utils import byte_bounds

from ..annotations import Index, Value
from ..containers import LEAVES, iterate_leaves
from ..refusals.table import refusal
from ..shapes import OBJECT, dtype_of
from .level import Level, Traced
from .views import (
    Path,
    bare,
    follow,
    forget,
    is_draft,
    laid_out,
    memory_of,
    root_of,
    shares_memory,
)

if TYPE_CHECKING:
    from .array import TracedArray


def is_fresh(y: Any) -> bool:
    """Say whether a new array can hold traced numbers: integers and booleans cannot."""
    array = type(y) is np.ndarray or (isinstance(y, Traced) and y.records and y.writable)
    return array and y.dtype.kind in "fc"


def raised(buffer: Value, v: Value) -> Any:
    """Return ``buffer`` as an array that ``v`` can be written into: traced where ``v`` is."""
    if isinstance(v, Traced) and not (
        isinstance(buffer, Traced) and buffer.at_level.number >= v.at_level.number
    ):
        return v.at_level.constant(buffer)
    return buffer


def refuse_overlap(x: Value, v: Value) -> None:
    """Refuse to write ``v`` into the entries of ``x`` one by one, if what is read changes so."""
    if v is not x and isinstance(v, Traced) and shares_memory(v, x):
        raise refusal("flat written with its view")


def written(
    x: Value, path: Path, index: Index, v: Value, axes: tuple[int, ...] | None = None
) -> Any:
    """Return a copy of ``x`` in which ``v`` was written at ``index`` of a view of it.

    ``axes`` is the order of memory in which the path makes views; see ``axes_of``.
    """
    y = raised(laid_out(x, axes), v)
    follow(path, y)[index] = v
    return y


def hand_out(root: "TracedArray", array: np.ndarray, for_good: bool = False) -> None:
    """Note that ``array`` shows the memory of ``root``, or what it holds, to other code."""
    memory = memory_of(root)
    memory.seen_by = [reference for reference in memory.seen_by if reference() is not None]
    memory.seen_by.append((lambda: array) if for_good else weakref.ref(array))


def mark_shared(given: Value, traced: Value) -> None:
    """Note of arguments that share memory with each other that their memory is seen elsewhere.

    ``traced`` is what the function gets for ``given``: a write into one is not seen in the other.
    """
    pairs = list(zip(iterate_leaves(given), iterate_leaves(traced), strict=False))
    plain = []
    roots: dict[int, Any] = {}
    for k, (x, handle) in enumerate(pairs):
        if _is_array(x):
            other = roots.setdefault(id(root_of(x)[0]), handle)
            if other is not handle:
                _mark(handle, other)
        elif type(x) is np.ndarray and x.size:
            plain.append((*byte_bounds(x), k))
    end, last = -1, -1
    for low, high, k in sorted(plain):
        if low < end and _overlap(pairs[k][0], pairs[last][0]):
            _mark(pairs[k][1], pairs[last][1])
        if high > end:
            end, last = high, k


def mark_views(y: Value, args: tuple) -> bool:
    """Note what a call gave that shares memory with an argument, where nothing ties the two.

    So a write into either is refused, which would have to be seen in the other. Return whether
    there is any.
    """
    found = False
    flat = isinstance(y, tuple) and LEAVES.issuperset(map(type, y))
    parts: Any = (y,) if type(y) in LEAVES else y if flat else iterate_leaves(y)
    for part in parts:
        if not _is_array(part):
            continue
        memory = _all_under(part)
        if type(memory) is np.ndarray and memory.base is not None:
            shared = [x for x in _leaves_of_all(args) if _overlap(_all_under(x), memory)]
        else:
            leaves = [x for x in _leaves_of_all(args) if isinstance(x, Traced)]
            shared = [x for x in leaves if _all_under(x) is memory]
        if shared:
            found = True
            _mark(part, *shared)
    return found


def mark_views_of(f: Any, y: Value, args: tuple) -> None:
    """Note as ``mark_views`` does what ``f`` gave, but for an argument that it ``hands_over``.

    Where that owns its memory, nobody else is left who would have to see a write into ``y``.
    """
    k = getattr(f, "hands_over", None)
    if k is not None and isinstance(args[k], Traced) and root_of(args[k])[0] is args[k]:
        args = args[:k] + args[k + 1 :]
    mark_views(y, args)


def _all_under(x: Value) -> Any:
    """Return the plain array under a traced one; of a batch the one with all items."""
    while isinstance(x, Traced):
        x = x.whole() if x.records else x.peek()
    return x


def _leaves_of_all(args: tuple) -> Iterable[Any]:
    return args if LEAVES.issuperset(map(type, args)) else iterate_leaves(args)


def mark_views_of_healed(y: Value, healed: tuple, given: tuple) -> None:
    """Note what is a view of an array that was made of an object array: a write is refused.

    It would have to be seen in the object array, and one into that array in the view.
    """
    made = [pair for pair in zip(healed, given, strict=True) if pair[0] is not pair[1]]
    if mark_views(y, tuple(iterate_leaves([new for new, _ in made]))):
        for x in iterate_leaves([old for _, old in made]):
            if type(x) is np.ndarray and x.dtype is OBJECT:
                x.flags.writeable = False


def _overlap(x: Value, y: Value) -> bool:
    return type(x) is type(y) is np.ndarray and np.may_share_memory(x, y)


def _is_array(x: Value) -> bool:
    return isinstance(x, Traced) and x.writable


def _mark(*handles: object) -> None:
    for x in handles:
        if _is_array(x):
            memory_of(root_of(x)[0]).seen_by.append(lambda: True)  # as long as the run lasts


def check_write(x: Value, v: Value, level: Level) -> None:
    """Refuse to write ``v`` into ``x`` where that would lose a derivative.

    Raises
    ------
    MutationError
    """
    if not isinstance(v, Traced):
        return
    if v.at_level.number > level.number:
        raise refusal("inner value written")
    dtype = dtype_of(x)
    if dtype is not None and dtype.kind not in "fc":
        raise refusal("truncating write", dtype=dtype)


_READ_ONLY = (
    "assignment destination is read-only\n  write into a copy (x = x.copy()): NumPy refuses as "
    "well, or warns, as of a write into entries of np.broadcast_arrays that are many at once"
)


def store(array: Value, path: Path, index: Index, v: Value) -> None:
    """Write ``v`` at ``index`` of the view of ``array`` that lies at the end of ``path``.

    Raises
    ------
    ValueError
        If the view is read-only, as NumPy does, or where NumPy warns.
    """
    view = follow(path, array)
    if type(view) is np.ndarray and not view.flags.writeable:
        raise ValueError(_READ_ONLY)
    view[index] = v


def begin_write(root: Any) -> tuple | None:
    """Return the draft of ``root``, and refuse a write that others could not see, or may not do.

    Raises
    ------
    MutationError
        If the memory is seen elsewhere: by what ``np.asarray`` made of the array, or as another
        argument.
    ValueError
        If the array is read-only, as NumPy does.
    """
    given = root.at_level.given
    if given is not None:
        root.at_level.given = None
        mark_shared(*given)
    memory = memory_of(root)
    if memory.seen_by and memory.is_seen():
        raise refusal("write into shared memory")
    if memory.draft is None:
        array = bare(root)
        if type(array) is np.ndarray and not array.flags.writeable:
            raise ValueError(_READ_ONLY)
    return memory.draft


def take_over(x: "TracedArray", y: Value) -> bool:
    """Let ``x`` be what the new array ``y`` is, where that is all that ``x[...] = y`` would do.

    Both own their memory, alike in shape, dtype and order; they share the array then, of which
    a write into either makes a copy before.

    Raises
    ------
    MutationError, ValueError
        As a write does: see ``begin_write``.
    """
    if type(y) is not type(x) or y.at_level is not x.at_level or not x.at_level.in_slots:
        return False
    new, old = bare(y), bare(x)
    alike = (
        type(new) is type(old) is np.ndarray
        and new.dtype is old.dtype
        and new.shape == old.shape
        and new.strides == old.strides
        and new.flags.writeable
        and x.base_and_path is None is y.base_and_path
    )
    if not alike or x is y or is_draft(y):
        return False
    begin_write(x)
    memory = memory_of(x)
    memory.draft = memory.moved = None
    x.primal = y.primal
    for name in type(x).__slots__:
        setattr(x, name, getattr(y, name))
    if memory.views:
        forget(x)
    return True


def check_swap(x: "TracedArray", index: Index, v: Value, draft: Value) -> tuple | None:
    """Refuse the second half of a swap of views; else say what ``x[index] = v`` moved where.

    ``x[i], x[j] = x[j], x[i]`` makes two equal rows, since ``x[i]`` shows what was just written
    into it. That is NumPy's meaning, and never what was meant: its shuffles, which know better for
    its own arrays, do the same with any other. Refused is a write that is sure to change nothing:
    back to where its value has just come from, unless by the handle ``v`` itself.

    Raises
    ------
    MutationError
    """
    if not (isinstance(v, Traced) and v.writable):
        return None
    root, path = root_of(x)
    if root_of(v)[0] is not root:
        return None
    array = bare(draft)
    to = _place(follow(path, array)[index], array)
    source = _place(follow(root_of(v)[1], array), array)
    before = root.memory.moved
    if before and before[:2] == (source, to) != (to, to) and before[2]() is not v:
        raise refusal("swap of views")
    return to, source, weakref.ref(x)


def _place(x: np.ndarray, array: np.ndarray) -> tuple:
    """Say where the view ``x`` lies in ``array``, which may be a copy at each write."""
    first, start = (part.__array_interface__["data"][0] for part in (x, array))
    return first - start, x.shape, x.strides
