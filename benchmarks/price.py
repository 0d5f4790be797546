"""Measure what derivatives cost beside finite differences, in calls of the function.

``python benchmarks/price.py`` (``make price``) measures every program of ``price_programs.py`` by
what ``cr.cost`` is made of, and with ``--peers`` those of other libraries in turn with it. It
writes ``price.json``, and of that ``price.md``, the tables of ``docs/cost.md`` and a picture.
"""

import argparse
import dataclasses
import datetime
import gc
import json
import os
import statistics
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from run import load, machine
from table import AUTOGRAD, COMPILED, JAX_JIT, OURS, PYTORCH, with_unit
from threads import set_threads

HERE = Path(__file__).parent
FILE = HERE / "price.json"
GUIDE = HERE.parent / "docs" / "cost.md"
PICTURE = HERE / "figures" / "price.svg"
BEGIN, END = "<!-- prices: by benchmarks/price.py -->", "<!-- end of prices -->"
EAGER = "eager"
ONE, TWO = "one-sided differences", "two-sided differences"
FIRST = ("grad", "jacfwd", "jacrev", "jacobian")
SECOND = "hessian"
TRANSFORMS = ("jvp", "vjp", *FIRST, "hvp", SECOND)
PEERS = (AUTOGRAD, JAX_JIT, PYTORCH)
DIFFERENCES = "differences"
LOOSE = 2e-3  # solvers inside answer to their tolerance alone
FEW = 100
DRAWN = {
    DIFFERENCES: "|", OURS: "o", COMPILED: "D", AUTOGRAD: "x", PYTORCH: "+", JAX_JIT: "s",
}  # fmt: skip


@dataclass
class PriceRow:
    """Prices of one program in calls of its function, by form and name; and reasons for none."""

    name: str
    kind: str
    inputs: int
    outputs: int
    seconds: float
    values: dict[str, dict[str, float]] = field(default_factory=dict)
    first: dict[str, float] = field(default_factory=dict)
    notes: dict[str, list[str]] = field(default_factory=dict)
    day: str = ""
    load: float = 0.0

    def best(self, form: str, names: tuple[str, ...]) -> tuple[float, str] | None:
        """Return the cheapest of these and its name."""
        there = self.values.get(form, {})
        return min(((there[name], name) for name in names if name in there), default=None)


@dataclass
class FitRow:
    """Seconds of a whole fit, by where its derivatives come from."""

    name: str
    seconds: dict[str, float]


def main() -> int:
    options = parse()
    path = Path(options.results) if options.results else None if options.quick else FILE
    kept = json.loads(path.read_text(encoding="utf-8")) if path and path.exists() else {}
    if options.check:
        return check(kept)
    if not options.write:
        set_threads(1)
        os.environ["CHAINRULES_CACHE"] = "off"  # first calls compile
        about = f"{machine(1)}"
        if kept.get("machine") != about or not (options.only or options.resume):
            kept = {"machine": about, "rows": {}, "fits": {}}
        print(f"{about}, load {load()}\n\n{heading()}", flush=True)
        run(options, kept, path)
    if path:
        write(kept, path)
    return 0


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="two seconds each, and not kept")
    parser.add_argument("--seconds", type=float, help="of each program; 20 by default")
    parser.add_argument("--only", metavar="NAME", default="", help="programs that contain NAME")
    parser.add_argument("--resume", action="store_true", help="without what the file has")
    parser.add_argument("--peers", action="store_true", help="beside autograd, JAX and PyTorch")
    parser.add_argument("--eager", action="store_true", help="without the compiled forms")
    parser.add_argument("--results", metavar="FILE", help="keep the figures in FILE")
    parser.add_argument("--write", action="store_true", help="tables and picture of the file alone")
    parser.add_argument("--check", action="store_true", help="programs and guide are right")
    options = parser.parse_args()
    options.seconds = options.seconds or (2.0 if options.quick else 20.0)
    return options


# ---- checking -----------------------------------------------------------------------------------


