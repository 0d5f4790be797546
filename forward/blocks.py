"""Dual numbers that carry a block of directions: one run of a function for many tangents.

The tangent of a number is a vector, that of an array has one axis more, in front. Elementwise rules
multiply blocks as they stand, and so do kinds with a form for blocks (``Kind.push_block``). All
other rules see each block as one tangent, a value of a ``BlockLevel``, on which their formula for
one direction computes all of them.
"""

import operator
from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from ..config import RuleConfig
from ..rules import ZERO, AbstractZero, Traced, call, frule, getitem
from ..rules.accelerated import numbers
from ..rules.annotations import Function, Index, Tangentlike, Value
from ..rules.containers import map_leaves
from ..rules.linear.block_level import BlockLevel
from ..rules.linear.blocks import Block, aligned, fitted, led_index, takes_stack
from ..rules.shapes import FIELDS, SMOOTH, shape_of
from ..rules.signatures import RuleSignature
from ..rules.table.kinds import Kind, ScalarRule
from ..rules.tangents.fitting import cast
from ..rules.tracing.operands import is_basic
from ..rules.tracing.views import (
    Path,
    follow,
    is_draft,
    laid_out,
    register_view,
    views_of_draft,
)
from ..rules.tracing.writing import raised
from .block_shares import PLAIN, share_of_moving, share_of_parts, shares_of_blocks
from .complex_numbers import share_of_numbers
from .dual import Dual, DualArray, ForwardLevel
from .still import Moving, unmarked

_float64, _complex128 = np.float64, np.complex128
_array = np.ndarray


