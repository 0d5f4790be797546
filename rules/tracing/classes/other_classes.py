"""Classes of other libraries beside traced values: array types, and objects with own operators.

A class that says by ``__array_ufunc__`` or ``__rmul__`` what operators mean may know more than a
number or an array does: its units, its errors. So it gets its turn, and what a traced value holds
is a number, NumPy's array, an array of dask and its like, or of the class that was differentiated.
"""

import array
import functools
import gc
from collections.abc import Callable, Iterable
from fractions import Fraction
from types import FunctionType
from typing import Any, cast

import numpy as np

from ...annotations import Function, Value
from ...containers import LEAVES, iterate_leaves
from ...known_classes import library_of, table_of
from ...refusals.table import refusal
from ...signatures import name_of
from ..level import Traced, type_under
from .own_numbers import (
    PRIORITY_OF_NUMBERS,
    base_number,
    is_subclass_of,
    number_on_the_left,
    speaks_for_itself,
)

_OURS = (Traced, float, int, complex, np.generic, np.ndarray, list, tuple)
# Libraries whose arrays compute as NumPy's do, with nothing added that a rule would not see.
_LIBRARIES = frozenset({"cupy", "dask", "sparse"})


def is_computed_with(cls: type, beside: Value = None) -> bool:
    """Say whether an engine computes with a ``cls`` that stands beside a traced value."""
    # By the class itself: a proxy says by __class__ that it is what it stands for.
    if issubclass(cls, _OURS):
        if cls in LEAVES or not issubclass(cls, np.ndarray):
            return cls in LEAVES or not speaks_for_itself(cls)
        return table_of(cls) is None
    if getattr(cls, "__array_function__", None) is None or hasattr(cls, "__array_wrap__"):
        return False
    library = library_of(cls)
    return library in _LIBRARIES or (beside is not None and cls is type_under(beside))


def answers_itself(classes: Iterable[type], beside: Value) -> bool:
    """Say whether one of ``classes`` has NumPy's protocols for itself, beside a traced value."""
    return any(
        cls not in LEAVES
        and not is_computed_with(cls, beside)
        and (
            getattr(cls, "__array_ufunc__", None) is not None
            or getattr(cls, "__array_function__", None) is not None
        )
        for cls in classes
    )


def answer_of_table(f: Function, classes: Iterable[type], args: tuple, kwargs: dict) -> Any:
    """Return what a class of quantities among ``classes`` makes of ``f``; else NotImplemented."""
    for table in map(table_of, classes):
        if table is not None and table.call is not None:
            return table.call(f, args, kwargs)
    return NotImplemented


def refuse_answering(f: Function, xs: Iterable) -> None:
    """Refuse a call of NumPy's ``f``, which did not ask what answers itself among ``xs``.

    Raises
    ------
    LostDerivativeError
    """
    given: list[Any] = []
    waiting = list(xs)
    while waiting:
        x = waiting.pop()
        if type(x) is list or type(x) is tuple:
            waiting += x
        else:
            given.append(x)
    traced = [x for x in given if issubclass(type(x), Traced)] or [None]  # in containers
    for x in given:
        if all(answers_itself([type(x)], beside) for beside in traced):
            raise refusal("answers itself", f=name_of(f), cls=type(x).__name__)


def shows_array(x: Value) -> bool:
    """Say whether NumPy reads an array in ``x``: it asks the object, which may pass it on."""
    return isinstance(x, _BUFFERS) or any(hasattr(x, name) for name in _SHOWN_BY)


def read_array(x: Any) -> Any:
    """Return the array that ``x`` shows, which may be a traced one if Python code shows it."""
    method = getattr(type(x), "__array__", None)
    if not isinstance(method, FunctionType):
        return np.asarray(x)
    return getattr(method, "__traced__", method)(x)


def array_for_numpy(method: FunctionType) -> FunctionType:
    """Return the ``__array__`` of an adopted class that gives NumPy an array of NumPy's own.

    NumPy itself takes nothing else, where adopted code makes buffers; ``read_array`` asks the
    method.
    """
    if hasattr(method, "__traced__"):
        return method  # it was adopted twice

    @functools.wraps(method)
    def shows(self: Any, *args: Any, **options: Any) -> Any:
        y = method(self, *args, **options)
        return np.asarray(y) if isinstance(y, Traced) else y

    shows.__traced__ = method  # type: ignore[attr-defined]
    return cast(FunctionType, shows)


