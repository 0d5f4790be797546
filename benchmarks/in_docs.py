"""Write the table and the pictures of speed, of docs/speed.md and README, from ``results.json``.

``python benchmarks/in_docs.py``, after ``make bench``; ``--results FILE`` for another file.
"""

import argparse
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from results import FILE, HERE, rows_of, when
from table import AUTOGRAD, COMPILED, EAGER, JAX_JIT, OURS, OWN_LOOP, PYTORCH, Row, with_unit

PAGE = HERE.parent / "docs" / "speed.md"
PICTURE, FRONT = (HERE / "figures" / name for name in ("speed.svg", "speed_front.svg"))
BEGIN, END = "<!-- speed: by benchmarks/in_docs.py -->", "<!-- end of speed -->"
SHOWN = (
    "gradient, sum of 3 by a loop",
    "sum(x[i]**2 for i in range(10^3))",
    "gradient, 1000 scalar operations",
    "jvp, 1000 scalar operations",
    "gradient, 200 operations on 10 elements",
    "gradient, 20 operations on 10^6 elements",
    "gradient, buffer fill, n = 1000",
    "gradient, Newton's iterations (while)",
    "gradient, determinant by recursion, 6 x 6",
    "gradient, Rosenbrock, n = 1000",
    "Hessian times vector, Rosenbrock, n = 1000",
    "Hessian, Rosenbrock, n = 100",
    "gradient, network 100x20 -> 50 -> 1",
    "gradient, logistic regression 10^4 x 100",
    "gradient, MLP 784-256-10, batch of 128",
    "gradient, RNN, 64 cells, 50 steps, batch of 32",
    "gradient, LSTM, 32 cells, 100 steps",
    "gradient, Gaussian mixture, 2000 x 10, 10",
    "Newton, k-means, 10^4 x 5, 10 centres",
    "gradient, bundle adjustment, 5000 seen",
    "gradient, RK4 of Lotka-Volterra, 200 steps",
    "gradient, Gaussian process, n = 200, Cholesky",
    "Jacobian, R^50 -> R^50, forward",
    "Jacobian, R^50 -> R^50, reverse",
    "Jacobian, hand, 28 directions, 10^4 points",
    "particle, forward over reverse",
    "saddle, reverse over reverse",
)
# README's rows: two of each kind, and those in which another library is faster among them.
SHOWN_IN_FRONT = (
    "gradient, 1000 scalar operations",
    "gradient, Rosenbrock, n = 1000",
    "Hessian, Rosenbrock, n = 100",
    "gradient, logistic regression 10^4 x 100",
    "gradient, MLP 784-256-10, batch of 128",
    "gradient, LSTM, 32 cells, 100 steps",
    "gradient, RK4 of Lotka-Volterra, 200 steps",
    "gradient, Gaussian process, n = 200, Cholesky",
)
HEADINGS = (
    "workload", "eager", *(f"/ {name}" for name in EAGER), COMPILED, "/ `jax.jit`",
    "/ JAX's own loop", "first call, and jit's",
)  # fmt: skip
DRAWN = {OURS: "o", COMPILED: "D", AUTOGRAD: "x", PYTORCH: "+", JAX_JIT: "s", OWN_LOOP: "^"}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--results", default=FILE, type=Path)
    tables = json.loads(parser.parse_args().results.read_text(encoding="utf-8"))["1"]
    found = {row.name: row for row in rows_of(tables, "workloads")}
    rows = [found[name] for name in SHOWN if name in found]
    text = PAGE.read_text(encoding="utf-8")
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    run = f"{tables['machine']}; {when(rows)}."
    parts = [BEGIN, table(rows), run, END]
    PAGE.write_text(before + "\n\n".join(parts) + after, encoding="utf-8")
    draw(rows)
    draw([found[name] for name in SHOWN_IN_FRONT if name in found], FRONT)
    print(f"{PAGE}, {PICTURE}, {FRONT}: {len(rows)} of {len(found)} rows")


def table(rows: list[Row]) -> str:
    lines = [HEADINGS, ("---",) * len(HEADINGS), *map(cells, rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def cells(row: Row) -> list[str]:
    first = [with_unit(row.first.get(name)) for name in (COMPILED, JAX_JIT)]
    return [
        row.name.replace("*", r"\*"),
        with_unit(row.seconds.get(OURS)),
        *(ratio(row.ratios.get(name)) for name in EAGER),
        with_unit(row.seconds.get(COMPILED)),
        *(ratio(row.compiled.get(name)) for name in (JAX_JIT, OWN_LOOP)),
        ", ".join(filter(None, first)),
    ]


def ratio(x: float | None) -> str:
    return "" if x is None else f"{x:.2f}" if x >= 0.01 else "< 0.01"


def draw(
    rows: Sequence[Any],
    picture: Path = PICTURE,
    drawn: dict[str, str] = DRAWN,
    axis: str = "seconds of a call",
) -> None:
    """Draw what each of these programs takes, a line for each row."""
    import matplotlib

    matplotlib.use("svg")
    # The same file from the same figures, and text as text.
    matplotlib.rcParams |= {"svg.hashsalt": "chainrules", "svg.fonttype": "none"}
    from matplotlib import pyplot

    figure, plot = pyplot.subplots(figsize=(9, 0.27 * len(rows) + 1))
    for place, row in enumerate(rows):
        plot.axhline(place, color="0.92", linewidth=0.8, zorder=0)
        if {OURS, COMPILED} <= set(row.seconds):
            ends = [row.seconds[COMPILED], row.seconds[OURS]]
            plot.plot(ends, [place, place], color="0.75", linewidth=1.5, zorder=1)
    for name, marker in drawn.items():
        at = [(row.seconds[name], k) for k, row in enumerate(rows) if name in row.seconds]
        if at:
            label = (
                f"ours, {'eager' if name == OURS else name}" if name in (OURS, COMPILED) else name
            )
            color = "tab:blue" if name == OURS else "tab:red" if name == COMPILED else "0.35"
            plot.plot(*zip(*at, strict=True), marker, color=color, markersize=5, label=label)
    plot.set_xscale("log")
    plot.set_xlabel(axis)
    plot.set_yticks(range(len(rows)), [row.name for row in rows], fontsize=8)
    plot.invert_yaxis()
    plot.legend(ncols=len(drawn), loc="lower right", bbox_to_anchor=(1.0, 1.0), fontsize=7)
    figure.tight_layout()
    figure.savefig(picture, metadata={"Date": None})


if __name__ == "__main__":
    main()