class BlockDuals(ForwardLevel):
    """One run of a function on dual numbers whose tangents are blocks of directions.

    A slot ``tangent`` holds the block itself, or ``Moving`` of it; whatever leaves the level is a
    value of ``directions``.
    """

    __slots__ = ("directions",)

    def __init__(self, config: RuleConfig, directions: BlockLevel) -> None:
        super().__init__(config)
        self.directions: BlockLevel = directions

    def dual(self, x: Value, xdot: Tangentlike) -> Any:
        if type(xdot) is Moving:
            xdot = Moving(self._block(xdot.held), xdot.moves)
        else:
            xdot = self._block(xdot)
        return ForwardLevel.dual(self, x, xdot)

    def _block(self, xdot: Tangentlike) -> Any:
        # A rule that called back may have met captured values of levels inside the directions'.
        # Of a tangent these hold second derivatives, which no level that asked for it looks at.
        directions = self.directions
        xdot = _without_inner(xdot, directions)
        if directions.carries(xdot):
            return _without_inner(xdot.block, directions)
        return directions.spread(xdot)

    def tangent_at(self, x: Traced) -> Any:
        t = x.tangent
        if type(t) is Moving:
            return Moving(self._tangent(x, t.held), t.moves)
        return self._tangent(x, t)

    def _tangent(self, x: Value, block: Value) -> Any:
        directions = self.directions
        return directions.array(block) if type(x) is DualArray else directions.wrap(block)

    # ---- functions of matrices ----

    def apply_kind(
        self, kind: Kind, f: Function, args: tuple, kwargs: dict, values: tuple, y: Value
    ) -> Value:
        ydot: Any
        if type(y) is _array and y.dtype in SMOOTH:
            ydot = self._shares(kind, args, kwargs, values, y)
            if self.fits(y, ydot.held if type(ydot) is Moving else ydot):
                return ForwardLevel.dual(self, y, ydot)
        elif type(kind) is ScalarRule and type(y) in FIELDS:
            ydot = share_of_numbers(self, kind, args, values, y)
            if type(ydot) is _array:
                return self._number(y, ydot)
        elif type(y) is _float64 or type(y) is _complex128:
            ydot = self._shares(kind, args, kwargs, values, y)
            if ydot is ZERO:
                return y
            if type(ydot) is _array and ydot.dtype is y.dtype and ydot.ndim == 1:
                return self._number(y, ydot)
        if not takes_stack(f, values):
            return ForwardLevel.apply_kind(self, kind, f, args, kwargs, values, y)
        ydot = kind.push_all([self._stack(x) for x in args], y, values, kwargs)
        return self.wrap(y, self._of_stack(ydot), f)

    def _shares(self, kind: Kind, args: tuple, kwargs: dict, values: tuple, y: Any) -> Any:
        """Return the tangent by the kind's form for plain blocks; None where it has none."""
        if type(kind) is ScalarRule:
            return self._elementwise_shares(kind, args, values, y)
        if kind.joins and type(args[0]) in (list, tuple):
            parts = self.parts_of(args[0]) or ()
            return share_of_parts(kind, list(map(self.directions.blocks, parts)), kwargs)
        blocks = {i: x.tangent for i, x in enumerate(args) if self.carries(x)}
        if len(args) == 1 and type(blocks.get(0)) is Moving:
            return share_of_moving(kind, blocks[0], values, kwargs, y)
        return shares_of_blocks(kind, blocks, values, kwargs, y)

    def _elementwise_shares(self, kind: ScalarRule, args: tuple, values: tuple, y: Any) -> Any:
        """Sum the products of plain blocks and partials; None where there is something else."""
        if not PLAIN.issuperset(map(type, values)):
            return None
        values, rank, shares = kind.operands(values, y), y.ndim, []
        for i, x in enumerate(args):
            if self.carries(x):
                partial = kind.partial(i, y, values)
                if type(x.tangent) is not _array or type(partial) not in PLAIN:
                    return None
                shares.append(aligned(Block(x.tangent), rank) * partial)
        ydot = cast(reduce(operator.add, shares), y.dtype)
        whole = self.of_slot(y.shape)
        return ydot if ydot.shape == whole else np.array(np.broadcast_to(ydot, whole))

    def apply_rule(
        self, rule: RuleSignature, f: Function, args: tuple, kwargs: dict, values: tuple
    ) -> Value:
        if not takes_stack(f, values):
            return ForwardLevel.apply_rule(self, rule, f, args, kwargs, values)
        tangents = (ZERO, *[self._stack(x) for x in args])
        y, ydot = frule.run(rule, self.config, tangents, f, values, kwargs)
        if self.fits(y, ydot):
            return ForwardLevel.dual(self, y, ydot)
        duals = self.tuple_of_arrays(y, ydot)
        return self.wrap(y, self._of_stack(ydot), f) if duals is None else duals

    def in_rank(self, t: Any, rank: int) -> Any:
        return aligned(Block(t), rank)

    def of_slot(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        return (self.directions.count, *shape)

    def _stack(self, x: Value) -> Any:
        """Return the tangents of one matrix as a stack of matrices."""
        return unmarked(x.tangent) if self.carries(x) else ZERO

    def _of_stack(self, ydot: Tangentlike) -> Any:
        return map_leaves(
            lambda t: t if isinstance(t, AbstractZero) else self.directions.wrap(t), ydot
        )

    # ---- reads ----

    def getitem(self, x: Traced, index: Index) -> Value:
        if not (is_basic(index) and self.live):
            read = self._read_by_array(x, index)
            return call(getitem, (x, index), {}) if read is None else read
        led = led_index(index)
        if is_draft(x):
            values, tangents = x.memory.draft
            y = values[index]
            if type(y) is _float64:
                if type(tangents) is not Moving:
                    return self._number(y, np.copy(tangents[led]))
                moves = tangents.moves[index]
                return self._number(y, np.copy(tangents.held[led])) if moves else y
            view = views_of_draft(x, getitem, {"index": index})
            return call(getitem, (x, index), {}) if view is NotImplemented else view
        if type(x.tangent) is not Moving:
            y, ydot = x.primal[index], x.tangent[led]
            known = y.__class__ in (_float64, _complex128, _array)
            if known and y.dtype is ydot.dtype and y.dtype in SMOOTH:
                if y.__class__ is not _array:
                    return self._number(y, ydot)
                view = ForwardLevel.dual(self, y, ydot)
                register_view(view, x, getitem, {"index": index})
                return view
        return call(getitem, (x, index), {})

    def _number(self, y: Value, ydot: Tangentlike) -> Any:
        dual: Any = Dual()
        dual.primal = y
        dual.at_level = self
        dual.tangent = ydot
        return dual

    # ---- the slot ``tangent``, and writes ----

    def zero_tangent(self, shape: tuple[int, ...], dtype: DTypeLike | None) -> np.ndarray:
        return np.zeros((self.directions.count, *shape), dtype)

    def laid_out(self, tangent: Value, axes: tuple[int, ...] | None) -> Any:
        return block_laid_out(tangent, axes)

    def follow(self, path: Path, tangent: Value) -> Any:
        return follow(path, self.directions.array(tangent)).block

    def led(self, index: Index) -> Index:
        return led_index(index)

    def write_tangents(self, path: Path, tangents: Value, index: Index, vdot: Value) -> Any:
        return write_block(self.directions, path, tangents, index, vdot)


def _without_inner(x: Value, level: BlockLevel) -> Any:
    """Take off traced values of levels further in than ``level``."""
    while isinstance(x, Traced) and x.at_level.number > level.number:
        x = x.primal
    return x


def block_laid_out(block: Value, axes: tuple[int, ...] | None) -> Any:
    """Copy a block such that the axes of each direction lie in memory in the order ``axes``."""
    return laid_out(block, None if axes is None else (0, *[axis + 1 for axis in axes]))


def write_block(directions: Any, path: Path, block: Any, index: Index, vdot: Any) -> Any:
    """Write ``vdot``, of ``directions`` or the same in each, into a block, at the end of a path.

    ``directions`` is a ``BlockLevel``, or that of the items of a batch.
    Return the block, traced where ``vdot`` is of a level further out.
    """
    v = vdot.block if directions.carries(vdot) else vdot
    block = raised(block, v)
    led = led_path(path, index)
    if led is not None:
        view = follow(led, block)
        part = led_index(index)
        if v is not vdot:
            v = fitted(Block(v), len(shape_of(view[part])) - 1)
        view[part] = v
    else:
        for k in range(directions.count):
            follow(path, block[k, ...])[index] = v if v is vdot else v[k]
    return block


def led_path(path: Path, index: Index) -> Path | None:
    """Return a path as one for blocks, where all its indices, and ``index``, are basic."""
    if not is_basic(index):
        return None
    led = []
    for f, options, leaf in path:
        if f is not getitem or leaf is not None or not is_basic(options["index"]):
            return None
        led.append((f, {"index": led_index(options["index"])}, None))
    return tuple(led)


if numbers is not None:
    numbers.register_duals(ForwardLevel, BlockDuals, Dual, DualArray, Moving)
