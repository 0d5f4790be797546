"""Pattern of a Hessian: which entries of that of a chain can be other than zero."""

import numpy as np
from matplotlib.figure import Figure

import chainrules as cr


def energy(x):
    stretch, bend = np.diff(x), np.diff(x, 2)
    return np.sum(stretch**4) + np.sum(bend**2) + x[0] * x[-1] + np.sum(np.cos(x[::5])) ** 2


def draw() -> Figure:
    x = np.linspace(0.0, 3.0, 50)
    pattern = cr.sparsity(cr.grad(energy), x)
    hessian = cr.hessian(energy, sparse=True)(x)
    figure = Figure(figsize=(4.5, 4.5), layout="constrained")
    axes = figure.subplots()
    axes.spy(pattern.toarray(), markersize=3)
    axes.set(title=f"50 numbers, {hessian.nnz} entries that may differ from 0")
    return figure
