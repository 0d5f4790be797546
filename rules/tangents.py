"""Tangents and cotangents: zeros, structures, thunks, and derivatives nobody has written.

One family of types serves both directions. Numbers and arrays are their own tangents;
the types here are for everything else.
"""

import functools
import operator
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

from ..config import MissingDerivativeError, TangentError, user_line
from .containers import children, field_names

# ---- zeros ----------------------------------------------------------------------------------

_SUMS = {np.add, np.subtract}
_PRODUCTS = {np.multiply, np.divide, np.matmul, np.negative, np.positive, np.conjugate}
_LINEAR = {
    np.sum, np.mean, np.reshape, np.ravel, np.transpose, np.swapaxes, np.moveaxis, np.squeeze,
    np.expand_dims, np.broadcast_to, np.real, np.imag, np.dot, np.vdot, np.inner, np.outer,
    np.tensordot, np.einsum, np.kron, np.trace, np.diagonal, np.diag, np.tril, np.triu, np.flip,
    np.roll, np.repeat, np.tile, np.take, np.cumsum, np.matrix_transpose, np.copy, np.astype,
}  # fmt: skip


class AbstractZero:
    """A tangent that changes nothing, for every kind of value at once."""

    __slots__ = ()
    __array_priority__ = 1000

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"

    def __reduce__(self) -> tuple:
        return type(self), ()

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        if method != "__call__" or kwargs:
            return NotImplemented
        if ufunc in _SUMS:
            a, b = inputs
            if isinstance(b, AbstractZero):
                return a if not isinstance(a, AbstractZero) else _sum_of_zeros(a, b)
            return b if ufunc is np.add else -b
        if ufunc in _PRODUCTS:
            return self if not _not_and_zero(inputs) else ZeroTangent()
        return NotImplemented

    def __array_function__(self, f: Any, types: Any, args: tuple, kwargs: dict) -> Any:
        return self if f in _LINEAR else NotImplemented

    def __add__(self, other: Any) -> Any:
        return _sum_of_zeros(self, other) if isinstance(other, AbstractZero) else other

    def __radd__(self, other: Any) -> Any:
        return other

    def __sub__(self, other: Any) -> Any:
        return _sum_of_zeros(self, other) if isinstance(other, AbstractZero) else -other

    def __rsub__(self, other: Any) -> Any:
        return other

    def __mul__(self, other: Any) -> "AbstractZero":
        return self if not _not_and_zero((self, other)) else ZeroTangent()

    __rmul__ = __matmul__ = __rmatmul__ = __truediv__ = __mul__

    def __neg__(self) -> "AbstractZero":
        return self

    __pos__ = conj = conjugate = copy = __neg__

    def __getitem__(self, key: Any) -> "AbstractZero":
        return self

    def sum(self, *args: Any, **kwargs: Any) -> "AbstractZero":
        return self

    reshape = transpose = astype = ravel = sum

    @property
    def T(self) -> "AbstractZero":  # noqa: N802
        return self

    real = imag = T

    def __bool__(self) -> bool:
        return False

    def __float__(self) -> float:
        return 0.0

    def __complex__(self) -> complex:
        return 0j

    def __eq__(self, other: object) -> bool:
        return isinstance(other, AbstractZero) and type(self) is type(other)

    def __hash__(self) -> int:
        return hash(type(self))


def _sum_of_zeros(a: Any, b: Any) -> AbstractZero:
    return a if isinstance(a, NoTangent) else b


def _not_and_zero(values: tuple) -> bool:
    return any(isinstance(value, ZeroTangent) for value in values)


class ZeroTangent(AbstractZero):
    """The value could be perturbed, but the output does not change.

    Examples
    --------
    >>> ZeroTangent() + 2.0, 3.0 * ZeroTangent()
    (2.0, ZeroTangent())
    """

    __slots__ = ()
    _instance: "ZeroTangent | None" = None

    def __new__(cls) -> "ZeroTangent":
        if cls._instance is None:
            cls._instance = super().__new__(cls)
        return cls._instance


class NoTangent(AbstractZero):
    """The value cannot be perturbed at all: a string, a flag, an index, a plain function.

    Examples
    --------
    >>> NoTangent() + ZeroTangent(), NoTangent() * ZeroTangent()
    (NoTangent(), ZeroTangent())
    """

    __slots__ = ()
    _instance: "NoTangent | None" = None

    def __new__(cls) -> "NoTangent":
        if cls._instance is None:
            cls._instance = super().__new__(cls)
        return cls._instance


ZERO = ZeroTangent()
NO_TANGENT = NoTangent()


# ---- structures -----------------------------------------------------------------------------


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

    def _like(self, backing: Any) -> "Tangent":
        new = object.__new__(Tangent)
        object.__setattr__(new, "primal_type", self.primal_type)
        object.__setattr__(new, "backing", backing)
        return new

    def map(self, f: Callable[[Any], Any]) -> "Tangent":
        """Apply the linear ``f`` to every part."""
        if isinstance(self.backing, dict):
            return self._like({key: f(value) for key, value in self.backing.items()})
        return self._like(tuple(f(value) for value in self.backing))

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
            return self._like(merged)
        if len(self.backing) != len(other.backing):
            raise TangentError("two Tangents of different lengths cannot be added.")
        return self._like(tuple(map(add, self.backing, other.backing)))

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


# ---- thunks ---------------------------------------------------------------------------------


