"""The arguments ``out=`` and ``where=`` of ufuncs, and the operators that write in place."""

from typing import Any

import numpy as np

from ...config import MutationError, user_line
from ..annotations import Function, Value
from ..shapes import dtype_of
from .level import Traced, is_traced, value
from .object_arrays import is_object_array
from .refusals import describe


def call_where(ufunc: Function, inputs: tuple, kwargs: dict) -> Any:
    """Do what ``where=`` asks for: compute the chosen entries only; the rest are those of out.

    Without ``out`` NumPy leaves the rest as the memory happens to be; here they are zeros.
    """
    kwargs = dict(kwargs)
    where, out = value(kwargs.pop("where")), kwargs.pop("out", None)
    out = out[0] if isinstance(out, tuple) else out
    shape = np.broadcast_shapes(np.shape(where), *map(np.shape, inputs))
    chosen = np.broadcast_to(where, shape)
    y = ufunc(*[np.broadcast_to(x, shape)[chosen] for x in inputs], **kwargs)
    if out is None:
        out = np.zeros(shape, dtype_of(y), like=y)
    elif not isinstance(out, Traced) and is_traced(y):
        _refuse_out(ufunc)
    out[chosen] = y
    return out


def write_out(f: Function, y: Value, out: Any) -> Any:
    """Do what ``out=`` asks for: write the result into a traced array, and return that."""
    if isinstance(out, tuple):
        if len(out) > 1:
            return tuple(write_out(f, part, o) for part, o in zip(y, out, strict=True))
        out = out[0]
    if out is None:
        return y
    if not isinstance(out, Traced):
        if not is_traced(y) or is_object_array(out):
            out[...] = y
            return out
        _refuse_out(f)
    out[...] = y
    return out


def check_cast(y: Value, x: Value) -> None:
    """Refuse an in-place operator whose result ``y`` does not fit the dtype of ``x``.

    Raises
    ------
    MutationError
    """
    if not np.can_cast(dtype_of(y) or float, x.dtype, "same_kind"):
        raise MutationError(
            f"an in-place operator in {user_line()} gives {describe(y)}, which an array of "
            f"dtype {x.dtype} cannot hold.\n  write x = x + ... instead of x += ..."
        )


_OPERATORS = {"add": "+", "subtract": "-", "multiply": "*", "divide": "/", "power": "**"}


def _refuse_out(f: Function) -> None:
    operation = _OPERATORS.get(f.__name__, "+")
    raise MutationError(
        f"{f.__name__}(..., out=...), or an in-place operator, would write a traced result into "
        f"a plain array, which has no room for a derivative, in {user_line()}.\n"
        f"  use the result instead: y = np.{f.__name__}(...), or a = a {operation} x instead of "
        f"a {operation}= x; or make the array a traced one: np.zeros_like(x)\n"
        "  an array kept in an object (self.a += x) is one of chainrules.numpy, if the object is "
        "made inside the differentiated function"
    )
