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
import itertools
import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as _numpy

from .. import _rulesets
from .._numbers import SCALARS
from .._readers import Joining, readers
from ..rules import array_of, as_dtype, innermost, is_traced, value
from ..rules.engines.buffers import all_settled, buffer
from ..rules.tracing.object_arrays import healed, is_object_array, is_plain
from ..rules.tracing.running import a_run

_functions = _rulesets.functions
_ALWAYS = _numpy._CopyMode.ALWAYS


def _as_array(x: Any) -> Any:
    """Return an array of what is traced; of a number an array without axes."""
    y = array_of(x)
    return y if hasattr(y, "__len__") else _numpy.copy(y)


def array(object: Any, dtype: Any = None, **options: Any) -> Any:
    """As ``numpy.array``; the entries may be traced."""
    if is_plain(object):
        y = _numpy.array(object, dtype, **options) if options else _numpy.array(object, dtype)
        return y if a_run() is None else buffer(y)
    if not is_traced(object):
        return buffer(healed(_numpy.array(object, dtype, **options)))
    y = _as_array(object)
    copied = options.pop("copy", True)
    y = _numpy.copy(y) if copied is True or copied is _ALWAYS else y
    ndmin = options.pop("ndmin", 0)
    for name in ("order", "subok"):  # where it lies in memory is ours; there are no sub-classes
        options.pop(name, None)
    if options:
        raise TypeError(f"array of traced values does not support {', '.join(options)}.")
    y = y if dtype is None else as_dtype(y, dtype)
    return y[(None,) * (ndmin - y.ndim)] if y.ndim < ndmin else y


def asarray(a: Any, dtype: Any = None, **options: Any) -> Any:
    """As ``numpy.asarray``; a traced array is returned as it is."""
    plain = is_plain(a)
    if not plain and is_object_array(a) and not a.flags.writeable:
        a = healed(a)  # as x.__array__() gave it, of which nobody can see that this is a copy
    if plain or not is_traced(a):
        y = _numpy.asarray(a, dtype, **options)
        return y if y is a or a_run() is None else buffer(y)
    y = _as_array(a)
    return y if dtype is None or y.dtype == dtype else as_dtype(y, dtype)


asanyarray = ascontiguousarray = asfortranarray = asarray


def asarray_chkfinite(a: Any, dtype: Any = None, order: Any = None) -> Any:
    """As ``numpy.asarray_chkfinite``; the entries may be traced."""
    if is_traced(a):
        _numpy.asarray_chkfinite(value(array_of(a)))
        return asarray(a, dtype)
    return _numpy.asarray_chkfinite(a, dtype, order)


def require(a: Any, dtype: Any = None, requirements: Any = None, **options: Any) -> Any:
    """As ``numpy.require``; a traced array owns its memory, and may be written to."""
    if is_traced(a):
        return asarray(a, dtype)
    return _numpy.require(a, dtype, requirements, **options)


def full(shape: Any, fill_value: Any, dtype: Any = None, **options: Any) -> Any:
    """As ``numpy.full``; ``fill_value`` may be traced."""
    if is_plain(fill_value) or not is_traced(fill_value):
        y = _numpy.full(shape, fill_value, dtype, **options)
        return y if a_run() is None else buffer(y)
    y = _numpy.copy(_numpy.broadcast_to(array_of(fill_value), shape))
    return y if dtype is None else as_dtype(y, dtype)


def arange(*limits: Any, dtype: Any = None, **options: Any) -> Any:
    """As ``numpy.arange``; start and step may be traced, the number of entries is fixed."""
    if (is_plain(limits) and not options) or not is_traced((limits, options)):
        y = _numpy.arange(*limits, dtype=dtype, **options)
        return y if a_run() is None else buffer(y)
    start, stop, step = (0, limits[0], 1) if len(limits) == 1 else (*limits, 1)[:3]
    step = options.pop("step", step)
    count = max(int(_numpy.ceil((stop - start) / step)), 0)
    return start + step * _numpy.arange(count)


def fromiter(iterable: Any, dtype: Any, count: int = -1) -> Any:
    """As ``numpy.fromiter``; the entries may be traced."""
    entries = list(iterable if count < 0 else itertools.islice(iterable, count))
    if len(entries) < count or not is_traced(entries):
        return buffer(_numpy.fromiter(value(entries), dtype, count))
    return array(entries, dtype)


class vectorize(_numpy.vectorize):  # noqa: N801 - NumPy's own name
    """As ``numpy.vectorize``; the arguments may be traced, and so may be what it captures."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        level = innermost((*args, *kwargs.values()))
        if level is not None:
            return level.call(self, args, kwargs)
        if self.otypes and a_run() is not None:
            return _functions.vectorized.vectorized(self, *args, **kwargs)
        return super().__call__(*args, **kwargs)


def frompyfunc(func: Callable, /, nin: int, nout: int, **options: Any) -> Any:
    """As ``numpy.frompyfunc``; the arguments may be traced."""
    return _FromPython(func, _numpy.frompyfunc(func, nin, nout, **options))


class _FromPython:
    """A ufunc of Python code that sees traced values, if it is called, not by its methods."""

    def __init__(self, func: Callable, ufunc: _numpy.ufunc) -> None:
        self._vectorized = vectorize(func)
        self._ufunc = ufunc

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if kwargs or not is_traced(args):
            return self._ufunc(*args, **kwargs)
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
    copy = ModuleType(module.__name__.replace("numpy", __name__, 1), module.__doc__)
    series = _rulesets.arrays.series
    for name, part in vars(module).items():
        if isinstance(part, ModuleType) and part.__name__.startswith("numpy.polynomial."):
            part = _followed(part)
        if not name.startswith("__"):
            setattr(copy, name, series.FUNCTIONS.get(name, series.CLASSES.get(name, part)))
    sys.modules[copy.__name__] = copy
    return copy


def _shown(module: ModuleType, instead: Any) -> ModuleType:
    """Return a copy of a module with what ``instead`` makes of its names."""
    copy = ModuleType(module.__name__.replace("numpy", __name__, 1), module.__doc__)
    names = {name: part for name, part in vars(module).items() if not name.startswith("__")}
    vars(copy).update(names | instead(names) | {"__all__": module.__all__})
    sys.modules[copy.__name__] = copy
    return copy


polynomial = _followed(_numpy.polynomial)
linalg, fft = _shown(_numpy.linalg, readers), _shown(_numpy.fft, readers)
random = _shown(_numpy.random, lambda _: _rulesets.functions.random.INSTEAD)
r_, c_ = Joining(_numpy.r_), Joining(_numpy.c_)

# For `from chainrules.numpy.lib import stride_tricks`: NumPy's own modules. (The stubs beside this
# file are for type checkers.)
for _name in ("exceptions", "lib", "lib.stride_tricks"):
    sys.modules[f"{__name__}.{_name}"] = importlib.import_module(f"numpy.{_name}")

# All else is NumPy's, and found without a call of __getattr__, but for what NumPy loads late.
_names = {name: part for name, part in vars(_numpy).items() if name[0] != "_"}
_names |= {name: SCALARS.get(cls, cls) for name, cls in _names.items() if isinstance(cls, type)}
_names |= readers(_names)
globals().update({name: part for name, part in _names.items() if name not in globals()})


def __getattr__(name: str) -> Any:
    return getattr(_numpy, name)


def __dir__() -> list[str]:
    return sorted({*globals(), *dir(_numpy)})
