"""Norms that are 0 remember their square, which has the derivatives that they lack.

At 0 a norm has no second derivative, and ``norm(x)**2`` has. So a traced norm with a zero in it
stands at a level of its own, inside all others: squared, it is its square, and for anything
else the norm. Norms without a zero, and all other values, never meet this level.
"""

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from .containers import map_leaves
from .levels import Traced, innermost, value
from .operands import is_array
from .traced import TracedNumber
from .traced_array import TracedArray


class RootNumber(TracedNumber):
    """A traced number that remembers its square."""

    __slots__ = ()


class RootArray(TracedArray):
    """A traced array that remembers its square."""

    __slots__ = ()


class RootLevel:
    """The level of one root: it hands every call on, but those that square the root."""

    __slots__ = ("root", "square", "values")
    number = math.inf
    sweeps = 0

    def __init__(self, root: Any, square: Any) -> None:
        self.root = root
        self.square = square
        self.values: Any = np.copy(value(root))

    def squared(self) -> Any:
        """Return the square, as long as nothing was written into the root."""
        unwritten = np.array_equal(value(self.root), self.values, equal_nan=True)
        return +self.square if unwritten else self.root * self.root

    def unary(self, ufunc: Any, operation: Callable, x: Any) -> Any:
        return self.squared() if ufunc is np.square else operation(self.root)

    def binary(self, ufunc: Any, operation: Callable, a: Any, b: Any) -> Any:
        if a is b and ufunc is np.multiply:
            return self.squared()
        two = not isinstance(b, Traced) and np.ndim(b) == 0 and b == 2
        if two and (ufunc is np.power or ufunc is np.float_power):
            return self.squared()
        return operation(settled(a), settled(b))

    def call(self, f: Any, args: tuple, kwargs: dict) -> Any:
        return f(*all_settled(args), **all_settled(kwargs))

    def getitem(self, x: Any, index: Any) -> Any:
        return self.root[index]

    def write(self, x: Any, index: Any, v: Any) -> None:
        self.values = np.nan  # written: from now on an array like others
        self.root[index] = settled(v)

    def constant(self, x: Any) -> Any:
        return self.root.level.constant(x)


def remember_square(root: Any, square: Any) -> Any:
    """Return the traced ``root`` such that its square is ``square``, in any way of writing it."""
    traced: Any = RootArray() if is_array(root) else RootNumber()
    traced.value = root
    traced.level = RootLevel(root, square)
    return traced


# Classes of values whose level only hands on what they carry: roots, and buffers.
handed_on: set[type] = {RootNumber, RootArray}


def settled(x: Any) -> Any:
    """Return what a root, or a buffer, carries; anything else as it is."""
    return x.value if type(x) in handed_on else x


def all_settled(x: Any) -> Any:
    """Settle all that is in a container."""
    top = innermost((x,))
    return x if top is None or top.number != math.inf else map_leaves(settled, x)
