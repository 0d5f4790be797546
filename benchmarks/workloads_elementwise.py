"""Chains of elementwise operations: on one number, on ten, on a million; forward and reverse."""

from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

import numpy as np
from peers import JAX_JIT, gradients, peers, programs
from table import BY_HAND
from workload import Workload


def chain(namespace: ModuleType, operations: int) -> Callable:
    """Return a function of so many sines, products and sums, each of the last one's result."""
    sin = namespace.sin

    def f(x: Any) -> Any:
        y = x
        for _ in range(operations // 3):
            y = sin(y)
            y = y * x
            y = y + 0.5
        for _ in range(operations % 3):
            y = sin(y)
        return y

    return f


def chain_by_hand(x: Any, operations: int) -> tuple:
    """Return the value of the chain and its derivative, entry by entry."""
    sin, cos = np.sin, np.cos
    y, inputs, sines = x, [], []
    for _ in range(operations // 3):
        inputs.append(y)
        y = sin(y)
        sines.append(y)
        y = y * x + 0.5
    ybar, xbar = x * 0.0 + 1.0, x * 0.0
    for _ in range(operations % 3):
        ybar = ybar * cos(y)
        y = sin(y)
    while inputs:
        xbar += sines.pop() * ybar
        ybar = ybar * x * cos(inputs.pop())
    return y, xbar + ybar


def summed_chain(namespace: ModuleType, operations: int) -> Callable:
    f, total = chain(namespace, operations), namespace.sum
    return lambda x: total(f(x))


def summed_chain_by_hand(x: np.ndarray, operations: int) -> tuple:
    y, xbar = chain_by_hand(x, operations)
    return np.sum(y), (xbar,)


def chain_jvp_by_hand(x: Any, xdot: Any, operations: int) -> tuple:
    sin, cos = np.sin, np.cos
    y, ydot = x, xdot
    for _ in range(operations // 3):
        ydot = cos(y) * ydot
        y = sin(y)
        ydot = ydot * x + y * xdot
        y = y * x + 0.5
    for _ in range(operations % 3):
        ydot = cos(y) * ydot
        y = sin(y)
    return y, ydot


def large(namespace: ModuleType) -> Callable:
    """Return a function of 20 elementwise operations and a sum; every ``y`` is used twice."""
    sin, total = namespace.sin, namespace.sum

    def f(x: Any) -> Any:
        y = x
        for _ in range(5):
            y = sin(y) * x + 0.5 * y
        return total(y)

    return f


def large_by_hand(x: np.ndarray) -> tuple:
    y = x
    kept = []
    for _ in range(5):
        sine = np.sin(y)
        kept.append((y, sine))
        y = sine * x + 0.5 * y
    value = np.sum(y)
    ybar = np.ones_like(y)
    xbar = np.zeros_like(x)
    while kept:
        y, sine = kept.pop()
        xbar += sine * ybar
        ybar = np.cos(y) * (x * ybar) + 0.5 * ybar
    return value, (xbar + ybar,)


# ---- x = r * x * (1 - x), a thousand times: the derivative in r, in forward mode ----


def logistic_map(namespace: ModuleType) -> Callable:
    def f(r: Any) -> Any:
        x = 0.3
        for _ in range(1000):
            x = r * x * (1.0 - x)
        return x

    return f


def logistic_map_in_jit(namespace: ModuleType) -> Callable:
    loop = peers()[JAX_JIT].jax.lax.fori_loop
    return lambda r: loop(0, 1000, lambda _, x: r * x * (1.0 - x), 0.3)


def logistic_map_by_hand(r: float, rdot: float) -> tuple:
    x, xdot = 0.3, 0.0
    for _ in range(1000):
        rest = 1.0 - x
        x, xdot = r * x * rest, rdot * x * rest + r * xdot * (rest - x)
    return x, xdot


def workloads() -> Iterator[Workload]:
    rng = np.random.default_rng(0)
    built = gradients(lambda namespace: lambda x: x * x, 0.7)
    built[BY_HAND] = lambda: (0.7 * 0.7, (2.0 * 0.7,))
    yield Workload("gradient of x * x", 1, built)
    built = gradients(lambda namespace: chain(namespace, 1000), 0.7)

    def scalar_by_hand() -> tuple:
        y, xbar = chain_by_hand(0.7, 1000)
        return y, (xbar,)

    built[BY_HAND] = scalar_by_hand
    yield Workload(
        "gradient, 1000 scalar operations",
        1000,
        built,
        targets={"autograd": 1 / 6, "PyTorch": 1 / 2},
        overhead=1.2 / 7,
    )
    small = rng.uniform(0.1, 1, 10)
    built = gradients(lambda namespace: summed_chain(namespace, 200), small)
    built[BY_HAND] = lambda: summed_chain_by_hand(small, 200)
    yield Workload(
        "gradient, 200 operations on 10 elements",
        200,
        built,
        targets={"autograd": 1 / 3, "PyTorch": 2 / 3},
        overhead=2 / 7,
    )
    built = programs("jvp", lambda namespace: chain(namespace, 1000), 0.7, 1.0)
    built[BY_HAND] = lambda: chain_jvp_by_hand(0.7, 1.0, 1000)
    yield Workload(
        "jvp, 1000 scalar operations", 1000, built, targets={"autograd": 1 / 5}, reverse=False
    )
    built = programs("jvp", logistic_map, 2.9, 1.0, in_jit=logistic_map_in_jit)
    built[BY_HAND] = lambda: logistic_map_by_hand(2.9, 1.0)
    yield Workload("jvp, recurrence of 1000 steps", 3000, built, reverse=False)
    x = rng.uniform(0.1, 1, 1_000_000)
    built = gradients(large, x)
    built[BY_HAND] = lambda: large_by_hand(x)
    yield Workload("gradient, 20 operations on 10^6 elements", 20, built, large=True)
