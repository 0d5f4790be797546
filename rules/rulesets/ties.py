"""Equal numbers: they share a derivative evenly, and these shares have no derivative themselves.

On either side of a tie the shares are others, so that at the tie the second derivative does not
exist, or is one that the shares cannot tell: ``sum(sort(x)**2)`` is smooth. It is NaN, where
the equal numbers move apart. ``kink`` is what says so: it is 0, and is added to a share.
"""

import numpy as np

from ..levels import is_traced
from .numpy_elementwise import slope_of_abs


def kink(lanes, tied, first=None):
    """0 for each lane; its derivative is NaN where numbers of it that are ``tied`` move apart.

    Or away from ``first``, which is one of them if it is not given.
    """
    if first is None:
        first = np.take_along_axis(lanes, np.argmax(tied, axis=-1)[..., None], axis=-1)
    with np.errstate(invalid="ignore"):  # of infinities, which nothing moves
        gaps = np.where(tied & np.isfinite(lanes), lanes - first, 0)
    return np.sum(np.real(slope_of_abs(gaps)), axis=-1, keepdims=True)


def kink_of_neighbours(lanes, ties):
    """The same for sorted lanes, for each number; ``ties`` says which equal their neighbour."""
    with np.errstate(invalid="ignore"):
        steps = np.where(ties & np.isfinite(lanes[..., 1:]), lanes[..., 1:] - lanes[..., :-1], 0)
    bends = np.real(slope_of_abs(steps))
    none = np.zeros_like(bends, shape=(*np.shape(bends)[:-1], 1))
    return np.concatenate([bends, none], axis=-1) + np.concatenate([none, bends], axis=-1)


def has_kink(x, number):
    """Say whether a derivative is differentiated again where a ``number`` of ``x`` are equal."""
    return is_traced(x) and bool(np.any(np.greater(number, 1)))
