"""As ``autograd.numpy``: NumPy, by ``chainrules.numpy``, which see.

Where nothing is differentiated its functions are NumPy's own. Also plain ``import numpy as np``
is followed, but for the calls in which NumPy gives a traced value no say, as in ``np.array([x])``.
"""

import functools
import sys
from collections.abc import Callable
from typing import Any

from .... import numpy as _numpy
from ...._numbers import SCALARS
from ....rules import Traced, value

# Not by __getattr__, which would be called for each of them each time.
globals().update({name: part for name, part in vars(_numpy).items() if name[0] != "_"})
for _name in ("linalg", "fft", "random"):
    sys.modules[f"{__name__}.{_name}"] = getattr(_numpy, _name)


def _joining(join: Callable) -> Callable:
    """Return ``join``, which takes its arrays in any iterable, as autograd's does."""

    @functools.wraps(join)
    def joins(arrays: Any, *args: Any, **kwargs: Any) -> Any:
        arrays = arrays if hasattr(arrays, "__getitem__") else list(arrays)
        return join(arrays, *args, **kwargs)

    return joins


def where(condition: Any, *choices: Any, **named: Any) -> Any:
    """As ``numpy.where``, by name too; of Python's numbers and lists alone it gives these."""
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


def __getattr__(name: str) -> Any:
    return getattr(_numpy, name)


def __dir__() -> list[str]:
    return sorted({*globals(), *dir(_numpy)})


__all__ = [name for name in __dir__() if not name.startswith("_")]
