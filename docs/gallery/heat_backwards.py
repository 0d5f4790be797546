"""Heat backwards: the temperature at the start that explains what was measured at the end."""

import numpy as np
from matplotlib.figure import Figure
from scipy.optimize import minimize

import chainrules as cr

SIZE = 60


def later(u):
    def step(u):
        padded = np.concatenate([u[:1], u, u[-1:]])
        return u + 0.4 * (padded[2:] - 2.0 * u + padded[:-2])

    return cr.loop(60, step, u)


def draw() -> Figure:
    x = np.linspace(0.0, 1.0, SIZE)
    truth = np.where((x > 0.2) & (x < 0.5), 1.0, 0.0) + 0.5 * np.exp(-((x - 0.75) ** 2) / 0.003)
    measured = later(truth) + 0.01 * np.random.default_rng(0).normal(size=SIZE)

    def misfit(u):
        return np.sum((later(u) - measured) ** 2) + 1e-3 * np.sum(np.diff(u) ** 2)

    found = minimize(cr.value_and_grad(misfit), np.zeros(SIZE), jac=True, method="L-BFGS-B").x
    figure = Figure(figsize=(5.5, 3.5), layout="constrained")
    axes = figure.subplots()
    axes.plot(x, truth, color="black", label="start")
    axes.plot(x, measured, ".", label="measured at the end")
    axes.plot(x, found, label="start, as found by the gradient")
    axes.legend()
    return figure
