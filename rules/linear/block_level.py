"""Block level: traced tangents that stand for a block of directions, all computed at once.

``2 * np.cumsum(xdot)`` of a ``BlockArray`` of shape (3,), whose block has shape (directions, 3),
computes ``2 * np.cumsum(block, axis=1)`` at once: a rule's formula for one tangent serves all.
"""

import functools
import math
from collections.abc import Callable
from contextlib import suppress
from typing import Any, TypeGuard

import numpy as np
from numpy.typing import DTypeLike

from ..annotations import Function, Index, Value
from ..containers import LEAVES, Within, children, fold, replaced
from ..shapes import FLOATS, FLOATS_AND_ARRAYS, dtype_of, shape_of
from ..table.kinds import Kind
from ..table.tables import frule
from ..tangents.zeros import AbstractZero
from ..tracing.array import TracedArray
from ..tracing.funnel import call, getitem
from ..tracing.level import ONE, Level, Traced, next_level
from ..tracing.number import TracedNumber
from ..tracing.operands import is_basic
from ..tracing.views import (
    Path,
    axes_of,
    bare,
    follow,
    forget,
    laid_out,
    register_view,
    root_of,
    shares_memory,
)
from ..tracing.writing import written
from .blocks import Block, aligned, led_index, rank_of, run_on_block, spread
from .program import TangentLevel, as_read
from .samples import Samples

_array = np.ndarray
_float64 = np.float64
_scalars = frule.scalars


class TooLargeBlock(BaseException):
    """A block of directions has more numbers than its level allows.

    It is no ``Exception``, so that no handler of a rule takes it.
    """


class _OfBlock:
    """The attributes of traced numbers and arrays that have a block in place of a value.

    ``block`` has the directions as its first axis. ``primal``, which rules look at beside a tie,
    is the tangent along one direction in general position, computed when it is asked for.
    """

    __slots__ = ()
    block: Any
    at_level: Any
    primal: Any

    @property
    def shape(self) -> tuple[int, ...]:
        return shape_of(self.block)[1:]

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def size(self) -> int:
        return math.prod(self.shape)

    @property
    def dtype(self) -> np.dtype | None:
        return dtype_of(self.block)

    def type_under(self) -> type:
        return self.__class__

    def _primal(self) -> Any:
        self.primal = primal = self.at_level.general(self)
        return primal


class BlockNumber(_OfBlock, TracedNumber):
    """A number for each of several directions."""

    __slots__ = ("block",)

    __class__ = property(lambda self: self.dtype.type)

    def __getattr__(self, name: str) -> Any:
        return self._primal() if name == "primal" else TracedNumber.__getattr__(self, name)


class BlockArray(_OfBlock, TracedArray):
    """An array for each of several directions."""

    __slots__ = ("block",)

    __class__ = property(lambda self: _array)

    def __getattr__(self, name: str) -> Any:
        return self._primal() if name == "primal" else TracedArray.__getattr__(self, name)


class BlocksLevel(Level):
    """A level whose values have a block in place of a value: one part for each of ``count``."""

    __slots__ = ()
    count: int

    def carries(self, x: Any) -> TypeGuard[Traced]:
        """Say whether ``x`` is a value of this level."""
        raise NotImplementedError

    def array(self, block: Value) -> Any:
        """Return the traced array whose block is an array of shape ``(count, *shape)``."""
        raise NotImplementedError

    def spread(self, x: Value) -> Any:
        """Return the block of a value of another level, or plain, that all parts share."""
        return spread(x, self.count)

    def blocks(self, x: Value) -> Any:
        """Put a ``Block`` for each value of this level that ``x`` is or holds."""
        if type(x) in LEAVES:
            return Block(x.block) if self.carries(x) else x
        return replaced(lambda leaf: Block(leaf.block) if self.carries(leaf) else leaf, x)

    def constant(self, x: Value) -> Value:
        axes = axes_of(bare(x))  # else what is repeated lies innermost, and ravel is no view
        order = None if axes is None else (0, *[axis + 1 for axis in axes])
        return self.array(laid_out(self.spread(x), order))

    def accumulator(
        self, shape: tuple[int, ...], dtype: DTypeLike | None, start: Value = None
    ) -> Value:
        block = np.zeros((self.count, *shape), dtype)
        if start is not None:
            block[...] = start
        return self.array(block)

    def add_at(self, xbar: Any, index: Index, ybar: Value) -> bool:
        held, given = xbar.block, ybar.block if self.carries(ybar) else ybar
        known = type(held) is _array and type(given) in FLOATS_AND_ARRAYS
        if not known or held.dtype != dtype_of(given):
            return False  # one is traced, or wider
        held[led_index(index)] += given
        return True


