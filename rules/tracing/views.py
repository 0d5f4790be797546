"""Views: which traced arrays share memory with which, as NumPy's own do, and who may be written to.

A traced array is a handle on a value and its history. The handle that owns the memory is the
root; a view knows its root and the path from it, the calls (indexing, transposing, reshaping)
that made it. Whether a call gives a view is decided once, by NumPy, on the primal: a tangent or a
cotangent may lie in another order of memory, and is never asked.

``y = x * 1.0; v = y[1:]; y[0] = 5`` is one write. It puts a copy of ``y``'s array into the slot
``draft`` of the root's memory, and empties the slot ``primal`` of the root and of its views. What
is in a draft nobody else holds, so the next write goes straight into it. A handle whose slot is
empty gets its value back when it is read: a view a copy of its part of the draft, and the root
the draft itself, which is then a draft no more.
"""

import itertools
import weakref
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, TypeGuard

import numpy as np

from ...config.thresholds import VIEWS_SWEPT
from ..annotations import Function, Value
from ..containers import LEAVES, is_flat, iterate_leaves, map_leaves
from ..shapes import FLOATS, is_lazy
from .level import Traced

if TYPE_CHECKING:
    from .array import TracedArray

# A function, its options, and which leaf of the container that it returns; None where that is none.
Step = tuple[Any, dict, int | None]
Path = tuple[Step, ...]

next_of_views = itertools.count().__next__
_NO_VIEWS = frozenset({float, np.float64, complex, np.complex128, np.float32})


class Memory:
    """Record of the memory that a root owns: its draft, its views, and arrays outside of the trace.

    ``draft`` is what is written to in place of the root's value, or None; ``views`` are those that
    have a value, and ``empty`` those that had none at some time, by their ``id``; ``seen_by`` are
    the arrays, outside, that show the same memory. ``moved`` is what ``check_swap`` says of the
    last write.
    """

    __slots__ = ("draft", "empty", "moved", "seen_by", "views")

    def __init__(self, draft: tuple | None = None) -> None:
        self.draft = draft
        self.moved: tuple | None = None
        self.views: dict[int, weakref.ref] = {}
        self.empty: dict[int, weakref.ref] = {}
        self.seen_by: list[Any] = []

    def is_seen(self) -> bool:
        """Say whether somebody still holds an array that shows this memory."""
        return any(reference() is not None for reference in self.seen_by)


# ---- roots and paths ----------------------------------------------------------------------------


def root_of(x: Any) -> tuple[Any, Path]:
    """Return the traced array that owns the memory of ``x``, and the path to ``x``."""
    try:
        return x.base_and_path or (x, ())
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


slot_of = vars(Traced)["primal"].__get__  # it may be empty


def is_draft(x: Value) -> TypeGuard[Any]:
    """Say whether ``x`` is a root that is being written to."""
    try:
        slot_of(x)
        return False  # nearly always, and found without an exception
    except (AttributeError, TypeError):
        return isinstance(x, Traced) and draft_of(x) is not None


def bare(x: Value) -> Any:
    """Return the plain array under a traced one, to be looked at and not to be kept."""
    while isinstance(x, Traced):
        x = x.peek()
    return x


def follow(path: Path, x: Value) -> Any:
    """Go from an array, or anything of its shape, to the view at the end of ``path``."""
    for f, options, leaf in path:
        x = f(x, **options)
        if leaf is not None:
            x = next(itertools.islice(iterate_leaves(x), leaf, None))
    return x


def numbered_leaves(y: Value) -> Iterable[tuple[int | None, Any]]:
    """Return the leaves of what a call gave, each with the number that a path names it by."""
    return ((None, y),) if type(y) in LEAVES else enumerate(iterate_leaves(y))


def view_by(x: Value, f: Function, before: tuple, rest: tuple, options: dict) -> Any:
    """Return the view ``f`` of ``x``: what stands in the path of a view that a call gave."""
    return f(*before, x, *rest, **options)


def tie_result(y: Value, f: Function, args: tuple, k: int, options: dict) -> None:
    """Tie every array in ``y = f(*args, **options)`` that is a view of argument ``k`` to it."""
    given = {"f": f, "before": args[:k], "rest": args[k + 1 :], "options": options}
    tie_views(y, args[k], view_by, given)