def is_sequence(x: Value) -> bool:
    """Say whether NumPy reads ``x`` as a sequence: of numbers, of traced ones, or of objects."""
    cls = type(x)
    if issubclass(cls, str | bytes | bytearray | dict) or callable(x) or hasattr(cls, "keys"):
        return False
    return hasattr(cls, "__len__") and hasattr(cls, "__getitem__")


_BUFFERS = (array.array, memoryview)
_SHOWN_BY = ("__array__", "__array_interface__", "__array_struct__")


def answer_of(ufunc: np.ufunc, operation: Callable, a: Any, b: Any, other: Any) -> Any:
    """Return what ``other``, of another class, makes of ``operation(a, b)``, asked as NumPy asks.

    An array or a number of NumPy's asks ``__array_ufunc__``; where there is none, a number takes
    the array that ``other`` shows, and an array meets ``other`` entry by entry, as any object.
    All else is left to Python, by NotImplemented.
    """
    table = table_of(type(other))
    if table is not None:
        return table.operate(operation, a, b)
    x = b if other is a else a
    cls = type(other)
    if operation is ufunc:
        wraps = hasattr(cls, "__array_ufunc__") or hasattr(other, "__array_wrap__")
        if wraps or not shows_array(other):
            return NotImplemented
        return ufunc(read_array(a), b) if other is a else ufunc(a, read_array(b))
    if other is a and (number := number_on_the_left(operation, a, b)) is not None:
        return operation(number, b)
    if isinstance(other, Fraction) and issubclass(type_under(x), float):  # as Python has it
        return operation(float(other), b) if other is a else operation(a, float(other))
    if not issubclass(type_under(x), np.ndarray | np.generic):
        return NotImplemented
    own = getattr(cls, "__array_ufunc__", None)
    if own is not None:
        return own(other, ufunc, "__call__", a, b)
    own_priority = 0.0 if issubclass(type_under(x), np.ndarray) else PRIORITY_OF_NUMBERS
    priority = getattr(other, "__array_priority__", PRIORITY_OF_NUMBERS)
    asks = hasattr(cls, "__array_ufunc__") or priority > own_priority
    if other is a or asks:
        return NotImplemented
    if is_subclass_of(cls, (float, int, complex)):
        return operation(a, base_number(b))
    if x.ndim > 0 or (own_priority == 0.0 and hasattr(other, "__array_wrap__")):
        return operation(np.asarray(a), b)
    return operation(a, read_array(b)) if shows_array(b) else NotImplemented


def refuse_hidden(y: Value) -> None:
    """Refuse a result of a differentiated function that holds a traced value, and is no container.

    Nobody would find the derivative in it; what has a shape or a dtype would be taken for a
    constant. (What a function or an iterator gives later says itself that it comes too late.)

    Raises
    ------
    LostDerivativeError
    """
    if type(y) in LEAVES and type(y) is not np.ndarray:
        return
    leaf: Any
    for leaf in iterate_leaves(y):
        cls = type(leaf)
        objects = cls is np.ndarray and leaf.dtype.kind == "O"
        looked_into = objects or not (cls in LEAVES or hasattr(cls, "__next__"))
        if looked_into and _hides_traced(leaf):
            named = "an array of objects" if objects else f"a {cls.__name__}"
            raise refusal("traced value hidden", cls=named)


def _hides_traced(x: Any) -> bool:
    """Say whether a traced value is found in ``x`` by going through what its objects refer to."""
    seen: dict[int, Any] = {}
    waiting = [x]
    while waiting:
        part = waiting.pop()
        cls = type(part)
        if issubclass(cls, Traced):
            return True
        if issubclass(cls, np.ndarray) and part.dtype.kind == "O":
            waiting += np.asarray(part).reshape(-1).tolist()
        if cls in LEAVES or issubclass(cls, type) or id(part) in seen:
            continue
        seen[id(part)] = part
        waiting += gc.get_referents(part)
    return False
