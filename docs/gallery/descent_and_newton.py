"""Descent and Newton: two ways down Himmelblau's function, by its gradient and its Hessian."""

import numpy as np
from matplotlib.figure import Figure

import chainrules as cr


def f(x):
    return (x[0] ** 2 + x[1] - 11.0) ** 2 + (x[0] + x[1] ** 2 - 7.0) ** 2


def way(step, x, count):
    points = [x]
    for _ in range(count):
        points.append(points[-1] + step(points[-1]))
    return np.transpose(points)


def draw() -> Figure:
    gradient, hessian = cr.grad(f), cr.hessian(f)
    start = np.array([4.5, 4.0])
    descent = way(lambda x: -0.004 * gradient(x), start, 60)
    newton = way(lambda x: -np.linalg.solve(hessian(x), gradient(x)), start, 6)
    figure = Figure(figsize=(5, 4), layout="constrained")
    axes = figure.subplots()
    grid = np.stack(np.meshgrid(np.linspace(0.0, 5.5, 200), np.linspace(0.0, 5.0, 200)))
    axes.contour(*grid, np.log1p(f(grid)), levels=18, cmap="Greys", linewidths=0.8)
    axes.plot(*descent, ".-", label="gradient descent, 60 steps", markersize=3)
    axes.plot(*newton, "o-", label="Newton, 6 steps", markersize=4)
    axes.set(title="Himmelblau's function")
    axes.legend()
    return figure
