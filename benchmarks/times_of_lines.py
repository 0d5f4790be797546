"""Times of lines: gradients under ``cr.explain(..., stage="times")``, beside their plain run.

``python benchmarks/times_of_lines.py``; CPU time of one thread, both in turns in one process, with
another argument at each call.
"""

import statistics
import time
from collections.abc import Callable
from functools import partial

import numpy as np

import chainrules as cr

ROUNDS = 60


def one_operation(x):
    for _ in range(3000):
        x = x * 0.999
    return x


def populations(rates):
    birth, eaten, growth, death = rates
    hares, lynxes, total = 1.0, 0.5, 0.0
    for _ in range(1000):
        more = birth * hares - eaten * hares * lynxes
        fewer = growth * hares * lynxes - death * lynxes
        hares = hares + 0.001 * more
        lynxes = lynxes + 0.001 * fewer
        total = total + hares * hares + lynxes * lynxes
    return total


def arrays(x):
    y = np.sin(x)
    for _ in range(300):
        y = y * x + 1.0
        y = np.cos(y)
    return np.sum(y)


PROGRAMS = {
    "numbers, an operation a line": (one_operation, 0.9),
    "numbers, some operations a line": (populations, [1.0, 0.5, 0.5, 1.0]),
    "arrays of 10": (arrays, np.linspace(0.0, 1.0, 10)),
    "arrays of 100": (arrays, np.linspace(0.0, 1.0, 100)),
    "arrays of 1000": (arrays, np.linspace(0.0, 1.0, 1000)),
}


def seconds(f: Callable, *args: object) -> float:
    begun = time.thread_time()
    f(*args)
    return time.thread_time() - begun


def main() -> None:
    print(f"{'the function computes with':35}{'ms':>8}{'times as long':>15}")
    for name, (f, x) in PROGRAMS.items():
        slope, plain, explained = cr.grad(f), [], []
        for k in range(ROUNDS):
            moved = list(np.multiply(x, 1 + 1e-3 * k)) if type(x) is list else x * (1 + 1e-3 * k)
            plain.append(seconds(slope, moved))
            explained.append(seconds(partial(cr.explain, slope, moved, stage="times")))
        run, ratio = statistics.median(plain), statistics.median(explained)
        print(f"{name:35}{1e3 * run:8.2f}{ratio / run:15.2f}")


if __name__ == "__main__":
    main()
