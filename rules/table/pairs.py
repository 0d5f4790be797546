"""Pairs by hand: one function for both directions, where these share what they compute first.

    @pair_rule(np.cumprod)
    def cumprod_pair(cumprod, x, *, axis=None):
        y = cumprod(x, axis)
        ...
        return y, cumprod_pushforward, cumprod_pullback

is an ``frule`` and an ``rrule`` of ``np.cumprod``, from ``xdot`` to ``ydot`` and from ``ybar`` to
``xbar``. Of several arguments the pushforward takes a tangent each, and the pullback returns a
tuple. All are projected, and axes that were broadcast are summed, here and not in the pair.
"""

import functools
import inspect
from collections.abc import Callable
from types import BuiltinFunctionType, CodeType, FunctionType
from typing import Any

import numpy as np

from ..annotations import Function, Tangentlike, Value
from ..tangents.project import ProjectNothing, Projector, ProjectTo
from ..tangents.thunks import Thunk, thunk
from ..tangents.zeros import NO_TANGENT, AbstractZero
from .sums import unbroadcast
from .tables import frule, rrule


def pair_rule(*functions: Function) -> Callable[[Callable], Callable]:
    """Decorator: the function below gives ``y`` and both maps of ``functions`` at a point.

    Its signature is that of an ``rrule``: ``pair(f, *args, **options)``. The pushforward takes as
    many tangents as there are arguments; the pullback returns as many cotangents, in a tuple where
    there are several.

    Examples
    --------
    >>> import numpy as np
    >>> import chainrules as cr
    >>> @cr.primitive
    ... def length(x):
    ...     return np.sqrt(np.sum(x * x))
    >>> from chainrules.rules import pair_rule
    >>> @pair_rule(length)
    ... def length_pair(length, x):
    ...     y = length(x)
    ...     return y, lambda xdot: np.sum(x * xdot) / y, lambda ybar: ybar * x / y
    >>> cr.grad(length)(np.array([3.0, 4.0]))
    array([0.6, 0.8])
    """

    def define(pair: Callable) -> Callable:
        known = list(inspect.signature(pair, eval_str=True).parameters.values())
        tangents = inspect.Parameter("tangents", inspect.Parameter.POSITIONAL_ONLY)
        for f in functions:
            frule.register(f)(_half(_push, pair, [tangents, *known]))
            rrule.register(f)(_half(_pull, pair, known))
        return pair

    return define


def _half(direction: Callable, pair: Callable, known: list[inspect.Parameter]) -> Callable:
    half: Any = functools.partial(direction, pair)
    # What messages say of a rule, and how calls are bound to it, is as the pair has it.
    half.__name__, half.__code__ = pair.__name__, pair.__code__
    half.__signature__ = inspect.Signature(known)
    return half


def _push(
    pair: Callable, tangents: tuple, f: Function, *args: Value, **options: object
) -> tuple[Any, Any]:
    y, pushforward, _ = pair(f, *args, **options)
    ydot = pushforward(*tangents[1:])
    return y, ydot if isinstance(y, tuple) or _is_stack(ydot, y) else ProjectTo(y)(ydot)


def _is_stack(ydot: Any, y: Value) -> bool:
    """Say whether a pushforward gave the tangents of many directions: see ``pushes_stacks``."""
    return getattr(ydot, "ndim", 0) > getattr(y, "ndim", 0)


def _pull(pair: Callable, f: Function, *args: Value, **options: object) -> tuple[Any, Callable]:
    spaces = [None if type(x) in _STILL else _space(x) for x in args]
    y, pushforward, pullback = pair(f, *args, **options)
    return y, PairPullback(pullback, pushforward, spaces)


class PairPullback:
    """The pullback of a pair at a point, beside its pushforward: a tape goes both ways."""

    __slots__ = ("pullback", "pushforward", "spaces")

    def __init__(self, pullback: Callable, pushforward: Callable, spaces: list) -> None:
        self.pullback = pullback
        self.pushforward = pushforward
        self.spaces = spaces

    def __call__(self, ybar: Tangentlike) -> tuple:
        xbars = self.pullback(ybar)
        if len(self.spaces) == 1:
            xbars = (xbars,)
        return NO_TANGENT, *map(_fitted, self.spaces, xbars)

    @property
    def __code__(self) -> CodeType:
        return self.pullback.__code__  # of which messages tell the line


# Classes of Python's whose values never have tangents: to ask ``ProjectTo`` takes longer than a
# small rule. No class of others is among them, which may become a container at any time.
_STILL = frozenset({bool, str, type(None), slice, FunctionType, BuiltinFunctionType})


def _space(x: Value) -> Projector | None:
    """Return the projection of an argument, or None where it has no tangents."""
    space = ProjectTo(x)
    return None if type(space) is ProjectNothing else space


def _fitted(space: Any, xbar: Any) -> Tangentlike:
    cls = type(xbar)
    if cls is np.ndarray and xbar.shape == getattr(space, "shape", None):  # most are
        return space(xbar)
    if issubclass(cls, AbstractZero):
        return xbar
    if space is None:
        return NO_TANGENT
    if issubclass(cls, Thunk):
        return thunk(lambda: _fitted(space, xbar.force()))
    shape = getattr(space, "shape", None)
    return space(xbar if shape is None else unbroadcast(xbar, shape))


def solution_rule(solve: Any, along: Callable, back: Callable, adjoint_of: Callable) -> None:
    """Give the derivative of ``y = solve(*coefficients, b, **options)``, which is linear in ``b``.

    With ``m(*coefficients) @ y = b``, a linear map of y: ``ydot`` solves for ``bdot - mdot @ y``,
    and ``bbar`` solves the adjoint equation for ``ybar``.

    Parameters
    ----------
    along : callable
        ``along(y, *coefficients, *dots)`` is ``mdot @ y``.
    back : callable
        ``back(w, y, *coefficients)`` pulls w through ``along``: a tuple, one for each coefficient.
    adjoint_of : callable
        ``adjoint_of(*coefficients)`` returns those of the adjoint equation.

    Examples
    --------
    >>> import numpy as np
    >>> import chainrules as cr
    >>> from chainrules.rules import solution_rule
    >>> @cr.primitive
    ... def over(a, b):
    ...     return b / a
    >>> solution_rule(over, lambda y, a, adot: adot * y, lambda w, y, a: (w * y,), lambda a: (a,))
    >>> [float(bar) for bar in cr.grad(over, argnums=(0, 1))(2.0, 6.0)]
    [-1.5, 0.5]
    """

    @pair_rule(solve)
    def solution_pair(solve: Function, *args: object, **options: object) -> tuple:
        *coefficients, _ = args
        y = solve(*args, **options)

        def solution_pushforward(*dots: object) -> Any:
            *moves, bdot = dots
            return solve(*coefficients, bdot - along(y, *coefficients, *moves), **options)

        def solution_pullback(ybar: Tangentlike) -> tuple:
            w = solve(*adjoint_of(*coefficients), ybar, **options)
            return *(-bar for bar in back(w, y, *coefficients)), w

        return y, solution_pushforward, solution_pullback
