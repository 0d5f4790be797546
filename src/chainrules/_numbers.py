"""``float``, ``np.float64`` and their like, as functions of calls that see traced values.

Each is a stand-in: the class itself, to all who ask and in all that it makes, but for a traced
value, which stays traced. ``type(x)`` beside them gives them, too, so that ``type(x) is float``
says of a traced number what it says of the number.
"""

import builtins
import copyreg
import functools
import sys
from collections.abc import Callable
from types import FunctionType, GenericAlias
from typing import Any

import numpy as np

from . import _rulesets
from .rules import Traced, as_dtype, children, dtype_of, type_under, value
from .rules.accelerated import numbers
from .rules.known_classes import built_in
from .rules.shapes import is_lazy
from .rules.tracing.classes.stand_ins import StandIn

_type = builtins.type
_NOTHING = object()
_PLAIN = frozenset({builtins.float, int, str, np.float64, np.ndarray})


class _OfBuiltIn(StandIn):
    """The metaclass of stand-ins that are equal to their originals, and stay out of subclasses.

    What is derived from one derives from the original.
    """

    original: Any

    def __new__(mcs, name: str, bases: tuple, names: dict, **options: Any) -> Any:
        if any(isinstance(base, _OfBuiltIn) for base in bases):
            own = [base.original if isinstance(base, _OfBuiltIn) else base for base in bases]
            return builtins.type(name, tuple(own), names, **options)
        return super().__new__(mcs, name, bases, {**names, "original": bases[0]})

    def __eq__(cls, other: Any) -> bool:
        return True if other is cls or other is cls.original else NotImplemented

    def __hash__(cls) -> int:
        return hash(cls.original)

    def __repr__(cls) -> str:
        return repr(cls.original)


class _Seeing(_OfBuiltIn):
    def __call__(self, x: Any = _NOTHING, /, *more: Any, **options: Any) -> Any:
        plain = type(x) in _PLAIN and not options and (not more or type(more[0]) in _PLAIN)
        if plain and type(x) is not np.ndarray:
            return self.original(x, *more)  # at once: loops ask at each step
        if not (more or options):
            x = _only_entry(x)
        args = () if x is _NOTHING else (x, *more)
        for part in (*args, *options.values()):
            if type(part) not in _PLAIN and isinstance(part, Traced):
                return self.of_traced(*args, **options)  # type: ignore[attr-defined]
        own = getattr(type(x), f"__{self.original.__name__}__", None)
        if isinstance(own, FunctionType) and len(args) == 1:
            y = own(x)
            if isinstance(y, Traced):
                return self.of_traced(y)  # type: ignore[attr-defined]
            if type(y) is self.original:
                return y
        return self.original(*args, **options)


def _only_entry(x: Any) -> Any:
    """Return the traced number in an array of objects or a labelled array; else ``x``."""
    kind = _type(x)
    if issubclass(kind, Traced) or not builtins.hasattr(kind, "__float__"):
        return x
    if kind is np.ndarray:
        holds = x.dtype == object
    else:
        holds = builtins.hasattr(kind, "item") and children(x) is not None and kind in built_in
    y = x.item() if holds and x.size == 1 else x
    return y if isinstance(y, Traced) else x


def _number(x: Any, cls: type) -> Any:
    """Return a traced value, of which ``cls`` makes a number, as a number of Python's.

    Its primal is what ``cls`` makes of the plain number, so that 1 / 0 raises as Python does.
    """
    if type_under(x) is cls:
        return x
    if cls is builtins.float and numbers is not None:
        y = numbers.to_float(x)
        if y is not NotImplemented:
            return y
    plain = value(x)
    # It says what it says of what is not one number; that is no look at which number it is.
    cls(plain.peek() if isinstance(plain, Traced) else plain)
    x = x if dtype_of(x) == np.dtype(cls) else as_dtype(x, cls)
    return x.item() if hasattr(x, "item") else x


class Float(builtins.float, metaclass=_Seeing):
    """``float``, which keeps traced numbers traced."""

    __module__ = "builtins"
    dtype = np.dtype(builtins.float)  # for np.zeros(3, dtype=float)

    @staticmethod
    def of_traced(x: Any) -> Any:
        return _number(x, builtins.float)


class Complex(builtins.complex, metaclass=_Seeing):
    """``complex``, which keeps traced numbers traced."""

    __module__ = "builtins"
    dtype = np.dtype(builtins.complex)

    @staticmethod
    def of_traced(real: Any = 0.0, imag: Any = 0.0) -> Any:
        if not isinstance(imag, Traced) and imag == 0 and not np.signbit(np.real(imag)):
            return _number(real, builtins.complex)
        parts: list[Any] = [
            x if isinstance(x, Traced) else builtins.complex(x) for x in (real, imag)
        ]
        if any((dtype_of(x) or np.dtype(type(x))).kind == "c" for x in (real, imag)):
            return _number(parts[0] + 1j * parts[1], builtins.complex)
        real, imag = (x if isinstance(x, Traced) else builtins.float(x) for x in (real, imag))
        return _number(_rulesets.functions.math.of_parts(real, imag), builtins.complex)


