"""Newton fractal: which root of a complex polynomial each start leads to, by its derivative."""

import numpy as np
from matplotlib.figure import Figure

import chainrules as cr


def p(z):
    return z**3 - 2.0 * z + 2.0


def draw() -> Figure:
    x, y = np.meshgrid(np.linspace(-2.0, 2.0, 400), np.linspace(-2.0, 2.0, 400))
    z = x + 1j * y
    for _ in range(40):
        value, slope = cr.jvp(p, (z,), (np.ones_like(z),))
        z = z - value / np.where(slope == 0.0, 1.0, slope)
    figure = Figure(figsize=(4.5, 4.5), layout="constrained")
    axes = figure.subplots()
    axes.imshow(np.angle(z), extent=(-2, 2, -2, 2), cmap="twilight", origin="lower")
    axes.set(title="Newton's method for z^3 - 2z + 2", xlabel="Re z", ylabel="Im z")
    return figure
