"""Conversion of a cotangent to the shape and dtype of its space; all but small misfits are errors.

A cotangent of shape (3,) fits an argument of shape (3, 1), and 2 + 1j a real one, by its real part;
one of shape (4,) is a mistake.
"""

from typing import Any

import numpy as np

from ...config import TangentError
from ..shapes import _BY_TYPE, COMPLEX128, dtype_of, shape_of
from ..tracing.funnel import astype
from ..tracing.level import Traced
from ..tracing.object_arrays import healed


def drop_singletons(xbar: Any, shape: tuple[int, ...]) -> Any:
    """Fit axes of length 1 that were added at the end or lost, and refuse any other shape."""
    given = shape_of(xbar)
    if [n for n in given if n != 1] == [n for n in shape if n != 1] and _trailing(given, shape):
        return np.reshape(xbar, shape)
    raise TangentError(
        f"a cotangent of shape {given} does not fit a value of shape {shape}.\n"
        "  sum it over the axes that were broadcast, or reshape it"
    )


def _trailing(a: tuple[int, ...], b: tuple[int, ...]) -> bool:
    n = min(len(a), len(b))
    return a[:n] == b[:n]


_ONE = np.float64(1)


def as_numpys_beside(x: Any, t: Any) -> Any:
    """Return the tangent or cotangent ``t`` of ``x``: of a number of NumPy's as one.

    A number of Python's would give way to numbers of float32.
    """
    cls = t.__class__
    if cls is float and x.__class__ is np.float64:
        return t * _ONE
    return np.positive(t) if cls is complex and x.__class__ is np.complex128 else t


def cast(xbar: Any, dtype: np.dtype) -> Any:
    """Convert to ``dtype``; of what is complex a real one keeps the real part.

    A complex number of Python's, which would give way to numbers of float32, becomes NumPy's.
    """
    given = dtype_of(xbar)
    if given is dtype and type(xbar) is not int:
        return np.positive(xbar) if given is COMPLEX128 and xbar.__class__ is complex else xbar
    if given is None:
        if xbar is None:  # which NumPy takes for NaN
            raise TangentError("None is no tangent; give NoTangent() or ZeroTangent() instead.")
        return dtype.type(xbar)
    if given.kind == "O":
        return healed(xbar)  # a rule that calls np.asarray computes with traced numbers in it
    if given.kind == "c" and dtype.kind != "c":
        xbar = np.real(xbar)
        given = dtype_of(xbar)
    if given == dtype and type(xbar) is not int:
        return xbar
    if type(xbar) in _BY_TYPE or type(xbar) is bool:
        return dtype.type(xbar)
    return astype(xbar, dtype) if isinstance(xbar, Traced) else xbar.astype(dtype)
