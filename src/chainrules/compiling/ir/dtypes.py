"""Dtypes with native code, and the dtypes with which NumPy performs an operation.

A dtype that has native code is known by its kind: "f8", "f4", "i8", "i4", "b1", and "c16" and "c8",
which are pairs of floats.
"""

from typing import Any

import numpy as np

from ...rules.linear.steps import Slot
from ..native import Operation
from ..native.assembly.operations import CONVERSIONS, LOGIC
from .forms import ValueForm
from .lowering import OF_BOOLEANS
from .scalars import NotLowered

KINDS: dict[np.dtype, str] = {np.dtype(k): k for k in ("f8", "f4", "i8", "i4", "b1", "c16", "c8")}
PARTS = {"c16": "f8", "c8": "f4"}  # what complex numbers are pairs of
TO_KIND = {kind: name for name, kind in CONVERSIONS.items()}  # operations that convert

_WEAK = (float, int, complex)  # Python's numbers take the dtype of what they are combined with


def kind_of_form(form: ValueForm) -> str:
    """Return the kind of an array, or of a number.

    Raises
    ------
    NotLowered
    """
    found = KINDS.get(np.dtype(form.kind))
    if found is None or form.kind is int:  # of any size
        raise NotLowered(f"numbers of {np.dtype(form.kind)}")
    return found


def dtype_of(x: Any, steps: list[Operation]) -> Any:
    """Return the dtype of an operand, or the type of a number of Python's."""
    if type(x) is Slot:
        form = steps[x.position].form
        if form is None:
            raise NotLowered("an operand that is no number")
        kind = form.kind
    elif type(x) is np.ndarray:
        return x.dtype
    else:
        kind = type(x)
    if kind in _WEAK:
        return kind
    if isinstance(kind, type) and kind is not bool and not issubclass(kind, np.generic):
        raise NotLowered(f"an operand of type {kind.__name__}")
    return np.dtype(kind)


def kinds_computed_with(f: Any, name: str, args: Any, steps: list[Operation]) -> list[str]:
    """Return what NumPy converts the operands of an operation to before it is done."""
    ufunc = f if isinstance(f, np.ufunc) else getattr(np, name)
    try:
        dtypes = ufunc.resolve_dtypes((*[dtype_of(x, steps) for x in args], *[None] * ufunc.nout))
        return [KINDS[dtype] for dtype in dtypes[: ufunc.nin]]
    except (TypeError, ValueError, KeyError):
        raise NotLowered(f"{ufunc.__name__} of these dtypes") from None


def operation_of(
    f: Any, name: str, args: Any, form: ValueForm, steps: list[Operation]
) -> tuple[str, list[str]] | None:
    """Return the native operation that ``f`` is of these operands, and the kinds of them."""
    dtypes = [dtype_of(x, steps) for x in args]
    if all(dtype in (bool, np.dtype(bool)) for dtype in dtypes):
        name = OF_BOOLEANS.get(name, name)
    root = name == "power" and type(args[1]) is not Slot and np.all(np.equal(args[1], 0.5))
    if root and (f is np.float_power or np.ndim(args[1]) or not form.array):
        return None  # no root, of which -0.0 and -inf tell
    if name in LOGIC:
        return name, ["b1"] * len(args)
    return name, kinds_computed_with(f, name, args, steps)


def typed(x: Any, kind: str) -> Any:
    """Return a number as a constant of this kind."""
    if kind == "f8" or kind == "b1":
        return float(x) if kind == "f8" else bool(x)
    try:
        with np.errstate(all="ignore"):
            return np.dtype(kind).type(x)
    except (OverflowError, TypeError):
        raise NotLowered(f"a number that is no {np.dtype(kind)}") from None
