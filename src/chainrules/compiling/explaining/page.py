"""Page of an explanation for a notebook: tables to be folded, and the steps as a graph of arcs.

Its colors are tints of what is around it, so that it can be read on a dark page, too.
"""

import html
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from ..ir.printing import shown

if TYPE_CHECKING:
    from .report import ExplainedStep, Explanation

HOT = 0.2  # share of the time, or of the memory, from which a line is marked
STEPS_SHOWN = 500  # that the table has; the data have all
DRAWN_STEPS = 60  # that the graph has

Row = tuple[bool, tuple[object, ...]]  # whether it is marked, and its cells

_STYLE = """<style>
.cr-explanation table {font-family: monospace; border-collapse: collapse; margin: 4px 0}
.cr-explanation :is(th, td) {text-align: left; padding: 1px 12px 1px 0; background: none}
.cr-explanation .cr-hot {font-weight: bold; background: rgba(220, 80, 50, .2)}
.cr-explanation details > :not(summary) {overflow-x: auto; max-width: 100%}
.cr-explanation svg {font: 12px monospace; fill: currentColor}
.cr-explanation path {fill: none; stroke: currentColor; opacity: .45}
.cr-explanation rect.cr-hot {fill: rgba(220, 80, 50, .2)}
.cr-explanation circle.cr-cut {fill: none; stroke: currentColor; stroke-dasharray: 2}
.cr-explanation circle.cr-bad {fill: rgb(220, 80, 50)}
</style>"""
_ROW, _LEFT = 20, 120  # pixels: of a step's row, and of the room for arcs


def page_of(explanation: "Explanation") -> str:
    """Return the explanation as HTML."""
    said = "".join(f"<div>{html.escape(line)}</div>" for line in explanation.said)
    parts = [_STYLE, '<div class="cr-explanation">', said, *_tables(explanation)]
    text = explanation.text if len(explanation.steps) <= STEPS_SHOWN else str(explanation)
    parts.append(_folded("Text", f"<pre>{html.escape(text)}</pre>", is_open=len(parts) == 3))
    return "\n".join([*parts, "</div>"])


def _tables(explanation: "Explanation") -> Iterator[str]:
    """Yield what is to be folded: time, memory, steps, and the graph of these."""
    steps = explanation.steps
    for title, titles, rows in by_line(explanation):
        yield _folded(title, _table(titles, rows), is_open=True)
    if steps:
        rows = [
            (not x.finite, (k, x.line, x.name, shown(x.form), _steps_read(x.reads), _marks(x)))
            for k, x in enumerate(steps[:STEPS_SHOWN])
        ]
        titles = "step", "line", "call", "result", "reads", ""
        yield _folded(_counted(steps, STEPS_SHOWN), _table(titles, rows))
        lines = {x.line for x in hot_of(explanation.spent(), lambda x: x.seconds)}
        yield _folded("Graph of " + _counted(steps, DRAWN_STEPS), _graph(steps, lines))


def by_line(explanation: "Explanation") -> Iterator[tuple[str, tuple[str, ...], list[Row]]]:
    """Yield the tables of time and memory, if there are any: the title, the heads, the rows."""
    if spent := explanation.spent():
        hot = hot_of(spent, lambda x: x.seconds)
        rows: list[Row] = [
            (
                x in hot,
                (x.line, f"{1e3 * x.forward:.3f}", f"{1e3 * x.backward:.3f}", x.steps, x.name),
            )
            for x in spent
        ]
        yield "Time by line", ("line", "forward, ms", "back, ms", "steps", "most in"), rows
    if held := explanation.held:
        hot = hot_of(held, lambda x: x.bytes)
        rows = [(x in hot, (x.line, x.name, f"{x.bytes:,}", x.operations)) for x in held]
        yield "Memory by line", ("line", "operation", "bytes", "of them"), rows


def hot_of(parts: Sequence[Any], weight: Callable[[Any], float]) -> list[Any]:
    """Return the parts that have a share of the whole from which they are marked."""
    total = sum(map(weight, parts))
    return [x for x in parts if total > 0 and weight(x) >= HOT * total]


def _counted(steps: Sequence[object], most: int) -> str:
    first = "the first " + str(most) + " of " if len(steps) > most else ""
    return f"{first}{len(steps)} steps"


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
    return f"<div><table><tr>{head}</tr>{''.join(lines)}</table></div>"


def _steps_read(reads: tuple[int, ...]) -> str:
    return ", ".join(map(str, reads))


def _marks(step: "ExplainedStep") -> str:
    marks = [f"in the pullback of {step.pulled}" * bool(step.pulled), "constant" * step.cuts]
    return "; ".join([x for x in [*marks, "not finite" * (not step.finite)] if x])


def _graph(steps: Sequence["ExplainedStep"], hot: set[str]) -> str:
    """Return a drawing of the first steps: a row for each, and an arc from each that it reads."""
    drawn = steps[:DRAWN_STEPS]
    arcs, rows = [], []
    for k, step in enumerate(drawn):
        y = _ROW * k + _ROW // 2
        for read in step.reads:
            start, bend = _ROW * read + _ROW // 2, _LEFT - min(_LEFT - 8, 12 + 6 * (k - read))
            arcs.append(f'<path d="M{_LEFT} {start} C{bend} {start} {bend} {y} {_LEFT} {y}"/>')
        if step.line in hot:
            rows.append(f'<rect class="cr-hot" x="{_LEFT}" y="{y - 9}" width="860" height="18"/>')
        mark = " class=cr-bad" if not step.finite else " class=cr-cut" if step.cuts else ""
        words = html.escape(str(step))
        rows.append(f'<circle{mark} cx="{_LEFT}" cy="{y}" r="4"/>')
        rows.append(f'<text x="{_LEFT + 12}" y="{y + 4}" xml:space="preserve">{words}</text>')
    size = f'width="{_LEFT + 880}" height="{_ROW * len(drawn)}"'
    return f"<div><svg {size}>{''.join([*arcs, *rows])}</svg></div>"
