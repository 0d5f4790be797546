"""Distances between two samples on a line."""

import numpy as np
from scipy import stats

from .... import value
from .samples import floats, of_samples


def shares_below(values, weights, points):
    """The distribution function of a sample at points, which are those of a sum of steps."""
    order = np.argsort(value(values), kind="stable")
    counts = np.searchsorted(value(values)[order], points, side="right")
    if weights is None:
        return counts / len(order)
    total = np.concatenate([np.zeros(1), np.cumsum(floats(weights)[order])])
    return total[counts] / total[-1]


def steps(u_values, v_values, u_weights, v_weights):
    u, v = floats(u_values), floats(v_values)
    points = np.sort(np.concatenate([u, v]))
    below = value(points)[:-1]
    gap = shares_below(u, u_weights, below) - shares_below(v, v_weights, below)
    return gap, np.diff(points)


@of_samples(stats.wasserstein_distance)
def wasserstein_distance(u_values, v_values, u_weights=None, v_weights=None):
    gap, widths = steps(u_values, v_values, u_weights, v_weights)
    return np.sum(np.abs(gap) * widths)


@of_samples(stats.energy_distance)
def energy_distance(u_values, v_values, u_weights=None, v_weights=None):
    gap, widths = steps(u_values, v_values, u_weights, v_weights)
    return np.sqrt(2 * np.sum(gap * gap * widths))
