"""Schedule of fused loops: one native function runs all loops between two calls of NumPy.

What only they read lies in one piece of memory, where a place is used again as soon as its last
reader is done. A schedule of one loop is a call of that.
"""

import math
from collections import Counter
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ...ir.dtypes import PARTS, kind_of_form, typed
from ...ir.forms import ValueForm
from ...ir.looks import bits
from ...native import Input, NativeConstant, Operation, Output, Request, build
from ...native.arrays import axes
from ...native.assembly.operations import POWERS
from ...native.sequence import NestSequence

# Constants that are written into a loop; others are read, so that loops which differ in them alone
# (the rate of each step, the time) are one.
_WRITTEN = frozenset(map(bits, (0.0, 1.0, *POWERS)))


class Loop(NamedTuple):
    """A loop, with the names of what it reads and the positions of what it makes."""

    request: Request
    given: list[str]
    made: list[int]
    filled: set[int]  # of which it makes a part, with zeros around it
    divided: dict[int, int]  # sums that are means, and by what they are divided
    updated: set[int]  # of what it makes, arrays that were there before

    @property
    def new(self) -> list[int]:
        return [p for p in self.made if p not in self.updated]

    def is_large(self, steps: list[Operation]) -> bool:
        """Say whether it may be done in pieces, and one call more is nothing to it."""
        sizes = [math.prod(form.shape) for p in self.made if (form := steps[p].form)]
        return max(math.prod(self.request.shape), *sizes) >= axes.PIECE_POINTS

    def __str__(self) -> str:
        shape, inputs, ops, _ = self.request
        read, made = f"{len(inputs)} arrays or numbers read", f"{len(self.made)} made"
        return f"a loop over {shape}: {len(ops)} operations, {read}, {made}"


class Schedule:
    """Loops behind each other, in the making."""

    def __init__(self, steps: list[Operation], loops: list[Loop]) -> None:
        self.steps, self.loops = steps, loops
        self.how: list[str] = []  # in words

    def names_read(self) -> set[str]:
        """Return what is read and not made here."""
        read = {_name(text) for loop in self.loops for text in loop.given}
        return read - {f"v{p}" for loop in self.loops for p in loop.new}

    def lines(self, constant: Callable, constants: dict[str, Any], threads: int, wanted: set[str],
              ) -> list[str]:  # fmt: skip
        """Return the lines that do it, and give the results that are ``wanted`` names."""
        if len(self.loops) == 1:
            return self._one(constant, threads)
        self.how = [
            f"{n} times {how}" if n > 1 else how for how, n in Counter(map(str, self.loops)).items()
        ]
        return _Together(self, constants, wanted).lines(constant)

    def _one(self, constant: Callable, threads: int) -> list[str]:
        (loop,) = self.loops
        before, after = [], []
        for p in loop.new:
            before.append(self.allocated(p, "zeros" if p in loop.filled else "empty"))
            after += self.taken_out(p)
            if p in loop.divided:
                after.append(f"v{p} /= {loop.divided[p]}")
        kernel = build(loop.request, threads)
        on = getattr(kernel, "threads", 1)
        self.how = [f"{loop}, on {on} threads" if on > 1 else str(loop)]
        given = ", ".join([*loop.given, *map(self.target, loop.made)])
        return [*before, f"{constant(kernel)}({given})", *after]

    def form(self, position: int) -> ValueForm:
        form: ValueForm | None = self.steps[position].form
        assert form is not None
        return form

    def target(self, position: int) -> str:
        """Return the name of the array that is filled: a number is read out of one."""
        return f"{'v' if self.form(position).array else 'a'}{position}"

    def allocated(self, position: int, how: str) -> str:
        form = self.form(position)
        kind = kind_of_form(form)
        dtype = "" if kind == "f8" else f", {np.dtype(kind).name}"
        order = ", order='F'" if form.order == "F" else ""
        shape = form.shape if form.array else ()
        return f"{self.target(position)} = {how}({shape}{dtype}{order})"

    def taken_out(self, position: int) -> list[str]:
        form = self.form(position)
        if form.array:
            return []
        return [f"v{position} = a{position}{'.item()' if form.kind is float else '[()]'}"]


def _name(text: str) -> str:
    """Return the name of what is read: a number may be made an array."""
    return text[8:-1] if text.startswith("asarray(") else text


