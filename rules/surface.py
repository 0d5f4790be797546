"""What users hand to the transforms, checked before anything runs."""

from typing import Any

import numpy as np

from ..config import TangentError
from .containers import children
from .exits import describe
from .levels import Traced
from .operands import is_array
from .project import FLOAT64, ProjectTo, dtype_of, shape_of, tangent_dtype
from .tangents import (
    AbstractZero,
    NotImplementedTangent,
    Tangent,
    child_tangents,
    derivative_like,
    unthunk,
)

_NUMBERS = (float, int, complex, np.number, Traced)


def is_perturbable_input(x: Any) -> bool:
    """Say whether a leaf is a number or an array that can be perturbed; integers can."""
    dtype = dtype_of(x)
    if dtype is FLOAT64:
        return isinstance(x, _NUMBERS) or is_array(x)
    if dtype is None or tangent_dtype(dtype) is None:
        return False
    return isinstance(x, _NUMBERS) or is_array(x)


def check_tangent(x: Any, t: Any, what: str) -> Any:
    """Fit the tangent or cotangent ``t`` that a user gives for ``x``, or refuse it by name.

    Raises
    ------
    TangentError
        If the structure, the shape, or the real or complex kind is not that of ``x``.
    """
    t = unthunk(t)
    if isinstance(t, AbstractZero):
        return t
    parts = children(x)
    if parts is not None:
        try:
            given = child_tangents(x, t)
        except TangentError as error:
            raise TangentError(f"{what} does not fit: {error}") from None
        checked = [
            check_tangent(part, partdot, f"{what}, at {key!r}")
            for key, part, partdot in zip(parts.keys, parts.values, given, strict=True)
        ]
        return derivative_like(x, checked)
    if ProjectTo(x).holds(t):
        return t
    if isinstance(t, NotImplementedTangent):
        raise t.error()
    if not is_perturbable_input(x):
        return t
    if isinstance(t, Tangent | dict | str | bytes) or t is None:
        raise TangentError(f"{what} must be a {_kind(x)}, not a {type(t).__name__}.")
    if not isinstance(t, Traced) and dtype_of(t) is None:
        t = np.asarray(t)
    given_dtype, dtype = dtype_of(t), dtype_of(x)
    if shape_of(t) != shape_of(x):
        raise TangentError(
            f"{what} has shape {shape_of(t)}, and the value it belongs to is {describe(x)}.\n"
            f"  give one of shape {shape_of(x)}"
        )
    if given_dtype is not None and dtype is not None and given_dtype.kind not in "fciu":
        raise TangentError(f"{what} must be of numbers, not of dtype {given_dtype}.")
    if dtype is not None and dtype.kind != "c" and given_dtype and given_dtype.kind == "c":
        raise TangentError(
            f"{what} is complex, and the value it belongs to is real ({describe(x)})."
        )
    return ProjectTo(x)(t)


def _kind(x: Any) -> str:
    return f"{describe(x)} array" if is_array(x) else "number"
