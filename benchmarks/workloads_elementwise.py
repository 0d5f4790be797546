"""Chains of elementwise operations: on one number, on ten, on a million."""

from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

import numpy as np
from workload import BY_HAND, OURS, Workload, gradients, optional, tensor


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


def summed_chain(namespace: ModuleType, operations: int) -> Callable:
    f, total = chain(namespace, operations), namespace.sum
    return lambda x: total(f(x))


def forward_programs(operations: int, x: float, xdot: float) -> dict[str, Callable]:
    import chainrules as cr

    f = chain(np, operations)
    programs: dict[str, Callable] = {OURS: lambda: cr.jvp(f, (x,), (xdot,))}
    if (autograd := optional("autograd")) is not None:
        push = autograd.make_jvp(chain(autograd.numpy, operations))
        programs["autograd"] = lambda: push(x)(xdot)
    if (torch := optional("torch")) is not None:
        from torch.autograd import forward_ad

        f_torch = chain(torch, operations)
        primal, tangent = tensor(torch, x), tensor(torch, xdot)

        def torch_program() -> tuple:
            with forward_ad.dual_level():
                return tuple(forward_ad.unpack_dual(f_torch(forward_ad.make_dual(primal, tangent))))

        programs["PyTorch"] = torch_program
    return programs


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


def workloads() -> Iterator[Workload]:
    rng = np.random.default_rng(0)
    yield Workload("gradient of x * x", 1, gradients(lambda namespace: lambda x: x * x, 0.7))
    yield Workload(
        "gradient, 1000 scalar operations",
        1000,
        gradients(lambda namespace: chain(namespace, 1000), 0.7),
        targets={"autograd": 1 / 6, "PyTorch": 1 / 2},
    )
    yield Workload(
        "gradient, 200 operations on 10 elements",
        200,
        gradients(lambda namespace: summed_chain(namespace, 200), rng.uniform(0.1, 1, 10)),
        targets={"autograd": 1 / 3, "PyTorch": 2 / 3},
    )
    yield Workload(
        "jvp, 1000 scalar operations",
        1000,
        forward_programs(1000, 0.7, 1.0),
        targets={"autograd": 1 / 5},
    )
    x = rng.uniform(0.1, 1, 1_000_000)
    programs = gradients(large, x)
    programs[BY_HAND] = lambda: large_by_hand(x)
    yield Workload(
        "gradient, 20 operations on 10^6 elements",
        20,
        programs,
        targets={BY_HAND: 1.3},
        memory_targets={BY_HAND: 1.3},
    )
