"""SciPy's functions of arrays: a derivative over SciPy's own call, in time.

``python benchmarks/scipy_functions.py``; ``--only cdist`` measures the calls whose name contains
the word, ``--markdown FILE`` writes the table. Value and directional derivative (``jvp``), value
and pullback (``vjp``), each over the plain value by SciPy: CPU time, medians over rounds in which
the three take turns. Run it with one thread (``OPENBLAS_NUM_THREADS=1``), and an allocator that
keeps memory (``MALLOC_TRIM_THRESHOLD_=1000000000 MALLOC_MMAP_THRESHOLD_=1000000000``).
"""

import argparse
import statistics
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import scipy
import timing
from calls_of_scipy import FAMILIES, Call

import chainrules as cr
import chainrules.scipy as ours

LIMIT = 3.0
EFFORT = timing.Effort(rounds=15, seconds=0.004, budget=0.2, fewest_rounds=5, patience=9.0)


def alike(y: Any, rng: Any) -> Any:
    """Return a random direction, or cotangent, for each array of floats in ``y``."""
    if isinstance(y, tuple):
        return tuple([alike(part, rng) for part in y])
    y = np.asarray(y)
    if y.dtype.kind not in "fc":
        return None
    x = rng.normal(size=y.shape)
    return x + 1j * rng.normal(size=y.shape) if y.dtype.kind == "c" else x[()]


def programs(call: Call) -> dict[str, Any]:
    def f(*inputs: Any) -> Any:
        y = call.f(ours, *inputs)
        return tuple(y) if isinstance(y, tuple) else y  # a result with fields, too

    rng = np.random.default_rng(0)
    directions = tuple([alike(x, rng) for x in call.inputs])
    y = call.f(scipy, *call.inputs)
    ybar = alike(tuple(y) if isinstance(y, tuple) else y, rng)
    return {
        "value": lambda: call.f(scipy, *call.inputs),
        "jvp": lambda: cr.jvp(f, call.inputs, directions),
        "vjp": lambda: cr.vjp(f, *call.inputs)[1](ybar),
    }


def calls(only: str) -> Iterator[Call]:
    for family in FAMILIES:
        yield from (call for call in family() if only in call.name)


def row(call: Call) -> tuple[float, ...]:
    """Return the microseconds of the value, and what both derivatives cost in times of that."""
    times = timing.interleaved(programs(call), EFFORT, time.process_time)
    value = statistics.median(times["value"]) * 1e6
    return value, *[timing.ratio(times, mode, "value") for mode in ("jvp", "vjp")]


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--only", default="")
    parser.add_argument("--markdown", type=Path)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    lines = ["| call | value, us | jvp | vjp |", "|---|---|---|---|"]
    for call in calls(options.only):
        value, *ratios = row(call)
        marks = [f"{x:.1f}{' *' * (x > LIMIT)}" for x in ratios]
        print(f"{call.name:44} {value:9.0f} {marks[0]:>8} {marks[1]:>8}", flush=True)
        lines.append(f"| {call.name} | {value:.0f} | {marks[0]} | {marks[1]} |")
    if options.markdown:
        options.markdown.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
