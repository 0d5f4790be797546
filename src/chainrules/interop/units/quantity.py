"""Quantity with a traced magnitude: it passes for one of its package, whose units it has.

``np.sqrt(q)`` is asked twice: of the package with plain numbers, which says the unit or refuses,
and of the magnitudes in units of one coherent system, for which its formula holds as of numbers.
"""

import functools
import importlib
import operator
from collections.abc import Callable, Collection
from types import FunctionType
from typing import Any

import numpy as np

from ...rules.annotations import Function, Index
from ...rules.engines.buffers import is_writer
from ...rules.refusals.table import refusal
from ...rules.shapes import shape_of
from ...rules.signatures import name_of
from ...rules.tracing.level import Traced, innermost
from .packages import Package

_PROPERTIES: dict[str, Callable] = {"T": np.transpose, "real": np.real, "imag": np.imag}
_METHODS = frozenset({
    "all", "any", "argmax", "argmin", "argsort", "astype", "clip", "conj", "conjugate", "copy",
    "cumprod", "cumsum", "diagonal", "dot", "flatten", "item", "max", "mean", "min", "nonzero",
    "prod", "ravel", "repeat", "reshape", "round", "searchsorted", "squeeze", "std", "sum",
    "swapaxes", "take", "trace", "transpose", "var",
})  # fmt: skip
_OF_ARRAYS = frozenset(
    {"dtype", "flags", "isscalar", "itemsize", "nbytes", "ndim", "shape", "size"}
)
LAST_DIGITS = 10  # in units of the last place
_POWERS = frozenset({np.power, np.float_power, operator.pow})
# Which a unit takes part in, where NumPy's functions take none.
_WITH_UNITS: dict[Any, Callable] = {np.multiply: operator.mul, np.divide: operator.truediv}


def sample(x: Any) -> Any:
    """Return the plain number or array under a traced one; that of this run of a recorded one."""
    while isinstance(x, Traced):
        x = x.peek()
    return x