def _forced(operation: Callable) -> Callable:
    def force(self: "Thunk", *others: Any) -> Any:
        return operation(unthunk(self), *map(unthunk, others))

    return force


class Thunk(NDArrayOperatorsMixin):
    """A tangent that is computed when somebody looks at it, and then only once."""

    __slots__ = ("_compute", "_value")

    def __init__(self, compute: Callable[[], Any]) -> None:
        self._compute: Callable[[], Any] | None = compute
        self._value: Any = None

    def force(self) -> Any:
        if self._compute is not None:
            value = unthunk(self._compute())
            # The function goes first: with it goes what only it kept alive.
            self._value, self._compute = value, None
        return self._value

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        return getattr(ufunc, method)(*map(unthunk, inputs), **kwargs)

    def __array_function__(self, f: Any, types: Any, args: tuple, kwargs: dict) -> Any:
        return f(*map(_unthunk_items, args), **{k: _unthunk_items(v) for k, v in kwargs.items()})

    def __array__(self, dtype: Any = None, copy: Any = None) -> np.ndarray:
        return np.array(self.force(), dtype=dtype)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(self.force(), name)

    __getitem__ = _forced(operator.getitem)
    __iter__ = _forced(iter)
    __len__ = _forced(len)
    __float__ = _forced(float)
    __complex__ = _forced(complex)

    def __setitem__(self, key: Any, value: Any) -> None:
        raise TangentError("a thunk cannot be written to; unthunk it and build another.")

    def __repr__(self) -> str:
        return "thunk(...)" if self._compute is not None else f"thunk({self._value!r})"


class InplaceableThunk(Thunk):
    """A thunk that can also add itself into an array, without being computed on its own.

    Parameters
    ----------
    add_into : callable
        ``add_into(buffer)`` adds the tangent into ``buffer`` and returns it.
    compute : callable or Thunk
        Gives the tangent itself.
    """

    __slots__ = ("add_into",)

    def __init__(self, add_into: Callable[[Any], Any], compute: Any) -> None:
        super().__init__(compute.force if isinstance(compute, Thunk) else compute)
        self.add_into = add_into


def thunk(compute: Callable[[], Any]) -> Thunk:
    """Delay a tangent until it is needed; engines open it only where the argument is active.

    Examples
    --------
    >>> t = thunk(lambda: 2.0)
    >>> unthunk(t), t + 1.0
    (2.0, 3.0)
    """
    return Thunk(compute)


def unthunk(t: Any) -> Any:
    """Return what a thunk stands for, and anything else as it is."""
    return t.force() if isinstance(t, Thunk) else t


def _unthunk_items(x: Any) -> Any:
    return type(x)(map(unthunk, x)) if type(x) in (list, tuple) else unthunk(x)


# ---- derivatives nobody has written -----------------------------------------------------------


class NotImplementedTangent:
    """A partial derivative that is missing; it spreads, and raises where it would be used."""

    __slots__ = ("line", "message")
    __array_priority__ = 900

    def __init__(self, message: str, line: str = "") -> None:
        self.message = message
        self.line = line

    def error(self) -> MissingDerivativeError:
        return MissingDerivativeError(f"{self.message}\n  marked not_implemented in {self.line}")

    def __repr__(self) -> str:
        return f"not_implemented({self.message!r})"

    def _spread(self, other: Any = None) -> "NotImplementedTangent":
        return self

    __add__ = __radd__ = __neg__ = __pos__ = conj = conjugate = _spread

    def __mul__(self, other: Any) -> Any:
        return other if isinstance(other, AbstractZero) else self

    __rmul__ = __mul__

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        if method == "__call__" and ufunc in (np.add, np.multiply, np.negative, np.conjugate):
            if ufunc is np.multiply:
                zeros = [value for value in inputs if isinstance(value, AbstractZero)]
                return zeros[0] if zeros else self
            return self
        raise self.error()

    def _refuse(self, *args: Any) -> Any:
        raise self.error()

    __sub__ = __rsub__ = __truediv__ = __rtruediv__ = __matmul__ = __rmatmul__ = _refuse
    __float__ = __complex__ = __iter__ = __array__ = _refuse


def not_implemented(message: str) -> NotImplementedTangent:
    """Mark a partial derivative that exists but is not written.

    Use it as a partial of ``scalar_rule`` or as an entry of what a pullback returns. It is
    harmless until it would reach a result; then the error carries ``message``.

    Examples
    --------
    >>> t = not_implemented("the derivative in the order is missing")
    >>> t * ZeroTangent(), t + 1.0
    (ZeroTangent(), not_implemented('the derivative in the order is missing'))
    """
    return NotImplementedTangent(message, user_line())


# ---- sums -----------------------------------------------------------------------------------


def add(a: Any, b: Any) -> Any:
    """Return ``a + b`` for tangents of any form; never written into either."""
    a, b = unthunk(a), unthunk(b)
    if isinstance(a, AbstractZero):
        return b if not isinstance(b, AbstractZero) else _sum_of_zeros(a, b)
    if isinstance(b, AbstractZero):
        return a
    if type(a) is tuple or type(a) is list or type(a) is dict:
        return Tangent(type(a), *a) + b if type(a) is not dict else Tangent(dict, a) + b
    return a + b


def sum_tangents(tangents: Any) -> Any:
    """Return the sum of an iterable of tangents, ``ZeroTangent()`` where it is empty."""
    return functools.reduce(add, tangents, ZERO)
