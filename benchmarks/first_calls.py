"""First and later calls of compiled everyday programs, each call with other numbers.

``python benchmarks/first_calls.py`` measures the derivatives of programs of ``price_programs.py``
and of long loops, and writes ``first_calls.md``; ``--label before`` keeps the figures under another
name in ``first_calls.json``, beside which later ones stand in the table. One thread, CPU time.
"""

import argparse
import gc
import json
import os
import statistics
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from run import load, machine
from table import with_unit
from threads import set_threads

HERE = Path(__file__).parent
FILE, TABLE = HERE / "first_calls.json", HERE / "first_calls.md"
CALLS = 12
LONGEST = 60.0  # seconds of all calls of one program
FORMS = {
    "1000 scalar steps": ("jacfwd", "jacrev"),
    "1000 scalar steps, sum of squares": ("grad", "hessian"),
    "RK4 of Lotka-Volterra, 100 steps": ("grad", "hessian"),
    "Kepler's equation": ("grad", "hessian"),
    "binomial tree": ("grad", "hessian"),
    "truss": ("grad", "hessian"),
    "Kalman filter": ("value", "grad", "hessian"),
    "thermal network": ("value", "grad"),
    "PID": ("value", "grad"),
    "residuals of a fit, class and solve_ivp": ("value", "jacfwd"),
    "Robertson, BDF": ("value", "grad"),
    "RNN, 8 cells, 20 steps": ("grad",),
    "damped sine at 30000 points": ("value", "jacfwd"),
    "heat, 100 steps of 1000 cells": ("jvp", "jacfwd", "vjp"),
}
STEPS = {"value": (10_000, 30_000, 100_000), "grad": (10_000, 30_000)}  # of loops


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", metavar="NAME", default="", help="programs that contain NAME")
    parser.add_argument("--label", default="now", help="under which the figures are kept")
    options = parser.parse_args()
    set_threads(1)
    os.environ["CHAINRULES_CACHE"] = "off"  # first calls make machine code
    kept = json.loads(FILE.read_text(encoding="utf-8")) if FILE.exists() else {}
    where = f"{machine(1)}, load {load()}"
    rows = kept.setdefault(options.label, {"machine": where, "rows": {}})["rows"]
    kept[options.label]["machine"] = where
    for name, f, points in programs():
        if options.only.lower() in name.lower():
            rows[name] = measured(f, points)
            print(name, cells(rows[name]), flush=True)
    FILE.write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")
    TABLE.write_text(table(kept), encoding="utf-8")
    return 0


def programs() -> Iterator[tuple[str, Callable, list[tuple]]]:
    """Yield the name of each program, its function, and the arguments of its calls."""
    import price_programs

    from chainrules._price.programs import Point
    from chainrules._price.programs import programs as derivatives

    for program in price_programs.programs():
        if program.name in FORMS:
            point = Point(program.function, program.argnums, program.args)
            found = {each.name: each.call for each in derivatives(point)}
            for form in FORMS[program.name]:
                yield f"{program.name}: {form}", found[form], list(point.moved(CALLS))
    yield from long_loops()


def long_loops() -> Iterator[tuple[str, Callable, list[tuple]]]:
    import numpy as np

    import chainrules as cr

    def loop(p: Any, steps: int) -> Any:
        x = p[0]
        for _ in range(steps):
            x = x + 0.001 * (p[1] * x - p[2] * x * x + p[3] * np.sin(x))
        return x * x

    points = [(np.array([1.0, 0.5, 0.2, 0.3]) * (1 + 1e-4 * k),) for k in range(CALLS)]
    for form, counts in STEPS.items():
        for steps in counts:
            of_steps = lambda p, steps=steps: loop(p, steps)  # noqa: E731
            f = of_steps if form == "value" else cr.grad(of_steps)
            yield f"loop of {steps} steps: {form}", f, points


def measured(f: Callable, points: list[tuple]) -> dict[str, Any]:
    """Return seconds of the eager function, of the first calls of the compiled one, and of more."""
    import chainrules as cr

    eager = [seconds(f, point) for point in points[:3]]
    compiled, calls = cr.compile(f), []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for point in points:
            calls.append(seconds(compiled, point))
            if sum(calls) > LONGEST:
                break
    recordings = sum(kind.recordings for kind in compiled.kinds.values())
    said = [str(w.message).partition(": ")[2] for w in caught if w.category is cr.CompileWarning]
    return {
        "eager": min(eager), "first": calls[0], "first 3": sum(calls[:3]),
        "later": statistics.median(calls[len(calls) // 2 :]),
        "recordings": recordings, "said": said[:1],
    }  # fmt: skip


def seconds(f: Callable, point: tuple) -> float:
    begin = time.process_time()
    f(*point)
    return time.process_time() - begin


def cells(row: dict[str, Any]) -> list[str]:
    times = [with_unit(row[name]) for name in ("first", "first 3", "later")]
    return [*times, str(row["recordings"])]


def table(kept: dict[str, Any]) -> str:
    """Return the page: for each label the first call, the first three, and a later one."""
    lines = ["# First calls of compiled programs", ""]
    lines += [f"- {label}: {run['machine']}" for label, run in kept.items()]
    lines += ["", "Each call has other numbers; seconds of CPU time by `first_calls.py`.", ""]
    heads = [
        f"{label}: {what}"
        for label in kept
        for what in ("first", "first 3", "later", "recordings in 12")
    ]
    lines.append(f"| program | eager | {' | '.join(heads)} |")
    lines.append("|---" * (len(heads) + 2) + "|")
    names = dict.fromkeys(name for run in kept.values() for name in run["rows"])
    said = []
    for name in names:
        rows = [run["rows"].get(name) for run in kept.values()]
        eager = with_unit(next(row["eager"] for row in reversed(rows) if row and "eager" in row))
        found = [cell for row in rows for cell in (cells(row) if row else [""] * 4)]
        lines.append(f"| {name} | {eager} | {' | '.join(found)} |")
        if rows[-1] and rows[-1]["said"]:
            said.append(f"- {name}: {rows[-1]['said'][0]}")
    return "\n".join([*lines, "", *(["What is said:", "", *said] if said else [])]).rstrip() + "\n"


if __name__ == "__main__":
    gc.freeze()
    sys.exit(main())
