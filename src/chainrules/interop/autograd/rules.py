"""Rules made of what ``defvjp`` and ``defjvp`` are given.

autograd keeps, for each primitive, two functions: ``vjpmaker(argnums, y, args, kwargs)``, which
returns ``vjp(ybar) -> xbars``, and ``jvp(argnums, xdots, y, args, kwargs)``, which gives ``ydot``.
Its cotangents are the conjugates of ours, its tangents are ours.
"""

import functools
from collections.abc import Callable
from typing import Any

from ...config import ChainRulesError, user_line
from ...reverse.vjp import vjp as pull_through
from ...rules import (
    AbstractZero,
    NoTangent,
    as_structured,
    describe,
    dtype_of,
    frule,
    is_perturbable_input,
    iterate_leaves,
    map_leaves,
    name_of,
    not_implemented,
    rrule,
    thunk,
    unthunk,
    value,
    zero_tangent,
)
from ...rules.rulesets.functions.foreign import has_slope
from ..flat import conjugate


def conjugated(x: Any) -> Any:
    """Return ``x`` with the conjugates of the complex numbers in it."""
    return map_leaves(conjugate, x)


def plainly(f: Callable, *args: Any) -> Any:
    return f(*args)


def add_rrule(g: Callable, vjpmaker: Callable, run: Callable = plainly) -> None:
    """Register the rrule of ``g`` that ``vjpmaker`` gives; see ``add_frule`` for ``run``."""

    @rrule.register(g)
    def adopted_rrule(g, *args, **kwargs):  # type: ignore[no-untyped-def]
        y = g(*args, **kwargs)

        def cotangent(i: int, ybar: Any) -> Any:
            def pull(y: Any, args: tuple, ybar: Any) -> Any:
                (xbar,) = vjpmaker((i,), y, args, kwargs)(ybar)
                return xbar

            if not _has_space(args[i]):
                return _in_an_integer(g, i, args[i])
            try:
                return conjugated(run(pull, y, args, conjugated(ybar)))
            except (NotImplementedError, KeyError) as error:
                return _unknown(g, "vjp", i, error)

        def adopted_pullback(ybar: Any) -> tuple:
            ybar = as_structured(y, unthunk(ybar))
            # Thunks: what no derivative is wanted in may have no vjp.
            return NoTangent(), *[
                thunk(functools.partial(cotangent, i, ybar)) if _moves(x) else NoTangent()
                for i, x in enumerate(args)
            ]

        return y, adopted_pullback


def add_frule(g: Callable, jvp: Callable, run: Callable = plainly) -> None:
    """Register the frule of ``g`` that ``jvp`` gives.

    Parameters
    ----------
    g : callable
        A primitive of ours.
    jvp : callable
        As autograd keeps it.
    run : callable, optional
        ``run(f, *args)`` gives ``f(*args)``, where ``f`` is code of autograd.
    """

    @frule.register(g)
    def adopted_frule(tangents, g, *args, **kwargs):  # type: ignore[no-untyped-def]
        y = g(*args, **kwargs)
        moving, xdots = _moving(args, tangents[1:])

        def push(y: Any, args: tuple, xdots: list) -> Any:
            return jvp(moving, xdots, y, args, kwargs)

        if not moving:
            return y, zero_tangent(value(y))
        if whole := [i for i in moving if not _has_space(args[i])]:
            return y, _in_an_integer(g, whole[0], args[whole[0]])
        try:
            return y, run(push, y, args, xdots)
        except (NotImplementedError, KeyError) as error:
            return y, _unknown(g, "jvp", moving[0], error)


def add_transposed_frule(g: Callable, vjpmaker: Callable, run: Callable = plainly) -> None:
    """Register the frule of ``g`` that is the transpose of what ``vjpmaker`` gives.

    A pullback is linear in the cotangent, and its own pullback is the pushforward.
    """

    @frule.register(g)
    def transposed_frule(tangents, g, *args, **kwargs):  # type: ignore[no-untyped-def]
        y = g(*args, **kwargs)
        moving, xdots = _moving(args, tangents[1:])
        if not moving:
            return y, zero_tangent(value(y))
        if whole := [i for i in moving if not _has_space(args[i])]:
            return y, _in_an_integer(g, whole[0], args[whole[0]])

        def pull(y: Any, args: tuple, ybar: Any) -> tuple:
            return tuple(vjpmaker(moving, y, args, kwargs)(ybar))

        try:
            zero = zero_tangent(value(y))
            _, transpose = pull_through(lambda ybar: run(pull, y, args, ybar), zero)
        except (NotImplementedError, KeyError) as error:
            return y, _unknown(g, "vjp", moving[0], error)
        (ydot,) = transpose(tuple(map(conjugated, xdots)))
        return y, conjugated(ydot)


def _moves(x: Any) -> bool:
    return any(map(is_perturbable_input, iterate_leaves(x)))


def _has_space(x: Any) -> bool:
    return all(dtype_of(part) is None or has_slope(part) for part in iterate_leaves(x))


def _in_an_integer(g: Callable, i: int, x: Any) -> Any:
    return not_implemented(
        f"{name_of(g)} takes {describe(x)} as number {i} of its arguments, and its rules are "
        f"autograd's, which has no derivatives in integers, in {user_line()}.\n"
        "  give it as a float, or cr.value(...) of it where it is constant"
    )


def _moving(args: tuple, tangents: Any) -> tuple[tuple[int, ...], list]:
    """Return the positions of the arguments that have tangents, and the tangents."""
    found = [(i, unthunk(xdot)) for i, xdot in enumerate(tangents)]
    pairs = [(i, as_structured(args[i], t)) for i, t in found if not isinstance(t, AbstractZero)]
    return tuple([i for i, _ in pairs]), [xdot for _, xdot in pairs]


def _unknown(g: Callable, kind: str, i: int, error: Exception) -> Any:
    if isinstance(error, ChainRulesError):
        raise error
    return not_implemented(
        f"{name_of(g)} has no {kind} in number {i} of its arguments, in {user_line()} ({error}).\n"
        f"  give it one with def{kind}, or cr.value(...) of the argument where it is constant"
    )
