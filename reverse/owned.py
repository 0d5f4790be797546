"""Arithmetic in the memory of arrays that the sweep made itself, and that nobody else was given.

With large arrays a new array for every product costs as much as the product. The sweep notes which
cotangents are its own (``Cotangents.owned``): sums and products that it has just made. What a rule
returned, the seeds, and what went to two places are not.
"""

from typing import Any

import numpy as np

from ..rules.shapes import FLOAT64

LARGE = 1 << 13  # entries; of fewer, a new array costs less than the question

_numbers = frozenset((float, int, np.float64))


def multiply_into(ybar: np.ndarray, factor: Any) -> Any:
    """Return ``factor * ybar``, in the memory of ``ybar`` where it fits."""
    if type(factor) is np.ndarray:
        fits = factor.dtype is ybar.dtype and factor.shape == ybar.shape
    else:
        fits = type(factor) in _numbers and ybar.dtype is FLOAT64
    return np.multiply(factor, ybar, out=ybar) if fits else factor * ybar


def add_into(present: np.ndarray, xbar: np.ndarray) -> np.ndarray:
    """Return ``present + xbar``, in the memory of ``present`` where it fits."""
    fits = present.dtype is xbar.dtype and present.shape == xbar.shape
    return np.add(present, xbar, out=present) if fits else present + xbar