def check(kept: dict) -> int:
    """Compare a jvp of each program with differences, and the guide with the last run."""
    wrong = []
    programs = list(all_programs())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for program in programs:
            if not agrees(program):
                wrong.append(program.name)
    text = GUIDE.read_text(encoding="utf-8")
    if kept and guide(text, kept) != text:
        wrong.append("the guide, which python benchmarks/price.py --write makes")
    print(f"wrong: {', '.join(wrong)}" if wrong else f"{len(programs)} programs, and the guide, "
          "are right.")  # fmt: skip
    return 1 if wrong else 0


def agrees(program: Any) -> bool:
    """Say whether the derivative along the point is that of two-sided differences."""
    import numpy as np

    import chainrules as cr
    from chainrules._price.programs import Point

    point = Point(program.function, program.argnums, program.args)
    x, unflatten = cr.flatten(point.primals)

    def along(x: Any) -> Any:
        args = list(point.args)
        for i, part in zip(point.positions, unflatten(x), strict=True):
            args[i] = part
        return cr.flatten(program.function(*args))[0]

    h = 1e-6
    expected = (along(x + h * x) - along(x - h * x)) / (2 * h)
    ydot = cr.jvp(along, (x,), (x,))[1]
    scale = np.max(np.abs(expected))
    return bool(np.max(np.abs(ydot - expected)) <= LOOSE * scale)


# ---- measuring ----------------------------------------------------------------------------------


def run(options: argparse.Namespace, kept: dict, path: Path | None) -> None:
    def keep(kind: str, row: Any) -> None:
        from results import rounded

        kept[kind][row.name] = json.loads(json.dumps(dataclasses.asdict(row)), parse_float=rounded)
        if kind == "rows":  # in the order of the programs, whatever was measured last
            kept[kind] = {p.name: kept[kind][p.name] for p in programs if p.name in kept[kind]}
        if path:
            path.write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")

    def wanted(kind: str, name: str) -> bool:
        done = options.resume and name in kept[kind]
        return options.only.lower() in name.lower() and not done

    programs = list(all_programs())
    if options.peers:
        from peers import peers

        peers()
    # What the libraries themselves hold is not walked by the collector while they are timed.
    gc.collect()
    gc.freeze()
    for program in programs:
        if wanted("rows", program.name):
            row = row_of(program, options)
            row.day, row.load = datetime.date.today().isoformat(), load()
            keep("rows", row)
            print(aligned(cells(row)), flush=True)
    for name, fits in whole_fits():
        if wanted("fits", name):
            row = FitRow(name, {way: seconds_of(fit) for way, fit in fits.items()})
            keep("fits", row)
            shown = [f"{way} {with_unit(seconds)}" for way, seconds in row.seconds.items()]
            print(f"{name}: {', '.join(shown)}", flush=True)


def all_programs() -> Iterator[Any]:
    import price_programs

    return price_programs.programs()


def row_of(program: Any, options: argparse.Namespace) -> PriceRow:
    from chainrules._price.cost import _load, measured
    from chainrules._price.programs import Point

    gc.collect()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        _load()
        point = Point(program.function, program.argnums, program.args)
        others = list(of_peers(program, point)) if options.peers else []
        prices = measured(point, options.seconds, not options.eager, others)
    value = prices[0].seconds
    row = PriceRow(program.name, program.kind, point.inputs, point.outputs, value or 0.0)
    notes: dict[str, dict[str, None]] = {}
    for price in prices:
        if price.values is not None:
            row.values.setdefault(price.form, {})[price.name] = price.values
        if price.first is not None:
            row.first[price.name] = price.first
        if price.note:
            label = price.name if price.form == EAGER else f"{price.form} {price.name}"
            notes.setdefault(price.note, {})[label] = None
    if options.peers:
        for peer, reason in program.reasons().items():
            notes.setdefault(reason, {})[peer] = None
    row.notes = {note: list(labels) for note, labels in notes.items()}
    return row


