"""The file that a run writes its figures to, row by row, and the tables made of it."""

import dataclasses
import json
from pathlib import Path
from typing import Any

from calls import CallRow
from calls import markdown_heading as heading_of_calls
from table import Row, markdown_heading

HERE = Path(__file__).parent
FILE = HERE / "results.json"
KINDS = {"workloads": Row, "calls": CallRow}


class Results:
    """The figures of one machine with one count of threads; without a path they are not kept."""

    def __init__(self, path: Path | None, threads: int, machine: str, anew: bool) -> None:
        self.path = path
        kept = json.loads(path.read_text(encoding="utf-8")) if path and path.exists() else {}
        tables = kept.get(str(threads))
        if anew or not tables or tables["machine"] != machine:
            tables = {"machine": machine} | {kind: {} for kind in KINDS}
        self.all, self.tables = kept | {str(threads): tables}, tables

    def keep(self, kind: str, row: Any) -> None:
        text = json.dumps(dataclasses.asdict(row))
        self.tables[kind][row.name] = json.loads(text, parse_float=rounded)
        if self.path:
            text = json.dumps(self.all, indent=1)
            self.path.write_text(text, encoding="utf-8")
            self.path.with_suffix(".md").write_text(markdown(self.all), encoding="utf-8")


def rounded(x: str) -> float:
    return float(f"{float(x):.4g}")


def rows_of(tables: dict, kind: str) -> list[Any]:
    return [KINDS[kind](**row) for row in tables[kind].values()]


def markdown(everything: dict) -> str:
    """Return the tables of all runs in Markdown."""
    parts = ["# All workloads and single calls"]
    parts.append("What the columns are: [README.md](README.md). *e* is ours eager, *c* compiled.")
    for tables in everything.values():
        rows, of_calls = rows_of(tables, "workloads"), rows_of(tables, "calls")
        parts.append(f"{tables['machine']}; {when(rows + of_calls)}")
        parts.append("\n".join([markdown_heading(), *(row.markdown() for row in rows)]))
        if of_calls:
            parts.append("\n".join([heading_of_calls(), *(row.markdown() for row in of_calls)]))
    return "\n\n".join(parts) + "\n"


def when(rows: list[Any]) -> str:
    """Return the days of these rows, and the load of the machine meanwhile."""
    days, loads = sorted({row.day for row in rows}), [row.load for row in rows]
    return f"{' to '.join(dict.fromkeys([days[0], days[-1]]))}, load {min(loads)} to {max(loads)}"
