"""Memory pool of transforms: derivatives of elementwise programs with it and without.

``python benchmarks/memory_pool.py``; CPU time of one thread, both in turns in one process.
"""

import statistics
import time
from collections.abc import Callable

import numpy as np

import chainrules as cr
from chainrules.config import memory

ROUNDS = 15


def program(x: np.ndarray) -> float:
    y = x
    for _ in range(5):
        y = np.sin(y) * 1.1
        y = y + x * 0.5
        y = np.exp(-y)
    return np.sum(y)


def product(x: np.ndarray) -> np.ndarray:
    return cr.hvp(program, (x,), (x,))


def seconds(f: Callable, x: np.ndarray) -> float:
    begun = time.thread_time()
    f(x)
    return time.thread_time() - begun


def main() -> None:
    print(f"{'ms':10}{'numbers':>10}{'without':>10}{'with':>10}")
    for n in (10**4, 10**5, 10**6):
        x = np.linspace(0.0, 1.0, n)
        for name, f in {"value": program, "gradient": cr.grad(program), "hvp": product}.items():
            pools, times = (memory.NoPool, memory.pool), ([], [])
            for _ in range(ROUNDS):
                for pool, found in zip(pools, times, strict=True):
                    memory.pool = pool
                    found.append(seconds(f, x))
            without, pooled = (1e3 * statistics.median(found) for found in times)
            print(f"{name:10}{n:10}{without:10.2f}{pooled:10.2f}")


if __name__ == "__main__":
    main()
