"""Python source of a recording: one line for each step, and one for each look.

``np.sum(np.sin(x) ** 2)`` replays as ::

    v1 = c0(v0)
    v2 = v1 ** 2
    v3 = c1(v2)

in pieces of some thousand lines, which hand values on in a list.
"""

import functools
import math
import operator
import re
from collections.abc import Callable, Hashable
from types import FunctionType
from typing import Any

import numpy as np

from ...config.thresholds import LET_GO, PIECE_LINES
from ...rules import children, getitem
from ...rules.containers import LEAVES
from ...rules.linear.steps import Slot
from ...rules.table.shortcuts import TRANSFORMS, transform_of_length
from ...rules.tracing.funnel import body, is_primitive
from ...rules.tracing.object_arrays import is_object_array
from ...rules.tracing.running import apart
from ..ir.looks import Look
from ..ir.references import CopyOf, has_slots
from ..native import Operation
from ..record.recorder import Recorder
from .einsum_products import with_products
from .factor_sharing import Factor, factored

_INFIX = {
    operator.add: "+", operator.sub: "-", operator.mul: "*", operator.truediv: "/",
    operator.floordiv: "//", operator.mod: "%", operator.pow: "**", operator.matmul: "@",
    operator.eq: "==", operator.ne: "!=", operator.lt: "<", operator.le: "<=", operator.gt: ">",
    operator.ge: ">=", operator.and_: "&", operator.or_: "|", operator.xor: "^",
}  # fmt: skip
_PREFIX = {operator.neg: "-", operator.pos: "+", operator.invert: "~"}

# Types that say all of the structure of their numbers.
_NUMBERS = frozenset({
    float, int, bool, complex, np.bool_, np.int32, np.int64, np.float32, np.float64, np.complex64,
    np.complex128,
})  # fmt: skip

_DISPATCHED = type(np.sum)  # of NumPy's functions that arrays of others may answer
NAME = re.compile(r"\b[fvw]\d+\b")

Missed = tuple[int, Hashable]  # which look saw something else, and what
Run = Callable[[list], tuple[Missed | None, Any]]


def defined(lines: list[str], names: dict[str, Any], file: str) -> tuple[Any, str]:
    """Return the function of one argument that ``lines`` define, and its source."""
    source, names = "\n    ".join(lines), {**names, "__name__": __name__}
    exec(compile(source, file, "exec"), names)
    return names.popitem()[1], source  # a function among its own names waits for the collector


