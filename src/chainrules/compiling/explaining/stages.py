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
from ..ir.printing import Operation, arguments_text, operand_text, short_name, shown
from ..ir.values import ComplexPair, Group, LoopInput, LoopResult, LoopValue, RealValue
from ..machine_code import natively
from ..passes.factor_sharing import Factor, factored
from ..passes.fusion import Fused
from ..passes.scalar_program import NativeLine
from ..passes.schedule import Stretch
from ..passes.source import NAME
from ..passes.stretches import Stretches
from ..record.cache_key import signature
from ..record.captured_state import Captured
from ..record.constants import Constants
from ..record.recorder import Recorder
from ..record.recording import record
from ..replay import Replay

STAGES = ("recorded", "factored", "grouped", "scheduled", "scalarized", "source", "llvm")
_NATIVE = ("builtin_function_or_method", "InPieces")  # types of native functions
_OF_LOOPS, _OF_SCALARS = ("grouped", "scheduled"), ("scalarized",)


class LineRecorder(Recorder):
    """Recorder that notes the user's line of each step."""

    __slots__ = ("lines",)

    def __init__(self, constants: Constants) -> None:
        super().__init__(constants)
        self.lines: list[str] = []

    def append(self, step: tuple | None, y: Any) -> None:
        super().append(step, y)
        self.lines.append(user_line())


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
        assert isinstance(recorder, LineRecorder)
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

    def _recorded(self) -> Iterator[Operation]:
        return self._steps(self.recorder.plan)

    def _factored(self) -> Iterator[Operation]:
        plan = factored(self.recorder)
        if plan is self.recorder.plan:
            return iter([Operation("", "as recorded: no factors of a matrix are shared")])
        return self._steps(plan)

    def _steps(self, plan: list[tuple]) -> Iterator[Operation]:
        recorder, at = self.recorder, 0
        for position in recorder.inputs:
            yield self._operation(position, "input")._replace(line="")
        for position, f, args, kwargs, *_ in plan:
            while at < len(recorder.looks) and recorder.looks[at][0] <= position:
                yield _guard(recorder.looks[at][1])
                at += 1
            if args and isinstance(args[0], Factor):
                args = (f"factors(v{args[0].position})", *args[1:])
                given = (args[0], *arguments_text(args[1:], kwargs))
            else:
                given = arguments_text(args, kwargs)
            yield self._operation(position, short_name(f), given)
        yield from (_guard(look) for _, look in recorder.looks[at:])
        yield Operation("", f"return {operand_text(self.output)}")

    def _operation(self, position: int, name: str, given: tuple[str, ...] = ()) -> Operation:
        form, line = self.recorder.forms[position], self.recorder.lines[position]
        return Operation(f"v{position}", name, given, shown(form), line)

    # ---- fused loops ----------------------------------------------------------------------------

    def _grouped(self) -> Iterator[Operation | str]:
        for item in self.lowered.groups.items:
            if isinstance(item, Group):
                yield f" loop over {item.shape}:"
                yield from self._in_loop(item)
            elif self.lowered.is_made(item):
                yield " call of NumPy:"
                given = arguments_text(item.args, item.kwargs)
                yield self._operation(item.position, short_name(item.f), given)

    def _in_loop(self, group: Group) -> Iterator[Operation]:
        values = {**group.of_step, **{p: stored.value for p, stored in group.stored.items()}}
        lines = [""] * len(group.ops)
        first = 0
        for position in sorted(values):
            last = max([first, *(n + 1 for n in _operations_in(values[position]))])
            lines[first:last] = [self.recorder.lines[position]] * (last - first)
            first = last

        def text(x: RealValue) -> str:
            if isinstance(x, LoopInput):
                return group.inputs[x.key][1]
            return f"%{x.number}" if isinstance(x, LoopResult) else str(x.x)

        for n, (name, *operands) in enumerate(group.ops):
            yield Operation(f"%{n}", name, tuple(map(text, operands)), "", lines[n])
        for position in sorted(values):
            value, reduction = values[position], None
            if position in group.stored:
                reduction = group.stored[position].reduction
            elif position not in self.lowered.groups.demanded:
                continue
            parts = value[:2] if type(value) is ComplexPair else (value,)
            yield self._operation(position, reduction or "store", tuple(map(text, parts)))

    def _scheduled(self) -> Iterator[Operation | str]:
        for part in self.lowered.parts:
            if isinstance(part, Stretch):
                yield f" native function, number of loops: {len(part.loops)}"
                for loop in part.loops:
                    made = ", ".join(f"v{p}" for p in loop.made)
                    name = f"loop over {loop.shape}, {len(loop.ops)} operations"
                    yield Operation(made, name, tuple(loop.given), "", self._line_of(loop.made))
            elif part:
                yield Operation("", part, (), "", self._line_of(_made_by(part)))

    def _line_of(self, positions: list[int]) -> str:
        return self.recorder.lines[positions[-1]] if positions else ""

    # ---- single numbers -------------------------------------------------------------------------

    def _scalarized(self) -> Iterator[Operation]:
        line = self.lowered.line
        steps = [position for position, *_ in self.recorder.plan]
        of_step = np.searchsorted(line.ends, np.arange(len(line.ops)), side="right")

        def text(x: int) -> str:
            return repr(line.constants[-x - 1]) if x < 0 else f"n{x}"

        for name in self.lowered.needed:
            op, *operands = line.ops[name - line.first]
            step = int(of_step[name - line.first])
            # Operations that guards ask for stand behind all steps.
            where = self.recorder.lines[steps[step]] if step < len(steps) else "guards"
            yield Operation(f"n{name}", op, tuple(map(text, operands)), "", where)

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
            yield text_of(*request)


def _guard(look: Look) -> Operation:
    seen = str(look).rpartition(": ")[2]
    return Operation("", "guard", (f"v{look.position}", seen), "", look.line)


def _operations_in(value: LoopValue) -> list[int]:
    """Return the numbers of the operations that a value of a loop is made of."""
    if type(value) is ComplexPair:
        return [n for part in value[:2] for n in _operations_in(part)]
    return [value.number] if type(value) is LoopResult else []


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
        known = ", ".join(map(repr, [*STAGES, "all"]))
        raise refusal("value of an option", name="stage", x=repr(stage), known=known)
    try:
        program = StagedProgram(f, args, kwargs, frozen, threads)
    except NotRecordable as error:
        return f"{name_of(f)} is not compiled: {error}"
    return at_stage(program, stage)
