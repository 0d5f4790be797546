"""One call on a batch: its items, the ways that they go, and their results put together."""

import functools
import threading
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ..config import (
    ArgumentValueError,
    BatchError,
    BatchWarning,
    HasBatchMode,
    NoForwardsMode,
    NoReverseMode,
    RuleConfig,
    user_line,
)
from ..config.lines import raised_at, warn_user
from ..config.numpy_warnings import as_before, settings, tell_user
from ..config.signals import ends_run
from ..rules import dtype_of, iterate_leaves, map_leaves, name_of, shape_of, spread
from ..rules.containers import LEAVES
from ..rules.engines.engine import run
from ..rules.rulesets.functions.map import results_of
from ..rules.rulesets.functions.scan import batch_lowerings, recordings
from ..rules.shapes import OBJECT
from ..rules.tracing.classes.other_classes import is_computed_with
from ..rules.tracing.views import bare, for_receiver
from ..rules.tracing.watching import stops
from .axes import Axes, Items, items_of_call, paired
from .batch_level import BatchLevel, WatchedBatch
from .batched import BatchedArray, BatchedNumber
from .joined import Stacked, joined_ways, none_of, own_class_in, stacked_items, without_stack
from .random_draws import Generators
from .shared_arguments import SharedArguments
from .ways import Looked, OneByOne, Split, is_told, tell