def of_peers(program: Any, point: Any) -> Iterator[Any]:
    """Yield the derivatives of the peers that take this program, as ``cr.cost`` measures ours."""
    from chainrules._price.programs import PricedProgram

    for peer, f in program.of_peers():
        kinds = [program.mode or ("jacfwd" if point.inputs <= point.outputs else "jacrev")]
        if peer.name == PYTORCH and max(point.inputs, point.outputs) <= FEW:
            kinds = ["jacfwd", "jacrev"]  # of small ones either may be the cheaper
        for kind in ("grad",) if point.real else kinds:
            if kind == "grad":
                made = peer.outermost("gradient")(f, argnums=point.positions)
            else:
                made = of_first(peer.outermost(kind), f)
            yield PricedProgram(
                kind, 1, True, waited(peer, peer.compiled(made)), peer.name,
                prepare=lambda args, peer=peer: tuple(map(peer.array, args)),
            )  # fmt: skip


def of_first(transform: Callable, f: Callable) -> Callable:
    """Return the transform of ``f`` in its first argument; autograd's jacfwd takes one alone."""
    return lambda x, *data: transform(lambda x: f(x, *data))(x)


def waited(peer: Any, f: Callable) -> Callable:
    if (jax := getattr(peer, "jax", None)) is None:
        return f
    return lambda *args: jax.block_until_ready(f(*args))


def whole_fits() -> Iterator[tuple[str, dict[str, Callable]]]:
    import numpy as np
    import price_engineering as own
    from workloads_fit import HARES, LYNXES

    import chainrules as cr

    yield (
        "fit of class and solve_ivp by least_squares",
        {
            DIFFERENCES: lambda: own.fit_feeding("2-point"),
            "jacfwd": lambda: own.fit_feeding(cr.jacfwd(own.MODEL.residuals)),
            "jacobian": lambda: own.fit_feeding(cr.jacobian(own.MODEL.residuals)),
            'jac="ad"': lambda: own.fit_feeding("ad"),
        },
    )
    pelts = np.array([HARES, LYNXES])
    yield (
        "fit of notebook 7 by minimize",
        {
            DIFFERENCES: lambda: own.fit_hares(None, pelts),
            'jac="ad"': lambda: own.fit_hares("ad", pelts),
        },
    )


def seconds_of(fit: Callable) -> float:
    """Return the median CPU seconds of three calls, or of one that takes long."""
    taken: list[float] = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        while len(taken) < 3 and sum(taken) < 2.0:
            begin = time.process_time()
            fit()
            taken.append(time.process_time() - begin)
    return statistics.median(taken)


# ---- tables -------------------------------------------------------------------------------------

COLUMNS = (
    ("program", 40), ("n to m", 12), ("value", 8), ("diff 1", 7), ("diff 2", 7),
    *((name, 8) for name in TRANSFORMS), ("diff H", 7), ("c first", 8), ("c hess", 7),
    *((peer, 8) for peer in PEERS),
)  # fmt: skip


def figure(x: float | None) -> str:
    return "" if x is None else f"{x:.0f}" if x >= 99.95 else f"{x:.2g}" if x < 10 else f"{x:.1f}"


def cells(row: PriceRow) -> list[str]:
    """Return what stands below ``COLUMNS``."""
    eager, of_compiled = row.values.get(EAGER, {}), row.values.get(COMPILED, {})
    names = (ONE, TWO, *TRANSFORMS, f"{TWO}, Hessian")
    best = row.best(COMPILED, FIRST)
    peers = [row.best(peer, FIRST) for peer in PEERS]
    return [
        row.name,
        f"{row.inputs} to {row.outputs}",
        with_unit(row.seconds),
        *(figure(eager.get(name)) for name in names),
        figure(best and best[0]),
        figure(of_compiled.get(SECOND)),
        *(figure(peer and peer[0]) for peer in peers),
    ]


def heading() -> str:
    return aligned([name for name, _ in COLUMNS])


def aligned(words: list[str]) -> str:
    first, *rest = zip(words, (width for _, width in COLUMNS), strict=True)
    return " ".join([first[0].ljust(first[1]), *(word.rjust(width) for word, width in rest)])


def markdown_table(headings: list[str], lines: list[list[str]]) -> str:
    rule = ["---", *["--:"] * (len(headings) - 1)]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in [headings, rule, *lines])


def rows_of(kept: dict) -> list[PriceRow]:
    return [PriceRow(**row) for row in kept["rows"].values()]


def machine_of(kept: dict) -> str:
    from results import when

    return f"{kept['machine']}; {when(rows_of(kept))}."


