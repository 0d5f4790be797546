"""Functions that are evaluated elsewhere: by another library, or by another process.

One class, with one frule and one rrule for all of them. Where nothing further out is
differentiated, the other side's own ``vjp`` and ``jvp`` answer at once; a derivative of that
derivative is again a foreign function, which ``push`` or ``pull`` makes. So every order is there.
"""

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from ....config import MissingDerivativeError, user_line
from ... import (
    ZERO,
    AbstractZero,
    NoTangent,
    as_structured,
    child_tangents,
    describe,
    dtype_of,
    frule,
    innermost,
    instances,
    is_perturbable_input,
    is_traced,
    not_implemented,
    rrule,
    type_under,
    unthunk,
)
from ...containers import LEAVES


class Foreign:
    """A function of numbers and arrays that is evaluated and differentiated elsewhere.

    It takes numbers and arrays by position, and returns one or a tuple of these. Only those in
    floating point, real or complex, have tangents and cotangents: of integers and all else there
    are none in what the functions below take and return.

    Parameters
    ----------
    name : str
        What errors call it.
    run : callable
        ``run(*xs) -> y``, one or a tuple.
    vjp : callable
        ``vjp(*xs) -> (y, pullback)`` with ``pullback(*ybars) -> xbars``, a tuple; it may be called
        many times.
    jvp : callable
        ``jvp(xs, xdots) -> (y, ydots)``; all but ``y`` are tuples.
    push, pull : callable, optional
        ``push(n)`` and ``pull(n)``, for ``n`` arguments ``xs``: return the ``Foreign`` of
        ``(*xs, *xdots) -> ydots`` and that of ``(*xs, *ybars) -> xbars``, which a derivative of a
        derivative asks for.

    Raises
    ------
    MissingDerivativeError
        For a second derivative without ``push`` or ``pull``; for one in an integer.

    Examples
    --------
    >>> import math
    >>> import chainrules as cr
    >>> from chainrules.interop import Foreign
    >>> sin = Foreign(
    ...     "sin",
    ...     run=math.sin,
    ...     vjp=lambda x: (math.sin(x), lambda ybar: (math.cos(x) * ybar,)),
    ...     jvp=lambda xs, xdots: (math.sin(*xs), (math.cos(*xs) * xdots[0],)),
    ... )
    >>> cr.grad(lambda x: 3 * sin(x))(0.0)
    3.0
    """

    is_native = False  # whether what it runs is machine code of ours
    calls_back = of_solver = False  # whether a solver of SciPy's runs, and calls it; or is it

    __slots__ = ("__name__", "jvp", "made", "pull", "push", "run", "vjp")

    is_foreign = True  # one step to a recording and to a batch

    def __init__(
        self,
        name: str,
        run: Callable,
        vjp: Callable[..., tuple[Any, Callable]],
        jvp: Callable[[tuple, tuple], tuple[Any, tuple]],
        push: "Callable[[int], Foreign] | None" = None,
        pull: "Callable[[int], Foreign] | None" = None,
    ) -> None:
        self.__name__ = name
        self.run, self.vjp, self.jvp, self.push, self.pull = run, vjp, jvp, push, pull
        self.made: dict[tuple, Foreign] = {}

    def __call__(self, *xs: Any) -> Any:
        level = innermost(xs)
        return self.run(*xs) if level is None else level.call(self, xs, {})

    def __repr__(self) -> str:
        return f"Foreign({self.__name__})"

    def round_as_numpy(self) -> bool:
        """Give NumPy's numbers to the last bit from now on; say whether that is something new."""
        return False

    def about(self) -> str:
        """Say in words what a call of it is in a recording, if that is something of its own."""
        return ""

    def on_threads(self, threads: int) -> None:
        """Run on so many threads from now on, where that is possible."""

    def derivative(self, direction: str, n: int) -> "Foreign":
        """Return what ``push`` or ``pull`` makes for ``n`` arguments, made once."""
        key = direction, n
        if key not in self.made:
            make = self.push if direction == "push" else self.pull
            if make is None:
                raise MissingDerivativeError(
                    f"{self.__name__} is evaluated elsewhere and has first derivatives, and no "
                    f"second ones, in {user_line()}.\n  give push=... and pull=... to its Foreign"
                )
            self.made.setdefault(key, make(n))
        return self.made[key]


LEAVES.add(Foreign)  # what it holds are no inputs


@frule.register(instances(Foreign))
def foreign_frule(tangents, foreign, *xs):
    dots = [unthunk(xdot) for xdot in tangents[1:]]
    whole = [i for i, xdot in enumerate(dots) if not has_slope(xs[i]) and _is_moving(xdot)]
    dots = tuple([as_structured(x, xdot) for x, xdot in zip(xs, dots) if has_slope(x)])
    if is_traced((xs, dots)):
        y, found = foreign(*xs), foreign.derivative("push", len(xs))(*xs, *dots)
    else:
        y, found = foreign.jvp(xs, dots)
    ys = parts(y)
    if whole:
        placed = tuple([in_an_integer(foreign, xs, whole[0]) for _ in ys])
    else:
        placed = _placed(ys, parts(found))
    return y, placed if type(y) is tuple else placed[0]


@rrule.register(instances(Foreign))
def foreign_rrule(foreign, *xs):
    if is_traced(xs):
        y, fused = foreign(*xs), None
    else:
        y, fused = foreign.vjp(*xs)
    ys = parts(y)

    def foreign_pullback(ybar):
        given = child_tangents(y, ybar) if type(y) is tuple else [ybar]
        bars = [as_structured(y, part) for y, part in zip(ys, given) if has_slope(y)]
        again = fused is None or any(map(is_traced, bars))
        pull = functools.partial(foreign.derivative("pull", len(xs)), *xs) if again else fused
        return NoTangent(), *[
            bar if has_slope(x) else in_an_integer(foreign, xs, i)
            for i, (x, bar) in enumerate(zip(xs, _placed(xs, parts(pull(*bars)))))
        ]

    return y, foreign_pullback


def parts(y: Any) -> tuple:
    return y if type(y) is tuple else (y,)


def has_slope(x: Any) -> bool:
    """Say whether ``x`` is a floating-point or complex number or array, traced or not."""
    if issubclass(type_under(x), int):
        return False
    dtype = dtype_of(x)
    return dtype is not None and dtype.kind in "fc"


def _placed(xs: tuple, tangents: tuple) -> tuple:
    """Return one tangent for each of ``xs``: those that there are, and zeros between them."""
    found = iter(tangents)
    return tuple([next(found) if has_slope(x) else ZERO for x in xs])


def _is_moving(xdot: Any) -> bool:
    if isinstance(xdot, AbstractZero):
        return False
    return is_traced(xdot) or bool(np.any(xdot))


def in_an_integer(foreign: Foreign, xs: tuple, i: int) -> Any:
    """Return what stands for the derivative in argument ``i``, which is no floating-point one."""
    if not is_perturbable_input(xs[i]):
        return NoTangent()
    return not_implemented(
        f"{foreign.__name__} takes {describe(xs[i])} as number {i} of its arguments, and is "
        f"evaluated where integers have no derivative, in {user_line()}.\n"
        "  give it as a float, or cr.value(...) of it where it is constant"
    )