def shares_memory(y: Value, x: Value) -> bool:
    """Say whether the array ``y``, made from ``x``, is a view of it; both may be traced."""
    if isinstance(y, Traced):
        return root_of(y)[0] is root_of(x)[0]
    if type(y) is not np.ndarray or type(x) is not np.ndarray:
        return False
    if y is x:
        return True
    base = y.base
    if base is None:
        return False
    return base is x or base is x.base or np.may_share_memory(y, x)


def may_share(y: Value, values: tuple) -> bool:
    """Say whether ``y``, computed from ``values``, may be a view of one of them, or a part."""
    if type(y) is not np.ndarray:
        return type(y) not in _NO_VIEWS
    if y.base is not None:
        return True
    for x in values:  # every call asks, and a generator takes longer
        if x is y:
            return True
        if type(x) not in LEAVES:
            if not is_flat(x):
                return True
            for part in x:
                if part is y:
                    return True
    return False


def register_view(
    y: "TracedArray", x: Traced, f: Function, options: dict, leaf: int | None = None
) -> None:
    """Tie a view that has its value already, and that a write is going to take it from."""
    root, path = root_of(x)
    y.base_and_path = root, (*path, (f, options, leaf))
    remember(y, root)


def tie_views(y: Value, x: Value, f: Function, options: dict) -> None:
    """Tie every array in ``y = f(x, **options)`` that is a view of ``x`` to it."""
    if isinstance(x, Traced):
        for leaf, part in numbered_leaves(y):
            untied = isinstance(part, Traced) and part.writable and root_of(part)[0] is part
            if untied and shares_memory(part.primal, x.primal):
                register_view(part, x, f, options, leaf)


def views_of_draft(x: "TracedArray", f: Function, options: dict) -> Any:
    """Return ``f(x, **options)`` as views that get their values when they are read.

    ``x`` is a root that is being written to. NotImplemented where ``f`` makes a copy.
    """
    memory = draft_of(x)[0]  # type: ignore[index]
    y = f(memory, **options)
    views = []
    for leaf, part in numbered_leaves(y):
        handle = x
        if part is not memory:
            if not shares_memory(part, memory):
                return NotImplemented
            handle = type(x)()
            handle.at_level = x.at_level
            handle.base_and_path = x, ((f, options, leaf),)
            _remember_empty(handle, x.memory)
        views.append(handle)
    return views[0] if type(y) in LEAVES else map_leaves(lambda _: views.pop(0), y)


# ---- values that come and go --------------------------------------------------------------------


def remember(view: "TracedArray", root: "TracedArray") -> None:
    """Note that ``view`` has a value, which the next write to ``root`` takes from it."""
    views = memory_of(root).views
    # A number of its own for each, so that threads which read the same array do not meet.
    views[next_of_views()] = weakref.ref(view)
    _sweep(views)


def _remember_empty(view: "TracedArray", memory: Memory) -> None:
    memory.empty[id(view)] = weakref.ref(view)
    _sweep(memory.empty)


def _sweep(views: dict[int, weakref.ref]) -> None:
    """Forget the dead at powers of two, so that it stays cheap."""
    if len(views) >= VIEWS_SWEPT and not len(views) & (len(views) - 1):
        for number, reference in list(views.items()):
            if reference() is None:
                views.pop(number, None)


def living_views(root: "TracedArray") -> list:
    """Return the views of ``root`` that have a value and that somebody still holds."""
    return _living(memory_of(root).views)


def has_other_views(root: "TracedArray", view: "TracedArray") -> bool:
    """Say whether somebody holds a view of ``root`` besides this one, with or without a value."""
    memory = memory_of(root)
    return any(x is not view for x in [*_living(memory.views), *_living(memory.empty)])


def _living(references: dict[int, weakref.ref]) -> list:
    held = list(references.values())
    return [view for reference in held if (view := reference()) is not None]


def put_draft(root: "TracedArray", draft: tuple, *names: str, moved: tuple | None = None) -> None:
    """Let ``root`` have this draft; the slots ``names``, and those of its views, are empty then."""
    memory = memory_of(root)
    if memory.draft is None:
        _empty(root, names)
    memory.draft, memory.moved = draft, moved
    if memory.views:
        forget(root)


def forget(root: "TracedArray") -> None:
    """Take their values from all views of ``root``: they are those of an older version."""
    views = living_views(root)
    root.memory.views = {}
    for view in views:
        _empty(view, ("primal", *type(view).__slots__))
        _remember_empty(view, root.memory)


