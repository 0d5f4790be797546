"""Arrays that nobody but the sweep refers to, so that it may write into them.

With large arrays a new array for every product costs as much as the product. A cotangent that is
dropped after it was multiplied is therefore multiplied in place, if it owns its memory and one
local variable of the sweep is the only reference to it. What the caller, a rule or the tape still
holds is referred to from there, and a view refers to the array whose memory it shows.
"""

import sys
from typing import Any

import numpy as np

from ..rules.project import FLOAT64

LARGE = 1 << 13  # entries; of fewer, a new array costs less than the question

_array = np.ndarray
_numbers = frozenset((float, int, np.float64))


def _count(x: Any) -> int:
    return sys.getrefcount(x)


def _count_of_local() -> int:
    x = np.zeros(1)
    return _count(x)


# How often an array is referred to that one local variable holds; it differs between Pythons.
_LOCAL = _count_of_local()


def is_own(x: Any) -> bool:
    """Say whether the caller's local variable ``x`` is the only reference to an array."""
    if type(x) is not _array or sys.getrefcount(x) > _LOCAL or x.base is not None:
        return False
    flags = x.flags
    return flags.owndata and flags.writeable


def multiply_into(ybar: np.ndarray, factor: Any) -> Any:
    """Return ``factor * ybar``, in the memory of ``ybar`` where it fits."""
    if type(factor) is _array:
        fits = factor.dtype is ybar.dtype and factor.shape == ybar.shape
    else:
        fits = type(factor) in _numbers and ybar.dtype is FLOAT64
    return np.multiply(factor, ybar, out=ybar) if fits else factor * ybar


def add_into(present: np.ndarray, xbar: np.ndarray) -> np.ndarray:
    """Return ``present + xbar``, in the memory of ``present`` where it fits."""
    fits = present.dtype is xbar.dtype and present.shape == xbar.shape
    return np.add(present, xbar, out=present) if fits else present + xbar
