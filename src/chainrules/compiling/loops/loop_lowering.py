"""Lowering of loops: ``scan``, ``loop`` and ``while_loop`` of recorded values become one step."""

import contextlib
import functools
import importlib
import types
from collections.abc import Callable
from typing import Any

import numpy as np

from ...config.thresholds import LOOP_NUMBERS, LOOP_ROUNDS, LOOP_SETTLES
from ...rules import Traced, iterate_leaves, replaced, value
from ...rules.linear.steps import Slot
from ...rules.rulesets.functions.closures import TakenOut
from ...rules.rulesets.functions.reachable import Reachable
from ...rules.rulesets.functions.scan import (
    concatenated,
    lowerings,
    pair_of,
    recordings,
    solver_lowerings,
)
from ...rules.rulesets.functions.sequences import copied, released, stack
from ...rules.rulesets.functions.while_loop import while_lowerings
from ...rules.signatures import content_of
from ..ir.forms import ValueForm
from ..ir.looks import NotRecordable, UnsuitedLoopError
from ..ir.references import CopyOf
from ..ir.scalars import NotLowered
from ..record.recorder import Recorder
from ..record.recording import ItemRecorder, UnrollingRecorder
from ..record.state.captured_state import Captured
from ..record.state.stateful import is_constant_code
from . import derivatives  # noqa: F401 - its rules
from .layout import RECORDED, RowLayout, checked_form, form_of, plain, row_form
from .native_loop import Items, NativeLoop, Step
from .reachable import held_by
from .ways import Layouts, native_way


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


def recorder_of(x: Any, nested: type[Recorder] | None = None) -> Recorder | None:
    """Return the recorder under the transforms of any leaf; None if it unrolls loops.

    One of type ``nested``, of a step or a callback, is returned, too.
    """
    for leaf in iterate_leaves(x):
        if isinstance(leaf, Traced) and type(recorded := value(leaf)) in RECORDED:
            recorder: Recorder = recorded.at_level
            unrolls = isinstance(recorder, UnrollingRecorder)
            return recorder if not unrolls or (nested and isinstance(recorder, nested)) else None
    return None


class LoopBuilder:
    """A loop that is being made of a step, of a user's function that may hold traced values."""

    def __init__(self, functions: Any, name: str) -> None:
        self.taken = TakenOut(functions)
        self.taken.hold_all()
        self.functions = functions
        self.name = name
        self.captured = list(self.taken.parameters)

    def with_functions(self, captured: Any, run: Callable) -> Any:
        """Return ``run(functions)``, of the functions with these values in place of theirs."""
        if not self.captured and self.taken.is_as_taken():
            return run(self.functions)
        return self.taken.run_with(list(captured), lambda functions, _: run(functions), self.name)

    def new_captured(self) -> Captured:
        """Return the captured state of the functions, in which those with values are entered.

        Other captured values are of the call that is being recorded, and as constant as all that
        it has computed without recorded values.
        """
        if not self.captured:
            return Captured((_nothing, self.functions), frozen=False)
        state = Captured((_nothing, ()), frozen=False)
        for f in Reachable(self.taken(*map(plain, self.captured))).objects.values():
            if isinstance(f, types.FunctionType) and not is_constant_code(f.__globals__):
                cells = map(content_of, f.__closure__ or ())
                state.enter(f.__code__, f.__globals__, dict(zip(f.__code__.co_freevars, cells)))
        return state

    def held(self) -> dict[int, tuple]:
        """Return what everything that is reached from the functions holds."""
        return held_by(self.functions)


def _nothing() -> None:
    """Stand for a function that captures nothing."""


