"""Views: which traced arrays share memory with which, as NumPy's own do, and who may be written to.

A traced array is a handle on a value and its history. The handle that owns the memory is the
root; a view knows its root and the path from it, the calls (indexing, transposing, reshaping)
that made it. Whether a call gives a view is decided once, by NumPy, on the primal: a tangent or a
cotangent may lie in another order of memory, and is never asked.

``y = x * 1.0; v = y[1:]; y[0] = 5`` goes like this. The first write puts a copy of ``y``'s array
into the slot ``draft`` of the root, and empties its slot ``value`` and those of its views. What
is in a draft nobody else holds, so the next write goes straight into it. A handle whose slot is
empty gets its value back when it is read: a view a copy of its part of the draft, and the root
the draft itself, which is then a draft no more.
"""

import itertools
import weakref
from typing import Any

import numpy as np
from numpy.lib.array_utils import byte_bounds

from ..config import MutationError, user_line
from .containers import LEAVES, Within, children, fold, iterate_leaves
from .levels import Traced
from .project import dtype_of

Step = tuple[Any, dict, tuple]  # a function, its options, and positions inside what it returns
Path = tuple[Step, ...]

# Functions whose result may be a view of their first argument.
view_makers: set[Any] = set()

_numbers = itertools.count()


def gives_views(*functions: Any) -> None:
    """Say that what these functions return may be a view of their first argument."""
    view_makers.update(functions)


class Memory:
    """What is known of the memory that a root owns.

    ``draft`` is what is written to in place of the root's value, or None; ``views`` are those that
    have a value; ``seen_by`` are the arrays, outside, that show the same memory. ``moved`` is what
    ``check_swap`` says of the last write.
    """

    __slots__ = ("draft", "moved", "seen_by", "views")

    def __init__(self, draft: tuple | None = None) -> None:
        self.draft = draft
        self.moved: tuple | None = None
        self.views: dict[int, weakref.ref] = {}
        self.seen_by: list[Any] = []

    def is_seen(self) -> bool:
        """Say whether somebody still holds an array that shows this memory."""
        return any(reference() is not None for reference in self.seen_by)


# ---- roots and paths ----------------------------------------------------------------------------


def root_of(x: Any) -> tuple[Any, Path]:
    """Return the traced array that owns the memory of ``x``, and the path to ``x``."""
    try:
        # By the slot itself: most arrays have it empty, and need not ask their ``__getattr__``.
        return type(x).base_and_path.__get__(x)
    except AttributeError:
        return x, ()


def draft_of(root: Any) -> tuple | None:
    """Return what is written to in place of the value of ``root``; None where nothing is."""
    try:
        return type(root).memory.__get__(root).draft
    except AttributeError:
        return None


def memory_of(root: Any) -> Memory:
    """Return what is known of the memory of ``root``, from now on."""
    try:
        return type(root).memory.__get__(root)
    except AttributeError:
        root.memory = memory = Memory()
        return memory


_value = vars(Traced)["value"].__get__  # of the slot, which may be empty


def is_draft(x: Any) -> bool:
    """Say whether ``x`` is a root that is being written to."""
    try:
        _value(x)
        return False  # nearly always, and found without an exception
    except (AttributeError, TypeError):
        return isinstance(x, Traced) and draft_of(x) is not None


def bare(x: Any) -> Any:
    """Return the plain array under a traced one, to be looked at and not to be kept."""
    while isinstance(x, Traced):
        x = x.peek()
    return x


def follow(path: Path, x: Any) -> Any:
    """Go from an array, or anything of its shape, to the view at the end of ``path``."""
    for f, options, positions in path:
        x = f(x, **options)
        for position in positions:
            parts = children(x)
            assert parts is not None
            x = parts.values[position]
    return x


def shares_memory(y: Any, x: Any) -> bool:
    """Say whether the array ``y``, made from ``x``, is a view of it; both may be traced."""
    if isinstance(y, Traced):
        return root_of(y)[0] is root_of(x)[0]
    if type(y) is not np.ndarray or type(x) is not np.ndarray:
        return False
    base = y.base
    if base is None:
        return False
    return base is x or base is x.base or np.may_share_memory(y, x)


