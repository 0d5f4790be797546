"""Rosenbrock's function, written with slices: gradient, Hessian times vector, Hessian."""

from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

import numpy as np
from peers import gradients, programs
from table import BY_HAND
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


def product_workload(x: np.ndarray, xdot: np.ndarray) -> Workload:
    import chainrules as cr

    built = programs("hvp", rosenbrock, x, xdot)
    built[BY_HAND] = lambda: product_by_hand(x, xdot)
    gradient = cr.grad(rosenbrock(np))
    built["own gradient"] = lambda: gradient(x)
    targets = {"own gradient": 3.0}
    return Workload("Hessian times vector, Rosenbrock, n = 1000", 10, built, targets)


def hessian_workload(x: np.ndarray) -> Workload:
    import chainrules as cr

    f = rosenbrock(np)
    built = programs("hessian", rosenbrock, x)
    built[BY_HAND] = lambda: hessian_by_hand(x)
    name = f"{len(x)} products"
    built[name] = lambda: [cr.hvp(f, (x,), (unit,)) for unit in np.eye(len(x))]
    return Workload("Hessian, Rosenbrock, n = 100", 10, built, {name: 0.1})


def workloads() -> Iterator[Workload]:
    rng = np.random.default_rng(0)
    x, xdot = rng.normal(size=1000), rng.normal(size=1000)
    built = gradients(rosenbrock, x)
    built[BY_HAND] = lambda: rosenbrock_by_hand(x)
    yield Workload("gradient, Rosenbrock, n = 1000", 10, built)
    yield product_workload(x, xdot)
    yield hessian_workload(x[:100])
