"""Root and its tangents: the answer of a solver, and the derivatives of what it solves."""

import numpy as np
from matplotlib.figure import Figure

import chainrules as cr
from chainrules.scipy.optimize import brentq


def root(a):
    return brentq(lambda x: x**5 + a * x - 1.0, -3.0, 3.0)


def draw() -> Figure:
    figure = Figure(figsize=(5, 3.5), layout="constrained")
    axes = figure.subplots()
    a = np.linspace(-2.0, 4.0, 100)
    axes.plot(a, [root(v) for v in a], color="black")
    for v in np.linspace(-1.5, 3.5, 6):
        x, slope = cr.value_and_grad(root)(v)
        near = v + np.linspace(-0.6, 0.6, 2)
        axes.plot(near, x + slope * (near - v))
    axes.set(title="the root of x^5 + a x = 1", xlabel="a", ylabel="x")
    return figure
