"""Thunks: tangents that are computed at their first use, and then only once.

``thunk(lambda: a.T @ ybar)`` is multiplied when the cotangent of ``b`` in ``a @ b`` is asked for.
"""

import operator
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin
from numpy.typing import DTypeLike

from ...config import TangentError
from ..annotations import Function, Value


def _forced(operation: Callable) -> Callable:
    def force(self: "Thunk", *others: object) -> Any:
        return operation(unthunk(self), *map(unthunk, others))

    return force


class Thunk(NDArrayOperatorsMixin):
    """A tangent that is computed when somebody looks at it, and then only once."""

    __slots__ = ("_compute", "_value")

    def __init__(self, compute: Callable[[], Any]) -> None:
        self._compute: Callable[[], Any] | None = compute
        self._value: Any = None

    def force(self) -> Any:
        if self._compute is not None:
            value = unthunk(self._compute())
            # The function goes first: with it goes what only it kept alive.
            self._value, self._compute = value, None
        return self._value

    def __array_ufunc__(
        self, ufunc: np.ufunc, method: str, *inputs: object, **kwargs: object
    ) -> Any:
        return getattr(ufunc, method)(*map(unthunk, inputs), **kwargs)

    def __array_function__(
        self, f: Function, types: Iterable[type], args: tuple, kwargs: dict
    ) -> Any:
        return f(*map(_unthunk_items, args), **{k: _unthunk_items(v) for k, v in kwargs.items()})

    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> np.ndarray:
        return np.array(self.force(), dtype=dtype)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(self.force(), name)

    __getitem__ = _forced(operator.getitem)
    __iter__ = _forced(iter)
    __len__ = _forced(len)
    __float__ = _forced(float)
    __complex__ = _forced(complex)

    def __setitem__(self, key: object, value: Value) -> None:
        raise TangentError("a thunk cannot be written to; unthunk it and build another.")

    def __repr__(self) -> str:
        return "thunk(...)" if self._compute is not None else f"thunk({self._value!r})"


class InplaceableThunk(Thunk):
    """A thunk that can also add itself into an array, without being computed on its own.

    Parameters
    ----------
    add_into : callable
        ``add_into(buffer)`` adds the tangent into ``buffer`` and returns it.
    compute : callable or Thunk
        Gives the tangent itself.

    Examples
    --------
    >>> import numpy as np
    >>> def add_into(buffer):
    ...     buffer[1] += 2.0
    ...     return buffer
    >>> t = InplaceableThunk(add_into, lambda: np.array([0.0, 2.0, 0.0]))
    >>> t.add_into(np.ones(3)), unthunk(t)
    (array([1., 3., 1.]), array([0., 2., 0.]))
    """

    __slots__ = ("add_into",)

    def __init__(self, add_into: Callable[[Any], Any], compute: Any) -> None:
        super().__init__(compute.force if isinstance(compute, Thunk) else compute)
        self.add_into = add_into


def thunk(compute: Callable[[], Any]) -> Thunk:
    """Delay a tangent until it is needed; engines open it only where the argument is active.

    Examples
    --------
    >>> t = thunk(lambda: 2.0)
    >>> unthunk(t), float(t + 1.0)
    (2.0, 3.0)
    """
    return Thunk(compute)


def unthunk(t: Any) -> Any:
    """Return what a thunk stands for, and anything else as it is.

    Examples
    --------
    >>> unthunk(thunk(lambda: 2.0)), unthunk(3.0)
    (2.0, 3.0)
    """
    # Not isinstance, here and in ``add``: it is slow for traced values, whose class is computed.
    return t.force() if issubclass(type(t), Thunk) else t


def _unthunk_items(x: Any) -> Any:
    return type(x)(map(unthunk, x)) if type(x) in (list, tuple) else unthunk(x)