@functools.lru_cache
def _weights(count: int) -> Any:
    return Samples().tangent(np.zeros(count))  # the same at each tie


class BlockLevel(BlocksLevel, TangentLevel):
    """One block of directions; its values are numbers or arrays for each of them."""

    __slots__ = ("count", "largest", "number")

    def __init__(self, count: int, largest: int | None = None) -> None:
        self.number = next_level()
        self.count = count
        self.largest = largest  # numbers in a block, None where there may be any

    def wrap(self, block: Value) -> Any:
        """Return the traced value whose block is an array of shape ``(directions, *shape)``."""
        if len(shape_of(block)) > 1:
            return self.array(block)
        traced: Any = BlockNumber()
        traced.at_level = self
        traced.block = block
        return traced

    def of(self, x: Value) -> Any:
        """Return the traced value of a ``Block``; what else is the same in every direction."""
        return self.wrap(x.values) if type(x) is Block else x

    def as_block(self, x: Value) -> Block | AbstractZero:
        """Return a derivative as a ``Block``, or the zero that it is."""
        if self.carries(x):
            return Block(x.block)
        return x if isinstance(x, AbstractZero) else Block(self.spread(x))

    def array(self, block: Value) -> BlockArray:
        """Return the traced array whose values are ``block``: an array, also where it has no axes.

        Raises
        ------
        TooLargeBlock
        """
        if self.largest is not None and math.prod(shape_of(block)) > self.largest:
            raise TooLargeBlock
        traced = BlockArray()
        traced.base_and_path = None
        traced.at_level = self
        traced.block = block
        return traced

    def general(self, x: Any) -> Any:
        """Return the tangent along one direction in general position."""
        weights = np.asarray(_weights(self.count), x.dtype)
        if type(x) is BlockNumber:
            return np.dot(weights, x.block)
        return np.reshape(np.tensordot(weights, x.block, 1), x.shape)

    # ---- what a level answers ----

    def unary(self, ufunc: np.ufunc, operation: Callable, x: Traced) -> Value:
        if ufunc in _scalars:
            return self._like(operation(x.block), x)
        return self.call(ufunc, (x,), {})

    def binary(self, ufunc: np.ufunc, operation: Callable, a: Any, b: Any) -> Value:
        type_a, type_b = type(a), type(b)
        a_block = (type_a is BlockArray or type_a is BlockNumber) and a.at_level is self
        b_block = (type_b is BlockArray or type_b is BlockNumber) and b.at_level is self
        if not (a_block and b_block):
            other, type_other = (b, type_b) if a_block else (a, type_a)
            if type_other is not _float64 and type_other is not float and type_other is not _array:
                answer = self.meet(ufunc, operation, a, b, other)
                if answer is not None:
                    return answer
        if ufunc not in _scalars:
            return self.call(ufunc, (a, b), {})
        if a_block and b_block:
            aligns = type(a.block) is type(b.block) is _array and a.block.ndim == b.block.ndim
        elif a_block:
            aligns = type_b in FLOATS
        else:
            aligns = type_a in FLOATS or (type_a is _array and a.ndim < len(shape_of(b.block)))
        if aligns:  # as most are
            y = operation(a.block if a_block else a, b.block if b_block else b)
        else:
            x = Block(a.block) if a_block else a
            z = Block(b.block) if b_block else b
            rank = max(rank_of(x), rank_of(z))
            y = operation(aligned(x, rank), aligned(z, rank))
        return self._like(y, a if a_block else b)

    def multiply_add(self, xbar: Any, ybar: Any, factor: Any) -> Value:
        known = xbar is None or (type(xbar) is BlockNumber and xbar.at_level is self)
        kind = type(factor)
        if not known or not (kind is float or kind is _float64 or factor is ONE):
            return Level.multiply_add(self, xbar, ybar, factor)
        block = ybar.block if factor is ONE else ybar.block * factor
        traced: Any = BlockNumber()
        traced.at_level = self
        traced.block = block if xbar is None else xbar.block + block
        return traced

    def sum_over(self, x: Any, axis: tuple[int, ...]) -> Any:
        if type(x.block) is not _array:
            return Level.sum_over(self, x, axis)
        return self.wrap(np.add.reduce(x.block, axis=tuple([k + 1 for k in axis])))

    def _like(self, block: Value, x: Value) -> Any:
        """Return what an elementwise function made of ``x``; an array without axes stays one."""
        if len(shape_of(block)) == 1 and type(x) is BlockArray:
            return self.array(block)
        return self.wrap(block)

    def carries(self, x: Any) -> TypeGuard[Traced]:
        """Say whether ``x`` is a value of this level."""
        kind = type(x)
        return (kind is BlockArray or kind is BlockNumber) and x.at_level is self

    def call(self, f: Function, args: tuple, kwargs: dict) -> Value:
        args = tuple(map(as_read, args))
        if kwargs:
            kwargs = {name: as_read(x) for name, x in kwargs.items()}
        rule = frule.find(None, f, args)
        # A composed function is no formula for tangents: its body may take NumPy's own numbers.
        if isinstance(rule, Kind) and rule.constant:
            return rule.answer(self, f, args, kwargs, False)
        options = {name: self.blocks(x) for name, x in kwargs.items()} if kwargs else kwargs
        y = run_on_block(f, tuple(map(self.blocks, args)), options)
        if type(y) is not Block:
            return y if type(y) in LEAVES else fold(self._wrapped, y)
        traced = self.wrap(y.values)
        views = type(traced) is BlockArray and getattr(rule, "views", False)
        if views and type(x := args[0]) is BlockArray and x.at_level is self:
            (_, *rest), options = rule.bind(f, args, kwargs)
            if not rest and self._is_view(rule, f, y.values, x.block, options):
                register_view(traced, x, f, options)
        return traced

    def _is_view(self, kind: Any, f: Function, y: Value, x: Any, options: dict) -> bool:
        """Say whether NumPy's ``f`` gives a view of each direction of ``x``."""
        y, x = bare(y), bare(x)
        if shares_memory(y, x):
            return True
        stacked = kind.block is None and not kind.axes  # one direction after the other
        if not stacked or self.count == 0:
            return False
        one = x[0, ...]
        return shares_memory(f(one, **options), one)

    def _wrapped(self, y: Value) -> Any:
        if type(y) is Block:
            return self.wrap(y.values)
        parts = children(y)
        return y if parts is None else Within(zip(parts.values), parts.rebuild)

    def getitem(self, x: Traced, index: Index) -> Value:
        if not is_basic(index):
            return call(getitem, (x, index), {})
        traced = self.wrap(x.block[led_index(index)])
        if type(traced) is BlockArray:
            register_view(traced, x, getitem, {"index": index})
        return traced

    def write(self, x: TracedArray, index: Index, v: Value) -> None:
        """Put a new block, in which ``v`` is written, into the array that owns the memory."""
        root, path = root_of(x)
        axes = axes_of(bare(root.block)[0]) if self.count else None
        given = Block(root.block), path, index, self.blocks(v), axes
        root.block = run_on_block(written, given, {}).values
        with suppress(AttributeError):
            del root.primal  # it was looked at
        forget(root)

    def refresh(self, view: TracedArray, root: TracedArray, path: Path) -> None:
        """Give ``view`` its block anew, along its path from ``root``."""
        view.block = follow(path, self.array(root.block)).block
