"""Lowering of loops: ``scan``, ``loop`` and ``while_loop`` of recorded values become one step."""

import types
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ...config.thresholds import LOOP_NUMBERS, LOOP_ROUNDS
from ...rules import Traced, iterate_leaves, replaced, value
from ...rules.rulesets.functions.closures import Graph, TakenOut
from ...rules.rulesets.functions.scan import concatenated, lowerings, pair_of
from ...rules.rulesets.functions.sequences import copied, released, stack
from ...rules.rulesets.functions.while_loop import while_lowerings
from ..ir.looks import NotRecordable
from ..ir.scalars import NotLowered
from ..record.captured_state import Captured
from ..record.recorder import Recorder
from ..record.recording import UnrollingRecorder
from ..record.stateful import is_constant_code
from . import derivatives  # noqa: F401 - its rules
from .layout import RECORDED, RowLayout, form_of, plain, row_form
from .native_loop import NativeLoop, Step
from .ways import Layouts

_SETTLES = 3  # rounds, after which the types of what is carried no longer change


class Structure:
    """A container of numbers and arrays: its leaves that are carried, and all else of it."""

    def __init__(self, x: Any) -> None:
        self.template = x
        self.leaves = [leaf for leaf in iterate_leaves(x) if _is_number(leaf)]

    def filled(self, leaves: Any) -> Any:
        """Return the container with other leaves."""
        rest = iter(leaves)
        return replaced(lambda x: next(rest) if _is_number(x) else x, self.template)

    def same_but_for_numbers(self, other: "Structure") -> bool:
        mine, its = (list(iterate_leaves(_without(x.template))) for x in (self, other))
        return (
            len(mine) == len(its)
            and all(a is b or (type(a) is type(b) and a == b) for a, b in zip(mine, its))
            and _shape_of(self.template) == _shape_of(other.template)
        )


def _is_number(x: Any) -> bool:
    known = isinstance(x, np.ndarray | float | np.number) or type(x) is int
    return known or isinstance(x, Traced)


def _without(x: Any) -> Any:
    return replaced(lambda leaf: None if _is_number(leaf) else leaf, x)


def _shape_of(x: Any) -> str:
    """Return the structure of containers as a text."""
    return repr(replaced(lambda leaf: 0, x))


def recorder_of(x: Any) -> Recorder | None:
    """Return the recorder under the transforms of any leaf; None if it unrolls loops."""
    for leaf in iterate_leaves(x):
        if isinstance(leaf, Traced) and type(recorded := value(leaf)) in RECORDED:
            recorder: Recorder = recorded.at_level
            return None if isinstance(recorder, UnrollingRecorder) else recorder
    return None


class LoopBuilder:
    """A loop that is being made of a step, of a user's function that may hold traced values."""

    def __init__(self, functions: Any, name: str) -> None:
        self.taken = TakenOut(functions)
        self.functions = functions
        self.name = name
        self.captured = list(self.taken.parameters)

    def with_functions(self, captured: Any, run: Callable) -> Any:
        """Return ``run(functions)``, of the functions with these values in place of theirs."""
        if not self.captured:
            return run(self.functions)
        return self.taken.run_with(list(captured), lambda functions, _: run(functions), self.name)

    def new_captured(self) -> Captured:
        """Return the captured state of the functions, in which those with values are entered."""
        if not self.captured:
            return Captured((_nothing, self.functions), frozen=False)
        state = Captured((_nothing, ()), frozen=False)
        for f in _functions_in(self.taken(*map(plain, self.captured))):
            state.enter(f.__code__, f.__globals__, _modules(f))
        return state


def _nothing() -> None:
    """Stand for a function that captures nothing."""


def _functions_in(x: Any) -> Iterator[types.FunctionType]:
    """Yield the functions that are reached from ``x``, but for those of libraries."""
    for part in Graph(x).objects.values():
        if isinstance(part, types.FunctionType) and not is_constant_code(part.__globals__):
            yield part


def _modules(f: types.FunctionType) -> dict:
    found = {}
    for name, cell in zip(f.__code__.co_freevars, f.__closure__ or ()):
        try:
            found[name] = cell.cell_contents
        except ValueError:  # not bound yet
            continue
    return found