class TracedQuantity(np.lib.mixins.NDArrayOperatorsMixin):
    """Quantity of ``package`` around a traced ``magnitude``, of the class of the plain ``like``."""

    __slots__ = ("is_kept", "like", "magnitude", "of_unit", "package")
    __array_priority__ = 1e6
    __hash__ = None  # type: ignore[assignment]
    __class__ = property(lambda self: type(self.like))

    package: Package

    def __init__(
        self, package: Package, like: Any, magnitude: Any, unit: Any, is_kept: bool = False
    ) -> None:
        slots = {"package": package, "like": like, "magnitude": magnitude, "of_unit": unit}
        slots["is_kept"] = is_kept  # by what needs its unit, and must not take it for an array
        for name, x in slots.items():
            object.__setattr__(self, name, x)

    def plain(self) -> Any:
        """Return a quantity of the package with the plain numbers, to be asked for units."""
        if isinstance(self.like, self.package.classes[1]):
            return self.like  # a unit, which operators take as it is
        return self.package.quantity(self.like, sample(self.magnitude), self.of_unit)

    def in_unit(self, unit: Any, *how: Any) -> Any:
        """Return the magnitude in another unit."""
        same = not how and self.package.same(self.of_unit, unit)
        convert = self.package.convert
        return self.magnitude if same else convert(self.magnitude, self.of_unit, unit, *how)

    def refused(self, what: str, instead: str) -> Exception:
        return refusal("quantity", what=what, cls=type(self.like).__name__, instead=instead)

    # ---- NumPy's protocols ----

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        f = ufunc if method == "__call__" else getattr(ufunc, method)
        out = kwargs.pop("out", None)
        y = answered(self.package, f, inputs, kwargs)
        return y if out is None else self._put(y, *out)

    def __array_function__(
        self, f: Function, types: Collection[type], args: tuple, kwargs: dict
    ) -> Any:
        if kwargs.get("out") is not None:
            raise self.refused(f"out= of {name_of(f)}", "y = f(q), without out=")
        return answered(self.package, f, args, kwargs)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        if self.is_kept:
            raise self.refused("Quantity(q)", "q.to(unit), or adopt its package")
        return np.asarray(self.magnitude, dtype)

    def _put(self, y: Any, *out: Any) -> Any:
        """Write what an operator made into the one that it is done in place to."""
        into = out[0]
        if len(out) != 1 or type(into) is not TracedQuantity or type(y) is not TracedQuantity:
            raise self.refused("an operator in place on another", "y = y + q, in place of y += q")
        if len(shape_of(into.magnitude)) == 0:
            raise self.refused(
                "an operator in place on one number", "q = q + r, in place of q += r"
            )
        into.magnitude[...] = y.magnitude
        object.__setattr__(into, "of_unit", y.of_unit)
        return into

    # ---- Python's ----

    def __getitem__(self, index: Index) -> Any:
        return answered(self.package, operator.getitem, (self, index), {})

    def __setitem__(self, index: Index, v: Any) -> None:
        if isinstance(v, list | tuple):
            v = answered(self.package, np.stack, (v,), {})
        v = lifted(self.package, v)
        plain = self.plain().copy()
        plain[index] = v.plain() if type(v) is TracedQuantity else _nonzero(v)  # or refuses
        plain[index] = v.plain() if type(v) is TracedQuantity else sample(v)
        if len(shape_of(self.magnitude)) == 0:
            raise self.refused("a write into one number", "q = r, in place of q[()] = r")
        self.magnitude[index] = v.in_unit(self.of_unit) if type(v) is TracedQuantity else v
        refuse_unlike(self.package, "a write of numbers", plain, self.magnitude)

    def __eq__(self, other: object) -> Any:
        return answered(self.package, operator.eq, (self, other), {})

    def __ne__(self, other: object) -> Any:
        return answered(self.package, operator.ne, (self, other), {})

    def __iter__(self) -> Any:
        return (self[k] for k in range(len(self)))

    def __len__(self) -> int:
        return len(self.magnitude)

    def __bool__(self) -> bool:
        bool(self.plain())  # which may refuse
        return bool(self.magnitude)

    def __float__(self) -> float:
        float(self.plain())
        return float(self.magnitude)

    def __int__(self) -> int:
        int(self.plain())
        return int(self.magnitude)

    def __round__(self, digits: int = 0) -> Any:
        return self._call("round", digits)

    def __lshift__(self, unit: Any) -> Any:
        return self.to(unit)

    def __repr__(self) -> str:
        return f"traced({self.plain()!r})"

    __str__ = __repr__

    def __format__(self, spec: str) -> str:
        return f"traced({self.plain():{spec}})"

    def __copy__(self) -> Any:
        return self.copy()

    def __deepcopy__(self, memo: dict) -> Any:
        return self.copy()

    def __reduce__(self) -> tuple:
        return _made_again, (self.package.name, self.like, self.magnitude, self.of_unit)

    # ---- attributes: of arrays, and of the package ----

    def to_value(self, *args: Any, **named: Any) -> Any:
        """Return the magnitude, in another unit if one is given."""
        unit, *how = args or (named.pop(self.package.unit, None),)
        y = self.magnitude if unit is None else self.in_unit(unit, *how, *named.values())
        return +y if y is self.magnitude and self.package.copies else y

    def setflags(self, **flags: Any) -> None:
        """Leave the memory as it is, which is nobody else's."""

    def view(self, cls: Any = np.ndarray) -> Any:
        """Return the magnitude as an array; or the quantity for one of another class."""
        if cls is np.ndarray:
            return self.magnitude
        return TracedQuantity(
            self.package, self.plain().view(cls), self.magnitude, self.of_unit, True
        )

    def __getattr__(self, name: str) -> Any:
        package = self.package
        if name in (package.unit, "_unit"):
            return self.of_unit
        if name in package.views or name in package.copies:
            return self.magnitude if name in package.views else +self.magnitude
        plain = self.plain()
        if name.startswith("__"):  # protocols of memory, which has no such numbers
            raise AttributeError(name)
        if name in _OF_ARRAYS:
            return getattr(plain, name)
        if name in _PROPERTIES:
            return answered(package, _PROPERTIES[name], (self,), {})
        if name in _METHODS:
            return functools.partial(self._call, name)
        found = getattr(plain, name)  # or the package's own error
        if name not in package.conversions:
            raise self.refused(
                f"the attribute {name}", "the same with q.to(...), or with q.to_value(...)"
            )
        return functools.partial(self._converted, found) if callable(found) else self._as(found)

    def __setattr__(self, name: str, x: Any) -> None:
        if name != self.package.unit:
            raise self.refused(f"setting {name}", "a quantity without it")
        object.__setattr__(self, "of_unit", x)

    def _set_unit(self, unit: Any) -> None:
        object.__setattr__(self, "of_unit", unit)  # which astropy calls of what it has just made

    def _call(self, name: str, *args: Any, **kwargs: Any) -> Any:
        if kwargs.get("out") is not None:
            raise self.refused(f"out= of {name}", f"y = q.{name}(), without out=")

        def method(q: Any, *args: Any, **kwargs: Any) -> Any:
            return getattr(q, name)(*args, **kwargs)

        return answered(self.package, method, (self, *args), kwargs)

    def _converted(self, found: Callable, *args: Any, **kwargs: Any) -> Any:
        how = [v for name, v in kwargs.items() if name.startswith("equivalenc")]
        return self._as(found(*args, **kwargs), *args[1:2], *how)

    def _as(self, plain: Any, *how: Any) -> Any:
        """Return the quantity in the unit of ``plain``, which is the same one of plain numbers."""
        package, unit = self.package, self.package.unit_of(plain)
        magnitude = self.in_unit(unit, *how)
        if magnitude is self.magnitude:
            magnitude = +magnitude  # a copy, as the package's
        refuse_unlike(package, "a conversion", plain, magnitude)
        return TracedQuantity(package, plain, magnitude, unit)


