"""Prey and predators by Runge and Kutta's method: 500 steps on a vector of two."""

from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

import numpy as np
from peers import gradient, peers
from table import JAX, JAX_JIT, OWN_LOOP
from workload import Workload

STEPS, DT = 500, 0.02


def step_in(namespace: ModuleType) -> Callable:
    stack = namespace.stack

    def slope(state: Any, births: Any, caught: Any, deaths: Any, fed: Any) -> Any:
        prey, predators = state[0], state[1]
        met = prey * predators
        return stack([births * prey - caught * met, fed * met - deaths * predators])

    def step(state: Any, rates: tuple) -> Any:
        k1 = slope(state, *rates)
        k2 = slope(state + 0.5 * DT * k1, *rates)
        k3 = slope(state + 0.5 * DT * k2, *rates)
        k4 = slope(state + DT * k3, *rates)
        return state + DT / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4)

    return step


def orbit(namespace: ModuleType) -> Callable:
    step = step_in(namespace)

    def loss(rates: Any, state: Any) -> Any:
        each = tuple(rates[i] for i in range(4))
        for _ in range(STEPS):
            state = step(state, each)
        return namespace.sum(state**2)

    return loss


def orbit_in_loop(namespace: ModuleType) -> Callable:
    step, loop = step_in(namespace), peers()[JAX_JIT].jax.lax.fori_loop

    def loss(rates: Any, state: Any) -> Any:
        each = tuple(rates[i] for i in range(4))
        return namespace.sum(loop(0, STEPS, lambda _, z: step(z, each), state) ** 2)

    return loss


# ---- by hand, in Python's floats: NumPy's calls on two numbers cost more than the numbers ----


def orbit_by_hand(rates: np.ndarray, state: np.ndarray) -> tuple:
    each = rates.tolist()
    births, caught, deaths, fed = each
    x, y = state.tolist()
    kept = []
    for _ in range(STEPS):
        points, parts = [], []
        u, v = x, y
        for ahead in (0.5 * DT, 0.5 * DT, DT, None):
            points.append((u, v))
            k = births * u - caught * u * v, fed * u * v - deaths * v
            parts.append(k)
            if ahead is not None:
                u, v = x + ahead * k[0], y + ahead * k[1]
        x += DT / 6.0 * (parts[0][0] + 2.0 * parts[1][0] + 2.0 * parts[2][0] + parts[3][0])
        y += DT / 6.0 * (parts[0][1] + 2.0 * parts[1][1] + 2.0 * parts[2][1] + parts[3][1])
        kept.append(points)
    value = x * x + y * y
    bars = [0.0, 0.0, 0.0, 0.0]
    xbar, ybar = 2.0 * x, 2.0 * y
    for points in reversed(kept):
        xbar, ybar = step_back(each, points, bars, xbar, ybar)
    return value, (np.array(bars), np.array([xbar, ybar]))


def step_back(each: list, points: list, bars: list, xbar: float, ybar: float) -> tuple:
    """Pull the bars of a step's end back to its start, and add to those of the rates."""
    births, caught, deaths, fed = each
    start_x, start_y = xbar, ybar
    from_x = from_y = ahead = 0.0  # what the next slope's point hands to this slope
    for (u, v), weight, dt in zip(reversed(points), (1, 2, 2, 1), (DT, 0.5 * DT, 0.5 * DT, 0.0)):
        p = DT / 6.0 * weight * xbar + ahead * from_x
        q = DT / 6.0 * weight * ybar + ahead * from_y
        bars[0] += p * u
        bars[1] -= p * u * v
        bars[2] -= q * v
        bars[3] += q * u * v
        from_x = p * (births - caught * v) + q * fed * v
        from_y = q * (fed * u - deaths) - p * caught * u
        start_x, start_y, ahead = start_x + from_x, start_y + from_y, dt
    return start_x, start_y


# ---- the same method in floats, 200 steps ----


def float_step(x: Any, y: Any, a: Any, b: Any, c: Any, d: Any) -> tuple:
    def slope(x: Any, y: Any) -> tuple:
        return a * x - b * x * y, d * x * y - c * y

    k1, l1 = slope(x, y)
    k2, l2 = slope(x + 0.5 * DT * k1, y + 0.5 * DT * l1)
    k3, l3 = slope(x + 0.5 * DT * k2, y + 0.5 * DT * l2)
    k4, l4 = slope(x + DT * k3, y + DT * l3)
    x = x + DT / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4)
    return x, y + DT / 6.0 * (l1 + 2.0 * l2 + 2.0 * l3 + l4)


def floats(namespace: ModuleType) -> Callable:
    def f(a: Any, b: Any, c: Any, d: Any) -> Any:
        x, y = 1.0, 0.5
        for _ in range(200):
            x, y = float_step(x, y, a, b, c, d)
        return x + y

    return f


def floats_in_loop(namespace: ModuleType) -> Callable:
    loop = peers()[JAX_JIT].jax.lax.fori_loop

    def f(a: Any, b: Any, c: Any, d: Any) -> Any:
        x, y = loop(0, 200, lambda _, s: float_step(*s, a, b, c, d), (1.0, 0.5))
        return x + y

    return f


def workloads() -> Iterator[Workload]:
    four = (0, 1, 2, 3)
    yield Workload(
        "gradient, RK4 of Lotka-Volterra, 200 steps",
        54 * 200,
        gradient(floats, four),
        (1.5, 1.0, 3.0, 1.0),
        own_loop=gradient(floats_in_loop, four),
        compiled={JAX_JIT: 0.3, OWN_LOOP: 0.1},
        slow=(JAX, JAX_JIT),
    )
    yield Workload(
        "gradient, RK4 of vectors of two, 500 steps",
        54 * STEPS,
        gradient(orbit, (0, 1)),
        (np.array([1.1, 0.4, 0.4, 0.1]), np.array([10.0, 5.0])),
        orbit_by_hand,
        gradient(orbit_in_loop, (0, 1)),
        compiled={OWN_LOOP: 0.1},
        skipped={JAX_JIT: "nobody waits for it"},
        slow=(JAX,),
    )
