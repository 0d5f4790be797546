"""Tanh and its derivatives: each is the gradient of the one before, to the fifth order."""

import numpy as np
from matplotlib.figure import Figure

import chainrules as cr


def draw() -> Figure:
    figure = Figure(figsize=(5, 3.5), layout="constrained")
    axes = figure.subplots()
    x = np.linspace(-5.0, 5.0, 301)
    f = np.tanh
    for order in range(6):
        y = cr.vmap(f)(x)
        axes.plot(x, y / np.max(np.abs(y)), label=f"order {order}")
        f = cr.grad(f)
    axes.set(xlabel="x", title="tanh and five derivatives, scaled to 1")
    axes.legend(fontsize="small")
    return figure
