"""Histograms over several variables: weights move the counts, samples only the outer edges."""

import numpy as np

from .... import array_of, composed
from .counts import bin_edges, weighted_counts


@composed(np.histogramdd)
def histogramdd(sample, bins=10, range=None, density=None, weights=None):
    sample = as_sample(sample)
    variables = list(np.moveaxis(sample, 1, 0))
    bins = bins if is_sequence(bins) else [bins] * len(variables)
    range = [None] * len(variables) if range is None else range
    if not len(variables) == len(bins) == len(range):
        raise ValueError("the sample needs bins, and a range, for each of its variables.")
    edges = [bin_edges(*given, of_the_sample=False) for given in zip(variables, bins, range)]
    counts = counts_in_cells(sample, edges, weights)
    return (as_density(counts, edges) if density else counts), edges


def is_sequence(bins):
    return isinstance(bins, list | tuple) or np.ndim(bins) > 0


def as_sample(sample):
    """Return an array of one column per variable; a sequence has one entry per variable."""
    if np.ndim(sample) == 2 and not isinstance(sample, list | tuple):
        return sample
    return np.atleast_2d(array_of(sample)).T


def counts_in_cells(sample, edges, weights):
    places, sizes = [], []
    for x, edge in zip(sample.T, edges):
        # The last cell has its upper edge as well.
        places.append(np.searchsorted(edge, x, side="right") - (x == edge[-1]))
        sizes.append(len(edge) + 1)  # with one cell on either side for what is outside
    cells = np.ravel_multi_index(places, sizes)
    weights = np.ones(len(sample)) if weights is None else array_of(weights)
    counts = weighted_counts(weights, cells, int(np.prod(sizes)))
    return np.reshape(counts, sizes)[(slice(1, -1),) * len(sizes)]


def as_density(counts, edges):
    density = counts
    for axis, edge in enumerate(edges):
        widths = np.diff(edge)
        density = density / np.reshape(widths, (-1,) + (1,) * (len(edges) - 1 - axis))
    return density / np.sum(counts)


@composed(np.histogram2d)
def histogram2d(x, y, bins=10, range=None, density=None, weights=None):
    x, y = array_of(x), array_of(y)
    if len(x) != len(y):
        raise ValueError("x and y must have the same length.")
    if is_sequence(bins) and len(bins) not in (1, 2):
        bins = [bins, bins]  # the same edges for both
    counts, edges = np.histogramdd(np.stack([x, y], axis=1), bins, range, density, weights)
    return counts, *edges
