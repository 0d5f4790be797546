"""Functions of arrays that return tuples of arrays: what a primitive of another engine stands for.

At the bottom is a ``Leaf``, a function of the user's for one structure of its arguments. On it stand
``Pushforward``, ``Pullback`` and ``Batched``, in any order. All of them are equal where they do the
same, so that an engine may keep what it compiled for one.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ..config import user_line
from ..reverse import Pullback, Pushforward
from ..rules import array_of, call, describe, is_perturbable_input, is_traced, name_of, shape_of
from ..rules import value as value_under


class Results(NamedTuple):
    """What a function gives: the structure, and a shape and a dtype for each array in it."""

    structure: Any
    shapes: tuple[tuple[int, ...], ...]
    dtypes: tuple[np.dtype, ...]


class Leaf:
    """``f`` as a function of the numbers and arrays in its arguments.

    Parameters
    ----------
    f : callable
        The user's function.
    arity : int
        How many numbers and arrays there are.
    build : callable
        ``build(xs) -> (args, kwargs)``: the arguments of ``f`` with these in their places.
    flatten : callable
        ``flatten(y) -> (ys, structure)`` of what ``f`` returns.
    """

    __slots__ = ("__name__", "__weakref__", "arity", "build", "f", "flatten", "known")

    def __init__(self, f: Callable, arity: int, build: Callable, flatten: Callable) -> None:
        self.__name__ = name_of(f)
        self.f, self.arity, self.build, self.flatten = f, arity, build, flatten
        self.known: dict[tuple, Results] = {}

    def __repr__(self) -> str:
        return self.__name__

    def __call__(self, *xs: Any) -> tuple:
        args, kwargs = self.build(xs)
        # By the funnel: f may have rules and be no primitive.
        ys, structure = self.flatten(call(self.f, args, kwargs))
        if not is_traced((xs, ys)):
            self._note(xs, ys, structure)
        return tuple(ys)

    def _note(self, xs: tuple, ys: list, structure: Any) -> None:
        for y in ys:
            if not (is_perturbable_input(y) or getattr(y, "dtype", None) == bool or is_bool(y)):
                raise TypeError(
                    f"{self} returned {describe(y)}, and another library takes numbers and arrays "
                    "only, in tuples, lists and dicts.\n  return those that count"
                )
        dtypes = tuple([np.result_type(y) for y in ys])
        found = Results(structure, tuple(map(shape_of, ys)), dtypes)
        expected = self.known.setdefault(signature(xs), found)
        if found != expected:
            raise self.misfit(expected, found)

    def misfit(self, expected: Results, found: Results) -> TypeError:
        """Build the error for a result that is not like the one of other numbers."""
        return TypeError(
            f"{self} returned {shown(found)}, and {shown(expected)} for other numbers of the same "
            "shapes and dtypes. Another library needs to know before.\n"
            f"  let the result of {self} have one shape and dtype, whatever the values are"
        )


def signature(xs: tuple) -> tuple:
    """Return shapes and dtypes: what the results may depend on."""
    return tuple([(shape_of(x), np.result_type(x)) for x in xs])


def is_bool(y: Any) -> bool:
    return isinstance(y, bool | np.bool_)


def shown(results: Results) -> str:
    pairs = zip(results.dtypes, results.shapes, strict=True)
    return ", ".join(f"{dtype}{list(shape)}" for dtype, shape in pairs) or "nothing"


class Batched:
    """``f`` for each item along axis 0 of its arguments ``batched``; results are stacked.

    Parameters
    ----------
    f : callable
        One of the flat functions.
    batched : tuple of bool
        For each argument, whether it has one more axis.
    size : int
        How many items there are.
    """

    __slots__ = ("__weakref__", "arity", "batched", "f", "size")

    def __init__(self, f: Any, batched: tuple[bool, ...], size: int) -> None:
        self.f, self.batched, self.size = f, batched, size
        self.arity = len(batched)

    def __eq__(self, other: object) -> bool:
        return type(other) is Batched and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def _key(self) -> tuple:
        return self.f, self.batched, self.size

    def __repr__(self) -> str:
        return f"Batched({self.f!r})"

    def __call__(self, *xs: Any) -> tuple:
        rows = [
            self.f(*[x[i] if batched else x for x, batched in zip(xs, self.batched, strict=True)])
            for i in range(self.size)
        ]
        return tuple([array_of(list(column)) for column in zip(*rows, strict=True)])


def is_empty(f: Any) -> bool:
    """Say whether ``f`` maps over no items at all, so that there is nothing to call."""
    if isinstance(f, Batched) and f.size == 0:
        return True
    return isinstance(f, Batched | Pullback | Pushforward) and is_empty(f.f)


def plain(x: np.ndarray) -> Any:
    """Return a copy, and of an array of no axes the number in it, which NumPy code expects."""
    return x[()] if x.ndim == 0 else x.copy()


def leaf_of(f: Any) -> Leaf:
    """Return the function at the bottom."""
    while not isinstance(f, Leaf):
        f = f.f
    return f


def bottom_line(f: Any) -> str:
    """Return what an error says of where ``f`` comes from."""
    return f"{leaf_of(f)}, in {user_line()}"


__all__ = ["Batched", "Leaf", "Results", "is_empty", "leaf_of", "plain", "value_under"]
