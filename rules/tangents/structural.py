"""Tangents and cotangents of containers, and the sums of tangents of any form.

The tangent of ``{"w": w, "n": 3}`` is ``Tangent(dict, {"w": wdot})``: what is left out does not
move.

One family of types serves both directions. Numbers and arrays are their own tangents;
zeros, thunks and missing derivatives have files of their own.
"""

import dataclasses
import operator
from collections.abc import Callable, Iterable, Iterator, KeysView
from functools import partial, reduce
from typing import Any

import numpy as np

from ...config import TangentError
from ..annotations import Tangentlike, Value
from ..containers import Children, Within, children, constants, fold, registered
from ..known_classes import Shell, built_in, form_of, is_quantity, rests
from .missing import NotImplementedTangent
from .thunks import unthunk
from .zeros import NO_TANGENT, ZERO, AbstractZero

_MOST_DEPTH = 12  # how deep a repr goes into a Tangent


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
    >>> t = Tangent(tuple, 1.0, cr.ZeroTangent())
    >>> 2 * t + t
    Tangent(tuple, 3.0, ZeroTangent())
    >>> (5.0, 6.0) + t
    (6.0, 6.0)
    """

    __slots__ = ("backing", "primal_type")
    __array_ufunc__ = None

    primal_type: Any
    backing: dict  # from a field, a key or a position to the tangent there

    def __init__(self, primal_type: Any, /, *items: Any, **fields: Any) -> None:
        names = getattr(primal_type, "_fields", None)
        if isinstance(primal_type, type) and issubclass(primal_type, dict):
            fields = dict(*items, **fields)
        elif _is_sequence(primal_type):
            if fields:
                raise TangentError(f"the Tangent of a {primal_type.__name__} has no named fields.")
            fields = dict(enumerate(items))  # type: ignore[arg-type]
        elif names is not None and items:
            if len(items) != len(names):
                raise TangentError(f"{primal_type.__name__} has {len(names)} fields, "
                                   f"and its Tangent was given {len(items)}.")  # fmt: skip
            fields = dict(zip(names, items, strict=True))
        elif items:
            raise TangentError(f"name the fields: Tangent({primal_type.__name__}, field=...).")
        else:
            _check_fields(primal_type, fields)
        object.__setattr__(self, "primal_type", primal_type)
        object.__setattr__(self, "backing", fields)

    def __setattr__(self, name: str, value: Value) -> None:
        raise AttributeError("a Tangent cannot be written to; build another")

    def __reduce__(self) -> tuple:
        return structural, (self.primal_type, tuple(self.backing), tuple(self.backing.values()))

    def __getattr__(self, name: str) -> Any:
        if name == "__dataclass_fields__" and dataclasses.is_dataclass(self.primal_type):
            return self.primal_type.__dataclass_fields__  # for dataclasses.fields(tangent)
        if name.startswith("__"):
            raise AttributeError(name)
        if _is_sequence(self.primal_type):
            of = self.primal_type.__name__
            raise AttributeError(f"the Tangent of a {of} has no field {name!r}")
        return unthunk(self.backing.get(name, ZERO))

    def __getitem__(self, key: Any) -> Any:
        if _is_sequence(self.primal_type):
            return unthunk(tuple(self.backing.values())[key])
        names = getattr(self.primal_type, "_fields", None)
        key = names[key] if names is not None and isinstance(key, int) else key
        return unthunk(self.backing.get(key, ZERO))

    def __iter__(self) -> Iterator[Any]:
        names = getattr(self.primal_type, "_fields", None)
        if names is None and not _is_sequence(self.primal_type):
            return iter(self.backing)
        return (unthunk(self.backing.get(key, ZERO)) for key in names or self.backing)

    def __len__(self) -> int:
        return len(getattr(self.primal_type, "_fields", self.backing))

    def keys(self) -> KeysView:
        """Return the names, keys or positions that are listed."""
        return self.backing.keys()

    def __repr__(self) -> str:
        return fold(_shown, self, 0)

    def like(self, values: list) -> "Tangent":
        """Return a Tangent of the same type with other parts."""
        return structural(self.primal_type, tuple(self.backing), values)

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
        return fold(_moved, other, self)

    __radd__ = __add__

    def __neg__(self) -> "Tangent":
        return self.map(operator.neg)

    def __sub__(self, other: Any) -> Any:
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


def structural(primal_type: object, keys: Iterable, parts: Iterable) -> Tangent:
    """Build the ``Tangent`` of a container from one part per key."""
    if primal_type is Tangent:
        primal_type = tuple if all(type(key) is int for key in keys) else dict
    new = object.__new__(Tangent)
    object.__setattr__(new, "primal_type", primal_type)
    object.__setattr__(new, "backing", dict(zip(keys, parts, strict=True)))
    return new


def _is_sequence(primal_type: object) -> bool:
    """Say whether a Tangent of this type has its parts by position, and not by name."""
    named = getattr(primal_type, "_fields", ())
    return isinstance(primal_type, type) and issubclass(primal_type, tuple | list) and not named


def _children_of_tangent(t: Tangent) -> Children:
    return Children(tuple(t.backing), tuple(t.backing.values()), t.like)


# Derivatives of gradients: what is differentiated may itself be a Tangent.
registered[Tangent] = _children_of_tangent
rests[Tangent] = lambda t: (t.primal_type,)


def derivative_like(x: Value, values: list) -> Any:
    """Return the derivative of the container ``x`` that has ``values`` as its parts."""
    parts = children(x)
    assert parts is not None
    if isinstance(x, tuple | list | dict | Tangent):
        return parts.rebuild(values)
    form = form_of(type(x))
    if form is not None:
        return form.build(x, parts.keys, values)
    if is_one_number(x, parts):
        return values[0]
    fixed = constants(x)
    return structural(type(x), (*parts.keys, *fixed), (*values, *(NO_TANGENT for _ in fixed)))


def _shown(t: Tangentlike, depth: int) -> str | Within:
    if type(t) is not Tangent:
        return repr(t)
    name = getattr(t.primal_type, "__name__", str(t.primal_type))
    if depth == _MOST_DEPTH:
        return f"Tangent({name}, ...)"
    of_dict = isinstance(t.primal_type, type) and issubclass(t.primal_type, dict)
    if _is_sequence(t.primal_type):
        labels = [""] * len(t.backing)
    else:
        labels = [f"{key!r}: " if of_dict else f"{key}=" for key in t.backing]

    def build(texts: list) -> str:
        items = [label + text for label, text in zip(labels, texts, strict=True)]
        if of_dict:
            return f"Tangent({name}, {{{', '.join(items)}}})"
        return f"Tangent({', '.join([name, *items])})"

    return Within([(part, depth + 1) for part in t.backing.values()], build)


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


def _equal(a: Any, b: Any) -> bool | Within:
    a, b = unthunk(a), unthunk(b)
    if type(a) is Tangent and type(b) is Tangent:
        fitting = a.primal_type is b.primal_type and not _differ_in_length(a, b)
        return Within(_pairs(a, b), all) if fitting else False
    if isinstance(a, AbstractZero) or isinstance(b, AbstractZero):
        other = b if isinstance(a, AbstractZero) else a
        if type(other) is Tangent:
            return Within([(ZERO, part) for part in other.backing.values()], all)
        return isinstance(other, AbstractZero) or bool(np.all(np.equal(other, 0)))
    if type(a) is Tangent or type(b) is Tangent:
        return False
    return bool(np.all(a == b))


def _moved(x: Any, xdot: Tangentlike) -> Any:
    """Return the value ``x`` moved along ``xdot``; containers are rebuilt part by part."""
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


def is_one_number(x: Value, parts: Children) -> bool:
    """Say whether ``x`` is a quantity: a number or an array, and what its class knows of it."""
    cls = x.cls if type(x) is Shell else type(x)
    return len(parts.keys) == 1 and is_quantity(cls) and children(parts.values[0]) is None


def _plain(x: Value, t: Any) -> Any:
    """Return the plain tangent ``t`` of a quantity ``x``.

    Raises
    ------
    TangentError
        If it is a quantity itself, whose unit may be another.
    """
    if is_quantity(type(t)) and children(t) is not None:
        raise TangentError(
            f"the tangent of a {type(x).__name__} is a plain number or array, in its unit, and no "
            f"{type(t).__name__}."
        )
    return t


def child_tangents(x: Value, t: Any) -> list:
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
    form = form_of(type(t))
    if form is not None:
        t = Tangent(type(t), **form.parts(x, t))
    if type(t) is not Tangent and is_one_number(x, parts):
        return [_plain(x, t)]
    by_name = isinstance(x, dict) or not isinstance(x, tuple | list)
    if isinstance(t, Tangent):
        if not _is_sequence(t.primal_type):
            known = {*parts.keys, *constants(x)}
            unknown = [key for key in t.backing if key not in known]
            if unknown:
                raise TangentError(f"a {type(x).__name__} has no part {unknown[0]!r}.")
            return [unthunk(t.backing.get(key, ZERO)) for key in parts.keys]
        items: Any = list(t.backing.values())
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
        if isinstance(x, tuple):  # what it has beside its entries
            items += [getattr(t, str(name), ZERO) for name in parts.keys[len(x) :]]
    if len(items) != len(parts.keys):
        raise TangentError(f"the tangent of a {type(x).__name__} of {len(parts.keys)} parts "
                           f"has {len(items)}.")  # fmt: skip
    return [unthunk(item) for item in items]


def add(a: Tangentlike, b: Tangentlike) -> Any:
    """Return ``a + b`` for tangents of any form; never written into either."""
    a, b = unthunk(a), unthunk(b)
    if issubclass(type(a), AbstractZero):
        return a + b
    if issubclass(type(b), AbstractZero):
        return a
    if _is_sum(a) and _is_sum(b):
        return fold(_added, a, b)
    return a + b


def _is_sum(t: Value) -> bool:
    """Say whether ``t`` is the tangent of a container."""
    return issubclass(type(t), Tangent | tuple | list | dict)


def _added(a: Any, b: Any) -> Any:
    a, b = unthunk(a), unthunk(b)
    if not (_is_sum(a) and _is_sum(b)):
        return add(a, b)
    a, b = _as_tangent(a), _as_tangent(b)
    if b.primal_type is not a.primal_type:
        raise TangentError(f"a Tangent of {a.primal_type.__name__} cannot be added to "
                           f"a Tangent of {b.primal_type.__name__}.")  # fmt: skip
    if _differ_in_length(a, b):
        raise TangentError("two Tangents of different lengths cannot be added.")
    return Within(_pairs(a, b), partial(structural, a.primal_type, {**a.backing, **b.backing}))


def _differ_in_length(a: Tangent, b: Tangent) -> bool:
    return _is_sequence(a.primal_type) and len(a.backing) != len(b.backing)


def _pairs(a: Tangent, b: Tangent) -> list[tuple]:
    """Return what two Tangents of a type have in the same places; where one lists none, zero."""
    keys = {**a.backing, **b.backing}
    return [(a.backing.get(key, ZERO), b.backing.get(key, ZERO)) for key in keys]


def _as_tangent(t: Any) -> Tangent:
    if type(t) is Tangent:
        return t
    return Tangent(type(t), t) if isinstance(t, dict) else Tangent(type(t), *t)


def sum_tangents(tangents: Iterable[Tangentlike]) -> Any:
    """Return the sum of an iterable of tangents, ``ZeroTangent()`` where it is empty."""
    return reduce(add, tangents, ZERO)
