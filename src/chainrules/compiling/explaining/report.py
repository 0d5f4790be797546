"""Explanation as a reader gets it: text of 40 lines, data, a page in a notebook, a graph."""

import html
from collections.abc import Sequence
from typing import Any, NamedTuple

from ...reverse.held import Held
from ..ir.forms import ValueForm
from ..ir.printing import shown

LINES_SHOWN = 40  # lines that a text shows
HOT = 0.2  # share of the time from which a line is marked

Row = tuple[bool, tuple[object, ...]]  # whether it is marked, and its cells

_STYLE = (
    "<style>.cr-explanation table {font-family: monospace; text-align: left} "
    ".cr-explanation td {text-align: left} .cr-hot {font-weight: bold; color: firebrick}</style>"
)


class ExplainedStep(NamedTuple):
    """One call: its name, the form of its result, the user's line, and the time until it ended.

    ``cuts`` says that what it reads moves with the inputs, and that its result is constant. Of a
    step of a pullback the line is that of the call which is pulled back, and ``pulled`` its name.
    """

    name: str
    form: ValueForm | None
    line: str
    seconds: float
    reads: tuple[int, ...]
    finite: bool
    cuts: bool = False
    pulled: str = ""

    def __str__(self) -> str:
        of = f"  in the pullback of {self.pulled}" if self.pulled else ""
        mark = "" if self.finite else "  not finite"
        return f"{self.line:28} {self.name:20} {shown(self.form):18}{of}{mark}".rstrip()


class Spent(NamedTuple):
    """Seconds that one line of the user's took, forward and on the way back, in so many steps."""

    line: str
    forward: float
    backward: float
    steps: int
    name: str  # of the step that took the most

    @property
    def seconds(self) -> float:
        return self.forward + self.backward

    def __str__(self) -> str:
        times = f"{1e3 * self.forward:9.3f} ms {1e3 * self.backward:9.3f} ms back"
        return f"  {self.line:28} {times} {self.steps:6} steps, most {self.name}"


def spent_by_line(steps: Sequence[ExplainedStep]) -> list[Spent]:
    """Return the time of each line of the user's, the dearest first."""
    lines: dict[str, list[ExplainedStep]] = {}
    for step in steps:
        lines.setdefault(step.line, []).append(step)
    found = [
        Spent(
            line,
            sum(step.seconds for step in those if not step.pulled),
            sum(step.seconds for step in those if step.pulled),
            len(those),
            max(those, key=lambda step: step.seconds).name,
        )
        for line, those in lines.items()
    ]
    return sorted(found, key=lambda x: -x.seconds)


class Explanation:
    """Result of ``explain``: ``print`` it, show it in a notebook, read its data, draw its graph.

    ``text`` is all of it, and ``str`` its first 40 lines. The text is a head, and below it a line
    for each step. ``steps`` are the calls of an uncompiled
    function, in order; ``first_bad`` is the first one whose result has a NaN or an infinity that
    none of what it read had, or None. ``held`` is what a pullback holds, by line.
    """

    def __init__(
        self,
        head: str,
        steps: list[ExplainedStep] | None = None,
        first_bad: ExplainedStep | None = None,
        held: list[Held] | None = None,
        most: int | None = LINES_SHOWN,
    ) -> None:
        self._head = head
        self.steps = steps or []
        self.first_bad = first_bad
        self.held = held or []
        self._most = most

    @property
    def text(self) -> str:
        """All lines."""
        return "\n".join([self._head, *map(str, self.steps)])

    def __str__(self) -> str:
        head, steps = self._head.splitlines(), self.steps
        count = len(head) + len(steps)
        if self._most is None or count <= self._most:
            return self.text
        kept = self._most - 1
        lines = [*head, *map(str, steps[:kept])][:kept]
        return "\n".join([*lines, f"and {count - kept} lines more: explanation.text"])

    __repr__ = __str__

    def spent(self) -> list[Spent]:
        """Return the time of each line of the user's, forward and back, the dearest first."""
        return spent_by_line(self.steps)

    def _repr_html_(self) -> str:
        """Return the explanation for a notebook: tables to be folded, with dear lines marked."""
        head, *_ = self._head.splitlines() or [""]
        parts = [_STYLE, '<div class="cr-explanation">', f"<p>{html.escape(head)}</p>"]
        spent = self.spent()
        if spent:
            total = sum(x.seconds for x in spent) or 1.0
            rows: list[Row] = [
                (
                    x.seconds / total >= HOT,
                    (x.line, f"{1e3 * x.forward:.3f}", f"{1e3 * x.backward:.3f}", x.steps, x.name),
                )
                for x in spent
            ]
            titles: tuple[str, ...] = "line", "forward, ms", "back, ms", "steps", "most in"
            parts.append(_folded("Time by line", _table(titles, rows), is_open=True))
        if self.held:
            total = sum(x.bytes for x in self.held)
            rows = [
                (x.bytes / total >= HOT, (x.line, x.name, f"{x.bytes:,}", x.operations))
                for x in self.held
            ]
            titles = "line", "operation", "bytes", "of them"
            parts.append(_folded("Memory by line", _table(titles, rows), is_open=True))
        if self.steps:
            rows = [
                (not x.finite, (k, x.line, x.name, shown(x.form), _steps_read(x.reads), _marks(x)))
                for k, x in enumerate(self.steps)
            ]
            titles = "step", "line", "call", "result", "reads", ""
            parts.append(_folded(f"{len(rows)} steps", _table(titles, rows)))
        parts += [_folded("Text", f"<pre>{html.escape(self.text)}</pre>"), "</div>"]
        return "\n".join(parts)

    def dot(self) -> str:
        """Return the steps as a graph in the language of Graphviz, with dear lines in color."""
        spent = self.spent()
        total = sum(x.seconds for x in spent)
        hot = {x.line for x in spent if x.seconds >= HOT * total}
        lines = ["digraph {", "node [shape=box, fontname=monospace];"]
        for k, step in enumerate(self.steps):
            label = f"{step.name}\\n{shown(step.form)}\\n{step.line}"
            color = ", color=red" if not step.finite else ""
            color += ", style=filled, fillcolor=mistyrose" if step.line in hot else ""
            color += ", style=dashed" if step.cuts else ""
            lines.append(f's{k} [label="{label}"{color}];')
            lines += [f"s{read} -> s{k};" for read in step.reads]
        return "\n".join([*lines, "}"])

    def graph(self) -> Any:
        """Return the steps as a ``graphviz.Source``, which a notebook draws."""
        import graphviz  # type: ignore[import-not-found,import-untyped,unused-ignore]

        return graphviz.Source(self.dot())


def _folded(title: str, content: str, is_open: bool = False) -> str:
    opened = " open" if is_open else ""
    return f"<details{opened}><summary>{html.escape(title)}</summary>{content}</details>"


def _table(titles: tuple, rows: list[Row]) -> str:
    head = "".join(f"<th>{title}</th>" for title in titles)
    lines = [
        f"<tr{' class=cr-hot' if hot else ''}>"
        + "".join(f"<td>{html.escape(str(cell))}</td>" for cell in cells)
        + "</tr>"
        for hot, cells in rows
    ]
    return f"<table><tr>{head}</tr>{''.join(lines)}</table>"


def _steps_read(reads: tuple[int, ...]) -> str:
    return ", ".join(map(str, reads))


def _marks(step: ExplainedStep) -> str:
    marks = [f"in the pullback of {step.pulled}" * bool(step.pulled), "constant" * step.cuts]
    return "; ".join([x for x in [*marks, "not finite" * (not step.finite)] if x])
