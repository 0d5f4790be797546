"""Stages of the compiler: a recording printed as each pass leaves it, for ``cr.explain``.

A call is recorded once more, with the user's line of each step. It goes through the passes that it
goes through when it is compiled. Nothing of the compiled function changes.
"""

import re
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ...config import user_line
from ...rules import name_of
from ...rules.refusals.table import refusal
from ..ir.looks import Look, NotRecordable
from ..ir.printing import PrintedLine, arguments_text, operand_text, short_name, shown
from ..ir.values import Group, LoopInput, LoopResult, LoopValue, RealValue, real_values
from ..machine_code import natively
from ..native.assembly.operation import INPUT, Operation
from ..passes.factor_sharing import factored
from ..passes.fused.fusion import Fused
from ..passes.fused.schedule import Schedule
from ..passes.replay import Replay
from ..passes.scalar.scalar_program import NativeLine
from ..passes.scalar.stretches import Stretches
from ..passes.source import NAME
from ..record.cache_key import signature
from ..record.recorder import Recorder
from ..record.recording import record
from ..record.state.captured_state import Captured
from .guards import seen_by

STAGES = ("recorded", "factored", "grouped", "scheduled", "scalarized", "source", "llvm")
_NATIVE = ("builtin_function_or_method", "InPieces")  # types of native functions
_OF_LOOPS, _OF_SCALARS = ("grouped", "scheduled"), ("scalarized",)


class LineRecorder(Recorder):
    """Recorder that notes the user's line of each step."""

    __slots__ = ()

    def append(self, *step: Any) -> None:
        super().append(*step)
        self.steps[-1] = self.steps[-1]._replace(line=user_line())


