"""The real coordinates of a nested value: a complex number has two, a string has none.

Everything that the kit differences, compares or pairs goes through one vector of coordinates,
so tangents of any form (a ``Tangent``, a tuple, a thunk, a zero) meet in one place.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from ..config import ArgumentValueError
from ..rules import AbstractZero, NotImplementedTangent, children
from ..rules.shapes import dtype_of
from ..rules.tangents.structural import child_tangents
from .plan import Branch, Fixed, Leaf, Node, join, label

__all__ = ["Coordinates", "to_vec"]


class Coordinates:
    """Map between ``x`` and the flat vector of its real coordinates.

    Parameters
    ----------
    x : Any
        A number, an array, or a container of these.
    tangent : Any, optional
        Chooses the numbers that count: those whose tangent is a number or an array, integers
        too. Without it, every float and complex number counts and no integer does.

    Attributes
    ----------
    size : int
        The number of real coordinates.
    leaves : list of Leaf
        The numbers and arrays that count.

    Examples
    --------
    >>> import numpy as np
    >>> space = Coordinates({"a": 1.0, "b": (np.array([2.0, 3.0]), "text")})
    >>> space.size, space.name(2)
    (3, "['b'][0][1]")
    >>> space.point(np.array([7.0, 8.0, 9.0]))
    {'a': 7.0, 'b': (array([8., 9.]), 'text')}
    """

    __slots__ = ("leaves", "root", "size", "x")

    def __init__(self, x: Any, tangent: Any = None) -> None:
        self.x = x
        self.leaves: list[Leaf] = []
        self.root = self._plan(x, tangent, tangent is not None, "")
        self.size = self.leaves[-1].stop if self.leaves else 0

    def _plan(self, x: Any, tangent: Any, chosen: bool, path: str) -> Node:
        if chosen and isinstance(tangent, AbstractZero):
            return Fixed(x)
        parts = children(x)
        if parts is not None:
            tangents = child_tangents(x, tangent) if chosen else [None] * len(parts.keys)
            nodes = [
                self._plan(value, part, chosen, path + label(x, key))
                for key, value, part in zip(parts.keys, parts.values, tangents, strict=True)
            ]
            return Branch(x, parts, nodes)
        dtype = dtype_of(x)
        integer = isinstance(x, int) or (dtype is not None and dtype.kind in "iu")
        if dtype is None or not (dtype.kind in "fc" or integer) or (integer and not chosen):
            return Fixed(x)
        leaf = Leaf(x, dtype, self.leaves[-1].stop if self.leaves else 0, path)
        self.leaves.append(leaf)
        return leaf

    def values(self) -> np.ndarray:
        """The coordinates of ``x`` itself."""
        return join([leaf.pack(leaf.x) for leaf in self.leaves])

    def pack(self, t: Any, part: Callable[[Any], Any] | None = None) -> np.ndarray:
        """The coordinates of a tangent of ``x``, or of another value with its structure.

        ``part`` is applied to every number or array first (``np.imag`` for a complex step).
        """
        pieces = self.split(t)
        if part is not None:
            pieces = [part(piece) for piece in pieces]
        return join([leaf.pack(piece) for leaf, piece in zip(self.leaves, pieces, strict=True)])

    def missing(self, t: Any) -> np.ndarray:
        """Return the mask of coordinates of the tangent ``t`` marked ``not_implemented``."""
        mask = np.zeros(self.size, bool)
        for leaf, piece in zip(self.leaves, self.split(t), strict=True):
            mask[leaf.start : leaf.stop] = isinstance(piece, NotImplementedTangent)
        return mask

    def split(self, t: Any) -> list:
        """The tangent of each of the ``leaves``, taken out of a tangent of ``x``."""
        return list(self.root.split(t))

    def point(self, vector: np.ndarray, *, keep_dtype: bool = False) -> Any:
        """The value with these coordinates; as precise as ``vector`` unless ``keep_dtype``."""
        return self.assemble(leaf.number(vector, keep_dtype) for leaf in self.leaves)

    def assemble(self, values: Iterable[Any]) -> Any:
        """The value with these numbers and arrays (traced ones, say) for its ``leaves``."""
        return self.root.build(iter(values))

    def tangent(self, vector: np.ndarray, *, keep_dtype: bool = True) -> Any:
        """The tangent with these coordinates: numbers, arrays, and ``Tangent`` for containers."""
        return self.root.tangent(iter([leaf.number(vector, keep_dtype) for leaf in self.leaves]))

    def tangents(self, vector: np.ndarray, *, keep_dtype: bool = True) -> tuple:
        """Like ``tangent``, but a plain tuple for the entries of a plain tuple of arguments."""
        numbers = iter([leaf.number(vector, keep_dtype) for leaf in self.leaves])
        return tuple(node.tangent(numbers) for node in self.root.nodes)

    def name(self, i: int) -> str:
        """The entry that coordinate ``i`` belongs to, as one would write it in Python."""
        leaf = next(leaf for leaf in self.leaves if leaf.start <= i < leaf.stop)
        return leaf.path + leaf.name(i - leaf.start)


def to_vec(tree: Any) -> tuple[np.ndarray, Callable[[np.ndarray], Any]]:
    """Flatten a nested value into a real vector, with the way back.

    Parameters
    ----------
    tree : Any
        A number, an array, or a container of these. Complex numbers become two real ones; of a
        sparse array only the stored entries are taken; integers, flags and strings stay put.

    Returns
    -------
    vector : numpy.ndarray
        Never memory of ``tree``.
    unflatten : callable
        From such a vector to a value with the structure and the dtypes of ``tree``.

    Examples
    --------
    >>> vector, unflatten = to_vec({"w": 1.0 + 2.0j, "name": "layer", "b": [3.0, 4]})
    >>> vector
    array([1., 2., 3.])
    >>> unflatten(2 * vector)
    {'w': (2+4j), 'name': 'layer', 'b': [6.0, 4]}
    """
    space = Coordinates(tree)

    def unflatten(vector: np.ndarray) -> Any:
        vector = np.array(vector, dtype=np.result_type(np.asarray(vector).dtype, float))
        if vector.shape != (space.size,):
            raise ArgumentValueError(f"the value has {space.size} coordinates, not {vector.shape}.")
        return space.point(vector, keep_dtype=True)

    return np.array(space.values()), unflatten
