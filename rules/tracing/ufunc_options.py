"""Options of a ufunc's call: in which dtype it computes, and how its result lies in memory.

With ``dtype=`` or ``signature=`` a ufunc casts its arguments to what the loop of that name takes,
and computes there. Casting first is the same to the last bit, and casts have derivatives.
"""

from typing import Any

import numpy as np

from ...config import MissingRuleError
from ..annotations import Function, Value
from ..shapes import dtype_of
from ..signatures import name_of
from .funnel import array_of, astype
from .level import type_under, value

LOOP_OPTIONS = frozenset({"dtype", "signature", "sig", "casting", "order", "subok", "where"})
_NUMBERS = (float, int, complex)  # whose dtype gives way to that of an array


def call_in_loop(ufunc: Function, inputs: tuple, kwargs: dict) -> Any:
    """Evaluate ``ufunc`` with the options ``dtype``, ``signature``, ``casting`` and ``order``."""
    options = dict(kwargs)
    for name in ("where", "subok"):  # where=True, and traced values have no subclasses
        options.pop(name, None)
    order = options.pop("order", "K")
    asked = {name: options.pop(name, None) for name in ("dtype", "signature", "sig", "casting")}
    inputs = tuple(array_of(x) if isinstance(x, list | tuple) else x for x in inputs)
    if any(option is not None for option in asked.values()):
        inputs = cast_to_loop(ufunc, inputs, **asked)
    y = ufunc(*inputs, **options)
    return laid_out(y, order, inputs)


def cast_to_loop(
    ufunc: Function, inputs: tuple, dtype: Any, signature: Any, sig: Any, casting: str | None
) -> tuple:
    """Cast ``inputs`` as the loop does that the options choose."""
    signature = sig if signature is None else signature
    if dtype is not None:
        signature = (None,) * ufunc.nin + (np.dtype(dtype),) * ufunc.nout
    given = tuple(t if (t := type_under(x)) in _NUMBERS else dtype_of(x) for x in inputs)
    options: dict = {"casting": casting or "same_kind"}
    if signature is not None:
        options["signature"] = signature
    loop = ufunc.resolve_dtypes(given + (None,) * ufunc.nout, **options)
    if any(taken.kind == "O" for taken in loop):
        raise MissingRuleError(
            f"{name_of(ufunc)} with dtype=object has no rule.\n  leave out dtype, or name a float"
        )
    return tuple(
        x if dtype_of(x) == taken else astype(x, taken)
        for x, taken in zip(inputs, loop, strict=False)
    )


def laid_out(y: Value, order: Any, inputs: tuple) -> Any:
    """Give each result the memory layout that ``order`` asks for."""
    if order in ("K", "k", None):
        return y
    if type(y) is tuple:
        return tuple(laid_out(part, order, inputs) for part in y)
    if order in ("A", "a"):
        arrays = [x for x in map(value, inputs) if np.ndim(x) > 0]
        order = "F" if all(x.flags.fnc for x in arrays) else "C"
    return np.copy(y, order=order) if np.ndim(y) > 1 else y
