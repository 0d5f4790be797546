"""Results that share memory, as views of an argument or of one another, are made by NumPy.

``y = 2 * x; return y, y[1:], x.T`` gives an array with a view of it, and a view of the argument.
Such views are made by NumPy, of the array that they are views of.
"""

from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np

from ...rules import getitem
from ...rules.linear.steps import Slot
from ..ir.lowering import lowering_of
from ..ir.references import CopyOf, has_slots
from ..native import Operation
from ..record.recorder import Recorder
from .source import Writer


class Shared:
    """The arrays that results share, and how each is made.

    ``steps`` has for each of them the text that gives an argument, the step that makes a view, or
    None for a root: an array that is computed, of which there is more than one result.
    """

    def __init__(self, recorder: Recorder) -> None:
        self.plan = recorder.plan
        self.steps: dict[int, str | Operation | None] = {}
        self.roots: set[int] = set()
        given = {p: f"values[{k}]" for k, p in enumerate(recorder.inputs)}
        results = [y.position for y in recorder.outputs if type(y) is Slot]
        paths = [self._path(p) for p in results]
        families = Counter(path[-1] for path in paths)
        for path in paths:
            root = path[-1]
            if root in given:
                self.steps[root] = given[root]
            elif families[root] > 1 and self._is_array(root):
                self.steps[root] = None
                self.roots.add(root)
            else:
                continue
            self.steps |= {p: self.plan[p] for p in path[:-1]}

    def _is_array(self, position: int) -> bool:
        step = self.plan.get(position)
        return step is not None and step.form is not None and step.form.array

    def _path(self, position: int) -> list[int]:
        """Return the arrays from a result to the one that it may be a view of."""
        path = [position]
        while (base := self._base(path[-1])) is not None:
            path.append(base)
        return path

    def _base(self, position: int) -> int | None:
        """Return the array whose entries a step moves; what it makes of it NumPy knows."""
        if not self._is_array(position):
            return None
        f, args, options, *_ = self.plan[position]
        if not args or type(args[0]) is not Slot or f is np.copy:
            return None
        if not (f is getitem or lowering_of(f).moves) or has_slots((args[1:], options)):
            return None
        position_of_base: int = args[0].position
        return position_of_base


def results_text(
    recorder: Recorder, output: Any, shared: Shared, place: Callable[[int], Any]
) -> tuple[list[str], str, dict[str, Any]]:
    """Return lines that make what results share, the text of the output, and its names.

    ``place(position).text()`` reads a result that nothing shares.
    """
    lines: list[str] = []
    named: set[str] = set()

    def read(x: Any) -> str:
        if type(x) is CopyOf or x.position not in shared.steps:
            return str(place(x.position).text())
        name = f"y{x.position}"
        if name not in named:
            named.add(name)
            step = shared.steps[x.position]
            if step is None:
                step = place(x.position).text()
            made = step if isinstance(step, str) else writer.step(step)
            lines.append(f"{name} = {made}")
        return name

    writer = Writer(recorder, output, read=read)
    text = writer.expression(output, final=True)
    writer.read = None  # else the two hold each other, until Python's collector comes
    return lines, text, writer.names
