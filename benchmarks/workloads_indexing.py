"""Loops over the elements of an array: the cost per read or write must not grow with the array."""

from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

import numpy as np
from peers import gradients, peers
from table import BY_HAND, JAX, JAX_JIT, OURS
from workload import Workload


def positions(namespace: ModuleType, n: int) -> Any:
    """Return 0, 1, ... n - 1; for JAX as its own numbers: it compiles each constant index anew."""
    return namespace.arange(n) if namespace.__name__ == "jax.numpy" else range(n)


def index_loop(namespace: ModuleType) -> Callable:
    def f(x: Any) -> Any:
        return sum(x[i] ** 2 for i in positions(namespace, len(x)))

    return f


def index_loop_in_jit(namespace: ModuleType) -> Callable:
    loop = peers()[JAX_JIT].jax.lax.fori_loop
    return lambda x: loop(0, len(x), lambda i, y: y + x[i] ** 2, 0.0)


def repeated(program: Callable, times: int) -> Callable:
    def run() -> None:
        for _ in range(times):
            program()

    return run


# ---- a buffer filled by y[i] = y[i - 1] / 2 + sin(x[i]) ----


def buffer_fill(namespace: ModuleType) -> Callable:
    """Return the function as users of each library write it.

    NumPy's arrays and PyTorch's are written to; JAX makes new arrays by ``.at``, and autograd's
    users stack a list.
    """
    sin, total, zeros_like = namespace.sin, namespace.sum, namespace.zeros_like

    def written(x: Any) -> Any:
        y = zeros_like(x)
        for i in range(len(x)):
            y[i] = 0.5 * y[i - 1] + sin(x[i])
        return total(y * y)

    def made_anew(x: Any) -> Any:
        y = zeros_like(x)
        for i in positions(namespace, len(x)):
            y = y.at[i].set(0.5 * y[i - 1] + sin(x[i]))
        return total(y * y)

    def listed(x: Any) -> Any:
        parts, last = [], 0.0
        for i in range(len(x)):
            last = 0.5 * last + sin(x[i])
            parts.append(last)
        return total(namespace.stack(parts) ** 2)

    return {"jax.numpy": made_anew, "autograd.numpy": listed}.get(namespace.__name__, written)


def buffer_fill_in_jit(namespace: ModuleType) -> Callable:
    loop = peers()[JAX_JIT].jax.lax.fori_loop

    def f(x: Any) -> Any:
        def step(i: Any, y: Any) -> Any:
            return y.at[i].set(0.5 * y[i - 1] + namespace.sin(x[i]))

        return namespace.sum(loop(0, len(x), step, namespace.zeros_like(x)) ** 2)

    return f


def buffer_fill_by_hand(x: np.ndarray) -> tuple:
    ys, last = [], 0.0
    for sine in np.sin(x).tolist():
        last = 0.5 * last + sine
        ys.append(last)
    y = np.array(ys)
    sums, last = [], 0.0
    for ybar in (2.0 * y[::-1]).tolist():
        last = 0.5 * last + ybar
        sums.append(last)
    return np.sum(y * y), (np.array(sums[::-1]) * np.cos(x),)


def workloads() -> Iterator[Workload]:
    rng = np.random.default_rng(0)
    # The same number of reads, of a small array: for the ratio of the costs per read.
    small = gradients(index_loop, rng.normal(size=100))[OURS]
    for power in (2, 3, 4):
        n = 10**power
        yield index_loop_workload(rng.normal(size=n), power, small)
    x = rng.normal(size=1000)
    built = gradients(buffer_fill, x, in_jit=buffer_fill_in_jit)
    built[BY_HAND] = lambda: buffer_fill_by_hand(x)
    yield Workload("gradient, buffer fill, n = 1000", 4000, built)


def index_loop_workload(x: np.ndarray, power: int, small: Callable) -> Workload:
    built = gradients(index_loop, x, in_jit=index_loop_in_jit)
    built[BY_HAND] = lambda: (np.sum(x * x), (2.0 * x,))
    targets, skipped = {}, {}
    if power == 4:
        built["n = 100"] = repeated(small, len(x) // 100)
        targets["n = 100"] = 1.5
        skipped = {JAX: "its loop of 10^4 reads takes half a minute"}
    return Workload(
        f"sum(x[i]**2 for i in range(10^{power}))", len(x), built, targets, skipped=skipped
    )
