"""The determinant by recursion over scalars: many small operations, and no arrays."""

from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

import numpy as np
from peers import gradient
from table import JAX_JIT
from workload import Workload

N = 6


def determinant(rows: list[list[Any]]) -> Any:
    """Expand along the first row."""
    first, *rest = rows
    if not rest:
        return first[0]
    y = 0.0
    for j, entry in enumerate(first):
        minor = [row[:j] + row[j + 1 :] for row in rest]
        y = y + (-1) ** j * entry * determinant(minor)
    return y


def determinant_of(namespace: ModuleType) -> Callable:
    return lambda a: determinant([[a[i, j] for j in range(N)] for i in range(N)])


def determinant_by_hand(a: np.ndarray) -> tuple:
    y = np.linalg.det(a)
    return y, (y * np.linalg.inv(a).T,)


def workloads() -> Iterator[Workload]:
    a = np.random.default_rng(0).normal(size=(N, N))
    operations = N * N
    terms = 1
    for n in range(N, 1, -1):
        terms *= n
        operations += 3 * terms
    yield Workload(
        f"gradient, determinant by recursion, {N} x {N}", operations, gradient(determinant_of),
        (a,), determinant_by_hand, slow=(JAX_JIT,),
    )  # fmt: skip
