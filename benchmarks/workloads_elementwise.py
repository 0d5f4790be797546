"""Chains of elementwise operations: on one number, on ten, on a million; forward and reverse."""

from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

import numpy as np
from peers import derivative, gradient, peers
from table import JAX_JIT, OWN_LOOP
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


def chain_in_loop(namespace: ModuleType) -> Callable:
    """Return ``chain(namespace, 1000)`` in JAX's own loop."""
    loop, sin = peers()[JAX_JIT].jax.lax.fori_loop, namespace.sin
    return lambda x: sin(loop(0, 333, lambda _, y: sin(y) * x + 0.5, x))


def summed_chain_in_loop(namespace: ModuleType) -> Callable:
    """Return ``summed_chain(namespace, 200)`` in JAX's own loop."""
    loop, sin = peers()[JAX_JIT].jax.lax.fori_loop, namespace.sin

    def f(x: Any) -> Any:
        y = loop(0, 66, lambda _, y: sin(y) * x + 0.5, x)
        return namespace.sum(sin(sin(y)))

    return f


# ---- x = r * x * (1 - x), a thousand times: the derivative in r, in forward mode ----


def logistic_map(namespace: ModuleType) -> Callable:
    def f(r: Any) -> Any:
        x = 0.3
        for _ in range(1000):
            x = r * x * (1.0 - x)
        return x

    return f


def logistic_map_in_loop(namespace: ModuleType) -> Callable:
    loop = peers()[JAX_JIT].jax.lax.fori_loop
    return lambda r: loop(0, 1000, lambda _, x: r * x * (1.0 - x), 0.3)


def logistic_map_by_hand(r: float, rdot: float) -> tuple:
    x, xdot = 0.3, 0.0
    for _ in range(1000):
        rest = 1.0 - x
        x, xdot = r * x * rest, rdot * x * rest + r * xdot * (rest - x)
    return x, xdot


# ---- on a million elements ----


def twenty(namespace: ModuleType) -> Callable:
    """Return a function of 20 products and sums, and a sum of all."""

    def f(x: Any) -> Any:
        y = x
        for _ in range(10):
            y = y * x + 0.5
        return namespace.sum(y)

    return f


def whole_twenty(namespace: ModuleType) -> Callable:
    """Return the same with numbers that integers keep."""

    def f(x: Any) -> Any:
        y = x
        for _ in range(10):
            y = y * x + 5
        return namespace.sum(namespace.where(y != x, y, x))

    return f


def kernels(namespace: Any) -> dict[str, Callable]:
    exp, log1p, tanh, sqrt = namespace.exp, namespace.log1p, namespace.tanh, namespace.sqrt
    return {
        "exp": exp,
        "log": namespace.log,
        "tanh": tanh,
        "sin": namespace.sin,
        "log1p(exp)": lambda x: log1p(exp(x)),
        "sigmoid": lambda x: 1.0 / (1.0 + exp(-x)),
        "sqrt(x * x + 1)": lambda x: sqrt(x * x + 1.0),
        "gelu": lambda x: 0.5 * x * (1.0 + tanh(0.7978845608 * (x + 0.044715 * x * x * x))),
        "where": lambda x: namespace.where(x > 1.0, x * x, exp(x)),
        "variance": lambda x: (x - namespace.mean(x)) ** 2,
    }


def kernel(name: str) -> Callable:
    return lambda namespace: lambda x: namespace.sum(kernels(namespace)[name](x))


def workloads() -> Iterator[Workload]:
    yield Workload(
        "gradient of x * x", 1, gradient(lambda _: lambda x: x * x), (0.7,),
        lambda x: (x * x, (2.0 * x,)),
    )  # fmt: skip

    def scalar_by_hand(x: float) -> tuple:
        y, xbar = chain_by_hand(x, 1000)
        return y, (xbar,)

    compiled = {JAX_JIT: 0.4, OWN_LOOP: 0.6}
    yield Workload(
        "gradient, 1000 scalar operations",
        1000,
        gradient(lambda namespace: chain(namespace, 1000)),
        (0.7,),
        scalar_by_hand,
        gradient(chain_in_loop),
        targets={"autograd": 1 / 6, "PyTorch": 1 / 2},
        compiled=compiled,
        overhead=1.2 / 7,
    )
    rng = np.random.default_rng(0)
    yield Workload(
        "gradient, 200 operations on 10 elements",
        200,
        gradient(lambda namespace: summed_chain(namespace, 200)),
        (rng.uniform(0.1, 1, 10),),
        lambda x: summed_chain_by_hand(x, 200),
        gradient(summed_chain_in_loop),
        targets={"autograd": 1 / 3, "PyTorch": 2 / 3},
        compiled={JAX_JIT: 0.6},
        overhead=2 / 7,
    )
    yield Workload(
        "jvp, 1000 scalar operations",
        1000,
        derivative("jvp", lambda namespace: chain(namespace, 1000)),
        (0.7, 1.0),
        lambda x, xdot: chain_jvp_by_hand(x, xdot, 1000),
        derivative("jvp", chain_in_loop),
        targets={"autograd": 1 / 5},
        compiled=compiled,
        reverse=False,
    )
    yield Workload(
        "jvp, recurrence of 1000 steps",
        3000,
        derivative("jvp", logistic_map),
        (2.9, 1.0),
        logistic_map_by_hand,
        derivative("jvp", logistic_map_in_loop),
        slow=(JAX_JIT,),
        reverse=False,
    )
    yield from large_workloads(rng)


def large_workloads(rng: np.random.Generator) -> Iterator[Workload]:
    x, compiled = rng.uniform(0.1, 1, 1_000_000), {JAX_JIT: 0.35}
    yield Workload(
        "gradient, 20 operations on 10^6 elements", 20, gradient(large), (x,), large_by_hand,
        large=True, compiled=compiled,
    )  # fmt: skip
    name = "gradient, 20 products and sums on 10^6"
    yield Workload(name, 20, gradient(twenty), (x,), compiled=compiled)
    yield from workloads_of_other_dtypes(x)
    x = rng.uniform(0.1, 3.0, 1_000_000)
    for name in kernels(np):
        yield Workload(
            f"gradient, {name} on 10^6", 2, gradient(kernel(name)), (x,), compiled={JAX_JIT: 0.9}
        )


def workloads_of_other_dtypes(x: np.ndarray) -> Iterator[Workload]:
    single, compiled = (x.astype(np.float32),), {JAX_JIT: 0.4}
    for name, f in (("20 products and sums", twenty), ("gelu", kernel("gelu"))):
        yield Workload(
            f"gradient, {name} on 10^6 float32", 20, gradient(f), single, compiled=compiled,
            rtol=1e-3,
        )  # fmt: skip
    for dtype in ("complex128", "int64"):
        given = (x * (1.0 + 0.3j) if dtype == "complex128" else (100.0 * x).astype(dtype),)
        yield Workload(
            f"20 products and sums on 10^6 {dtype}", 20, lambda p: whole_twenty(p.namespace), given,
            compiled={JAX_JIT: 0.9},
        )  # fmt: skip
