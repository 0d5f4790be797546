"""Error band of a fit: least squares by an exact Jacobian, and the delta method along the curve."""

import numpy as np
from matplotlib.figure import Figure
from scipy.optimize import curve_fit

import chainrules as cr


def model(x, a, rate, offset):
    return a * np.exp(-rate * x) + offset


def draw() -> Figure:
    x = np.linspace(0.0, 4.0, 40)
    noise = np.random.default_rng(1).normal(scale=0.08, size=x.size)
    y = model(x, 1.5, 1.3, 0.4) + noise
    jacobian = cr.jacobian(lambda p: model(x, *p))
    p, covariance = curve_fit(
        model, x, y, p0=(1.0, 1.0, 0.0), jac=lambda x, *p: jacobian(np.array(p))
    )
    along = np.linspace(0.0, 5.0, 200)
    slopes = cr.jacobian(lambda p: model(along, *p))(p)
    error = np.sqrt(np.einsum("ij,jk,ik->i", slopes, covariance, slopes))
    figure = Figure(figsize=(5.5, 3.5), layout="constrained")
    axes = figure.subplots()
    axes.plot(x, y, ".", color="black")
    axes.plot(along, model(along, *p))
    axes.fill_between(along, model(along, *p) - 2 * error, model(along, *p) + 2 * error, alpha=0.3)
    axes.set(title="decay, and two standard errors", xlabel="time")
    return figure
