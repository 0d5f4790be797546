"""Options of NumPy's calls: ``dtype``, ``signature``, ``where``, ``out`` and ``order``.

With ``dtype=`` or ``signature=`` a ufunc casts its arguments to what the loop of that name takes,
and computes there. Casting first is the same to the last bit, and casts have derivatives.
"""

import math
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from ...config import user_line
from ..annotations import Function, Index, Value
from ..refusals.remedies import adoption, updated
from ..refusals.table import refusal
from ..shapes import OBJECT, dtype_of, shape_of
from ..signatures import name_of
from .funnel import array_of, astype, primitive
from .level import Traced, is_traced, type_under, value
from .object_arrays import is_object_array
from .shown import is_shown, refused_write

LOOP_OPTIONS = frozenset({"dtype", "signature", "sig", "casting", "order", "subok", "where"})
_PYTHONS = (float, int, complex)  # whose dtype gives way to that of an array


def given_options(method: str, inputs: tuple, kwargs: dict) -> dict:
    """Return the options of a ufunc's method that say something, each as the method takes it."""
    kwargs = without_no_value(kwargs)
    if method == "reduceat" and len(inputs) > 1:
        kwargs.pop("indices", None)  # given by name, NumPy hands it over twice
    if method in ("accumulate", "reduceat") and "axis" in kwargs:
        kwargs["axis"] = _one_axis(kwargs["axis"], inputs[0])
    return kwargs


def without_no_value(kwargs: dict) -> dict:
    """Leave out what stands for "not given": wrappers of NumPy's functions hand it on."""
    if any(option is np._NoValue for option in kwargs.values()):
        return {name: option for name, option in kwargs.items() if option is not np._NoValue}
    return kwargs


def _one_axis(axis: object, x: Value) -> Any:
    """Return the axis that NumPy takes where it takes one: also in a tuple, or None of a vector."""
    if type(axis) is tuple and len(axis) == 1:
        return axis[0]
    return 0 if axis is None and np.ndim(value(x)) == 1 else axis


def call_in_loop(ufunc: np.ufunc, inputs: tuple, kwargs: dict) -> Any:
    """Evaluate ``ufunc`` with the options ``dtype``, ``signature``, ``casting`` and ``order``.

    Of the others ``where`` is True, and traced values have no subclasses.
    """
    options = {name: option for name, option in kwargs.items() if name not in LOOP_OPTIONS}
    inputs = tuple(array_of(x) if isinstance(x, list | tuple) else x for x in inputs)
    y = ufunc(*_cast_to_loop(ufunc, inputs, kwargs), **options)
    return _in_order(y, kwargs.get("order"), inputs)


def _cast_to_loop(ufunc: np.ufunc, inputs: tuple, kwargs: dict) -> tuple:
    """Cast ``inputs`` as the loop does that the options choose."""
    dtype, signature, sig, casting = map(kwargs.get, ("dtype", "signature", "sig", "casting"))
    signature = sig if signature is None else signature
    if dtype is not None:
        signature = (None,) * ufunc.nin + (np.dtype(dtype),) * ufunc.nout
    if signature is None and casting is None:
        return inputs
    given = tuple(t if (t := type_under(x)) in _PYTHONS else dtype_of(x) for x in inputs)
    options: dict = {"casting": casting or "same_kind"}
    if signature is not None:
        options["signature"] = signature
    loop = ufunc.resolve_dtypes(given + (None,) * ufunc.nout, **options)
    if any(taken.kind == "O" for taken in loop):
        raise refusal("objects for dtype", name=name_of(ufunc))
    return tuple(
        x if dtype_of(x) == taken else astype(x, taken)
        for x, taken in zip(inputs, loop, strict=False)
    )


def _in_order(y: Any, order: Any, inputs: tuple) -> Any:
    """Give each result the memory layout that ``order`` asks for."""
    if order in ("K", "k", None):
        return y
    if type(y) is tuple:
        return tuple(_in_order(part, order, inputs) for part in y)
    if order in ("A", "a"):
        arrays = [x for x in map(value, inputs) if np.ndim(x) > 0]
        order = "F" if all(x.flags.fnc for x in arrays) else "C"
    return np.copy(y, order=order) if np.ndim(y) > 1 else y


def call_where(ufunc: np.ufunc, inputs: tuple, kwargs: dict) -> Any:
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
    return write_out(ufunc, y, out, chosen)


@primitive
def computed_into(
    f: Function, shape: tuple, dtype: DTypeLike, *args: object, **kwargs: object
) -> Any:
    """Evaluate ``f`` with a new array of ``shape`` and ``dtype`` for its ``out``."""
    return f(*args, **kwargs, out=np.zeros(shape, dtype))


def call_into(f: Function, args: tuple, kwargs: dict, out: Value) -> Any:
    """Evaluate ``f`` with ``out=``.

    A ufunc computes in the dtype of its arguments; all else that is given an array for the result,
    a sum or a cumulative product, in that of the array.
    """
    if f is np.matmul and kwargs.get("axes") in _AXES_OF_OPERATOR:
        kwargs = {name: option for name, option in kwargs.items() if name != "axes"}
    y = f(*args, **kwargs)
    one = out[0] if isinstance(out, tuple) and len(out) == 1 else out
    dtype = dtype_of(one) or OBJECT
    if not isinstance(f, np.ufunc) and dtype != dtype_of(y) and dtype != OBJECT:
        y = computed_into(f, shape_of(one), dtype, *args, **kwargs)
    return write_out(f, y, out)


_OPERATORS = {
    "add": "+", "subtract": "-", "multiply": "*", "divide": "/", "power": "**", "matmul": "@",
}  # fmt: skip
# What NumPy says for ``a @= b``, and what is so without a word.
_AXES_OF_OPERATOR = ([(-2, -1)] * 3, [(-1,), (-2, -1), (-1,)])


def write_out(f: Function, y: Any, out: Any, index: Index = ...) -> Any:
    """Do what ``out=`` asks for: write the result into a traced array, and return that.

    Raises
    ------
    MutationError
        If that is a plain array, and the result is traced; or what ``np.asarray`` made of one.
    """
    if isinstance(out, tuple):
        if len(out) > 1:
            return tuple(write_out(f, part, o) for part, o in zip(y, out, strict=True))
        out = out[0]
    if out is None:
        return y
    if isinstance(y, Traced) and y.at_level.number == math.inf:
        y = y.primal  # what a buffer holds, which may be plain
    if is_traced(y) and not isinstance(out, Traced) and not is_object_array(out):
        name = name_of(f).removeprefix("numpy.")
        array = updated()
        made = f"{adoption()}{array} is a plain array; " if array else adoption()
        raise refusal("out is plain", name=name, operator=_OPERATORS.get(name, "+"), made=made)
    if is_shown(out):
        raise refused_write(f"{name_of(f)}(..., out=...) in {user_line()}")
    out[index] = y
    return out
