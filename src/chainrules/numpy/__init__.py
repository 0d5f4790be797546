"""NumPy, with functions that see traced values where NumPy gives a tracer no say.

``from chainrules import numpy as np`` is NumPy's own namespace but for the names defined here:
``np.array([x, y])``, ``np.full(n, x)``, ``np.float64(x)``, ``np.vectorize(f)(x)`` and the series of
``np.polynomial`` keep what is traced; so do functions of arrays that are given a list of traced
numbers instead. Arrays that are made to be filled, such as ``np.zeros(n)``, take traced values.

Examples
--------
>>> import chainrules as cr
>>> from chainrules import numpy as np
>>> cr.jacobian(lambda x: np.array([x, np.sin(x)], dtype=float))(0.0)
array([1., 1.])
"""

import importlib
import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as _numpy

from .. import _rulesets
from .._numbers import SCALARS, seeing
from .._readers import Joining, readers
from ..rules import innermost, is_traced, value
from ..rules.engines.buffers import all_settled
from ..rules.tracing.running import a_run

_functions = _rulesets.functions


class vectorize(_numpy.vectorize):  # noqa: N801 - NumPy's own name
    """As ``numpy.vectorize``; the arguments may be traced, and so may be what it captures."""

    def __init__(self, pyfunc: Any = _numpy._NoValue, *args: Any, **kwargs: Any) -> None:
        super().__init__(seeing(pyfunc), *args, **kwargs)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if self.pyfunc is _numpy._NoValue:  # a decorator with options, above a function
            return super().__call__(seeing(args[0]), *args[1:], **kwargs)
        level, steps = innermost((*args, *kwargs.values())), _functions.vectorized
        if level is not None:
            # Of objects and arguments by name has the rule no derivative; a batch needs none.
            if kwargs or level.records or steps.gives_objects(self):
                return steps.vectorized(self, *args, **kwargs)
            return level.call(self, args, kwargs)
        if self.otypes and a_run() is not None:
            return steps.vectorized(self, *args, **kwargs)
        return super().__call__(*args, **kwargs)


def vectorize_of(made: Any, mirror_of: Callable) -> vectorize:
    """Return an object of ``numpy.vectorize`` as one that sees traced values."""
    y = object.__new__(vectorize)
    vars(y).update(vars(made))
    y.pyfunc = seeing(mirror_of(made.pyfunc) or made.pyfunc)
    return y


def ndenumerate(arr: Any) -> Any:
    """As ``numpy.ndenumerate``; the entries may be traced, and the array may be written to."""
    if innermost((arr,)) is None:
        return _numpy.ndenumerate(arr)
    return ((index, arr[index]) for index in _numpy.ndindex(arr.shape))


def frompyfunc(func: Callable, /, nin: int, nout: int, **options: Any) -> Any:
    """As ``numpy.frompyfunc``; the arguments may be traced."""
    return _FromPython(func, _numpy.frompyfunc(func, nin, nout, **options))


class _FromPython:
    """A ufunc of Python code that sees traced values, if it is called, not by its methods."""

    __class__ = property(lambda self: _numpy.ufunc)  # type: ignore[assignment]

    def __init__(self, func: Callable, ufunc: _numpy.ufunc) -> None:
        self._vectorized = vectorize(func)
        self._ufunc = ufunc

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if kwargs or not is_traced(args):
            return self._ufunc(*args, **kwargs)
        if 0 in map(_numpy.size, args):
            return self._ufunc(*map(value, args))  # objects, of which there are none
        return self._vectorized(*args)

    def __repr__(self) -> str:
        return repr(self._ufunc)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._ufunc, name)


def piecewise(x: Any, condlist: Any, funclist: Any, *args: Any, **kw: Any) -> Any:
    """As ``numpy.piecewise``; what the functions capture may be traced, too."""
    x, condlist = all_settled((x, condlist))
    if a_run() is None or is_traced((x, condlist)):
        return _numpy.piecewise(x, condlist, funclist, *args, **kw)
    return _functions.vectorized.piecewise_composed(x, condlist, funclist, *args, **kw)


def _followed(module: ModuleType) -> ModuleType:
    """Return a copy of a module of ``numpy.polynomial`` with the names that see traced values."""
    copy = ModuleType(module.__name__, module.__doc__)
    series = _rulesets.arrays.series
    for name, part in vars(module).items():
        if isinstance(part, ModuleType) and part.__name__.startswith("numpy.polynomial."):
            part = _followed(part)
        if not name.startswith("__"):
            setattr(copy, name, series.FUNCTIONS.get(name, series.CLASSES.get(name, part)))
    sys.modules[f"{__package__}{copy.__name__.removeprefix('numpy')}"] = copy
    return copy


def _shown(module: ModuleType, instead: Any) -> ModuleType:
    """Return a copy of a module with what ``instead`` makes of its names."""
    copy = ModuleType(module.__name__, module.__doc__)
    names = {name: part for name, part in vars(module).items() if not name.startswith("__")}
    vars(copy).update(names | instead(names) | {"__all__": module.__all__})
    sys.modules[f"{__package__}{copy.__name__.removeprefix('numpy')}"] = copy
    return copy


polynomial = _followed(_numpy.polynomial)
linalg, fft = _shown(_numpy.linalg, readers), _shown(_numpy.fft, readers)
random = _shown(_numpy.random, lambda _: _rulesets.functions.random.INSTEAD)
r_, c_ = Joining(_numpy.r_), Joining(_numpy.c_)
mgrid = Joining(_numpy.mgrid)

# For `from chainrules.numpy.lib import stride_tricks`: NumPy's own modules. (The stubs beside this
# file are for type checkers.)
for _name in ("exceptions", "lib", "lib.stride_tricks"):
    sys.modules[f"{__package__}.{_name}"] = importlib.import_module(f"numpy.{_name}")

# All else is NumPy's, and found without a call of __getattr__, but for what NumPy loads late.
_late = {"testing"}  # found by __getattr__, whether NumPy has loaded it or not
_names = {name: part for name, part in vars(_numpy).items() if name[0] != "_" if name not in _late}
_names |= {name: SCALARS.get(cls, cls) for name, cls in _names.items() if isinstance(cls, type)}
_names |= readers(_names)
globals().update({name: part for name, part in _names.items() if name not in globals()})


__name__ = "numpy"  # to all who ask


def __getattr__(name: str) -> Any:
    if name in _late:
        return importlib.import_module(".testing", __package__)
    return getattr(_numpy, name)


def __dir__() -> list[str]:
    return dir(_numpy)
