"""Batch level: one run of a function on all items of a batch, by the batch forms of its operations.

``2 * np.sort(x)`` of a ``BatchedArray`` of shape (3,), whose block has shape (items, 3), computes
``2 * np.sort(block, axis=1)``. What has no batch form is called for one item after another.
"""

import builtins
import functools
import itertools
from collections.abc import Callable
from typing import Any, TypeGuard

import numpy as np
from numpy.typing import DTypeLike

from ..forward.blocks import write_block
from ..rules import (
    Block,
    Level,
    Traced,
    aligned,
    batch_rule,
    children,
    dtype_of,
    fold,
    frule,
    getitem,
    healed,
    innermost,
    is_primitive,
    is_traced,
    iterate_leaves,
    map_leaves,
    name_of,
    next_level,
    replaced,
    shape_of,
    spread,
    value,
)
from ..rules.annotations import Function, Index, Value
from ..rules.containers import LEAVES, Within
from ..rules.engines.buffers import is_writer, settled
from ..rules.engines.engine import escaped
from ..rules.engines.whole_calls import is_kept_whole, may_run, tells_only_structure
from ..rules.linear.blocks import at_once_on_blocks, led_index, rank_of
from ..rules.rulesets.functions.checkpoint import evaluate, repeat
from ..rules.rulesets.functions.map import accumulate, map, reduce, scan
from ..rules.signatures import RuleSignature
from ..rules.table.compositions import Composed
from ..rules.table.other_kinds import FreshArray
from ..rules.tracing.array import TracedArray
from ..rules.tracing.funnel import body
from ..rules.tracing.level import ONE
from ..rules.tracing.operands import is_basic, is_operand
from ..rules.tracing.object_arrays import is_object_array
from ..rules.tracing.views import (
    Path,
    copied,
    follow,
    is_draft,
    numbered_leaves,
    put_draft,
    register_view,
    root_of,
    shares_memory,
    view_by,
)
from ..rules.tracing.writing import begin_write, check_write, is_fresh, raised
from .batched import BatchedArray, BatchedNumber
from .config import BATCHES
from .gathering import Gather, holds_batched, is_mask, plain_slices, write_masked
from .ways import OneByOne, Split, grouped

_array = np.ndarray
_float64 = np.float64
_scalars = frule.scalars


