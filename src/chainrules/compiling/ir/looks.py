"""Guards on recorded values, called looks: a conversion to bool or int, and the value it gave.

``if x > 0`` looks at a comparison with ``bool`` and sees True. In every later run the same look is
made at the same place; where it sees something else, the recording is not one of that run.
"""

from collections.abc import Callable, Hashable
from typing import Any, NamedTuple

import numpy as np

from ...config import ChainRulesError, user_line
from ...config.lines import library_called


class NotRecordable(ChainRulesError):  # noqa: N818 - it never reaches the user as an error
    """Signal that a function cannot be recorded; it runs as it always did."""

    ends_run = True  # also of a batch in it


class UnsuitedLoopError(ChainRulesError):
    """Signal that a loop was no single step after all; it never reaches the user as an error."""

    ends_run = True


# The kinds of looks at all of a number, that stand for one truth, that shapes tell, and that are at
# whole numbers.
NUMBERS_SEEN = ("float", "complex", "value")
TRUTHS, STRUCTURE = ("bool", "zero", "finite"), ("structure", "container")
WHOLE = ("int", "index", "floor", "ceil", "trunc", "round")


class Look(NamedTuple):
    """A look at the result of step ``position``: ``convert`` of it was ``seen`` at a user's line.

    It was made ``before`` the step of this number. Of the kind "value" the result itself was seen,
    to the last bit; ``by`` tells which library's function asked for a number.
    """

    before: int
    position: int
    kind: str
    convert: Callable
    seen: Hashable
    line: str
    by: str = ""

    @classmethod
    def here(
        cls, before: int, position: int, kind: str, convert: Callable, seen: Hashable
    ) -> "Look":
        by = library_called() if kind in NUMBERS_SEEN else ""
        return cls(before, position, kind, convert, seen, user_line(), by)

    def cause(self) -> tuple[str, str]:
        """Return why a number is looked at, and what to write instead."""
        if self.convert in (str, repr, format):
            return (
                "a text is made of numbers (an f-string, str, repr)",
                "return the numbers, and make the text outside of what is compiled",
            )
        if self.by:
            return (
                f"{self.by} looks at numbers to the last bit",
                "compile what comes before and after it by itself (@cr.compile)",
            )
        if self.kind in NUMBERS_SEEN:
            return (
                "numbers are handed to what is not NumPy's, such as math.sin or a solver that is "
                "no step",
                "write np.sin, or cr.adopt() for the module, solve_ivp in place of odeint, or "
                "compile what comes before and after by itself",
            )
        return (
            "it looks at values",
            "write np.where, cr.while_loop or cr.loop, or compile what does so by itself "
            "(@cr.compile)",
        )

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