class RowFunction:
    """A function of rows, ``call(functions, row)``, as a step that carries nothing.

    ``given`` is the structure of what it gives, which its first recording settles; ``name`` is what
    errors call it.
    """

    given: Structure

    def __init__(self, builder: LoopBuilder, call: Callable[[Any, list], Any], name: str) -> None:
        self.builder, self.call, self.name = builder, call, name

    def _step(self, settles: bool) -> Step:
        def run(_: list, captured: list, row: list) -> tuple[list, list]:
            def leaves(functions: Any) -> list:
                y = Structure(self.call(functions, row))
                if settles:
                    self.given = emptied(y)
                elif not y.same_but_for_numbers(self.given):
                    raise NotRecordable(f"{self.name} that changes the structure of what it gives")
                return y.leaves

            return [], self.builder.with_functions(captured, leaves)

        return Step(run, self.builder.new_captured, self.builder.held)

    def loop(
        self, captured: list, row: list, taken: RowLayout, items: Items | None = None
    ) -> tuple[NativeLoop, Recorder, list]:
        """Return the loop of it, with a recording at these values and the results of that.

        Raises
        ------
        NotRecordable, UnsuitedLoopError
        """
        none, held = RowLayout([]), RowLayout(map(form_of, captured))
        probe = NativeLoop(self._step(True), Layouts(none, held, taken, none), items=items)
        recorder, output = probe.recorded_way([], captured, row)
        forms = [form_of_output(recorder, x, any_order=items is not None) for x in output]
        layouts = Layouts(none, held, taken, RowLayout(forms))
        made = NativeLoop(self._step(False), layouts, items=items)
        made.captured = probe.captured
        return made, recorder, output


class Rounds:
    """The rounds of a loop: ``run(functions, carry, x)`` gives the next carry, and a row.

    ``goes_on(functions, carry)`` is the condition of a ``while`` loop.
    """

    def __init__(
        self, builder: LoopBuilder, run: Callable[..., tuple], goes_on: Callable | None = None
    ) -> None:
        self.builder, self.run, self.goes_on = builder, run, goes_on
        self.given = Structure(())
        self.in_item = False

    def step(self, carry: Structure, given: Structure | None) -> Step:
        """Return the step of leaves; with no ``given`` it notes what a round gives."""

        def run(leaves: list, captured: list, row: list) -> tuple[list, list]:
            x = row[0] if row else None

            def ran(functions: Any) -> tuple[list, list]:
                after, y = map(Structure, self.run(functions, carry.filled(leaves), x))
                if given is None:
                    self.given = y
                same = given is None or y.same_but_for_numbers(given)
                if not (same and after.same_but_for_numbers(carry)):
                    raise NotRecordable("a step that changes the structure of what it carries")
                return after.leaves, y.leaves

            return self.builder.with_functions(captured, ran)

        def goes_on(leaves: list, captured: list) -> bool:
            def ask(functions: Any) -> bool:
                return self.goes_on is None or bool(self.goes_on(functions, carry.filled(leaves)))

            return bool(self.builder.with_functions(captured, ask))

        checks = None if self.goes_on is None else goes_on
        return Step(run, self.builder.new_captured, self.builder.held, checks)

    def native(self, carry: Structure, column: Any) -> NativeLoop | None:
        """Return the loop, whose first way has been recorded; None if a round changes types.

        Raises
        ------
        NotRecordable, NotLowered
        UnsuitedLoopError
            If the round has done more than compute what it returns.
        """
        rows = [] if column is None else [form_of(0) if type(column) is range else row_form(column)]
        reads = Layouts(
            RowLayout(map(form_of, plain(carry.leaves))),
            RowLayout(map(form_of, plain(self.builder.captured))),
            RowLayout(rows),
            RowLayout([]),
        )
        if sum(layout.size for _, layout in reads.read) > LOOP_NUMBERS:
            raise NotLowered("a large array")
        first = [] if column is None else [column[0] if type(column) is range else _row(column)]
        values = plain(carry.leaves), plain(self.builder.captured), first
        probe = NativeLoop(self.step(carry, None), reads, in_item=self.in_item)
        recorder, output = probe.recorded_way(*values)
        forms = [form_of_output(recorder, x) for x in output]
        if forms[: len(reads.carry)] != reads.carry.forms:
            return None
        given = RowLayout(forms[len(reads.carry) :])
        layouts = Layouts(reads.carry, reads.captured, reads.taken, given)
        loop = NativeLoop(self.step(carry, emptied(self.given)), layouts, in_item=self.in_item)
        loop.captured = probe.captured
        loop.of_solver = self.goes_on is not None and bool(given.places)
        loop.bodies.append(native_way(recorder, output, layouts))
        return loop


def _row(column: np.ndarray) -> Any:
    return np.copy(column[0])[()]


def emptied(x: Structure) -> Structure:
    """Return the structure without the recorded values that were in it."""
    return Structure(x.filled([0.0] * len(x.leaves)))