class BatchLevel(Level):
    """One run on ``count`` items; its values stand for the number or array of one of them."""

    records = True
    __slots__ = ("count", "given", "live", "number", "one_by_one", "under_way")

    def __init__(self, count: int) -> None:
        self.number = next_level()
        self.count = count
        self.live = True
        self.given: tuple[tuple, list] | None = None  # the arguments, until one is written to
        self.under_way: list[Any] = []  # functions whose bodies are being run
        self.one_by_one: dict[str, str] = {}  # functions without a batch form, and a line of each

    def close(self) -> None:
        """End the run: batched values that escaped raise from now on."""
        self.live = False
        self.given = None

    # ---- blocks, and values ----

    def wrap(self, block: Value) -> Any:
        """Return the batched value whose block is an array of shape ``(items, *shape)``."""
        if len(shape_of(block)) > 1:
            return self.array(block)
        if type(block) is _array and block.dtype.kind in "iu" and self.count:
            if (block == block[0]).all():
                return block[0]  # a length, a place: plain where it is the same for all items
        batched: Any = BatchedNumber()
        batched.at_level = self
        batched.block = block
        return batched

    def array(self, block: Value) -> Any:
        """Return the same as an array, also where it has no axes."""
        batched = BatchedArray()
        batched.base_and_path = None
        batched.at_level = self
        batched.block = block
        return batched

    def carries(self, x: Any) -> TypeGuard[Any]:
        """Say whether ``x`` is a value of this level."""
        kind = type(x)
        return (kind is BatchedArray or kind is BatchedNumber) and x.at_level is self

    def blocks(self, x: Value) -> Any:
        """Put a ``Block`` for each value of this level that ``x`` is or holds."""
        if type(x) in LEAVES:
            return Block(x.block) if self.carries(x) else x
        return replaced(lambda leaf: Block(leaf.block) if self.carries(leaf) else leaf, x)

    def samples(self, x: Value) -> Any:
        """Put the plain value of the first item for each value of this level."""
        return replaced(lambda leaf: leaf.sample if self.carries(leaf) else leaf, x)

    def item(self, x: Value, k: int) -> Any:
        """Put the value of item ``k`` for each value of this level; traced where the block is."""

        def of_item(leaf: Value) -> Any:
            if not self.carries(leaf):
                return leaf
            y = leaf.block[k]
            return y[...] if type(leaf) is BatchedArray and not shape_of(y) else y

        return replaced(of_item, x)

    def spread(self, x: Value) -> Any:
        """Return the block of a value, of another level or plain, that is the same for each item."""
        return spread(x, self.count)

    def stopped(self, x: Any) -> Any:
        plain = value(x.block)
        if plain is x.block:
            return x
        return self.array(plain) if type(x) is BatchedArray else self.wrap(plain)

    def motion(self, x: Any) -> Any:
        block = x.block
        known = block.at_level.motion(block) if isinstance(block, Traced) else None
        return None if known is None else self.wrap(known)

    # ---- what Python asks ----

    def look(self, x: Any, kind: str, convert: Callable, args: tuple = ()) -> Any:
        """Return what ``convert`` sees in each item; where that is not the same, split the batch.

        Raises
        ------
        Split, OneByOne
        """
        self.check_live()
        block = x.block
        if kind != "bool" and is_traced(block):
            raise OneByOne(self, "a plain number is asked for, of numbers that are differentiated")
        if self.count == 0:
            return convert(x.sample, *args)
        plain = np.asarray(value(block))
        if kind == "bool" and plain.ndim == 1:
            answers: list = (plain != 0).tolist()
            if all(answers) or not any(answers):
                return answers[0]
            places = grouped(answers)
        elif kind == "value":
            rows = plain.reshape(self.count, -1)
            if self.count == 1 or (rows[1:] == rows[:1]).all():
                return convert(x.sample, *args)
            places = grouped([row.tobytes() for row in rows])
            if len(places) == 1:
                return convert(x.sample, *args)
        else:
            seen = [convert(item, *args) for item in plain]
            places = grouped([_key(part) for part in seen])
            if len(places) == 1:
                return seen[0]
        raise Split(self, places, kind)

    def check_live(self) -> None:
        """Raise ``EscapedTraceError`` where the run has ended."""
        if not self.live:
            raise escaped()

    # ---- operators ----

    def unary(self, ufunc: np.ufunc, operation: Callable, x: Any) -> Value:
        if ufunc in _scalars and self.live:  # the others may have several results
            return self.wrap(operation(x.block))
        return self.call(ufunc, (x,), {})

    def binary(self, ufunc: np.ufunc, operation: Callable, a: Any, b: Any) -> Value:
        type_a, type_b = type(a), type(b)
        a_batched = (type_a is BatchedNumber or type_a is BatchedArray) and a.at_level is self
        b_batched = (type_b is BatchedNumber or type_b is BatchedArray) and b.at_level is self
        if not (a_batched and b_batched):
            other, type_other = (b, type_b) if a_batched else (a, type_a)
            if type_other is not float and type_other is not int and type_other is not _float64:
                answer = self.meet(ufunc, operation, a, b, other)
                if answer is not None:
                    return answer
        if not self.live:
            raise escaped()
        if ufunc.nout > 1 or ufunc.signature is not None:
            return self.call(ufunc, (a, b), {})
        if a_batched and b_batched and type_a is type_b is BatchedNumber:
            return self.wrap(operation(a.block, b.block))
        x = Block(a.block) if a_batched else a
        z = Block(b.block) if b_batched else b
        rank = max(rank_of(x), rank_of(z))
        return self.wrap(operation(aligned(x, rank), aligned(z, rank)))

    def meet(self, ufunc: np.ufunc, operation: Callable, a: Value, b: Value, other: Value) -> Any:
        """Answer ``operation(a, b)`` where that is not for this level to do; None where it is."""
        if isinstance(other, Traced):
            if other.at_level.number > self.number:
                return other.at_level.binary(ufunc, operation, a, b)
        elif not is_operand(other):
            return NotImplemented
        elif type(other) is not _array and not isinstance(other, np.generic | float | int | complex):
            return self.call(operation, (a, b), {})  # of a list, or of a user's array
        elif is_object_array(other):
            return operation(healed(a), healed(other)) if other is b else operation(
                healed(other), healed(b)
            )
        return None

    def multiply_add(self, xbar: Any, ybar: Any, factor: Any) -> Value:
        known = xbar is None or (type(xbar) is BatchedNumber and xbar.at_level is self)
        kind = type(factor)
        if not known or not (kind is float or kind is _float64 or factor is ONE):
            return Level.multiply_add(self, xbar, ybar, factor)
        block = ybar.block if factor is ONE else ybar.block * factor
        return self.wrap(block if xbar is None else xbar.block + block)

    # ---- calls ----

    def call(self, f: Function, args: tuple, kwargs: dict) -> Value:
        self.check_live()
        args, kwargs = healed((args, kwargs))
        level = innermost((f, *args, *kwargs.values()))
        if level is not self:
            return body(f)(*args, **kwargs) if level is None else level.call(f, args, kwargs)
        by_user = batch_rule.given(BATCHES, f, args)
        if by_user is not None:
            return self.by_rule(by_user, f, args, kwargs)
        if tells_only_structure(f):
            return f(*self.samples(args), **self.samples(kwargs))
        kind = frule.find(None, f, args)
        runs = any(builtins.map(may_run, iterate_leaves((args, kwargs))))
        if runs or not is_kept_whole(f) or is_writer(f):
            return self.run_body(f, kind, args, kwargs, runs)
        if isinstance(kind, FreshArray):
            y = kind.run(f, self.samples(args), self.samples(kwargs))
            return self.constant(y) if is_fresh(y) else y
        return self.step(f, kind, args, kwargs)

    def run_body(self, f: Function, kind: Any, args: tuple, kwargs: dict, runs: bool) -> Any:
        """Run the Python of ``f`` on batched values, where it has no derivative of its own."""
        if isinstance(kind, Composed):
            return kind.answer(self, f, args, kwargs, False)
        hashable = type(f).__hash__ is not None
        if not is_kept_whole(f) or (hashable and f in STRUCTURAL):
            return body(f)(*args, **kwargs)
        raise OneByOne(self, f"{name_of(f)} calls a function, and is done for each item")

    def library(self, f: Function, args: tuple, kwargs: dict) -> Any:
        return self.each(f, self.stopped_all(args), self.stopped_all(kwargs))

    def stopped_all(self, x: Value) -> Any:
        return replaced(lambda leaf: self.stopped(leaf) if self.carries(leaf) else value(leaf), x)

    def by_rule(self, rule: RuleSignature, f: Function, args: tuple, kwargs: dict) -> Any:
        """Answer by a rule that a user gave for batches of arguments of ``f``."""
        args, kwargs = rule.bind(f, args, kwargs)
        batched = tuple([map_leaves(self.carries, x) for x in args])
        given = replaced(lambda leaf: leaf.block if self.carries(leaf) else leaf, args)
        y, are_batched = batch_rule.run(rule, BATCHES, self.count, batched, f, given, kwargs)
        flags = iter(iterate_leaves(_like(are_batched, y)))
        return map_leaves(lambda leaf: self.wrap(leaf) if next(flags) else leaf, y)

    def step(self, f: Function, kind: Any, args: tuple, kwargs: dict) -> Any:
        """Call ``f`` once for all items by its batch form, else for each."""
        if f is getitem:
            x, index = (*args, *kwargs.values())
            if holds_batched(index):
                return self.gathered(x, index)
        y = at_once_on_blocks(f, self.blocks(args), self.blocks(kwargs))
        if y is not NotImplemented:
            return self.result(y, f, args, kwargs)
        # The library's own value needs a call for each item anyway; and a body may ask it itself.
        if not isinstance(kind, Composed) or kind.keeps_own or f in self.under_way:
            return self.each(f, args, kwargs)
        self.under_way.append(f)
        try:
            return kind.answer(self, f, args, kwargs, False)
        finally:
            self.under_way.pop()

    def result(self, y: Any, f: Function, args: tuple, kwargs: dict) -> Any:
        """Wrap what a batch form gave; what is a view of an argument is tied to it."""
        numbers = isinstance(f, np.ufunc)
        if type(y) is Block:
            batched = self._of(y.values, f, args, kwargs, numbers)
            for x in args:
                if type(x) is BatchedArray and type(batched) is BatchedArray:
                    if batched.block is x.block:
                        return x
        else:
            batched = map_leaves(lambda x: self.wrap(x.values) if type(x) is Block else x, y)
        self.tie(batched, f, args, kwargs)
        return batched

    def _of(self, block: Any, f: Function, args: tuple, kwargs: dict, numbers: bool) -> Any:
        if len(shape_of(block)) > 1 or numbers:
            return self.wrap(block)
        # NumPy gives a number, or an array without axes: as it does for one item.
        with np.errstate(all="ignore"):
            one = f(*self.samples(args), **self.samples(kwargs))
        return self.array(block) if isinstance(one, _array) else self.wrap(block)

    def tie(self, y: Any, f: Function, args: tuple, options: dict) -> None:
        """Tie every array in ``y`` that is a view of an argument to it."""
        for k, x in enumerate(args):
            if type(x) is not BatchedArray:
                continue
            for leaf, part in numbered_leaves(y):
                untied = type(part) is BatchedArray and root_of(part)[0] is part
                if untied and part is not x and _is_shared(part.block, x.block):
                    given = {"f": f, "before": args[:k], "rest": args[k + 1 :], "options": options}
                    register_view(part, x, view_by, given, leaf)

    def each(self, f: Function, args: tuple, kwargs: dict) -> Any:
        """Call ``f`` for one item after another, and put the results together.

        Raises
        ------
        Split
            If they have not all the same structure.
        """
        if self.count == 0:
            return self.none_of(f(*self.samples(args), **self.samples(kwargs)))
        results = [
            f(*self.item(args, k), **self.item(kwargs, k)) for k in range(self.count)
        ]
        places = grouped([_structure(y) for y in results])
        if len(places) > 1:
            raise Split(self, places, f"the shape that {name_of(f)} gives")
        y = self.stacked(results)
        if any(type(x) is BatchedArray for x in args):
            self.tie_items(y, results[0], f, args, kwargs)
        return y

    def none_of(self, one: Any) -> Any:
        """Return the values of no items, each like ``one``."""

        def empty(leaf: Any) -> Any:
            if dtype_of(leaf) is None:
                return leaf
            block = np.zeros((0, *shape_of(leaf)), np.asarray(leaf).dtype)
            return self.array(block) if isinstance(leaf, _array) else self.wrap(block)

        return map_leaves(empty, one)

    def stacked(self, results: list) -> Any:
        """Return the results for all items, which have one structure, as one batched value."""
        parts = children(results[0])
        if parts is not None:
            rows = [children(y).values for y in results]  # type: ignore[union-attr]
            return parts.rebuild([self.stacked(list(column)) for column in zip(*rows)])
        first = results[0]
        if isinstance(first, bool | int) and all(y == first for y in results):
            return first
        if dtype_of(first) is None and not isinstance(first, bool | int):
            return first  # a text, None: the same for all, since it is a part of the structure
        block = np.stack(results)
        array = isinstance(first, _array) or type(getattr(first, "block", None)) is BatchedArray
        return self.array(block) if array else self.wrap(block)

    def tie_items(self, y: Any, first: Any, f: Function, args: tuple, kwargs: dict) -> None:
        """Refuse later writes into what is a view of an argument, item by item."""
        # A view of each item is no view of the block: it is tied by its path, and made anew.
        for k, x in enumerate(args):
            if type(x) is not BatchedArray:
                continue
            one = self.item(x, 0)
            again = f(*self.item(args[:k], 0), one, *self.item(args[k + 1 :], 0),
                      **self.item(kwargs, 0))
            for (leaf, part), (_, of_one) in zip(numbered_leaves(y), numbered_leaves(again)):
                if type(part) is BatchedArray and shares_memory(value(of_one), value(one)):
                    given = {"f": f, "before": args[:k], "rest": args[k + 1 :], "options": kwargs}
                    register_view(part, x, view_by, given, leaf)

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

    def gathered(self, x: Any, index: Index) -> Any:
        """Answer ``x[index]`` where each item has an index of its own."""
        parts = plain_slices(index)
        if not holds_batched(parts):
            return x[parts]
        if any(builtins.map(is_mask, parts)):
            return self.each(getitem, (x, index), {})
        block = x.block if self.carries(x) else self.spread(x)
        y = Gather(self, shape_of(block)[1:], parts).read(block)
        return self.array(y) if len(shape_of(y)) > 1 or ... in parts else self.wrap(y)

    # ---- arrays that are written to ----

    def constant(self, x: Value) -> Value:
        return self.array(np.array(self.spread(x)))

    def accumulator(self, shape: tuple[int, ...], dtype: DTypeLike | None) -> Value:
        return self.array(np.zeros((self.count, *shape), dtype))

    def add_at(self, xbar: Value, index: Index, ybar: Value) -> bool:
        if not (self.carries(xbar) and self.carries(ybar)) or not is_basic(index):
            return False
        held, given = xbar.block, ybar.block
        if type(held) is not _array or type(given) is not _array or held.dtype != given.dtype:
            return False  # one is traced, or wider
        held[led_index(index)] += given
        return True

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
        if not holds_batched(parts):
            block = write_block(self, path, block, parts or index, v)
        elif not self.scatter(block, path, parts, v):
            raise OneByOne(self, "a write at an index that each item has for itself")
        put_draft(root, (block,), "block")

    def scatter(self, block: Any, path: Path, parts: tuple, v: Value) -> bool:
        """Write where each item says; say whether there is a form for it."""
        target = follow(path, self.array(block)).block
        if path and not _is_shared(target, block):
            return False
        given = Block(v.block) if self.carries(v) else v
        if len(parts) == 1 and is_mask(parts[0]):
            return write_masked(target, Block(parts[0].block), given)
        if any(builtins.map(is_mask, parts)):
            return False
        return Gather(self, shape_of(target)[1:], parts).write(target, given)

    def publish(self, root: Any, draft: tuple) -> None:
        (root.block,) = draft

    def refresh(self, view: Any, root: Any, path: Path) -> None:
        """Give ``view`` its block anew, along its path from ``root``."""
        self.check_live()
        draft = root.memory.draft if is_draft(root) else None
        block = follow(path, self.array(root.block if draft is None else draft[0])).block
        view.block = block if draft is None else copied(block)