class StagedProgram:
    """One recorded call of a function, which prints itself at any stage.

    ``lowered`` is what the call runs as: a scalarized program, fused loops, or a replay.

    Raises
    ------
    NotRecordable
        If the call cannot be compiled.
    """

    def __init__(
        self, f: Callable, args: tuple, kwargs: dict, frozen: bool = False, threads: int = 1
    ) -> None:
        key, _ = signature(args, kwargs)
        captured = Captured((f, key), frozen)
        recorder, self.output, _ = record(f, args, kwargs, captured, LineRecorder)
        self.recorder = recorder
        native = natively(recorder, self.output, threads)
        self.lowered: Any = Replay(recorder, self.output) if native is None else native

    def text(self, stage: str) -> str:
        """Return the program at ``stage``, or why the program has no such stage."""
        if stage not in self.stages():
            return f"{stage}: no stage of this program, which is {self.kind()}"
        lines = getattr(self, f"_{stage}")()
        return "\n".join([f"{stage}:", *map(str, lines)])

    def stages(self) -> tuple[str, ...]:
        """Return the stages that this program goes through."""
        without: tuple[str, ...] = ()
        if not isinstance(self.lowered, Fused):
            without += _OF_LOOPS
        if not isinstance(self.lowered, NativeLine):
            without += _OF_SCALARS
        if isinstance(self.lowered, Replay):
            without += ("llvm",)
        return tuple(stage for stage in STAGES if stage not in without)

    def kind(self) -> str:
        """Say what the program is in the end."""
        if isinstance(self.lowered, Fused):
            return "fused loops"
        if isinstance(self.lowered, NativeLine):
            return "a program on single numbers"
        if isinstance(self.lowered, Stretches):
            return "native stretches between calls"
        why = self.recorder.not_native or "there is no llvmlite"
        return f"replayed by NumPy: {why}"

    # ---- steps ----------------------------------------------------------------------------------

    def _recorded(self) -> Iterator[PrintedLine]:
        return self._steps(self.recorder.plan)

    def _factored(self) -> Iterator[PrintedLine]:
        plan = factored(self.recorder)
        if plan is self.recorder.plan:
            return iter([PrintedLine("", "as recorded: no factors of a matrix are shared")])
        return self._steps(plan)

    def _steps(self, plan: dict[int, Operation]) -> Iterator[PrintedLine]:
        recorder, at = self.recorder, 0
        for position in recorder.inputs:
            yield self._result(position, INPUT)._replace(line="")
        for position, step in plan.items():
            while at < len(recorder.looks) and recorder.looks[at].before <= position:
                yield _guard(recorder.looks[at])
                at += 1
            yield self._operation(position, step)
        yield from map(_guard, recorder.looks[at:])
        yield PrintedLine("", f"return {operand_text(self.output)}")

    def _operation(self, position: int, step: Operation) -> PrintedLine:
        given = arguments_text(step.operands, step.options)
        return self._result(position, short_name(step.function), given)

    def _result(self, position: int, name: str, given: tuple[str, ...] = ()) -> PrintedLine:
        step = self.recorder.steps[position]
        return PrintedLine(f"v{position}", name, given, shown(step.form), step.line)

    # ---- fused loops ----------------------------------------------------------------------------

    def _grouped(self) -> Iterator[PrintedLine | str]:
        for item in self.lowered.groups.items:
            if isinstance(item, Group):
                yield f" loop over {item.shape}:"
                yield from self._in_loop(item)
            elif self.lowered.is_made(item):
                yield " call of NumPy:"
                yield self._operation(item.position, item.step)

    def _in_loop(self, group: Group) -> Iterator[PrintedLine]:
        values = {**group.of_step, **{p: stored.value for p, stored in group.stored.items()}}
        lines = [""] * len(group.ops)
        first = 0
        for position in sorted(values):
            last = max([first, *(n + 1 for n in _operations_in(values[position]))])
            lines[first:last] = [self.recorder.steps[position].line] * (last - first)
            first = last

        def text(x: RealValue) -> str:
            if isinstance(x, LoopInput):
                return group.inputs[x.key][1]
            return f"%{x.number}" if isinstance(x, LoopResult) else str(x.x)

        for n, op in enumerate(group.ops):
            yield PrintedLine(f"%{n}", op.function, tuple(map(text, op.operands)), "", lines[n])
        for position in sorted(values):
            how = "store"
            if position in group.stored:
                how = group.stored[position].how
            elif position not in self.lowered.groups.demanded:
                continue
            yield self._result(position, how, tuple(map(text, real_values(values[position]))))

    def _scheduled(self) -> Iterator[PrintedLine | str]:
        for part in self.lowered.parts:
            if isinstance(part, Schedule):
                yield f" native function, number of loops: {len(part.loops)}"
                for loop in part.loops:
                    made = ", ".join(f"v{p}" for p in loop.made)
                    name = f"loop over {loop.request.shape}, {len(loop.request.ops)} operations"
                    yield PrintedLine(made, name, tuple(loop.given), "", self._line_of(loop.made))
            elif part:
                yield PrintedLine("", part, (), "", self._line_of(_made_by(part)))

    def _line_of(self, positions: list[int]) -> str:
        return self.recorder.steps[positions[-1]].line if positions else ""

    # ---- single numbers -------------------------------------------------------------------------

    def _scalarized(self) -> Iterator[PrintedLine]:
        line = self.lowered.line
        steps = list(self.recorder.plan.values())
        of_step = np.searchsorted(line.ends, np.arange(len(line.ops)), side="right")

        def text(x: int) -> str:
            return repr(line.constants[-x - 1]) if x < 0 else f"n{x}"

        for name in self.lowered.needed:
            op = line.ops[name - line.first]
            step = int(of_step[name - line.first])
            # Operations that guards ask for stand behind all steps.
            where = steps[step].line if step < len(steps) else "guards"
            yield PrintedLine(f"n{name}", op.function, tuple(map(text, op.operands)), "", where)

    # ---- text of programs -----------------------------------------------------------------------

    def _source(self) -> Iterator[str]:
        for line in self.lowered.source.splitlines():
            where = self._line_of(_made_by(line.strip()))
            yield f"  {line:60} # {where}" if where else f"  {line}"
        if isinstance(self.lowered, Fused):
            names = self.lowered.writer.names
            known = [(name, f) for name, f in names.items() if re.fullmatch(r"c\d+", name)]
            yield from (f"  {name} is {_constant_text(f)}" for name, f in known)

    def _llvm(self) -> Iterator[str]:
        from ..native import text_of

        for request in self.lowered.requests():
            yield text_of(request)


def _guard(look: Look) -> PrintedLine:
    seen = seen_by(look)
    return PrintedLine("", "guard", (f"v{look.position}", seen), "", look.line)


def _operations_in(value: LoopValue) -> list[int]:
    """Return the numbers of the operations that a value of a loop is made of."""
    return [x.number for x in real_values(value) if type(x) is LoopResult]


def _made_by(line: str) -> list[int]:
    """Return the step whose result a line of source gives, if it is one."""
    name, equals, value = line.partition(" = ")
    made = equals and value != "None" and name.startswith("v") and NAME.fullmatch(name)
    return [int(name[1:])] if made else []


def _constant_text(x: Any) -> str:
    return "machine code" if type(x).__name__ in _NATIVE else operand_text(x)


def at_stage(program: StagedProgram, stage: str) -> str:
    """Return the text of one stage, or of "all" but LLVM's."""
    if stage != "all":
        return program.text(stage)
    return "\n".join(program.text(name) for name in program.stages() if name != "llvm")


def of_arguments(
    f: Callable, args: tuple, kwargs: dict, stage: str, frozen: bool = False, threads: int = 1
) -> str:
    """Return the program of one call at ``stage``, or why it is not compiled."""
    if stage not in (*STAGES, "all"):
        known = ", ".join(map(repr, [*STAGES, "all", "times"]))
        raise refusal("value of an option", name="stage", x=repr(stage), known=known)
    try:
        program = StagedProgram(f, args, kwargs, frozen, threads)
    except NotRecordable as error:
        return f"{name_of(f)} is not compiled: {error}"
    return at_stage(program, stage)
