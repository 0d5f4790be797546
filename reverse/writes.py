"""Writing into an array that a tape follows."""

from typing import Any

import numpy as np

from ..rules import AbstractZero, ProjectTo, Traced, getitem, rrule, strip
from ..rules.kinds import unbroadcast
from ..rules.masked import unmask
from ..rules.project import shape_of
from ..rules.roots import settled
from ..rules.views import (
    Path,
    check_write,
    copied,
    follow,
    is_private,
    living_views,
    raised,
    root_of,
)
from .nodes import Active, find_active
from .pieces import Pieces
from .sweep import Cotangents


def write(tape: Any, x: Any, index: Any, v: Any) -> None:
    """Record ``x[index] = v``: the array that owns the memory of ``x`` gets a new version."""
    v = settled(v)
    check_write(x, v, tape)
    root, path = root_of(x)
    active = find_active(tape, v)
    v = strip(v, tape)
    views = living_views(root)
    buffer = raised(root.value if is_private(root, views) else copied(root.value), v)
    follow(path, buffer)[index] = v
    position = len(tape.entries)
    index = tape.watch.hold(index)
    tape.entries.append((WriteNode(root.index, position, path, index, shape_of(v), active),))
    root.value = buffer
    root.index = position
    for view in views:
        # Made anew from the new version; the tape ties it to what was written.
        again = follow(root_of(view)[1], root)
        view.value = again.value
        view.index = again.index


class WriteNode:
    """A version of an array that differs from the one before in the entries written."""

    __slots__ = ("active", "before", "index", "path", "position", "shape")
    takes_pieces = True

    def __init__(
        self,
        before: int,
        position: int,
        path: Path,
        index: Any,
        shape: tuple[int, ...],
        active: Active | None,
    ) -> None:
        self.before = before
        self.position = position
        self.path = path
        self.index = index
        self.shape = shape
        self.active = active

    def pull(self, tape: Any, ybar: Any, cotangents: Cotangents) -> None:
        """Hand the written entries to what was written, and the rest to the version before."""
        ybar = unmask(ybar)
        if isinstance(ybar, Traced) and self._is_place(shape_of(ybar)):
            ybar = Pieces(rrule.kinds[getitem], ProjectTo(ybar), False, ybar)
        if type(ybar) is Pieces and not (
            self._is_place(ybar.space.shape) and cotangents.bars[self.before] is None
        ):
            ybar = unmask(ybar.gathered())
        if type(ybar) is Pieces:
            vbar = ybar.take(self.index)
            cotangents.bars[self.before] = ybar
        elif type(ybar) is np.ndarray:
            # A cotangent that the sweep made is passed on, so that n writes cost O(n).
            owned = self.position in cotangents.owned
            buffer = ybar if owned else ybar.copy()
            vbar = self._take(buffer)
            if cotangents.bars[self.before] is None:
                cotangents.bars[self.before] = buffer
                cotangents.owned.add(self.before)
            else:
                cotangents.add(self.before, buffer)
        else:
            vbar, rest = self._take_traced(ybar)
            cotangents.add(self.before, rest)
        if self.active is not None and not isinstance(vbar, AbstractZero):
            vbar = unbroadcast(vbar, self.shape)
            self.active.receive(tape, vbar, cotangents, "an assignment", 0)

    def _is_place(self, shape: tuple[int, ...]) -> bool:
        """Say whether a number or a row was written, at integers."""
        parts = self.index if type(self.index) is tuple else (self.index,)
        return not self.path and len(parts) <= len(shape) and all(type(k) is int for k in parts)

    def _take(self, buffer: np.ndarray) -> Any:
        """Return the written entries of a cotangent, and set them to zero."""
        view = follow(self.path, buffer)
        if _may_repeat(self.index) or not (view is buffer or np.may_share_memory(view, buffer)):
            flat = buffer.reshape(-1)
            positions = self._positions(buffer.shape)
            vbar = np.where(_last(positions), flat[positions], 0)
            flat[positions] = 0
            return vbar
        vbar = np.array(view[self.index])
        view[self.index] = 0
        return vbar

    def _take_traced(self, ybar: Any) -> tuple[Any, Any]:
        shape = shape_of(ybar)
        positions = self._positions(shape)
        written = np.zeros(shape, bool)
        written.reshape(-1)[positions] = True
        taken = np.reshape(ybar, -1)[positions]
        return np.where(_last(positions), taken, 0), np.where(written, 0, ybar)

    def _positions(self, shape: tuple[int, ...]) -> np.ndarray:
        """Return where in the flattened array each written entry lies."""
        numbered = np.arange(int(np.prod(shape, dtype=int))).reshape(shape)
        return np.asarray(follow(self.path, numbered)[self.index])


def _may_repeat(index: Any) -> bool:
    """Say whether an index may name an entry twice; only lists of integers can."""
    parts = index if isinstance(index, tuple) else (index,)
    return any(
        isinstance(part, list) or (getattr(part, "ndim", 0) > 0 and part.dtype.kind != "b")
        for part in parts
    )


def _last(positions: np.ndarray) -> Any:
    """Say which of the writes to each position is the last, and so the one that counts."""
    flat = positions.reshape(-1)
    order = np.arange(flat.size)
    last = np.zeros(flat.max() + 1 if flat.size else 0, int)
    last[flat] = order
    return (last[flat] == order).reshape(positions.shape)


class ConstantNode:
    """A fresh array: nothing flows back from it."""

    __slots__ = ()
    takes_pieces = True

    def pull(self, tape: Any, ybar: Any, cotangents: Cotangents) -> None:
        pass


CONSTANT = (ConstantNode(),)
