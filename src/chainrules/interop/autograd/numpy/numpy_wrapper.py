"""As ``autograd.numpy.numpy_wrapper``: what ``autograd.numpy`` has of its own."""

import functools
from collections.abc import Callable
from typing import Any

from .... import numpy as _numpy
from ...._numbers import SCALARS
from ....rules import Traced, value

__all__ = [
    "array_from_args", "column_stack", "concatenate", "concatenate_args", "hstack", "int8",
    "int16", "int32", "int64", "make_diagonal", "metadata", "row_stack", "stack", "vstack",
    "where",
]  # fmt: skip


def _joining(join: Callable) -> Callable:
    """Return ``join``, which takes its arrays in any iterable, as autograd's does."""

    @functools.wraps(join)
    def joins(arrays: Any, *args: Any, **kwargs: Any) -> Any:
        arrays = arrays if hasattr(arrays, "__getitem__") else list(arrays)
        return join(arrays, *args, **kwargs)

    return joins


def where(condition: Any, *choices: Any, **named: Any) -> Any:
    """As ``numpy.where``, by name too; of Python's numbers and lists alone it gives Python's."""
    given = (condition, *choices, *[named.pop(name) for name in ("x", "y") if name in named])
    y = _numpy.where(*given, **named)
    if len(given) == 1 or any(map(_is_of_numpy, given)) or not isinstance(y, _numpy.ndarray):
        return y
    return y.tolist()


def _is_of_numpy(x: Any) -> bool:
    if isinstance(x, list | tuple):
        return any(map(_is_of_numpy, x))
    return hasattr(x, "dtype") or isinstance(x, Traced)


def _whole(cls: type) -> type:
    """Return a type of integers, which makes constants of traced values."""
    own = {"dtype": _numpy.dtype(cls), "of_traced": staticmethod(lambda x: cls(value(x)))}
    return type(SCALARS[_numpy.float64])(cls.__name__, (cls,), own | {"__module__": "numpy"})


int8, int16, int32, int64 = map(_whole, (_numpy.int8, _numpy.int16, _numpy.int32, _numpy.int64))
concatenate, stack = _joining(_numpy.concatenate), _joining(_numpy.stack)
vstack, hstack = _joining(_numpy.vstack), _joining(_numpy.hstack)
column_stack, row_stack = _joining(_numpy.column_stack), vstack  # the last is gone in NumPy 2


def array_from_args(array_args: tuple, array_kwargs: dict, *args: Any) -> Any:
    """Return an array of these entries."""
    return _numpy.array(list(args), *array_args, **array_kwargs)


def concatenate_args(axis: int, *args: Any) -> Any:
    """Join these arrays along an axis."""
    return _numpy.concatenate(args, axis)


def make_diagonal(x: Any, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Any:
    """Return matrices with the last axis of ``x`` on their diagonals."""
    if offset != 0 or {axis1, axis2} != {-1, -2}:
        raise NotImplementedError("make_diagonal takes offset=0, axis1=-1, axis2=-2 alone.")
    return x[..., None] * _numpy.eye(_numpy.shape(x)[-1])


def metadata(x: Any) -> tuple:
    """Return shape, number of axes, dtype, and whether it is complex."""
    return _numpy.shape(x), _numpy.ndim(x), _numpy.result_type(x), _numpy.iscomplexobj(x)
