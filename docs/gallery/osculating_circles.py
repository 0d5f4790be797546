"""Osculating circles: a curve, and the circles that its two derivatives give at some points."""

import numpy as np
from matplotlib.figure import Figure

import chainrules as cr


def curve(t):
    r = 2.0 + np.cos(3.0 * t)
    return np.stack([r * np.cos(t), r * np.sin(t)])


def velocity(t):
    return cr.jvp(curve, (t,), (1.0,))[1]


def draw() -> Figure:
    figure = Figure(figsize=(4.5, 4.5), layout="constrained")
    axes = figure.subplots()
    axes.plot(*curve(np.linspace(0.0, 2.0 * np.pi, 400)), color="black")
    around = np.linspace(0.0, 2.0 * np.pi, 100)
    for t in np.linspace(0.0, 2.0 * np.pi, 13)[:-1] + 0.1:
        (vx, vy), (ax, ay) = cr.jvp(velocity, (t,), (1.0,))
        speed = np.hypot(vx, vy)
        radius = speed**3 / (vx * ay - vy * ax)
        x, y = curve(t) + radius / speed * np.array([-vy, vx])
        axes.plot(x + radius * np.cos(around), y + radius * np.sin(around), alpha=0.5)
    axes.set(title="circles of curvature", aspect="equal", xlim=(-4.5, 4.5), ylim=(-4.5, 4.5))
    return figure
