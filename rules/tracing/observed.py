"""Observed values: proxies of plain numbers and arrays, whose level is told of each read of them.

To every transform, and to every rule, an observed value is a plain number or array. Its level
computes what is computed with it, comparisons too. What looks at its numbers and goes on without it
is a *look*: ``if x > 0``, ``int(x)``, ``range(n)``, ``np.asarray(x)``, a text, an attribute that
nobody knows. Its level says what is seen. The slot ``primal``, where traced values keep what they
carry, is a look as well, so that no code can read a number unseen; shapes, dtypes and the order of
memory are those of the ``sample``.
"""

import math
import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from .funnel import call
from .number import TracedNumber, binary_operator


def _called(f: Any) -> Callable:
    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        return call(f, (self, *args), kwargs)

    return method


def _look(kind: str, convert: Callable) -> Callable:
    def look(self: Any, *args: Any) -> Any:
        return self.at_level.look(self, kind, convert, args)

    return look


def _of_sample(name: str) -> property:
    return property(operator.attrgetter("sample." + name))


def whole_value(x: Any) -> Any:
    """Return a copy that cannot be written to, since what was written would be lost."""
    if type(x) is np.ndarray:
        x = x.copy()
        x.flags.writeable = False
    return x


def _converted(x: Any, dtype: Any = None, copy: Any = None) -> np.ndarray:
    return np.array(x, dtype) if copy else whole_value(np.array(x, dtype))


def _attribute(name: str) -> Callable:
    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        return getattr(self.at_level.look(self, "value", whole_value), name)(*args, **kwargs)

    return method


# Slots that may be empty.
EMPTY = frozenset({"base_and_path", "memory", "at_level", "sample", "position", "block"})


class Observed:
    """Base class of numbers and arrays whose level is told of each look.

    ``sample`` is a plain one of the same type, shape and order of memory.
    """

    __slots__ = ()
    records = True

    at_level: Any
    sample: Any

    __class__ = property(lambda self: type(self.sample))

    @property
    def primal(self) -> Any:
        return self.at_level.look(self, "value", whole_value)

    def peek(self) -> Any:
        return self.sample

    def whole(self) -> Any:
        """Return all that it stands for, to be told; what a batch has, for all items."""
        return self.sample

    __eq__ = binary_operator(np.equal, operator.eq)
    __ne__ = binary_operator(np.not_equal, operator.ne)
    __lt__ = binary_operator(np.less, operator.lt)
    __le__ = binary_operator(np.less_equal, operator.le)
    __gt__ = binary_operator(np.greater, operator.gt)
    __ge__ = binary_operator(np.greater_equal, operator.ge)

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
        if name in EMPTY or name.startswith("__") or not hasattr(type(self.sample), name):
            raise AttributeError(name)  # the type belongs to the recording
        return getattr(self.at_level.look(self, "value", whole_value), name)

    def astype(self, dtype: Any, *args: Any, **options: Any) -> Any:
        if np.dtype(dtype) == object:
            return self.at_level.look(self, "value", whole_value).astype(dtype)
        plain: Any = self
        return TracedNumber.astype(plain, dtype, *args, **options)

    all, any = _called(np.all), _called(np.any)
    argmax, argmin = _called(np.argmax), _called(np.argmin)
    argsort, argpartition = _called(np.argsort), _called(np.argpartition)
    nonzero, searchsorted = _called(np.nonzero), _called(np.searchsorted)
    is_integer = _called(operator.methodcaller("is_integer"))  # a truth is looked at
    tobytes, tofile, view = _attribute("tobytes"), _attribute("tofile"), _attribute("view")
    dump, dumps = _attribute("dump"), _attribute("dumps")

    dtype, shape, ndim = _of_sample("dtype"), _of_sample("shape"), _of_sample("ndim")
    size, itemsize, nbytes = _of_sample("size"), _of_sample("itemsize"), _of_sample("nbytes")
    strides, flags = _of_sample("strides"), _of_sample("flags")
