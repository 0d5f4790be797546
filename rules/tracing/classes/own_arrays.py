"""Subclasses of ndarray as arguments and results: opened to a plain array, and rebuilt around one.

A transform follows the numbers; what else such an array holds, its class, attributes and mask, is
structure. The function is given an array of the class that holds traced numbers as objects.
"""

import copy
import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from ...annotations import Function, Value
from ...containers import Within, children, fold, unless_same
from ...known_classes import Children, Shell, passing, quantities, registered, rests
from ..level import Traced


class GivenArray:
    """The ``numbers`` of an array of an own class, and ``like``, which is of the class."""

    __slots__ = ("like", "numbers")

    def __init__(self, like: np.ndarray, numbers: Any) -> None:
        self.like, self.numbers = like, numbers

    def of_class(self) -> Any:
        """Return an array of the class, of the numbers, or of objects that are traced ones."""
        y = np.asarray(self.numbers).view(type(self.like))
        if hasattr(self.like, "__dict__"):
            vars(y).update({name: copy.copy(x) for name, x in vars(self.like).items()})
        if isinstance(y, np.ma.MaskedArray):
            y.fill_value = None  # np.ma takes that of the objects for the least and the largest
        return y


class ReturnedArray(GivenArray):
    """The same of a result, which comes out as an array of the class."""

    __slots__ = ()


_met: set[type] = set()  # GivenArray, once there was one: calls before look for none


def _children(x: GivenArray) -> Children:
    return Children(("numbers",), (x.numbers,), lambda values: _rebuilt(x, *values))


def _rebuilt(x: GivenArray, numbers: Any) -> Any:
    y = type(x)(x.like, numbers)
    if numbers is None:
        return Shell(type(x), ("numbers",))
    return y.of_class() if type(x) is ReturnedArray and isinstance(numbers, np.ndarray) else y


for _cls in (GivenArray, ReturnedArray):
    registered[_cls] = _children
    quantities.add(_cls)
    rests[_cls] = lambda x: (type(x.like), vars(x.like) if hasattr(x.like, "__dict__") else ())
passing.add(ReturnedArray)


def given(x: np.ndarray, numbers: Any) -> GivenArray:
    """Return an array of an own class as its ``numbers``, which are differentiated."""
    _met.add(GivenArray)
    return GivenArray(x, numbers)


def returned(y: np.ndarray, numbers: Any) -> Any:
    """Return a result, whose entries are ``numbers``: a masked one has no derivative."""
    if np.ma.is_masked(y):
        hidden = np.ma.getmaskarray(y)
        still = [x.peek() if isinstance(x, Traced) else x for x in np.asarray(y).reshape(-1)]
        numbers = np.where(hidden, np.reshape(np.array(still, float), y.shape), numbers)
    found = ReturnedArray(y, numbers)
    return found if isinstance(numbers, Traced) else found.of_class()


def opening(f: Function, args: tuple) -> Callable:
    """Return ``f``, which is given arrays of their own classes if there are any in ``args``."""
    if not _met or _opened(args) is args:
        return f

    @functools.wraps(f)
    def opened(*args: Any, **kwargs: Any) -> Any:
        args, kwargs = _opened((args, kwargs))
        return f(*args, **kwargs)

    return opened


def _opened(x: Value) -> Any:
    return fold(_open, x)


def _open(x: Value) -> Any:
    if type(x) is GivenArray:
        return x.of_class()
    parts = children(x)
    return x if parts is None else Within(zip(parts.values), unless_same(x, parts))