def form_of_output(recorder: Recorder, x: Any, any_order: bool = False) -> ValueForm:
    """Return the form of a result, which a loop can carry.

    With ``any_order`` an array may lie otherwise in memory than the rows in which it is stored.

    Raises
    ------
    NotRecordable
    """
    is_result = isinstance(x, Slot | CopyOf)
    form = recorder.steps[x.position].form if is_result else ValueForm.of(x)
    if any_order and form is not None and form.array:
        form = ValueForm(True, form.kind, form.shape, "C")
    return checked_form(form, x)


def lowered_scan(f: Callable, carry: Any, xs: Any) -> tuple | None:
    """Return what ``scan`` gives, as one step of the recording; None where it is not one.

    Rounds that change types of what is carried, as of a Python float to one of NumPy's, are
    recorded one by one before.
    """
    carry, xs = released((carry, xs))
    if len(xs) < LOOP_ROUNDS or not _has_rows(xs):
        return None
    builder = LoopBuilder(f, "scan")
    rounds = Rounds(builder, lambda f, carry, x: pair_of(f(carry, x)))
    answer = _lowered(rounds, (carry, xs, builder.captured), carry, xs, f)
    if answer is None:
        return None
    _, carry, ys = answer
    return carry, ys


def lowered_while(cond: Callable, step: Callable, carry: Any) -> tuple | None:
    """Return what is carried after rounds while ``cond(carry)``, and their number and rows.

    ``step(carry)`` gives the next carry, and a row. None where the loop is not one step.
    """
    builder = LoopBuilder((cond, step), "while_loop")
    rounds = Rounds(
        builder,
        lambda functions, carry, _: functions[1](carry),
        lambda functions, carry: functions[0](carry),
    )

    def real_round(carry: Any, _: Any) -> Any:
        if not cond(carry):
            raise NotRecordable("a round that is not done")
        return step(carry)

    return _lowered(rounds, (carry, builder.captured), carry, None, real_round)


def _lowered(rounds: Rounds, reads: Any, carry: Any, xs: Any, step: Callable) -> tuple | None:
    """Return the number of rounds, the last carry and the rows, by a native loop; else None."""
    recorder = recorder_of(reads, ItemRecorder)
    if recorder is None:
        return None
    rounds.in_item = isinstance(recorder, ItemRecorder)
    before, ys = Structure(copied(carry)), list[Any]()
    try:
        while True:
            rest = None if xs is None else xs[len(ys) :]
            with recorder.unwatched():
                column = rest if type(rest) is range else plain(rest)
                loop = rounds.native(before, column)
            if loop is not None:
                break
            if len(ys) == LOOP_SETTLES:
                return None
            after, y = pair_of(step(before.template, None if xs is None else xs[len(ys)]))
            before = Structure(copied(after))
            ys.append(y if y is None else copied(y))
    except UnsuitedLoopError:
        raise
    except Exception:  # if it is the user's own, it comes again as the rounds are recorded
        return None
    columns = [] if rest is None else [np.asarray(rest) if type(rest) is range else rest]
    count = -1 if rest is None else len(rest)
    done, *y = loop(count, *before.leaves, *rounds.builder.captured, *columns)
    c = len(before.leaves)
    given = rounds.given.filled(y[c:])
    if ys:
        given = concatenated([stack(ys), given])
    return done + len(ys), before.filled(y[:c]), given


def _has_rows(xs: Any) -> bool:
    return type(xs) is range or isinstance(xs, np.ndarray | Traced)


def _imported(room: str, name: str) -> Callable[..., Any]:
    """Return a function that SciPy's are needed for: they are imported where it is called.

    To import is no part of a recording.
    """

    @functools.cache
    def lower() -> Callable[..., Any]:
        with contextlib.ExitStack() as unwatched:
            for recorder in recordings:
                unwatched.enter_context(recorder.unwatched())
            found: Callable[..., Any] = getattr(importlib.import_module(room, __package__), name)
        return found

    return lambda *given: lower()(*given)


lowerings.append(lowered_scan)
solver_lowerings["quad"] = _imported(".quadratures", "lowered_quad")
solver_lowerings["answer"] = _imported(".answers", "lowered_answer")
solver_lowerings["jet"] = _imported(".answer_jets", "jet_to_take")
while_lowerings.append(lowered_while)
