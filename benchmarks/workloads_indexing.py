"""Loops over the elements of an array: the cost per read or write must not grow with the array."""

from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

import numpy as np
from peers import gradient, peers
from table import JAX, JAX_JIT, OURS, OWN_LOOP
from workload import Workload
from workloads_small import mean_squared_error


def positions(namespace: ModuleType, n: int) -> Any:
    """Return 0, 1, ... n - 1; for JAX as its own numbers: it compiles each constant index anew."""
    return namespace.arange(n) if namespace.__name__ == "jax.numpy" else range(n)


def index_loop(namespace: ModuleType) -> Callable:
    return lambda x: sum(x[i] ** 2 for i in positions(namespace, len(x)))


def index_loop_in_loop(namespace: ModuleType) -> Callable:
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


def buffer_fill_in_loop(namespace: ModuleType) -> Callable:
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


# ---- few numbers ----


def sum3(namespace: ModuleType) -> Callable:
    def f(x: Any) -> Any:
        y = 0.0
        for i in range(3):
            y = y + x[i]
        return y

    return f


def error_by_hand(y: np.ndarray, seen: np.ndarray) -> tuple:
    rest = y - seen
    return np.mean(rest**2), (2.0 / len(y) * rest,)


def workloads() -> Iterator[Workload]:
    rng, compiled = np.random.default_rng(0), {JAX_JIT: 0.3}
    yield Workload(
        "gradient, sum of 3 by a loop", 3, gradient(sum3), (rng.normal(size=3),),
        lambda x: (x.sum(), (np.ones(3),)), compiled=compiled,
    )  # fmt: skip
    given = rng.normal(size=30), rng.normal(size=30)
    yield Workload(
        "gradient, mean squared error of 30", 3, gradient(mean_squared_error), given,
        error_by_hand, compiled=compiled,
    )  # fmt: skip
    # The same number of reads, of a small array: for the ratio of the costs per read.
    ours, x = peers()[OURS], rng.normal(size=100)
    small = ours.call(gradient(index_loop)(ours), (x,))
    for power in (2, 3, 4):
        yield index_loop_workload(rng.normal(size=10**power), power, small)
    yield Workload(
        "gradient, buffer fill, n = 1000",
        4000,
        gradient(buffer_fill),
        (rng.normal(size=1000),),
        buffer_fill_by_hand,
        gradient(buffer_fill_in_loop),
        slow=(JAX, JAX_JIT),
    )


def index_loop_workload(x: np.ndarray, power: int, small: Callable) -> Workload:
    workload = Workload(
        f"sum(x[i]**2 for i in range(10^{power}))",
        len(x),
        gradient(index_loop),
        (x,),
        lambda x: (np.sum(x * x), (2.0 * x,)),
        gradient(index_loop_in_loop),
        compiled={JAX_JIT: 0.02, OWN_LOOP: 0.4} if power == 3 else {},
        slow=(JAX_JIT,) if power == 3 else (),
    )
    if power == 4:
        workload.references["n = 100"] = repeated(small, len(x) // 100)
        workload.targets["n = 100"] = 1.5
        workload.skipped[JAX] = "its loop of 10^4 reads takes half a minute"
        workload.skipped[JAX_JIT] = "nobody waits for it"
    return workload
