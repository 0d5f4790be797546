"""Explanation in a terminal, as rich draws it: what was found, a table, and the first steps."""

from typing import TYPE_CHECKING, Any

from .page import by_line

if TYPE_CHECKING:
    from .report import Explanation

TABLE_ROWS, STEPS_SHOWN = 10, 15  # so that it fits a screen


def drawn(explanation: "Explanation") -> Any:
    """Return an explanation as tables of rich, with dear lines in bold."""
    from rich.console import Group
    from rich.text import Text

    tables, steps = list(by_line(explanation)), explanation.steps
    if not tables:
        return Group(Text(str(explanation)))
    parts: list[Any] = [Text(line) for line in explanation.said]
    for _, titles, rows in tables:
        table = _table(*titles)
        for hot, cells in rows[:TABLE_ROWS]:
            table.add_row(*map(str, cells), style="bold red" * hot)
        parts.append(table)
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
