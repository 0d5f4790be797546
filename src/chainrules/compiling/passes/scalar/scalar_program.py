"""Scalarized program: one native function on single numbers, in which moving entries is free.

``x[1:] - x[:-1]`` of three numbers is two subtractions. An array is lowered to an array of the
*names* of numbers, so that NumPy itself says what ``reshape``, ``x[::-1]`` or ``concatenate`` do.
It suits loops over numbers and small arrays, whose whole program is then one native function.
"""

import functools
import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ....config.thresholds import SCALAR_AVERAGE, SCALAR_ENTRIES
from ....rules import getitem
from ...ir.forms import ValueForm
from ...ir.looks import STRUCTURE, TRUTHS, Look
from ...ir.lowering import lowering_of
from ...ir.scalars import Names, NotLowered, refuse_last_bits
from ...native import Output, Request, build
from ...native.scalars.numbers import TooLongError
from ...record.recorder import Recorder
from ..memory_sharing import Shared, results_text
from ..replay import Replay
from ..source import Missed, Run, defined
from .scalar_trace import ScalarTrace


class ResultPlace(NamedTuple):
    """Location of a result's entries: from ``start`` in the array of numbers, or of booleans."""

    kind: str
    start: int
    form: ValueForm

    def text(self) -> str:
        """Return the expression that reads the result, of the arrays ``n`` and ``t``."""
        form, held = self.form, "t" if self.kind == "b1" else "n"
        if not form.array:
            read = f"{held}[{self.start}]"
            if form.kind in (np.float64, np.bool_):
                return read
            if form.kind in (float, bool):
                return f"{read}.item()"
            return f"int({read})" if form.kind is int else f"int64({read})"
        text = f"{held}[{self.start}:{self.start + math.prod(form.shape)}]"
        text += ".astype(int64)" if self.kind == "i8" else ".copy()"
        if len(form.shape) == 1:
            return text
        if form.order == "F":
            return f"{text}.reshape({form.shape[::-1]}).T"
        return f"{text}.reshape({form.shape})"


