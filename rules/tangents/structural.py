"""Tangents and cotangents of containers, and the sums of tangents of any form.

One family of types serves both directions. Numbers and arrays are their own tangents;
zeros, thunks and missing derivatives have files of their own, and are gathered here.
"""

import dataclasses
import functools
import operator
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ...config import TangentError
from ..annotations import Tangentlike, Value
from ..containers import Children, Within, children, constants, fold, registered
from ..known_classes import built_in
from .missing import NotImplementedTangent, not_implemented
from .thunks import InplaceableThunk, Thunk, thunk, unthunk
from .zeros import NO_TANGENT, ZERO, AbstractZero, NoTangent, ZeroTangent, sum_of_zeros

_SHOWN = 12  # how deep a repr goes into a Tangent

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

    def __setattr__(self, name: str, value: Value) -> None:
        raise AttributeError("a Tangent cannot be written to; build another")

    def __getattr__(self, name: str) -> Any:
        if name == "__dataclass_fields__" and dataclasses.is_dataclass(self.primal_type):
            return self.primal_type.__dataclass_fields__  # for dataclasses.fields(tangent)
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
        return fold(_shown, self, 0)

    def like(self, backing: Any) -> "Tangent":
        """Return a Tangent of the same type with other parts."""
        new = object.__new__(Tangent)
        object.__setattr__(new, "primal_type", self.primal_type)
        object.__setattr__(new, "backing", backing)
        return new

    def map(self, f: Callable[[Any], Any]) -> "Tangent":
        """Apply the linear ``f`` to every part, and to the parts of those that have parts."""

        def look(t: Tangentlike) -> Any:
            t = unthunk(t)
            parts = children(t) if _is_sum(t) else None
            return f(t) if parts is None else Within(zip(parts.values), parts.rebuild)

        return fold(look, self)

    def __add__(self, other: Value) -> Any:
        if isinstance(other, NotImplementedTangent):
            return other
        if isinstance(other, AbstractZero | Tangent):
            return add(self, other)
        return add_to_primal(other, self)

    __radd__ = __add__

    def __neg__(self) -> "Tangent":
        return self.map(operator.neg)

    def __sub__(self, other: Value) -> Any:
        return self + (-other)

    def __rsub__(self, other: Value) -> Any:
        return other + (-self)

    def __mul__(self, scale: Any) -> Any:
        if isinstance(scale, AbstractZero):
            return scale
        if np.ndim(scale) != 0 or isinstance(scale, Tangent):
            return NotImplemented
        return self.map(lambda part: part * scale)

    __rmul__ = __mul__

    def __truediv__(self, scale: Any) -> Any:
        if np.ndim(scale) != 0 or isinstance(scale, Tangent):
            return NotImplemented
        return self.map(lambda part: part / scale)

    def __eq__(self, other: object) -> bool:
        return fold(_equal, self, other)

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


def derivative_like(x: Value, values: list) -> Any:
    """Return the derivative of the container ``x`` that has ``values`` as its parts."""
    parts = children(x)
    assert parts is not None
    if isinstance(x, tuple | list | dict | Tangent):
        return parts.rebuild(values)
    if type(x) in built_in:
        return built_in[type(x)].build(x, parts.keys, values)
    fixed = dict.fromkeys(constants(x), NO_TANGENT)
    return Tangent(type(x), **dict(zip(parts.keys, values, strict=True)), **fixed)


def _items(t: Tangent) -> Any:
    return t.backing.values() if isinstance(t.backing, dict) else t.backing


def _within(t: Tangent, nodes: Any) -> Within:
    """Look on at ``nodes``, one for each part of ``t``, and build a Tangent like ``t``."""
    if isinstance(t.backing, dict):
        return Within(nodes, lambda values: t.like(dict(zip(t.backing, values, strict=True))))
    return Within(nodes, lambda values: t.like(tuple(values)))


def _shown(t: Tangentlike, depth: int) -> Any:
    if type(t) is not Tangent:
        return repr(t)
    name = getattr(t.primal_type, "__name__", str(t.primal_type))
    if depth == _SHOWN:
        return f"Tangent({name}, ...)"
    labels: list[str] = [""] * len(t.backing)
    of_dict = isinstance(t.primal_type, type) and issubclass(t.primal_type, dict)
    if isinstance(t.backing, dict):
        labels = [f"{key!r}: " if of_dict else f"{key}=" for key in t.backing]

    def build(texts: list) -> str:
        items = [label + text for label, text in zip(labels, texts, strict=True)]
        if of_dict:
            return f"Tangent({name}, {{{', '.join(items)}}})"
        return f"Tangent({', '.join([name, *items])})"

    return Within([(part, depth + 1) for part in _items(t)], build)


def _check_fields(primal_type: Any, fields: dict) -> None:
    known = getattr(primal_type, "_fields", None)
    if known is None:
        known = getattr(primal_type, "__dataclass_fields__", None)
    if known is None:
        return
    listed = set(known)
    unknown = [name for name in fields if name not in listed]
    if unknown:
        raise TangentError(f"{primal_type.__name__} has no field {unknown[0]!r}; "
                           f"its fields are {', '.join(known)}.")  # fmt: skip


