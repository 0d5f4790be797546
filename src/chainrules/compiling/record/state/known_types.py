"""Types whose objects can be inspected: those where it is known what refers to other objects.

A class that Python code defines keeps its fields in a dict and in slots. What else its objects hold
is that of the first class below it that is written in C, and of these there is a list.
"""

import _thread
import ctypes
import datetime
import re
import types
import typing
import weakref
from typing import Any

import numpy as np

_HEAP, _IMMUTABLE = 1 << 9, 1 << 8  # flags of a class
_WORD = 8  # bytes

# Objects of exactly these types hold nothing that can change.
LEAVES = frozenset({
    float, int, complex, bool, str, bytes, type(None), type(...), type(NotImplemented), range,
    object, types.CodeType, types.GenericAlias, types.UnionType, re.Pattern, re.Match,
    types.WrapperDescriptorType, types.MethodDescriptorType, types.ClassMethodDescriptorType,
    types.GetSetDescriptorType, types.MemberDescriptorType, typing.TypeVar, typing.ParamSpec,
    datetime.date, datetime.datetime, datetime.time, datetime.timedelta, datetime.timezone,
    _thread.LockType, _thread.RLock, np.ufunc, type(np.sum), type(datetime.datetime_CAPI),
    *{kind for kind in np.sctypeDict.values() if kind not in (np.void, np.object_)},
})  # fmt: skip
# Those of our own, and of the library, that hold no more than what they were made with.
_LEAVES_BY_NAME = frozenset({
    "_abc_data", "ZoneInfo", "Struct", "itemgetter", "_tuplegetter", "AxisProperty",
    "CachedProperty",
})  # fmt: skip
_OF_LIBRARY = frozenset({
    "_abc", "zoneinfo", "_struct", "operator", "_collections", "collections",
    "pandas._libs.properties",
})  # fmt: skip
# What numba compiled keeps the globals and cells that it read then.
_OF_NUMBA = frozenset({"DUFunc", "GUFunc", "CPUDispatcher"})
_FUNCTIONS_IN_C = frozenset({"cython_function_or_method", "fused_cython_function"})
_SIMPLE_CTYPES = "cbBhHiIlLqQfdg?ueEFC"  # codes of numbers, none of which is an address


def is_leaf(x: Any) -> bool:
    cls = type(x)
    return (
        cls in LEAVES
        or isinstance(x, np.dtype)
        or cls.__module__ == "typing"
        or (cls.__name__ in _LEAVES_BY_NAME and cls.__module__ in _OF_LIBRARY)
        or cls.__name__ in _FUNCTIONS_IN_C
        or (cls.__name__ in _OF_NUMBA and cls.__module__.startswith("numba."))
    )


_known: "weakref.WeakKeyDictionary[type, bool]" = weakref.WeakKeyDictionary()


def is_of_python(cls: type) -> bool:
    """Say whether Python code defined a class, so that its fields are in a dict and in slots."""
    found = _known.get(cls)
    if found is None:
        found = _known[cls] = _is_of_python(cls)
    return found


def _is_of_python(cls: type) -> bool:
    flags, base = cls.__flags__, cls.__base__
    if not flags & _HEAP or flags & _IMMUTABLE or "__module__" not in vars(cls) or base is None:
        return False
    if type(cls) is not type and not is_of_python(type(cls)):
        return False
    described = types.MemberDescriptorType, types.MethodDescriptorType
    own = [type(x) for x in vars(cls).values() if type(x) in described and x.__objclass__ is cls]
    slots = own.count(types.MemberDescriptorType)
    if types.MethodDescriptorType in own:
        return False
    # A dict and weak references take a word each.
    return cls.__basicsize__ - base.__basicsize__ <= _WORD * (slots + 2)


def solid(cls: type) -> type:
    """Return the first class below ``cls`` that Python code did not define."""
    while is_of_python(cls) and cls.__base__ is not None:
        cls = cls.__base__
    return cls


def slots_of(cls: type) -> list[tuple[str, Any]]:
    """Return the slots of objects of a class, and of those below it, each with its name."""
    return [
        (name, slot)
        for base in cls.__mro__
        if is_of_python(base)
        for name, slot in vars(base).items()
        if type(slot) is types.MemberDescriptorType
    ]


def is_simple_ctype(cls: Any) -> bool:
    """Say whether a class of ctypes has numbers only: no addresses of other memory."""
    if issubclass(cls, ctypes._SimpleCData):
        return cls._type_ in _SIMPLE_CTYPES
    if issubclass(cls, ctypes.Array):
        return is_simple_ctype(cls._type_)
    if issubclass(cls, ctypes.Structure | ctypes.Union):
        fields = [field for base in cls.__mro__ for field in vars(base).get("_fields_", ())]
        return all(is_simple_ctype(field[1]) for field in fields)
    return False
