"""Lowering of batches: where items go ways of their own, all of them become one native loop."""

from collections.abc import Callable
from typing import Any

import numpy as np

from ...config.thresholds import ITEM_WAYS, LOOP_NUMBERS, LOOP_REFUSALS
from ...rules import map_leaves
from ...rules.containers import LEAVES
from ...rules.engines.engine import run
from ...rules.rulesets.functions.scan import batch_lowerings
from ..ir.looks import UnsuitedLoopError
from ..ir.scalars import NotLowered
from .item_run import ItemRun
from .layout import RowLayout, plain, row_form
from .loop_lowering import LoopBuilder, RowFunction, recorder_of
from .native_loop import Items, NativeLoop

# What compiles an item without a native form, once compiling has begun.
compilers: list[Callable[..., Callable]] = []


class _Item:
    """Stand for an argument that each item has for itself."""


_ITEM = _Item()
LEAVES.add(_Item)


def lowered_batch(
    f: Callable,
    call: tuple,
    leaves: list,
    batched: list[bool],
    count: int,
    ways: int,
    tell: Callable[[str, str], None],
) -> tuple[Any, Callable] | None:
    """Return the stacks of what the items give, and what fills the structure with such leaves.

    None where the batch is no native loop. ``call`` are the arguments, of the ``leaves`` that are
    ``batched``, or are the same for all items.
    """
    columns = [x for x, each in zip(leaves, batched, strict=True) if each]
    shared = iter([_ITEM if each else x for x, each in zip(leaves, batched, strict=True)])
    functions = f, map_leaves(lambda _: next(shared), call)
    recorder = recorder_of((leaves, functions))
    if recorder is None or not count:
        return None
    builder = LoopBuilder(functions, "vmap")
    item = RowFunction(builder, _item, "an item")
    items = Items(max(ways, ITEM_WAYS), tell, ItemRun, compilers[0])
    try:
        with recorder.unwatched():
            loop = _native(item, columns, items)
    except UnsuitedLoopError:
        raise
    except Exception:  # if it is the user's own, it comes again as the batch is run
        return None
    _, *stacks = loop(count, *builder.captured, *columns)
    return stacks, item.given.filled


def _item(functions: tuple, row: list) -> Any:
    f, arguments = functions
    parts = iter(row)
    args, kwargs = map_leaves(lambda x: next(parts) if x is _ITEM else x, arguments)
    return run(f, args, kwargs)


def _native(item: RowFunction, columns: list, items: Items) -> NativeLoop:
    """Return the loop over the items, with the way of the first.

    Raises
    ------
    NotRecordable, UnsuitedLoopError
    """
    columns, captured = plain(columns), plain(item.builder.captured)
    row = [np.copy(x[0])[()] for x in columns]
    loop, *_ = item.loop(captured, row, RowLayout(map(row_form, columns)), items)
    try:
        if loop.layouts.captured.size + loop.layouts.taken.size > LOOP_NUMBERS:
            raise NotLowered("a large array")
        loop.add_way([], captured, row)
    except NotLowered:
        loop.refused = LOOP_REFUSALS + 1
    return loop


batch_lowerings.append(lowered_batch)
