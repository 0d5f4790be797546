"""Placeholders for derivatives that exist but are not implemented.

``not_implemented("d/dv of Bessel functions")`` may be added and multiplied, and is an error with
this text where somebody wants to have it as a number.
"""

from typing import Any

import numpy as np

from ...config import MissingDerivativeError, user_line
from ..annotations import Value
from .zeros import AbstractZero, by_operator


class NotImplementedTangent:
    """A partial derivative that is missing; it spreads, and raises where it would be used."""

    __slots__ = ("line", "message")
    __array_priority__ = 900

    def __init__(self, message: str, line: str = "") -> None:
        self.message = message
        self.line = line

    def error(self) -> MissingDerivativeError:
        return MissingDerivativeError(f"{self.message}\n  marked not_implemented in {self.line}")

    def __repr__(self) -> str:
        return f"not_implemented({self.message!r})"

    def _spread(self, other: Value = None) -> "NotImplementedTangent":
        return self

    __add__ = __radd__ = __neg__ = __pos__ = conj = conjugate = _spread

    def __mul__(self, other: Value) -> "AbstractZero | NotImplementedTangent":
        return other if isinstance(other, AbstractZero) else self

    __rmul__ = __mul__

    def __array_ufunc__(
        self, ufunc: np.ufunc, method: str, *inputs: object, **kwargs: object
    ) -> Any:
        answer = by_operator(self, ufunc, method, inputs, kwargs)
        if answer is NotImplemented:
            raise self.error()
        return answer

    def _refuse(self, *args: object) -> Any:
        raise self.error()

    __sub__ = __rsub__ = __truediv__ = __rtruediv__ = __matmul__ = __rmatmul__ = _refuse
    __float__ = __complex__ = __iter__ = __array__ = _refuse


def not_implemented(message: str) -> NotImplementedTangent:
    """Mark a partial derivative that exists but is not written.

    Use it as a partial of ``scalar_rule`` or as an entry of what a pullback returns. It is
    harmless until it would reach a result; then the error carries ``message``.

    Examples
    --------
    >>> t = not_implemented("the derivative in the order is missing")
    >>> t * cr.ZeroTangent(), t + 1.0
    (ZeroTangent(), not_implemented('the derivative in the order is missing'))
    """
    return NotImplementedTangent(message, user_line())
