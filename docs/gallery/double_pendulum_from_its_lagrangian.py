"""Double pendulum from its Lagrangian: the equations of motion are derivatives of one function."""

import numpy as np
from matplotlib.figure import Figure
from scipy.integrate import solve_ivp

import chainrules as cr


def lagrangian(q, v):
    x = np.cumsum(np.sin(q)), -np.cumsum(np.cos(q))
    velocity = np.cumsum(np.cos(q) * v), np.cumsum(np.sin(q) * v)
    return 0.5 * np.sum(velocity[0] ** 2 + velocity[1] ** 2) - 9.81 * np.sum(x[1])


def motion(t, state):
    q, v = np.split(state, 2)
    force = cr.grad(lagrangian, 0)(q, v)
    momentum = cr.grad(lagrangian, 1)
    turning = cr.jvp(lambda q: momentum(q, v), (q,), (v,))[1]
    mass = cr.jacobian(lambda v: momentum(q, v))(v)
    return np.concatenate([v, np.linalg.solve(mass, force - turning)])


def draw() -> Figure:
    times = np.linspace(0.0, 6.0, 500)
    start = np.array([2.0, 2.2, 0.0, 0.0])
    q = solve_ivp(motion, (0.0, 6.0), start, t_eval=times, rtol=1e-6).y[:2]
    x, y = np.cumsum(np.sin(q), axis=0), -np.cumsum(np.cos(q), axis=0)
    figure = Figure(figsize=(4.5, 4.5), layout="constrained")
    axes = figure.subplots()
    axes.plot(x[1], y[1], linewidth=0.8)
    axes.plot([0.0, *x[:, -1]], [0.0, *y[:, -1]], "o-", color="black")
    axes.set(title="six seconds of a double pendulum", aspect="equal")
    return figure
