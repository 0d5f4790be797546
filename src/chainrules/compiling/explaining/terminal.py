"""Explanation in a terminal, as rich draws it: what was found, a table, and the first steps."""

from typing import TYPE_CHECKING, Any

from .page import hot_of

if TYPE_CHECKING:
    from .report import Explanation

TABLE_ROWS, STEPS_SHOWN = 10, 15  # so that it fits a screen


def drawn(explanation: "Explanation") -> Any:
    """Return an explanation as tables of rich, with dear lines in bold."""
    from rich.console import Group
    from rich.text import Text

    spent, held, steps = explanation.spent(), explanation.held, explanation.steps
    if not (spent or held):
        return Group(Text(str(explanation)))
    parts: list[Any] = [Text(line) for line in explanation.said]
    if spent:
        time = _table("line", "forward, ms", "back, ms", "steps", "most in")
        hot = hot_of(spent, lambda x: x.seconds)
        for x in spent[:TABLE_ROWS]:
            forward, back = f"{1e3 * x.forward:.3f}", f"{1e3 * x.backward:.3f}"
            time.add_row(x.line, forward, back, str(x.steps), x.name, style="bold red" * (x in hot))
        parts.append(time)
    if held:
        memory = _table("line", "operation", "bytes", "of them")
        hot = hot_of(held, lambda x: x.bytes)
        for y in held[:TABLE_ROWS]:
            cells = y.line, y.name, f"{y.bytes:,}", str(y.operations)
            memory.add_row(*cells, style="bold red" * (y in hot))
        parts.append(memory)
    parts += [Text(str(x), style="" if x.finite else "bold red") for x in steps[:STEPS_SHOWN]]
    if len(steps) > STEPS_SHOWN:
        parts.append(Text(f"and {len(steps) - STEPS_SHOWN} steps more: explanation.text"))
    return Group(*parts)


def _table(*titles: str) -> Any:
    """Return an empty table; what has figures stands to the right."""
    from rich.table import Table

    table = Table(box=None, pad_edge=False)
    for title in titles:
        words = title in ("line", "operation", "most in")
        table.add_column(title, justify="left" if words else "right", no_wrap=True)
    return table
