"""Writing into an array that a tape follows: ``y[1:] = x`` makes a new version of ``y``.

Its entry hands the cotangent of what was written to ``x``, and zeros there to the version before.
"""

from typing import TYPE_CHECKING, Any

import numpy as np

from ..forward.blocks import block_laid_out, led_path
from ..rules import (
    AbstractZero,
    ProjectTo,
    Traced,
    ZeroTangent,
    is_lazy,
    strip,
    value,
)
from ..rules.accelerated import numbers
from ..rules.annotations import Index, Tangentlike, Value
from ..rules.engines.buffers import settled
from ..rules.linear.block_level import BlockArray
from ..rules.linear.blocks import led_index
from ..rules.shapes import shape_of
from ..rules.table.structural_zeros import Masked, counts_of, unmask
from ..rules.table.sums import unbroadcast
from ..rules.tangents.project import ProjectNumber, space_of
from ..rules.tracing.array import TracedArray
from ..rules.tracing.views import (
    Path,
    axes_of,
    bare,
    copied,
    follow,
    laid_out,
    put_draft,
    root_of,
)
from ..rules.tracing.writing import begin_write, check_swap, check_write, raised, store
from .active import Active, find_active
from .cotangents import Cotangents
from .entries import Entry, TapeNode, append, is_sensitive
from .pieces import Pieces

if TYPE_CHECKING:
    from .tape import Tape


def write(tape: "Tape", x: TracedArray, index: Index, v: Value) -> None:
    """Record ``x[index] = v``: the array that owns the memory of ``x`` gets a new version."""
    given = v = settled(v)
    root, path = root_of(x)
    (memory,) = begin_write(root) or (copied(root.primal),)
    check_write(memory, v, tape)
    active = find_active(tape, v)
    v = strip(v, tape)
    memory = raised(memory, v)
    store(memory, path, index, v)
    moved = check_swap(x, index, given, memory)
    axes = axes_of(bare(memory)) if path else None
    index = tape.watch.hold(index)
    node = WriteNode(root.position, path, axes, index, shape_of(v), active, tape.entries)
    node.form = space_of(memory)
    put_draft(root, (memory,), "primal", moved=moved)
    root.position = node.position


