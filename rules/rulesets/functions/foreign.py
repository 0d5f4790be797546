"""Functions that are evaluated elsewhere: by another library, or by another process.

One class, with one frule and one rrule for all of them. Where nothing further out is
differentiated, the other side's own ``vjp`` and ``jvp`` answer at once; a derivative of that
derivative is again a foreign function, which ``push`` or ``pull`` makes. So every order is there.
"""

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

    It takes numbers and arrays by position and returns a tuple of these. Only floating-point and
    complex ones have tangents and cotangents; of integers and all else there are none in what
    the functions below take and return.

    Parameters
    ----------
    name : str
        What errors call it.
    run : callable
        ``run(*xs) -> ys``.
    vjp : callable
        ``vjp(*xs) -> (ys, pullback)`` with ``pullback(*ybars) -> xbars``; it may be called many
        times.
    jvp : callable
        ``jvp(xs, xdots) -> (ys, ydots)``.
    push, pull : callable, optional
        Without arguments: return the ``Foreign`` of ``(*xs, *xdots) -> ydots`` and that of
        ``(*xs, *ybars) -> xbars``, which a derivative of a derivative asks for.

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
    ...     run=lambda x: (math.sin(x),),
    ...     vjp=lambda x: ((math.sin(x),), lambda ybar: (math.cos(x) * ybar,)),
    ...     jvp=lambda xs, xdots: ((math.sin(*xs),), (math.cos(*xs) * xdots[0],)),
    ... )
    >>> cr.grad(lambda x: 3 * sin(x)[0])(0.0)
    3.0
    """

    __slots__ = ("__name__", "_pulled", "_pushed", "jvp", "pull", "push", "run", "vjp")

    def __init__(
        self,
        name: str,
        run: Callable[..., tuple],
        vjp: Callable[..., tuple[tuple, Callable]],
        jvp: Callable[[tuple, tuple], tuple[tuple, tuple]],
        push: "Callable[[], Foreign] | None" = None,
        pull: "Callable[[], Foreign] | None" = None,
    ) -> None:
        self.__name__ = name
        self.run, self.vjp, self.jvp, self.push, self.pull = run, vjp, jvp, push, pull
        self._pushed: Foreign | None = None
        self._pulled: Foreign | None = None

    def __call__(self, *xs: Any) -> Any:
        level = innermost(xs)
        return self.run(*xs) if level is None else level.call(self, xs, {})

    def __repr__(self) -> str:
        return f"Foreign({self.__name__})"

    def pushed(self) -> "Foreign":
        """Return the pushforward, as a foreign function. Made once, or by chance twice: alike."""
        if self._pushed is None:
            self._pushed = _made(self, self.push)
        return self._pushed

    def pulled(self) -> "Foreign":
        """Return the pullback, as a foreign function."""
        if self._pulled is None:
            self._pulled = _made(self, self.pull)
        return self._pulled


def _made(foreign: Foreign, make: "Callable[[], Foreign] | None") -> Foreign:
    if make is None:
        raise MissingDerivativeError(
            f"{foreign.__name__} is evaluated elsewhere and has first derivatives, and no second "
            f"ones, in {user_line()}.\n  give push=... and pull=... to its Foreign"
        )
    return make()


LEAVES.add(Foreign)  # what it holds are no inputs


@frule.register(instances(Foreign))
def foreign_frule(tangents, foreign, *xs):
    dots = [unthunk(xdot) for xdot in tangents[1:]]
    whole = [i for i, xdot in enumerate(dots) if not has_slope(xs[i]) and _moves(xdot)]
    dots = tuple([as_structured(x, xdot) for x, xdot in zip(xs, dots) if has_slope(x)])
    if is_traced((xs, dots)):
        ys, found = foreign(*xs), foreign.pushed()(*xs, *dots)
    else:
        ys, found = foreign.jvp(xs, dots)
    if whole:
        return ys, tuple([in_an_integer(foreign, xs, whole[0]) for _ in ys])
    return ys, _placed(ys, found)


@rrule.register(instances(Foreign))
def foreign_rrule(foreign, *xs):
    if is_traced(xs):
        ys, fused = foreign(*xs), None
    else:
        ys, fused = foreign.vjp(*xs)

    def foreign_pullback(ybar):
        pairs = zip(ys, child_tangents(ys, ybar))
        bars = tuple([as_structured(y, part) for y, part in pairs if has_slope(y)])
        again = fused is None or is_traced(bars)
        found = foreign.pulled()(*xs, *bars) if again else fused(*bars)
        return NoTangent(), *[
            bar if has_slope(x) else in_an_integer(foreign, xs, i)
            for i, (x, bar) in enumerate(zip(xs, _placed(xs, found)))
        ]

    return ys, foreign_pullback


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


def _moves(xdot: Any) -> bool:
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
