"""The pushforward and the pullback of a function, as functions: what other engines can be given.

An engine that cannot read rules can call functions. ``Pushforward(f)`` and ``Pullback(f)`` are
plain functions of numbers and arrays, and have derivatives themselves: all orders, in all modes,
are made of the two.
"""

import inspect
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from .config import ArgumentTypeError
from .config.tracebacks import door
from .forward import jvp
from .reverse import vjp
from .rules import name_of
from .rules.annotations import Function
from .rules.signatures import POSITIONAL, parameters


class Count(NamedTuple):
    """``known + times * m``, where ``m`` is the number of results of the function at the bottom."""

    known: int
    times: int

    def plus(self, other: "Count") -> "Count":
        return Count(self.known + other.known, self.times + other.times)


class _Derivative:
    """A derivative of ``f`` as a function; equal, and of one hash, where it is the same one."""

    __slots__ = ("__weakref__", "arity", "f", "inputs", "width")

    f: Callable
    # How many arguments f takes, and how many arguments and results there are here; None where f
    # does not tell its arguments.
    inputs: Count | None
    arity: Count | None
    width: Count | None

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, _Derivative)
            and type(self) is type(other)
            and (self.f, self.inputs) == (other.f, other.inputs)
        )

    def __hash__(self) -> int:
        return hash((type(self), self.f, self.inputs))

    @property
    def __name__(self) -> str:
        return f"{type(self).__name__}({name_of(self.f)})"

    def __repr__(self) -> str:
        return self.__name__


class Pushforward(_Derivative):
    """The pushforward of ``f`` as a function: ``(*xs, *xdots) -> ydot``.

    It can be called anywhere, pickled where ``f`` can, and differentiated again:
    ``Pushforward(Pullback(f))`` is forward over reverse. It is linear in the tangents.

    Shapes: there is one tangent for each argument, of its shape and structure, and the result has
    those of ``f(*xs)``.

    Parameters
    ----------
    f : callable
        Takes numbers, arrays and containers of these, by position.
    arity : int, optional
        How many arguments ``f`` takes; without it as many as its signature demands. Only a
        ``Pullback`` of the result needs to know.

    Raises
    ------
    TypeError
        When called, if there is not one tangent for each argument.
    TangentError
        When called, if a tangent does not fit its argument.

    Examples
    --------
    >>> import numpy as np
    >>> import chainrules as cr
    >>> push = cr.Pushforward(np.sin)
    >>> push(0.0, 2.0)
    np.float64(2.0)
    >>> cr.Pushforward(push)(0.0, 2.0, 1.0, 1.0)
    np.float64(1.0)
    """

    __slots__ = ()

    def __init__(self, f: Callable, *, arity: int | None = None) -> None:
        self.f = _callable("Pushforward", f)
        self.inputs = n = arity_of(f, arity)
        self.arity = None if n is None else n.plus(n)
        self.width = width_of(f)

    @door
    def __call__(self, *args: Any) -> Any:
        """Return the tangent of ``f(*xs)``, where ``args`` are ``(*xs, *xdots)``."""
        n, left = divmod(len(args), 2)
        if left:
            raise ArgumentTypeError(
                f"{self} got {len(args)} arguments, which are not one tangent for each argument.\n"
                f"  write {self}(*xs, *xdots), with np.zeros_like(x) for one that does not move"
            )
        return jvp(self.f, args[:n], args[n:])[1]


class Pullback(_Derivative):
    """The pullback of ``f`` as a function: ``(*xs, *ybars) -> xbars``.

    It can be called anywhere, pickled where ``f`` can, and differentiated again:
    ``Pushforward(Pullback(f))`` is forward over reverse. It is linear in the cotangents.

    Shapes: where ``f`` returns a tuple there is one cotangent for each of its entries, else one.
    The result is a tuple with one for each argument.

    Parameters
    ----------
    f : callable
        Takes numbers, arrays and containers of these, by position.
    arity : int, optional
        How many arguments ``f`` takes; without it as many as its signature demands, so that
        arguments with defaults keep these.

    Raises
    ------
    TypeError
        If nothing says how many arguments ``f`` takes; when called, if the number of cotangents
        is not that of the results.
    TangentError
        When called, if a cotangent does not fit its result.

    Examples
    --------
    >>> import numpy as np
    >>> import chainrules as cr
    >>> pull = cr.Pullback(lambda a, x: np.sum(a * x**2))
    >>> pull(3.0, np.ones(2), 1.0)
    (np.float64(2.0), array([6., 6.]))
    >>> cr.Pushforward(pull)(3.0, np.ones(2), 1.0, 1.0, np.zeros(2), 0.0)
    (np.float64(0.0), array([2., 2.]))
    """

    __slots__ = ()

    inputs: Count
    arity: Count

    def __init__(self, f: Callable, *, arity: int | None = None) -> None:
        self.f = _callable("Pullback", f)
        n, results = arity_of(f, arity), width_of(f)
        if n is None or results is None:
            raise ArgumentTypeError(
                f"Pullback cannot tell which arguments of {name_of(f)} come before the cotangents: "
                "its signature does not say how many there are.\n"
                "  write Pullback(f, arity=...)"
            )
        self.inputs = self.width = n
        self.arity = n.plus(results)

    @door
    def __call__(self, *args: Any) -> tuple:
        """Return the cotangents, where ``args`` are ``(*xs, *ybars)``."""
        split = self._split(len(args))
        ybars = args[split:]
        y, pullback = vjp(self.f, *args[:split])
        several = type(y) is tuple
        if len(ybars) != (len(y) if several else 1):
            raise self._misfit(len(args), len(y) if several else 1)
        return pullback(ybars if several else ybars[0])

    def _split(self, total: int) -> int:
        """Return how many of so many arguments are those of ``f``."""
        times = self.arity.times
        m, left = divmod(total - self.arity.known, times) if times else (0, 0)
        if m < 0 or left:
            raise self._misfit(total, None)
        return self.inputs.known + self.inputs.times * m

    def _misfit(self, total: int, expected: int | None) -> TypeError:
        results = "" if expected is None else f", of which there are {expected}"
        return TypeError(
            f"{self} got {total} arguments, which are not those of {name_of(self.f)} and a "
            f"cotangent for each of its results{results}.\n"
            f"  write {self}(*xs, *ybars); arity=... where arguments have defaults"
        )


def arity_of(f: Function, given: int | None) -> Count | None:
    """Return how many arguments ``f`` demands by position; None where it does not tell."""
    if given is not None:
        return Count(given, 0)
    if isinstance(f, _Derivative):
        return f.arity
    if isinstance(f, np.ufunc):
        return Count(f.nin, 0)
    known = parameters(f)
    if known is None or any(p.kind is inspect.Parameter.VAR_POSITIONAL for p in known):
        return None
    return Count(sum(p.kind in POSITIONAL and p.default is p.empty for p in known), 0)


def width_of(f: Function) -> Count | None:
    """Return how many results ``f`` gives: of a function at the bottom that is what ``m`` is."""
    return f.width if isinstance(f, _Derivative) else Count(0, 1)


def _callable(name: str, f: Function) -> Any:
    if not callable(f):
        raise ArgumentTypeError(f"{name} takes a function, not {type(f).__name__}.")
    return f
