"""The curves of growth: what a program costs for each size, and whether it must be linear."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from workloads_elementwise import chain, large
from workloads_indexing import buffer_fill, index_loop

import chainrules as cr

rng = np.random.default_rng(0)


@dataclass
class Curve:
    """Costs of ``program_of(n)`` for each n in ``sizes``; linear at most, except ``free``."""

    name: str
    sizes: list[int]
    program_of: Callable[[int], Callable[[], Any]]
    free: bool = False


def powers(low: int, high: int, per_decade: int = 1) -> list[int]:
    steps = range(low * per_decade, high * per_decade + 1)
    return [round(10 ** (k / per_decade)) for k in steps]


# ---- what each size is made of ----


def numbers(n: int) -> list[float]:
    return rng.uniform(size=n).tolist()


def arrays(n: int) -> list[np.ndarray]:
    return list(rng.uniform(size=(n, 10)))


def vector(n: int) -> np.ndarray:
    return rng.uniform(size=n)


def rows(n: int) -> np.ndarray:
    return rng.uniform(size=(n, 100))


# ---- functions ----


def sum_of_sines(xs: list) -> Any:
    return sum(map(np.sin, xs))


def sum_of_stack(xs: list) -> Any:
    return np.sum(np.stack(xs) ** 2)


def sum_of_concatenated(xs: list) -> Any:
    return np.sum(np.concatenate(xs) ** 2)


def recurrence(x: Any) -> Any:
    parts, last = [], 0.0
    for i in range(len(x)):
        last = 0.5 * last + x[i]
        parts.append(last)
    return sum_of_stack(parts)


def sum_by_rows(x: Any) -> Any:
    return sum(np.sum(x[t] ** 2) for t in range(len(x)))


def two_sums(x: Any) -> Any:
    return np.stack([np.sum(x), np.sum(x * x)])


# ---- programs ----


def gradient(f: Callable, argument: Callable[[int], Any]) -> Callable[[int], Callable]:
    def program_of(n: int) -> Callable:
        x, both = argument(n), cr.value_and_grad(f)
        return lambda: both(x)

    return program_of


def operations(n: int) -> Callable:
    both = cr.value_and_grad(chain(np, n))
    return lambda: both(0.7)


def operations_forward(n: int) -> Callable:
    f = chain(np, n)
    return lambda: cr.jvp(f, (0.7,), (1.0,))


def sines(n: int) -> Callable:
    return lambda x: [np.sin(x + i) for i in range(n)]


def outputs_forward(n: int) -> Callable:
    return lambda: cr.jvp(sines(n), (0.7,), (1.0,))


def outputs_reverse(n: int) -> Callable:
    def program() -> Any:
        _, pullback = cr.vjp(sines(n), 0.7)
        return pullback([1.0] * n)

    return program


def jacobian_forward(n: int) -> Callable:
    x = vector(n)
    return lambda: cr.jacfwd(two_sums)(x)


def jacobian_reverse(n: int) -> Callable:
    a, x = rng.uniform(size=(n, 10)), np.ones(10)
    return lambda: cr.jacrev(lambda x: np.sin(a @ x))(x)


def slope(f: Callable) -> Callable:
    return lambda x: cr.jvp(f, (x,), (1.0,))[1]


def nested(derivative: Callable) -> Callable[[int], Callable]:
    def program_of(depth: int) -> Callable:
        f = chain(np, 100)
        for _ in range(depth):
            f = derivative(f)
        return lambda: f(0.7)

    return program_of


def curves() -> Iterator[Curve]:
    yield Curve("operations on a float, reverse", powers(2, 6), operations)
    yield Curve("operations on a float, forward", powers(2, 6), operations_forward)
    yield Curve("array size", powers(2, 6), gradient(large(np), vector))
    yield Curve("inputs, a list of floats", powers(1, 4), gradient(sum_of_sines, numbers))
    yield Curve("outputs, a list of floats, forward", powers(1, 4), outputs_forward)
    yield Curve("outputs, a list of floats, reverse", powers(1, 4), outputs_reverse)
    # As many directions as n, of n numbers each.
    yield Curve("jacfwd: inputs of R^n -> R^2", powers(1, 3, 2), jacobian_forward, free=True)
    yield Curve("jacrev: outputs of R^10 -> R^n", powers(1, 3, 2), jacobian_reverse, free=True)
    yield Curve("stack of n arrays", powers(1, 4), gradient(sum_of_stack, arrays))
    yield Curve("concatenate of n arrays", powers(1, 4), gradient(sum_of_concatenated, arrays))
    yield Curve("n numbers of a loop, stacked", powers(1, 4), gradient(recurrence, vector))
    yield Curve("n reads x[i] of n numbers", powers(2, 5), gradient(index_loop(np), vector))
    yield Curve("n reads x[t] of rows of 100", powers(1, 4), gradient(sum_by_rows, rows))
    yield Curve("n writes y[i] = into a buffer", powers(2, 5), gradient(buffer_fill(np), vector))
    yield Curve("nesting depth of grad", [1, 2, 3, 4], nested(cr.grad), free=True)
    yield Curve("nesting depth of jvp", [1, 2, 3, 4], nested(slope), free=True)
