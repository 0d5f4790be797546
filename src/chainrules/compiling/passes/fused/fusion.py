"""Fusion: elementwise operations of one shape become one native loop, the others NumPy calls.

``np.sum(np.sin(x) ** 2)`` and its gradient are one loop over ``x``: the sum rides along, and
nothing but ``x`` and the gradient lies in memory. Slices and transposes are read where they lie.
What has no native code (products of matrices, solves, indices that are computed) is a call of
NumPy, as in a replay.
"""

import math
import operator
from typing import Any

import numpy as np

from ....config.thresholds import COPIED_STACK, SCHEDULED_LINES
from ....rules import name_of
from ....rules.linear.steps import Slot
from ...ir.dtypes import KINDS, PARTS, kind_of_form
from ...ir.scalars import NotLowered, refuse_last_bits
from ...ir.values import (
    AddedAt,
    ComplexPair,
    Group,
    LoopInput,
    LoopResult,
    RealValue,
    Stored,
    doubled,
)
from ...native import NativeConstant, Operation, Output, Request
from ...record.recorder import Recorder
from ..factor_sharing import Factor
from ..source import NAME, Run, Writer, defined
from .groups import Grouping, NumpyCall
from .schedule import Loop, Schedule
from .step_views import is_made_of_base


class Fused:
    """A recording as calls of fused loops and of NumPy, which runs as a ``Replay`` does.

    Raises
    ------
    NotLowered
        When made, if there is nothing to fuse.
    """

    def __init__(
        self,
        recorder: Recorder,
        output: Any,
        threads: int = 1,
        shares: bool = True,
        many: bool | None = None,
    ) -> None:
        refuse_last_bits(recorder)
        self.writer = Writer(recorder, output, shares, missed="({}, {}), None")
        self.groups = Grouping(recorder, self.writer.plan, self.writer.constant, many)
        self.writer.memory_of = self.groups.in_place.memory_of
        self.recorder, self.threads = recorder, threads
        if not any(type(item) is Group for item in self.groups.items):
            raise NotLowered("nothing but calls of NumPy")
        self.schedules: list[Schedule] = []
        self.parts: list[str | Schedule] = []  # in the order in which they run
        self.run: Run = self.written(output)
        calls = [
            item for item in self.groups.items if type(item) is NumpyCall and self.is_made(item)
        ]
        loops = sum(len(schedule.loops) for schedule in self.schedules)
        self.how = [f"machine code: {loops} loops, {len(calls)} calls of NumPy"]
        self.how += [f"  {line}" for schedule in self.schedules for line in schedule.how]
        self.how += [_by_whom(call) for call in calls]

    def written(self, output: Any) -> Run:
        recorder = self.recorder
        self.groups.demand(recorder.outputs)
        for look in recorder.looks:
            self.groups.demand(Slot(look.position))
        read = {name for item in self.groups.items if type(item) is Group for name in item.names()}
        parts = self.parts
        loops: list[Loop] = []  # that follow each other

        def put(lines: list[str]) -> None:
            if lines and loops:
                parts.append(Schedule(self.recorder.steps, loops[:]))
                loops.clear()
            parts.extend(lines)

        for item in self.groups.items:
            if isinstance(item, Group):
                loop = self.loop(item)
                if loop is None:
                    continue
                if loops and any(x.is_large(recorder.steps) for x in (loop, loops[-1])):
                    put([""])  # an empty line between two
                loops.append(loop)
                continue
            if not self.is_made(item):
                continue  # what was seen before it is looked at before the next call
            lines = self.writer.looks_before(item.position)
            lines.append(f"v{item.position} = {self.call(item)}")
            if f"w{item.position}" in read:
                lines.append(f"w{item.position} = ascontiguousarray(v{item.position})")
            put(lines)
        returned = f"return None, {self.writer.expression(output, final=True)}"
        put([*self.writer.last_looks(), returned])
        if len(parts) > SCHEDULED_LINES:
            raise NotLowered("more calls of NumPy than one function of Python takes")
        head = [
            f"w{p} = ascontiguousarray(v{p})"
            for p in recorder.inputs
            if p not in self.groups.contiguous and f"w{p}" in read
        ]
        body = self.writer.let_go(self.lines_of(parts))
        given = ", ".join(f"v{p}" for p in recorder.inputs)
        unpacked = [f"({given},) = values"] if given else []
        names = {
            **self.writer.names, "ascontiguousarray": np.ascontiguousarray, "empty": np.empty,
            "zeros": np.zeros, "ndarray": np.ndarray, "asarray": np.asarray,
            **{dtype.name: dtype for dtype in KINDS},
        }  # fmt: skip
        lines = ["def run(values):", *unpacked, *head, *body]
        run: Run
        run, self.source = defined(lines, names, "<native recording>")
        return run

    def lines_of(self, parts: list) -> list[str]:
        """Return the lines, with the calls that do what schedules of loops do."""
        wanted: set[str] = set()
        for part in parts:
            wanted.update(part.names_read() if type(part) is Schedule else NAME.findall(part))
        lines: list[str] = []
        for part in parts:
            if type(part) is Schedule:
                lines += part.lines(self.writer.constant, self.writer.names, self.threads, wanted)
                self.schedules.append(part)
            elif part:
                lines.append(part)
        return lines

    def requests(self) -> list[Request]:
        """Return what :func:`native.build` is asked for, of each loop."""
        return [loop.request for schedule in self.schedules for loop in schedule.loops]

    def is_made(self, call: NumpyCall) -> bool:
        return not call.lazy or call.position in self.groups.demanded

    def call(self, call: NumpyCall) -> str:
        """Return the text of a step that NumPy does."""
        view = self.groups.views.get(call.position)
        if view is None or not is_made_of_base(self.groups, call.position, view):
            if self.has_turned_stack(call):
                return self.turned_product(call)
            return self.writer.step(call.step)
        form, whole, base = (
            self.recorder.steps[view.base].form,
            self.groups.whole(view.base),
            f"v{view.base}",
        )
        assert form is not None
        if call.position in self.groups.whole_of:
            return f"{base}[...]"
        if view.shape == whole.shape[::-1] and view.strides == whole.strides[::-1]:
            return f"{base}.T"
        size = form.kind.itemsize
        strides = tuple([size * step for step in view.strides])
        kind = self.writer.constant(form.kind)
        return f"ndarray({view.shape}, {kind}, {base}, {size * view.offset}, {strides})"

    def has_turned_stack(self, call: NumpyCall) -> bool:
        """Say whether a product with a stack of small matrices reads these by their columns.

        BLAS then takes twice as long for each, and a copy of them takes next to nothing.
        """
        f, args, options, *_ = call.step
        if f not in (np.matmul, operator.matmul) or options or len(args) != 2:
            return False
        first, second = [
            self.recorder.steps[x.position].form if type(x) is Slot else None for x in args
        ]
        view = self.groups.views.get(args[1].position) if second is not None else None
        if first is None or view is None or len(view.shape) < 3:
            return False
        few = COPIED_STACK * math.prod(view.shape) <= math.prod(first.shape)
        return few and view.strides[-2] == 1 != view.strides[-1]

    def turned_product(self, call: NumpyCall) -> str:
        a, b = map(self.writer.expression, call.step.operands)
        return f"{self.writer.constant(np.matmul)}({a}, ascontiguousarray({b}))"

    def loop(self, group: Group) -> Loop | None:
        """Return a loop with what it makes for others; None if that is nothing."""
        stored = dict(group.stored)
        for position, value in group.of_step.items():
            if position in self.groups.demanded and position not in stored:
                stored[position] = Stored(value, self.groups.whole(position).strides, None, 0)
        if not stored:
            return None
        keys = list(group.inputs)
        numbers = {key: k for k, key in enumerate(keys)}

        def operand(x: RealValue) -> int | NativeConstant:
            if isinstance(x, LoopResult):
                return len(keys) + x.number
            return numbers[x.key] if isinstance(x, LoopInput) else x

        ops = [Operation(op.function, tuple(map(operand, op.operands))) for op in group.ops]
        outputs: list[Output] = []

        def result(x: RealValue) -> int:
            y = operand(x)
            if type(y) is int:
                return y
            ops.append(Operation("where", (NativeConstant(True), y, y)))
            return len(keys) + len(ops) - 1

        for position, (value, strides, reduction, offset, running) in stored.items():
            form = self.recorder.steps[position].form
            assert form is not None
            kind = kind_of_form(form)
            if isinstance(value, ComplexPair):
                first, place = len(outputs), (doubled(strides), reduction, PARTS[kind], 2 * offset)
                outputs.append(Output(result(value.real), *place))
                outputs.append(Output(result(value.imag), *place[:-1], 2 * offset + 1, first))
            elif isinstance(value, AddedAt):
                first = len(outputs)
                for k, (x, at) in enumerate(value.parts):
                    of = first if k else None
                    outputs.append(Output(result(x), strides, None, kind, offset, of, result(at)))
            else:
                place = strides, reduction, kind, offset
                outputs.append(Output(result(value), *place, running=running))
        ops, outputs = _needed(len(keys), ops, outputs)
        inputs, given = zip(*group.inputs.values(), strict=True) if keys else ((), ())
        whole = self.groups.whole_made.union(group.of_step, group.updated)
        filled = {p for p, y in stored.items() if not y.reduction} - whole
        divided = {p: self.groups.divided[p] for p in stored if p in self.groups.divided}
        request = Request(group.shape, list(inputs), ops, outputs)
        return Loop(request, list(given), list(stored), filled, divided, group.updated)


def _by_whom(call: NumpyCall) -> str:
    """Return who does a step, for people."""
    name, operands = name_of(call.step.function), call.step.operands
    if operands and type(operands[0]) is Factor:
        return f"  LAPACK's {name}, by factors of result {operands[0].position}"
    return f"  NumPy's {name}{f': {call.why}' if call.why else ''}"


def _needed(first: int, ops: list[Operation], outputs: list[Output]) -> tuple[list, list]:
    """Return the operations that outputs need, numbered anew from ``first`` on, and the outputs."""
    needed = {x for y in outputs for x in (y.value, y.at) if x is not None}
    for k in range(len(ops) - 1, -1, -1):
        if first + k in needed:
            needed.update(x for x in ops[k].operands if type(x) is int)
    kept = [k for k in range(len(ops)) if first + k in needed]
    number = {first + k: first + n for n, k in enumerate(kept)}

    def renumbered(x: Any) -> Any:
        return number.get(x, x) if type(x) is int else x

    renamed = [Operation(ops[k].function, tuple(map(renumbered, ops[k].operands))) for k in kept]
    return renamed, [y._replace(value=renumbered(y.value), at=renumbered(y.at)) for y in outputs]
