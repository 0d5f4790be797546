"""Recorded values: they stand for the plain numbers and arrays of one call, and of the next.

To every transform, and to every rule, a recorded value is a plain number or array. What is computed
with it is recorded, comparisons too. What looks at its numbers and goes on without it is a *look*:
``if x > 0``, ``int(x)``, ``range(n)``, ``np.asarray(x)``, a text, an attribute that nobody knows.
The recorder notes what was seen, and a run that would see something else is another recording. The
slot ``primal``, where traced values keep what they carry, is a look as well, so that no code can
read a number unseen; shapes, dtypes and the order of memory belong to the recording.
"""

import math
import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from ...rules import TracedArray, TracedNumber
from ...rules.tracing.funnel import call
from ...rules.tracing.views import give_value, root_of
from ..ir.looks import NotRecordable


def _recorded_comparison(ufunc: Any, operation: Callable) -> Callable:
    def compare(self: Any, other: Any) -> Any:
        return self.at_level.binary(ufunc, operation, self, other)

    return compare


def _recorded_call(f: Any) -> Callable:
    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        return call(f, (self, *args), kwargs)

    return method


def _look(kind: str, convert: Callable) -> Callable:
    def look(self: Any, *args: Any) -> Any:
        return self.at_level.look(self, kind, convert, args)

    return look


def _of_sample(name: str) -> property:
    return property(operator.attrgetter("sample." + name))


def _whole(x: Any) -> Any:
    """Return a copy that cannot be written to, since what was written would be lost."""
    if type(x) is np.ndarray:
        x = x.copy()
        x.flags.writeable = False
    return x


def _converted(x: Any, dtype: Any = None, copy: Any = None) -> np.ndarray:
    return np.array(x, dtype) if copy else _whole(np.array(x, dtype))


def _attribute(name: str) -> Callable:
    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        return getattr(self.at_level.look(self, "value", _whole), name)(*args, **kwargs)

    return method


class _Recorded:
    """Base class of recorded numbers and arrays."""

    __slots__ = ()
    records = True

    at_level: Any
    sample: Any

    __class__ = property(lambda self: type(self.sample))

    @property
    def primal(self) -> Any:
        return self.at_level.look(self, "value", _whole)

    def peek(self) -> Any:
        return self.sample

    __eq__ = _recorded_comparison(np.equal, operator.eq)
    __ne__ = _recorded_comparison(np.not_equal, operator.ne)
    __lt__ = _recorded_comparison(np.less, operator.lt)
    __le__ = _recorded_comparison(np.less_equal, operator.le)
    __gt__ = _recorded_comparison(np.greater, operator.gt)
    __ge__ = _recorded_comparison(np.greater_equal, operator.ge)

    __bool__ = _look("bool", bool)
    __float__ = _look("float", float)
    __int__ = _look("int", int)
    __complex__ = _look("complex", complex)
    __index__ = _look("index", operator.index)
    __floor__, __ceil__ = _look("floor", math.floor), _look("ceil", math.ceil)
    __trunc__ = _look("trunc", math.trunc)
    __str__, __repr__ = _look("value", str), _look("value", repr)
    __format__ = _look("value", format)

    def __array__(self, dtype: Any = None, copy: Any = None) -> np.ndarray:
        return self.at_level.look(self, "value", _converted, (dtype, copy))

    def __round__(self, digits: Any = None) -> Any:
        if digits is None:
            return self.at_level.look(self, "round", round)
        return call(round, (self, digits), {})

    def __reduce_ex__(self, protocol: Any) -> Any:
        return self.primal.__reduce_ex__(protocol)

    def __getattr__(self, name: str) -> Any:
        if name in _EMPTY or name.startswith("__") or not hasattr(type(self.sample), name):
            raise AttributeError(name)  # the type belongs to the recording
        return getattr(self.at_level.look(self, "value", _whole), name)

    def astype(self, dtype: Any, *args: Any, **options: Any) -> Any:
        if np.dtype(dtype) == object:
            return self.at_level.look(self, "value", _whole).astype(dtype)
        plain: Any = self
        return TracedNumber.astype(plain, dtype, *args, **options)

    all, any = _recorded_call(np.all), _recorded_call(np.any)
    argmax, argmin = _recorded_call(np.argmax), _recorded_call(np.argmin)
    argsort, argpartition = _recorded_call(np.argsort), _recorded_call(np.argpartition)
    nonzero, searchsorted = _recorded_call(np.nonzero), _recorded_call(np.searchsorted)
    is_integer = _recorded_call(operator.methodcaller("is_integer"))  # a truth is looked at
    tobytes, tofile, view = _attribute("tobytes"), _attribute("tofile"), _attribute("view")
    dump, dumps = _attribute("dump"), _attribute("dumps")

    dtype, shape, ndim = _of_sample("dtype"), _of_sample("shape"), _of_sample("ndim")
    size, itemsize, nbytes = _of_sample("size"), _of_sample("itemsize"), _of_sample("nbytes")
    strides, flags = _of_sample("strides"), _of_sample("flags")


# Slots that may be empty.
_EMPTY = frozenset({"base_and_path", "memory", "at_level", "sample", "position"})


class RecordedNumber(_Recorded, TracedNumber):
    """A number that step ``position`` of a recording gives; ``sample`` is that of this run."""

    __slots__ = ("position", "sample")
    position: int

    def __hash__(self) -> int:
        if self.at_level.refuses_hash():
            raise NotRecordable("a number that a cache keeps results by (functools.lru_cache)")
        return hash(self.at_level.look(self, "value", _whole))


class RecordedArray(_Recorded, TracedArray):
    """An array that step ``position`` of a recording gives; ``sample`` is that of this run."""

    __slots__ = ("position", "sample")
    position: int

    __hash__ = None

    def __getattr__(self, name: str) -> Any:
        if name in ("sample", "position") and root_of(self)[1]:
            give_value(self)  # a view of an array that was written to
            return getattr(self, name)
        return _Recorded.__getattr__(self, name)

    def __len__(self) -> int:
        return len(self.sample)

    def __contains__(self, x: Any) -> bool:
        return bool(np.any(self == x))

    def tolist(self) -> Any:
        if self.ndim == 0:
            return self.item()
        if self.ndim == 1:
            return [self.item(i) for i in range(len(self))]
        return [row.tolist() for row in self]