class Writer:
    """Writer of the source of a recording, in which steps share the factors of a matrix.

    ``read`` gives the text of a result where this is not its variable. A look that misses returns
    ``missed``, of which look it was and what it saw.
    """

    def __init__(
        self,
        recorder: Recorder,
        output: Any,
        shares: bool = True,
        read: Callable[[Any], str] | None = None,
        missed: str = "{}, {}",
    ) -> None:
        self.recorder = recorder
        self.read = read
        self.missed = missed
        self.plan = recorder.plan
        if shares:
            self.plan = with_products(factored(recorder), recorder.steps)
        self.output = output
        self.sources: list[str] = []  # of the pieces
        self.names: dict[str, Any] = {}
        self.known: dict[Any, str] = {}
        self.looked = 0  # looks that are written so far
        self.reads: set[int] = set()
        self.factors: set[int] = set()  # the matrices that have been factorised
        self.memory_of: dict[int, int] = {}  # of results in the memory of others, the first one

    @property
    def source(self) -> str:
        return "".join(self.sources)

    @functools.cached_property
    def large(self) -> set[str]:
        """Names of the results that are not kept longer than needed."""
        forms = [(p, step.form) for p, step in enumerate(self.recorder.steps)]
        large = [p for p, form in forms if form is not None and math.prod(form.shape) >= LET_GO]
        return {f"{letter}{p}" for p in large for letter in "fvw"}

    def let_go(self, lines: list[str]) -> list[str]:
        """Return the lines with ``v7 = None`` behind the last one that reads a large result."""
        if not self.large:
            return lines
        last: dict[str, int] = {}
        for k, line in enumerate(lines):
            for name in NAME.findall(line):
                last[name] = k
        freed: dict[int, list[str]] = {}
        for name, k in last.items():
            if name in self.large and k < len(lines) - 1:
                freed.setdefault(k, []).append(f"{name} = None")
        return [part for k, line in enumerate(lines) for part in (line, *freed.get(k, ()))]

    def pieces(self) -> list[Callable]:
        plan = list(self.plan.items())
        blocks: list[tuple[list[str], set[int], set[int]]] = []
        for start in range(0, max(len(plan), 1), PIECE_LINES):
            lines: list[str] = []
            self.reads, made, self.factors = set(), set(), set()
            for position, step in plan[start : start + PIECE_LINES]:
                lines += self.looks_before(position)
                lines.append(f"v{position} = {self.step(step)}")
                made.add(position)
            if start + PIECE_LINES >= len(plan):
                lines += self.last_looks()
                lines.append(f"r[-1] = {self.expression(self.output, final=True)}")
            blocks.append((lines, self.reads - made, made))
        pieces, later = [], set[int]()  # what is read by pieces behind
        for k, (lines, reads, made) in reversed(list(enumerate(blocks))):
            pieces.append(self._compiled(k, lines, reads, made & later))
            later |= reads
        self.sources.reverse()
        return pieces[::-1]

    def _compiled(self, k: int, lines: list[str], reads: set, wanted: set) -> Callable:
        text = [f"v{position} = r[{position}]" for position in sorted(reads)]
        text += lines
        text += [f"r[{position}] = v{position}" for position in sorted(wanted)]
        lines = ["def piece(r):", *self.let_go(text)]
        piece: Callable
        piece, source = defined(lines, self.names, f"<recording, piece {k}>")
        self.sources.append(source + "\n")
        return piece

    def looks_before(self, position: int) -> list[str]:
        """Return the lines of the looks before a step that are not written yet."""
        looks, first = self.recorder.looks, self.looked
        while self.looked < len(looks) and looks[self.looked].before <= position:
            self.looked += 1
        return [self.look(at, looks[at]) for at in range(first, self.looked)]

    def last_looks(self) -> list[str]:
        return self.looks_before(len(self.recorder.steps) + 1)

    def look(self, at: int, look: Look) -> str:
        x = self.expression(Slot(look.position))
        if look.kind == "bool":
            was = look.seen == ("bool", True)
            other = self.constant(("bool", not was))
            return f"if {'not ' if was else ''}{x}: return {self.missed.format(at, other)}"
        noted, seen = self.constant(look.at), self.constant(look.seen)
        missed = f"(s := {noted}({x})) != {seen}"
        form = self.recorder.steps[look.position].form
        if look.kind == "structure" and form is not None and form.kind in _NUMBERS:
            missed = f"type({x}) is not {self.constant(form.kind)} and {missed}"
        elif look.kind == "structure" and form is not None and form.array:
            # Nearly always it is as it was, which takes a quarter of the time to see.
            array, dtype = self.constant(np.ndarray), self.constant(form.kind)
            other = f"type({x}) is not {array} or {x}.shape != {form.shape} or {x}.dtype != {dtype}"
            missed = f"({other}) and {missed}"
        return f"if {missed}: return {self.missed.format(at, 's')}"

    def step(self, step: Operation) -> str:
        f, options = step.function, step.options
        parts = [self.expression(x) for x in step.operands]
        if f in _INFIX and len(parts) == 2 and not options:
            return f"{parts[0]} {_INFIX[f]} {parts[1]}"
        if f in _PREFIX and len(parts) == 1 and not options:
            return f"{_PREFIX[f]}{parts[0]}"
        if (f is getitem or f is operator.getitem) and len(parts) == 2 and not options:
            return f"{parts[0]}[{parts[1]}]"
        if type(f) is _DISPATCHED and f in TRANSFORMS and (called := self.transform(step)):
            return called
        given = [*parts, *(f"{k}={self.expression(x)}" for k, x in options.items())]
        if not (type(f) is FunctionType and is_primitive(f) and self._is_plain(step)):
            return f"{self.constant(f)}({', '.join(given)})"
        named = f"dict({', '.join(given[len(parts) :])})" if options else "{}"
        called = f"{self.constant(body(f))}, ({''.join(f'{x}, ' for x in parts)}), {named}"
        return f"{self.constant(apart)}({called})"

    def transform(self, step: Operation) -> str:
        """Return the text of a Fourier transform by its ufunc; "" where NumPy's wrapper is."""
        f, (x, *rest) = step.function, step.operands
        form = self.recorder.steps[x.position].form if type(x) is Slot else None
        given, made = TRANSFORMS[f]
        if form is None or not form.array or form.kind != given or len(form.shape) != 1:
            return ""
        options = dict(zip(("n", "axis", "norm"), rest)) | step.options
        n, axis, norm = options.pop("n", None), options.pop("axis", -1), options.pop("norm", None)
        plan = transform_of_length(f, form.shape[0], n, norm)
        if plan is None or options or axis not in (-1, 0):
            return ""
        ufunc, scale, entries = plan
        y = f"{self.constant(np.empty)}({entries}, {self.constant(made)})"
        return f"{self.constant(ufunc)}({self.expression(x)}, {scale!r}, out={y})"

    def _is_plain(self, step: Operation) -> bool:
        """Say whether a primitive has nothing to look for among its arguments: traced objects."""
        for x in (*step.operands, *step.options.values()):
            form = self.recorder.steps[x.position].form if type(x) in (Slot, CopyOf) else None
            if is_object_array(x) or (form is not None and form.kind == np.dtype(object)):
                return False
        return True

    def expression(self, x: Any, final: bool = False) -> str:
        """Return the text that gives ``x``, with what slots stand for; ``final`` of the output."""
        kind = type(x)
        if kind is Slot or kind is CopyOf:
            return self.name_of_result(x) if self.read is None else self.read(x)
        if kind is Factor:
            if x.position in self.factors:
                return f"f{x.position}"
            self.factors.add(x.position)
            return f"(f{x.position} := {self.constant(x.make)}({self.expression(x.matrix)}))"
        if kind is int or (kind is float and x - x == 0):
            return f"({x!r})"
        if kind is bool or x is None:
            return repr(x)
        if kind is np.ndarray and final:
            return f"{self.constant(x)}.copy('K')"
        if kind in LEAVES or (not final and not has_slots(x)):
            return self.constant(x)
        if kind is tuple:
            return f"({''.join(self.expression(part, final) + ', ' for part in x)})"
        if kind is list:
            return f"[{', '.join(self.expression(part, final) for part in x)}]"
        if kind is dict:
            items = [f"{self.constant(k)}: {self.expression(v, final)}" for k, v in x.items()]
            return f"{{{', '.join(items)}}}"
        parts = children(x)
        if parts is None:
            return self.constant(x)
        inner = ", ".join(self.expression(part, final) for part in parts.values)
        return f"{self.constant(parts.rebuild)}([{inner}])"

    def name_of_result(self, x: Any) -> str:
        """Return the text that gives the result which a slot, or a copy of one, stands for."""
        self.reads.add(x.position)
        name = f"v{self.memory_of.get(x.position, x.position)}"
        return name if type(x) is Slot else f"{self.constant(_another)}({name})"

    def constant(self, x: Any) -> str:
        """Return the name of something that is the same in all runs."""
        name = self.known.get(id(x))
        if name is None:
            name = f"c{len(self.names)}"
            self.names[name] = x
            self.known[id(x)] = name
        return name


def _another(x: Any) -> Any:
    return x.copy() if isinstance(x, np.ndarray) else x
