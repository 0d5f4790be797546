"""Prey and predators fitted to 21 years: the gradient of the misfit, through a solver of ODEs.

Ours goes through ``scipy.integrate.solve_ivp``; HIPS autograd and JAX by their ``odeint``, which
integrate an adjoint backwards. A further reference of ours is tracing through Runge and Kutta's
method written out, with as many steps as give the same answer.
"""

from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

import numpy as np
from peers import Function, Peer, gradient, optional, peers
from table import AUTOGRAD, COMPILED, JAX, OURS, PYTORCH
from workload import Workload

YEARS = np.arange(21.0)
# The pelts of hares and lynxes that the Hudson's Bay Company bought from 1900 on, in thousands.
HARES = [30, 47.2, 70.2, 77.4, 36.3, 20.6, 18.1, 21.4, 22, 25.4, 27.1, 40.3, 57, 76.6, 52.3, 19.5,
         11.2, 7.6, 14.6, 16.2, 24.7]  # fmt: skip
LYNXES = [4, 6.1, 9.8, 35.2, 59.4, 41.7, 19, 13, 8.3, 9.1, 7.4, 8, 12.3, 19.5, 45.7, 51.1, 29.7,
          15.8, 9.7, 10.1, 8.6]  # fmt: skip
LOGS = np.log(np.array([HARES, LYNXES]))
GIVEN = np.array([0.55, 0.028, 0.84, 0.026, 33.0, 6.0])  # rates, and both numbers in 1900
TOLERANCE = 1e-8
STEPS = 40  # a year, by Runge and Kutta's method


def slope_in(namespace: ModuleType) -> Callable:
    def slope(state: Any, p: Any) -> Any:
        met = state[0] * state[1]
        births, deaths = p[0] * state[0], p[2] * state[1]
        return namespace.stack([births - p[1] * met, p[3] * met - deaths])

    return slope


def misfit(namespace: ModuleType, states: Any) -> Any:
    return namespace.sum((namespace.log(states) - LOGS.T) ** 2)


def by_solve_ivp(p: Any) -> Any:
    from chainrules.scipy.integrate import solve_ivp

    slope = slope_in(np)
    answer = solve_ivp(
        lambda t, y: slope(y, p), (0.0, 20.0), p[4:], t_eval=YEARS, rtol=TOLERANCE, atol=TOLERANCE
    )
    return misfit(np, answer.y.T)


def by_odeint(namespace: ModuleType, odeint: Callable, times: Any) -> Callable:
    slope = slope_in(namespace)

    def loss(p: Any) -> Any:
        given = {"rtol": TOLERANCE, "atol": TOLERANCE}
        return misfit(namespace, odeint(lambda y, t, p: slope(y, p), p[4:], times, p, **given))

    return loss


def by_steps(p: Any) -> Any:
    slope, dt = slope_in(np), 1.0 / STEPS
    y, states = p[4:], [p[4:]]
    for _ in YEARS[1:]:
        for _ in range(STEPS):
            k1 = slope(y, p)
            k2 = slope(y + 0.5 * dt * k1, p)
            k3 = slope(y + 0.5 * dt * k2, p)
            k4 = slope(y + dt * k3, p)
            y = y + dt / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4)
        states.append(y)
    return misfit(np, np.stack(states))


def misfit_of(peer: Peer) -> Function:
    """Return the gradient through the solver that a library has."""
    if peer.name in (OURS, COMPILED):
        return gradient(lambda _: by_solve_ivp)(peer)
    if peer.name == AUTOGRAD:
        theirs, boxes = optional("autograd.scipy.integrate"), optional("autograd.builtins")

        def odeint(f: Callable, y: Any, t: Any, p: Any, **given: float) -> Any:
            return theirs.odeint(f, y, t, boxes.tuple((p,)), **given)

    else:
        odeint = optional("jax.experimental.ode").odeint
    return gradient(lambda namespace: by_odeint(namespace, odeint, peer.array(YEARS)))(peer)


def workloads() -> Iterator[Workload]:
    ours = peers()[OURS]
    yield Workload(
        "gradient of a fit through solve_ivp",
        20 * 60,
        misfit_of,
        (GIVEN,),
        references={"RK4": ours.call(gradient(lambda _: by_steps)(ours), (GIVEN,))},
        skipped={JAX: "it compiles at each call", PYTORCH: "it has no solver of its own"},
        rtol=1e-4,
    )
