"""Confidence of two parameters: a likelihood, and the ellipse that its Hessian gives."""

import numpy as np
from matplotlib.figure import Figure
from scipy.optimize import minimize

import chainrules as cr

DATA = np.random.default_rng(3).gamma(2.5, 1.4, size=40)


def loss(p):
    from chainrules.scipy.stats import gamma

    return -np.sum(gamma.logpdf(DATA, np.exp(p[0]), scale=np.exp(p[1])))


def draw() -> Figure:
    best = minimize(cr.value_and_grad(loss), np.zeros(2), jac=True).x
    lengths, directions = np.linalg.eigh(np.linalg.inv(cr.hessian(loss)(best)))
    around = np.linspace(0.0, 2.0 * np.pi, 100)
    circle = np.stack([np.cos(around), np.sin(around)])
    figure = Figure(figsize=(5, 4), layout="constrained")
    axes = figure.subplots()
    shape, scale = np.meshgrid(np.linspace(0.1, 1.9, 60), np.linspace(-0.5, 1.3, 60))
    values = cr.vmap(loss)(np.stack([shape.ravel(), scale.ravel()], axis=1))
    levels = loss(best) + np.array([0.5, 2.0, 4.5, 8.0])
    axes.contour(shape, scale, np.reshape(values, shape.shape), levels=levels, cmap="viridis_r")
    for k in (1.0, 2.0):
        ellipse = best[:, None] + k * directions @ (np.sqrt(lengths)[:, None] * circle)
        axes.plot(*ellipse, "--", color="black", linewidth=0.8)
    axes.plot(*best, "+", color="black")
    axes.set(title="log likelihood, and ellipses of the Hessian")
    axes.set(xlabel="log shape", ylabel="log scale")
    return figure
