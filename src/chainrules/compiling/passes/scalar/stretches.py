"""Native stretches: what a recording does with numbers between the steps that are called.

A solver, a decomposition of a matrix, or a function that has no native form, is called; what stands
between two of them is one native function on numbers. So a program is not replayed by NumPy as a
whole because of one step.
"""

import operator
from collections.abc import Iterator
from typing import Any, cast

from ....config.numpy_warnings import telling_user
from ....config.thresholds import STRETCH_SHORT, STRETCH_STEPS, STRETCHES
from ....rules import iterate_leaves
from ....rules.linear.steps import Slot, part_at
from ...ir.forms import ValueForm
from ...ir.looks import STRUCTURE, TRUTHS, Look
from ...ir.references import CopyOf
from ...ir.scalars import FLOATS, Names, NotLowered, refuse_last_bits
from ...native import Request
from ...native.assembly.operation import INPUT, Operation
from ...record.recorder import Recorder
from ..source import Run, Writer, defined
from .scalar_program import NativeLine
from .scalar_trace import ScalarTrace

_PARTS = (operator.getitem, part_at)  # of a result with several


def calls_in(recorder: Recorder) -> set[int]:
    """Return the steps without a native form: what each gives is an input of those behind it."""
    trace, calls = ScalarTrace(recorder.steps), set()
    given = {position: _input(trace, step.form) for position, step in recorder.plan.items()}
    for position in recorder.inputs:
        trace.values[position] = _input(trace, recorder.steps[position].form)
    trace.first = len(trace.inputs)
    for position, step in recorder.plan.items():
        try:
            y = trace.lowered(step)
        except Exception:  # a step with options that its lowering does not know, too
            y = None
        if y is None or (type(y) is list and not all(type(part) is Names for part in y)):
            calls.add(position)
            y = given[position]
        trace.add(position, y)
    return calls


def _input(trace: ScalarTrace, form: ValueForm | None) -> Names | None:
    """Return the names of an input; None where what reads it is called."""
    if form is not None and form.kind is int:
        return None  # it may be as large as it likes
    try:
        return trace.input(form)
    except NotLowered:
        return None


class NativeStretch:
    """A piece of a recording, as what makes native code of it reads a whole one."""

    def __init__(self, recorder: Recorder) -> None:
        self.steps, self.constants = recorder.steps, recorder.constants
        self.plan: dict[int, Operation] = {}
        self.last_reads: dict[int, tuple[int, ...]] = {}  # its results live as long as the program
        self.looks: list[Look] = []
        self.numbers: list[int] = []  # of the looks, among all
        self.inputs: list[int] = []
        self.outputs: list[Any] = []

    def close(self, wanted: set[int], calls: set[int]) -> None:
        """Find out what it reads from elsewhere, and which of its results others read.

        What is no float is no input, and is made once more, but by ``calls``.
        """
        own, steps = set(self.plan), self.steps
        while True:
            self.inputs = [p for p in dict.fromkeys(_read_by(self)) if p not in self.plan]
            computed = [p for p in self.inputs if steps[p].function is not INPUT]
            again = [p for p in computed if p not in calls and not _is_float(steps[p].form)]
            if not again:
                break
            self.plan = {p: steps[p] for p in sorted([*again, *self.plan])}
        self.outputs = [Slot(p) for p in sorted(own & wanted)]


def _is_float(form: ValueForm | None) -> bool:
    return form is not None and form.kind in FLOATS


def slots_in(x: Any) -> Iterator[int]:
    for leaf in iterate_leaves(x):
        if type(leaf) in (Slot, CopyOf):
            yield leaf.position


