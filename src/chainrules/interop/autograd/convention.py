"""Pullbacks and pushforwards in autograd's convention for complex numbers, or in ours.

Of a complex argument x + iy autograd's gradient is df/dx - i df/dy, and ours df/dx + i df/dy, which
points uphill. Its cotangents are the conjugates of ours throughout; tangents are the same.
"""

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from ...config import ArgumentValueError
from ...forward import linearize
from ...reverse import vjp
from ...rules import (
    ZeroTangent,
    dtype_of,
    is_traced,
    iterate_leaves,
    map_leaves,
    name_of,
    shape_of,
)
from .rules import conjugated

CONVENTIONS = ("autograd", "chainrules")


def pulled(fun: Callable, x: Any, convention: str = "autograd") -> tuple[Callable, Any]:
    """Return the pullback of ``fun``, and its value."""
    if convention not in CONVENTIONS:
        raise ArgumentValueError(
            f"there is no convention={convention!r} for complex numbers.\n"
            "  write convention='autograd', or 'chainrules' for the conjugates of its gradients"
        )
    y, pull = vjp(noticing(fun), of_numpy(x))
    dtype = dtype_of(y)
    is_comparison = dtype is not None and dtype.kind == "b"  # which moves by nothing

    def pullback(ybar: Any) -> Any:
        if is_comparison:
            return pull(ZeroTangent())[0]
        if convention == "chainrules":
            return pull(ybar)[0]
        return conjugated(pull(conjugated(ybar))[0])

    return pullback, y


def pushed(fun: Callable, x: Any) -> tuple[Callable, Any]:
    """Return the pushforward of ``fun``, and its value."""
    y, push = linearize(noticing(fun), of_numpy(x))
    return push, y


def of_numpy(x: Any) -> Any:
    """Return ``x`` with NumPy's numbers for Python's: they have a shape, as autograd's boxes."""
    if type(x) is np.ndarray:
        return x
    return map_leaves(lambda x: np.float64(x) if type(x) is float else x, x)


def noticing(fun: Callable) -> Callable:
    """Return ``fun``, with autograd's warning where nothing depends on the input."""

    def noticed(x: Any) -> Any:
        y = fun(x)
        if is_traced(x) and not is_traced(y):
            warnings.warn("Output seems independent of input.", stacklevel=2)
        return y

    noticed.__name__ = name_of(fun)
    return noticed


def is_complex(x: Any) -> bool:
    """Say whether there is a complex number in ``x``."""
    kinds = [dtype.kind for dtype in map(dtype_of, iterate_leaves(x)) if dtype is not None]
    return "c" in kinds


def ones_like(x: Any) -> Any:
    """Return ones as autograd has them: of complex numbers, 1 + 1j."""

    def one(x: Any) -> Any:
        dtype = dtype_of(x)
        if dtype is None:
            return x
        number = 1 + 1j if dtype.kind == "c" else 1
        kind = dtype if dtype.kind in "fc" else float
        return np.full(shape_of(x), number, kind)[()]

    return map_leaves(one, x)
