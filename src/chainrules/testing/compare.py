"""Comparing tangents of any form, with the path to the entry that differs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ..rules import AbstractZero, NotImplementedTangent, Tangent, ZeroTangent, children, unthunk
from .errors import WrongDerivativeError, WrongStructureError
from .plan import is_sparse, label

__all__ = ["assert_tangents_close", "describe_difference", "entries", "worst_entries"]


def assert_tangents_close(
    actual: Any, expected: Any, *, rtol: float = 1e-9, atol: float = 1e-9, name: str = "tangent"
) -> None:
    """Assert that two tangents of any form are approximately equal.

    Thunks are opened, and a zero (``ZeroTangent``, ``NoTangent``, a field that is not listed)
    equals numbers that are all zero. A ``Tangent`` also equals the tuple, list, dict or object
    with the same entries. What is marked ``not_implemented`` is not compared.

    Parameters
    ----------
    actual, expected : Any
        The tangents.
    rtol, atol : float
        An entry may be off by ``atol + rtol * abs(expected)``.
    name : str
        What the message calls the tangent.

    Raises
    ------
    WrongDerivativeError
        If an entry differs; the message has its path, both values and the difference.
    WrongStructureError
        If the shapes, the keys or the primal types differ.

    Examples
    --------
    >>> import chainrules as cr
    >>> assert_tangents_close(cr.Tangent(tuple, 1.0, cr.ZeroTangent()), (1.0, 0.0))
    >>> try:
    ...     assert_tangents_close({"w": [1.0, 2.0]}, {"w": [1.0, 2.5]}, name="wdot")
    ... except AssertionError as error:
    ...     print(error)
    wdot['w'][1]: expected 2.5, got 2, off by 0.5
    """
    __tracebackhide__ = True
    actual, expected = unthunk(actual), unthunk(expected)
    if isinstance(actual, NotImplementedTangent) or isinstance(expected, NotImplementedTangent):
        return
    if isinstance(actual, Tangent) and isinstance(expected, Tangent):
        a, b = actual.primal_type, expected.primal_type
        if a is not b:
            message = f"{name}: expected a Tangent of {b.__name__}, got one of {a.__name__}"
            raise WrongStructureError(message)
    got, wanted = entries(actual), entries(expected)
    if got is not None or wanted is not None:
        _compare_entries(actual, expected, got, wanted, rtol, atol, name)
    else:
        _compare_numbers(actual, expected, rtol, atol, name)


def _compare_entries(
    actual: Any, expected: Any, got: Any, wanted: Any, rtol: float, atol: float, name: str
) -> None:
    __tracebackhide__ = True
    shape, other = (actual, expected) if got is not None else (expected, actual)
    if isinstance(other, AbstractZero):
        got, wanted = got or {}, wanted or {}
    elif got is None or wanted is None:
        kinds = type(expected).__name__, type(actual).__name__
        raise WrongStructureError(f"{name}: expected a {kinds[0]}, got a {kinds[1]}")
    optional = isinstance(other, AbstractZero | Tangent) or isinstance(shape, Tangent)
    if not optional and got.keys() != wanted.keys():
        keys = list(wanted), list(got)
        raise WrongStructureError(f"{name}: expected the entries {keys[0]}, got {keys[1]}")
    for key in {**wanted, **got}:
        a, b = got.get(key, ZeroTangent()), wanted.get(key, ZeroTangent())
        assert_tangents_close(a, b, rtol=rtol, atol=atol, name=name + label(shape, key))


def _compare_numbers(actual: Any, expected: Any, rtol: float, atol: float, name: str) -> None:
    __tracebackhide__ = True
    if isinstance(actual, AbstractZero):
        actual = np.zeros_like(numbers(expected))
    if isinstance(expected, AbstractZero):
        expected = np.zeros_like(numbers(actual))
    a, b = numbers(actual), numbers(expected)
    if a.shape != b.shape:
        raise WrongStructureError(f"{name}: expected the shape {b.shape}, got {a.shape}")
    wrong = ~np.isclose(a, b, rtol=rtol, atol=atol, equal_nan=True)
    if np.any(wrong):
        lines = [
            f"{name}{_at(at)}: {describe_difference(a[at], b[at])}"
            for at in worst_entries(a, b, wrong)
        ]
        rest = int(np.sum(wrong)) - len(lines)
        raise WrongDerivativeError("\n  ".join(lines + [f"and {rest} more entries"] * (rest > 0)))


def entries(t: Any) -> dict | None:
    """The parts of a tangent by key, field or position; None for a number or an array."""
    if isinstance(t, Tangent):
        names = getattr(t.primal_type, "_fields", None)
        return {names.index(key) if names else key: part for key, part in t.backing.items()}
    parts = None if is_sparse(t) else children(t)
    if parts is None:
        return None
    return dict(enumerate(parts.values) if isinstance(t, tuple) else zip(parts.keys, parts.values))


def numbers(t: Any) -> np.ndarray:
    """A number or an array of any kind as a plain array."""
    return np.asarray(t.toarray() if is_sparse(t) else 0.0 if isinstance(t, AbstractZero) else t)


def worst_entries(a: np.ndarray, b: np.ndarray, wrong: np.ndarray) -> Iterator[tuple]:
    """Indices of at most five wrong entries, those that are off by most first."""
    with np.errstate(all="ignore"):
        off = np.where(wrong, np.nan_to_num(np.abs(a - b), nan=np.inf), -1.0)
    for flat in np.argsort(-off, axis=None, kind="stable")[: min(5, int(np.sum(wrong)))]:
        yield tuple(int(k) for k in np.unravel_index(flat, off.shape))


def _at(at: tuple) -> str:
    return f"[{', '.join(map(str, at))}]" if at else ""


def describe_difference(got: Any, expected: Any) -> str:
    """``expected 2.5, got 2, off by 0.5``, with as many digits as show the difference."""
    with np.errstate(all="ignore"):
        off = abs(got - expected)
        ratio = off / abs(expected) if expected else np.inf
    digits = 6 if not np.isfinite(ratio) or ratio > 1e-4 else int(min(17, 4 - np.log10(ratio)))
    return f"expected {expected:.{digits}g}, got {got:.{digits}g}, off by {off:.3g}"
