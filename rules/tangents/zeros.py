"""ZeroTangent and NoTangent: zeros that no arithmetic turns into numbers.

``ZeroTangent() + xdot`` is ``xdot``, and ``3.0 * ZeroTangent()`` is ``ZeroTangent()``.
"""

from collections.abc import Iterable
from typing import Any, Self

import numpy as np

from ...config import RuleError, user_line
from ..annotations import Function, Tangentlike, Value
from ..containers import LEAVES
from ..loading import load, needed

# Ufuncs by the operator that they are; the conjugate of what stands for any number is itself.
_OPERATORS = {
    np.add: "add",
    np.subtract: "sub",
    np.multiply: "mul",
    np.divide: "truediv",
    np.matmul: "matmul",
    np.negative: "neg",
    np.positive: "pos",
    np.conjugate: "pos",
}
# By function, in how many of its first arguments it is linear; the rules fill it.
linear_in: dict[Any, int] = {}


def by_operator(t: Tangentlike, ufunc: np.ufunc, method: str, inputs: tuple, kwargs: dict) -> Any:
    """Answer for ``t``, one of the ``inputs``, what its operators answer, if one is this ufunc."""
    first = inputs[0] is t
    name = f"__{'' if first else 'r'}{_OPERATORS.get(ufunc)}__"
    if method != "__call__" or kwargs or not hasattr(t, name):
        return NotImplemented
    return getattr(t, name)(*(inputs[1:] if first else inputs[:1]))


class AbstractZero:
    """A tangent that changes nothing, for every kind of value at once. There is one of each."""

    __slots__ = ()
    __array_priority__ = 1000
    _instance: Any = None

    def __new__(cls) -> Self:
        if cls._instance is None:
            cls._instance = super().__new__(cls)
        return cls._instance

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"

    def __reduce__(self) -> tuple:
        return type(self), ()

    def __array_ufunc__(
        self, ufunc: np.ufunc, method: str, *inputs: object, **kwargs: object
    ) -> Any:
        return by_operator(self, ufunc, method, inputs, kwargs)

    def __array_function__(
        self, f: Function, types: Iterable[type], args: tuple, kwargs: dict
    ) -> Any:
        if needed:
            load()  # the rules say what is linear
        here = any(x is self for x in args[: linear_in.get(f, 0)])
        return self if here else NotImplemented

    def __add__(self, other: Value) -> Any:
        return self if isinstance(other, ZeroTangent) else other

    __radd__ = __add__

    def __sub__(self, other: Any) -> Any:
        return self if isinstance(other, ZeroTangent) else -other

    def __rsub__(self, other: Value) -> Any:
        return other

    def __mul__(self, other: Value) -> "AbstractZero":
        return other if isinstance(other, ZeroTangent) else self

    __rmul__ = __matmul__ = __rmatmul__ = __truediv__ = __mul__

    def _itself(self, *args: object, **kwargs: object) -> Self:
        return self

    __neg__ = __pos__ = __getitem__ = conj = conjugate = copy = _itself
    sum = reshape = transpose = astype = ravel = _itself
    T = real = imag = property(_itself)

    def __iter__(self) -> Any:
        # With __getitem__ alone Python would go on for ever.
        raise RuleError(
            f"{self!r} was iterated over in {user_line()}, and it is the zero of any length.\n"
            "  write cr.unstack(xdot, len(x)), which gives as many zeros, or the tangents"
        )

    def __bool__(self) -> bool:
        return False

    def __float__(self) -> float:
        return 0.0

    def __complex__(self) -> complex:
        return 0j

    def __eq__(self, other: object) -> bool:
        return self is other

    __hash__ = object.__hash__


class ZeroTangent(AbstractZero):
    """The value could be perturbed, but the output does not change.

    Examples
    --------
    >>> ZeroTangent() + 2.0, 3.0 * ZeroTangent()
    (2.0, ZeroTangent())
    """

    __slots__ = ()


class NoTangent(AbstractZero):
    """The value cannot be perturbed at all: a string, a flag, an index, a plain function.

    Examples
    --------
    >>> NoTangent() + ZeroTangent(), NoTangent() * ZeroTangent()
    (NoTangent(), ZeroTangent())
    """

    __slots__ = ()


LEAVES.update({ZeroTangent, NoTangent})
ZERO = ZeroTangent()
NO_TANGENT = NoTangent()
