"""Predicates of the recorder on what it writes down, and ties of results to what they view."""

import math
import operator
from typing import Any

import numpy as np

from ...config.thresholds import REMEMBERED_RESULT
from ...rules import children, iterate_leaves, name_of
from ...rules.containers import constants
from ...rules.tracing.views import (
    Path,
    follow,
    laid_out,
    numbered_leaves,
    register_view,
    root_of,
    shares_memory,
    view_by,
)
from ..ir.looks import NotRecordable, bits
from .recorded_values import RecordedArray, RecordedNumber

_array = np.ndarray
# Python's own numbers raise where NumPy's give an infinity.
DIVISIONS = (operator.truediv, operator.floordiv, operator.mod, operator.pow)
_OF_WHOLE = (operator.add, operator.sub, operator.mul, operator.neg, operator.pos)
PLAIN = (np.generic, int, float, complex)
NUMBERS = (np.number, np.bool_, float, complex)
RECORDED = (RecordedNumber, RecordedArray)


def constant_key(x: Any) -> Any:
    kind = type(x)
    if kind is _array:
        return kind, id(x), bits(x) if x.nbytes <= REMEMBERED_RESULT else object()
    # Each part of a complex number has a sign of zero.
    return kind, x if x and x == x and not isinstance(x, complex | np.complexfloating) else bits(x)


def is_shared(y: Any, x: Any) -> bool:
    return y.sample is x.sample or shares_memory(y.sample, x.sample)


def refuse_view(y: Any, x: Any, f: Any) -> None:
    """Refuse a result that shares memory with an option, which no step says."""
    for part in iterate_leaves(y):
        if type(part) is RecordedArray and root_of(part)[0] is part and is_shared(part, x):
            raise NotRecordable(f"{name_of(f)} that gives a view of an option")


def tie(y: Any, f: Any, args: tuple, k: int, options: dict) -> None:
    """Tie every array in ``y`` that is a view of argument ``k`` to it."""
    x = args[k]
    for leaf, part in numbered_leaves(y):
        untied = type(part) is RecordedArray and root_of(part)[0] is part
        if untied and is_shared(part, x):
            given = {"f": f, "before": args[:k], "rest": args[k + 1 :], "options": options}
            register_view(part, x, view_by, given, leaf)


def is_recorded(y: Any, operation: Any) -> bool:
    """Say whether what an operator gave is recorded; of anything else the value is looked at.

    A whole number is recorded where its type does not depend on the numbers.
    """
    if type(y) is int:
        return operation in _OF_WHOLE or operation is operator.mod
    return type(y) is _array or type(y) is bool or isinstance(y, NUMBERS)


def is_finite(x: Any) -> bool:
    return isinstance(x, float) and math.isfinite(x)


def is_zero(x: Any) -> bool:
    return bool(x == 0)


def itself(x: Any) -> Any:
    return x


TRUTH, VALUE = ("bool", bool), ("value", itself)


def container_of(x: Any) -> tuple | None:
    """Return the class of a container, the keys of its parts, and its constant fields."""
    if (parts := children(x)) is None:
        return None
    return type(x), parts.keys, tuple([getattr(x, name) for name in constants(x)])


def structure_of(x: Any) -> tuple:
    return (x.shape, x.dtype.str) if isinstance(x, np.ndarray | np.generic) else (type(x).__name__,)


def plain_slice(x: slice) -> slice:
    """Return ``x`` with plain integers, which are looked at: shapes depend on them."""
    start, stop, step = map(plain_end, (x.start, x.stop, x.step))
    return slice(start, stop, step)


def plain_end(x: Any) -> Any:
    return operator.index(x) if type(x) in RECORDED else x


def written_by(x: Any, path: Path, axes: Any, f: Any, rest: tuple, options: dict) -> Any:
    """Return a copy of ``x`` that ``f`` has written into a view of."""
    y = laid_out(x, axes)
    f(follow(path, y), *rest, **options)
    return y
