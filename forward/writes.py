"""Writing into arrays of dual numbers: tangents are written beside values, with one index.

Entries that hold what does not move are structural zeros of the tangent, as they are of cotangents.
So a draft has ``Moving`` of its tangents, until each entry moves.
"""

from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from ..rules import AbstractZero, TracedArray, TracedNumber, is_lazy, is_traced, strip
from ..rules.annotations import Index, Value
from ..rules.engines.buffers import settled
from ..rules.engines.engine import Engine
from ..rules.shapes import FLOAT64, FLOATS_AND_ARRAYS, dtype_of, shape_of
from ..rules.tracing.views import (
    Memory,
    Path,
    axes_of,
    bare,
    copied,
    draft_of,
    follow,
    laid_out,
    put_draft,
    root_of,
)
from ..rules.tracing.writing import begin_write, check_swap, check_write, hand_out, raised, store
from .still import Moving, moves_of


class Dual(TracedNumber):
    """A number and its tangent."""

    __slots__ = ("tangent",)
    tangent: Any


class DualArray(TracedArray):
    """An array and its tangent, of the same shape and dtype."""

    __slots__ = ("tangent",)
    tangent: Any

    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> np.ndarray:
        t = self.tangent
        if type(t) is Moving and not np.any(t.moves):  # a part of what is written to, as it is now
            array = np.array(self.primal, dtype)
            if not copy:  # NumPy's shows the memory of ``self``
                array.flags.writeable = False
                hand_out(root_of(self)[0], array, for_good=array.ndim == 0)
            return array
        return TracedArray.__array__(self, dtype, copy)