def native_loop(
    builder: LoopBuilder,
    carry: Structure,
    given: Structure,
    column: Any,
    run: Callable[[Any, Any, Any], tuple],
    goes_on: Callable | None = None,
) -> NativeLoop:
    """Return the loop of ``run(functions, carry, x)``, whose first way has been recorded.

    Raises
    ------
    NotRecordable, NotLowered
    """
    rows = RowLayout([] if column is None else [_row_form(column)])
    layouts = Layouts(
        RowLayout(map(form_of, map(plain, carry.leaves))),
        RowLayout(map(form_of, map(plain, builder.captured))),
        rows,
        RowLayout(map(form_of, map(plain, given.leaves))),
    )
    if layouts.carry.size + layouts.captured.size + rows.size > LOOP_NUMBERS:
        raise NotLowered("a large array")

    def step(leaves: list, captured: list, row: list) -> tuple[list, list]:
        x = row[0] if row else None

        def ran(functions: Any) -> tuple[list, list]:
            after, y = map(Structure, run(functions, carry.filled(leaves), x))
            if not (after.same_but_for_numbers(carry) and y.same_but_for_numbers(given)):
                raise NotRecordable("a step that changes the structure of what it carries")
            return after.leaves, y.leaves

        return builder.with_functions(captured, ran)

    check = None
    if goes_on is not None:

        def check(leaves: list, captured: list) -> bool:
            ask = lambda functions: bool(goes_on(functions, carry.filled(leaves)))  # noqa: E731
            return bool(builder.with_functions(captured, ask))

    return NativeLoop(Step(step, builder.new_captured, check), layouts)


def _row_form(column: Any) -> Any:
    if type(column) is range:
        return form_of(0)
    return row_form(plain(column))


def lowered_scan(f: Callable, carry: Any, xs: Any) -> tuple | None:
    """Return what ``scan`` gives, its rounds but the first as one step; None where it is not one.

    The first rounds are recorded one by one, until the types of what is carried are settled.
    """
    carry, xs = released((carry, xs))
    if len(xs) < LOOP_ROUNDS or not _has_rows(xs):
        return None
    builder = LoopBuilder(f, "scan")
    recorder = recorder_of((carry, xs, builder.captured))
    if recorder is None:
        return None
    ys: list = []

    def first(carry: Any) -> Any:
        carry, y = pair_of(f(carry, xs[len(ys)]))
        ys.append(y if y is None else copied(y))
        return carry

    try:
        settled = settle(carry, first)
        if settled is None:
            return None
        loop = native_loop(
            builder, settled, Structure(ys[-1]), xs, lambda f, carry, x: pair_of(f(carry, x))
        )
        rest = xs[len(ys) :]
        row = [rest[0] if type(rest) is range else np.copy(plain(rest)[0])[()]]
        with recorder.unwatched():
            loop.add_way(plain(settled.leaves), plain(builder.captured), row)
    except (NotRecordable, NotLowered):
        return None
    column = np.asarray(rest) if type(rest) is range else rest
    _, *y = loop(len(rest), *settled.leaves, *builder.captured, column)
    c = len(settled.leaves)
    given = Structure(ys[-1]).filled(y[c:])
    return settled.filled(y[:c]), concatenated([stack(ys), given])


def lowered_while(cond: Callable, step: Callable, carry: Any) -> tuple | None:
    """Return what ``while_loop`` gives, in a tuple, as ``lowered_scan`` does; else None."""
    builder = LoopBuilder((cond, step), "while_loop")
    recorder = recorder_of((carry, builder.captured))
    if recorder is None:
        return None
    try:
        settled = settle(carry, step, cond)
        if settled is None:
            return None
        loop = native_loop(
            builder, settled, Structure(()), None,
            lambda functions, carry, _: (functions[1](carry), ()),
            lambda functions, carry: functions[0](carry),
        )  # fmt: skip
        with recorder.unwatched():
            loop.try_to(loop.add_way, plain(settled.leaves), plain(builder.captured), [])
    except (NotRecordable, NotLowered):
        return None
    if loop.unsuited:
        return None
    _, *y = loop(-1, *settled.leaves, *builder.captured)
    return (settled.filled(y),)


def settle(carry: Any, step: Callable, cond: Callable | None = None) -> Structure | None:
    """Do rounds until they change no type of what is carried; None if they go on to.

    A loop that ends before has changed nothing since.
    """
    before = Structure(copied(carry))
    for _ in range(_SETTLES):
        if cond is not None and not cond(before.template):
            return None
        after = Structure(copied(step(before.template)))
        if _forms(after) == _forms(before) and after.same_but_for_numbers(before):
            return after
        before = after
    return None


def _has_rows(xs: Any) -> bool:
    return type(xs) is range or isinstance(xs, np.ndarray | Traced)


def _forms(x: Structure) -> list:
    return [form_of(leaf) for leaf in map(plain, x.leaves)]


lowerings.append(lowered_scan)
while_lowerings.append(lowered_while)
