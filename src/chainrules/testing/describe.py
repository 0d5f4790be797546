"""Text of a case for messages: its call, its arguments' names, a guess at the mistake."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np

from ..rules.signatures import name_of, parameters

__all__ = ["argument_names", "call_text", "guess", "short", "short_name"]


def short(x: Any) -> str:
    """A value in a few letters: ``float64[2,3]``, ``2.5``, ``(float64[3], 'text')``."""
    if isinstance(x, type):  # float64 as a class has descriptors named dtype and shape
        return x.__name__
    dtype, shape = getattr(x, "dtype", None), getattr(x, "shape", None)
    if isinstance(x, np.generic):
        return f"{dtype}({x})" if dtype is not None else repr(x)
    if dtype is not None and shape is not None:
        return f"{dtype}[{','.join(map(str, shape))}]"
    if type(x) in (tuple, list) and len(x) <= 6:
        inside = ", ".join(map(short, x))
        return (
            f"[{inside}]" if type(x) is list else f"({inside},)" if len(x) == 1 else f"({inside})"
        )
    if type(x) is dict and len(x) <= 6:
        return "{" + ", ".join(f"{key!r}: {short(value)}" for key, value in x.items()) + "}"
    if callable(x):
        return short_name(x)
    text = repr(x)
    return text if len(text) <= 40 and "\n" not in text else f"<{type(x).__name__}>"


def short_name(f: Any) -> str:
    """The name of a function; a class's name for its instance."""
    return name_of(f)


def call_text(f: Any, args: tuple, kwargs: dict) -> str:
    """The call of ``f`` as one would write it, with shapes for arrays."""
    options = [f"{name}={short(value)}" for name, value in kwargs.items()]
    return f"{short_name(f)}({', '.join([*map(short, args), *options])})"


def argument_names(f: Any, count: int) -> list[str]:
    """``the function itself``, then ``argument 0 (a)`` and so on."""
    names: list[str] = []
    for parameter in parameters(f) or () if _hashable(f) else ():
        if parameter.kind in (
            inspect.Parameter.POSITIONAL_ONLY,
            inspect.Parameter.POSITIONAL_OR_KEYWORD,
        ):
            names.append(f" ({parameter.name})")
        elif parameter.kind is inspect.Parameter.VAR_POSITIONAL:
            break
    names += [""] * (count - len(names))
    return ["the function itself", *(f"argument {i}{names[i]}" for i in range(count))]


def _hashable(f: Any) -> bool:
    try:
        hash(f)
    except TypeError:
        return False
    return True


def guess(
    got: np.ndarray, expected: np.ndarray, others: dict[str, np.ndarray], complex_: bool
) -> str:
    """Guess what went wrong from two vectors of coordinates, or return an empty string.

    ``others`` are the expected vectors of other arguments, by name. ``complex_`` says that the
    coordinates are real and imaginary parts in turn.
    """
    scale = np.max(np.abs(expected), initial=0.0)
    if not (np.all(np.isfinite(got)) and np.all(np.isfinite(expected))) or scale == 0:
        return ""

    def close(a: np.ndarray) -> bool:
        return a.shape == expected.shape and bool(np.all(np.abs(a - expected) <= 1e-5 * scale))

    if not np.any(got):
        return "the rule gives zero; is the derivative missing?"
    if close(-got):
        return "every entry has the wrong sign"
    if complex_ and close(got * np.resize([1.0, -1.0], got.shape)):
        return "every entry is the complex conjugate of what it should be"
    if complex_ and got.shape == expected.shape:
        sizes = [np.hypot(*np.reshape(entries, (-1, 2)).T) for entries in (got, expected)]
        if np.all(np.abs(sizes[0] - sizes[1]) <= 1e-5 * scale):
            return (
                "the sizes are right and the angles are not:"
                " a tangent is f'(x) * xdot, a cotangent conj(f'(x)) * ybar"
            )
    factor = float(got @ expected) / float(expected @ expected)
    if factor != 0 and close(got / factor):
        return f"every entry is {factor:.6g} times what it should be"
    for name, other in others.items():
        if other.shape == got.shape and np.allclose(got, other, rtol=1e-5, atol=1e-5 * scale):
            return f"this is the cotangent of {name}; are the two swapped?"
    if got.shape == expected.shape and np.allclose(np.sort(got), np.sort(expected), rtol=1e-5):
        return "the entries are right but in another order; is something transposed?"
    return ""
