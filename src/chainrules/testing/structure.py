"""Form of a value and a tangent: type, shape and dtype, checked before any number is."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..config import TangentError
from ..rules import (
    AbstractZero,
    InplaceableThunk,
    NotImplementedTangent,
    Tangent,
    children,
    unthunk,
)
from ..rules.shapes import dtype_of
from ..rules.tangents.structural import child_tangents
from .describe import short
from .plan import is_sparse, label

__all__ = ["inplace_complaint", "tangent_complaint", "value_complaint"]

FIXED = (bool, np.bool_, str, bytes, type(None), slice)


def tangent_complaint(x: Any, t: Any, path: str, skipped: list[str]) -> str:
    """Say what is wrong with the form of a tangent or cotangent ``t`` of ``x``, or nothing.

    Zeros fit everywhere. The tangent of a number or an array has its shape and dtype; of an
    integer, float64. What cannot be perturbed has only zeros. Entries marked
    ``not_implemented`` are noted in ``skipped``.
    """
    t = unthunk(t)
    if isinstance(t, AbstractZero):
        return ""
    if isinstance(t, NotImplementedTangent):
        skipped.append(f"{path} is {t!r}")
        return ""
    parts = children(x)
    if parts is not None:
        if isinstance(t, Tangent) and t.primal_type is not type(x):
            return f"{path} is a {type(x).__name__}, and got a Tangent of {_name(t.primal_type)}."
        try:
            pieces = child_tangents(x, t)
        except TangentError as error:
            return f"{path}: {error}"
        for key, value, piece in zip(parts.keys, parts.values, pieces, strict=True):
            complaint = tangent_complaint(value, piece, path + label(x, key), skipped)
            if complaint:
                return complaint
        return ""
    if isinstance(x, FIXED) or callable(x) or getattr(x, "dtype", None) == np.dtype(bool):
        return f"{path} cannot be perturbed: expected NoTangent(), got {short(t)}."
    return "" if dtype_of(x) is None else _number_complaint(x, t, path)


def _number_complaint(x: Any, t: Any, path: str) -> str:
    given, wanted = dtype_of(t), dtype_of(x)
    if given is None or isinstance(t, int):
        return f"{path} is {short(x)}, and got {short(t)}."
    if np.shape(t) != np.shape(x):
        return f"{path} is {short(x)}: expected the shape {np.shape(x)}, got {np.shape(t)}."
    if wanted is not None and wanted.kind in "iu":
        wanted = np.dtype(float)
    if given != wanted:
        hint = ""
        if given.kind == "c" and wanted is not None and wanted.kind == "f":
            hint = "; a real value has a real tangent"
        return f"{path} is {short(x)}: expected the dtype {wanted}, got {given}{hint}."
    return ""


def inplace_complaint(x: Any, t: Any, path: str) -> str:
    """Say whether an ``InplaceableThunk`` adds something else in place than it stands for."""
    if not isinstance(t, InplaceableThunk) or not isinstance(x, np.ndarray):
        return ""
    value = unthunk(t)
    buffer = np.ones(x.shape, x.dtype)
    returned = t.add_into(buffer)
    if returned is not buffer:
        return f"add_into of {path} does not return the array that it was given."
    close = np.allclose(buffer, 1 + value, rtol=1e-5 if x.dtype.itemsize < 8 else 1e-10)
    return "" if close else f"add_into of {path} adds something else than its value."


def value_complaint(y: Any, expected: Any, path: str, rtol: float) -> str:
    """Say in what a computed value differs from the expected one, or nothing."""
    parts = children(expected)
    if parts is not None:
        if type(y) is not type(expected):
            return f"{path}: expected a {type(expected).__name__}, got a {type(y).__name__}."
        given = children(y)
        if given is None or given.keys != parts.keys:
            return f"{path}: expected {short(expected)}, got {short(y)}."
        for key, a, b in zip(parts.keys, given.values, parts.values, strict=True):
            complaint = value_complaint(a, b, path + label(expected, key), rtol)
            if complaint:
                return complaint
        return ""
    wanted = _dtype(expected)
    if wanted is None or wanted.kind not in "fciub":
        simple = isinstance(expected, str | bytes | int | type(None))
        same = type(y) is type(expected) and (not simple or y == expected)
        return "" if same else f"{path}: expected {short(expected)}, got {short(y)}."
    if is_sparse(y) != is_sparse(expected) or np.shape(y) != np.shape(expected):
        return f"{path}: expected {short(expected)}, got {short(y)}."
    if _dtype(y) != wanted:
        return f"{path}: expected the dtype {wanted}, got {_dtype(y)}."
    return _entry_complaint(y, expected, path, rtol)


def _entry_complaint(y: Any, expected: Any, path: str, rtol: float) -> str:
    if is_sparse(y):
        y, expected = y.toarray(), expected.toarray()
    a, b = np.asarray(y), np.asarray(expected)
    finite = np.abs(b[np.isfinite(b)])
    atol = rtol * float(np.max(finite, initial=0.0))
    wrong = ~np.isclose(a, b, rtol=rtol, atol=atol, equal_nan=True)
    if not np.any(wrong):
        return ""
    at = tuple(int(k) for k in np.argwhere(wrong)[0])
    where = f"[{', '.join(map(str, at))}]" if at else ""
    return f"{path}{where}: expected {b[at]:.10g}, got {a[at]:.10g}."


def _dtype(x: Any) -> Any:
    # dtype_of counts a Python int as a real number; a value that should be one is an integer.
    return np.asarray(x).dtype if isinstance(x, float | complex | int) else dtype_of(x)


def _name(primal_type: Any) -> str:
    return getattr(primal_type, "__name__", str(primal_type))