def _equal(a: Value, b: Value) -> Any:
    a, b = unthunk(a), unthunk(b)
    if type(a) is Tangent and type(b) is Tangent:
        if a.primal_type is not b.primal_type:
            return False
        if not isinstance(a.backing, dict):
            same_length = len(a.backing) == len(b.backing)
            return Within(zip(a.backing, b.backing), all) if same_length else False
        keys = {**a.backing, **b.backing}
        return Within([(a.backing.get(k, ZERO), b.backing.get(k, ZERO)) for k in keys], all)
    if isinstance(a, AbstractZero) or isinstance(b, AbstractZero):
        other = b if isinstance(a, AbstractZero) else a
        if type(other) is Tangent:
            return Within([(ZERO, part) for part in _items(other)], all)
        return isinstance(other, AbstractZero) or bool(np.all(np.equal(other, 0)))
    if type(a) is Tangent or type(b) is Tangent:
        return False
    return bool(np.all(a == b))


def add_to_primal(x: Value, xdot: Tangentlike) -> Any:
    """Move the value ``x`` along ``xdot``; containers are rebuilt part by part."""
    return fold(_moved, x, xdot)


def _moved(x: Value, xdot: Tangentlike) -> Any:
    xdot = unthunk(xdot)
    if isinstance(xdot, AbstractZero):
        return x
    if not _is_sum(xdot):
        return x + xdot
    parts = children(x)
    if parts is None or (type(xdot) is Tangent and not isinstance(x, xdot.primal_type)):
        of = getattr(xdot, "primal_type", type(xdot))
        raise TangentError(f"a Tangent of {of.__name__} cannot be added to "
                           f"a {type(x).__name__}.")  # fmt: skip
    return Within(zip(parts.values, child_tangents(x, xdot), strict=True), parts.rebuild)


def child_tangents(x: Value, t: Tangentlike) -> list:
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
    if type(t) in built_in:
        t = Tangent(type(t), **built_in[type(t)].parts(x, t))
    by_name = isinstance(x, dict) or not isinstance(x, tuple | list)
    if isinstance(t, Tangent):
        if isinstance(t.backing, dict):
            known = {*parts.keys, *constants(x)}
            unknown = [key for key in t.backing if key not in known]
            if unknown:
                raise TangentError(f"a {type(x).__name__} has no part {unknown[0]!r}.")
            return [unthunk(t.backing.get(key, ZERO)) for key in parts.keys]
        items: Any = t.backing
    elif by_name and isinstance(t, dict):
        return child_tangents(x, Tangent(dict, t))
    elif by_name or isinstance(t, str | bytes):
        if type(t) is not type(x):
            own = f"a {type(x).__name__}, " if type(x) in built_in else ""
            raise TangentError(f"the tangent of a {type(x).__name__} is {own}a Tangent or a dict, "
                               f"not a {type(t).__name__}.")  # fmt: skip
        items = [getattr(t, name, ZERO) for name in parts.keys]
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


def add(a: Value, b: Value) -> Any:
    """Return ``a + b`` for tangents of any form; never written into either."""
    a, b = unthunk(a), unthunk(b)
    if issubclass(type(a), AbstractZero):
        return b if not issubclass(type(b), AbstractZero) else sum_of_zeros(a, b)
    if issubclass(type(b), AbstractZero):
        return a
    if _is_sum(a) and _is_sum(b):
        return fold(_added, a, b)
    return a + b


def _is_sum(t: Tangentlike) -> bool:
    """Say whether ``t`` is the tangent of a container."""
    return issubclass(type(t), Tangent | tuple | list | dict)


def _added(a: Value, b: Value) -> Any:
    a, b = unthunk(a), unthunk(b)
    if not (_is_sum(a) and _is_sum(b)):
        return add(a, b)
    a, b = _as_tangent(a), _as_tangent(b)
    if b.primal_type is not a.primal_type:
        raise TangentError(f"a Tangent of {a.primal_type.__name__} cannot be added to "
                           f"a Tangent of {b.primal_type.__name__}.")  # fmt: skip
    if isinstance(a.backing, dict):
        whole = a.like({**a.backing, **b.backing})
        nodes = [(a.backing.get(key, ZERO), b.backing.get(key, ZERO)) for key in whole.backing]
        return _within(whole, nodes)
    if len(a.backing) != len(b.backing):
        raise TangentError("two Tangents of different lengths cannot be added.")
    return _within(a, zip(a.backing, b.backing))


def _as_tangent(t: Tangentlike) -> Tangent:
    if type(t) is Tangent:
        return t
    return Tangent(type(t), t) if isinstance(t, dict) else Tangent(type(t), *t)


def sum_tangents(tangents: Any) -> Any:
    """Return the sum of an iterable of tangents, ``ZeroTangent()`` where it is empty."""
    return functools.reduce(add, tangents, ZERO)
