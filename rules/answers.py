"""How a kind answers a query, and how everything that a rule returns is checked."""

from collections.abc import Callable
from typing import Any

import numpy as np

from ..config import RuleError, TangentError, defined_at
from .kinds import FreshArray, Kind, NonDifferentiable, ScalarRule
from .masked import unmask
from .project import ProjectTo, shape_of
from .signatures import name_of
from .tangents import (
    NO_TANGENT,
    ZERO,
    AbstractZero,
    NotImplementedTangent,
    Tangent,
    Thunk,
    add,
    unthunk,
)

_NO_NUMBERS = (AbstractZero, NotImplementedTangent)
_SEQUENCES = (tuple, list)


def fit_tangent(ydot: Any, y: Any) -> Any:
    """Give a sum of pushed tangents the shape and the real or complex dtype of ``y``."""
    if issubclass(type(ydot), _NO_NUMBERS):
        return ydot
    if issubclass(type(y), _SEQUENCES):
        return Tangent(type(y), *map(fit_tangent, ydot, y))
    if shape_of(ydot) != shape_of(y):
        ydot = np.copy(np.broadcast_to(ydot, shape_of(y)))  # which can be written into
    return ProjectTo(y)(ydot)


def push_all(kind: Kind, tangents: Any, y: Any, args: tuple, kwargs: dict) -> Any:
    """Sum the shares of every argument whose tangent is not zero. ``fit_tangent`` it."""
    ydot: Any = ZERO
    for i, xdot in enumerate(tangents):
        xdot = unthunk(xdot)
        if not issubclass(type(xdot), AbstractZero):
            share = kind.push(i, xdot, y, args, kwargs)
            ydot = share if ydot is ZERO else add(ydot, share)
    return ydot


def kind_frule(kind: Kind, tangents: tuple, f: Any, args: tuple, kwargs: dict) -> tuple:
    """Answer an ``frule`` query by a kind."""
    args, kwargs = kind.bind(f, args, kwargs)
    y = f(*args, **kwargs)
    if type(kind) is ScalarRule:
        y = kind.through_branch(y, args)
    if isinstance(kind, NonDifferentiable | FreshArray):
        return y, ZERO
    ydot = push_all(kind, tangents[1 : 1 + len(args)], y, args, kwargs)
    return y, fit_tangent(ydot, y)


def kind_rrule(kind: Kind, f: Any, given: tuple, kwargs: dict) -> tuple:
    """Answer an ``rrule`` query by a kind; one cotangent per positional argument given.

    The pullback can be told which arguments are ``wanted``; of others it computes nothing.
    """
    args, kwargs = kind.bind(f, given, kwargs)
    y = f(*args, **kwargs)
    if type(kind) is ScalarRule:
        y = kind.through_branch(y, args)
    differentiable = not isinstance(kind, NonDifferentiable | FreshArray)
    spaces = [ProjectTo(x) for x in args] if differentiable else []
    options = (NO_TANGENT,) * (len(given) - len(spaces))

    def kind_pullback(ybar: Any, wanted: Any = None) -> tuple:
        def pull(i: int, space: Any) -> Any:
            if wanted is not None and i not in wanted:
                return ZERO
            xbar = kind.pull(i, ybar, y, args, kwargs, space)
            return xbar if issubclass(type(xbar), NotImplementedTangent) else space(xbar)

        xbars = [pull(i, space) for i, space in enumerate(spaces)]
        return (NO_TANGENT, *xbars, *options)

    return y, kind_pullback


class Pullback:
    """A rule's pullback as everybody may call it: thunks opened, zeros skipped, checked.

    Raises
    ------
    RuleError
        If the rule's pullback does not return one cotangent per positional argument.
    """

    __slots__ = ("count", "f", "function", "most", "plain")

    def __init__(self, function: Callable, f: Any, count: int, most: int = 0) -> None:
        self.function = function
        self.f = f
        self.count = count
        # Of parameters left to their defaults the rule gives cotangents, too; they are dropped.
        self.most = max(count, most)
        # Engines are told which entries are structurally zero; others get numbers.
        self.plain = True

    def __call__(self, ybar: Any) -> tuple:
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


def _none_given(f: Any, i: int, where: str = "", role: str = "pullback") -> str:
    argument = f"argument {i}" if i >= 0 else "the function itself"
    return (
        f"the {role} of {name_of(f)} gave None for {argument}"
        + (f" ({where})" if where else "")
        + ".\n  return NoTangent() for what cannot be perturbed, "
        "ZeroTangent() where nothing arrives"
    )


def check_shape(xbar: Any, space: Any, f: Any, i: int, role: str = "pullback") -> Any:
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
