"""Functions of arrays that return tuples of arrays: what a primitive of another engine stands for.

At the base is a ``FlatFunction``, a function of the user for one structure of its arguments. On
it stand ``Push``, ``Pull`` and ``Batched``, in any order. They are equal where they do the same, so
that an engine may keep what it compiled for one.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ..batching import vmap
from ..batching.batched import is_batched
from ..config import ExchangeError, user_line
from ..forward.jvp import FORWARD
from ..reverse.vjp import REVERSE, for_user, value_and_pull
from ..rules import (
    NoTangent,
    Traced,
    all_settled,
    array_of,
    as_structured,
    call,
    describe,
    dtype_of,
    frule,
    is_perturbable_input,
    name_of,
    rrule,
    shape_of,
)


class Results(NamedTuple):
    """Structure of a function's results, with a shape and a dtype for each array in it."""

    structure: Any
    shapes: tuple[tuple[int, ...], ...]
    dtypes: tuple[np.dtype, ...]

    def is_like(self, other: "Results") -> bool:
        """Say whether both are as many real, complex or whole numbers in the same structure."""
        kinds = [[dtype.kind for dtype in results.dtypes] for results in (self, other)]
        return self[:2] == other[:2] and kinds[0] == kinds[1]

    def __str__(self) -> str:
        pairs = zip(self.dtypes, self.shapes, strict=True)
        return ", ".join(f"{dtype}{list(shape)}" for dtype, shape in pairs) or "nothing"


class FlatFunction:
    """``f`` as a function of the numbers and arrays in its arguments.

    Parameters
    ----------
    f : callable
        The user's function.
    build : callable
        ``build(xs) -> (args, kwargs)``: the arguments of ``f`` with ``xs`` in their places.
    flatten : callable
        ``flatten(y) -> (ys, structure)`` of what ``f`` returns.
    """

    __slots__ = ("__name__", "__weakref__", "build", "f", "flatten", "known")

    def __init__(self, f: Callable, build: Callable, flatten: Callable) -> None:
        self.__name__ = name_of(f)
        self.f, self.build, self.flatten = f, build, flatten
        # By shapes and dtypes of the arguments.
        self.known: dict[tuple, Results] = {}

    def __repr__(self) -> str:
        return self.__name__

    def __call__(self, *xs: Any) -> tuple:
        f = self.f
        args, kwargs = self.build(xs)
        # By the funnel, where it has rules: it may have some and be no primitive.
        ruled = frule.methods_of(f) is not None or rrule.methods_of(f) is not None
        y = call(f, args, kwargs) if ruled else f(*args, **kwargs)
        ys, structure = self.flatten(all_settled(y))  # buffers of an adopted module
        # A value of one item of a batch has that item's shape and dtype.
        if not any(isinstance(y, Traced) and not is_batched(y) for y in (*ys, *xs)):
            self._note(xs, ys, structure)
        return tuple(ys)

    def _note(self, xs: tuple, ys: list, structure: Any) -> None:
        for y in ys:
            if not is_perturbable_input(y) and dtype_of(y) not in (bool,):
                raise ExchangeError(
                    f"{self} returned {describe(y)}, and another library takes numbers and arrays "
                    "only, in tuples, lists and dicts.\n  return those that count"
                )
        dtypes = tuple([getattr(y, "dtype", None) or np.result_type(y) for y in ys])
        found = Results(structure, tuple(map(shape_of, ys)), dtypes)
        expected = self.known.setdefault(tuple([(x.shape, x.dtype) for x in xs]), found)
        if not found.is_like(expected):
            raise ExchangeError(
                f"{self} returned {found}, and {expected} for other numbers of the same shapes and "
                f"dtypes, in {user_line()}. Another library needs to know before.\n"
                "  let the result have one shape and dtype, whatever the values are"
            )


class Derivative:
    """A derivative of ``f`` in its arguments ``argnums``, of its results ``outs``."""

    __slots__ = ("__weakref__", "argnums", "f", "outs")

    def __init__(self, f: Any, argnums: tuple[int, ...], outs: tuple[int, ...]) -> None:
        self.f, self.argnums, self.outs = f, argnums, outs

    def _key(self) -> tuple:
        return self.argnums, self.outs, self.f

    def __eq__(self, other: object) -> bool:
        return isinstance(other, type(self)) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash((type(self), *self._key()))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.f!r})"

    def split(self, count: int) -> int:
        """Return how many of so many arguments come before tangents or cotangents."""
        raise NotImplementedError

    def restricted(self, xs: tuple) -> Callable:
        """Return ``f`` as a function of what moves, to the results that count."""
        f, argnums, outs = self.f, self.argnums, self.outs

        def of_moving(*moving: Any) -> Any:
            whole = list(xs)
            for i, x in zip(argnums, moving, strict=True):
                whole[i] = x
            ys = f(*whole)
            return ys[outs[0]] if len(outs) == 1 else tuple([ys[k] for k in outs])

        return of_moving


