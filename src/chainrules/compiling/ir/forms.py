"""Form of a recorded result, kept besides the step that gives it: type, dtype and shape."""

from typing import Any, NamedTuple

import numpy as np


class ValueForm(NamedTuple):
    """The form of a number (``array`` is False, and ``kind`` its type), or of an array.

    ``order`` is "C", or "F" for an array in Fortran's order and not in C's, or "?".
    """

    array: bool
    kind: Any
    shape: tuple[int, ...]
    order: str

    @classmethod
    def of(cls, x: Any) -> "ValueForm | None":
        """Return the form of a plain number or array; None of anything else."""
        if type(x) is np.ndarray:
            flags = x.flags
            order = "C" if flags.c_contiguous else "F" if flags.f_contiguous else "?"
            return new_tuple(cls, (True, x.dtype, x.shape, order))
        if isinstance(x, float | complex | np.generic | int):
            return _FORMS_OF_NUMBERS.get(type(x)) or _FORMS_OF_NUMBERS.setdefault(
                type(x), cls(False, type(x), (), "C")
            )
        return None


# A named tuple's own __new__ costs as much again, and there is one for each recorded operation.
new_tuple = tuple.__new__
_FORMS_OF_NUMBERS: dict[type, ValueForm] = {}
