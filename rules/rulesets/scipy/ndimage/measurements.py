"""Statistics of labelled regions of an image: sums, means, extremes and centres."""

import numpy as np
from scipy import ndimage

from .....config import MissingRuleError, user_line
from .... import composed, composed_each, getitem, is_traced, value


def array(x):
    return x if is_traced(x) else np.asarray(x)


def of_regions(x, labels, index, measure, of_none=0.0):
    """Apply ``measure`` to the entries of each region; it is ``of_none`` where there are none."""
    x, labels, index = array(x), value(labels), value(index)
    if labels is None:
        return measure(np.ravel(x))
    shape = np.broadcast_shapes(np.shape(x), np.shape(labels))
    x, labels = np.broadcast_to(x, shape), np.broadcast_to(labels, shape)
    if index is None:
        return measure(getitem(x, labels > 0))
    if np.isscalar(index):
        return measure(getitem(x, labels == index))
    masks = [labels == i for i in np.ravel(index)]
    parts = [measure(getitem(x, mask)) if np.any(mask) else np.asarray(of_none) for mask in masks]
    return np.reshape(np.stack(parts), np.shape(index))


def sums(x, labels, index):
    """The sum of each region, all of them in one pass."""
    labels, index = value(labels), value(index)
    if in_one(labels, index):
        return of_regions(x, labels, index, np.sum)
    x = array(x)
    shape = np.broadcast_shapes(np.shape(x), np.shape(labels))
    found, region = regions(np.broadcast_to(labels, shape))
    totals = np.bincount(region, np.ravel(np.broadcast_to(x, shape)))
    place = np.minimum(np.searchsorted(found, index), len(found) - 1)
    return np.where(found[place] == index, np.take(totals, place), 0.0)


def in_one(labels, index):
    """Say whether the result is one number, of one region."""
    return labels is None or index is None or np.isscalar(index)


def regions(labels):
    """Return what labels there are, in order, and for each pixel in a row which one it has."""
    small = labels.dtype.kind in "iu" and labels.size > 0
    if small and labels.min() >= 0 and labels.max() < labels.size:
        return np.arange(labels.max() + 1), np.ravel(labels)
    found, region = np.unique(labels, return_inverse=True)
    return found, np.ravel(region)


def counts(x, labels, index):
    return sums(np.ones(np.shape(x)), labels, index)


@composed(ndimage.sum, value="own")
@composed(ndimage.sum_labels, value="own")
def sum_labels(input, labels=None, index=None):
    return sums(input, labels, index)


@composed(ndimage.mean, value="own")
def mean(input, labels=None, index=None):
    return sums(input, labels, index) / counts(input, labels, index)


def squares(x):
    """The mean square of the distances from the mean, in real and imaginary part."""
    distances = x - np.mean(x)
    return np.mean(np.real(distances * np.conj(distances)))


def mean_squares(x, labels, index):
    labels, index = value(labels), value(index)
    if in_one(labels, index):
        return of_regions(x, labels, index, squares, np.nan)
    x = array(x)
    shape = np.broadcast_shapes(np.shape(x), np.shape(labels))
    labels, x = np.broadcast_to(labels, shape), np.ravel(np.broadcast_to(x, shape))
    _, region = regions(labels)
    own = np.maximum(np.bincount(region), 1)
    parts = [np.real(x), np.imag(x)] if np.iscomplexobj(x) else [x]
    distances = [part - np.take(np.bincount(region, part) / own, region) for part in parts]
    total = sums(np.reshape(sum(d * d for d in distances), shape), labels, index)
    count = counts(labels, labels, index)
    return np.where(count == 0, np.nan, total / np.maximum(count, 1))


@composed(ndimage.variance, value="own")
def variance(input, labels=None, index=None):
    return mean_squares(input, labels, index)


@composed(ndimage.standard_deviation, value="own")
def standard_deviation(input, labels=None, index=None):
    return np.sqrt(mean_squares(input, labels, index))


@composed(ndimage.minimum, value="own")
def minimum(input, labels=None, index=None):
    return of_regions(input, labels, index, np.min)


@composed(ndimage.maximum, value="own")
def maximum(input, labels=None, index=None):
    return of_regions(input, labels, index, np.max)


@composed(ndimage.median, value="own")
def median(input, labels=None, index=None):
    # Of a region with no entries SciPy returns one of another region.
    return of_regions(input, labels, index, np.median, np.nan)


@composed(ndimage.extrema, value="own")
def extrema(input, labels=None, index=None, *, own):
    ends = [of_regions(input, labels, index, measure) for measure in (np.min, np.max)]
    return (*ends, *own[2:])


@composed(ndimage.center_of_mass, value="own")
def center_of_mass(input, labels=None, index=None):
    x = array(input)
    total = sums(x, labels, index)
    grids = np.indices(np.shape(x), float)
    found = [sums(x * grid, labels, index) / total for grid in grids]
    if np.ndim(total) == 0:
        return tuple(found)
    return [tuple(getitem(part, k) for part in found) for k in range(len(total))]


# ---- distances ------------------------------------------------------------------------------


TRANSFORMS = (ndimage.distance_transform_bf, ndimage.distance_transform_cdt,
              ndimage.distance_transform_edt)  # fmt: skip


@composed_each({f: f for f in TRANSFORMS})
def of_set_pixels(f, input, *args, **options):
    """Distances depend on which pixels are not zero alone, and on how far apart pixels are."""
    if is_traced((args, options)):
        raise MissingRuleError(
            f"scipy.ndimage.{f.__name__} has no derivative in how far apart pixels are"
            f", in {user_line()}.\n"
            "  give sampling=cr.value(...), and scale the result"
        )
    return f(value(input), *args, **options)
