"""Values decide what is done: JAX's jit refuses these, and ours records each way."""

import functools
import math
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

import numpy as np
from peers import gradient
from table import BY_HAND, JAX, JAX_JIT
from workload import Workload

ROOTS, STEPS = 20, 100


def newton(namespace: ModuleType) -> Callable:
    """Return the sum of 20 solutions of Kepler's equation, each by Newton's method."""
    sin, cos = namespace.sin, namespace.cos

    def f(e: Any, m: Any) -> Any:
        total = 0.0
        for k in range(ROOTS):
            u = goal = m + 0.3 * k
            while abs(u - e * sin(u) - goal) > 1e-12:
                u = u - (u - e * sin(u) - goal) / (1.0 - e * cos(u))
            total = total + sin(u)
        return total

    return f


def newton_by_hand(e: float, m: float) -> tuple:
    total = ebar = mbar = 0.0
    for k in range(ROOTS):
        u = goal = m + 0.3 * k
        while abs(u - e * math.sin(u) - goal) > 1e-12:
            u -= (u - e * math.sin(u) - goal) / (1.0 - e * math.cos(u))
        sine, cosine = math.sin(u), math.cos(u)
        slope = 1.0 - e * cosine
        total += sine
        ebar += cosine * sine / slope
        mbar += cosine / slope
    return total, (ebar, mbar)


def branches(namespace: ModuleType) -> Callable:
    """Return the energy after 100 steps under a force that depends on where it is."""

    def f(a: Any, b: Any) -> Any:
        x, v = 0.0, a
        for _ in range(STEPS):
            if x > 0.5:
                force = -b * (x - 0.5) - 0.1 * v
            elif x < -0.5:
                force = -b * (x + 0.5) ** 3
            else:
                force = -0.1 * v * abs(v)
            v = v + 0.05 * force
            x = x + 0.05 * v
        return x * x + v * v

    return f


def branches_by_hand(a: float, b: float) -> tuple:
    # The derivatives of x and v in a and in b are carried along.
    x, v, xa, va, xb, vb = 0.0, a, 0.0, 1.0, 0.0, 0.0
    for _ in range(STEPS):
        in_b = 0.0
        if x > 0.5:
            in_x, in_v, in_b = -b, -0.1, 0.5 - x
            force = in_x * (x - 0.5) - 0.1 * v
        elif x < -0.5:
            in_x, in_v, in_b = -3.0 * b * (x + 0.5) ** 2, 0.0, -((x + 0.5) ** 3)
            force = b * in_b
        else:
            in_x, in_v = 0.0, -0.2 * abs(v)
            force = -0.1 * v * abs(v)
        va, vb = va + 0.05 * (in_x * xa + in_v * va), vb + 0.05 * (in_x * xb + in_v * vb + in_b)
        v += 0.05 * force
        x, xa, xb = x + 0.05 * v, xa + 0.05 * va, xb + 0.05 * vb
    return x * x + v * v, (2.0 * (x * xa + v * va), 2.0 * (x * xb + v * vb))


def numbers_between(least: tuple, most: tuple, k: int) -> tuple:
    """Return random numbers between these, drawn anew for each k."""
    return tuple(np.random.default_rng(k).uniform(least, most).tolist())


def workloads() -> Iterator[Workload]:
    for name, operations, f, given, by_hand, ratio, least, most in (
        (
            "Newton's iterations (while)",
            80 * ROOTS,
            newton,
            (0.3, 0.5),
            newton_by_hand,
            0.35,
            (0.1, 0.0),
            (0.5, 3.0),
        ),
        (
            "a force with branches, 100 steps",
            8 * STEPS,
            branches,
            (1.0, 4.0),
            branches_by_hand,
            0.2,
            (0.5, 3.0),
            (1.5, 5.0),
        ),
    ):
        yield Workload(
            f"gradient, {name}",
            operations,
            gradient(f, (0, 1)),
            given,
            by_hand,
            compiled={BY_HAND: ratio},
            skipped={JAX_JIT: "values decide what is done"},
            slow=(JAX,),
            points=functools.partial(numbers_between, least, most),
        )
