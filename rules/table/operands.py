"""Conversion of operands: Python's numbers and lists become what NumPy would compute with."""

from typing import Any

import numpy as np

from ..annotations import Value
from ..shapes import FLOAT64, dtype_of
from ..tracing.funnel import astype
from ..tracing.level import Traced


def has_lists(args: tuple) -> bool:
    """Say whether one of the arguments is a list or a tuple."""
    for x in args:  # noqa: SIM110  # every call asks, and a generator takes longer
        if type(x) is list or type(x) is tuple:
            return True
    return False


def as_numpys(x: Any) -> Any:
    """Return a number as NumPy's: Python's raise where NumPy's give an infinity."""
    if isinstance(x, Traced):
        return x if x.writable else np.multiply(x, np.float64(1))  # type: ignore[call-overload]
    kind = type(x)
    if kind is complex:
        return np.complex128(x)
    return np.float64(x) if kind is float or kind is int else x


INT64 = np.dtype(np.int64)


def as_computed(x: Value, y: Value) -> Any:
    """Return an operand in the precision in which NumPy computed the result ``y`` with it.

    A slope would lose digits otherwise: the logarithm of ``np.uint8(2)`` is a float16, one less
    than ``np.uint8(0)`` is 255, and the reciprocal of a float32 is one, too.
    """
    dtype, of_y = getattr(x, "dtype", None), dtype_of(y)
    if dtype is None or of_y is None or dtype is of_y:
        return x  # as nearly always; Python's numbers are as precise as what they meet
    wide = dtype
    if dtype.kind in "bi" or dtype in _UNSIGNED:
        wide = INT64  # and no float: some functions have other formulas for integers
    elif dtype.kind == "u":
        wide = FLOAT64
    elif dtype.kind in "fc" and of_y.kind in "fc":
        wide = np.result_type(dtype, np.finfo(of_y).dtype)
    return x if wide == dtype else astype(x, wide)


_UNSIGNED = frozenset(map(np.dtype, (np.uint8, np.uint16, np.uint32)))