def tie(y: Any, x: Any, f: Any, options: dict, positions: tuple = ()) -> None:
    """Tie the traced ``y`` to the traced ``x`` that it is a view of."""
    root, path = root_of(x)
    y.base_and_path = root, (*path, (f, options, positions))


def register_view(y: Any, x: Any, f: Any, options: dict, positions: tuple = ()) -> None:
    """Tie a view that has its value already, and that a write is going to take it from."""
    tie(y, x, f, options, positions)
    remember(y, y.base_and_path[0])


def tie_views(y: Any, x: Any, f: Any, options: dict, positions: tuple = ()) -> None:
    """Tie every array in ``y = f(x, **options)`` that is a view of ``x`` to it."""

    def look(y: Any, positions: tuple) -> Any:
        if isinstance(y, Traced):
            if type(y).writable and root_of(y)[0] is y and shares_memory(y.value, x.value):
                register_view(y, x, f, options, positions)
            return None
        parts = children(y)
        if parts is None:
            return None
        return Within([(part, (*positions, k)) for k, part in enumerate(parts.values)], list)

    if isinstance(x, Traced):
        fold(look, y, positions)


def views_of_draft(x: Any, f: Any, options: dict) -> Any:
    """Return ``f(x, **options)`` as views that get their values when they are read.

    ``x`` is a root that is being written to. NotImplemented where ``f`` makes a copy.
    """
    memory = draft_of(x)[0]  # type: ignore[index]

    def view(part: Any, positions: tuple) -> Any:
        parts = children(part)
        if parts is not None:

            def build(made: list) -> Any:
                copied = any(inner is NotImplemented for inner in made)
                return NotImplemented if copied else parts.rebuild(made)

            nodes = [(inner, (*positions, k)) for k, inner in enumerate(parts.values)]
            return Within(nodes, build)
        if part is memory:
            return x
        if not shares_memory(part, memory):
            return NotImplemented
        handle = type(x)()
        handle.level = x.level
        tie(handle, x, f, options, positions)
        return handle

    return fold(view, f(memory, **options), ())


# ---- values that come and go --------------------------------------------------------------------


def remember(view: Any, root: Any) -> None:
    """Note that ``view`` has a value, which the next write to ``root`` takes from it."""
    views = memory_of(root).views
    # A number of its own for each, so that threads which read the same array do not meet.
    views[next(_numbers)] = weakref.ref(view)
    if len(views) >= 64 and not len(views) & (len(views) - 1):
        # The dead are forgotten at powers of two, so that it stays cheap.
        for number, reference in list(views.items()):
            if reference() is None:
                del views[number]


def living_views(root: Any) -> list:
    """Return the views of ``root`` that have a value and that somebody still holds."""
    references = list(memory_of(root).views.values())
    return [view for reference in references if (view := reference()) is not None]


def put_draft(root: Any, draft: tuple, *names: str, moved: tuple | None = None) -> None:
    """Let ``root`` have this draft; the slots ``names``, and those of its views, are empty then."""
    memory = memory_of(root)
    if memory.draft is None:
        _empty(root, names)
    memory.draft, memory.moved = draft, moved
    if memory.views:
        forget(root)


def forget(root: Any) -> None:
    """Take their values from all views of ``root``: they are those of an older version."""
    views = living_views(root)
    root.memory.views = {}
    for view in views:
        _empty(view, ("value", *type(view).__slots__))


def _empty(x: Any, names: tuple) -> None:
    for name in names:
        try:  # noqa: SIM105  # every write does this, and a context manager takes its time
            delattr(x, name)
        except AttributeError:
            pass  # empty already


def give_value(x: Any) -> None:
    """Give a handle its value back, which a write has taken from it."""
    root, path = root_of(x)
    if root is x:
        x.level.publish(x, x.memory.draft)
        x.memory.draft = None
        forget(x)  # its views hold copies, and may show its memory again
    else:
        x.level.refresh(x, root, path)
        remember(x, root)


# ---- copies -------------------------------------------------------------------------------------


