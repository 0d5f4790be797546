"""Distances between two samples on a line."""

import numpy as np
from scipy import stats

from .... import value
from .samples import floats, of_samples


def shares(mine, weights, order):
    """The distribution function of a sample, behind each of the points of both, in their order."""
    if weights is None:
        return np.cumsum(mine) / np.count_nonzero(mine)
    ranks = np.cumsum(mine)
    total = np.concatenate([np.zeros(1), np.cumsum(np.take(floats(weights), order[mine]))])
    return total[ranks] / total[-1]


def steps(u_values, v_values, u_weights, v_weights):
    """Between points that follow each other: the difference of the shares, and the width.

    Points that are equal share evenly; but those of one sample that have weights have each its own.
    """
    u, v = floats(u_values), floats(v_values)
    points = np.concatenate([u, v])
    order = np.argsort(value(points), kind="stable")
    weighed = u_weights is not None or v_weights is not None
    points, of_u = np.take(points, order) if weighed else np.sort(points), order < np.shape(u)[0]
    gap = shares(of_u, u_weights, order) - shares(~of_u, v_weights, order - np.shape(u)[0])
    firsts = np.flatnonzero(np.diff(value(points), prepend=np.nan) != 0)
    counts = np.diff(firsts, append=len(order))
    group, lasts = np.repeat(np.arange(len(firsts)), counts), firsts + counts - 1
    users = np.add.reduceat(of_u, firsts, dtype=int)
    mixed = ((users > 0) & (users < counts))[group]
    if np.any(mixed):
        if weighed:
            means = np.add.reduceat(points, firsts) / counts
            points = np.where(mixed, means[group], points)
        gap = np.take(gap, np.where(mixed, lasts[group], np.arange(len(order))))
    return gap[:-1], np.diff(points)


@of_samples(stats.wasserstein_distance)
def wasserstein_distance(u_values, v_values, u_weights=None, v_weights=None):
    gap, widths = steps(u_values, v_values, u_weights, v_weights)
    return np.sum(np.abs(gap) * widths)


@of_samples(stats.energy_distance)
def energy_distance(u_values, v_values, u_weights=None, v_weights=None):
    gap, widths = steps(u_values, v_values, u_weights, v_weights)
    return np.sqrt(2 * np.sum(gap * gap * widths))
