"""Random tangents made of short numbers, so that a failed comparison can be read."""

from __future__ import annotations

from typing import Any

import numpy as np

from .coordinates import Coordinates

__all__ = ["rand_tangent", "short_numbers"]


def rand_tangent(x: Any, rng: np.random.Generator | None = None) -> Any:
    """A random tangent of ``x``: numbers between -9 and 9 with two decimals, none of them zero.

    Parameters
    ----------
    x : Any
        A number, an array (dense or ``scipy.sparse``), or a container of these.
    rng : numpy.random.Generator, optional
        Where the numbers come from; by default a generator of seed 0, so the same each time.

    Returns
    -------
    Any
        Of the shape and dtype of ``x``; a ``Tangent`` for a container; ``NoTangent()`` for
        integers and whatever cannot be perturbed, and for a container of nothing else.

    Examples
    --------
    >>> rand_tangent((1.0, 2, "text"))
    Tangent(tuple, 7.66, NoTangent(), NoTangent())
    """
    space = Coordinates(x)
    return space.tangent(short_numbers(space.size, rng or np.random.default_rng(0)))


def short_numbers(size: int, rng: np.random.Generator) -> np.ndarray:
    """Numbers between -9 and 9 with two decimals, none of them zero."""
    hundredths = rng.integers(1, 901, size) * rng.choice([-1, 1], size)
    return hundredths / 100
