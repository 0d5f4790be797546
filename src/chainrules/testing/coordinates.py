"""The real coordinates of a nested value: a complex number has two, a string has none.

Everything that the kit differences, compares or pairs goes through one vector of coordinates,
so tangents of any form (a ``Tangent``, a tuple, a thunk, a zero) meet in one place.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np

from ..rules import (
    AbstractZero,
    NoTangent,
    NotImplementedTangent,
    Tangent,
    children,
    unthunk,
)
from ..rules.containers import Children
from ..rules.project import dtype_of, structural
from ..rules.tangents import child_tangents

__all__ = ["Coordinates", "Leaf", "is_sparse", "label", "to_vec"]


class Coordinates:
    """Where the numbers of ``x`` are, and how to build its like from a vector of them.

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
        """Which coordinates of the tangent ``t`` are marked ``not_implemented``."""
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

    def tangent(self, vector: np.ndarray) -> Any:
        """The tangent with these coordinates: numbers, arrays, and ``Tangent`` for containers."""
        return self.root.tangent(iter([leaf.number(vector, True) for leaf in self.leaves]))

    def tangents(self, vector: np.ndarray) -> tuple:
        """Like ``tangent``, but a plain tuple for the entries of a plain tuple of arguments."""
        numbers = iter([leaf.number(vector, True) for leaf in self.leaves])
        return tuple(node.tangent(numbers) for node in self.root.nodes)

    def name(self, i: int) -> str:
        """The entry that coordinate ``i`` belongs to, as one would write it in Python."""
        leaf = next(leaf for leaf in self.leaves if leaf.start <= i < leaf.stop)
        return leaf.path + leaf.name(i - leaf.start)


class Node:
    """A part of the plan. Numbers are handed through in the order of ``Coordinates.leaves``."""

    __slots__ = ("nodes", "x")
    nodes: list[Node]

    def __init__(self, x: Any) -> None:
        self.x, self.nodes = x, []

    def split(self, t: Any) -> Iterator[Any]:
        raise NotImplementedError

    def build(self, numbers: Iterator[Any]) -> Any:
        raise NotImplementedError

    def tangent(self, numbers: Iterator[Any]) -> Any:
        raise NotImplementedError


class Fixed(Node):
    """What has no coordinates, or none that count."""

    __slots__ = ()

    def split(self, t: Any) -> Iterator[Any]:
        return iter(())

    def build(self, numbers: Iterator[Any]) -> Any:
        return self.x

    def tangent(self, numbers: Iterator[Any]) -> Any:
        return NoTangent()


class Branch(Node):
    """A container."""

    __slots__ = ("parts",)

    def __init__(self, x: Any, parts: Children, nodes: list[Node]) -> None:
        self.x, self.parts, self.nodes = x, parts, nodes

    def split(self, t: Any) -> Iterator[Any]:
        t = unthunk(t)
        if isinstance(t, NotImplementedTangent):
            tangents = [t] * len(self.nodes)
        else:
            tangents = child_tangents(self.x, t)
        for node, part in zip(self.nodes, tangents, strict=True):
            yield from node.split(part)

    def build(self, numbers: Iterator[Any]) -> Any:
        return self.parts.rebuild([node.build(numbers) for node in self.nodes])

    def tangent(self, numbers: Iterator[Any]) -> Any:
        tangents = [node.tangent(numbers) for node in self.nodes]
        if all(isinstance(part, NoTangent) for part in tangents):
            return NoTangent()
        return structural(type(self.x), self.parts.keys, tangents)


class Leaf(Node):
    """One number or array, and the stretch of the vector that holds it."""

    __slots__ = ("dtype", "path", "shape", "sparse", "start", "stop")

    def __init__(self, x: Any, dtype: np.dtype, start: int, path: str) -> None:
        super().__init__(x)
        self.dtype = np.dtype(float) if dtype.kind in "iu" else dtype
        self.start, self.path = start, path
        self.sparse = is_sparse(x)
        self.shape = x.data.shape if self.sparse else np.shape(x)
        size = int(np.prod(self.shape))
        self.stop = start + (2 * size if dtype.kind == "c" else size)

    def split(self, t: Any) -> Iterator[Any]:
        yield unthunk(t)

    def build(self, numbers: Iterator[Any]) -> Any:
        return next(numbers)

    tangent = build

    def pack(self, piece: Any) -> np.ndarray:
        """The coordinates of a number or an array that belongs here."""
        size = self.stop - self.start
        if isinstance(piece, AbstractZero | NotImplementedTangent):
            return np.zeros(size)
        array = self.stored(piece) if self.sparse else np.asarray(piece)
        wide = np.result_type(array.dtype, np.float64)
        if self.dtype.kind == "c":
            wide = np.result_type(wide, np.complex64)
            return np.ascontiguousarray(array, wide).reshape(-1).view(wide.type(0).real.dtype)
        # A complex value where a real one belongs is never taken for its real part.
        return np.full(size, np.nan) if wide.kind == "c" else array.astype(wide).reshape(-1)

    def stored(self, t: Any) -> np.ndarray:
        """The entries of a sparse or dense ``t`` at the places that the sparse ``x`` stores."""
        if is_sparse(t) and t.format == self.x.format and t.data.shape == self.shape:
            return t.data
        dense = t.toarray() if is_sparse(t) else np.asarray(t)
        return dense[self.x.tocoo().coords].reshape(self.shape)

    def number(self, vector: np.ndarray, keep_dtype: bool) -> Any:
        """This leaf's number or array, out of the vector of all coordinates."""
        piece = vector[self.start : self.stop]
        if self.dtype.kind == "c":
            piece = np.ascontiguousarray(piece).view(np.result_type(piece.dtype, np.complex64))
        if keep_dtype and piece.dtype != self.dtype:
            piece = piece.astype(self.dtype)
        if self.sparse:
            built = self.x.astype(piece.dtype)
            built.data = piece.reshape(self.shape)
            return built
        if isinstance(self.x, np.generic):
            return piece[0]
        if isinstance(self.x, float | complex | int):
            return piece[0].item()
        return piece.reshape(self.shape)

    def name(self, i: int) -> str:
        where, part = i, ""
        if self.dtype.kind == "c":
            where, part = i // 2, ".imag" if i % 2 else ".real"
        if self.sparse:
            at = [int(axis[where]) for axis in self.x.tocoo().coords]
        else:
            at = [int(k) for k in np.unravel_index(where, self.shape)] if self.shape else []
        return (f"[{', '.join(map(str, at))}]" if at else "") + part


def join(pieces: list[np.ndarray]) -> np.ndarray:
    """One vector of all pieces; it may be the only piece itself."""
    if len(pieces) == 1:
        return pieces[0]
    return np.concatenate(pieces) if pieces else np.zeros(0)


def is_sparse(x: Any) -> bool:
    """Whether ``x`` is a SciPy sparse array; asked by name, to leave SciPy unimported."""
    return type(x).__module__.startswith("scipy.sparse") and hasattr(x, "tocoo")


def label(x: Any, key: Any) -> str:
    """How a part of the container ``x`` is written: ``[0]``, ``['a']`` or ``.field``."""
    of = x.primal_type if isinstance(x, Tangent) else type(x)
    by_key = issubclass(of, dict) if isinstance(of, type) else False
    return f".{key}" if isinstance(key, str) and not by_key else f"[{key!r}]"


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
            raise ValueError(f"the value has {space.size} coordinates, not {vector.shape}.")
        return space.point(vector, keep_dtype=True)

    return np.array(space.values()), unflatten
