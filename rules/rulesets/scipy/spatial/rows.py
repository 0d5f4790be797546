"""Euclidean distances between rows, and their squares, by products of matrices.

``|a_i - b_j|**2`` moves by ``2 (a_i - b_j) @ (adot_i - bdot_j)``: one product, and one for each
argument in the other direction, where a sum over differences would take room for all of these.
"""

import math

import numpy as np
from scipy.spatial import distance

from .... import (
    AbstractZero,
    pair_rule,
    primitive,
    scalar_rule,
    seen,
    value,
)

# ---- roots --------------------------------------------------------------------------------------


@primitive
def root(s):
    """The square root of a sum of squares: at 0 flat, as a norm is."""
    return np.sqrt(np.maximum(s, 0))


@primitive
def half_inverse(y):
    """``1 / (2 y)``, and 0 at 0, where it has no derivative."""
    return np.divide(0.5, y, out=np.zeros_like(y), where=y != 0)[()]


scalar_rule(root, lambda y, _s: half_inverse(y))
scalar_rule(half_inverse, lambda z, y: np.where(y == 0, math.nan, -2 * z * z))


# ---- all with all -----------------------------------------------------------------------------


@primitive
def squares(a, b):
    """``|a_i - b_j|**2`` of all rows."""
    return distance.cdist(a, b, "sqeuclidean")


@pair_rule(squares)
def squares_pair(squares, a, b):
    """``ydot = 2 (a_i - b_j) @ (adot_i - bdot_j)``, by products of matrices."""

    def squares_pushforward(adot, bdot):
        return 2 * along_steps(adot, bdot, a, b)

    def squares_pullback(ybar):
        abar, bbar = steps_transpose(ybar, a, b)
        return 2 * abar, 2 * bbar

    return squares(a, b), squares_pushforward, squares_pullback


@primitive
def distances(a, b):
    """``|a_i - b_j|`` of all rows."""
    return distance.cdist(a, b)


@pair_rule(distances)
def distances_pair(distances, a, b):
    """From ``y**2 = squares``: ``y * ydot = (a_i - b_j) @ (adot_i - bdot_j)``."""
    y = distances(a, b)

    def distances_pushforward(adot, bdot):
        return 2 * half_inverse(y) * along_steps(adot, bdot, a, b)

    def distances_pullback(ybar):
        abar, bbar = steps_transpose(2 * half_inverse(y) * ybar, a, b)
        return abar, bbar

    return y, distances_pushforward, distances_pullback


def along_steps(adot, bdot, a, b):
    """``(a_i - b_j) @ (adot_i - bdot_j)``, by one product: the rows have the terms side by side."""
    a, b = centred(a, b)
    terms = []
    if not isinstance(adot, AbstractZero):
        along = np.sum(a * adot, axis=1, keepdims=True)
        terms += [(along, np.ones((np.shape(b)[0], 1))), (-adot, b)]
    if not isinstance(bdot, AbstractZero):
        along = np.sum(b * bdot, axis=1, keepdims=True)
        terms += [(np.ones((np.shape(a)[0], 1)), along), (-a, bdot)]
    left, right = (np.concatenate(part, axis=1) for part in zip(*terms))
    return left @ right.T


def centred(a, b):
    """Move all rows alike, so that less of them cancels in their differences."""
    middle = np.mean(value(b), axis=0)
    return a - middle, b - middle


def steps_transpose(ybar, a, b):
    """``sum_j ybar_ij (a_i - b_j)`` and ``sum_i ybar_ij (b_j - a_i)``."""
    a, b = centred(a, b)
    return sum_of_steps(ybar, a, b), sum_of_steps(ybar.T, b, a)


def sum_of_steps(ybar, a, b):
    sums = ybar @ np.concatenate([np.ones((np.shape(b)[0], 1)), b], axis=1)
    return sums[:, :1] * a - sums[:, 1:]


# ---- of the rows of one matrix, each pair once --------------------------------------------------


@primitive
def pair_squares(x):
    """``|x_i - x_j|**2`` for all i < j."""
    return distance.pdist(x, "sqeuclidean")


@primitive
def pair_distances(x):
    """``|x_i - x_j|`` for all i < j."""
    return distance.pdist(x)


def along_pairs(xdot, x):
    places = np.triu_indices(np.shape(x)[0], 1)
    return along_steps(xdot, xdot, x, x)[places]


def pairs_transpose(ybar, x):
    both = seen(distance.squareform)(ybar)
    x, _ = centred(x, x)
    return sum_of_steps(both, x, x)


@pair_rule(pair_squares)
def pair_squares_pair(pair_squares, x):

    def pair_squares_pushforward(xdot):
        return 2 * along_pairs(xdot, x)

    def pair_squares_pullback(ybar):
        return pairs_transpose(2 * ybar, x)

    return pair_squares(x), pair_squares_pushforward, pair_squares_pullback


@pair_rule(pair_distances)
def pair_distances_pair(pair_distances, x):
    y = pair_distances(x)

    def pair_distances_pushforward(xdot):
        return 2 * half_inverse(y) * along_pairs(xdot, x)

    def pair_distances_pullback(ybar):
        return pairs_transpose(2 * half_inverse(y) * ybar, x)

    return y, pair_distances_pushforward, pair_distances_pullback


# These have SciPy's own values.
BETWEEN_ROWS = {"euclidean": distances, "sqeuclidean": squares}
OF_PAIRS = {"euclidean": pair_distances, "sqeuclidean": pair_squares}