class Batch:
    """One call of a function on a batch: its items, and the ways that they go."""

    def __init__(self, f: Callable, call: tuple, items: Items, ways: int) -> None:
        self.f = f
        self.call = call
        self.leaves, self.batched, self.count = items
        self.ways = ways
        self.shared = SharedArguments()

    def results(self, out_axes: Axes) -> Any:
        """Run all items, and return their results with the axis of the items where it is wanted."""
        y = self.joined()
        if type(y) is Stacked and type(out_axes) is int:  # as most are
            return self._placed(y, out_axes, "the result") if out_axes else y.values
        leaves = iter([self._placed(*leaf) for leaf in paired(y, out_axes, "the result")])
        return map_leaves(lambda _: next(leaves), y)

    def _placed(self, y: Any, axis: int | None, place: str) -> Any:
        if type(y) is not Stacked:
            if axis is None or (dtype_of(y) is None and not isinstance(y, int)):
                return y
            values = (
                np.array(spread(y, self.count))
                if not hasattr(y, "at_level")
                else (np.broadcast_to(y, (self.count, *shape_of(y))))
            )
        elif axis is None:
            raise ArgumentValueError(
                f"{place} is not the same for all items, and out_axes says None.\n"
                "  say where its axis is to be, as out_axes=0"
            )
        else:
            values = y.values
        rank = len(shape_of(values))
        if not -rank <= axis < rank:
            raise ArgumentValueError(f"{place} has {rank} axes, and out_axes says {axis}.")
        return values if axis % rank == 0 else np.moveaxis(values, 0, axis)

    # ---- the ways that items go ----

    def joined(self) -> Any:
        """Run all items, and return their results, ``Stacked`` where they depend on the item."""
        if self.count == 0:
            return map_leaves(none_of, self._of_no_item())
        parts = self.checked_ways()
        if len(parts) == 1:
            _, y, level = parts[0]
            if type(y) is BatchedNumber and level.carries(y):  # as most are
                return self._of_all(y.block)
            if level is None:  # one item by itself
                return map_leaves(lambda leaf: stacked_items([leaf]), y)
            return map_leaves(
                lambda leaf: self._of_all(leaf.block) if level.carries(leaf) else leaf, y
            )
        order = np.argsort(np.concatenate([places for places, _, _ in parts]))
        return joined_ways([(y, level, len(places)) for places, y, level in parts], order, self.f)

    def _of_no_item(self) -> Any:
        """Return what ``f`` gives for an item of ones, or of zeros, whose shape results have."""
        for like in (np.ones, np.zeros):
            items = iter(
                [
                    like(shape_of(x)[1:], dtype_of(x))[()] if batched else x
                    for x, batched in zip(self.leaves, self.batched, strict=True)
                ]
            )
            args, kwargs = _with_leaves(self.call, items)
            try:
                with np.errstate(all="ignore"):
                    return self.f(*args, **kwargs)
            except Exception:
                if like is np.zeros:
                    raise
        return None

    def _of_all(self, block: Any) -> Stacked:
        """Return the results of all items, in memory of their own."""
        if type(block) is np.ndarray and not block.dtype.isnative:
            return Stacked(block.astype(block.dtype.newbyteorder("=")))  # as np.stack gives it
        return Stacked(for_receiver(block) if self._is_shared(block) else block)

    def _is_shared(self, block: Any) -> bool:
        """Say whether a block is in the memory of an argument, which is the caller's."""
        for x in self.leaves if type(block) is np.ndarray else ():
            plain = x if type(x) is np.ndarray else bare(x)
            if not isinstance(plain, np.ndarray):
                continue
            apart = block.base is plain.base is None and block is not plain  # each has its own
            if not apart and np.may_share_memory(block, plain):
                return True
        return False

    def checked_ways(self) -> list[tuple]:
        """Return, for each way, the places of its items, what ``f`` gave, and its level.

        Raises
        ------
        BatchError
            If ``f`` gives an array of a class of its own, whose stack is none.
        """
        done = self.run_ways()
        for _, y, _ in done:
            if type(y) is BatchedNumber:
                continue
            held = own_class_in(y)
            if held is not None:
                raise without_stack(held, self.f)
            for leaf in iterate_leaves(y):
                cls = type(leaf)
                if cls is BatchedNumber or cls is BatchedArray:
                    continue
                own = issubclass(cls, np.ndarray) and cls is not np.ndarray
                if own or not (dtype_of(leaf) is None or is_computed_with(cls)):
                    raise without_stack(cls, self.f)
        return done

    def run_ways(self) -> list[tuple]:
        self.generators = Generators(self.f, self.call)
        if batch_lowerings and recordings and self.ways > 1 and _is_recorded():
            try:
                return [self.run_at_once(range(self.count), stops_at_looks=True)]
            except (Looked, OneByOne, Split) as stop:
                if stop.level is not self.level:
                    raise
                lowered = self._lowered()
                if lowered is not None:
                    return [lowered]
            except Exception as error:
                if ends_run(error):
                    raise  # what else it is, is said below
        waiting: list[Any] = [range(self.count)]
        done: list[tuple] = []
        while waiting:
            places = waiting.pop()
            if len(places) == 1 and (self.count > 1 or done):
                done.append((places, self.run_item(places[0]), None))
                continue
            try:
                done.append(self.run_at_once(places))
                continue
            except Split as split:
                groups = self.groups_of(split, places)
                if len(done) + len(waiting) + len(groups) <= self.ways:
                    waiting += reversed(groups)
                    continue
                why, where = (
                    f"more than {self.ways} ways: they differ in {_asked(split)}",
                    split.line,
                )
            except OneByOne as stop:
                if stop.level is not self.level:
                    raise
                if self.ways == 1:
                    raise BatchError(f"{stop.why}, in {stop.line}.") from None
                why, where = stop.why, stop.line
                if stop.in_order:
                    return self._in_order(stop.why, stop.line)
            except Exception as error:
                if ends_run(error):
                    raise
                if self.shared.copies_after(error):
                    waiting.append(places)
                    continue
                if self.ways == 1:
                    raise
                # What stops the batch may be no error of any item: these say it, or go on.
                first = str(error).partition(chr(10))[0]
                why = f"all at once they raise {type(error).__name__}: {first.rstrip('.')}"
                where = raised_at(error)[0]
            done += self.run_each(np.asarray(places))
            _warn(self.f, why, where)
        if len(done) > 1 and (name := self.generators.drawn()):  # by items that went alone
            return self._in_order(f"it draws random numbers ({name})", user_line())
        if is_told():
            sizes = ", ".join(str(len(places)) for places, _, _ in done[:16])
            tell(f"vmap({name_of(self.f)}): {self.count} items in {len(done)} ways, of {sizes}")
        return done

    def _in_order(self, why: str, line: str) -> list[tuple]:
        """Run all items as a loop does, which draws random numbers in their order."""
        self.generators.restore()
        done = self.run_each(np.arange(self.count))
        _warn(self.f, why, line)
        return done

    def _lowered(self) -> tuple | None:
        """Return what all items give, as one step of a recording; None where it is not one."""
        for lower in batch_lowerings:
            given = self.f, self.call, self.leaves, self.batched, self.count, self.ways
            found = lower(*given, functools.partial(_warn, self.f))
            if found is not None:
                level = BatchLevel(self.count, BATCHES)
                stacks, fill = found
                y = fill(map(level.wrap, stacks))
                level.close()
                return np.arange(self.count), y, level
        return None

    def groups_of(self, split: Split, places: Any) -> list[np.ndarray]:
        """Return the items of each part of a batch that is split.

        Raises
        ------
        BatchError, or the error that some items raise
            If one way is allowed.
        """
        if split.level is not self.level:
            raise split
        if self.ways == 1 and isinstance(split.__cause__, Exception):
            split.__cause__.add_note(f"the items of a batch differ in {split.asked}: see ways=16")
            raise split.__cause__
        if self.ways == 1:
            raise BatchError(
                f"the items of a batch differ in {_asked(split)}, in {split.line}.\n"
                "  write it with np.where, or let vmap split the batch: ways=16"
            ) from None
        whole = type(places) is range  # of which each group has its places
        return split.groups if whole else [places[group] for group in split.groups]

    def run_at_once(self, places: Any, stops_at_looks: bool = False) -> tuple:
        batch_level = BatchLevel if stops() is None else WatchedBatch
        level = batch_level(len(places), BATCHES, stops_at_looks)
        self.level = level
        whole = len(places) == self.count
        wrapped = self.shared.lend(self.leaves, self.batched)
        for k, batched in enumerate(self.batched):
            if batched:
                x = self.leaves[k]
                wrapped[k] = level.wrap(x if whole else x[places])
        level.given = tuple(self.leaves), wrapped
        args, kwargs = self.call
        if args is self.leaves:  # arrays alone
            args = wrapped
        else:
            args, kwargs = _with_leaves(self.call, iter(wrapped))
        try:
            y = run(self.f, args, kwargs)
            blocks = _settled(y, level)
            if level.stop is not None:
                raise level.stop
        except (Exception, Split, OneByOne, Looked) as stop:
            if not ends_run(stop):
                self._refuse_draws(level)
                if level.stop is not None and stop is not level.stop:
                    raise level.stop from None
            raise
        finally:
            level.close()
        if self.generators.found:
            self._refuse_draws(level)
        for block in blocks:
            if getattr(block, "dtype", None) is OBJECT:
                raise OneByOne(level, "the result is an array of objects")
        if level.made_objects and any(type(block) is int for block in blocks):
            # It may be a float of an item: np.sum of np.arange(x), or of no entry of an array.
            one = iterate_leaves(self.run_item(places[0]))
            if any(type(block) is int and type(x) is not int for block, x in zip(blocks, one)):
                raise OneByOne(level, "an array of objects has another dtype than that of an item")
        return places, y, level

    def _refuse_draws(self, level: BatchLevel) -> None:
        """Refuse draws of random numbers, which are made for one item after another.

        Raises
        ------
        OneByOne
            If there were any.
        """
        if name := self.generators.drawn():
            raise OneByOne(level, f"it draws random numbers ({name})", in_order=True) from None

    def run_each(self, places: np.ndarray) -> list[tuple]:
        each = ((places[k : k + 1], self.run_item(place), None) for k, place in enumerate(places))
        return results_of(each, len(places), f"vmap({name_of(self.f)})")

    def run_item(self, k: int) -> Any:
        lent = self.shared.lend(self.leaves, self.batched)
        for place, batched in enumerate(self.batched):
            if batched:
                lent[place] = for_receiver(self.leaves[place][k])
        args, kwargs = _with_leaves(self.call, iter(lent))
        before = settings()
        try:
            tell_user(before)
            return self.f(*args, **kwargs)
        except Exception as error:
            if not self.shared.copies_after(error):
                raise
        finally:
            as_before(before)
        return self.run_item(k)


