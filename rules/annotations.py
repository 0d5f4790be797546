"""Type aliases and protocols name values, tangents, functions and indices in annotations.

``def pull(self, ybar: Tangentlike, x: Value)`` takes a cotangent and the value that it belongs to:
a NumPy array, a float, a list of these or a traced value. None of the names is ``Any``.
"""

from collections.abc import Callable
from types import EllipsisType
from typing import Any, ParamSpec, Protocol, SupportsIndex, TypeVar, overload

import numpy as np

P = ParamSpec("P")
X_contra = TypeVar("X_contra", contravariant=True)
Y_co = TypeVar("Y_co", covariant=True)


class Tangentlike(Protocol):
    """A tangent or a cotangent can be added to another one, and multiplied.

    Numbers and arrays, traced or not, structural tangents, zeros, thunks and missing derivatives
    are tangents; so are tuples and lists of them, as users write the tangent of one.
    """

    def __add__(self, other: Any, /) -> Any: ...

    def __mul__(self, factor: Any, /) -> Any: ...


class FunctionOf(Protocol[X_contra, P, Y_co]):
    """A function of an ``X`` and of further parameters ``P``, with results of type ``Y``.

    A checker compares a call that gives the ``X`` by position with all parameters. Of a call by
    names alone it knows the result: Python's types have no way to keep the name of the ``X``.
    """

    @overload
    def __call__(self, x: X_contra, /, *args: P.args, **kwargs: P.kwargs) -> Y_co: ...

    @overload
    def __call__(self, /, **kwargs: Any) -> Y_co: ...


# A number, an array, or a container of these, traced or not. They share no class but this one: a
# checker lets nobody compute with a value before a look at its class.
Value = object
# Whatever can be called and have a rule: a function, a ufunc, a class, an object with fields.
Function = Callable[..., Any]
# What stands between the brackets of ``x[index]``.
Index = SupportsIndex | slice | EllipsisType | None | np.ndarray | list[Any] | tuple[Any, ...]
