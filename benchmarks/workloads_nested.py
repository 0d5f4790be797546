"""Objectives that take a derivative inside, each nested in all four ways.

Both after Siskind and Pearlmutter (2008): a particle falls through a field whose force is the
gradient of a potential, and a saddle point is sought by gradient steps inside gradient steps.
"""

import itertools
import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from peers import Derived, Function, Peer
from table import BY_HAND, JAX, JAX_JIT
from workload import Workload

MODES = {"forward": "jacfwd", "reverse": "grad"}
START, SPEED, DT = np.array([0.0, 8.0]), np.array([0.75, -1.0]), 0.1

FLIGHT = 80  # steps of the particle

# ---- where the particle lands, squared; the control w moves one of two charges ----


def particle(peer: Peer, inner: str) -> Callable:
    start, speed = peer.array(START), peer.array(SPEED)
    slope_of, sqrt = peer.of[MODES[inner]], peer.namespace.sqrt

    def landing(w: Any) -> Any:
        def potential(x: Any) -> Any:
            across = (x[0] - 10.0) ** 2
            high, low = across + (x[1] - (10.0 - w)) ** 2, across + x[1] ** 2
            return 1.0 / sqrt(high) + 1.0 / sqrt(low)

        slope = slope_of(potential)
        x, v = start, speed
        while (moved := x + DT * v)[1] > 0:
            x, v = moved, v - DT * slope(x)
        return (x[0] - x[1] / v[1] * v[0]) ** 2

    return landing


def particle_derivative(outer: str, inner: str) -> Derived:
    def derived(peer: Peer) -> Function:
        f = particle(peer, inner)
        if outer == "reverse":
            return peer.of["grad"](f)
        push, one = peer.of["jvp"](f), peer.array(1.0)
        return lambda w: push(w, one)[1]

    return derived


def particle_by_hand(w: float) -> float:
    """Carry the derivatives of place and speed along, in Python's floats."""
    (x, y), (u, v) = START.tolist(), SPEED.tolist()
    xdot = ydot = udot = vdot = 0.0
    while y + DT * v > 0:
        force, force_dot = [0.0, 0.0], [0.0, 0.0]
        for charge, moving in ((10.0 - w, 1.0), (0.0, 0.0)):
            a, b, bdot = x - 10.0, y - charge, ydot + moving
            squared = a * a + b * b
            cube = squared * math.sqrt(squared)
            growth = 3.0 * (a * xdot + b * bdot) / squared
            force[0] += a / cube
            force[1] += b / cube
            force_dot[0] += (xdot - growth * a) / cube
            force_dot[1] += (bdot - growth * b) / cube
        x, y, u, v = x + DT * u, y + DT * v, u + DT * force[0], v + DT * force[1]
        xdot, ydot = xdot + DT * udot, ydot + DT * vdot
        udot, vdot = udot + DT * force_dot[0], vdot + DT * force_dot[1]
    time, time_dot = -y / v, (y * vdot / v - ydot) / v
    return 2.0 * (x + time * u) * (xdot + time_dot * u + time * udot)


# ---- the saddle: the slope in x of the largest value in y, found by steps uphill ----

STEPS, RATE = 30, 0.1


def saddle(peer: Peer, inner: str) -> Callable:
    start, total = peer.array(np.ones(2)), peer.namespace.sum
    slope_of = peer.of[MODES[inner]]

    def height(x: Any, y: Any) -> Any:
        return total(x * x) - total(y * y) + total(x * y)

    def highest(x: Any) -> Any:
        slope = slope_of(lambda y: height(x, y))
        y = start
        for _ in range(STEPS):
            y = y + RATE * slope(y)
        return height(x, y)

    return highest


def saddle_derivative(outer: str, inner: str) -> Derived:
    return lambda peer: peer.of[MODES[outer]](saddle(peer, inner))


def saddle_by_hand(x: np.ndarray) -> np.ndarray:
    y, ydot = np.ones(2), 0.0  # each entry of y depends on that entry of x alone, by this slope
    for _ in range(STEPS):
        y, ydot = y + RATE * (x - 2.0 * y), ydot + RATE * (1.0 - 2.0 * ydot)
    return 2.0 * x + y + ydot * (x - 2.0 * y)


def workloads() -> Iterator[Workload]:
    for outer, inner in itertools.product(MODES, MODES):
        yield Workload(
            f"particle, {outer} over {inner}",
            24 * FLIGHT,
            particle_derivative(outer, inner),
            (1.0,),
            particle_by_hand,
            compiled={BY_HAND: 0.06},
            skipped={JAX_JIT: "values decide when the loop ends"},
            slow=(JAX,),
            reverse=outer == "reverse",
        )
    for outer, inner in itertools.product(MODES, MODES):
        yield Workload(
            f"saddle, {outer} over {inner}",
            7 * STEPS + 5,
            saddle_derivative(outer, inner),
            (np.array([0.5, -1.0]),),
            saddle_by_hand,
            compiled={JAX_JIT: 0.35},
            reverse=outer == "reverse",
        )
