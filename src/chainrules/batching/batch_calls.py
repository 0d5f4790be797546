"""Calls on a batch: by the batch form of a function, by a user's rule, or for each item.

``np.sort(x)`` of a batch is ``np.sort(block, axis=1)``; Python code runs on the batched values, and
what has no form is called for one item after another.
"""

import builtins
import functools
import itertools
import types
from typing import Any

import numpy as np

from ..config import LostDerivativeError, user_line
from ..rules import (
    batch_rule,
    children,
    dtype_of,
    frule,
    getitem,
    healed,
    innermost,
    iterate_leaves,
    map_leaves,
    name_of,
    replaced,
    shape_of,
    value,
)
from ..rules.annotations import Function, Index, Value
from ..rules.engines.buffers import is_writer
from ..rules.engines.whole_calls import is_kept_whole, may_run, tells_only_structure
from ..rules.linear.blocks import Block, at_once_on_blocks, by_entries
from ..rules.rulesets.functions.checkpoint import evaluate, repeat
from ..rules.rulesets.functions.map import accumulate, map, reduce, results_of, scan
from ..rules.signatures import RuleSignature
from ..rules.table.compositions import Composed
from ..rules.table.linear_kinds import BilinearRule
from ..rules.table.other_kinds import FreshArray, Saved
from ..rules.tracing.classes.own_classes import is_of_its_own
from ..rules.tracing.funnel import body
from ..rules.tracing.object_arrays import may_need_healing, read_call, refuse_wrapped
from ..rules.tracing.views import (
    bare,
    numbered_leaves,
    register_view,
    root_of,
    shares_memory,
    view_by,
)
from ..rules.tracing.writing import is_fresh, mark_views_of_healed
from ..rules.tuples import constants_beside
from .axes import items_as, items_outermost
from .batch_values import BatchValues
from .batched import BatchedArray, BatchedNumber
from .gathering import Gather, holds_batched, is_mask, numbers_of_true, plain_slices, read_masked
from .item_errors import raise_of_items
from .pythons_numbers import OF_PYTHON
from .random_draws import Draws
from .ways import OneByOne, Split, grouped, is_told, tell

_array = np.ndarray
_HASHED = (np.ufunc, type(np.sum), types.FunctionType)
_PRODUCTS = {np.dot, np.matmul, np.vecdot}
# Of NumPy's functions those that give arrays where no axis is left, and of those that are called
# often the ones that give numbers.
_GIVES_ARRAYS = {np.where, np.tensordot, np.linalg.tensordot}
_GIVES_NUMBERS = {
    np.all, np.any, np.argmax, np.argmin, np.clip, np.linalg.det, np.linalg.norm, np.median, np.ptp,
}  # fmt: skip
# Primitives whose Python is the loop that they are: it has the derivatives that they have.
STRUCTURAL = {
    accumulate, builtins.map, evaluate, functools.reduce, itertools.accumulate, map, reduce, repeat,
    scan,
}  # fmt: skip


# Arguments that hold nothing traced, and call nothing.
_SETTINGS = frozenset({
    float, int, complex, bool, str, type(None), slice, type(...), np.float64, np.int64, np.bool_,
})  # fmt: skip
_steps: dict[Any, Any] = {}  # NumPy's functions of which each call is one step: their kinds