class DualWrites(Engine):
    """The part of a level of dual numbers that makes arrays and writes into them."""

    __slots__ = ()
    in_slots = True

    def tangent_of(self, x: Value) -> Any:
        """Return the tangent of ``x`` at this level: zero where it does not depend on it."""
        raise NotImplementedError

    # ---- what the slot ``tangent`` holds; ``BlockDuals`` has blocks there ----

    def zero_tangent(self, shape: tuple[int, ...], dtype: DTypeLike | None) -> np.ndarray:
        """Return zeros for the slot of an array."""
        return np.zeros(shape, dtype)

    def laid_out(self, tangent: Value, axes: tuple[int, ...] | None) -> Any:
        """Copy what the slot holds, such that the axes of the array lie in memory as ``axes``."""
        return laid_out(tangent, axes)

    def follow(self, path: Path, tangent: Value) -> Any:
        """Return what the slot of a view holds, which is at the end of a path."""
        return follow(path, tangent)

    def led(self, index: Index) -> Index:
        """Return the index that reads from the slot what a basic ``index`` reads from the array."""
        return index

    # ---- arrays, and writes ----

    def constant(self, x: Value) -> DualArray:
        """Return ``x`` as an array of this level that depends on nothing yet."""
        traced = self._new_array()
        tangents = self.zero_tangent(shape_of(x), dtype_of(x))
        if type(x) is np.ndarray and x.flags.c_contiguous:  # as nearly always
            traced.memory = Memory((x, Moving(tangents, np.zeros(x.shape, bool))))
            return traced
        if (axes := axes_of(bare(x))) is not None:
            tangents = self.laid_out(tangents, axes)
        traced.memory = Memory((x, marked(tangents, False, x)))
        return traced

    def accumulator(
        self, shape: tuple[int, ...], dtype: DTypeLike | None, start: Value = None
    ) -> Value:
        traced: Any = self._new_array()
        traced.primal = np.zeros(shape, dtype) if start is None else np.array(start, dtype)
        traced.tangent = self.zero_tangent(shape, dtype)
        return traced

    def _new_array(self) -> DualArray:
        traced = DualArray()
        traced.base_and_path = None
        traced.at_level = self
        return traced

    def add_at(self, xbar: Any, index: Index, ybar: Value) -> bool:
        x, xdot = xbar.primal, xbar.tangent
        given: Any = ybar
        y, ydot = (given.primal, given.tangent) if self.carries(ybar) else (given, None)
        for part in (x, xdot, y, y if ydot is None else ydot):  # not one traced, lazy or marked
            if type(part) not in FLOATS_AND_ARRAYS or dtype_of(part) is not x.dtype:
                return False
        x[index] += y
        if ydot is not None:
            xdot[self.led(index)] += ydot
        return True

    def take_at(self, xbar: Any, index: Index) -> Any:
        x, xdot, led = xbar.primal, xbar.tangent, self.led(index)
        if not (type(x) is type(xdot) is np.ndarray and x.dtype is xdot.dtype is FLOAT64):
            return None
        traced: Any = Dual()
        traced.at_level = self
        traced.primal, traced.tangent = x[index], np.copy(xdot[led])[()]
        x[index] = xdot[led] = 0.0
        return traced

    def write(self, x: TracedArray, index: Index, v: Value) -> None:
        """Do ``x[index] = v`` in the array that owns the memory of ``x``, and in its tangent."""
        self.check_live()
        given = v = settled(v)
        root, path = root_of(x)
        values, tangents = begin_write(root) or self.new_draft(root)
        check_write(values, v, self)
        vdot = self.tangent_of(v)
        moves = moves_of(v.tangent if self.carries(v) else vdot)
        v = strip(v, self)
        values = raised(values, v)
        store(values, path, index, v)
        vdot = 0 if isinstance(vdot, AbstractZero) else vdot
        if moves is not True and type(tangents) is not Moving:
            tangents = marked(tangents, True, values)
        if type(tangents) is Moving and is_traced(index):  # nobody knows which entries these are
            tangents = tangents.settled()
        if type(tangents) is Moving:
            held = self.write_tangents(path, tangents.held, index, vdot)
            marks_at(path, tangents.moves)[index] = moves
            tangents = Moving(held, tangents.moves)
        else:
            tangents = self.write_tangents(path, tangents, index, vdot)
        moved = check_swap(x, index, given, values)
        put_draft(root, (values, tangents), "primal", "tangent", moved=moved)

    def new_draft(self, root: TracedArray) -> tuple[Any, Any]:
        """Copy the values and tangents of an array, the latter in the memory order of the former.

        So a call that gives a view of the one gives a view of the other.
        """
        values, t = copied(root.primal), root.tangent
        axes = axes_of(bare(values))
        if type(t) is not Moving:
            return values, self.laid_out(t, axes)
        moves = np.broadcast_to(t.moves, shape_of(values))
        return values, Moving(self.laid_out(t.held, axes), laid_out(moves, axes))

    def write_tangents(self, path: Path, tangents: Value, index: Index, vdot: Value) -> Any:
        """Write into the tangents of a draft; return them, traced where ``vdot`` is."""
        tangents = raised(tangents, vdot)
        follow(path, tangents)[index] = vdot
        return tangents

    def publish(self, root: TracedArray, draft: tuple) -> None:
        values, tangents = draft
        if type(tangents) is Moving and np.count_nonzero(tangents.moves) == tangents.moves.size:
            tangents = tangents.held
        root.primal, root.tangent = values, tangents

    def refresh(self, view: TracedArray, root: TracedArray, path: Path) -> None:
        self.check_live()
        draft = draft_of(root)
        values, tangents = (root.primal, root.tangent) if draft is None else draft
        value, moves = follow(path, values), None
        if type(tangents) is Moving:
            tangents, moves = tangents.held, marks_at(path, tangents.moves)
        tangent = self.follow(path, tangents)
        if draft is not None:
            value, tangent, moves = copied(value), copied(tangent), copied(moves)
        view.primal = value
        view.tangent = tangent if moves is None or moves.all() else Moving(tangent, moves)


def marked(tangents: Any, moves: bool, x: Value) -> Any:
    """Return tangents of a draft of ``x`` with marks for each entry; of dask's as they are."""
    array = bare(x)
    if is_lazy(array):
        return tangents
    axes, marks = axes_of(array), (np.ones if moves else np.zeros)(shape_of(x), bool)
    return Moving(tangents, marks if axes is None else laid_out(marks, axes))


def marks_at(path: Path, moves: np.ndarray) -> Any:
    """Return the marks of a view: an entry and its two parts move together."""
    return follow(tuple(step for step in path if step[0] not in (np.real, np.imag)), moves)
