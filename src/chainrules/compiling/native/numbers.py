"""Programs on single numbers: a straight line of operations, with what repeats in it as loops.

The line is cut into functions of at most 1000 operations, since LLVM takes more than twice as long
for one twice as long. What one function hands to another lies in memory, at a place of ``@m``. A
stretch that repeats (:mod:`.loops`) is written once: each operand of its body is, over all
repetitions, a value from inside the body, one carried over from the repetition before, always the
same, from memory at equal distances, or from memory by a table. So the text of ::

    y = x[0] * a; y = (y + x[1]) * a; y = (y + x[2]) * a; ...

has one addition and one multiplication, with y carried over and x read at a distance of 1.
"""

from __future__ import annotations

import ctypes
import itertools
import math
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from .assembler import Function, Lanes, Module
from .loops import Run, find_runs
from .machine import Code, libm
from .operations import COMMUTATIVE, LIBM, as_real, as_truth, emit
from .request import Program

__all__ = ["Numbers"]

_CHUNK = 1000  # operations of one function
_LOOKED_THROUGH = 64  # fewer operations are not searched for repetition
_CAREFUL = 500  # more operations than this are compiled in a hurry
_COPY_LOOP = 8  # results at equal distances that make a loop

# Most operations as one line: much faster than by the emitters, which say the same.
_TEMPLATES = {
    "add": "%%%d = fadd double %s, %s",
    "subtract": "%%%d = fsub double %s, %s",
    "multiply": "%%%d = fmul double %s, %s",
    "divide": "%%%d = fdiv double %s, %s",
    "negative": "%%%d = fneg double %s",
    "less": "%%%d = fcmp olt double %s, %s",
    "less_equal": "%%%d = fcmp ole double %s, %s",
    "greater": "%%%d = fcmp ogt double %s, %s",
    "greater_equal": "%%%d = fcmp oge double %s, %s",
}
_TYPES = {"f8": "double", "b1": "i1"}
Ints = npt.NDArray[np.int64]


class Part(NamedTuple):
    """Operations ``start`` to ``end``: straight, or ``run`` of them in a loop."""

    start: int
    end: int
    run: Run | None


class Place(NamedTuple):
    """Where an output goes."""

    argument: int
    offset: int
    dtype: str


