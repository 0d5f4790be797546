"""Tangents and cotangents of containers, and the sums of tangents of any form.

One family of types serves both directions. Numbers and arrays are their own tangents;
zeros, thunks and missing derivatives have files of their own, and are gathered here.
"""

import functools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ..config import TangentError
from .containers import Children, children, field_names, registered
from .hard_zeros import NO_TANGENT, ZERO, AbstractZero, NoTangent, ZeroTangent, sum_of_zeros
from .not_implemented import NotImplementedTangent, not_implemented
from .thunks import InplaceableThunk, Thunk, thunk, unthunk

__all__ = [
    "NO_TANGENT",
    "ZERO",
    "AbstractZero",
    "InplaceableThunk",
    "NoTangent",
    "NotImplementedTangent",
    "Tangent",
    "Thunk",
    "ZeroTangent",
    "add",
    "add_to_primal",
    "child_tangents",
    "derivative_like",
    "not_implemented",
    "sum_tangents",
    "thunk",
    "unthunk",
]


class Tangent:
    """The tangent of a container: one tangent per field, key or position.

    ``Tangent(Foo, a=1.0)`` for an object with fields (absent ones are zero),
    ``Tangent(tuple, 1.0, 2.0)`` by position, ``Tangent(dict, {"a": 1.0})`` by key.

    Raises
    ------
    TangentError
        If the fields are not fields of the primal's type.

    Examples
    --------
    >>> t = Tangent(tuple, 1.0, ZeroTangent())
    >>> 2 * t + t
    Tangent(tuple, 3.0, ZeroTangent())
    >>> (5.0, 6.0) + t
    (6.0, 6.0)
    """

    __slots__ = ("backing", "primal_type")
    __array_ufunc__ = None

    primal_type: Any
    backing: Any

    def __init__(self, primal_type: Any, /, *items: Any, **fields: Any) -> None:
        backing: Any
        names = getattr(primal_type, "_fields", None)
        if isinstance(primal_type, type) and issubclass(primal_type, dict):
            backing = dict(*items, **fields)
        elif names is not None and items:
            if len(items) != len(names):
                raise TangentError(f"{primal_type.__name__} has {len(names)} fields, "
                                   f"and its Tangent was given {len(items)}.")  # fmt: skip
            backing = dict(zip(names, items, strict=True))
        elif isinstance(primal_type, type) and issubclass(primal_type, tuple | list) and not names:
            if fields:
                raise TangentError(f"the Tangent of a {primal_type.__name__} has no named fields.")
            backing = items
        elif items:
            raise TangentError(f"name the fields: Tangent({primal_type.__name__}, field=...).")
        else:
            backing = fields
            _check_fields(primal_type, fields)
        object.__setattr__(self, "primal_type", primal_type)
        object.__setattr__(self, "backing", backing)

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError("a Tangent cannot be written to; build another")

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        if isinstance(self.backing, dict):
            return unthunk(self.backing.get(name, ZERO))
        raise AttributeError(f"the Tangent of a {self.primal_type.__name__} has no field {name!r}")

    def __getitem__(self, key: Any) -> Any:
        if isinstance(self.backing, dict):
            names = getattr(self.primal_type, "_fields", None)
            key = names[key] if names is not None and isinstance(key, int) else key
            return unthunk(self.backing.get(key, ZERO))
        return unthunk(self.backing[key])

    def __iter__(self) -> Iterator[Any]:
        names = getattr(self.primal_type, "_fields", None)
        if names is not None:
            return (unthunk(self.backing.get(name, ZERO)) for name in names)
        if isinstance(self.backing, dict):
            return iter(self.backing)
        return (unthunk(item) for item in self.backing)

    def __len__(self) -> int:
        return len(getattr(self.primal_type, "_fields", self.backing))

    def keys(self) -> Any:
        """Return the names, keys or positions that are listed."""
        return self.backing.keys() if isinstance(self.backing, dict) else range(len(self.backing))

    def __repr__(self) -> str:
        name = getattr(self.primal_type, "__name__", str(self.primal_type))
        if not isinstance(self.backing, dict):
            return f"Tangent({', '.join([name, *map(repr, self.backing)])})"
        if isinstance(self.primal_type, type) and issubclass(self.primal_type, dict):
            return f"Tangent({name}, {self.backing!r})"
        return f"Tangent({', '.join([name, *(f'{k}={v!r}' for k, v in self.backing.items())])})"

    def like(self, backing: Any) -> "Tangent":
        """Return a Tangent of the same type with other parts."""
        new = object.__new__(Tangent)
        object.__setattr__(new, "primal_type", self.primal_type)
        object.__setattr__(new, "backing", backing)
        return new

    def map(self, f: Callable[[Any], Any]) -> "Tangent":
        """Apply the linear ``f`` to every part."""
        if isinstance(self.backing, dict):
            return self.like({key: f(value) for key, value in self.backing.items()})
        return self.like(tuple(f(value) for value in self.backing))

    def __add__(self, other: Any) -> Any:
        if isinstance(other, AbstractZero):
            return self
        if isinstance(other, NotImplementedTangent):
            return other
        if not isinstance(other, Tangent):
            return add_to_primal(other, self)
        if other.primal_type is not self.primal_type:
            raise TangentError(f"a Tangent of {self.primal_type.__name__} cannot be added to "
                               f"a Tangent of {other.primal_type.__name__}.")  # fmt: skip
        if isinstance(self.backing, dict):
            merged = dict(self.backing)
            for key, value in other.backing.items():
                merged[key] = add(merged[key], value) if key in merged else value
            return self.like(merged)
        if len(self.backing) != len(other.backing):
            raise TangentError("two Tangents of different lengths cannot be added.")
        return self.like(tuple(map(add, self.backing, other.backing)))

    __radd__ = __add__

    def __neg__(self) -> "Tangent":
        return self.map(lambda part: -unthunk(part))

    def __sub__(self, other: Any) -> Any:
        return self + (-other)

    def __rsub__(self, other: Any) -> Any:
        return other + (-self)

    def __mul__(self, scale: Any) -> Any:
        if isinstance(scale, AbstractZero):
            return scale
        if np.ndim(scale) != 0 or isinstance(scale, Tangent):
            return NotImplemented
        return self.map(lambda part: unthunk(part) * scale)

    __rmul__ = __mul__

    def __truediv__(self, scale: Any) -> Any:
        if np.ndim(scale) != 0 or isinstance(scale, Tangent):
            return NotImplemented
        return self.map(lambda part: unthunk(part) / scale)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Tangent) or other.primal_type is not self.primal_type:
            return False
        keys = {**dict.fromkeys(self.keys()), **dict.fromkeys(other.keys())}
        if not isinstance(self.backing, dict) and len(self.backing) != len(other.backing):
            return False
        return all(_equal(self[key], other[key]) for key in keys)

    __hash__ = None  # type: ignore[assignment]


