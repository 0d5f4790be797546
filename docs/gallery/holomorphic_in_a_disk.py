"""Holomorphic in a disk: the second Wirtinger derivative of a function is zero inside alone."""

import numpy as np
from matplotlib.figure import Figure

import chainrules as cr


def f(z):
    return np.where(np.abs(z) < 1.0, z**2, z * np.conj(z))


def draw() -> Figure:
    x, y = np.meshgrid(np.linspace(-2.0, 2.0, 80), np.linspace(-2.0, 2.0, 80))
    along_x = cr.jvp(f, (x + 1j * y,), (np.ones_like(x) + 0j,))[1]
    along_y = cr.jvp(f, (x + 1j * y,), (1j * np.ones_like(x),))[1]
    figure = Figure(figsize=(5, 4), layout="constrained")
    axes = figure.subplots()
    shown = axes.pcolormesh(x, y, np.abs(along_x + 1j * along_y) / 2.0, cmap="magma")
    figure.colorbar(shown, label="|df / d conj(z)|")
    axes.set(title="z^2 in the unit disk, z conj(z) outside", aspect="equal")
    return figure