class Numbers:
    """The text of a program of shape (), and the data that its memory begins with."""

    def __init__(self, program: Program, module: Module, *, rolled: bool = True) -> None:
        self.program, self.module = program, module
        self.first = len(program.inputs)  # the number of the first operation's value
        self.in_arguments = program.argument_of_input()
        self.out_arguments = program.argument_of_output()
        self._number()
        count = len(program.ops)
        runs = find_runs(self.codes) if rolled and count >= _LOOKED_THROUGH else []
        self.parts = list(_cut(count, runs))
        #: places in @m of values that need one, and what lies there from the start
        self.slots: dict[int, int] = {}
        self.top = 0
        self.initial: list[tuple[int, float]] = []
        self.tables: list[Ints] = []
        self.table_top = 0
        #: outputs that are copied from @m or an input at the end
        self.copies: list[tuple[int, Place]] = []
        self._write()

    @property
    def effort(self) -> int:
        """The level of LLVM's code generator."""
        written = sum(p.run.period if p.run else p.end - p.start for p in self.parts)
        return 2 if written <= _CAREFUL else 0

    def fill(self, code: Code) -> None:
        """Put constants and tables where the code expects them."""
        if self.initial:
            where, values = zip(*self.initial)
            memory = (ctypes.c_double * self.top).from_address(code.data("m"))
            np.ctypeslib.as_array(memory)[list(where)] = values
        if self.tables:
            table = np.concatenate(self.tables)
            ctypes.memmove(code.data("t"), table.ctypes.data, table.nbytes)

    # ---- numbering -----------------------------------------------------------------------------

    def _number(self) -> None:
        """Operands as numbers: of inputs, then of operations, then of constants."""
        program = self.program
        base = self.first + len(program.ops)
        known: dict[Any, int] = {}
        self.constants: list[float | bool] = []
        rows: list[tuple[int, ...]] = []
        for _, *operands in program.ops:
            for o, x in enumerate(operands):
                if type(x) is not int:
                    value = x[1]
                    # 0.0 and -0.0 are equal, and so are 1.0 and True.
                    key = type(value), value, math.copysign(1.0, value)
                    k = known.get(key)
                    if k is None:
                        k = known[key] = base + len(self.constants)
                        self.constants.append(value)
                    operands[o] = k
            rows.append(tuple(operands))
        one = Lanes(Function(self.module), 1)
        self.constant_texts = [
            one.boolean(x) if isinstance(x, bool) else one.number(float(x)) for x in self.constants
        ]
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
        commutes = np.array([s[0] in COMMUTATIVE for s in self.program.signatures], bool)
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

    # ---- the whole -----------------------------------------------------------------------------

    def _write(self) -> None:
        program = self.program
        for k, x in enumerate(program.inputs):
            if x.strides is None:
                self._slot(k)
        self._plan()
        calls = []
        for k, part in enumerate(self.parts):
            name = f"@part{k}"
            (self._loop if part.run else self._straight)(name, part)
            calls.append(name)
        calls += self._copy_all()
        fn = Function(self.module)
        arguments = program.arguments()
        for k, kind in enumerate(arguments):
            if kind == "array":
                fn.put(f"store ptr %x{k}, ptr {_at('a', k, 'ptr')}")
        for k, x in enumerate(program.inputs):
            if x.strides is None:
                self._keep(fn, k, f"%x{self.in_arguments[k]}")
        for k in self.leaves:
            self._keep(fn, k, self._read(fn, k, {}))
        for name in calls:
            fn.put(f"call void {name}()")
        types = {"array": "ptr", "float": "double", "bool": "i1"}
        taken = ", ".join(f"{types[kind]} %x{k}" for k, kind in enumerate(arguments))
        self._define("@run", fn, taken)
        self.module.globals += [
            f"@m = global [{max(self.top, 1)} x double] zeroinitializer, align 64",
            f"@t = global [{max(self.table_top, 1)} x i64] zeroinitializer, align 64",
            f"@a = internal global [{max(len(arguments), 1)} x ptr] zeroinitializer, align 64",
        ]

    def _define(self, name: str, fn: Function, taken: str = "") -> None:
        text = "\n".join(fn.lines)
        self.module.functions[name] = (
            f"define internal void {name}({taken}) noinline nounwind {{\n"
            f"entry:\n{text}\nret void\n}}"
        )

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

    def _roles(self, run: Run, kept: npt.NDArray[np.bool_]) -> list[list[Any]]:
        """What the operands of a body are over all repetitions; marks what must lie in memory."""
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
                elif same[j, o]:
                    row.append(("same", x))
                elif carried[j, o] and not first + start <= x < end:
                    row.append(("carried", int(before[0, j, o]), x))
                else:
                    row.append(self._from_memory(body[:, j, o], kept))
            roles.append(row)
        return roles

    def _from_memory(self, values: Ints, kept: npt.NDArray[np.bool_]) -> Any:
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

    def _plan_outputs(self, part_of: Ints, kept: npt.NDArray[np.bool_]) -> None:
        """Outputs are stored where they are computed, if one line can say it, else copied."""
        first, count = self.first, len(self.codes)
        #: straight: value -> places
        self.direct: dict[int, list[Place]] = {}
        #: loops: part -> (position in the body, argument, offset, step, dtype)
        self.strided: dict[int, list[tuple[int, int, int, int, str]]] = {}
        groups: dict[tuple[int, int, int, str], list[tuple[int, int, int]]] = {}
        for k, y in enumerate(self.program.outputs):
            place = Place(self.out_arguments[k], y.offset, y.dtype)
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
            places = (Place(argument, int(offset), dtype) for offset in offsets)
            self.copies += zip(values.tolist(), places)

    def _place(self, kept: npt.NDArray[np.bool_]) -> None:
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

    # ---- reading and writing single values -----------------------------------------------------

    def _kind(self, value: int) -> str:
        end = self.first + len(self.codes)
        if value < end:
            return self.program.kinds[value]
        return "b1" if isinstance(self.constants[value - end], bool) else "f8"

    def _read(self, fn: Function, value: int, pointers: dict[int, str]) -> str:
        """A value that is no result of the same function."""
        end = self.first + len(self.codes)
        if value >= end:
            return self.constant_texts[value - end]
        if value < self.first and self.program.inputs[value].strides is not None:
            x = self.program.inputs[value]
            base = self._pointer(fn, self.in_arguments[value], pointers)
            return _entry(fn, base, str(x.offset), x.dtype)
        return _from_slot(fn, _at("m", self.slots[value]), self._kind(value))

    def _pointer(self, fn: Function, argument: int, pointers: dict[int, str]) -> str:
        """The address of an array that was passed."""
        if argument not in pointers:
            pointers[argument] = fn.let(f"load ptr, ptr {_at('a', argument, 'ptr')}")
        return pointers[argument]

    def _keep(self, fn: Function, value: int, x: str) -> None:
        """Store a value at its place in @m."""
        _to_slot(fn, _at("m", self.slots[value]), x, self._kind(value))

    def _emit(self, fn: Function, v: Lanes, code: int, operands: list[str]) -> str:
        name, *kinds = self.program.signatures[code]
        return emit(v, name, operands, kinds)

    # ---- straight ------------------------------------------------------------------------------

    def _straight(self, name: str, part: Part) -> None:
        fn = Function(self.module)
        v = Lanes(fn, 1)
        have: dict[int, str] = {}
        pointers: dict[int, str] = {}
        first, rows, slots, direct, lines = self.first, self.rows, self.slots, self.direct, fn.lines
        templates = [_template(*s) for s in self.program.signatures]
        for t, code in enumerate(self.codes[part.start : part.end].tolist(), part.start):
            operands = []
            for x in rows[t]:
                text = have.get(x)
                if text is None:
                    text = have[x] = self._read(fn, x, pointers)
                operands.append(text)
            template = templates[code]
            if template is None:
                y = self._emit(fn, v, code, operands)
            else:  # the same, faster
                n = fn.count
                fn.count = n + 1
                lines.append(template % (n, *operands))
                y = f"%{n}"
            value = first + t
            have[value] = y
            if value in slots:
                self._keep(fn, value, y)
            if value in direct:
                for place in direct[value]:
                    base = self._pointer(fn, place.argument, pointers)
                    _store(fn, y, self._kind(value), base, str(place.offset), place.dtype)
        self._define(name, fn)

    # ---- loops ---------------------------------------------------------------------------------

    def _loop(self, name: str, part: Part) -> None:
        number, run = self.parts.index(part), part.run
        assert run is not None
        fn = Function(self.module)
        v = Lanes(fn, 1)
        roles = self.roles[number]
        pointers: dict[int, str] = {}
        before: dict[int, str] = {}
        carried: dict[tuple[int, int], int] = {}
        used = {x[1] for row in roles for x in row if x[0] == "entries"}
        used |= {x[1] for x in self.strided.get(number, ())}
        for argument in sorted(used):
            self._pointer(fn, argument, pointers)
        for row in roles:
            for role in row:
                if role[0] == "same" and role[1] not in before:
                    before[role[1]] = self._read(fn, role[1], pointers)
                elif role[0] == "carried":
                    carried.setdefault(role[1:], len(carried))
        starts = [self._read(fn, x, pointers) for _, x in carried]
        codes = self.codes[run.start : run.start + run.period].tolist()
        kinds = [_TYPES[self.program.kinds[self.first + run.start + j]] for j, _ in carried]
        results: list[str] = []
        stores = {j: (base, step) for j, base, step in self.stores[number] if step}

        def body(index: str, states: list[str]) -> list[str]:
            seen: dict[Any, str] = {}
            for j, code in enumerate(codes):
                operands = []
                for role in roles[j]:
                    how = role[0]
                    if how == "inside":
                        operands.append(results[role[1]])
                    elif how == "same":
                        operands.append(before[role[1]])
                    elif how == "carried":
                        operands.append(states[carried[role[1:]]])
                    else:
                        operands.append(self._fetch(fn, role, index, pointers, seen))
                results.append(self._emit(fn, v, code, operands))
                if j in stores:
                    # At once, since another operation of this repetition may read it.
                    base, step = stores[j]
                    where = fn.address(_at("m", base), self._scaled(fn, index, step, seen))
                    _to_slot(fn, where, results[j], self._kind(self.first + run.start + j))
            for j, argument, offset, step, dtype in self.strided.get(number, ()):
                at = fn.plus(self._scaled(fn, index, step, seen), offset)
                kind = self._kind(self.first + run.start + j)
                _store(fn, results[j], kind, pointers[argument], at, dtype)
            return [results[j] for j, _ in carried]

        fn.loop("0", str(run.times), 1, list(zip(kinds, starts)), body)
        for j, place, step in self.stores[number]:
            if not step:
                kind = self._kind(self.first + run.start + j)
                _to_slot(fn, _at("m", place), results[j], kind)
        self._define(name, fn)

    def _scaled(self, fn: Function, index: str, step: int, seen: dict[Any, str]) -> str:
        if step not in seen:
            seen[step] = fn.times(index, step)
        return seen[step]

    def _fetch(
        self, fn: Function, role: Any, index: str, pointers: dict[int, str], seen: dict[Any, str]
    ) -> str:
        """An operand from memory, in repetition ``index``."""
        if role[0] == "entries":
            _, argument, where, dtype = role
            key = (argument, where.tobytes())
            if key not in seen:
                at = self._index(fn, where, index, seen)
                seen[key] = _entry(fn, pointers[argument], at, dtype)
            return seen[key]
        if role[0] == "memory":
            _, where, truths = role
            kind = "b1" if truths else "f8"
        else:
            where = np.array([self.slots[x] for x in role[1].tolist()], np.int64)
            kind = self._kind(int(role[1][0]))
        key = where.tobytes()
        if key not in seen:
            address = fn.address("@m", self._index(fn, where, index, seen))
            seen[key] = _from_slot(fn, address, kind)
        return seen[key]

    def _index(self, fn: Function, where: Ints, index: str, seen: dict[Any, str]) -> str:
        """``where[index]``: by a multiplication where the distances are equal, else by a table."""
        steps = np.diff(where)
        if (steps == steps[0]).all():
            return fn.plus(self._scaled(fn, index, int(steps[0]), seen), int(where[0]))
        begin = self.table_top
        self.tables.append(where.astype(np.int64))
        self.table_top += len(where)
        address = fn.address(_at("t", begin, "i64"), index, "i64")
        return fn.let(f"load i64, ptr {address}")

    # ---- results that are copied at the end ----------------------------------------------------

    def _copy_all(self) -> list[str]:
        """Functions that copy results; equal distances make loops."""
        names = []
        constants = [k for k, (x, _) in enumerate(self.copies) if x >= self.first + len(self.codes)]
        for k in constants:
            x = self.copies[k][0]
            if x not in self.slots:
                value = float(self.constants[x - self.first - len(self.codes)])
                self.initial.append((self._slot(x), value))
        runs = self._copy_runs()
        for begin in range(0, len(runs), _CHUNK // 2):
            fn = Function(self.module)
            pointers: dict[int, str] = {}
            for head, step_in, step_out, count in runs[begin : begin + _CHUNK // 2]:
                self._copy(fn, head, step_in, step_out, count, pointers)
            name = f"@copy{begin}"
            self._define(name, fn)
            names.append(name)
        return names

    def _source(self, value: int) -> tuple[int, int, str]:
        """Where a value lies: an argument, or -1 for @m; a place there; its kind."""
        if value < self.first and self.program.inputs[value].strides is not None:
            x = self.program.inputs[value]
            return self.in_arguments[value], x.offset, x.dtype
        return -1, self.slots[value], self._kind(value)

    def _copy_runs(self) -> list[tuple[int, int, int, int]]:
        """(first of the copies, distance of sources, distance of places, count), in order."""
        sources = [(*self._source(x), place) for x, place in self.copies]
        runs = []
        k = 0
        while k < len(sources):
            argument, _, kind, place = sources[k]
            end, steps = k + 1, (0, 0)
            while end < len(sources):
                a, b, c, d = sources[end]
                if (a, c, d.argument, d.dtype) != (argument, kind, place.argument, place.dtype):
                    break
                now = (b - sources[end - 1][1], d.offset - sources[end - 1][3].offset)
                if end == k + 1:
                    steps = now
                elif now != steps:
                    break
                end += 1
            if end - k < _COPY_LOOP:
                end = k + 1
            runs.append((k, *steps, end - k))
            k = end
        return runs

    def _copy(
        self,
        fn: Function,
        head: int,
        step_in: int,
        step_out: int,
        count: int,
        pointers: dict[int, str],
    ) -> None:
        value, place = self.copies[head]
        argument, at, kind = self._source(value)
        out = self._pointer(fn, place.argument, pointers)
        base = "@m" if argument < 0 else self._pointer(fn, argument, pointers)

        def body(index: str, states: list[str]) -> Sequence[str]:
            where = fn.plus(fn.times(index, step_in), at)
            if argument < 0:
                x = _from_slot(fn, fn.address(base, where), kind)
            else:
                x = _entry(fn, base, where, kind)
            _store(fn, x, kind, out, fn.plus(fn.times(index, step_out), place.offset), place.dtype)
            return []

        fn.loop("0", str(count), 1, [], body)


def _template(name: str, *kinds: str) -> str | None:
    """The line of an operation, for the number of its register and its operands."""
    if "b1" in kinds:
        return None
    if name in LIBM:
        given = ", ".join(["double %s"] * len(kinds))
        return f"%%%d = call double inttoptr (i64 {libm(LIBM[name])} to ptr)({given}) #0"
    return _TEMPLATES.get(name)


def _cut(count: int, runs: Sequence[Run]) -> Iterator[Part]:
    at = 0
    for run in (*runs, Run(count, 0, 0)):
        while at < run.start:
            end = min(run.start, at + _CHUNK)
            yield Part(at, end, None)
            at = end
        if run.times:
            yield Part(run.start, run.end, run)
            at = run.end


def _at(name: str, k: int, kind: str = "double") -> str:
    """The address of a place in a global, as a constant."""
    return f"@{name}" if k == 0 else f"getelementptr ({kind}, ptr @{name}, i64 {k})"


def _entry(fn: Function, base: str, at: str, dtype: str) -> str:
    """An entry of an array."""
    if dtype == "f8":
        return fn.let(f"load double, ptr {fn.address(base, at)}")
    byte = fn.let(f"load i8, ptr {fn.address(base, at, 'i8')}")
    return fn.let(f"icmp ne i8 {byte}, 0")


def _store(fn: Function, x: str, kind: str, base: str, at: str, dtype: str) -> None:
    """Write a value of ``kind`` to an entry of an array of ``dtype``."""
    one = Lanes(fn, 1)
    if dtype == "f8":
        fn.put(f"store double {as_real(one, x, kind)}, ptr {fn.address(base, at)}")
    else:
        byte = fn.let(f"zext i1 {as_truth(one, x, kind)} to i8")
        fn.put(f"store i8 {byte}, ptr {fn.address(base, at, 'i8')}")


def _from_slot(fn: Function, address: str, kind: str) -> str:
    """A value from @m, where truths are 0.0 and 1.0."""
    x = fn.let(f"load double, ptr {address}")
    return x if kind == "f8" else fn.let(f"fcmp une double {x}, 0.0")


def _to_slot(fn: Function, address: str, x: str, kind: str) -> None:
    if kind == "b1":
        x = fn.let(f"uitofp i1 {x} to double")
    fn.put(f"store double {x}, ptr {address}")
