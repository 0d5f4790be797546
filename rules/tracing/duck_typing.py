"""What a traced number has: what the number under it has, for programs ask by ``hasattr``.

``x.sum()`` of a Python float is an ``AttributeError``, and code that is written for floats and for
arrays takes its other branch by that.
"""

from typing import Any

import numpy as np

from ..annotations import Value
from .level import type_under

PYTHONS = (float, int, complex, bool)


class OfNumPys:
    """A method that NumPy's numbers have, and Python's have not."""

    def __init__(self, name: str, part: Value) -> None:
        self.name = name
        self.part = part

    def __get__(self, x: Value, owner: type) -> Any:
        if x is not None and type_under(x) in PYTHONS:
            kind = type_under(x).__name__
            raise AttributeError(f"'{kind}' object has no attribute {self.name!r}")
        return self.part.__get__(x, owner)


def hide_from_pythons(of_numbers: type, of_arrays: type) -> None:
    """Let methods of NumPy's be seen on NumPy's numbers only, and on arrays, a sub-class."""
    for name, part in list(vars(of_numbers).items()):
        numpys = hasattr(np.float64, name) and not hasattr(float, name)
        if not name.startswith("_") and callable(part) and numpys:
            setattr(of_numbers, name, OfNumPys(name, part))
            if name not in vars(of_arrays):
                setattr(of_arrays, name, part)
