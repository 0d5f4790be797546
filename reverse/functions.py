"""The pushforward and the pullback of a function, as functions: what other engines can be given.

An engine that cannot read rules can call functions. ``Pushforward(f)`` and ``Pullback(f)`` are
plain functions of numbers and arrays, and have derivatives themselves: all orders, in all modes,
are made of the two.
"""

import inspect
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ..forward import jvp
from ..rules import call, name_of
from ..rules.shapes import dtype_of
from ..rules.signatures import POSITIONAL, parameters
from .vjp import vjp

Places = tuple[int, ...] | None


class Count(NamedTuple):
    """``known + times * m``, where ``m`` is the number of results of the function at the bottom."""

    known: int
    times: int

    def plus(self, other: "Count") -> "Count":
        return Count(self.known + other.known, self.times + other.times)


class _Derivative:
    """A derivative of ``f`` as a function; equal, and of one hash, where it is the same one."""

    __slots__ = ("__weakref__", "argnums", "arity", "f", "outs", "width")

    f: Callable
    argnums: Places
    outs: Places
    # How many arguments it takes and results it gives; None where f does not tell its arguments.
    arity: Count | None
    width: Count | None

    def _key(self) -> tuple:
        return self.f, self.argnums, self.outs, self.arity

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self._key() == other._key()  # type: ignore

    def __hash__(self) -> int:
        return hash((type(self), *self._key()))

    @property
    def __name__(self) -> str:
        return f"{type(self).__name__}({name_of(self.f)})"

    def __repr__(self) -> str:
        return self.__name__

    def _restricted(self, xs: tuple) -> tuple[Callable, tuple]:
        """Return ``f`` as a function of what moves, to the outputs that count; and these inputs."""
        if self.argnums is None and self.outs is None:
            return self.f, xs
        f, outs = self.f, self.outs
        argnums = tuple(range(len(xs))) if self.argnums is None else self.argnums

        def restricted(*moving: Any) -> Any:
            whole = list(xs)
            for i, x in zip(argnums, moving, strict=True):
                whole[i] = x
            # By the funnel: f may have rules and be no primitive.
            y = call(f, tuple(whole), {})
            return y if outs is None else tuple([y[k] for k in outs])

        return restricted, tuple([xs[i] for i in argnums])


