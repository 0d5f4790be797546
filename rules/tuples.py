"""Named tuples: their fields, and attributes beside the fields, as results of SciPy's tests have.

``linregress(x, y)`` is a tuple of five, and has an attribute more: ``intercept_stderr``.
"""

import types
from typing import Any

import numpy as np

from .known_classes import Children

# What an attribute may be that no walk puts in the place of a number, and that stays as it is.
_CONSTANTS = (types.ModuleType, types.FunctionType, type, np.dtype, str, np.integer)


def parts_of_tuple(x: tuple) -> Children:
    """Return the entries of a tuple of a class of its own, and its attributes."""
    cls: Any = type(x)
    keys = tuple(getattr(cls, "_fields", ())) or tuple(range(len(x)))
    held: dict[str, Any] = getattr(x, "__dict__", {})
    beside = {name: part for name, part in held.items() if not is_constant(part)}

    def rebuild(values: list) -> tuple:
        if hasattr(cls, "n_sequence_fields"):  # time.struct_time and its like
            return cls(values)
        y: Any = tuple.__new__(cls, values[: len(x)])
        if held:  # the copying may have called methods that change them
            y.__dict__.update(held)
            y.__dict__.update(zip(beside, values[len(x) :], strict=True))
        return y

    return Children(keys + tuple(beside), (*x, *beside.values()), rebuild)


def is_constant(part: Any) -> bool:
    """Say whether an attribute is a setting of the result, as a text or an axis, and no part."""
    return isinstance(part, _CONSTANTS) or type(part) is int


def constants_beside(x: tuple) -> list[tuple[str, Any]]:
    """Return the attributes that are settings, which several results may have to have in common."""
    held: dict[str, Any] = getattr(x, "__dict__", {})
    return [(name, part) for name, part in held.items() if is_constant(part)]