def _children_of_tangent(t: Tangent) -> Children:
    if isinstance(t.backing, dict):
        names = tuple(t.backing)
        return Children(
            names,
            tuple(t.backing.values()),
            lambda values: t.like(dict(zip(names, values, strict=True))),
        )
    return Children(tuple(range(len(t.backing))), t.backing, lambda values: t.like(tuple(values)))


# Derivatives of gradients: what is differentiated may itself be a Tangent.
registered[Tangent] = _children_of_tangent


def derivative_like(x: Any, values: list) -> Any:
    """Return the derivative of the container ``x`` that has ``values`` as its parts."""
    parts = children(x)
    assert parts is not None
    if isinstance(x, tuple | list | dict | Tangent):
        return parts.rebuild(values)
    return Tangent(type(x), **dict(zip(parts.keys, values, strict=True)))


def _check_fields(primal_type: Any, fields: dict) -> None:
    known = getattr(primal_type, "_fields", None)
    if known is None:
        annotated = getattr(primal_type, "__dataclass_fields__", None)
        known = annotated if annotated is not None else None
    if known is None:
        return
    unknown = [name for name in fields if name not in known]
    if unknown:
        raise TangentError(f"{primal_type.__name__} has no field {unknown[0]!r}; "
                           f"its fields are {', '.join(known)}.")  # fmt: skip


