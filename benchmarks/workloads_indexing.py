"""A loop that reads an array element by element: the cost per read must not grow with the array."""

from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

import numpy as np
from workload import OURS, Workload, gradients


def index_loop(namespace: ModuleType) -> Callable:
    def f(x: Any) -> Any:
        return sum(x[i] ** 2 for i in range(len(x)))

    return f


def repeated(program: Callable, times: int) -> Callable:
    def run() -> None:
        for _ in range(times):
            program()

    return run


def workloads() -> Iterator[Workload]:
    rng = np.random.default_rng(0)
    # The same number of reads, of a small array: for the ratio of the costs per read.
    small = gradients(index_loop, rng.normal(size=100))[OURS]
    for power in (2, 3, 4):
        n = 10**power
        programs = gradients(index_loop, rng.normal(size=n))
        targets = {}
        if n == 10_000:
            programs["n = 100"] = repeated(small, n // 100)
            targets["n = 100"] = 1.5
        yield Workload(f"sum(x[i]**2 for i in range(10^{power}))", n, programs, targets)
