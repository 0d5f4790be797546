"""Python's numbers and lists as operands of a kind, where NumPy would make its own of them."""

from typing import Any

import numpy as np

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
