"""Rules for functions that nobody can look into, by their Jacobians: see ``primitive``.

A Jacobian is asked for where an argument is active, by ``jacobians(args, options, y, i)``. One
that is measured has no derivative. It may be asked for later than the value: what its function
reads is held as it was at the call.
"""

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from ....config import ArgumentTypeError, LostDerivativeError, user_line
from ... import (
    AbstractZero,
    NoTangent,
    describe,
    is_perturbable_input,
    is_traced,
    iterate_leaves,
    name_of,
    not_implemented,
    pair_rule,
    primitive,
    sum_tangents,
    thunk,
    unthunk,
)
from .closures import TakenOut


def with_jacobian(box: Any, f: Callable, jacobians_of: Callable, jac: Callable | None) -> Any:
    """Register the rules of ``box``, the primitive of ``f``, that go by its Jacobians.

    ``jacobians_of(jac)`` gives them, or ``jacobians_of(f)`` where these are measured.
    """
    as_given = jacobians_of(f if jac is None else jac)

    @pair_rule(box)
    def box_pair(box, *args, **options):
        if jac is None:
            source = held(f)
            if source.parameters:
                raise captured(f)
            y = checked_result(f, box(*args, **options))
            source.after_run()
        else:  # which may read what f has left for it
            y = checked_result(f, box(*args, **options))
            source = held(jac)
        known: dict[int, Any] = {}

        def jacobians_then() -> Any:
            return as_given if source.is_as_taken() else jacobians_of(source(*source.parameters))

        def box_pushforward(*argdots):
            moving = [i for i, xdot in enumerate(argdots) if not isinstance(xdot, AbstractZero)]
            for i in moving:
                refuse_container(f, args[i])
            dots = [unthunk(argdots[i]) for i in moving]
            jacobians = jacobians_then()
            if hasattr(jacobians, "along") and not is_traced((args, dots)):
                return jacobians.along(args, options, y, moving, dots)
            js = [jacobians(args, options, y, i) for i in moving]
            return sum_tangents(push(j, args[i], dot) for j, i, dot in zip(js, moving, dots))

        def pull(i: int, ybar: Any) -> Any:
            refuse_container(f, args[i])
            if i not in known:
                known[i] = jacobians_then()(args, options, y, i)
            return np.tensordot(ybar, np.conj(known[i]), np.ndim(y))

        def box_pullback(ybar):
            bars = [
                thunk(functools.partial(pull, i, ybar))
                if any(map(is_perturbable_input, iterate_leaves(x)))
                else NoTangent()
                for i, x in enumerate(args)
            ]
            return bars[0] if len(bars) == 1 else tuple(bars)

        return y, box_pushforward, box_pullback

    return box


def held(f: Callable) -> TakenOut:
    """Hold what ``f`` reads as it is now."""
    taken = TakenOut(f)
    taken.hold_all()
    return taken


def captured(f: Callable) -> LostDerivativeError:
    return LostDerivativeError(
        f"{name_of(f)} captures a traced value, and differences are taken in its arguments alone, "
        f"in {user_line()}.\n  make it an argument, or give jac=..."
    )


def push(j: Any, x: Any, xdot: Any) -> Any:
    return np.tensordot(j, xdot, np.ndim(x))


def checked_result(f: Callable, y: Any) -> Any:
    """Return ``y``, if it is a number or an array."""
    if is_perturbable_input(y):
        return y
    raise ArgumentTypeError(
        f"{name_of(f)} returned {describe(y)}, and the derivative of a black box is that of a "
        f"number or an array, in {user_line()}.\n"
        "  return one, for example by np.concatenate"
    )


def refuse_container(f: Callable, x: Any) -> None:
    """Refuse an argument that is differentiated, and is no number or array."""
    if not is_perturbable_input(x):
        raise ArgumentTypeError(
            f"{name_of(f)} takes {describe(x)}, and the derivative of a black box is in numbers "
            f"and arrays, in {user_line()}.\n"
            "  give it one array for what is differentiated: see cr.flatten"
        )


@primitive
def measured(slopes: Any, args: tuple, options: dict, y: Any, i: int) -> Any:
    """Return the Jacobian in argument ``i``, as ``slopes`` finds it."""
    return slopes.jacobian(args, options, y, i)


def no_second(slopes: Any) -> Any:
    return not_implemented(
        f"{name_of(slopes.f)} has first derivatives by {slopes.method}, and no second ones.\n"
        "  give jac=..., as NumPy code or as a primitive with a derivative of its own"
    )


@pair_rule(measured)
def measured_pair(measured, slopes, args, options, y, i):

    def measured_pushforward(_slopesdot, _argsdot, _optionsdot, _ydot, _idot):
        return no_second(slopes)

    def measured_pullback(ybar):
        missing = tuple(no_second(slopes) for _ in args)
        return NoTangent(), missing, NoTangent(), NoTangent(), NoTangent()

    return measured(slopes, args, options, y, i), measured_pushforward, measured_pullback
