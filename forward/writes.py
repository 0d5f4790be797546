"""Writing into arrays of dual numbers: tangents are written beside values, with one index."""

from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from ..rules import AbstractZero, TracedArray, TracedNumber, strip
from ..rules.annotations import Index, Value
from ..rules.engines.buffers import settled
from ..rules.engines.engine import Engine
from ..rules.shapes import FLOATS_AND_ARRAYS, dtype_of, shape_of
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
from ..rules.tracing.writing import begin_write, check_swap, check_write, raised, store
from .still import unmarked


class Dual(TracedNumber):
    """A number and its tangent."""

    __slots__ = ("tangent",)
    tangent: Any


class DualArray(TracedArray):
    """An array and its tangent, of the same shape and dtype."""

    __slots__ = ("tangent",)
    tangent: Any


class DualWrites(Engine):
    """The part of a level of dual numbers that makes arrays and writes into them."""

    __slots__ = ()

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
        zeros = self.zero_tangent(shape_of(x), dtype_of(x))
        traced.memory = Memory((x, self.laid_out(zeros, axes_of(bare(x)))))
        return traced

    def accumulator(self, shape: tuple[int, ...], dtype: DTypeLike | None) -> Value:
        traced: Any = self._new_array()
        traced.primal = np.zeros(shape, dtype)
        traced.tangent = self.zero_tangent(shape, dtype)
        return traced

    def _new_array(self) -> DualArray:
        traced = DualArray()
        traced.base_and_path = None
        traced.at_level = self
        return traced

    def add_at(self, xbar: Any, index: Index, ybar: Value) -> bool:
        if not self.carries(ybar):
            return False
        x, xdot, y, ydot = xbar.primal, xbar.tangent, ybar.primal, ybar.tangent
        dtype = x.dtype
        for part in (x, xdot, y, ydot):  # not where one is traced, lazy or marked
            if type(part) not in FLOATS_AND_ARRAYS or dtype_of(part) is not dtype:
                return False
        x[index] += y
        xdot[self.led(index)] += ydot
        return True

    def write(self, x: TracedArray, index: Index, v: Value) -> None:
        """Do ``x[index] = v`` in the array that owns the memory of ``x``, and in its tangent."""
        self.check_live()
        given = v = settled(v)
        root, path = root_of(x)
        values, tangents = begin_write(root) or self.new_draft(root)
        check_write(values, v, self)
        vdot = self.tangent_of(v)
        v = strip(v, self)
        values = raised(values, v)
        store(values, path, index, v)
        vdot = 0 if isinstance(vdot, AbstractZero) else vdot
        tangents = self.write_tangents(path, tangents, index, vdot)
        moved = check_swap(x, index, given, values)
        put_draft(root, (values, tangents), "primal", "tangent", moved=moved)

    def new_draft(self, root: TracedArray) -> tuple[Any, Any]:
        """Copy the values and tangents of an array, the latter in the memory order of the former.

        So a call that gives a view of the one gives a view of the other.
        """
        values = copied(root.primal)
        return values, self.laid_out(unmarked(root.tangent), axes_of(bare(values)))

    def write_tangents(self, path: Path, tangents: Value, index: Index, vdot: Value) -> Any:
        """Write into the tangents of a draft; return them, traced where ``vdot`` is."""
        tangents = raised(tangents, vdot)
        follow(path, tangents)[index] = vdot
        return tangents

    def publish(self, root: TracedArray, draft: tuple) -> None:
        root.primal, root.tangent = draft

    def refresh(self, view: TracedArray, root: TracedArray, path: Path) -> None:
        self.check_live()
        draft = draft_of(root)
        values, tangents = (root.primal, unmarked(root.tangent)) if draft is None else draft
        value, tangent = follow(path, values), self.follow(path, tangents)
        if draft is not None:
            value, tangent = copied(value), copied(tangent)
        view.primal, view.tangent = value, tangent
