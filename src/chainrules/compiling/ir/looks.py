"""Guards on recorded values, called looks: a conversion to bool or int, and the value it gave.

``if x > 0`` looks at a comparison with ``bool`` and sees True. In every later run the same look is
made at the same place; where it sees something else, the recording is not one of that run.
"""

from collections.abc import Callable, Hashable
from typing import Any, NamedTuple

import numpy as np

from ...config import ChainRulesError, user_line


class NotRecordable(ChainRulesError):  # noqa: N818 - it never reaches the user as an error
    """Signal that a function cannot be recorded; it runs as it always did."""

    ends_run = True  # also of a batch in it


class UnsuitedLoopError(ChainRulesError):
    """Signal that a loop was no single step after all; it never reaches the user as an error."""

    ends_run = True


# The kinds of looks that stand for one truth, that shapes tell, and that are at whole numbers.
TRUTHS, STRUCTURE = ("bool", "zero", "finite"), ("structure", "container")
WHOLE = ("int", "index", "floor", "ceil", "trunc", "round")


class Look(NamedTuple):
    """A look at the result of step ``position``: ``convert`` of it was ``seen`` at a user's line.

    It was made ``before`` the step of this number. Of the kind "value" the result itself was seen,
    to the last bit.
    """

    before: int
    position: int
    kind: str
    convert: Callable
    seen: Hashable
    line: str

    @classmethod
    def here(
        cls, before: int, position: int, kind: str, convert: Callable, seen: Hashable
    ) -> "Look":
        return cls(before, position, kind, convert, seen, user_line())

    def at(self, x: Any) -> Hashable:
        """Return what this look sees of ``x``, to be compared with ``seen``."""
        return bits(x if self.kind == "value" else self.convert(x))


def bits(x: Any) -> Hashable:
    """Return what two values share only where they are the same: type, shape and every bit.

    Examples
    --------
    >>> bits(0.0) == bits(-0.0), bits(float("nan")) == bits(float("nan"))
    (False, True)
    """
    if isinstance(x, np.ndarray):
        return "array", x.dtype.str, x.shape, x.tobytes()
    if isinstance(x, np.generic):
        return x.dtype.str, x.tobytes()
    if isinstance(x, float):
        return "float", x.hex()
    if isinstance(x, complex):
        return "complex", x.real.hex(), x.imag.hex()
    if isinstance(x, tuple):
        return ("tuple", *map(bits, x))
    try:
        hash(x)
    except TypeError:
        raise NotRecordable(f"a {type(x).__name__} that was made of a recorded value") from None
    return type(x).__name__, x