def _empty(x: Value, names: tuple) -> None:
    for name in names:
        try:  # noqa: SIM105  # every write does this, and a context manager takes its time
            delattr(x, name)
        except AttributeError:
            pass  # empty already


def give_value(x: "TracedArray") -> None:
    """Give a handle its value back, which a write has taken from it."""
    root, path = root_of(x)
    if root is x:
        memory = x.memory
        x.at_level.publish(x, memory.draft)
        memory.draft = None
        if memory.views:
            forget(x)  # its views hold copies, and may show its memory again
    else:
        x.at_level.refresh(x, root, path)
        remember(x, root)


# ---- copies -------------------------------------------------------------------------------------


def copied(x: Value) -> Any:
    """Copy an array such that the same calls give views of it as of the one it was copied from."""
    if type(x) is not np.ndarray:
        return snapshot(x)
    if x.flags.c_contiguous:
        return x.copy()
    y = x.copy(order="K")
    # Objects need memory that NumPy counts their references in.
    if y.strides == x.strides or x.size == 0 or x.flags.forc or x.dtype.hasobject:
        return y
    # Axes that follow each other without a gap do so in the copy, and no others: a gap is one
    # entry wide there. A negative stride stays one.
    strides, width, span = list(x.strides), x.itemsize, x.itemsize
    for axis in sorted(range(x.ndim), key=lambda axis: abs(x.strides[axis])):
        stride = abs(x.strides[axis])
        if x.shape[axis] == 1:
            continue
        if stride < span:  # entries share memory, as np.broadcast_to makes them: so they do here
            strides, width = list(x.strides), x.itemsize
            width += sum((n - 1) * abs(s) for n, s in zip(x.shape, strides, strict=True))
            break
        width += x.itemsize if stride > span else 0
        strides[axis] = width if x.strides[axis] > 0 else -width
        width, span = width * x.shape[axis], stride * x.shape[axis]
    before = -sum(min((n - 1) * s, 0) for n, s in zip(x.shape, strides, strict=True))
    y = np.ndarray(x.shape, x.dtype, np.empty(width, np.uint8), before, strides)
    y[...] = x
    return y


def snapshot(x: Value) -> Any:
    """Return ``x`` as it is now: a copy, or another handle on the same version of a traced array.

    What is written into ``x`` afterwards does not change it.
    """
    if type(x) is np.ndarray:
        return x.copy(order="K")
    if not isinstance(x, Traced):
        return x.copy() if hasattr(x, "copy") and hasattr(x, "shape") else x
    if not type(x).writable:
        return x
    handle: Any = type(x)()
    handle.base_and_path = None
    handle.at_level = x.at_level
    if not x.records:  # else the value is in a slot of its own
        handle.primal = snapshot(x.primal) if isinstance(x.primal, Traced) else x.primal
    for name in type(x).__slots__:
        setattr(handle, name, getattr(x, name))
    return handle


def for_receiver(t: Value) -> Any:
    """Return a derivative for its receiver: another handle or a copy, which may be written to.

    A rule may broadcast what it gives. Where that is traced, its array is read-only.
    """
    if type(t) in FLOATS:
        return t
    return t.copy(order="K") if type(t) is np.ndarray else writeable(snapshot(t))


def writeable(t: Value) -> Any:
    """Return ``t`` itself, or a copy where its array is read-only."""
    array = t if type(t) is np.ndarray else bare(t)
    return t if type(array) is not np.ndarray or array.flags.writeable else laid_out(t, None)


def axes_of(x: np.ndarray) -> tuple[int, ...] | None:
    """Return the axes of an array from the outermost in memory to the innermost; None for C."""
    if is_lazy(x) or x.flags.c_contiguous:
        return None
    axes = sorted(range(x.ndim), key=lambda axis: -abs(x.strides[axis]))
    return None if axes == list(range(x.ndim)) else tuple(axes)


def laid_out(x: Any, axes: tuple[int, ...] | None) -> Any:
    """Copy an array, traced or not, such that its axes lie in memory in the order ``axes``."""
    if axes is None:
        return x.copy() if is_lazy(bare(x)) else np.copy(x, order="C")
    return np.transpose(np.copy(np.transpose(x, axes), order="C"), np.argsort(axes).tolist())