def _is_recorded() -> bool:
    """Say whether a recording is under way in this thread."""
    here = threading.get_ident()
    return any(recorder.thread == here for recorder in recordings)


def _warn(f: Callable, why: str, line: str) -> None:
    message = f"vmap({name_of(f)}) takes one item after another: {why}, in {line}."
    warn_user(BatchWarning(message))


def _asked(split: Split) -> str:
    return {
        "bool": "a condition",
        "index": "an index or a size",
        "int": "int(x)",
        "float": "a number that is asked for",
        "value": "a value that is asked for",
    }.get(split.asked, split.asked)


def _with_leaves(call: tuple, leaves: Iterator) -> tuple:
    args, kwargs = call
    if not kwargs and LEAVES.issuperset(map(type, args)):
        return list(leaves), kwargs  # as most are

    def put(_: Any) -> Any:
        return next(leaves)

    return [map_leaves(put, x) for x in args], {k: map_leaves(put, x) for k, x in kwargs.items()}


def _settled(y: Any, level: BatchLevel) -> list:
    """Return the blocks of the leaves of ``y``, which have them still when the run has ended."""
    if level.carries(y):
        return [y.block]
    leaves = [*iterate_leaves(y)]
    blocks = [x.block if level.carries(x) else x for x in leaves]
    if len(leaves) == 1:
        return blocks
    # An array that was read has taken their values from its views.
    return [x.block if level.carries(x) else x for x in leaves]


def call_on_batch(count: int, batched: tuple, f: Callable, args: tuple) -> tuple[Any, Any]:
    """Run ``f`` on a batch of arguments, and say which parts of the result are batched."""
    given = [
        leaf
        for k, (x, flags) in enumerate(zip(args, batched, strict=True))
        for leaf in paired(x, map_leaves(lambda b: 0 if b else None, flags), f"argument {k}")
    ]
    y = Batch(f, (args, {}), items_of_call(f, given, count), 16).joined()
    are_batched = map_leaves(lambda leaf: type(leaf) is Stacked, y)
    return map_leaves(lambda leaf: leaf.values if type(leaf) is Stacked else leaf, y), are_batched


class BatchConfig(RuleConfig, HasBatchMode, NoForwardsMode, NoReverseMode):
    """Config that rules for batches are handed: it calls back into the engine of ``cr.vmap``."""

    __slots__ = ()

    def batch_via_ad(
        self, axis_size: int, batched: tuple, f: Callable[..., Any], *args: Any
    ) -> tuple[Any, Any]:
        return call_on_batch(axis_size, batched, f, args)


BATCHES = BatchConfig()