class Stretches:
    """A recording as native stretches and calls, which runs as a ``Replay`` does.

    Raises
    ------
    NotLowered
        When made, if there is nothing to be gained.
    """

    def __init__(self, recorder: Recorder, output: Any) -> None:
        self.recorder = recorder
        refuse_last_bits(recorder)
        calls = calls_in(recorder)
        if not calls or len(recorder.plan) - len(calls) < STRETCH_STEPS:
            raise NotLowered("few steps that are none of numbers")
        self.writer = Writer(recorder, output, False, missed="({}, {}), None")
        self.parts: list[Any] = []  # stretches; calls and looks, with their numbers
        self.calls = calls
        self._divide()
        self.lines: list[NativeLine] = []
        body = self._body(output)
        unpacked = ", ".join(f"v{p}" for p in recorder.inputs)
        head = [f"{unpacked}, = values"] if recorder.inputs else []
        self.run: Run
        lines = ["def run(values):", *head, *body]
        run, self.source = defined(lines, self.writer.names, "<stretches>")
        self.run = telling_user(run)
        whole = [p for p in calls if recorder.plan[p].function not in _PARTS]
        self.how = [f"machine code in {len(self.lines)} stretches, and {len(whole)} calls"]

    def _divide(self) -> None:
        """Divide the plan into stretches and calls, with looks where they may be made."""
        recorder, at = self.recorder, 0
        stretch = NativeStretch(recorder)

        def flush() -> None:
            nonlocal stretch
            if stretch.plan or stretch.looks:
                self.parts.append(stretch)
                stretch = NativeStretch(recorder)

        for position in [*recorder.plan, len(recorder.steps) + 1]:
            while at < len(recorder.looks) and recorder.looks[at].before <= position:
                look = recorder.looks[at]
                if look.position in self.calls or look.kind not in TRUTHS + STRUCTURE:
                    flush()
                    self.parts.append((at, look))
                elif look.kind in TRUTHS:
                    stretch.looks.append(look)
                    stretch.numbers.append(at)
                at += 1
            if position in self.calls:
                flush()
                self.parts.append((position, recorder.plan[position]))
            elif position in recorder.plan:
                stretch.plan[position] = recorder.plan[position]
        flush()

    def _body(self, output: Any) -> list[str]:
        wanted = set(slots_in(output))
        for part in reversed(self.parts):
            if isinstance(part, NativeStretch):
                part.close(wanted, self.calls)
            wanted |= set(_read_by(part))
        body = []
        for part in self.parts:
            if not isinstance(part, NativeStretch):
                body.append(self._call(part))
            elif len(part.plan) < STRETCH_SHORT:
                looks = zip(part.numbers, part.looks, strict=True)
                body += [*map(self._call, part.plan.items()), *map(self._call, looks)]
            else:
                body += self._stretch(part)
        if not 0 < len(self.lines) <= STRETCHES:
            raise NotLowered("too many stretches, or none")
        return [*body, f"return None, {self.writer.expression(output, final=True)}"]

    def _call(self, part: tuple[int, Operation | Look]) -> str:
        number, what = part
        if isinstance(what, Look):
            return self.writer.look(number, what)
        return f"v{number} = {self.writer.step(what)}"

    def _stretch(self, part: NativeStretch) -> list[str]:
        line = NativeLine(cast(Recorder, part), part.outputs)
        self.lines.append(line)
        run, numbers = self.writer.constant(line.run), self.writer.constant(part.numbers)
        given = ", ".join(f"v{p}" for p in part.inputs)
        results = "".join(f"v{y.position}, " for y in part.outputs)
        made = [f"missed, results = {run}([{given}])"]
        if part.looks:
            made.append(f"if missed is not None: return ({numbers}[missed[0]], missed[1]), None")
        return [*made, f"{results}= results"] if results else made

    def requests(self) -> list[Request]:
        """Return what :func:`native.build` was asked for."""
        return [request for line in self.lines for request in line.requests()]


def _read_by(part: Any) -> Iterator[int]:
    if isinstance(part, NativeStretch):
        for step in part.plan.values():
            yield from slots_in((step.operands, step.options))
        for look in part.looks:
            yield look.position
    elif isinstance(part[1], Look):
        yield part[1].position
    else:
        yield from slots_in((part[1].operands, part[1].options))