class NativeLine:
    """A recording as one native function on numbers, which runs as a ``Replay`` does.

    What it gives, and what was looked at, lies in an array of numbers, and in one of truths, of
    which the first are those that decide the way. It runs to its end, and compares these then.

    Raises
    ------
    NotLowered
        When made, if a step has no native form.
    """

    def __init__(self, recorder: Recorder, output: Any) -> None:
        refuse_last_bits(recorder)
        shared = Shared(recorder)
        self.line = ScalarTrace.of(recorder, shared.roots)
        self.given_forms = [recorder.steps[position].form for position in recorder.inputs]
        self.looks = recorder.looks
        self.numbers: list[int] = []
        self.truths: list[int] = []
        self.quick: dict[int, int] = {}  # of a look, which truth it is
        for at, look in enumerate(self.looks):
            is_truth = look.kind in TRUTHS
            truth = self.line.truth(look) if is_truth else self.line.is_same(look)
            if truth is not None:
                self.quick[at] = len(self.truths)
                self.truths.append(truth)
        self.regular = len(self.line.regular)
        self.truths += self.line.regular
        self.reads_truths = bool(self.truths)  # or those of an array without entries
        self.slow: dict[int, str] = {}  # of a look, how its value is read
        for at, look in enumerate(self.looks):
            if look.kind not in TRUTHS + STRUCTURE:
                self.slow[at] = self.place(look.position).text()
        lines, text, names = results_text(recorder, output, shared, self.place)
        self.kernel, numbers, truths = self._built()
        self.names = {
            **names, "kernel": self.kernel, "numbers": numbers, "truths": truths,
            "int64": np.int64,
            "expected": bytes(self.looks[at].seen != ("bool", False) for at in self.quick),
        }  # fmt: skip
        if self.regular:
            self.names["by_numpy"] = functools.cache(functools.partial(Replay, recorder, output))
        missed = FirstMissed(self.looks, self.quick, self.slow, dict(self.names))
        self.names["first_missed"] = missed
        self.run: Run
        lines = self._lines([*lines, f"return None, {text}"])
        self.run, self.source = defined(lines, self.names, "<native recording>")

    def place(self, position: int) -> ResultPlace:
        """Give the result of a step a place among what comes out."""
        x, form = self.line.values[position], self.line.steps[position].form
        if type(x) is not Names or form is None:
            raise NotLowered("a tuple that comes out")
        held = self.truths if x.kind == "b1" else self.numbers
        self.reads_truths |= x.kind == "b1"
        start = len(held)
        held += x.ids.reshape(-1, order="F" if form.order == "F" else "C").tolist()
        return ResultPlace(x.kind, start, form)

    def _built(self) -> tuple[Callable, np.ndarray, np.ndarray]:
        """Return the native function, and the two arrays with the constants in them."""
        line = self.line
        order, ops, operand = line.program([*self.numbers, *self.truths])
        outputs, arrays = [], []
        for dtype, held in (("f8", self.numbers), ("b1", self.truths)):
            array: np.ndarray = np.zeros(len(held), np.float64 if dtype == "f8" else np.bool_)
            first = None
            for place, name in enumerate(held):
                if name < 0:
                    array[place] = line.constants[-name - 1]
                    continue
                outputs.append(Output(operand(name), (), None, dtype, place, first))
                first = len(outputs) - 1 if first is None else first
            arrays.append((array, first is not None))
        self.how = [f"machine code: {len(ops)} operations on numbers, {len(self.looks)} looks"]
        self.given = [name for (_, used), name in zip(arrays, "nt", strict=True) if used]
        self.needed = order
        self.request = Request((), line.inputs, ops, outputs)
        try:
            return build(self.request), arrays[0][0], arrays[1][0]
        except TooLongError as error:
            raise NotLowered(str(error)) from None

    def requests(self) -> list[Request]:
        """Return what :func:`native.build` was asked for."""
        return [self.request]

    def _lines(self, results: list[str]) -> list[str]:
        lines = ["def run(values):", "n = numbers.copy()"]
        lines += ["t = truths.copy()"] if self.reads_truths else []
        whole = [k for k, form in enumerate(self.given_forms) if form and form.kind is int]
        given = [
            f"float(values[{k}])" if k in whole else f"values[{k}]"
            for k in range(len(self.given_forms))
        ]
        given = given if whole else ["*values"]
        lines.append(f"kernel({', '.join([*given, *self.given])})")
        if self.regular:
            q = len(self.quick)
            part = f"t[{q}:{q + self.regular}]"
            lines.append(f"if not {part}.all(): return by_numpy().run(values)")
        if self.quick or self.slow:
            q, unseen = len(self.quick), self.slow.keys() - self.quick.keys()
            changed = (
                f"t[:{q}].tobytes() != expected"
                if q < len(self.truths)
                else ("t.tobytes() != expected")
            )
            condition = "True" if unseen else changed
            lines += [
                f"if {condition}:",
                f"    missed = first_missed(n, {'t' if self.reads_truths else None})",
                "    if missed is not None: return missed, None",
            ]
        return [*lines, *results]


class FirstMissed(NamedTuple):
    """Finds the first look that sees something else than it did, and what.

    Of a look ``quick`` says which truth it is, and ``slow`` how its value is read; of one with both
    the truth is that nothing has changed.
    """

    looks: list[Look]
    quick: dict[int, int]
    slow: dict[int, str]
    names: dict[str, Any]

    def __call__(self, n: np.ndarray, t: np.ndarray) -> Missed | None:
        for at, look in enumerate(self.looks):
            if at in self.quick and at not in self.slow:
                seen: Any = ("bool", bool(t[self.quick[at]]))
            elif at in self.slow and not (at in self.quick and t[self.quick[at]]):
                seen = look.at(eval(self.slow[at], {**self.names, "n": n, "t": t}))
            else:
                continue
            if seen != look.seen:
                return at, seen
        return None


def is_of_numbers(recorder: Recorder) -> bool:
    """Say whether the steps are on numbers and arrays so small that they are better taken apart."""
    sizes = [
        math.prod(step.form.shape)
        for step in recorder.plan.values()
        if step.form and not _moves_data(step.function)
    ]
    return sum(sizes) <= max(SCALAR_ENTRIES, SCALAR_AVERAGE * len(recorder.plan))


def _moves_data(f: Any) -> bool:
    row = lowering_of(f)
    return row.moves or f is getitem or row.does in ("written", "scatter", "array")
