"""Brachistochrone: the fastest slide between two points, by the gradient of the time it takes."""

import numpy as np
from matplotlib.figure import Figure
from scipy.optimize import minimize

import chainrules as cr

X = np.linspace(0.0, 1.0, 41)


def time_of(inner):
    y = np.concatenate([np.zeros(1), inner, np.full(1, -0.6)])
    dx, dy = np.diff(X), np.diff(y)
    speed = np.concatenate([np.zeros(1), np.sqrt(-2.0 * 9.81 * y[1:])])
    return np.sum(2.0 * np.sqrt(dx**2 + dy**2) / (speed[1:] + speed[:-1]))


def draw() -> Figure:
    line = -0.6 * X[1:-1]
    bounds = [(None, -1e-4)] * line.size
    options = {"jac": True, "bounds": bounds, "options": {"maxiter": 500}}
    found = minimize(cr.value_and_grad(time_of), line, **options)
    figure = Figure(figsize=(5, 3.5), layout="constrained")
    axes = figure.subplots()
    axes.plot(X[1:-1], line, "--", label=f"a line: {time_of(line):.3f} s")
    axes.plot(X[1:-1], found.x, label=f"the fastest: {found.fun:.3f} s")
    axes.plot([0.0, 1.0], [0.0, -0.6], "o", color="black")
    axes.set(title="brachistochrone", aspect="equal")
    axes.legend()
    return figure
