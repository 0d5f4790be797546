"""Batch level: one run of a function on all items of a batch, by the batch forms of its operations.

``2 * np.sort(x)`` of a ``BatchedArray`` of shape (3,), whose block has shape (items, 3), computes
``2 * np.sort(block, axis=1)``.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from ..forward.blocks import write_block
from ..rules import (
    Block,
    Level,
    Traced,
    aligned,
    batch_rule,
    frule,
    getitem,
    healed,
    shape_of,
)
from ..rules.accelerated import numbers
from ..rules.annotations import Index, Value
from ..rules.engines.buffers import settled
from ..rules.engines.engine import escaped
from ..rules.linear.blocks import led_index, rank_of
from ..rules.tracing.array import TracedArray
from ..rules.tracing.classes.other_classes import answer_of
from ..rules.tracing.level import ONE, type_under
from ..rules.tracing.object_arrays import is_object_array
from ..rules.tracing.operands import is_basic, is_operand
from ..rules.tracing.views import Path, copied, follow, is_draft, put_draft, register_view, root_of
from ..rules.tracing.watching import WatchedLevel
from ..rules.tracing.writing import begin_write, check_swap, check_write, raised
from .batch_calls import BatchCalls, is_shared
from .batched import BatchedArray, BatchedNumber, sample_of
from .gathering import Gather, holds_batched, is_mask, plain_slices, write_masked
from .item_errors import raise_of_items
from .pythons_numbers import computed, operand
from .ways import OneByOne

_array = np.ndarray
_float64 = np.float64
_scalars = frule.scalars
_NUMBERS = {float, int, bool, complex, np.float64}
_EQUALITIES = (np.equal, np.not_equal)
_COMPARISONS = (*_EQUALITIES, np.less, np.less_equal, np.greater, np.greater_equal)


class BatchLevel(BatchCalls):
    """One run on ``count`` items; its values stand for the number or array of one of them."""

    __slots__ = ()

    # ---- operators ----

    def unary(self, ufunc: np.ufunc, operation: Callable, x: Any) -> Value:
        of_python = operation is not ufunc and type(x) is BatchedNumber and x.of_python
        if (of_python or ufunc in _scalars) and self.live:  # the others may have several results
            block = operand(self, x.block) if of_python else x.block
            try:
                y = operation(block)
            except Exception as error:
                raise_of_items(self, error, operation, (x,), {})
            return self.wrap(y, of_python)
        return self.call(ufunc, (x,), {})

    def binary(self, ufunc: np.ufunc, operation: Callable, a: Any, b: Any) -> Value:
        type_a, type_b = type(a), type(b)
        a_batched = (type_a is BatchedNumber or type_a is BatchedArray) and a.at_level is self
        b_batched = (type_b is BatchedNumber or type_b is BatchedArray) and b.at_level is self
        if ufunc not in _scalars and (ufunc.nout > 1 or ufunc.signature is not None):
            return self.call(ufunc, (a, b), {})
        if not self.live:
            raise escaped()
        of_a = a_batched and type_a is BatchedNumber and a.of_python
        of_b = b_batched and type_b is BatchedNumber and b.of_python
        if of_a is not of_b:  # one of Python's beside one of NumPy's, or a plain one
            a, b = self.beside((a, b))
        if a_batched and b_batched:
            if type_a is type_b is BatchedNumber:
                if of_a and of_b and operation is not ufunc:
                    return self.as_python(ufunc, operation, a.block, b.block)
                return self.wrap(self.computed(operation, a.block, b.block, a, b))
        else:
            other, type_other = (b, type_b) if a_batched else (a, type_a)
            if type_other in _NUMBERS:
                x, z = (a.block, b) if a_batched else (a, b.block)
                if (of_a or of_b) and type_other is not _float64 and operation is not ufunc:
                    return self.as_python(ufunc, operation, x, z)
                return self.wrap(self.computed(operation, x, z, a, b))
            answer = self.meet(ufunc, operation, a, b, other)
            if answer is not None:
                return answer
        x = Block(a.block) if a_batched else a
        z = Block(b.block) if b_batched else b
        rank = max(rank_of(x), rank_of(z))
        x, z = aligned(x, rank), aligned(z, rank)
        block = None
        if rank > 1 and ufunc is np.multiply and numbers is not None:
            block = numbers.outer_product(x, z)
        return self.wrap(self.computed(operation, x, z, a, b) if block is None else block)

    def computed(self, operation: Callable, x: Any, z: Any, a: Any, b: Any) -> Any:
        """Return ``operation(x, z)`` of the blocks of ``a`` and ``b``."""
        try:
            return operation(x, z)
        except Exception as error:
            raise_of_items(self, error, operation, (a, b), {})

    def as_python(self, ufunc: np.ufunc, operation: Callable, x: Value, z: Value) -> Value:
        """Return ``operation(x, z)`` of numbers of Python's."""
        return self.wrap(computed(self, ufunc, operation, x, z), True)

    def meet(self, ufunc: np.ufunc, operation: Callable, a: Value, b: Value, other: Value) -> Any:
        """Answer ``operation(a, b)`` where that is not for this level to do; None where it is."""
        if isinstance(other, Traced):
            if other.at_level.number > self.number:
                return other.at_level.binary(ufunc, operation, a, b)
        elif not is_operand(other, b if other is a else a):
            if ufunc in _COMPARISONS and isinstance(other, float | int | complex):
                # A number of Python's, beside which an item is asked in another order.
                raise OneByOne(self, f"a comparison meets a {type(other).__name__}")
            batched: Any = b if other is a else a
            if isinstance(other, str | bytes) and batched.dtype.kind in "US":
                # Of one text Python asks the other, which knows of no batch: they differ, it says.
                texts = [x.block if x is batched else x for x in (a, b)]
                return self.wrap(operation(*texts))
            y = answer_of(ufunc, operation, a, b, other)
            sequence = hasattr(other, "__getitem__") and not isinstance(other, str | bytes | dict)
            if y is NotImplemented and sequence and ufunc in _EQUALITIES:
                # Python would ask whether the two are the same; NumPy reads a sequence.
                raise OneByOne(self, f"a comparison meets a {type(other).__name__}")
            return y
        elif type(other) is not _array and not isinstance(
            other, np.generic | float | int | complex
        ):
            # Of a list, or of a user's array, which a number of NumPy's on its left does not ask.
            number = other is b and issubclass(type_under(a), np.generic)
            return self.call(ufunc if number else operation, (a, b), {})
        elif is_object_array(other):
            return operation(healed(a), healed(b))
        return None

    def multiply_add(self, xbar: Any, ybar: Any, factor: Any) -> Value:
        known = xbar is None or (type(xbar) is BatchedNumber and xbar.at_level is self)
        kind = type(factor)
        if not known or not (kind is float or kind is _float64 or factor is ONE):
            return Level.multiply_add(self, xbar, ybar, factor)
        block = ybar.block if factor is ONE else ybar.block * factor
        return self.wrap(block if xbar is None else xbar.block + block)

    # ---- indexing ----

    def getitem(self, x: Any, index: Index) -> Value:
        if not is_basic(index):
            return self.call(getitem, (x, index), {})
        self.check_live()
        led = led_index(index)
        if is_draft(x):
            (block,) = x.memory.draft
            y = block[led]
            if len(shape_of(y)) == 1 and not _keeps_array(index):
                return self.wrap(np.copy(y))
            view = BatchedArray()
            view.at_level = self
            view.base_and_path = x, ((getitem, {"index": index}, None),)
            return view
        y = x.block[led]
        if len(shape_of(y)) == 1 and not _keeps_array(index):
            return self.wrap(y)
        view = self.array(y)
        if type(x) is BatchedArray:
            register_view(view, x, getitem, {"index": index})
        return view

    # ---- arrays that are written to ----

    def add_at(self, xbar: Value, index: Index, ybar: Value) -> bool:
        known = self.carries(xbar) and is_basic(index)
        return known and super().add_at(xbar, index, ybar)

    def write(self, x: TracedArray, index: Index, v: Value) -> None:
        """Do ``x[index] = v`` in the array that owns the memory of ``x``."""
        self.check_live()
        v = healed(settled(v))
        root, path = root_of(x)
        draft = begin_write(root)
        block = copied(root.block) if draft is None else draft[0]
        given = v.block if self.carries(v) else v
        if not self.carries(v):
            check_write(block, v, self)
        block = raised(block, given)
        parts = plain_slices(index) if holds_batched(index) else ()
        moved = None
        if not holds_batched(parts):
            moved = check_swap(x, parts or index, v, sample_of(block))
            block = write_block(self, path, block, parts or index, v)
        elif not self.scatter(x, block, path, parts, v):
            raise OneByOne(self, "a write at an index that each item has for itself")
        put_draft(root, (block,), "block", moved=moved)

    def scatter(self, x: Any, block: Any, path: Path, parts: tuple, v: Value) -> bool:
        """Write where each item says; say whether there is a form for it."""
        target = follow(path, self.array(block)).block
        if path and not is_shared(target, block):
            return False
        given = Block(v.block) if self.carries(v) else v
        if len(parts) == 1 and is_mask(parts[0]):
            return write_masked(target, Block(parts[0].block), given)
        if any(map(is_mask, parts)):
            return False
        try:
            return Gather(self, shape_of(target)[1:], parts).write(target, given)
        except Exception as error:

            def write(index: Index, v: Value) -> None:
                np.zeros(x.shape, x.dtype)[index] = v

            raise_of_items(self, error, write, (parts, v), {})

    def publish(self, root: Any, draft: tuple) -> None:
        (root.block,) = draft

    def refresh(self, view: Any, root: Any, path: Path) -> None:
        """Give ``view`` its block anew, along its path from ``root``."""
        self.check_live()
        draft = root.memory.draft if is_draft(root) else None
        block = follow(path, self.array(root.block if draft is None else draft[0])).block
        view.block = block if draft is None else copied(block)


class WatchedBatch(WatchedLevel, BatchLevel):
    """A batch level that stops at numbers that are wanted, for ``cr.debug``."""

    __slots__ = ()


def _keeps_array(index: Index) -> bool:
    return index is ... or (type(index) is tuple and ... in index)


if numbers is not None:
    numbers.register_batches(
        BatchLevel, BatchedNumber, BatchedArray, np.where, np.clip, np.sum, batch_rule.methods
    )