class WriteNode(TapeNode):
    """A version of an array that differs from the one before in the entries written.

    ``axes`` is the order in which the array lies in memory: in that order the path makes views of
    a cotangent, too.
    """

    __slots__ = (
        "active", "axes", "before", "form", "index", "path", "position", "sensitive", "shape",
    )  # fmt: skip
    takes_pieces = True

    def __init__(
        self,
        before: int,
        path: Path,
        axes: tuple[int, ...] | None,
        index: Index,
        shape: tuple[int, ...],
        active: Active | None,
        entries: list[Entry],
    ) -> None:
        self.before = before
        self.path = path
        self.axes = axes
        self.index = index
        self.shape = shape
        self.active = active
        self.sensitive = is_sensitive(entries[before]) or (
            active is not None and active.is_sensitive(entries)
        )
        self.position = append(entries, (self,))

    def pull(self, ybar: Any, cotangents: Cotangents) -> None:
        """Hand the written entries to what was written, and the rest to the version before."""
        if self._is_of_all():
            ybar = ybar.gathered() if type(ybar) is Pieces else ybar
            counts = counts_of(ybar.alive) if type(ybar) is Masked else None
            self._hand_on(unmask(ybar), counts, cotangents)
            return  # nothing is left of the version before
        counts = None
        if self._pull_accumulated(ybar, cotangents):
            return
        block = self._is_block(unmask(ybar))
        if not block and isinstance(ybar, Traced) and self._is_place(shape_of(ybar)):
            ybar = Pieces(ProjectTo(ybar), is_sensitive(cotangents.entries[self.before]), ybar)
        if type(ybar) is Pieces and not self._is_place(ybar.space.shape):
            ybar = ybar.gathered()
            if isinstance(ybar, AbstractZero):
                return  # all of it was overwritten
        if type(ybar) is Pieces:
            vbar, counts = ybar.take(self.index)
            cotangents.add(self.before, ybar)
        elif block or type(unmask(ybar)) is np.ndarray:
            vbar, counts = self._pull_array(ybar, cotangents)
        else:
            lazily = is_lazy(value(unmask(ybar)))
            vbar, rest, counts = (self._take_lazy if lazily else self._take_traced)(ybar)
            cotangents.add(self.before, rest)
        self._hand_on(vbar, counts, cotangents)

    def _pull_accumulated(self, ybar: Any, cotangents: Cotangents) -> bool:
        """Pull back a traced accumulator of the sweep's own: say whether a number was taken out."""
        whole = unmask(ybar)
        if not isinstance(whole, Traced) or self.position not in cotangents.owned:
            return False
        place = self.index if type(self.index) is tuple else (self.index,)
        if len(place) != len(shape_of(whole)) or not self._is_place(shape_of(whole)):
            return False
        if self.sensitive and type(ybar) is not Masked:
            return False
        vbar = whole.at_level.take_at(whole, place)
        if vbar is None:
            return False
        if type(ybar) is Masked:
            vbar = vbar if ybar.alive[place] else ZeroTangent()
            ybar.alive[place] = False
        cotangents.give(self.before, ybar)
        self._hand_on(vbar, None, cotangents)
        return True

    def _hand_on(self, vbar: Tangentlike, counts: Any, cotangents: Cotangents) -> None:
        """Hand the cotangent of the written entries to what was written."""
        if self.active is not None and not isinstance(vbar, AbstractZero):
            vbar = self._of_written(vbar)
            counts = None if counts is None else self._of_written(counts)
            self.active.receive(vbar, cotangents, "an assignment", 0, counts)

    def _is_of_all(self) -> bool:
        """Say whether all of the array was written: ``x[...] = v``, as ``x += y`` does."""
        if self.path:
            return False
        whole = type(self.index) is slice and self.index == slice(None)
        return whole or self.index is ... or (type(self.index) is tuple and not self.index)

    def parents(self) -> tuple[int, ...]:
        return self.before, *(() if self.active is None else self.active.parents())

    def _of_written(self, vbar: Tangentlike) -> Any:
        """Return ``vbar`` in the shape of what was written, which may have more axes of one."""
        extra = len(self.shape) - len(shape_of(vbar))
        if extra <= 0:
            return unbroadcast(vbar, self.shape)
        return np.reshape(unbroadcast(vbar, self.shape[extra:]), self.shape)

    def _pull_array(self, ybar: Tangentlike, cotangents: Cotangents) -> tuple[Any, Any]:
        """Pull back an array: in its own memory where it is ours, so that n writes cost O(n).

        Or a block of arrays, one for each of several directions.
        """
        held, alive = unmask(ybar), ybar.alive if type(ybar) is Masked else None
        level = held.at_level if type(held) is BlockArray else None
        buffer = held if level is None else held.block
        ours = self.position in cotangents.owned and (not self.path or axes_of(buffer) == self.axes)
        if not ours:
            buffer = (laid_out if level is None else block_laid_out)(buffer, self.axes)
        counts = None
        vbar = self._take(buffer) if level is None else level.wrap(self._take_block(buffer))
        if self.sensitive:
            alive = np.ones(held.shape, bool) if alive is None else alive
            if not ours or (self.path and axes_of(alive) != self.axes):
                alive = laid_out(alive, self.axes)
            taken = self._take(alive)
            if type(taken) is not np.ndarray:
                vbar = vbar if taken else ZeroTangent()
            else:
                counts = counts_of(taken)
        whole = buffer if level is None else level.array(buffer)
        # Where it does not matter the marks stay behind: others may hold them.
        rest = Masked(whole, alive) if self.sensitive else whole
        cotangents.give(self.before, rest)
        return vbar, counts

    def _is_place(self, shape: tuple[int, ...]) -> bool:
        """Say whether a number or a row was written, at integers."""
        parts = self.index if type(self.index) is tuple else (self.index,)
        return not self.path and 0 < len(parts) <= len(shape) and all(type(k) is int for k in parts)

    def _take(self, buffer: np.ndarray) -> Any:
        """Return the written entries of an array that lies as ``axes`` say, and leave zeros."""
        view = follow(self.path, buffer) if self.path else buffer
        vbar = view[self.index]
        if type(vbar) is not np.ndarray:
            view[self.index] = 0
            return vbar
        vbar = np.array(vbar)
        if _may_repeat(self.index):
            numbered = np.arange(view.size).reshape(view.shape)
            vbar = np.where(_last(numbered[self.index]), vbar, np.zeros_like(vbar))
        view[self.index] = 0
        return vbar

    def _is_block(self, ybar: Tangentlike) -> bool:
        """Say whether a cotangent is a block of plain arrays, and the write has an index for it."""
        if type(ybar) is not BlockArray or type(ybar.block) is not np.ndarray:
            return False
        return led_path(self.path, self.index) is not None

    def _take_block(self, buffer: np.ndarray) -> Any:
        """Return the written entries of each array of a block, and leave zeros."""
        view = follow(led_path(self.path, self.index) or (), buffer)
        index = led_index(self.index)
        vbar = np.array(view[index])
        view[index] = 0
        return vbar

    def _take_lazy(self, ybar: Any) -> tuple[Any, Any, Any]:
        """Take what was written out of a cotangent that is no array in memory."""
        if self.path or _may_repeat(self.index):
            return self._take_traced(ybar)
        alive: Any = ybar.alive if type(ybar) is Masked else True
        ybar = unmask(ybar)
        rest: Any = ybar.copy()
        rest[self.index] = 0
        written = np.zeros_like(value(ybar), dtype=bool)
        written[self.index] = True
        if self.sensitive:
            rest = Masked(rest, alive & ~written)
        if self.active is None:
            return ZeroTangent(), rest, None
        counts = None if alive is True else counts_of((alive & written)[self.index])
        return ybar[self.index], rest, counts

    def _take_traced(self, ybar: Any) -> tuple[Any, Any, Any]:
        alive = ybar.alive if type(ybar) is Masked else True
        ybar = unmask(ybar)
        shape = shape_of(ybar)
        positions = self._positions(shape)
        written = np.zeros(shape, bool)
        written.reshape(-1)[positions] = True
        taken = np.reshape(np.reshape(ybar, (-1,))[positions.reshape(-1)], positions.shape)
        rest: Any = np.where(written, 0, ybar)
        if self.sensitive:
            rest = Masked(rest, alive & ~written)
        last = _last(positions)
        counts = None
        if alive is not True:
            alive = np.reshape(np.broadcast_to(alive, shape), (-1,))
            alive = np.reshape(alive[positions.reshape(-1)], positions.shape)
            counts = counts_of(last & alive)
        return np.where(last, taken, 0), rest, counts

    def _positions(self, shape: tuple[int, ...]) -> np.ndarray:
        """Return where in the flattened array each written entry lies."""
        numbered = laid_out(np.arange(int(np.prod(shape, dtype=int))).reshape(shape), self.axes)
        return np.asarray(follow(self.path, numbered)[self.index])


def _may_repeat(index: Index) -> bool:
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


class ConstantNode(TapeNode):
    """A fresh array: nothing flows back from it."""

    __slots__ = ()
    takes_pieces = True

    def pull(self, ybar: Tangentlike, cotangents: Cotangents) -> None:
        pass


CONSTANT_NODE = ConstantNode()


if numbers is not None:
    numbers.register_writes(WriteNode, ProjectNumber)