def _taking_traced(name: str, reflected: str) -> Callable:
    """Return a method of ``float``, such as ``float.__pow__``, as a function of traced numbers."""
    original = getattr(builtins.float, name)

    @functools.wraps(original)
    def method(x: Any, /, *others: Any) -> Any:
        if isinstance(x, Traced):
            return getattr(x, name)(*others)
        if others and isinstance(others[0], Traced):
            return getattr(others[0], reflected)(x, *others[1:])
        return original(x, *others)

    return method


_BINARY = ("add", "sub", "mul", "truediv", "floordiv", "mod", "divmod", "pow")
_REFLECTED = {f"__{op}__": f"__r{op}__" for op in _BINARY}
_REFLECTED |= {there: back for back, there in _REFLECTED.items()}
_REFLECTED |= {name: name for name in ("__neg__", "__pos__", "__abs__")}
METHOD_NAMES = frozenset(_REFLECTED)
METHODS: dict[Any, Callable] = {
    getattr(builtins.float, name): _taking_traced(name, back) for name, back in _REFLECTED.items()
}
for _method in METHODS.values():
    setattr(Float, _method.__name__, staticmethod(_method))


def _of_numpy(cls: type) -> type:
    dtype = np.dtype(cls)

    one = np.float64(1.0) if cls is np.float64 else None

    def of_traced(x: Any) -> Any:
        under = type_under(x)
        if under is cls:
            return x
        if under is builtins.float and one is not None:
            return x * one  # a short way, exact
        y = as_dtype(x, dtype)
        return y[()] if builtins.hasattr(y, "__len__") else y  # of no axes: a number

    said = {"dtype": dtype, "of_traced": staticmethod(of_traced), "__doc__": cls.__doc__}
    return _Seeing(cls.__name__, (cls,), said | {"__module__": "numpy"})


_SCALARS = np.float16, np.float32, np.float64, np.longdouble
_SCALARS += np.complex64, np.complex128, np.clongdouble  # type: ignore[assignment]
SCALARS = {cls: _of_numpy(cls) for cls in _SCALARS}


def type_of(*args: Any, **options: Any) -> Any:
    """As ``type``: of a traced number the type of the number, or a class that is made."""
    if len(args) == 1:
        kind = _type(*args, **options)
        return type_under(args[0]) if issubclass(kind, Traced) else kind
    return _made(sys._getframe(1).f_globals, args, options)


def _made(names: dict, args: tuple, options: dict) -> Any:
    """Make a class, in the module with the globals ``names``."""
    if len(args) == 3 and isinstance(args[2], dict) and "__module__" not in args[2]:
        args = (*args[:2], {**args[2], "__module__": names.get("__name__")})
    return _type(*args, **options)


class _Asking(_OfBuiltIn):
    def __call__(self, *args: Any, **options: Any) -> Any:
        if len(args) != 1:
            return _made(sys._getframe(1).f_globals, args, options)
        kind = type_of(*args, **options)
        return SHOWN.get(kind, kind)


class Type(builtins.type, metaclass=_Asking):
    """``type``, which says of a traced number what it says of the number."""

    __module__ = "builtins"

    def __class_getitem__(cls, item: Any) -> GenericAlias:
        return GenericAlias(builtins.type, item)


class _Mapping(_OfBuiltIn):
    def __call__(self, f: Callable, *iterables: Any, **options: Any) -> Any:
        return builtins.map(seeing(f), *iterables, **options)


class Map(builtins.map, metaclass=_Mapping):
    """``map``, which maps ``float`` as it is called: so that traced numbers stay traced."""

    __module__ = "builtins"


_SEEING: dict[Any, Any] = {builtins.float: Float, builtins.complex: Complex, builtins.type: type_of}
_SEEING.update(SCALARS)


def seeing(f: Any) -> Any:
    """Return what sees traced values in place of a type that is called; any other ``f`` itself."""
    return _SEEING.get(f, f) if isinstance(f, _type) else f


def has_attribute(x: Any, name: str, /) -> bool:
    """``hasattr``, which says of a traced number what it says of the number."""
    plain = value(x) if isinstance(x, Traced) else x
    if isinstance(plain, Traced):  # of a recording or a batch, which stands for any number
        return any(name in vars(cls) for cls in type_under(plain).__mro__)
    return builtins.hasattr(x if is_lazy(plain) else plain, name)  # a traced one has no chunks


# Names of Python's, which an adopted module has these for.
BUILTINS = {
    "float": Float, "complex": Complex, "type": Type, "map": Map, "hasattr": has_attribute,
}  # fmt: skip
SHOWN: dict[type, type] = {builtins.float: Float, builtins.complex: Complex, builtins.type: Type}
SHOWN.update({_Seeing: Type, _Asking: Type, _Mapping: Type})
SHOWN.update(SCALARS)  # type: ignore[arg-type]
_shown: Any
for _shown in (Float, Complex, Type, Map):
    _shown.__name__ = _shown.__qualname__ = _shown.original.__name__


def _itself(x: Any) -> Any:
    return x


def _reduced(cls: Any) -> tuple:
    return _itself, (cls.original,)


# What is pickled is the class that a stand-in stands for.
for _metaclass in (_Seeing, _Asking, _Mapping):
    copyreg.pickle(_metaclass, _reduced)
