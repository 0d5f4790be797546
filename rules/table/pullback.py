"""Checks of a rule's results: the length of the pullback's tuple, and the shapes.

A pullback of ``f(a, b)`` that returns two cotangents in place of three, None for one of them, or
one of shape (4,) for an argument of shape (3,), is refused by the name of ``f``.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from ...config import RuleError, TangentError, defined_at
from ..annotations import Function, Tangentlike
from ..shapes import dtype_of, shape_of
from ..signatures import name_of
from ..tangents.missing import NotImplementedTangent
from ..tangents.project import ProjectForeign, Projector, ProjectTo
from ..tangents.structural import Tangent
from ..tangents.thunks import Thunk, unthunk
from ..tangents.zeros import NO_TANGENT, AbstractZero
from ..tracing.object_arrays import healed, may_need_healing
from .structural_zeros import unmask

_NO_NUMBERS = (AbstractZero, NotImplementedTangent)
_SEQUENCES = (tuple, list)


def fit_tangent(ydot: Any, y: Any) -> Any:
    """Give a sum of pushed tangents the shape and the real or complex dtype of ``y``."""
    if issubclass(type(ydot), _NO_NUMBERS):
        return ydot
    if issubclass(type(y), _SEQUENCES):
        return Tangent(type(y), *map(fit_tangent, ydot, y))
    if type(ydot) is type(y) and dtype_of(y) is None:
        return ydot  # of somebody's own type of numbers, which has no space
    space = ProjectTo(y)
    if shape_of(ydot) != shape_of(y):
        if type(space) is ProjectForeign:
            return space(ydot + space.zeros())
        return space(np.copy(np.broadcast_to(ydot, shape_of(y))))  # which can be written into
    return space(ydot)


def healed_pair(pair: tuple) -> tuple:
    """Return what an frule gave, healed: np.asarray in it makes object arrays of traced numbers."""
    y, ydot = pair
    parts = tuple(ydot.backing.values()) if type(ydot) is Tangent else ydot
    return healed(pair) if may_need_healing((y, parts)) else pair


class CheckedPullback:
    """A rule's pullback as everybody may call it: thunks opened, zeros skipped, checked.

    Raises
    ------
    RuleError
        If the rule's pullback does not return one cotangent per positional argument.
    """

    __slots__ = ("count", "f", "function", "most", "options", "plain")

    def __init__(self, function: Callable, f: Function | str, count: int, most: int = 0) -> None:
        self.function = function
        self.f = f
        self.count = count
        # Of parameters left to their defaults the rule gives cotangents, too; they are dropped.
        self.most = max(count, most)
        # Engines are told which entries are structurally zero; others get numbers.
        self.plain = True
        # Positional arguments after these, which are options to the rule.
        self.options = 0

    def __call__(self, ybar: Tangentlike) -> tuple:
        ybar = unthunk(ybar)
        if issubclass(type(ybar), AbstractZero):
            return (ybar,) * (1 + self.count) + (NO_TANGENT,) * self.options
        xbars = self.function(ybar)
        if type(xbars) is not tuple or not self.count < len(xbars) <= 1 + self.most:
            given = (
                f"{len(xbars)} cotangents" if type(xbars) is tuple else f"a {type(xbars).__name__}"
            )
            raise RuleError(
                f"the pullback of {name_of(self.f)} returned {given}{_line_of(self.function)}.\n"
                f"  return a tuple of {1 + self.count}: one for the function, then one per "
                "positional argument"
            )
        xbars = xbars[: 1 + self.count]
        for i, xbar in enumerate(xbars):
            if xbar is None:
                raise _none_given(self.f, i - 1, _line_of(self.function))
        return (*map(unmask, xbars), *[NO_TANGENT] * self.options) if self.plain else xbars

    def __repr__(self) -> str:
        return f"<pullback of {name_of(self.f)}>"


def _line_of(function: Callable) -> str:
    where = defined_at(function)
    return f" ({where})" if where else ""


def _none_given(f: Function | str, i: int, where: str = "") -> RuleError:
    argument = f"argument {i}" if i >= 0 else "the function itself"
    return RuleError(
        f"the pullback of {name_of(f)} gave None for {argument}{where}.\n"
        "  return NoTangent() for what cannot be perturbed, ZeroTangent() where nothing arrives"
    )


def check_shape(xbar: Tangentlike, space: Projector, f: Function | str, i: int) -> Any:
    """Bring what a rule returned into ``space``, and refuse another shape by name."""
    if space.holds(xbar):
        return xbar
    if isinstance(xbar, NotImplementedTangent):
        raise xbar.error()
    if xbar is None:
        raise _none_given(f, i)
    shape = getattr(space, "shape", None)
    if shape is not None and not isinstance(xbar, AbstractZero | Tangent | Thunk):
        given = shape_of(xbar)
        if given != shape:
            raise TangentError(
                f"the pullback of {name_of(f)} gave argument {i} a cotangent of shape {given};\n"
                f"  the argument has shape {shape}."
            )
    try:
        return space(xbar)
    except TangentError as error:
        raise TangentError(f"the pullback of {name_of(f)}, argument {i}: {error}") from None