def copied(x: Any) -> Any:
    """Copy an array such that the same calls give views of it as of the one it was copied from."""
    if type(x) is not np.ndarray:
        return snapshot(x)
    if x.flags.forc or x.size == 0:
        return x.copy(order="K")
    # Axes that follow each other without a gap do so in the copy, and no others: a gap is one
    # entry wide there. A negative stride stays one.
    strides, width, span = list(x.strides), x.itemsize, x.itemsize
    for axis in sorted(range(x.ndim), key=lambda axis: abs(x.strides[axis])):
        stride = abs(x.strides[axis])
        if x.shape[axis] == 1:
            continue
        if stride < span:
            return x.copy(order="K")  # entries share memory, as np.broadcast_to makes them
        width += x.itemsize if stride > span else 0
        strides[axis] = width if x.strides[axis] > 0 else -width
        width, span = width * x.shape[axis], stride * x.shape[axis]
    reach = [(n - 1) * s for n, s in zip(x.shape, strides, strict=True) if n > 1]
    memory, before = np.empty(width, np.uint8), -sum(s for s in reach if s < 0)
    y: np.ndarray = np.ndarray(x.shape, x.dtype, memory, before, strides)
    y[...] = x
    return y


def snapshot(x: Any) -> Any:
    """Return ``x`` as it is now: a copy, or another handle on the same version of a traced array.

    What is written into ``x`` afterwards does not change it.
    """
    if type(x) is np.ndarray:
        return x.copy(order="K")
    if not isinstance(x, Traced):
        return x.copy() if hasattr(x, "copy") and hasattr(x, "shape") else x
    if not type(x).writable:
        return x
    handle = type(x)()
    handle.level = x.level
    handle.value = x.value
    if isinstance(x.value, Traced):
        handle.value = snapshot(x.value)
    for name in type(x).__slots__:
        setattr(handle, name, getattr(x, name))
    return handle


def axes_of(x: np.ndarray) -> tuple[int, ...] | None:
    """Return the axes of an array from the outermost in memory to the innermost; None for C."""
    if x.flags.c_contiguous:
        return None
    axes = sorted(range(x.ndim), key=lambda axis: -abs(x.strides[axis]))
    return None if axes == list(range(x.ndim)) else tuple(axes)


def laid_out(x: Any, axes: tuple[int, ...] | None) -> Any:
    """Copy an array, traced or not, such that its axes lie in memory in the order ``axes``."""
    if axes is None:
        return np.copy(x, order="C")
    return np.transpose(np.copy(np.transpose(x, axes), order="C"), np.argsort(axes).tolist())


# ---- writing ------------------------------------------------------------------------------------


def is_fresh(y: Any) -> bool:
    """Say whether a new array can hold traced numbers: integers and booleans cannot."""
    return type(y) is np.ndarray and y.dtype.kind in "fc"


def raised(buffer: Any, v: Any) -> Any:
    """Return ``buffer`` as an array that ``v`` can be written into: traced where ``v`` is."""
    if isinstance(v, Traced) and not (
        isinstance(buffer, Traced) and buffer.level.number >= v.level.number
    ):
        return v.level.constant(buffer)
    return buffer


def written(x: Any, path: Path, index: Any, v: Any, axes: tuple[int, ...] | None = None) -> Any:
    """Return a copy of ``x`` in which ``v`` was written at ``index`` of a view of it.

    ``axes`` is the order of memory in which the path makes views; see ``axes_of``.
    """
    y = raised(laid_out(x, axes), v)
    follow(path, y)[index] = v
    return y


def hand_out(root: Any, array: np.ndarray) -> None:
    """Note that ``array`` shows the memory of ``root``, or what it holds, to other code."""
    memory = memory_of(root)
    memory.seen_by = [reference for reference in memory.seen_by if reference() is not None]
    memory.seen_by.append(weakref.ref(array))


