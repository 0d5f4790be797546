"""How values nest: tuples, lists, dicts, namedtuples, dataclasses, objects with fields.

Everything that walks a nested value (tracing, projecting, zeros, flattening) asks
``children``; nobody else decides what a container is.
"""

import copy
import dataclasses
import enum
import sys
import types
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np


class Children(NamedTuple):
    """The parts of a container: their names, the parts, and how to build it anew."""

    keys: tuple
    values: tuple
    rebuild: Callable[[list], Any]


# Types that never hold anything; asked first, because nearly every value is one of these.
LEAVES: set[type] = {
    float,
    int,
    complex,
    bool,
    str,
    bytes,
    type(None),
    type,
    slice,
    type(...),
    range,
    np.ndarray,
    np.float64,
    np.float32,
    np.int64,
    np.complex128,
    np.complex64,
    np.int32,
    np.bool_,
    np.dtype,
    *map(type, map(np.dtype, np.typecodes["All"])),
    np.ufunc,
    type(np.sum),
    types.FunctionType,
    types.BuiltinFunctionType,
    types.MethodType,
    types.ModuleType,
    types.GeneratorType,
}
# Containers of our own tell their children themselves.
registered: dict[type, Callable[[Any], Children]] = {}
_FOREIGN = {*sys.stdlib_module_names, "numpy", "scipy", "chainrules"}


def children(x: Any) -> Children | None:
    """Return the parts of ``x``, or None where ``x`` is not a container.

    Examples
    --------
    >>> children({"a": 1.0, "b": 2.0}).keys
    ('a', 'b')
    >>> children((1.0, 2.0)).rebuild([3.0, 4.0])
    (3.0, 4.0)
    >>> children(1.0) is None
    True
    """
    cls = type(x)
    if cls in LEAVES:
        return None
    if cls in registered:
        return registered[cls](x)
    if cls is tuple or cls is list:
        return Children(tuple(range(len(x))), tuple(x), cls)
    if issubclass(cls, dict):
        return Children(tuple(x), tuple(x.values()), lambda values: _copy_dict(x, values))
    if issubclass(cls, tuple):
        if hasattr(cls, "_fields"):
            return Children(cls._fields, tuple(x), cls._make)  # type: ignore[attr-defined]
        return Children(tuple(range(len(x))), tuple(x), cls)
    if issubclass(cls, list):
        return Children(tuple(range(len(x))), tuple(x), cls)
    names = field_names(x)
    if names is None:
        return None
    present = tuple(name for name in names if hasattr(x, name))
    values = tuple(getattr(x, name) for name in present)
    return Children(present, values, lambda values: _copy_object(x, present, values))


def field_names(x: Any) -> tuple[str, ...] | None:
    """Return the fields of a dataclass, an attrs object or an object of a user's class."""
    cls = type(x)
    if dataclasses.is_dataclass(cls):
        return tuple(field.name for field in dataclasses.fields(cls))
    attributes = getattr(cls, "__attrs_attrs__", None)
    if attributes is not None:
        return tuple(attribute.name for attribute in attributes)
    if (
        cls.__module__.partition(".")[0] in _FOREIGN
        or isinstance(x, type | enum.Enum | BaseException)
        or hasattr(cls, "__array__")
        or hasattr(cls, "__array_ufunc__")
        # An iterator is used up by reading it, so a rebuilt copy would share its state.
        or hasattr(cls, "__next__")
    ):
        return None
    slots = [name for base in cls.__mro__ for name in _slots(base)]
    fields = (*slots, *getattr(x, "__dict__", ()))
    return fields or None


def _slots(cls: type) -> tuple[str, ...]:
    slots = cls.__dict__.get("__slots__", ())
    slots = (slots,) if isinstance(slots, str) else tuple(slots)
    return tuple(name for name in slots if not name.startswith("__"))


def _copy_dict(x: dict, values: list) -> dict:
    # A copy keeps the class and what else it holds (a defaultdict's factory, an order).
    y = copy.copy(x)
    y.update(zip(x, values, strict=True))
    return y


def _copy_object(x: Any, names: tuple[str, ...], values: list) -> Any:
    y = copy.copy(x)
    for name, value in zip(names, values, strict=True):
        object.__setattr__(y, name, value)  # frozen dataclasses forbid their own setattr
    return y


def find_cycle(x: Any) -> str | None:
    """Return the fields that lead from a part of ``x`` back to it, or None.

    Examples
    --------
    >>> entries = [1.0]
    >>> entries.append({"all": entries})
    >>> find_cycle(entries)
    "list[1]['all'] is the same list again"
    """
    path: list[tuple[Any, str]] = []
    todo: list[tuple[int, Any, str]] = [(0, x, "")]
    done: set[int] = set()
    while todo:
        depth, part, step = todo.pop()
        del path[depth:]
        for start, (held, _) in enumerate(path):
            if held is part:
                steps = "".join(text for _, text in path[start + 1 :])
                name = type(part).__name__
                return f"{name}{steps}{step} is the same {name} again"
        parts = None if id(part) in done else children(part)
        if parts is None:
            continue
        done.add(id(part))
        path.append((part, step))
        for key, value in zip(parts.keys, parts.values, strict=True):
            field = isinstance(key, str) and not isinstance(part, dict)
            todo.append((depth + 1, value, f".{key}" if field else f"[{key!r}]"))
    return None


def map_leaves(f: Callable[[Any], Any], x: Any) -> Any:
    """Rebuild ``x`` with ``f`` applied to every leaf."""
    parts = children(x)
    if parts is None:
        return f(x)
    return parts.rebuild([map_leaves(f, value) for value in parts.values])


def iterate_leaves(x: Any) -> Iterator[Any]:
    """Yield the leaves of ``x``, depth first."""
    parts = children(x)
    if parts is None:
        yield x
    else:
        for value in parts.values:
            yield from iterate_leaves(value)
