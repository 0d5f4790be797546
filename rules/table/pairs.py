"""Pairs by hand: one function for both directions, where these share what they compute first.

    @pair_rule(np.cumprod)
    def cumprod_pair(cumprod, x, *, axis=None):
        y = cumprod(x, axis)
        ...
        return y, cumprod_pushforward, cumprod_pullback

is an ``frule`` and an ``rrule`` of ``np.cumprod``, from ``xdot`` to ``ydot`` and from ``ybar`` to
``xbar``. Both are projected, here and not in the pair.
"""

import functools
import inspect
from collections.abc import Callable
from typing import Any

from ..annotations import Function, Tangentlike, Value
from ..tangents.project import ProjectTo
from ..tangents.zeros import NO_TANGENT
from .tables import frule, rrule


def pair_rule(*functions: Any) -> Callable[[Callable], Callable]:
    """Decorator: the function below gives ``y`` and both maps of ``functions`` at a point.

    Its signature is that of an ``rrule`` in one argument: ``pair(f, x, *, **options)``.
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
    pair: Callable, tangents: tuple, f: Function, x: Value, **options: Any
) -> tuple[Any, Any]:
    y, pushforward, _ = pair(f, x, **options)
    return y, ProjectTo(y)(pushforward(tangents[1]))


def _pull(pair: Callable, f: Function, x: Value, **options: Any) -> tuple[Any, Callable]:
    project_x = ProjectTo(x)
    y, _, pullback = pair(f, x, **options)

    def pair_pullback(ybar: Tangentlike) -> tuple:
        return NO_TANGENT, project_x(pullback(ybar))

    return y, pair_pullback
