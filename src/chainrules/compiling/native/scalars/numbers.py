"""Text of programs on single numbers: functions of a straight line, and loops for what repeats.

What one function hands to another lies in memory, at a place of ``@m``. So the text of ::

    y = x[0] * a; y = (y + x[1]) * a; y = (y + x[2]) * a; ...

has one addition and one multiplication, with y carried over and x read at a distance of 1.
:mod:`.placement` says what is a loop and where values lie.
"""

import ctypes
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..assembly.assembler import FunctionText, Lanes, Module, place_of
from ..assembly.functions import function_of_c
from ..assembly.operations import OPCODES, emit
from ..limits import CAREFUL_OPERATIONS, COPIED_RUNS, COPY_LOOP, WRITTEN_OPERATIONS
from ..machine import Code
from ..request import NativeProgram, parameters
from .placement import Part, Placement
from .slots import read_entry, read_slot, write_entry, write_slot

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
Ints = np.ndarray


class TooLongError(ValueError):
    """Error of a program whose machine code would take minutes to make."""


class Numbers:
    """The text of a program of shape (), and the data that its memory begins with."""

    def __init__(self, program: NativeProgram, module: Module, *, rolled: bool = True) -> None:
        self.program, self.module = program, module
        self.plan = Placement(program, rolled=rolled)
        #: operations for which there is text: those of a loop's body once
        self.written = sum(p.run.period if p.run else p.end - p.start for p in self.plan.parts)
        if self.written > WRITTEN_OPERATIONS:
            raise TooLongError("too many operations on single numbers, which repeat nowhere")
        one = Lanes(FunctionText(module), 1)
        self.constants = [
            one.boolean(x) if isinstance(x, bool) else one.number(float(x))
            for x in self.plan.constants
        ]
        self.tables: list[Ints] = []
        self.table_top = 0
        self._write()

    @property
    def effort(self) -> int:
        """The level of LLVM's code generator."""
        return 2 if self.written <= CAREFUL_OPERATIONS else 0

    def fill(self, code: Code) -> None:
        """Put constants and tables where the code expects them."""
        if self.plan.initial:
            where, values = zip(*self.plan.initial)
            memory = (ctypes.c_double * self.plan.top).from_address(code.data("m"))
            np.ctypeslib.as_array(memory)[list(where)] = values
        if self.tables:
            table = np.concatenate(self.tables)
            ctypes.memmove(code.data("t"), table.ctypes.data, table.nbytes)

    # ---- the whole -----------------------------------------------------------------------------

    def _write(self) -> None:
        program = self.program
        calls = []
        for k, part in enumerate(self.plan.parts):
            name = f"@part{k}"
            (self._loop if part.run else self._straight)(name, part)
            calls.append(name)
        calls += self._copy_all()
        fn = FunctionText(self.module)
        arguments = program.arguments()
        for k, kind in enumerate(arguments):
            if kind == "array":
                fn.put(f"store ptr %x{k}, ptr {place_of('a', k, 'ptr')}")
        for k, x in enumerate(program.inputs):
            if x.strides is None:
                self._keep(fn, k, f"%x{self.plan.in_arguments[k]}")
        self._keep_leaves(fn)
        for name in calls:
            fn.put(f"call void {name}()")
        self._define("@run", fn, parameters(arguments))
        self.module.globals += [
            f"@m = global [{max(self.plan.top, 1)} x double] zeroinitializer, align 64",
            f"@t = global [{max(self.table_top, 1)} x i64] zeroinitializer, align 64",
            f"@a = internal global [{max(len(arguments), 1)} x ptr] zeroinitializer, align 64",
        ]

    def _keep_leaves(self, fn: FunctionText) -> None:
        """Store the entries of arrays that loops look up; those that follow each other by loops."""
        leaves, slots, inputs = self.plan.leaves, self.plan.slots, self.program.inputs
        pointers: dict[int, str] = {}
        at = 0
        while at < len(leaves):
            first, end = leaves[at], at + 1
            argument, offset, kind = self._source(first)
            while end < len(leaves) and (
                self._source(leaves[end]) == (argument, offset + end - at, kind)
                and slots[leaves[end]] == slots[first] + end - at
            ):
                end += 1
            if end - at < COPY_LOOP or inputs[first].strides is None:
                for k in leaves[at:end]:
                    self._keep(fn, k, self._read(fn, k, pointers))
            else:
                base, place = self._pointer(fn, argument, pointers), slots[first]

                def body(
                    index: str, states: list[str], of: tuple = (base, offset, kind, place)
                ) -> Sequence[str]:
                    base, offset, kind, place = of
                    x = read_entry(fn, base, fn.plus(index, offset), kind)
                    write_slot(fn, fn.address("@m", fn.plus(index, place)), x, kind)
                    return []

                fn.loop("0", str(end - at), 1, [], body)
            at = end

    def _define(self, name: str, fn: FunctionText, taken: str = "") -> None:
        text = "\n".join(fn.lines)
        self.module.functions[name] = (
            f"define internal void {name}({taken}) noinline nounwind {{\n"
            f"entry:\n{text}\nret void\n}}"
        )

    # ---- reading and writing single values -----------------------------------------------------

    def _read(self, fn: FunctionText, value: int, pointers: dict[int, str]) -> str:
        """A value that is no result of the same function."""
        end = self.plan.first + len(self.plan.codes)
        if value >= end:
            return self.constants[value - end]
        if value < self.plan.first and self.program.inputs[value].strides is not None:
            x = self.program.inputs[value]
            base = self._pointer(fn, self.plan.in_arguments[value], pointers)
            return read_entry(fn, base, str(x.offset), x.dtype)
        return read_slot(fn, place_of("m", self.plan.slots[value]), self.plan.kind(value))

    def _pointer(self, fn: FunctionText, argument: int, pointers: dict[int, str]) -> str:
        """The address of an array that was passed."""
        if argument not in pointers:
            pointers[argument] = fn.let(f"load ptr, ptr {place_of('a', argument, 'ptr')}")
        return pointers[argument]

    def _keep(self, fn: FunctionText, value: int, x: str) -> None:
        """Store a value at its place in @m."""
        write_slot(fn, place_of("m", self.plan.slots[value]), x, self.plan.kind(value))

    def _emit(self, fn: FunctionText, v: Lanes, code: int, operands: list[str]) -> str:
        name, *kinds = self.program.signatures[code]
        return emit(v, name, operands, kinds)

    # ---- straight ------------------------------------------------------------------------------

    def _straight(self, name: str, part: Part) -> None:
        fn = FunctionText(self.module)
        v = Lanes(fn, 1)
        have: dict[int, str] = {}
        pointers: dict[int, str] = {}
        first, rows, slots, direct, lines = (
            self.plan.first,
            self.plan.rows,
            self.plan.slots,
            self.plan.direct,
            fn.lines,
        )
        templates = [_template(self.module, *s) for s in self.program.signatures]
        for t, code in enumerate(self.plan.codes[part.start : part.end].tolist(), part.start):
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
                    write_entry(fn, y, self.plan.kind(value), base, str(place.offset), place.dtype)
        self._define(name, fn)

    # ---- loops ---------------------------------------------------------------------------------

    def _loop(self, name: str, part: Part) -> None:
        number, run = self.plan.parts.index(part), part.run
        assert run is not None
        fn = FunctionText(self.module)
        v = Lanes(fn, 1)
        roles = self.plan.roles[number]
        pointers: dict[int, str] = {}
        before: dict[int, str] = {}
        carried: dict[tuple[int, int], int] = {}
        used = {x[1] for row in roles for x in row if x[0] == "entries"}
        used |= {x[1] for x in self.plan.strided.get(number, ())}
        for argument in sorted(used):
            self._pointer(fn, argument, pointers)
        for row in roles:
            for role in row:
                if role[0] == "same" and role[1] not in before:
                    before[role[1]] = self._read(fn, role[1], pointers)
                elif role[0] == "carried":
                    carried.setdefault(role[1:], len(carried))
        starts = [self._read(fn, x, pointers) for _, x in carried]
        codes = self.plan.codes[run.start : run.start + run.period].tolist()
        kinds = [_TYPES[self.program.kinds[self.plan.first + run.start + j]] for j, _ in carried]
        results: list[str] = []
        stores = {j: (base, step) for j, base, step in self.plan.stores[number] if step}

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
                    where = fn.address(place_of("m", base), self._scaled(fn, index, step, seen))
                    write_slot(
                        fn, where, results[j], self.plan.kind(self.plan.first + run.start + j)
                    )
            for j, argument, offset, step, dtype in self.plan.strided.get(number, ()):
                at = fn.plus(self._scaled(fn, index, step, seen), offset)
                kind = self.plan.kind(self.plan.first + run.start + j)
                write_entry(fn, results[j], kind, pointers[argument], at, dtype)
            return [results[j] for j, _ in carried]

        fn.loop("0", str(run.times), 1, list(zip(kinds, starts)), body)
        for j, place, step in self.plan.stores[number]:
            if not step:
                kind = self.plan.kind(self.plan.first + run.start + j)
                write_slot(fn, place_of("m", place), results[j], kind)
        self._define(name, fn)

    def _scaled(self, fn: FunctionText, index: str, step: int, seen: dict[Any, str]) -> str:
        if step not in seen:
            seen[step] = fn.times(index, step)
        return seen[step]

    def _fetch(
        self,
        fn: FunctionText,
        role: Any,
        index: str,
        pointers: dict[int, str],
        seen: dict[Any, str],
    ) -> str:
        """An operand from memory, in repetition ``index``."""
        if role[0] == "entries":
            _, argument, where, dtype = role
            key = (argument, where.tobytes())
            if key not in seen:
                at = self._index(fn, where, index, seen)
                seen[key] = read_entry(fn, pointers[argument], at, dtype)
            return seen[key]
        if role[0] == "memory":
            _, where, truths = role
            kind = "b1" if truths else "f8"
        else:
            where = np.array([self.plan.slots[x] for x in role[1].tolist()], np.int64)
            kind = self.plan.kind(int(role[1][0]))
        key = where.tobytes()
        if key not in seen:
            address = fn.address("@m", self._index(fn, where, index, seen))
            seen[key] = read_slot(fn, address, kind)
        return seen[key]

    def _index(self, fn: FunctionText, where: Ints, index: str, seen: dict[Any, str]) -> str:
        """``where[index]``: by a multiplication where the distances are equal, else by a table."""
        steps = np.diff(where)
        if (steps == steps[0]).all():
            return fn.plus(self._scaled(fn, index, int(steps[0]), seen), int(where[0]))
        begin = self.table_top
        self.tables.append(where.astype(np.int64))
        self.table_top += len(where)
        address = fn.address(place_of("t", begin, "i64"), index, "i64")
        return fn.let(f"load i64, ptr {address}")

    # ---- results that are copied at the end ----------------------------------------------------

    def _copy_all(self) -> list[str]:
        """Functions that copy results; equal distances make loops."""
        names = []
        runs = self._copy_runs()
        for begin in range(0, len(runs), COPIED_RUNS):
            fn = FunctionText(self.module)
            pointers: dict[int, str] = {}
            for head, step_in, step_out, count in runs[begin : begin + COPIED_RUNS]:
                self._copy(fn, head, step_in, step_out, count, pointers)
            name = f"@copy{begin}"
            self._define(name, fn)
            names.append(name)
        return names

    def _source(self, value: int) -> tuple[int, int, str]:
        """Return the place of a value: an argument, or -1 for @m; an offset there; its kind."""
        if value < self.plan.first and self.program.inputs[value].strides is not None:
            x = self.program.inputs[value]
            return self.plan.in_arguments[value], x.offset, x.dtype
        return -1, self.plan.slots[value], self.plan.kind(value)

    def _copy_runs(self) -> list[tuple[int, int, int, int]]:
        """(first of the copies, distance of sources, distance of places, count), in order."""
        sources = [(*self._source(x), place) for x, place in self.plan.copies]
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
            if end - k < COPY_LOOP:
                end = k + 1
            runs.append((k, *steps, end - k))
            k = end
        return runs

    def _copy(
        self,
        fn: FunctionText,
        head: int,
        step_in: int,
        step_out: int,
        count: int,
        pointers: dict[int, str],
    ) -> None:
        value, place = self.plan.copies[head]
        argument, at, kind = self._source(value)
        out = self._pointer(fn, place.argument, pointers)
        base = "@m" if argument < 0 else self._pointer(fn, argument, pointers)

        def body(index: str, states: list[str]) -> Sequence[str]:
            where = fn.plus(fn.times(index, step_in), at)
            if argument < 0:
                x = read_slot(fn, fn.address(base, where), kind)
            else:
                x = read_entry(fn, base, where, kind)
            write_entry(
                fn, x, kind, out, fn.plus(fn.times(index, step_out), place.offset), place.dtype
            )
            return []

        fn.loop("0", str(count), 1, [], body)


def _template(module: Module, name: str, *kinds: str) -> str | None:
    """The line of an operation, for the number of its register and its operands."""
    if "b1" in kinds:
        return None
    if c_name := OPCODES[name].c_name:
        given = ", ".join(["double %s"] * len(kinds))
        return f"%%%d = call double {function_of_c(module, c_name, len(kinds))}({given}) #0"
    return _TEMPLATES.get(name)
