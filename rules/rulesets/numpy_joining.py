"""Joining arrays, and taking them apart again.

What joins is linear in the list of its parts: each part's cotangent is a slice of ``ybar``.
"""

import itertools

import numpy as np

from ..calls import array_of, astype, getitem
from ..definitions import composed, linear_rule
from ..levels import value
from ..project import dtype_of
from .numpy_building import indices_of

# ---- joining --------------------------------------------------------------------------------


def slices_along(axis, lengths):
    """Return the indices of consecutive parts of these lengths along ``axis``."""
    ends = list(itertools.accumulate(lengths, initial=0))
    before = (slice(None),) * axis
    return [(*before, slice(start, stop)) for start, stop in itertools.pairwise(ends)]


def spaces_of(space):
    """Return the shapes of the parts, of a list of arrays or of one array's rows."""
    if hasattr(space, "parts"):
        return [part.shape for part in space.parts]
    return [space.shape[1:]] * space.shape[0]


def cut(ybar, space, axis, shape_in):
    """Cut ``ybar`` along ``axis`` into the parts that were joined there.

    ``shape_in(shape)`` is the shape in which a part took part.
    """
    shapes = shapes_of(space)
    lengths = [shape_in(shape)[axis] for shape in shapes]
    slices = slices_along(axis % np.ndim(ybar), lengths)
    parts = [np.reshape(ybar[index], shape) for index, shape in zip(slices, shapes)]
    return parts if hasattr(space, "parts") else np.stack(parts)
