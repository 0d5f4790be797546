"""Wasserstein and energy distances between two samples of numbers."""

import numpy as np
from scipy import stats

from .... import composed, value
from ...arrays.elementwise import or_one
from .samples import floats


def integral(u_values, v_values, u_weights, v_weights, slope):
    """The integral of ``phi(gap)``, where ``gap`` is the difference of the shares at a point.

    At a point the gap jumps from ``a`` to ``b``, so that the integral is the sum of the points
    times ``phi(a) - phi(b) = -(b - a) slope(a, b)``. Of points that are equal each has its own part
    of the jump, and there is no order among them.
    """
    u, v = floats(u_values), floats(v_values)
    points = np.concatenate([u, v])
    jumps = np.concatenate([shares(u, u_weights), -shares(v, v_weights)])
    order = np.argsort(value(points), kind="stable")
    points, jumps = np.take(points, order), np.take(jumps, order)
    firsts = np.flatnonzero(np.diff(value(points), prepend=np.nan) != 0)
    group = np.repeat(np.arange(len(firsts)), np.diff(firsts, append=len(order)))
    after = np.cumsum(np.add.reduceat(jumps, firsts))
    before = np.concatenate([np.zeros(1), after[:-1]])
    return -np.sum(points * jumps * np.take(slope(before, after), group))


def shares(values, weights):
    """Return the probability of each point in the distribution of its sample."""
    if weights is None:
        return np.full(np.shape(values), 1 / np.size(values))
    weights = floats(weights)
    return weights / np.sum(weights)


@composed(stats.wasserstein_distance, value="own")
def wasserstein_distance(u_values, v_values, u_weights=None, v_weights=None):
    def slope(a, b):
        return np.where(a == b, np.sign(a), (np.abs(b) - np.abs(a)) / or_one(b - a))

    return integral(u_values, v_values, u_weights, v_weights, slope)


@composed(stats.energy_distance, value="own")
def energy_distance(u_values, v_values, u_weights=None, v_weights=None):
    squares = integral(u_values, v_values, u_weights, v_weights, lambda a, b: a + b)
    return np.sqrt(2 * squares)
