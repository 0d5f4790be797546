"""``float``, ``np.float64`` and their like, as modules that see traced values have them.

The class itself, to all who ask and in all that it makes, but for a traced value: that stays
traced. Only ``type(x) is float`` tells them apart: write ``isinstance``.
"""

import builtins
from typing import Any

import numpy as np

from .rules import Traced, as_dtype, value

_PLAIN = frozenset({builtins.float, int, str, np.float64, np.ndarray})


class _Seeing(type):
    """The class of these classes: each has the class that it stands for as its base."""

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        for x in args:
            if type(x) not in _PLAIN and isinstance(x, Traced):
                return cls.of_traced(*args)  # type: ignore[attr-defined]
        return cls.__base__(*args, **kwargs)  # type: ignore[misc]

    def __instancecheck__(cls, x: Any) -> bool:
        return isinstance(x, cls.__base__)  # type: ignore[arg-type]

    def __subclasscheck__(cls, other: type) -> bool:
        return issubclass(other, cls.__base__)  # type: ignore[arg-type]

    def __eq__(cls, other: Any) -> bool:
        return True if other is cls or other is cls.__base__ else NotImplemented

    def __hash__(cls) -> int:
        return hash(cls.__base__)

    def __repr__(cls) -> str:
        return repr(cls.__base__)


def _number(x: Any, cls: type) -> Any:
    """Return a traced value, of which ``cls`` makes a number, as a number."""
    if not builtins.hasattr(x, "__len__"):
        return x
    cls(value(x))  # which says what it says of an array that is not one number
    return np.reshape(x, ())[()]


class Float(builtins.float, metaclass=_Seeing):
    """``float``, which keeps traced numbers traced."""

    dtype = np.dtype(builtins.float)  # for np.zeros(3, dtype=float)

    @staticmethod
    def of_traced(x: Any) -> Any:
        return as_dtype(_number(x, builtins.float), builtins.float)


class Complex(builtins.complex, metaclass=_Seeing):
    """``complex``, which keeps traced numbers traced."""

    dtype = np.dtype(builtins.complex)

    @staticmethod
    def of_traced(real: Any, imag: Any = 0.0) -> Any:
        number = _number(real, builtins.complex) + 1j * _number(imag, builtins.complex)
        return as_dtype(number, builtins.complex)


def _of_numpy(cls: type) -> type:
    dtype = np.dtype(cls)

    def of_traced(x: Any) -> Any:
        y = as_dtype(x, dtype)
        return y[()] if builtins.hasattr(y, "__len__") else y  # of no axes: a number

    said = {"dtype": dtype, "of_traced": staticmethod(of_traced), "__doc__": cls.__doc__}
    return _Seeing(cls.__name__, (cls,), said | {"__module__": "numpy"})


_SCALARS = np.float16, np.float32, np.float64, np.longdouble
_SCALARS += np.complex64, np.complex128, np.clongdouble  # type: ignore[assignment]
SCALARS = {cls: _of_numpy(cls) for cls in _SCALARS}
