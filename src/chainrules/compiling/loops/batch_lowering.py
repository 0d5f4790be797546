"""Lowering of batches: where items go ways of their own, all of them become one native loop."""

from collections.abc import Callable
from typing import Any

import numpy as np

from ...config.thresholds import ITEM_WAYS, LOOP_NUMBERS, LOOP_REFUSALS
from ...rules import map_leaves
from ...rules.containers import LEAVES
from ...rules.engines.engine import run
from ...rules.rulesets.functions.scan import batch_lowerings
from ..ir.looks import NotRecordable, UnsuitedLoopError
from ..ir.scalars import NotLowered
from .item_run import ItemRun
from .layout import RowLayout, form_of, plain, row_form
from .loop_lowering import LoopBuilder, Structure, emptied, form_of_output, recorder_of
from .native_loop import Items, NativeLoop, Step
from .ways import Layouts

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
    batch = _Batch(builder)
    try:
        with recorder.unwatched():
            loop = batch.native(columns, Items(max(ways, ITEM_WAYS), tell, ItemRun, compilers[0]))
    except UnsuitedLoopError:
        raise
    except Exception:  # if it is the user's own, it comes again as the batch is run
        return None
    _, *stacks = loop(count, *builder.captured, *columns)
    return stacks, batch.given.filled


class _Batch:
    """The items of a batch, as rounds of a loop that carries nothing."""

    def __init__(self, builder: LoopBuilder) -> None:
        self.builder = builder
        self.given = Structure(())

    def step(self, given: Structure | None) -> Step:
        def item(_: list, captured: list, row: list) -> tuple[list, list]:
            def call(functions: tuple) -> list:
                f, arguments = functions
                parts = iter(row)
                args, kwargs = map_leaves(lambda x: next(parts) if x is _ITEM else x, arguments)
                y = Structure(run(f, args, kwargs))
                if given is None:
                    self.given = emptied(y)
                elif not y.same_but_for_numbers(given):
                    raise NotRecordable("items that give other structures")
                return y.leaves

            return [], self.builder.with_functions(captured, call)

        return Step(item, self.builder.new_captured, self.builder.held)

    def native(self, columns: list, items: Items) -> NativeLoop:
        """Return the loop over the items, with the way of the first.

        Raises
        ------
        NotRecordable, UnsuitedLoopError
        """
        none = RowLayout([])
        captured = plain(self.builder.captured)
        held = RowLayout(map(form_of, captured))
        taken = RowLayout([row_form(x) for x in plain(columns)])
        row = [np.copy(x[0])[()] for x in plain(columns)]
        probe = NativeLoop(self.step(None), Layouts(none, held, taken, none), items=items)
        recorder, output = probe.recorded_way([], captured, row)
        given = RowLayout([form_of_output(recorder, x, any_order=True) for x in output])
        loop = NativeLoop(self.step(self.given), Layouts(none, held, taken, given), items=items)
        loop.captured = probe.captured
        try:
            if held.size + taken.size > LOOP_NUMBERS:
                raise NotLowered("a large array")
            loop.add_way([], captured, row)
        except NotLowered:
            loop.refused = LOOP_REFUSALS + 1
        return loop


batch_lowerings.append(lowered_batch)
