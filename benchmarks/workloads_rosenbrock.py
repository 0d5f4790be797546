"""Rosenbrock's function, written with slices: gradient, Hessian times vector, Hessian."""

from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

import numpy as np
from peers import derivative, gradient
from table import JAX_JIT
from workload import Workload


def rosenbrock(namespace: ModuleType) -> Callable:
    total = namespace.sum

    def f(x: Any) -> Any:
        return total(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1.0 - x[:-1]) ** 2)

    return f


def rosenbrock_by_hand(x: np.ndarray) -> tuple:
    bend, slope = x[1:] - x[:-1] ** 2, 1.0 - x[:-1]
    xbar = np.zeros_like(x)
    xbar[1:] = 200.0 * bend
    xbar[:-1] -= 400.0 * x[:-1] * bend + 2.0 * slope
    return np.sum(100.0 * bend**2 + slope**2), (xbar,)


def product_by_hand(x: np.ndarray, xdot: np.ndarray) -> np.ndarray:
    bend = x[1:] - x[:-1] ** 2
    bend_dot = xdot[1:] - 2.0 * x[:-1] * xdot[:-1]
    product = np.zeros_like(x)
    product[1:] = 200.0 * bend_dot
    product[:-1] -= 400.0 * (xdot[:-1] * bend + x[:-1] * bend_dot) - 2.0 * xdot[:-1]
    return product


def hessian_by_hand(x: np.ndarray) -> np.ndarray:
    n = len(x)
    h = np.zeros((n, n))
    i = np.arange(n - 1)
    h[i, i] = 1200.0 * x[:-1] ** 2 - 400.0 * x[1:] + 2.0
    h[i + 1, i + 1] += 200.0
    h[i, i + 1] = h[i + 1, i] = -400.0 * x[:-1]
    return h


def workloads() -> Iterator[Workload]:
    import chainrules as cr

    rng = np.random.default_rng(0)
    x, xdot = rng.normal(size=1000), rng.normal(size=1000)
    yield Workload(
        "gradient, Rosenbrock, n = 1000", 10, gradient(rosenbrock), (x,), rosenbrock_by_hand,
        compiled={JAX_JIT: 0.25},
    )  # fmt: skip
    own, name = cr.grad(rosenbrock(np)), "own gradient"
    yield Workload(
        "Hessian times vector, Rosenbrock, n = 1000",
        10,
        derivative("hvp", rosenbrock),
        (x, xdot),
        product_by_hand,
        targets={name: 3.0},
        compiled={JAX_JIT: 0.2},
        references={name: lambda: own(x)},
    )
    for n in (50, 100):
        yield hessian_workload(x[:n].copy())


def hessian_workload(x: np.ndarray) -> Workload:
    import chainrules as cr

    workload = Workload(
        f"Hessian, Rosenbrock, n = {len(x)}", 10, derivative("hessian", rosenbrock), (x,),
        hessian_by_hand, compiled={JAX_JIT: 0.45},
    )  # fmt: skip
    if len(x) == 100:
        f, name = rosenbrock(np), "100 products"
        workload.targets[name] = 0.1
        workload.references[name] = lambda: [cr.hvp(f, (x,), (unit,)) for unit in np.eye(len(x))]
    return workload