class Pushforward(_Derivative):
    """The pushforward of ``f`` as a function: ``(*xs, *xdots) -> ydot``.

    It can be called anywhere, pickled where ``f`` can, and differentiated again:
    ``Pushforward(Pullback(f))`` is forward over reverse. It is linear in the tangents.

    Parameters
    ----------
    f : callable
        Takes numbers, arrays and containers of these, by position.
    argnums : tuple of int, optional
        Which arguments move, and have a tangent after the arguments. All, without it.
    outs : tuple of int, optional
        Which entries of the tuple that ``f`` returns to push; the result is then a tuple.
    arity : int, optional
        How many arguments ``f`` takes; without it as many as its signature demands. Only a
        ``Pullback`` of the result needs to know.

    Raises
    ------
    TypeError
        When called, if there is not one tangent for each argument.

    Examples
    --------
    >>> import numpy as np
    >>> import chainrules as cr
    >>> push = cr.Pushforward(np.sin)
    >>> push(0.0, 2.0)
    2.0
    >>> cr.Pushforward(push)(0.0, 2.0, 1.0, 1.0)
    1.0
    """

    __slots__ = ()

    def __init__(
        self,
        f: Callable,
        *,
        argnums: tuple[int, ...] | None = None,
        outs: tuple[int, ...] | None = None,
        arity: int | None = None,
    ) -> None:
        self.f, self.argnums, self.outs = _callable(self, f), _places(argnums), _places(outs)
        n = arity_of(f, arity)
        moving = n if argnums is None else Count(len(argnums), 0)
        self.arity = None if n is None or moving is None else n.plus(moving)
        self.width = width_of(f, outs)

    def __call__(self, *args: Any) -> Any:
        """Return the tangent of ``f(*xs)``, where ``args`` are ``(*xs, *xdots)``."""
        n = len(args) // 2 if self.argnums is None else len(args) - len(self.argnums)
        if n < 0 or (self.argnums is None and len(args) != 2 * n):
            raise TypeError(
                f"{self} got {len(args)} arguments, which are not one tangent for each argument.\n"
                f"  write {self}(*xs, *xdots); np.zeros_like(x) for one that does not move"
            )
        f, moving = self._restricted(args[:n])
        return jvp(f, moving, args[n:])[1]


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
    argnums : tuple of int, optional
        For which arguments to return cotangents. For all, without it.
    outs : tuple of int, optional
        Which entries of the tuple that ``f`` returns have a cotangent after the arguments.
    arity : int, optional
        How many arguments ``f`` takes; without it as many as its signature demands, so that
        arguments with defaults keep these.
    transpose : bool, optional
        Whether cotangents are those of JAX and autograd, by the transpose of the Jacobian. Ours
        are by its adjoint: the conjugates. Real ones are the same.

    Raises
    ------
    TypeError
        If nothing says how many arguments ``f`` takes; when called, if the number of cotangents
        is not that of the results.

    Examples
    --------
    >>> import numpy as np
    >>> import chainrules as cr
    >>> pull = cr.Pullback(lambda a, x: a * np.sin(x))
    >>> pull(3.0, 0.0, 1.0)
    (0.0, 3.0)
    >>> cr.Pushforward(pull)(3.0, 0.0, 1.0, 1.0, 0.0, 0.0)
    (0.0, 1.0)
    """

    __slots__ = ("inputs", "transpose")

    def __init__(
        self,
        f: Callable,
        *,
        argnums: tuple[int, ...] | None = None,
        outs: tuple[int, ...] | None = None,
        arity: int | None = None,
        transpose: bool = False,
    ) -> None:
        self.f, self.argnums, self.outs = _callable(self, f), _places(argnums), _places(outs)
        self.transpose = transpose
        n, results = arity_of(f, arity), width_of(f, outs)
        if n is None or results is None:
            raise TypeError(
                f"Pullback cannot tell which arguments of {name_of(f)} come before the cotangents: "
                "its signature does not say how many there are.\n"
                "  write Pullback(f, arity=...)"
            )
        self.inputs = n
        self.arity = n.plus(results)
        self.width = n if argnums is None else Count(len(argnums), 0)

    def _key(self) -> tuple:
        return *super()._key(), self.transpose

    def __call__(self, *args: Any) -> tuple:
        """Return the cotangents, where ``args`` are ``(*xs, *ybars)``."""
        split = self._split(len(args))
        f, moving = self._restricted(args[:split])
        ybars = args[split:]
        y, pullback = vjp(f, *moving)
        expected = len(y) if type(y) is tuple else 1
        if len(ybars) != expected:
            raise self._misfit(len(args), split, expected)
        if self.transpose:
            ybars = tuple(map(conjugate, ybars))
        xbars = pullback(ybars if type(y) is tuple else ybars[0])
        return tuple(map(conjugate, xbars)) if self.transpose else xbars

    def _split(self, total: int) -> int:
        """Return how many of so many arguments are those of ``f``."""
        assert self.arity is not None
        times = self.arity.times
        m, left = divmod(total - self.arity.known, times) if times else (0, 0)
        if m < 0 or left:
            raise self._misfit(total, self.inputs.known, "them")
        return self.inputs.known + self.inputs.times * m

    def _misfit(self, total: int, split: int, expected: Any) -> TypeError:
        return TypeError(
            f"{self} got {total} arguments: {split} of {name_of(self.f)}, and {total - split} "
            f"cotangents for {expected}.\n"
            f"  write {self}(*xs, *ybars), with a cotangent for each result; arity=... where "
            "arguments have defaults"
        )


def conjugate(x: Any) -> Any:
    """Return the conjugate of a complex number or array; ``x`` itself where it is real."""
    dtype = dtype_of(x)
    return np.conj(x) if dtype is not None and dtype.kind == "c" else x


def arity_of(f: Any, given: int | None = None) -> Count | None:
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


def width_of(f: Any, outs: Places) -> Count | None:
    """Return how many results ``f`` gives: of a function at the bottom that is what ``m`` is."""
    if outs is not None:
        return Count(len(outs), 0)
    return f.width if isinstance(f, _Derivative) else Count(0, 1)


def _places(places: tuple[int, ...] | None) -> Places:
    return None if places is None else tuple(places)


def _callable(derivative: Any, f: Any) -> Any:
    if not callable(f):
        raise TypeError(f"{type(derivative).__name__} takes a function, not {type(f).__name__}.")
    return f
