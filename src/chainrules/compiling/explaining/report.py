"""Explanation as a reader gets it: text of 40 lines, data, a graph; ``page`` and ``terminal``."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from ...config import MissingPackageError, user_line
from ...config.printing import show
from ...reverse.held import HeldBytes
from ..ir.forms import ValueForm
from ..ir.printing import shown
from .page import hot_of, page_of

LINES_SHOWN = 40  # lines that a text shows
RECORDINGS_SHOWN = 4

TIME_TITLE = "where the time went:"


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
    name: str  # of the step that took the most; empty where steps were not looked at

    @property
    def seconds(self) -> float:
        return self.forward + self.backward

    def __str__(self) -> str:
        times = f"{1e3 * self.forward:9.3f} ms {1e3 * self.backward:9.3f} ms back"
        most = f", most {self.name}" if self.name else ""
        return f"  {self.line:28} {times} {self.steps:6} steps{most}"


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
        held: list[HeldBytes] | None = None,
        most: int | None = LINES_SHOWN,
        spent: list[Spent] | None = None,
    ) -> None:
        self._head = head
        self.steps = steps or []
        self.first_bad = first_bad
        self.held = held or []
        self._most = most
        self._spent = spent

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
        return spent_by_line(self.steps) if self._spent is None else self._spent

    @property
    def said(self) -> list[str]:
        """The lines before tables and steps: the size, constants, the first bad number."""
        lines = self._head.splitlines()
        if not (self.steps or self.held):
            return lines[:1]
        tables = (TIME_TITLE, "steps:")
        end = next((k for k, line in enumerate(lines) if line in tables), 1)
        return lines[:end]

    def _repr_html_(self) -> str:
        """Return the explanation for a notebook: tables and a graph, to be folded."""
        return page_of(self)

    def __rich__(self) -> Any:
        """Return the explanation as rich draws it in a terminal."""
        from .terminal import drawn

        return drawn(self)

    def show(self) -> None:
        """Print the explanation, by rich where that is installed."""
        show(self)

    def dot(self) -> str:
        """Return the steps as a graph in the language of Graphviz, with dear lines in color."""
        hot = {x.line for x in hot_of(self.spent(), lambda x: x.seconds)}
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
        """Return the steps as a ``graphviz.Source``, which a notebook draws.

        Raises
        ------
        MissingPackageError
            Where the package ``graphviz`` is not installed.
        """
        try:
            import graphviz  # type: ignore[import-not-found,import-untyped,unused-ignore]
        except ImportError as error:
            raise MissingPackageError(
                f"explanation.graph needs the package graphviz, in {user_line()}.\n"
                "  pip install graphviz; or write explanation.dot() into a file: it is the graph, "
                "as text",
                name="graphviz",
            ) from error
        return graphviz.Source(self.dot())
