"""Numbers of Python's in a batch raise where they do in an item: by zero, or for a power too large.

NumPy's do not, which the blocks are. Items that raise are a way of their own: there the error is
raised for all of them, and who catches it catches it as in a loop.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from ..rules import Traced, value
from .batched import is_batched
from .ways import OneByOne, Split, grouped

_DIVISIONS = (np.true_divide, np.floor_divide, np.remainder)


def raise_as_python(level: Any, ufunc: np.ufunc, operation: Callable, x: Any, z: Any) -> None:
    """Raise what ``operation`` raises of Python's numbers, where the blocks have NumPy's answers.

    Raises
    ------
    ArithmeticError
        If it is that of all items.
    OneByOne, Split
        If some raise, or a root of negative numbers is a complex one.
    """
    if is_recorded(x) or is_recorded(z):
        return  # a program of whole arrays, which compares itself with NumPy
    if ufunc in _DIVISIONS:
        unlike = z == 0
    elif ufunc is np.power:
        unlike = _unlike_powers(x, z)
    else:
        return
    if not np.any(unlike):
        return
    if is_batched(unlike):
        raise OneByOne(level, f"{ufunc.__name__} of Python's numbers is not NumPy's for an item")
    groups = grouped(np.broadcast_to(value(unlike), (level.count,)).tolist())
    if len(groups) > 1:
        raise Split(level, groups, "an error of Python's numbers")
    operation(*[part.item() for part in (_first(x), _first(z))])  # which raises
    raise OneByOne(level, "powers of Python's numbers are complex")


def _unlike_powers(x: Any, z: Any) -> Any:
    """Say of powers where Python's are others: 1 of zero, 2 too large, 3 complex."""
    if np.iscomplexobj(x) or np.iscomplexobj(z):
        of_zero = (x == 0) & ((np.real(z) < 0) | (np.imag(z) != 0))
        roots = np.False_
    else:
        of_zero = (x == 0) & (z < 0)
        roots = (x < 0) & (np.floor(z) != z)
    with np.errstate(all="ignore"):
        large = np.isfinite(x) & np.isfinite(z) & ~np.isfinite(np.power(x * 1.0, z))
    return np.where(of_zero, 1, np.where(roots, 3, np.where(large, 2, 0)))


def is_recorded(x: Any) -> bool:
    """Say whether ``x`` stands for a number of a recording, under whatever else it is traced by."""
    while isinstance(x, Traced):
        if not is_batched(x) and x.records:
            return True
        x = x.block if is_batched(x) else x.primal
    return False


def _first(x: Any) -> Any:
    return np.reshape(value(x), -1)[0]