def _made_again(name: str, like: Any, magnitude: Any, unit: Any) -> TracedQuantity:
    """Return a quantity that came from another process, which has a mark for its magnitude."""
    return TracedQuantity(importlib.import_module(name).PACKAGE, like, magnitude, unit)


def lifted(package: Package, x: Any) -> Any:
    """Return a quantity, or a unit as a quantity of 1, with its magnitude apart; else ``x``."""
    if type(x) is TracedQuantity or isinstance(x, Traced):
        return x
    quantity, unit = package.classes
    if isinstance(x, unit):
        return TracedQuantity(package, x, 1.0, x)
    if not isinstance(x, quantity):
        return x
    if package.left_out(x):
        raise refusal(
            "quantity", what="an operation", cls=type(x).__name__,
            instead="the same with a quantity in a linear unit, such as q.physical",
        )  # fmt: skip
    return TracedQuantity(package, x, package.magnitude(x), package.unit_of(x))


def _mapped(x: Any, f: Callable) -> Any:
    """Return arguments with ``f(x)`` for each that is no list, tuple or dict of others."""
    if type(x) in (list, tuple):
        return type(x)([_mapped(part, f) for part in x])
    return {key: _mapped(v, f) for key, v in x.items()} if type(x) is dict else f(x)


def _nonzero(x: Any) -> Any:
    """Return the plain numbers under a traced ``x``, but no zeros, to which any unit is given."""
    return np.ones(shape_of(x))[()] if isinstance(x, Traced) else x


def answered(package: Package, f: Callable, args: tuple, kwargs: dict) -> Any:
    """Return ``f(*args, **kwargs)`` of quantities, units and numbers, some of which are traced.

    Raises
    ------
    LostDerivativeError
        If the numbers of the package do not follow from the magnitudes.
    """
    given = _mapped((args, kwargs), functools.partial(lifted, package))
    found: list[TracedQuantity] = []
    _mapped(given, lambda x: found.append(x) if type(x) is TracedQuantity else None)
    _refuse_what_is_done_once(f, given, found[0])
    _refuse_traced_power(package, f, given[0])
    if any(isinstance(q.like, package.classes[1]) for q in found):
        f = _WITH_UNITS.get(f, f)

    def asked(of_quantity: Callable, of_other: Callable) -> Any:
        args, kwargs = _mapped(
            given, lambda x: of_quantity(x) if type(x) is TracedQuantity else of_other(x)
        )
        return f(*args, **kwargs)

    with np.errstate(all="ignore"):
        expected = asked(TracedQuantity.plain, sample)
        if innermost(_mapped(given, lambda x: x if isinstance(x, Traced) else None)) is not None:
            asked(TracedQuantity.plain, _nonzero)
        units = [q.of_unit for q in found]
        _mapped(
            expected, lambda y: units.append(package.unit_of(y)) if _is_plain(package, y) else None
        )
        # What has no unit any more, such as a sine, has the magnitudes of units of its own.
        keeps = len(units) > len(found) or any(map(package.is_offset, units))
        same = keeps and all(package.same(unit, units[0]) for unit in units)
        in_base = expected
        if not same:
            if any(map(package.is_offset, units)):
                what = f"{name_of(f)} beside another unit"
                raise found[0].refused(what, "the same in kelvin: q.to('K')")
            in_base = asked(lambda q: _in_base(q).plain(), sample)
    y = asked(lambda q: (q if same else _in_base(q)).magnitude, lambda x: x)
    return _joined(package, f, expected, in_base, y)


