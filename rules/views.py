"""Views: which traced arrays share memory with which, as NumPy's own do.

A traced array is a handle on a value and its history. A view knows its root, the array that
owns the memory, and the path from it: the calls (indexing, transposing, reshaping) that made
the view. When a handle is written to, the root gets a new version and every living view of it
is made anew along its path.
"""

import sys
import weakref
from typing import Any

import numpy as np

from ..config import MutationError, user_line
from .containers import children
from .levels import Traced, is_traced
from .project import dtype_of

Step = tuple[Any, dict, tuple]  # a function, its options, and positions inside what it returns
Path = tuple[Step, ...]


def root_of(x: Any) -> tuple[Any, Path]:
    """Return the traced array that owns the memory of ``x``, and the path to ``x``."""
    try:
        # By the slot itself: most arrays have it empty, and need not ask their ``__getattr__``.
        return type(x).base_and_path.__get__(x)
    except AttributeError:
        return x, ()


def shares_memory(y: Any, x: Any) -> bool:
    """Say whether the array ``y``, made from ``x``, is a view of it; both may be traced."""
    if isinstance(y, Traced):
        return root_of(y)[0] is root_of(x)[0]
    if type(y) is not np.ndarray or type(x) is not np.ndarray:
        return False
    base = y.base
    return base is not None and (base is x or base is x.base)


def register_view(y: Any, x: Any, f: Any, options: dict, positions: tuple = ()) -> None:
    """Tie the traced ``y`` to the traced ``x`` that it is a view of."""
    root, path = root_of(x)
    y.base_and_path = root, (*path, (f, options, positions))
    try:
        views = type(root).views.__get__(root)
    except AttributeError:
        views = root.views = []
    views.append(weakref.ref(y))
    if len(views) >= 64 and not len(views) & (len(views) - 1):
        living_views(root)  # forgets the others; at powers of two, so that it stays cheap


def tie_views(y: Any, x: Any, f: Any, options: dict, positions: tuple = ()) -> None:
    """Tie every array in ``y = f(x, **options)`` that is a view of ``x`` to it."""
    if not isinstance(x, Traced):
        return
    if isinstance(y, Traced):
        if shares_memory(y.value, x.value) and hasattr(type(y), "views") and root_of(y)[0] is y:
            register_view(y, x, f, options, positions)
        return
    parts = children(y)
    if parts is not None:
        for position, part in enumerate(parts.values):
            tie_views(part, x, f, options, (*positions, position))


def is_fresh(y: Any) -> bool:
    """Say whether a new array can hold traced numbers: integers and booleans cannot."""
    return type(y) is np.ndarray and y.dtype.kind in "fc"


def living_views(root: Any) -> list:
    """Return the views of ``root`` that somebody still holds."""
    try:
        views = type(root).views.__get__(root)
    except AttributeError:
        return []
    living = [view for reference in views if (view := reference()) is not None]
    if len(living) != len(views):
        views[:] = map(weakref.ref, living)
    return living


def follow(path: Path, x: Any) -> Any:
    """Go from an array, or anything of its shape, to the view at the end of ``path``."""
    for f, options, positions in path:
        x = f(x, **options)
        for position in positions:
            parts = children(x)
            assert parts is not None
            x = parts.values[position]
    return x


def _count(holder: Any, slot: str) -> int:
    value = getattr(holder, slot)
    return sys.getrefcount(value)


class _Holder:
    __slots__ = ("value",)
    value: Any


def _private_count() -> int:
    holder = _Holder()
    holder.value = np.zeros(1)
    return _count(holder, "value")


# How often an array is referred to that only one handle holds; it differs between Pythons.
_PRIVATE = _private_count()


def is_private(root: Any, views: list, slot: str = "value") -> bool:
    """Say whether nobody but ``root`` and its living views can see its array change.

    What the tape keeps for its pullbacks, what the caller passed in and what was handed out
    are all further references, so that a write then goes into a copy.
    """
    if getattr(getattr(root, slot), "base", None) is not None:
        return False
    if any(_count(view, slot) > _PRIVATE for view in views):
        return False
    return _count(root, slot) <= _PRIVATE + len(views)


def raised(buffer: Any, v: Any) -> Any:
    """Return ``buffer`` as an array that ``v`` can be written into: traced where ``v`` is."""
    if isinstance(v, Traced) and not (
        isinstance(buffer, Traced) and buffer.level.number >= v.level.number
    ):
        return v.level.constant(buffer)
    return buffer


def copied(array: Any) -> Any:
    """Copy an array and its memory layout, on which it depends what is a view of it."""
    return array.copy(order="K") if type(array) is np.ndarray else array.copy()


def written(x: Any, path: Path, index: Any, v: Any) -> Any:
    """Return a copy of ``x`` in which ``v`` was written at ``index`` of a view of it."""
    y = raised(copied(x), v)
    follow(path, y)[index] = v
    return y


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


def snapshot(x: Any) -> Any:
    """Return an array that writes into ``x`` do not reach: a copy, or where ``x`` is traced,
    another handle on the same version. Other things are returned as they are.
    """
    if isinstance(x, Traced):
        if not hasattr(type(x), "views"):
            return x
        handle: Any = type(x)()
        handle.level, handle.value = x.level, snapshot(x.value) if is_traced(x.value) else x.value
        for name in type(x).__slots__:
            setattr(handle, name, getattr(x, name))
        return handle
    return x.copy() if isinstance(x, np.ndarray) else x