def mark_shared(given: Any, traced: Any) -> None:
    """Note of arguments that share memory with each other that their memory is seen elsewhere.

    ``traced`` is what the function gets for ``given``: a write into one is not seen in the other.
    """
    if len(given) == 1 and type(given[0]) in LEAVES:
        return
    arrays = [x for x in iterate_leaves(given) if type(x) is np.ndarray or _is_array(x)]
    if len(arrays) < 2:
        return
    handles = [x for x in iterate_leaves(traced) if type(x) is np.ndarray or _is_array(x)]
    plain = []
    roots: dict[int, int] = {}
    for k, x in enumerate(arrays):
        if _is_array(x):
            other = roots.setdefault(id(root_of(x)[0]), k)
            if other != k:
                _mark(handles[k], handles[other])
        elif x.size:
            plain.append((*byte_bounds(x), k))
    end, last = -1, -1
    for low, high, k in sorted(plain):
        if low < end and np.may_share_memory(arrays[k], arrays[last]):
            _mark(handles[k], handles[last])
        if high > end:
            end, last = high, k


def mark_views(y: Any, args: tuple) -> None:
    """Note what a rule by hand gave back that shares memory with an argument: nothing ties them.

    So a write into either is refused, which would have to be seen in the other.
    """
    if not isinstance(y, Traced):
        parts = () if type(y) in LEAVES else iterate_leaves(y)
        for part in parts:
            if _is_array(part):
                mark_views(part, args)
        return
    memory = bare(y) if y.writable else None
    if type(memory) is not np.ndarray or memory.base is None:
        shared = [x for x in args if _is_array(x) and bare(x) is memory]
    else:
        shared = [x for x in iterate_leaves(args) if np.may_share_memory(_memory(x), memory)]
    if shared:
        _mark(y, *shared)


def _memory(x: Any) -> Any:
    x = bare(x)
    return x if type(x) is np.ndarray else _NOTHING


_NOTHING = np.zeros(0)


def _is_array(x: Any) -> bool:
    return isinstance(x, Traced) and x.writable


def _mark(*handles: Any) -> None:
    for x in handles:
        if _is_array(x):
            memory_of(root_of(x)[0]).seen_by.append(lambda: True)  # as long as the run lasts


def check_write(x: Any, v: Any, level: Any) -> None:
    """Refuse to write ``v`` into ``x`` where that would lose a derivative.

    Raises
    ------
    MutationError
    """
    if not isinstance(v, Traced):
        return
    if v.level.number > level.number:
        raise MutationError(
            f"a value of an inner transform would be written into an array of an outer one in "
            f"{user_line()}.\n  make the array inside the inner function, and return it"
        )
    dtype = dtype_of(x)
    if dtype is not None and dtype.kind not in "fc":
        raise MutationError(
            f"an array of dtype {dtype} would truncate a traced number that is written into it "
            f"in {user_line()}.\n  make it an array of floats: np.zeros_like(x, dtype=float)"
        )


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
    memory = memory_of(root)
    if memory.seen_by and memory.is_seen():
        raise MutationError(
            f"a write in {user_line()} goes into an array whose memory is seen elsewhere, as "
            "another argument, or by what np.asarray(x) made of it, and would not be seen there.\n"
            "  write into a copy (x = x.copy()); np.asarray of chainrules.numpy gives x itself"
        )
    if memory.draft is None:
        array = bare(root)
        if type(array) is np.ndarray and not array.flags.writeable:
            error = ValueError("assignment destination is read-only")
            error.add_note("  it is so in NumPy as well: write into a copy (x = x.copy())")
            raise error
    return memory.draft


def check_swap(x: Any, index: Any, v: Any, draft: Any) -> tuple | None:
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
    to, source = _place(follow(path, array)[index]), _place(follow(root_of(v)[1], array))
    before = root.memory.moved
    if before and before[:2] == (source, to) != (to, to) and before[2]() is not v:
        raise MutationError(
            f"two parts of a traced array are swapped through views in {user_line()}: "
            "x[i], x[j] = x[j], x[i] makes both equal, and so does rng.shuffle(x).\n"
            "  write x[[i, j]] = x[[j, i]], or x[...] = x[rng.permutation(len(x))]; or swap copies"
        )
    return to, source, weakref.ref(x)


def _place(x: np.ndarray) -> tuple:
    return x.__array_interface__["data"], x.shape, x.strides
