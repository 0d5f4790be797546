"""Modes of a Jacobian by its shape: ``python benchmarks/modes.py``, CPU time of one thread.

Loops over numbers, products with a matrix, and chains of small operations on a grid, from 1 to 300
inputs to 1 to 3000 outputs: ``jacfwd``, ``jacrev`` and ``jacobian``, which is to cost at most 1.15
of the cheaper one; other numbers at each call, medians, in turns.
"""

import os
import statistics
import time
from collections.abc import Callable
from typing import Any

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np

import chainrules as cr

INPUTS, OUTPUTS = (1, 4, 12, 30, 100, 300), (1, 4, 100, 3000)
LONG = 0.5  # seconds that one call may take
REPEATS, FEW_REPEATS = 25, 5
RNG = np.random.default_rng(0)


def loop_over_numbers(n: int, m: int) -> Callable:
    def f(x: Any) -> Any:
        found, u = [], 0.5 * x[0]
        for i in range(max(n, m, 20)):
            u = 0.9 * u + x[i % n] * 0.2 * u
            found.append(np.sin(u) if i % 2 else u * u)
        return found[-1] if m == 1 else np.array(found[-m:])

    return f


def products(n: int, m: int) -> Callable:
    matrix = RNG.normal(size=(m, n)) / np.sqrt(n)

    def f(x: Any) -> Any:
        u = np.tanh(matrix @ x)
        v = np.exp(-u) * np.sin(u)
        return np.sum(v * v + u) if m == 1 else np.cumsum(v * v + u)

    return f


def chain_on_grid(n: int, m: int) -> Callable:
    grid = np.linspace(0.0, 1.0, m)

    def f(x: Any) -> Any:
        u = grid * x[0]
        for k in range(10):
            u = 0.5 * u + np.sin(u) * x[k % n]
        return u

    return f


def row(f: Callable, n: int) -> dict[str, float]:
    """Return the microseconds of each transform that takes less than ``LONG``."""
    runs = {t.__name__: t(f) for t in (cr.jacfwd, cr.jacrev, cr.jacobian)}
    spent: dict[str, list[float]] = {name: [] for name in runs}
    first = {}
    for name, run in runs.items():
        start = time.thread_time()
        run(0.5 + 0.5 * RNG.random(n))
        first[name] = time.thread_time() - start
    for _ in range(FEW_REPEATS if max(first.values()) > 0.02 else REPEATS):
        x = 0.5 + 0.5 * RNG.random(n)
        for name, run in runs.items():
            if first[name] < LONG:
                start = time.thread_time()
                run(x)
                spent[name].append(time.thread_time() - start)
    return {name: statistics.median(times) * 1e6 for name, times in spent.items() if times}


def main() -> None:
    print("| n to m | jacfwd, us | jacrev | jacobian | jacobian / cheaper |\n|---|---|---|---|---|")
    for program in (loop_over_numbers, products, chain_on_grid):
        for n in INPUTS:
            for m in OUTPUTS:
                found = row(program(n, m), n)
                cheaper = min(found[name] for name in ("jacfwd", "jacrev") if name in found)
                ratio = f"{found['jacobian'] / cheaper:.2f}"
                name = program.__name__.replace("_", " ")
                cells = [f"{found[k]:.0f}" if k in found else "" for k in ("jacfwd", "jacrev")]
                cells += [f"{found['jacobian']:.0f}", ratio]
                print(f"| {name}, {n} to {m} | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
