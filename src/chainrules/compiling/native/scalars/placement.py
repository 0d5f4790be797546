"""Placement of each value of a scalar program: its function, and its offset in memory.

The line of operations is cut into parts: straight ones of at most 1000 operations, since LLVM takes
more than twice as long for one twice as long, and loops, for what repeats. Over all repetitions an
operand of a loop's body is one of: a value from inside the body; one carried over from the
repetition before; always the same; an entry of an array; a value from memory. The last two lie at
equal distances, or where a table says.
"""

import itertools
import math
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..assembly.operations import OPCODES
from ..limits import FUNCTION_OPERATIONS, SEARCHED_OPERATIONS
from ..request import NativeProgram
from .loops import RepeatedRun, find_runs

Ints = np.ndarray


class Part(NamedTuple):
    """Operations ``start`` to ``end``: straight, or ``run`` of them in a loop."""

    start: int
    end: int
    run: RepeatedRun | None


class OutputPlace(NamedTuple):
    """Destination of an output: argument, offset and dtype."""

    argument: int
    offset: int
    dtype: str


class Placement:
    """Numbers, parts and places of the values of a program of shape ()."""

    def __init__(self, program: NativeProgram, *, rolled: bool = True) -> None:
        self.program = program
        #: the number of the first operation's value
        self.first = len(program.inputs)
        self.in_arguments = program.argument_of_input()
        self.out_arguments = program.argument_of_output()
        self._number()
        count = len(program.ops)
        runs = find_runs(self.codes) if rolled and count >= SEARCHED_OPERATIONS else []
        self.parts = list(_cut(count, runs))
        #: places in memory of values that need one, and what lies there from the start
        self.slots: dict[int, int] = {}
        self.top = 0
        self.initial: list[tuple[int, float]] = []
        #: outputs that are copied from memory or an input at the end
        self.copies: list[tuple[int, OutputPlace]] = []
        for k, x in enumerate(program.inputs):
            if x.strides is None:
                self._slot(k)
        self._plan()
        self._place_constants()

    def kind(self, value: int) -> str:
        end = self.first + len(self.codes)
        if value < end:
            return self.program.kinds[value]
        return "b1" if isinstance(self.constants[value - end], bool) else "f8"

    # ---- numbering -----------------------------------------------------------------------------

    def _number(self) -> None:
        """Operands as numbers: of inputs, then of operations, then of constants."""
        program = self.program
        base = self.first + len(program.ops)
        known: dict[Any, int] = {}
        self.constants: list[float | bool] = []
        rows: list[tuple[int, ...]] = []
        for _, given in program.ops.pairs:
            operands: list[Any] = list(given)
            for o, x in enumerate(operands):
                if type(x) is not int:
                    value = x.x
                    # 0.0 and -0.0 are equal, and so are 1.0 and True.
                    key = type(value), value, math.copysign(1.0, value)
                    k = known.get(key)
                    if k is None:
                        k = known[key] = base + len(self.constants)
                        self.constants.append(value)
                    operands[o] = k
            rows.append(tuple(operands))
        self.codes = np.array(program.codes, np.int64)
        self.operands = np.full((len(rows), 3), -1, np.int64)
        lengths = np.array([len(row) for row in rows], np.int64)
        here = np.arange(3) < lengths[:, None]
        self.operands[here] = list(itertools.chain.from_iterable(rows))
        self.rows = rows
        self._canonical()

    def _canonical(self) -> None:
        """Operands that may change places in one order: the latest result, input, constant.

        Else a + b in one repetition and b + a in the next would not be one body.
        """
        commutes = np.array([OPCODES[s[0]].commutes for s in self.program.signatures], bool)
        if not len(commutes):
            return
        a, b = self.operands[:, 0].copy(), self.operands[:, 1].copy()
        end = self.first + len(self.codes)

        def rank(x: Ints) -> Ints:
            return np.where(x >= end, -1 - x, np.where(x >= self.first, x, -1))

        swap = commutes[self.codes] & (rank(a) < rank(b))
        self.operands[swap, 0], self.operands[swap, 1] = b[swap], a[swap]
        for t in np.flatnonzero(swap).tolist():
            x, y = self.rows[t]
            self.rows[t] = y, x

    # ---- plan: which values lie in memory, and where -------------------------------------------

    def _plan(self) -> None:
        first, count = self.first, len(self.codes)
        part_of = np.zeros(count, np.int64)
        for k, part in enumerate(self.parts):
            part_of[part.start : part.end] = k
        #: inputs that are copied to @m at each call, as they are read together with other values
        self.leaves: list[int] = []
        #: for each loop, what each operand of its body is
        self.roles: dict[int, list[list[Any]]] = {}
        #: results that a loop reads from memory, perhaps in the repetition that computes them
        self.read_inside = np.zeros(count, bool)
        # results read by another part
        here = np.repeat(np.arange(count), 3).reshape(count, 3)
        result = (self.operands >= first) & (self.operands < first + count)
        sources, readers = self.operands[result] - first, here[result]
        kept = np.zeros(count, bool)
        kept[sources[part_of[sources] != part_of[readers]]] = True
        for k, part in enumerate(self.parts):
            if part.run:
                self.roles[k] = self._roles(part.run, kept)
        self._plan_outputs(part_of, kept)
        self._place(kept)

    def _roles(self, run: RepeatedRun, kept: np.ndarray) -> list[list[Any]]:
        """Classify a body's operands over all repetitions; mark values that must lie in memory."""
        start, period, count = run
        first, end = self.first, self.first + len(self.codes)
        body = self.operands[start : run.end].reshape(count, period, 3)
        begins = first + start + period * np.arange(count)[:, None, None]
        inside = body - begins
        constant = (inside == inside[0]).all(axis=0)
        # from the second repetition on: from the one before
        before = inside[1:] + period
        carried = (before == before[0]).all(axis=0) & (before[0] >= 0) & (before[0] < period)
        same = (body == body[0]).all(axis=0)
        roles: list[list[Any]] = []
        for j in range(period):
            row: list[Any] = []
            for o in range(3):
                x, source = int(body[0, j, o]), int(inside[0, j, o])
                if x < 0:
                    break
                if constant[j, o] and 0 <= source < j:
                    row.append(("inside", source))
                elif same[j, o] and not first + start <= x < first + run.end:
                    row.append(("same", x))
                elif carried[j, o] and not first + start <= x < end:
                    row.append(("carried", int(before[0, j, o]), x))
                else:
                    row.append(self._from_memory(body[:, j, o], kept))
            roles.append(row)
        return roles

    def _from_memory(self, values: Ints, kept: np.ndarray) -> Any:
        first, end = self.first, self.first + len(self.codes)
        if values.min() >= end:  # constants
            begin = self.top
            self.top += len(values)
            known = [float(self.constants[x - end]) for x in values.tolist()]
            self.initial += zip(range(begin, self.top), known)
            return (
                "memory",
                np.arange(begin, self.top),
                isinstance(self.constants[values[0] - end], bool),
            )
        if values.max() < first:  # inputs
            read = [self.program.inputs[x] for x in values.tolist()]
            arguments = {self.in_arguments[x] for x in values.tolist()}
            if len(arguments) == 1 and all(x.strides is not None for x in read):
                offsets = np.array([x.offset for x in read], np.int64)
                return ("entries", arguments.pop(), offsets, read[0].dtype)
        results = values[(values >= first) & (values < end)] - first
        kept[results] = self.read_inside[results] = True
        for x in np.unique(values[(values < first) | (values >= end)]).tolist():
            if x not in self.slots:
                if x < first:
                    self.leaves.append(x)
                    self._slot(x)
                else:
                    self.initial.append((self._slot(x), float(self.constants[x - end])))
        return ("values", values)

    def _slot(self, value: int) -> int:
        self.slots[value] = self.top
        self.top += 1
        return self.slots[value]

    def _plan_outputs(self, part_of: Ints, kept: np.ndarray) -> None:
        """Outputs are stored where they are computed, if one line can say it, else copied."""
        first, count = self.first, len(self.codes)
        #: straight: value -> places
        self.direct: dict[int, list[OutputPlace]] = {}
        #: loops: part -> (position in the body, argument, offset, step, dtype)
        self.strided: dict[int, list[tuple[int, int, int, int, str]]] = {}
        groups: dict[tuple[int, int, int, str], list[tuple[int, int, int]]] = {}
        for k, y in enumerate(self.program.outputs):
            place = OutputPlace(self.out_arguments[k], y.offset, y.dtype)
            t = y.value - first
            if t < 0 or t >= count:
                self.copies.append((y.value, place))
                continue
            number = int(part_of[t])
            run = self.parts[number].run
            if run is None:
                self.direct.setdefault(y.value, []).append(place)
                continue
            r, j = divmod(t - run.start, run.period)
            key = (number, j, place.argument, place.dtype)
            groups.setdefault(key, []).append((r, place.offset, y.value))
        for (number, j, argument, dtype), items in groups.items():
            run = self.parts[number].run
            assert run is not None
            items.sort()
            repetitions, offsets, values = (np.array(x) for x in zip(*items))
            steps = np.diff(offsets)
            if (
                len(items) == run.times
                and (np.diff(repetitions) == 1).all()
                and (steps == steps[0]).all()
            ):
                entry = (j, argument, int(offsets[0]), int(steps[0]), dtype)
                self.strided.setdefault(number, []).append(entry)
                continue
            kept[values - first] = True
            places = (OutputPlace(argument, int(offset), dtype) for offset in offsets)
            self.copies += zip(values.tolist(), places)

    def _place(self, kept: np.ndarray) -> None:
        """Places in memory; what a loop keeps, it keeps in every repetition, side by side."""
        #: loops: part -> (position, place in the first repetition, step)
        self.stores: dict[int, list[tuple[int, int, int]]] = {}
        for k, part in enumerate(self.parts):
            run = part.run
            if run is None:
                for t in (np.flatnonzero(kept[part.start : part.end]) + part.start).tolist():
                    self._slot(self.first + t)
                continue
            rows = kept[part.start : part.end].reshape(run.times, run.period)
            places = []
            # What only the last repetition hands on is stored once, after the loop.
            inside = self.read_inside[part.start : part.end].reshape(rows.shape)
            only_last = ~(rows[:-1].any(axis=0) | inside[-1])
            positions = np.flatnonzero(rows.any(axis=0)).tolist()
            each = [j for j in positions if not only_last[j]]
            for rank, j in enumerate(each):
                base = self.top + rank
                places.append((j, base, len(each)))
                numbers = range(self.first + part.start + j, self.first + part.end, run.period)
                self.slots.update(
                    zip(numbers, range(base, base + len(each) * run.times, len(each)))
                )
            self.top += len(each) * run.times
            for j in positions:
                if only_last[j]:
                    last = self.first + part.end - run.period + j
                    places.append((j, self._slot(last), 0))
            self.stores[k] = places

    def _place_constants(self) -> None:
        """Constants that are results are copied from memory as well."""
        end = self.first + len(self.codes)
        for x, _ in self.copies:
            if x >= end and x not in self.slots:
                self.initial.append((self._slot(x), float(self.constants[x - end])))


def _cut(count: int, runs: Sequence[RepeatedRun]) -> Iterator[Part]:
    at = 0
    for run in (*runs, RepeatedRun(count, 0, 0)):
        while at < run.start:
            end = min(run.start, at + FUNCTION_OPERATIONS)
            yield Part(at, end, None)
            at = end
        if run.times:
            yield Part(run.start, run.end, run)
            at = run.end