# Primitives whose Python is the loop that they are: it has the derivatives that they have.
STRUCTURAL = {
    accumulate, builtins.map, evaluate, functools.reduce, itertools.accumulate, map, reduce, repeat,
    scan,
}  # fmt: skip


def _keeps_array(index: Index) -> bool:
    return index is ... or (type(index) is tuple and ... in index)


def _is_shared(y: Any, x: Any) -> bool:
    return y is x or shares_memory(y, x)


def _key(seen: Any) -> Any:
    """Return what tells two answers apart."""
    if isinstance(seen, np.ndarray):
        return seen.dtype.str, seen.shape, seen.tobytes()
    return type(seen), repr(seen) if seen != seen else seen


def _structure(y: Any) -> Any:
    """Return what the results of all items must have in common: containers, shapes, texts."""
    parts = children(y)
    if parts is not None:
        return type(y), parts.keys, tuple(builtins.map(_structure, parts.values))
    if dtype_of(y) is not None or isinstance(y, int):
        return isinstance(y, np.ndarray), shape_of(y)
    return type(y), y if type(y).__hash__ is not None else id(y)


def _like(flags: Any, y: Any) -> Any:
    """Return a bool for each leaf of ``y``: one for all, or as containers say."""
    parts = None if isinstance(flags, bool) else children(flags)
    if parts is None:
        return map_leaves(lambda _: bool(flags), y)
    whole = children(y)
    return [_like(a, b) for a, b in zip(parts.values, whole.values, strict=True)]  # type: ignore[union-attr]
