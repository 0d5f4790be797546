"""ZeroTangent and NoTangent: zeros that no arithmetic turns into numbers."""

from typing import Any

import numpy as np

from ...config import RuleError, user_line
from ..annotations import Function, Value

_SUMS = {np.add, np.subtract}
_PRODUCTS = {np.multiply, np.divide, np.matmul, np.negative, np.positive, np.conjugate}
# By function, in how many of its first arguments it is linear; the rules fill it.
linear_in: dict[Any, int] = {}


class AbstractZero:
    """A tangent that changes nothing, for every kind of value at once."""

    __slots__ = ()
    __array_priority__ = 1000

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"

    def __reduce__(self) -> tuple:
        return type(self), ()

    def __array_ufunc__(self, ufunc: Function, method: str, *inputs: Any, **kwargs: Any) -> Any:
        if method != "__call__" or kwargs:
            return NotImplemented
        if ufunc in _SUMS:
            a, b = inputs
            if isinstance(b, AbstractZero):
                return a if not isinstance(a, AbstractZero) else sum_of_zeros(a, b)
            return b if ufunc is np.add else -b
        if ufunc in _PRODUCTS:
            return self if not _not_and_zero(inputs) else ZeroTangent()
        return NotImplemented

    def __array_function__(self, f: Function, types: Any, args: tuple, kwargs: dict) -> Any:
        here = any(x is self for x in args[: linear_in.get(f, 0)])
        return self if here else NotImplemented

    def __add__(self, other: Value) -> Any:
        return sum_of_zeros(self, other) if isinstance(other, AbstractZero) else other

    def __radd__(self, other: Value) -> Any:
        return other

    def __sub__(self, other: Value) -> Any:
        return sum_of_zeros(self, other) if isinstance(other, AbstractZero) else -other

    def __rsub__(self, other: Value) -> Any:
        return other

    def __mul__(self, other: Value) -> "AbstractZero":
        return self if not _not_and_zero((self, other)) else ZeroTangent()

    __rmul__ = __matmul__ = __rmatmul__ = __truediv__ = __mul__

    def __neg__(self) -> "AbstractZero":
        return self

    __pos__ = conj = conjugate = copy = __neg__

    def __getitem__(self, key: Any) -> "AbstractZero":
        return self

    def __iter__(self) -> Any:
        # With __getitem__ alone Python would go on for ever.
        raise RuleError(
            f"{self!r} was iterated over in {user_line()}, and it is the zero of any length.\n"
            "  write cr.unstack(xdot, len(x)), which gives as many zeros, or the tangents"
        )

    def sum(self, *args: Any, **kwargs: Any) -> "AbstractZero":
        return self

    reshape = transpose = astype = ravel = sum

    @property
    def T(self) -> "AbstractZero":  # noqa: N802
        return self

    real = imag = T

    def __bool__(self) -> bool:
        return False

    def __float__(self) -> float:
        return 0.0

    def __complex__(self) -> complex:
        return 0j

    def __eq__(self, other: object) -> bool:
        return isinstance(other, AbstractZero) and type(self) is type(other)

    def __hash__(self) -> int:
        return hash(type(self))


def sum_of_zeros(a: Value, b: Value) -> AbstractZero:
    return a if isinstance(a, NoTangent) else b


def _not_and_zero(values: tuple) -> bool:
    return any(isinstance(value, ZeroTangent) for value in values)


class ZeroTangent(AbstractZero):
    """The value could be perturbed, but the output does not change.

    Examples
    --------
    >>> ZeroTangent() + 2.0, 3.0 * ZeroTangent()
    (2.0, ZeroTangent())
    """

    __slots__ = ()
    _instance: "ZeroTangent | None" = None

    def __new__(cls) -> "ZeroTangent":
        if cls._instance is None:
            cls._instance = super().__new__(cls)
        return cls._instance


class NoTangent(AbstractZero):
    """The value cannot be perturbed at all: a string, a flag, an index, a plain function.

    Examples
    --------
    >>> NoTangent() + ZeroTangent(), NoTangent() * ZeroTangent()
    (NoTangent(), ZeroTangent())
    """

    __slots__ = ()
    _instance: "NoTangent | None" = None

    def __new__(cls) -> "NoTangent":
        if cls._instance is None:
            cls._instance = super().__new__(cls)
        return cls._instance


ZERO = ZeroTangent()
NO_TANGENT = NoTangent()
