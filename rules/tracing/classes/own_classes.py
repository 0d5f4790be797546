"""Subclasses of ndarray as operands beside traced values, such as ``np.matrix`` and masked arrays.

What ``x * m`` means is then for the class to say: a product of matrices, or one that leaves out
what ``m`` masks, as sums and means of it do later. Rules know nothing of this. So NumPy computes
with such arrays entry by entry (see ``object_arrays``), which is slow and right, and everything
else refuses them. ``np.memmap`` means what NumPy's own arrays mean; and so does a masked array in
which nothing is masked, but that ``x / m`` and ``x ** m`` may mask something then.
"""

from typing import Any, TypeGuard

import numpy as np

from ...annotations import Value
from ...shapes import OBJECT

OF_NUMPY = frozenset({np.ndarray, np.memmap})
# Where the divisor is 0, or the result no number, np.ma masks it, and asks traced numbers.
_DIVISIONS = frozenset({np.true_divide, np.floor_divide, np.remainder, np.fmod})
_POWERS = frozenset({np.power, np.float_power})


def is_of_its_own(x: Value) -> TypeGuard[np.ndarray]:
    """Say whether ``x`` is an array of a class of its own, of numbers or of objects."""
    cls = type(x)
    return cls not in OF_NUMPY and issubclass(cls, np.ndarray)


def has_own_numbers(x: Value) -> bool:
    """Say whether ``x`` is an array of numbers, of a class of its own."""
    return is_of_its_own(x) and x.dtype is not OBJECT


def is_masked_array(x: Value) -> TypeGuard[np.ndarray]:
    """Say whether ``x`` is a masked array of numbers, whatever its mask."""
    return has_own_numbers(x) and isinstance(x, np.ma.MaskedArray)


def masks_some(x: Value) -> bool:
    """Say whether ``x`` is a masked array of numbers in which something is masked."""
    return is_masked_array(x) and bool(np.ma.is_masked(x))


def may_mask(ufunc: np.ufunc, other: Value) -> bool:
    """Say whether np.ma may mask numbers that were not, where one operand is a masked array."""
    if ufunc in _DIVISIONS:
        return masks_some(other) or not np.all(numbers_of(other))
    return ufunc in _POWERS


def numbers_of(x: Value) -> Any:
    """Return a masked array of numbers as a plain one; anything else as it is."""
    return x.view(np.ndarray) if is_masked_array(x) else x


def without_masks(x: Value) -> Any:
    """Return a masked array of numbers in which nothing is masked as a plain one."""
    return x if masks_some(x) else numbers_of(x)
