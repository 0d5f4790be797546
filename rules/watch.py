"""Plain arrays that a tape keeps, and that the user's code may still write into.

``y = x * c; c[:] = 0; z = x * c`` must not be differentiated with the second ``c`` twice. A small
array is kept as a copy. Of a large one, which would cost its memory again, a sample of entries
is compared before the derivative is computed, and a difference is an error.
"""

from typing import Any

import numpy as np

from ..config import MutationError, user_line
from .traced import describe

SMALL = 4096  # bytes
SAMPLES = 256  # entries


class Watch:
    """The large plain arrays that one tape keeps."""

    __slots__ = ("arrays",)

    def __init__(self) -> None:
        self.arrays: dict[int, tuple[np.ndarray, bytes, str]] = {}

    def hold(self, x: Any) -> Any:
        """Return what to keep for ``x``, which may be anything."""
        if x.__class__ is not np.ndarray or x.dtype.kind == "O":
            return x
        if x.nbytes <= SMALL:
            return x.copy()
        if id(x) not in self.arrays:
            self.arrays[id(x)] = x, sample(x), user_line()
        return x

    def hold_all(self, options: dict) -> dict:
        """Hold every array among keyword options, and inside an index that is a tuple."""
        if not any(x.__class__ in (np.ndarray, tuple) for x in options.values()):
            return options
        return {
            name: tuple([self.hold(part) for part in x]) if type(x) is tuple else self.hold(x)
            for name, x in options.items()
        }

    def check(self) -> None:
        """Raise where an array is not what it was.

        Raises
        ------
        MutationError
        """
        for x, before, line in self.arrays.values():
            if sample(x) != before:
                raise MutationError(
                    f"a plain array, {describe(x)}, was used beside a traced value in {line} and "
                    "has been changed since, so the derivative would be wrong.\n"
                    "  use a copy there (c.copy()), or write the changes into another array"
                )


def sample(x: np.ndarray) -> bytes:
    """Return some entries of ``x``, evenly spread, as bytes."""
    return x.flat[:: max(x.size // SAMPLES, 1)].tobytes()
