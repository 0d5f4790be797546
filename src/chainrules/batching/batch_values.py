"""Values of a batch: how a run on many items wraps their blocks, and what Python may ask of them.

``if x > 0`` looks at the items: where they answer alike the run goes on, else the batch is split.
"""

from collections.abc import Callable, Iterable
from typing import Any, TypeGuard

import numpy as np

from ..config import RuleConfig
from ..rules import Traced, dtype_of, is_traced, next_level, replaced, shape_of, value
from ..rules.annotations import Value
from ..rules.engines.engine import escaped
from ..rules.linear.block_level import BlocksLevel
from ..rules.tracing.classes.own_classes import is_of_its_own
from .batched import BatchedArray, BatchedNumber
from .item_errors import raise_of_items
from .pythons_numbers import OF_PYTHON, too_large
from .ways import Looked, OneByOne, Split, grouped

_array = np.ndarray


class BatchValues(BlocksLevel):
    """The part of a run on ``count`` items that makes values, and answers what is asked of them.

    A value stands for the number or array of one item. None is kept when the run has ended.
    """

    records = True
    __slots__ = (
        "config", "count", "given", "live", "made_objects", "number", "stop", "stops_at_looks",
        "under_way",
    )  # fmt: skip

    def __init__(self, count: int, config: RuleConfig, stops_at_looks: bool = False) -> None:
        self.config = config  # of the rules that users give for batches
        self.number = next_level()
        self.count = count
        self.stops_at_looks = stops_at_looks  # to be asked how the items go on
        self.live = True
        self.stop: BaseException | None = None  # by what ends the run, whoever handles it
        self.made_objects = False  # of numbers, whose dtype an array of none of them has lost
        self.given: tuple[tuple, list] | None = None  # the arguments, until one is written to
        self.under_way: list[Any] = []  # functions whose bodies are being run

    def close(self) -> None:
        """End the run: batched values that escaped raise from now on."""
        self.live = False
        self.given = self.stop = None

    # ---- blocks, and values ----

    def wrap(self, block: Any, of_python: bool = False) -> Any:
        """Return the batched value whose block is an array of shape ``(items, *shape)``.

        A number is one of Python's where ``of_python``.

        Raises
        ------
        OneByOne
            If the block is of a class of its own, whose operators may mean other things to items.
        """
        if type(block) is not _array and is_of_its_own(block):
            raise OneByOne(self, f"it computes a {type(block).__name__}")
        if (block.ndim if type(block) is _array else len(shape_of(block))) > 1:
            return self.array(block)
        whole = type(block) is _array and block.dtype.kind in "iu"
        if whole and of_python and block.dtype != np.int64:
            if (block > np.iinfo(np.int64).max).any():
                raise too_large(self)
            block = block.astype(np.int64)
        if whole and (block == block[0]).all():
            # A length, a place: plain where it is the same for all items.
            return block[0].item() if of_python else block[0]
        batched: Any = BatchedNumber()
        batched.at_level = self
        batched.block = block
        batched.of_python = of_python
        return batched

    def array(self, block: Value) -> Any:
        """Return the batched array whose items are in ``block``, also where they have no axes."""
        batched = BatchedArray()
        batched.base_and_path = None
        batched.at_level = self
        batched.block = block
        return batched

    def beside(self, xs: Iterable) -> tuple:
        """Give numbers of Python's the dtype that NumPy takes them in beside the other operands."""
        xs = tuple(xs)
        python = [self.carries(x) and type(x) is BatchedNumber and x.of_python for x in xs]
        if not any(python):
            return xs
        rest = zip(xs, python, strict=True)
        others = [dtype_of(x) for x, of_python in rest if not (of_python or type(x) in OF_PYTHON)]
        if not others or None in others:
            return xs

        def taken(x: Any) -> Any:
            weak = np.result_type(x.sample, *others)
            strong = np.result_type(x.dtype, *others)
            if weak == strong:
                return x
            if weak.kind in "iu":  # of a narrow type: where it does not fit, Python says so
                info = np.iinfo(weak)
                if np.any((x.block < info.min) | (x.block > info.max)):
                    raise OneByOne(self, f"an integer of Python's meets {weak}")
            return self.wrap(x.block.astype(weak))

        return tuple([taken(x) if is_so else x for x, is_so in zip(xs, python, strict=True)])

    def carries(self, x: Any) -> TypeGuard[Any]:
        """Say whether ``x`` is a value of this level."""
        kind = type(x)
        return (kind is BatchedArray or kind is BatchedNumber) and x.at_level is self

    def samples(self, x: Value) -> Any:
        """Put the plain value of the first item for each value of this level."""
        return replaced(lambda leaf: leaf.sample if self.carries(leaf) else leaf, x)

    def item(self, x: Value, k: int) -> Any:
        """Put the value of item ``k`` for each value of this level; traced where the block is."""

        def of_item(leaf: Value) -> Any:
            if not self.carries(leaf):
                return leaf
            y = leaf.block[k]
            if type(leaf) is BatchedNumber and leaf.of_python:
                return y.item()
            return y[...] if type(leaf) is BatchedArray and not shape_of(y) else y

        return replaced(of_item, x)

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
        Split, OneByOne, Looked
        """
        self.check_live()
        block = x.block
        if self.stops_at_looks:
            raise Looked(self)
        if kind != "bool" and is_traced(block):
            raise OneByOne(self, "a plain number is asked for, of numbers that are differentiated")
        plain = np.asarray(value(block))
        if kind == "bool" and plain.ndim == 1:
            truths = plain != 0
            if truths.all() or not truths.any():
                return bool(truths[0])
            places = [np.flatnonzero(truths), np.flatnonzero(~truths)]
        elif kind == "value":
            places = grouped([item.tobytes() for item in plain])  # which tells 0.0 from -0.0
            if len(places) == 1:
                return convert(x.sample, *args)
        else:
            try:
                seen = [convert(item, *args) for item in plain]
            except Exception as error:
                raise_of_items(self, error, convert, (x, *args), {})
            places = grouped([_key(part) for part in seen])
            if len(places) == 1:
                return seen[0]
        raise Split(self, places, kind)

    def check_live(self) -> None:
        """Raise ``EscapedTraceError`` where the run has ended."""
        if not self.live:
            raise escaped()


def _key(seen: Any) -> Any:
    """Return what tells two answers apart, to the sign of a zero."""
    if isinstance(seen, np.ndarray):
        return seen.dtype.str, seen.shape, seen.tobytes()
    return type(seen), repr(seen)