def _is_plain(package: Package, y: Any) -> bool:
    return isinstance(y, package.classes[0])


def _in_base(q: TracedQuantity) -> TracedQuantity:
    unit = q.package.base(q.of_unit)
    like = q.package.plain if isinstance(q.like, q.package.classes[1]) else q.like
    return TracedQuantity(q.package, like, q.in_unit(unit), unit)


def _joined(package: Package, f: Callable, expected: Any, in_base: Any, y: Any) -> Any:
    """Return ``y``, of magnitudes in base units, as what the package gave for plain numbers."""
    if isinstance(expected, tuple | list) and isinstance(y, tuple | list):
        parts = [_joined(package, f, *three) for three in zip(expected, in_base, y, strict=True)]
        return getattr(expected, "_make", type(expected))(parts)
    if not isinstance(y, Traced):
        return expected  # a constant, to the package's last bit
    refuse_unlike(package, name_of(f), in_base, y)
    if not _is_plain(package, expected):
        refuse_unlike(package, name_of(f), expected, y, 1.0)  # as an exponential of metres is
        return y
    unit = package.unit_of(expected)
    if in_base is not expected and not package.same(package.unit_of(in_base), unit):
        y = package.convert(y, package.unit_of(in_base), unit)
    return TracedQuantity(package, expected, y, unit)


def refuse_unlike(package: Package, name: str, expected: Any, y: Any, size: float = 0.0) -> None:
    """Refuse a magnitude that is another than the package's own, of the same numbers.

    What cancels in numbers of a ``size`` may differ in the last digits of that.
    """
    a = package.magnitude(expected) if _is_plain(package, expected) else expected
    b = sample(y)
    dtype = np.result_type(a, b)
    eps = float(np.finfo(dtype).eps) if dtype.kind in "fc" else 0.0
    scale = np.max(np.abs(a), initial=0.0, where=np.isfinite(a)) if size == 0.0 else 0.0
    near = eps**0.5 * scale + LAST_DIGITS * eps * size
    if np.shape(a) != np.shape(b) or not np.allclose(b, a, eps**0.5, near, equal_nan=True):
        cls = package.classes[0].__name__
        raise refusal("quantity", what=name, cls=cls, instead="the same with q.to_value(unit)")


def _refuse_what_is_done_once(f: Callable, given: tuple, q: TracedQuantity) -> None:
    """Refuse what writes into an argument, or calls a function of the user's."""
    if is_writer(f) or given[1].get("out") is not None:
        raise q.refused(f"a write by {name_of(f)}", "the result into a variable of its own")
    called: list = []
    _mapped(given, lambda x: called.append(x) if isinstance(x, FunctionType) else None)
    if called:
        raise q.refused(f"{name_of(f)} of a function", "a loop over the entries, and np.stack")


def _refuse_traced_power(package: Package, f: Callable, args: tuple) -> None:
    """Refuse a power with a traced exponent of what has a unit, which would depend on it."""
    try:
        is_power = f in _POWERS
    except TypeError:
        return
    if not is_power or type(args[0]) is not TracedQuantity or innermost((args[1],)) is None:
        return
    if not package.same(package.base(args[0].of_unit), package.unit_of(package.plain)):
        raise args[0].refused("a power with a traced exponent", "(q / unit) ** x, without a unit")
