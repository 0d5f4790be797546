"""Sensitivity of a pendulum: its angle, and how that moves with the length, along the time."""

import numpy as np
from matplotlib.figure import Figure

import chainrules as cr
from chainrules.scipy.integrate import solve_ivp

TIMES = np.linspace(0.0, 10.0, 200)


def angles(length):
    def motion(t, state):
        return np.stack([state[1], -9.81 / length * np.sin(state[0])])

    return solve_ivp(motion, (0.0, 10.0), np.array([2.0, 0.0]), t_eval=TIMES, rtol=1e-8).y[0]


def draw() -> Figure:
    angle, sensitivity = cr.jvp(angles, (1.0,), (1.0,))
    figure = Figure(figsize=(5.5, 3.5), layout="constrained")
    axes = figure.subplots()
    axes.plot(TIMES, angle, label="angle")
    axes.fill_between(TIMES, angle - 0.02 * sensitivity, angle + 0.02 * sensitivity, alpha=0.3)
    axes.plot(TIMES, sensitivity / 10.0, "--", label="derivative by the length / 10")
    axes.set(xlabel="time, s", title="a pendulum of 1 m, plus and minus 2 cm")
    axes.legend(loc="lower left")
    return figure