class Push(Derivative):
    """``(*xs, *xdots) -> ydots``, with tangents for ``argnums``, of the results ``outs``."""

    __slots__ = ()

    def split(self, count: int) -> int:
        return count - len(self.argnums)

    def __call__(self, *args: Any) -> tuple:
        n = self.split(len(args))
        moving = [args[i] for i in self.argnums]
        tangents = NoTangent(), *args[n:]
        y, ydot = FORWARD.frule_via_ad(tangents, self.restricted(args[:n]), *moving)
        ydot = as_structured(y, ydot)
        return (ydot,) if len(self.outs) == 1 else ydot


class Pull(Derivative):
    """``(*xs, *ybars) -> xbars``, with cotangents for ``outs``, of the arguments ``argnums``.

    With ``transpose`` cotangents are those of JAX and autograd, by the transpose of the Jacobian;
    ours are by its adjoint. Of complex numbers the ones are the conjugates of the others.
    """

    __slots__ = ("transpose",)

    def __init__(
        self, f: Any, argnums: tuple[int, ...], outs: tuple[int, ...], transpose: bool = False
    ) -> None:
        super().__init__(f, argnums, outs)
        self.transpose = transpose

    def _key(self) -> tuple:
        return *super()._key(), self.transpose

    def __call__(self, *args: Any) -> tuple:
        n = self.split(len(args))
        return self.at(args[:n])(args[n:], True)

    def at(self, xs: tuple) -> Callable[[tuple, bool], tuple]:
        """Return the pullback at a point: of cotangents, and whether these are the last."""
        moving = [xs[i] for i in self.argnums]
        _, pull = value_and_pull(
            REVERSE, self.restricted(xs), tuple(moving), {}, range(len(moving))
        )

        def pull_back(ybars: tuple, last: bool) -> tuple:
            ybars = tuple(map(conjugate, ybars)) if self.transpose else ybars
            xbars = pull(ybars[0] if len(ybars) == 1 else ybars, last)
            found = map(for_user, moving, xbars)
            return tuple(map(conjugate, found) if self.transpose else found)

        return pull_back

    def split(self, count: int) -> int:
        return count - len(self.outs)


def conjugate(x: Any) -> Any:
    """Return the conjugate of a complex number or array; ``x`` itself where it is real."""
    dtype = dtype_of(x)
    return np.conj(x) if dtype is not None and dtype.kind == "c" else x


class Batched:
    """``f`` for all items along axis 0 of its arguments ``batched``, by ``vmap``.

    Parameters
    ----------
    f : callable
        One of the flat functions.
    batched : tuple of bool
        For each argument, whether it has one more axis.
    size : int
        How many items there are.
    """

    __slots__ = ("__weakref__", "batched", "f", "size")

    def __init__(self, f: Any, batched: tuple[bool, ...], size: int) -> None:
        self.f, self.batched, self.size = f, batched, size

    def _key(self) -> tuple:
        return self.batched, self.size, self.f

    def __eq__(self, other: object) -> bool:
        return type(other) is Batched and self._key() == other._key()

    def __hash__(self) -> int:
        return hash((Batched, *self._key()))

    def __repr__(self) -> str:
        return f"Batched({self.f!r})"

    def __call__(self, *xs: Any) -> tuple:
        f = self.f
        n = f.split(len(xs)) if isinstance(f, Pull) else 0
        if not n or any(self.batched[:n]) or not self.size:
            axes = tuple([0 if batched else None for batched in self.batched])
            return tuple(vmap(f, axes, axis_size=self.size)(*xs))
        pull = f.at(xs[:n])  # one evaluation for all cotangents
        rows = [
            pull(
                tuple([x[i] if batched else x for x, batched in zip(xs[n:], self.batched[n:])]),
                False,
            )
            for i in range(self.size)
        ]
        return tuple([array_of(list(column)) for column in zip(*rows, strict=True)])


def is_empty(f: Any) -> bool:
    """Say whether ``f`` maps over no items at all, so that there is nothing to call."""
    while not isinstance(f, FlatFunction):
        if isinstance(f, Batched) and f.size == 0:
            return True
        f = f.f
    return False


def base_of(f: Any) -> FlatFunction:
    """Return the flat function at the base."""
    while not isinstance(f, FlatFunction):
        f = f.f
    return f


def plain(x: np.ndarray) -> Any:
    """Return a copy, and of an array of no axes the number in it, which NumPy code expects."""
    return x[()] if x.ndim == 0 else x.copy()