class BatchCalls(BatchValues):
    """The part of a run on many items that answers calls."""

    __slots__ = ()

    def call(self, f: Function, args: tuple, kwargs: dict) -> Value:
        self.check_live()
        if type(f) in _HASHED and f not in batch_rule.methods and self.are_plain(args, kwargs):
            if tells_only_structure(f):
                return f(*self.samples(args), **self.samples(kwargs))
            kind = frule.kinds.get(f) or frule.find(None, f, args)
            if kind is not None and (_steps.get(f) is kind or _is_step(f, kind)):
                if type(f) is not types.FunctionType:  # a user's is let go of
                    _steps[f] = kind
                return self.step(f, kind, args, kwargs)
        if may_need_healing((args, kwargs)):
            try:
                refuse_wrapped(f, self.samples(args), self.samples(kwargs))
                given, (args, kwargs) = args, healed(read_call(f, args, kwargs))
            except LostDerivativeError as error:  # NumPy's f asks it only where it is called inside
                why = f"{name_of(f)} meets a class that answers for itself"
                raise OneByOne(self, why) from error
            own = next(filter(is_of_its_own, iterate_leaves((args, kwargs))), None)
            if own is not None:  # whose class may mean another thing by a block than by an item
                raise OneByOne(self, f"{name_of(f)} meets a {type(own).__name__}")
            y = self.call_healed(f, args, kwargs)
            if len(given) == len(args):
                mark_views_of_healed(y, args, given)
            return y
        return self.call_healed(f, args, kwargs)

    def call_healed(self, f: Function, args: tuple, kwargs: dict) -> Value:
        """Answer a call whose arguments are healed."""
        level = innermost((f, *args, *kwargs.values()))
        if level is not self:
            return body(f)(*args, **kwargs) if level is None else level.call(f, args, kwargs)
        by_user = batch_rule.given(self.config, f, args)
        if by_user is not None:
            return self.by_rule(by_user, f, args, kwargs)
        if tells_only_structure(f):
            return f(*self.samples(args), **self.samples(kwargs))
        kind = frule.find(None, f, args)
        runs = any(builtins.map(may_run, iterate_leaves((args, kwargs))))
        if runs or not is_kept_whole(f) or is_writer(f):
            return self.run_body(f, kind, args, kwargs, runs)
        if isinstance(kind, Saved):
            raise OneByOne(self, f"{name_of(f)} writes into a file, and is done for each item")
        if isinstance(kind, FreshArray):
            y = kind.run(f, self.samples(args), self.samples(kwargs))
            return self.constant(y) if is_fresh(y) else y
        return self.step(f, kind, args, kwargs)

    def are_plain(self, args: Any, kwargs: dict) -> bool:
        """Say whether all arguments are values of this level, arrays and numbers, as most are."""
        batched = False
        for x in args:
            cls = type(x)
            if cls is BatchedNumber or cls is BatchedArray:
                if x.at_level is not self:
                    return False
                batched = True
            elif cls is _array:
                if x.dtype.hasobject:
                    return False
            elif cls is list or cls is tuple:
                if not _SETTINGS.issuperset(builtins.map(type, x)):
                    if not self.are_plain(x, {}):
                        return False
                    batched = True
            elif cls not in _SETTINGS:
                return False
        return batched and (not kwargs or _SETTINGS.issuperset(builtins.map(type, kwargs.values())))

    def run_body(self, f: Function, kind: Any, args: tuple, kwargs: dict, runs: bool) -> Any:
        """Run the Python of ``f`` on batched values, where it has no derivative of its own."""
        if isinstance(kind, Composed):
            return kind.run(*args, **kwargs)
        hashable = type(f).__hash__ is not None
        if not is_kept_whole(f) or (hashable and f in STRUCTURAL):
            return body(f)(*args, **kwargs)
        raise OneByOne(self, f"{name_of(f)} calls a function, and is done for each item")

    def library(self, f: Function, args: tuple, kwargs: dict) -> Any:
        args, kwargs = self.stopped_all(args), self.stopped_all(kwargs)
        for at_once in (by_entries, at_once_on_blocks):
            y = at_once(f, self.blocks(args), self.blocks(kwargs))
            if y is not NotImplemented:
                return map_leaves(lambda x: self.wrap(x.values) if type(x) is Block else x, y)
        return self.each(f, args, kwargs)

    def stopped_all(self, x: Value) -> Any:
        return replaced(lambda leaf: self.stopped(leaf) if self.carries(leaf) else value(leaf), x)

    def by_rule(self, rule: RuleSignature, f: Function, args: tuple, kwargs: dict) -> Any:
        """Answer by a rule that a user gave for batches of arguments of ``f``."""
        args, kwargs = rule.bind(f, args, kwargs)
        batched = tuple([map_leaves(self.carries, x) for x in args])
        given = replaced(lambda leaf: leaf.block if self.carries(leaf) else leaf, args)
        y, are_batched = batch_rule.run(rule, self.config, self.count, batched, f, given, kwargs)
        flags = iter(iterate_leaves(_like(are_batched, y)))
        return map_leaves(lambda leaf: self.wrap(leaf) if next(flags) else leaf, y)

    def step(self, f: Function, kind: Any, args: tuple, kwargs: dict) -> Any:
        """Call ``f`` once for all items by its batch form, else for each."""
        if f is getitem:
            x, index = (*args, *kwargs.values())
            if holds_batched(index):
                return self.gathered(x, index)
        if isinstance(kind, BilinearRule):
            if f in _PRODUCTS and len(args) == 2 and all(builtins.map(self.is_row, args)):
                a, b = args
                return self.wrap(np.vecdot(a.block, b.block))
            args = (*builtins.map(_as_array, args[:2]), *args[2:])
        if f is np.clip or isinstance(f, np.ufunc):
            args = self.beside(args)
        elif f is np.where:
            if len(args) + len(kwargs) == 1:  # as np.nonzero, places in each item
                return self.each(f, args, kwargs)
            args = (*args[:1], *self.beside(args[1:]))
        options = self.blocks(kwargs) if kwargs else kwargs
        try:
            y = at_once_on_blocks(f, tuple(builtins.map(self.blocks, args)), options)
        except Exception as error:
            raise_of_items(self, error, f, args, kwargs)
        if y is not NotImplemented:
            return self.result(y, f, kind, args, kwargs)
        # The library's own value needs a call for each item anyway; and a body may ask it itself.
        if not isinstance(kind, Composed) or kind.keeps_own or f in self.under_way:
            return self.each(f, args, kwargs)
        self.under_way.append(f)
        try:
            return kind.run(*args, **kwargs)
        finally:
            self.under_way.pop()

    def is_row(self, x: Any) -> bool:
        """Say whether ``x`` is a plain vector of real numbers for each item."""
        block = x.block if type(x) is BatchedArray and x.at_level is self else None
        return type(block) is _array and block.ndim == 2 and block.dtype.kind == "f"

    def result(self, y: Any, f: Function, kind: Any, args: tuple, kwargs: dict) -> Any:
        """Wrap what a batch form gave; what is a view of an argument is tied to it."""
        reduces = isinstance(kind, BilinearRule) or bool(getattr(kind, "axes", None))
        if f is np.ravel and type(y) is Block and not bare(y.values)[0].flags.c_contiguous:
            y = Block(np.copy(y.values))  # where a reshaped array would be a view, ravel copies
        if type(y) is Block:
            if not _is_view(y.values, args):
                y = Block(self.ordered(items_outermost(y.values), f, args, kwargs))
            batched = self._of(y.values, f, args, kwargs, reduces or isinstance(f, np.ufunc))
            for x in args if type(batched) is BatchedArray else ():
                if type(x) is BatchedArray and batched.block is x.block:
                    return x
        else:
            batched = map_leaves(lambda x: self.wrap(x.values) if type(x) is Block else x, y)
        self.tie(batched, f, args, kwargs)
        return batched

    def ordered(self, block: Any, f: Function, args: tuple, kwargs: dict) -> Any:
        """Return a block in the memory order that ``f`` gives the result of an item."""
        plain = isinstance(f, np.ufunc) or len(shape_of(block)) < 3
        if plain or not any(type(x) is BatchedArray and _is_reordered(x.block) for x in args):
            return block
        with np.errstate(all="ignore"):
            return items_as(block, f(*self.samples(args), **self.samples(kwargs)))

    def _of(self, block: Any, f: Function, args: tuple, kwargs: dict, numbers: bool) -> Any:
        if len(shape_of(block)) > 1:
            return self.wrap(block)
        known = f if type(f) in _HASHED else None
        if known in _GIVES_ARRAYS:
            return self.array(block)
        if numbers or known in _GIVES_NUMBERS:
            return self.wrap(block)
        # NumPy gives a number, or an array without axes: as it does for one item.
        with np.errstate(all="ignore"):
            one = f(*self.samples(args), **self.samples(kwargs))
        if isinstance(one, _array):
            return self.array(block)
        return self.wrap(block, type(one) in OF_PYTHON)

    def tie(self, y: Any, f: Function, args: tuple, options: dict) -> None:
        """Tie every array in ``y`` that is a view of an argument to it."""
        for k, x in enumerate(args):
            if type(x) is not BatchedArray:
                continue
            for leaf, part in numbered_leaves(y):
                untied = type(part) is BatchedArray and root_of(part)[0] is part
                if untied and part is not x and is_shared(part.block, x.block):
                    given = {"f": f, "before": args[:k], "rest": args[k + 1 :], "options": options}
                    register_view(part, x, view_by, given, leaf)

    def each(self, f: Function, args: tuple, kwargs: dict) -> Any:
        """Call ``f`` for one item after another, and put the results together.

        Raises
        ------
        Split
            If they have not all the same structure.
        """
        if is_told():
            tell(f"  item after item: {name_of(f)}, which has no batch form, in {user_line()}")

        def of_item(k: int) -> Any:
            return f(*self.item(args, k), **self.item(kwargs, k))

        draws = Draws((*args, *kwargs.values()))
        each = (draws.as_first(of_item, k) for k in range(self.count))
        try:
            results = results_of(each, self.count, name_of(f))
        except Exception as error:
            if draws.found:
                raise
            raise_of_items(self, error, f, args, kwargs)
        if draws.differ:
            raise OneByOne(self, f"{name_of(f)} draws unlike often for its items", in_order=True)
        places = grouped([_structure(y) for y in results])
        if len(places) > 1:
            raise Split(self, places, f"the shape that {name_of(f)} gives")
        y = self.stacked(results)
        if any(type(x) is BatchedArray for x in args):
            self.tie_items(y, f, args, kwargs)
        return y

    def stacked(self, results: list) -> Any:
        """Return the results for all items, which have one structure, as one batched value."""
        parts = children(results[0])
        if parts is not None:
            rows = [children(y).values for y in results]  # type: ignore[union-attr]
            return parts.rebuild([self.stacked(list(column)) for column in zip(*rows)])
        first = results[0]
        if all(type(y) is type(first) in (bool, int) and y == first for y in results):
            return first
        if dtype_of(first) is None and not isinstance(first, bool | int):
            return first  # a text, None: the same for all, since it is a part of the structure
        block = items_as(np.stack(results), first)
        array = isinstance(first, _array) or type(getattr(first, "block", None)) is BatchedArray
        return self.array(block) if array else self.wrap(block, type(value(first)) in OF_PYTHON)

    def tie_items(self, y: Any, f: Function, args: tuple, kwargs: dict) -> None:
        """Tie what is a view of an argument in each item, as NumPy says of plain arrays."""
        if not any(type(part) is BatchedArray for part in iterate_leaves(y)):
            return
        # A view of each item is no view of the block: after a write it is made anew, by its path.
        plain = value(self.samples(args))
        with np.errstate(all="ignore"):
            one = f(*plain, **value(self.samples(kwargs)))
        for k, x in enumerate(args):
            if type(x) is not BatchedArray:
                continue
            for (leaf, part), (_, of_one) in zip(numbered_leaves(y), numbered_leaves(one)):
                if type(part) is BatchedArray and shares_memory(of_one, plain[k]):
                    given = {"f": f, "before": args[:k], "rest": args[k + 1 :], "options": kwargs}
                    register_view(part, x, view_by, given, leaf)

    def gathered(self, x: Any, index: Index) -> Any:
        """Answer ``x[index]`` where each item has an index of its own."""
        parts = plain_slices(index)
        if not holds_batched(parts):
            return x[parts]
        block = x.block if self.carries(x) else self.spread(x)
        if any(builtins.map(is_mask, parts)):
            mask = parts[0].block if len(parts) == 1 and self.carries(parts[0]) else None
            if type(mask) is not _array or mask.ndim == 1:
                return self.each(getitem, (x, index), {})
            places = grouped(numbers_of_true(mask))
            if len(places) > 1:
                raise Split(self, places, "how many entries a mask takes")
            return self.array(read_masked(block, mask))
        try:
            y = Gather(self, shape_of(block)[1:], parts).read(block)
        except Exception as error:
            raise_of_items(self, error, getitem, (x, index), {})
        array = len(shape_of(y)) > 1 or any(part is ... for part in parts)
        return self.array(y) if array else self.wrap(y)


def _is_step(f: Function, kind: Any) -> bool:
    """Say whether each call of ``f`` with plain arguments is one step of a batch."""
    return is_kept_whole(f) and not is_writer(f) and not isinstance(kind, Saved | FreshArray)


def _as_array(x: Any) -> Any:
    """Return a number of Python's as an array, which products take it for."""
    return np.asarray(x) if type(x) in (int, float, complex) else x


def is_shared(y: Any, x: Any) -> bool:
    return y is x or shares_memory(y, x)


def _is_view(y: Any, args: tuple) -> bool:
    return any(type(x) is BatchedArray and is_shared(y, x.block) for x in args)


def _is_reordered(block: Any) -> bool:
    """Say whether the items of a block are arrays in another order than C."""
    plain = bare(block)
    return type(plain) is _array and plain.ndim > 2 and not plain.flags.c_contiguous


def _structure(y: Any) -> Any:
    """Return what the results of all items must have in common: containers, shapes, texts."""
    parts = children(y)
    if parts is not None:
        beside = constants_beside(y) if isinstance(y, tuple) else ()
        return type(y), parts.keys, tuple(builtins.map(_structure, parts.values)), *beside
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
