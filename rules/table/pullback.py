"""How everything that a rule returns is checked: the pullback's tuple, and shapes."""

from collections.abc import Callable
from typing import Any

import numpy as np

from ...config import RuleError, TangentError, defined_at
from ..annotations import Function, Tangentlike, Value
from ..shapes import shape_of
from ..signatures import name_of
from ..tangents.project import Projector, ProjectTo
from ..tangents.structural import AbstractZero, NotImplementedTangent, Tangent, Thunk, unthunk
from .structural_zeros import unmask

_NO_NUMBERS = (AbstractZero, NotImplementedTangent)
_SEQUENCES = (tuple, list)


def fit_tangent(ydot: Tangentlike, y: Value) -> Any:
    """Give a sum of pushed tangents the shape and the real or complex dtype of ``y``."""
    if issubclass(type(ydot), _NO_NUMBERS):
        return ydot
    if issubclass(type(y), _SEQUENCES):
        return Tangent(type(y), *map(fit_tangent, ydot, y))
    space = ProjectTo(y)
    if shape_of(ydot) != shape_of(y):
        empty = getattr(space, "empty", None)
        # Of NumPy's arrays a copy, which can be written into.
        spread = np.copy(np.broadcast_to(ydot, shape_of(y))) if empty is None else ydot + empty
        return space(spread)
    return space(ydot)


class Pullback:
    """A rule's pullback as everybody may call it: thunks opened, zeros skipped, checked.

    Raises
    ------
    RuleError
        If the rule's pullback does not return one cotangent per positional argument.
    """

    __slots__ = ("count", "f", "function", "most", "plain")

    def __init__(self, function: Callable, f: Function, count: int, most: int = 0) -> None:
        self.function = function
        self.f = f
        self.count = count
        # Of parameters left to their defaults the rule gives cotangents, too; they are dropped.
        self.most = max(count, most)
        # Engines are told which entries are structurally zero; others get numbers.
        self.plain = True

    def __call__(self, ybar: Tangentlike) -> tuple:
        ybar = unthunk(ybar)
        if issubclass(type(ybar), AbstractZero):
            return (ybar,) * (1 + self.count)
        xbars = self.function(ybar)
        if type(xbars) is not tuple or not self.count < len(xbars) <= 1 + self.most:
            raise RuleError(self._complaint(xbars))
        xbars = xbars[: 1 + self.count]
        for i, xbar in enumerate(xbars):
            if xbar is None:
                raise RuleError(_none_given(self.f, i - 1, defined_at(self.function)))
        return tuple(map(unmask, xbars)) if self.plain else xbars

    def _complaint(self, xbars: Any) -> str:
        given = f"{len(xbars)} cotangents" if type(xbars) is tuple else f"a {type(xbars).__name__}"
        where = defined_at(self.function)
        return (
            f"the pullback of {name_of(self.f)} returned {given}"
            + (f" ({where})" if where else "")
            + f".\n  return a tuple of {1 + self.count}: one for the function, then one per "
            "positional argument"
        )

    def __repr__(self) -> str:
        return f"<pullback of {name_of(self.f)}>"


def _none_given(f: Function, i: int, where: str = "", role: str = "pullback") -> str:
    argument = f"argument {i}" if i >= 0 else "the function itself"
    return (
        f"the {role} of {name_of(f)} gave None for {argument}"
        + (f" ({where})" if where else "")
        + ".\n  return NoTangent() for what cannot be perturbed, "
        "ZeroTangent() where nothing arrives"
    )


def check_shape(
    xbar: Tangentlike, space: Projector, f: Function, i: int, role: str = "pullback"
) -> Any:
    """Bring what a rule returned into ``space``, and refuse another shape by name."""
    if space.holds(xbar):
        return xbar
    if isinstance(xbar, NotImplementedTangent):
        raise xbar.error()
    if xbar is None:
        raise RuleError(_none_given(f, i, role=role))
    shape = getattr(space, "shape", None)
    if shape is not None and not isinstance(xbar, AbstractZero | Tangent | Thunk):
        given = shape_of(xbar)
        if given != shape:
            raise TangentError(
                f"the {role} of {name_of(f)} gave argument {i} a cotangent of shape {given};\n"
                f"  the argument has shape {shape}."
            )
    try:
        return space(xbar)
    except TangentError as error:
        raise TangentError(f"the {role} of {name_of(f)}, argument {i}: {error}") from None
