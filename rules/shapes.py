"""Shape and dtype of any number or array, traced or not.

``shape_of(2.0)`` is ``()``, ``dtype_of(2)`` is float64, the dtype of its tangents. A traced value
answers as the number or array that it carries.
"""

import inspect
from numbers import Number
from typing import Any

import numpy as np

from .annotations import Value

FLOAT64, OBJECT = np.dtype(np.float64), np.dtype(object)
FLOATS = frozenset({float, np.float64})
TRUTHS = frozenset({bool, np.bool_})
FLOATS_AND_ARRAYS = FLOATS | {np.ndarray}
COMPLEX128 = np.dtype(np.complex128)
SMOOTH = frozenset({FLOAT64, COMPLEX128})
# Of the numbers whose derivatives are computed one by one: the dtype, real or complex.
FIELDS = {float: FLOAT64, np.float64: FLOAT64, complex: COMPLEX128, np.complex128: COMPLEX128}
_BY_TYPE: dict[type, np.dtype] = {
    float: FLOAT64,
    int: FLOAT64,
    complex: COMPLEX128,
    np.float64: FLOAT64,
}


def dtype_of(x: Value) -> np.dtype | None:
    """Return the dtype of a number or an array (of any library), None for anything else."""
    dtype = getattr(x, "dtype", None)
    if dtype is None:
        dtype = _BY_TYPE.get(x.__class__)  # a traced float's is float
        if dtype is None and isinstance(x, bool):
            dtype = np.dtype(bool)
    return dtype if isinstance(dtype, np.dtype) else None


def shape_of(x: Any) -> tuple[int, ...]:
    """Return the shape of a number or an array, without a call that a tracer would see."""
    if type(x) is np.ndarray:
        return x.shape
    if x.__class__ in _BY_TYPE:
        return ()
    try:
        return x.shape
    except AttributeError:
        return np.shape(x)


def has_own_dtype(x: Value) -> bool:
    """Say whether ``x`` has a dtype and a shape of its own, and not those of what it passes on."""
    return all(inspect.getattr_static(x, name, None) is not None for name in ("dtype", "shape"))


def is_array_class(x: Any) -> bool:
    """Say whether ``x`` is an array, of NumPy or of another library, and no number or proxy."""
    cls = type(x)
    return issubclass(cls, np.ndarray) or (has_own_dtype(x) and not issubclass(cls, Number))


def is_foreign_array(x: Value) -> bool:
    """Say whether the plain ``x`` is an array of another library, with NumPy's protocol."""
    cls = type(x)
    # A recorded value stands for a plain one, and has a level as all traced ones.
    ours = issubclass(cls, np.ndarray | np.generic) or hasattr(cls, "at_level")
    return not ours and getattr(cls, "__array_function__", None) is not None


def is_lazy(x: Value) -> bool:
    """Say whether the plain ``x`` is an array of dask: of chunks that nobody has computed yet."""
    cls = type(x)
    return cls is not np.ndarray and hasattr(cls, "__dask_graph__") and hasattr(x, "chunks")


def tangent_dtype(dtype: np.dtype) -> np.dtype | None:
    """Return the dtype of tangents: integers count as float64; None where there are none."""
    if dtype.kind in "fc":
        return dtype
    return FLOAT64 if dtype.kind in "iu" else None


def axes_in_block(axis: Any, rank: int) -> Any:
    """Return where an axis of values of ``rank`` axes, or each of several, is in a block of them.

    None is all. Where NumPy takes axis 0 of a number, that stands for all of its axes, too.
    """
    return tuple(range(1, rank + 1)) if axis is None or rank == 0 else shifted(axis, rank)


def shifted(axis: Any, rank: int) -> Any:
    """Return where an axis, or each of several, is in a block of values of ``rank`` axes."""
    if type(axis) is int and 0 <= axis < rank:
        return axis + 1  # as nearly always
    if isinstance(axis, tuple | list | range):
        return tuple([shifted(k, rank) for k in axis])
    if not -rank <= axis < rank:
        raise np.exceptions.AxisError(axis, rank)
    return axis % rank + 1
