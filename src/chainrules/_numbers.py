"""``float``, ``np.float64`` and their like, as modules that see traced values have them.

The class itself, to all who ask and in all that it makes, but for a traced value: that stays
traced. ``type(x)`` of a module that has them gives them, too, so that ``type(x) is float`` says of
a traced number what it says of the number.
"""

import builtins
from typing import Any

import numpy as np

from .rules import Traced, as_dtype, type_under, value

_type = builtins.type
_NOTHING = object()
_PLAIN = frozenset({builtins.float, int, str, np.float64, np.ndarray})


class _StandsIn(type):
    """The class of classes that stand for their base; those derived from them derive from that."""

    def __new__(mcs, name: str, bases: tuple, names: dict, **options: Any) -> Any:
        if any(type(base) is mcs for base in bases):
            own: Any = [base.__base__ if type(base) is mcs else base for base in bases]
            return builtins.type(name, tuple(own), names, **options)
        return super().__new__(mcs, name, bases, names)

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


class _Seeing(_StandsIn):
    def __call__(cls, x: Any = _NOTHING, /, *more: Any, **options: Any) -> Any:
        if type(x) in _PLAIN and not options and (not more or type(more[0]) in _PLAIN):
            return cls.__base__(x, *more)  # type: ignore[misc] # at once: loops ask at each step
        args = () if x is _NOTHING else (x, *more)
        for part in (*args, *options.values()):
            if type(part) not in _PLAIN and isinstance(part, Traced):
                return cls.of_traced(*args, **options)  # type: ignore[attr-defined]
        return cls.__base__(*args, **options)  # type: ignore[misc]


def _number(x: Any, cls: type) -> Any:
    """Return a traced value, of which ``cls`` makes a number, as a number."""
    if not builtins.hasattr(x, "__len__"):
        return x
    cls(value(x))  # which says what it says of an array that is not one number
    return np.reshape(x, ())[()]


class Float(builtins.float, metaclass=_Seeing):
    """``float``, which keeps traced numbers traced."""

    __module__ = "builtins"
    dtype = np.dtype(builtins.float)  # for np.zeros(3, dtype=float)

    @staticmethod
    def of_traced(x: Any) -> Any:
        return as_dtype(_number(x, builtins.float), builtins.float)


class Complex(builtins.complex, metaclass=_Seeing):
    """``complex``, which keeps traced numbers traced."""

    __module__ = "builtins"
    dtype = np.dtype(builtins.complex)

    @staticmethod
    def of_traced(real: Any = 0.0, imag: Any = 0.0) -> Any:
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


class _Asking(_StandsIn):
    def __call__(cls, x: Any, *of: Any, **options: Any) -> Any:
        if of:
            return _type(x, *of, **options)  # a class that is made
        kind = _type(x)
        if issubclass(kind, Traced):
            kind = type_under(x)
        return SHOWN.get(kind, kind)


class Type(builtins.type, metaclass=_Asking):
    """``type``, which says of a traced number what it says of the number."""

    __module__ = "builtins"


SHOWN: dict[type, type] = {builtins.float: Float, builtins.complex: Complex, builtins.type: Type}
SHOWN.update({_Seeing: Type, _Asking: Type})
SHOWN.update(SCALARS)  # type: ignore[arg-type]
for _own, _shown in [(builtins.float, Float), (builtins.complex, Complex), (builtins.type, Type)]:
    _shown.__name__ = _shown.__qualname__ = _own.__name__
