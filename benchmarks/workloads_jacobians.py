"""The Jacobian of a function of R^50 into R^50, column by column and row by row."""

from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

import numpy as np
from peers import derivative
from table import JAX_JIT
from workload import Workload

N = 50


def mixed(namespace: ModuleType, a: Any) -> Callable:
    sin, exp = namespace.sin, namespace.exp

    def f(x: Any) -> Any:
        y = sin(a @ x)
        return y * x + exp(-(y**2))

    return f


def by_hand(x: np.ndarray, a: np.ndarray) -> np.ndarray:
    z = a @ x
    y = np.sin(z)
    slope = (x - 2.0 * y * np.exp(-(y**2))) * np.cos(z)
    jacobian = slope[:, None] * a
    jacobian[np.arange(N), np.arange(N)] += y
    return jacobian


def workloads() -> Iterator[Workload]:
    rng = np.random.default_rng(0)
    x, a = rng.normal(size=N), rng.normal(size=(N, N)) / 7
    for kind, mode in (("jacfwd", "forward"), ("jacrev", "reverse")):
        yield Workload(
            f"Jacobian, R^50 -> R^50, {mode}",
            7,
            derivative(kind, mixed, a),
            (x,),
            lambda x: by_hand(x, a),
            compiled={JAX_JIT: 1.0},
            reverse=mode == "reverse",
        )