def whole_table(kept: dict) -> str:
    """Return ``price.md``: every figure, and why there is none."""
    rows = rows_of(kept)
    lines = [cells(row) for row in rows]
    text = [
        "# Prices of derivatives",
        "Prices in calls of the function (CPU time): see [docs/cost.md](../docs/cost.md). *diff*\n"
        "are differences with one side and with two, *H* is the Hessian, *c* compiled; of a peer\n"
        "the cheapest whole first derivative.",
        machine_of(kept),
        markdown_table([name for name, _ in COLUMNS], lines),
        fits_table(kept),
        "No figure, or a remark:",
    ]
    remarks = [
        f"- {row.name}: " + "; ".join(f"{', '.join(names)}: {note}" for note, names in said.items())
        for row in rows
        if (said := {note: names for note, names in row.notes.items() if note != "of one call"})
    ]
    return "\n\n".join([*text, "\n".join(remarks)]) + "\n"


def fits_table(kept: dict) -> str:
    rows = [FitRow(**row) for row in kept["fits"].values()]
    ways = [DIFFERENCES, "jacfwd", "jacobian", 'jac="ad"']
    lines = [[row.name, *(with_unit(row.seconds.get(way)) for way in ways)] for row in rows]
    return markdown_table(["whole fit, CPU time", *ways], lines)


def short_table(kept: dict) -> str:
    """Return the table of the guide: whole derivatives, by what is cheapest."""
    headings = [
        "program", "n to m", "value", "two-sided differences", "exact", "by", "compiled",
        "Hessian by differences", "`hessian`", "compiled", "cheapest peer",
    ]  # fmt: skip
    lines = []
    for row in rows_of(kept):
        eager, of_compiled = row.values.get(EAGER, {}), row.values.get(COMPILED, {})
        exact, fast = row.best(EAGER, FIRST), row.best(COMPILED, FIRST)
        of_peers = [(best[0], peer) for peer in PEERS if (best := row.best(peer, FIRST))]
        peer = min(of_peers, default=None)
        lines.append([
            row.name, f"{row.inputs} to {row.outputs}", with_unit(row.seconds),
            figure(eager.get(TWO)),
            figure(exact and exact[0]), exact[1] if exact else "", figure(fast and fast[0]),
            *(figure(x) for x in (eager.get(f"{TWO}, Hessian"), eager.get(SECOND))),
            figure(of_compiled.get(SECOND)), f"{figure(peer[0])}, {peer[1]}" if peer else "",
        ])  # fmt: skip
    return markdown_table(headings, lines)


def guide(text: str, kept: dict) -> str:
    """Return the page with the tables of these figures."""
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    parts = [BEGIN, short_table(kept), fits_table(kept), machine_of(kept), END]
    return before + "\n\n".join(parts) + after


# ---- files --------------------------------------------------------------------------------------


@dataclass
class Drawn:
    """A row of the picture: values by what computes the whole first derivative."""

    name: str
    seconds: dict[str, float]


def write(kept: dict, path: Path) -> None:
    """Write tables and picture; the guide and the picture from the file of the repository alone."""
    path.with_suffix(".md").write_text(whole_table(kept), encoding="utf-8")
    if path != FILE:
        return
    GUIDE.write_text(guide(GUIDE.read_text(encoding="utf-8"), kept), encoding="utf-8")
    try:
        import matplotlib  # noqa: F401
    except ImportError:
        print("no picture: matplotlib is not installed", file=sys.stderr)
        return
    from in_docs import draw

    rows = []
    for row in rows_of(kept):
        ways = {DIFFERENCES: (EAGER, (TWO,)), OURS: (EAGER, FIRST), COMPILED: (COMPILED, FIRST)}
        ways |= {peer: (peer, FIRST) for peer in PEERS}
        found = {name: best[0] for name, way in ways.items() if (best := row.best(*way))}
        rows.append(Drawn(f"{row.name}, {row.inputs} to {row.outputs}", found))
    draw(rows, PICTURE, DRAWN, "whole first derivative, in calls of the function")


if __name__ == "__main__":
    sys.exit(main())