def _equal(a: Any, b: Any) -> bool:
    if isinstance(a, AbstractZero) or isinstance(b, AbstractZero):
        other = b if isinstance(a, AbstractZero) else a
        return isinstance(other, AbstractZero) or bool(np.all(np.equal(other, 0)))
    return bool(np.all(a == b))


def add_to_primal(x: Any, xdot: Any) -> Any:
    """Move the value ``x`` along ``xdot``; containers are rebuilt part by part."""
    xdot = unthunk(xdot)
    if isinstance(xdot, AbstractZero):
        return x
    if not isinstance(xdot, Tangent):
        return x + xdot
    parts = children(x)
    if parts is None or not isinstance(x, xdot.primal_type):
        raise TangentError(f"a Tangent of {xdot.primal_type.__name__} cannot be added to "
                           f"a {type(x).__name__}.")  # fmt: skip
    moved = [
        add_to_primal(value, part)
        for value, part in zip(parts.values, child_tangents(x, xdot), strict=True)
    ]
    return parts.rebuild(moved)


def child_tangents(x: Any, t: Any) -> list:
    """Return one tangent per child of the container ``x``, from any form a tangent may take.

    Raises
    ------
    TangentError
        If ``t`` does not have the structure of ``x``.
    """
    parts = children(x)
    assert parts is not None
    t = unthunk(t)
    if isinstance(t, AbstractZero):
        return [t] * len(parts.keys)
    by_name = isinstance(x, dict) or not isinstance(x, tuple | list)
    if isinstance(t, Tangent):
        if isinstance(t.backing, dict):
            unknown = [key for key in t.backing if key not in parts.keys]
            if unknown:
                raise TangentError(f"a {type(x).__name__} has no part {unknown[0]!r}.")
            return [unthunk(t.backing.get(key, ZERO)) for key in parts.keys]
        items: Any = t.backing
    elif by_name and isinstance(t, dict):
        return child_tangents(x, Tangent(dict, t))
    elif by_name or isinstance(t, str | bytes):
        if type(t) is not type(x):
            raise TangentError(f"the tangent of a {type(x).__name__} is a Tangent or a dict, "
                               f"not a {type(t).__name__}.")  # fmt: skip
        items = [getattr(t, name, ZERO) for name in field_names(t) or ()]
    else:
        try:
            items = list(t)
        except TypeError:
            raise TangentError(f"the tangent of a {type(x).__name__} of {len(parts.keys)} is a "
                               f"sequence, not a {type(t).__name__}.") from None  # fmt: skip
    if len(items) != len(parts.keys):
        raise TangentError(f"the tangent of a {type(x).__name__} of {len(parts.keys)} parts "
                           f"has {len(items)}.")  # fmt: skip
    return [unthunk(item) for item in items]


def add(a: Any, b: Any) -> Any:
    """Return ``a + b`` for tangents of any form; never written into either."""
    a, b = unthunk(a), unthunk(b)
    if issubclass(type(a), AbstractZero):
        return b if not issubclass(type(b), AbstractZero) else sum_of_zeros(a, b)
    if issubclass(type(b), AbstractZero):
        return a
    if type(a) is tuple or type(a) is list or type(a) is dict:
        return Tangent(type(a), *a) + b if type(a) is not dict else Tangent(dict, a) + b
    return a + b


def sum_tangents(tangents: Any) -> Any:
    """Return the sum of an iterable of tangents, ``ZeroTangent()`` where it is empty."""
    return functools.reduce(add, tangents, ZERO)
