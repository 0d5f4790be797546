"""The plan of a nested value: a node for every container, number and array in it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ..rules import AbstractZero, NoTangent, NotImplementedTangent, Tangent, unthunk
from ..rules.containers import Children
from ..rules.tangents.structural import child_tangents, structural

__all__ = ["Branch", "Fixed", "Leaf", "Node", "is_sparse", "join", "label"]


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
    """Node without coordinates, or without coordinates that count."""

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
    """Say whether ``x`` is a SciPy sparse array; asked by name, to leave SciPy unimported."""
    return type(x).__module__.startswith("scipy.sparse") and hasattr(x, "tocoo")


def label(x: Any, key: Any) -> str:
    """Return the path of a part of the container ``x``: ``[0]``, ``['a']`` or ``.field``."""
    of = x.primal_type if isinstance(x, Tangent) else type(x)
    by_key = issubclass(of, dict) if isinstance(of, type) else False
    return f".{key}" if isinstance(key, str) and not by_key else f"[{key!r}]"
