"""Ways through a step of a loop: each is recorded when a step first takes it, and made native."""

from collections.abc import Callable
from typing import Any

import numpy as np

from ...rules.linear.steps import Slot
from ..ir.looks import STRUCTURE, TRUTHS, NotRecordable, UnsuitedLoopError
from ..ir.references import CopyOf
from ..ir.scalars import Names, NotLowered, refuse_last_bits
from ..native.steps.stepping import StepBody
from ..native.steps.way_tree import Way
from ..passes.scalar.scalar_trace import ScalarTrace
from ..record.recorder import Recorder
from ..record.recording import StepRecorder, record
from ..record.state.captured_state import Captured
from .layout import EXACT, Place, RowLayout


class Layouts:
    """Layouts of what a step reads (carry, captured, row in) and gives (carry, row out)."""

    __slots__ = ("captured", "carry", "given", "taken")

    def __init__(
        self, carry: RowLayout, captured: RowLayout, taken: RowLayout, given: RowLayout
    ) -> None:
        self.carry, self.captured, self.taken, self.given = carry, captured, taken, given

    @property
    def read(self) -> list[tuple[str, RowLayout]]:
        return [("c", self.carry), ("k", self.captured), ("x", self.taken)]


def recorded(
    step: Callable,
    values: list,
    captured: Captured,
    new: type[Recorder] = StepRecorder,
) -> tuple[Recorder, list]:
    """Record ``step`` at plain values, integers too; return what it gave, slots or plain.

    Raises
    ------
    NotRecordable
    UnsuitedLoopError
        If it has done what a replay would not do.
    """
    recorder, output, _ = record(step, tuple(values), {}, captured, new, _takes)
    if captured.traced:
        raise NotRecordable("a transform that is under way")
    if captured.drawn() or captured.notes or captured.changed():
        raise UnsuitedLoopError("a step that does more than compute what it returns")
    return recorder, list(output)


def _takes(x: Any) -> bool:
    return isinstance(x, np.ndarray | float | int | np.int64)


def native_way(recorder: Recorder, output: list, layouts: Layouts, stops: bool = False) -> StepBody:
    """Return the native body of a recorded step, or of a condition after which the loop ``stops``.

    Raises
    ------
    NotLowered
        If a step of it has no native form, or a result another form than what is carried.
    """
    refuse_last_bits(recorder)
    trace = ScalarTrace.of(recorder, _positions(output), whole=True)
    reads = [(held, at) for held, layout in layouts.read for at in range(layout.size)]
    wanted: list[tuple[int, str, int]] = []
    places = [("o", p) for p in layouts.carry.places] + [("y", p) for p in layouts.given.places]
    for x, (held, place) in zip(output, [] if stops else places, strict=True):
        names = _names(trace, recorder, x, place)
        if place.whole:
            trace.exact += names
        wanted += [(name, held, place.start + k) for k, name in enumerate(names)]
    expected: list[bool] = []
    lines: list[str] = []
    for look in recorder.looks:
        if look.kind in STRUCTURE:
            continue
        if look.kind not in TRUTHS:
            raise NotLowered("a look at a number, to its last bit")
        truth = trace.truth(look)
        if truth < 0:
            continue  # a constant, in each round what it was in the first
        wanted.append((truth, "t", len(expected)))
        expected.append(look.seen == ("bool", True))
        lines.append(look.line)
    largest = trace.constant(float(EXACT))
    for name in dict.fromkeys(name for name in trace.exact if name >= trace.first):
        small = trace.op("less_equal", trace.op("absolute", name), largest)
        wanted.append((small, "t", len(expected)))
        expected.append(True)
    for name in dict.fromkeys(name for name in trace.finite if name >= trace.first):
        wanted.append((trace.op("isfinite", name), "t", len(expected)))
        expected.append(True)
    for name in trace.regular:
        wanted.append((name, "t", len(expected)))
        expected.append(True)
    wanted = [(_variable(trace, name), held, at) for name, held, at in wanted]
    _, ops, operand = trace.program([name for name, _, _ in wanted])
    outputs = [(operand(name), held, at) for name, held, at in wanted]
    return StepBody(Way(reads, ops, outputs, expected, stops), lines)


def _positions(output: list) -> set[int]:
    return {x.position for x in output if isinstance(x, Slot | CopyOf)}


def _names(trace: ScalarTrace, recorder: Recorder, x: Any, place: Place) -> list[int]:
    """Return the names of the entries of a result that goes to ``place``."""
    if isinstance(x, Slot | CopyOf):
        form, found = recorder.steps[x.position].form, trace.values[x.position]
        fits = form is not None and (form.array, form.shape) == (place.form.array, place.form.shape)
        kind = None if form is None else form.kind
    else:
        fits, found, kind = place.takes(x), trace.names(x), type(x)
    if type(found) is not Names or not fits or found.kind == "b1":
        raise NotLowered("a result of another form than what is carried")
    if (found.kind == "i8") != place.whole or (place.whole and kind is not place.form.kind):
        raise NotLowered("a result of another kind than what is carried")
    return list(map(int, found.ids.reshape(-1).tolist()))


def _variable(trace: ScalarTrace, name: int) -> int:
    """Return the name of a number that is computed: a constant is the result of an operation."""
    return name if name >= 0 else trace.as_it_is("multiply", (name, trace.constant(1.0)))
