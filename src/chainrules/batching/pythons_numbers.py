"""Numbers of Python's in a batch: they raise by zero, do not warn, and integers have no end.

NumPy's, which the blocks are, do otherwise. Items that raise are a way of their own: there the
error is raised for all of them, and who catches it catches it as in a loop. Items whose integers
do not fit go one after another.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from ..rules import Traced, dtype_of, value
from .batched import is_batched
from .ways import OneByOne, Split, grouped

OF_PYTHON = (bool, int, float, complex)
_DIVISIONS = (np.true_divide, np.floor_divide, np.remainder)
_SHIFTS = (np.left_shift, np.right_shift)
_ORDERS = (np.less, np.less_equal, np.greater, np.greater_equal)
_BITWISE = (np.bitwise_and, np.bitwise_or, np.bitwise_xor)
_GROWING = (np.add, np.subtract, np.multiply, np.power, np.left_shift)
_LARGE, _EXACT = 2.0**62, 2**53  # integers that may leave int64, and those that are floats


def too_large(level: Any) -> OneByOne:
    return OneByOne(level, "integers of Python's are too large for NumPy's")


def computed(level: Any, ufunc: np.ufunc, operation: Callable, x: Any, z: Any) -> Any:
    """Return the block of ``operation(x, z)``, of which blocks and numbers are Python's.

    Raises
    ------
    ArithmeticError, OneByOne, Split
        If Python raises, or an integer would be too large for NumPy.
    """
    raise_as_python(level, ufunc, operation, x, z)
    with np.errstate(all="ignore"):
        whole = [_dtype_of(part).kind in "biu" for part in (x, z)]
        if any(whole) and not (is_recorded(x) or is_recorded(z)):
            if not (ufunc in _BITWISE and _dtype_of(x).kind == _dtype_of(z).kind == "b"):
                x, z = _as_integer(x), _as_integer(z)
            if _differs(ufunc, x, z, all(whole)):
                raise too_large(level)
        return operation(x, z)


def operand(level: Any, block: Any) -> Any:
    """Return the block that a unary operator takes of numbers of Python's: integers for truths.

    Raises
    ------
    OneByOne
        If NumPy has no integer of the other sign for one of them.
    """
    if _dtype_of(block).kind not in "bi" or is_recorded(block):
        return block
    block = _as_integer(block)
    if np.any(block == np.iinfo(np.int64).min):
        raise too_large(level)
    return block


def _dtype_of(x: Any) -> Any:
    return np.dtype(type(x)) if isinstance(x, OF_PYTHON) else dtype_of(x)


def _as_integer(x: Any) -> Any:
    """Return truths as the integers that Python computes with."""
    if _dtype_of(x).kind != "b":
        return x
    return int(x) if isinstance(x, bool) else x.astype(np.int64)


def _differs(ufunc: np.ufunc, x: Any, z: Any, integers: bool) -> bool:
    """Say whether some integers are too large for NumPy to compute what Python does."""
    if integers and ufunc in _GROWING:
        a, b = x * 1.0, z * 1.0
        large = a * np.exp2(b) if ufunc is np.left_shift else ufunc(a, b)
        return bool(np.any(~(np.abs(large) < _LARGE)))
    if ufunc not in ((np.true_divide,) if integers else (*_ORDERS, np.equal, np.not_equal)):
        return False
    # As floats they are rounded, where Python divides and compares the integers themselves.
    parts = [part for part in (x, z) if _dtype_of(part).kind in "iu"]
    return any(bool(np.any((part > _EXACT) | (part < -_EXACT))) for part in parts)


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
    elif ufunc in _SHIFTS:
        unlike = z < 0
    elif ufunc in _ORDERS:
        unlike = np.bool_("c" in (_dtype_of(x).kind, _dtype_of(z).kind))
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
    if _dtype_of(x).kind in "biu" and _dtype_of(z).kind in "biu":
        return np.where(of_zero, 1, 0)
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