class _Together:
    """A schedule of several loops as one native function."""

    def __init__(self, schedule: Schedule, constants: dict[str, Any], wanted: set[str]) -> None:
        self.schedule, self.constants = schedule, constants
        self.sequence = NestSequence()
        self.kinds = ["array"]
        self.given: list[str] = []  # what the native function takes after the memory
        self.outside: dict[str, tuple[int, int]] = {}  # where arguments and constants lie
        made = dict.fromkeys([p for loop in schedule.loops for p in loop.new])
        self.wanted = [p for p in made if f"v{p}" in wanted]
        self.numbers_of: dict[Any, list[int]] = {}  # by type: single numbers, in one array of each
        for p in self.wanted:
            form = schedule.form(p)
            if form.array:
                self.outside[f"v{p}"] = self._argument(f"v{p}", "array")
            else:
                self.numbers_of.setdefault(form.kind, []).append(p)
        for kind, places in self.numbers_of.items():
            base, _ = self._argument(f"a{places[0]}", "array")
            size = np.dtype(kind).itemsize
            self.outside |= {f"v{p}": (base, k * size) for k, p in enumerate(places)}
        self.memory = _Memory()
        numbers = {bits(x): x for loop in schedule.loops for x in _numbers_in(loop)}
        self.numbers = np.array(list(numbers.values()))
        self.number_at = {key: 8 * k for k, key in enumerate(numbers)}
        last: dict[str, int] = {}
        for at, loop in enumerate(schedule.loops):
            names = [*map(_name, loop.given), *[f"v{p}" for p in loop.made]]
            last |= dict.fromkeys(names, at)
        ends: dict[int, list[str]] = {}
        for name, at in last.items():
            ends.setdefault(at, []).append(name)
        for at, loop in enumerate(schedule.loops):
            self._add(loop)
            for name in ends.get(at, ()):
                self.memory.free(name)

    def _argument(self, text: str, kind: str) -> tuple[int, int]:
        self.given.append(text)
        self.kinds.append(kind)
        return len(self.kinds), 0

    def _place(self, text: str) -> tuple[int, int]:
        """Return where the array or number begins that is read so."""
        name = _name(text)
        if name in self.memory.places:
            return 1, self.memory.places[name]
        if name in self.outside:
            return self.outside[name]
        if text not in self.outside:
            held = self.constants.get(text)
            if held is not None:
                self.outside[text] = 0, held.ctypes.data
            else:
                array = text != name or self.schedule.form(int(name[1:])).array
                self.outside[text] = self._argument(text, "array" if array else "float")
        return self.outside[text]

    def _add(self, loop: Loop) -> None:
        inputs, places, request = [], [], loop.request
        first, numbers = len(request.inputs), list(dict.fromkeys(map(bits, _numbers_in(loop))))
        for x, name in zip(request.inputs, loop.given, strict=True):
            strides = x.strides or (0,) * len(request.shape)
            inputs.append(x._replace(strides=strides, offset=0))
            places.append(_shifted(self._place(name), x.offset, x.dtype))
        inputs += [Input("f8", (0,) * len(request.shape))] * len(numbers)
        places += [(0, self.numbers.ctypes.data + self.number_at[key]) for key in numbers]

        def moved(x: Any) -> Any:
            if type(x) is int:
                return x if x < first else x + len(numbers)
            return first + numbers.index(bits(x.x)) if _is_read(x) else x

        ops = [Operation(op.function, tuple(map(moved, op.operands))) for op in request.ops]
        made, outputs = iter(loop.made), []
        for y in request.outputs:
            start = y.offset
            if y.of is None:
                p = next(made)
                if p not in loop.updated:
                    self._made(p, p in loop.filled)
                places.append(_shifted(self._place(f"v{p}"), start, y.dtype))
            else:  # the imaginary parts of complex numbers
                start = request.outputs[y.of].offset
            at = None if y.at is None else moved(y.at)
            outputs.append(y._replace(value=moved(y.value), offset=y.offset - start, at=at))
        self.sequence.add(Request(request.shape, inputs, ops, outputs), places)
        for p, count in loop.divided.items():
            self._each("divide", p, 0, float(count))

    def _made(self, position: int, filled: bool) -> None:
        """Give an array that is made here a place, and fill it with zeros where that is asked."""
        name, form = f"v{position}", self.schedule.form(position)
        if name not in self.outside and name not in self.memory.places:
            self.memory.take(name, math.prod(form.shape) * np.dtype(form.kind).itemsize)
        if filled:
            self._each("where", position, NativeConstant(True), 0.0, 0.0)

    def _each(self, name: str, position: int, *operands: Any) -> None:
        """Do an operation on each number of an array that is made, or put numbers there."""
        form, place = self.schedule.form(position), self._place(f"v{position}")
        kind = kind_of_form(form)
        part, size = PARTS.get(kind, kind), math.prod(form.shape) * (2 if kind in PARTS else 1)
        read = [Input(part, (1,))] if 0 in [x for x in operands if type(x) is int] else []
        given = [NativeConstant(typed(x, part)) if type(x) is float else x for x in operands]
        made = [Output(len(read), (1,), None, part)]
        request = Request((size,), read, [Operation(name, tuple(given))], made)
        self.sequence.add(request, [place] * (1 + len(read)))

    def lines(self, constant: Callable) -> list[str]:
        schedule = self.schedule
        run, table = self.sequence.built(self.kinds)
        before = [schedule.allocated(p, "empty") for p in self.wanted if schedule.form(p).array]
        after = []
        for kind, places in self.numbers_of.items():
            held, names = f"a{places[0]}", ", ".join(f"v{p}" for p in places)
            before.append(f"{held} = empty({len(places)}, {np.dtype(kind).name})")
            after.append(f"{names}, = {held}{'.tolist()' if kind is float else ''}")
        given = [constant(table), f"empty({self.memory.size // 8})", *self.given]
        constant(self.numbers)  # which holds it
        return [*before, f"{constant(run)}({', '.join(given)})", *after]


def _numbers_in(loop: Loop) -> list[float]:
    """Return the constants that a loop reads."""
    return [x.x for op in loop.request.ops for x in op.operands if _is_read(x)]


def _is_read(x: Any) -> bool:
    return type(x) is NativeConstant and type(x.x) is float and bits(x.x) not in _WRITTEN


def _shifted(place: tuple[int, int], entries: int, dtype: str) -> tuple[int, int]:
    base, start = place
    return base, start + entries * np.dtype(dtype).itemsize


class _Memory:
    """Places in one piece of memory; what is free again is taken by what has the same size."""

    def __init__(self) -> None:
        self.size = 0
        self.places: dict[str, int] = {}
        self.sizes: dict[str, int] = {}
        self.unused: dict[int, list[int]] = {}

    def take(self, name: str, size: int) -> None:
        size = -(-size // 64) * 64
        unused = self.unused.get(size)
        if unused:
            self.places[name] = unused.pop()
        else:
            self.places[name] = self.size
            self.size += size
        self.sizes[name] = size

    def free(self, name: str) -> None:
        if name in self.places:
            self.unused.setdefault(self.sizes[name], []).append(self.places[name])
