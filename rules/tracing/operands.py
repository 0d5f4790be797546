"""Predicates for operands and indices: values that an operator takes, and arrays.

In ``x + other`` a number, an array or a list is computed with; to an object of another library,
which may know more, Python leaves the answer.
"""

from typing import Any, TypeGuard

import numpy as np

from ..annotations import Index, Value
from .array import TracedArray
from .classes.other_classes import is_computed_with
from .level import Traced

_NUMBERS = (float, int, complex, np.generic)
_BASIC = frozenset({int, np.int64, np.int32, np.intp, slice, type(None), type(...)})
_INTEGERS = frozenset({int, np.int64})


def is_operand(x: Value, beside: Value = None) -> bool:
    """Say whether an engine handles ``x``; anything else gets its own turn by NotImplemented."""
    return is_computed_with(type(x), beside)


def is_basic(index: Index) -> bool:
    """Say whether an index is made of integers and slices: what it reads is a number or a view."""
    if type(index) is tuple:
        return _BASIC.issuperset(map(type, index))
    return type(index) in _BASIC


def is_array_of_indices(index: Index) -> bool:
    """Say whether an index is one array of integers or booleans, or a list of integers."""
    if type(index) is np.ndarray:
        return index.dtype.kind in "iub"
    return type(index) is list and _INTEGERS.issuperset(map(type, index))


def is_array(x: Value) -> TypeGuard[Any]:
    """Say whether a value behaves as an array rather than as a number."""
    kind = type(x)
    if kind is np.ndarray:
        return True
    if kind is np.float64 or kind is float:
        return False
    if isinstance(x, Traced):
        return isinstance(x, TracedArray)
    return not isinstance(x, _NUMBERS) and hasattr(x, "shape")
