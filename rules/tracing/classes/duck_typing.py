"""Attributes of a traced number: those of its primal, so that ``hasattr`` gives the same answer.

``x.sum()`` of a Python float is an ``AttributeError``, and code that is written for floats and for
arrays takes its other branch by that.
"""

from types import FunctionType
from typing import Any

import numpy as np

from ...annotations import Value
from ..level import type_under

PYTHONS = (float, int, complex, bool)

# Attributes that tensors of other libraries have, and what to write here.
INSTEAD = {
    "at": "write x[i] = v or x[i] += v: arrays may be written to, y = x.copy() where x is to stay",
    "backward": "write cr.grad(f)(x), or y, pullback = cr.vjp(f, x) where y is no single number",
    "block_until_ready": "leave it out: what NumPy computes is there when it returns",
    "chunks": "call NumPy's functions on x, not dask.array's: np.einsum in place of da.einsum; "
    "where xarray calls these by opt_einsum, write xarray.set_options(use_opt_einsum=False)",
    "clone": "write x.copy()",
    "detach": "write cr.stop_gradient(x)",
    "grad": "write cr.grad(f)(x), which returns the gradient",
    "map_blocks": "call NumPy's functions on x, which dask calls on its chunks; and in place of "
    "writing x into an array of dask, make that of its parts by np.where, np.stack, np.concatenate",
    "numpy": "write cr.value(x), where no derivative is wanted",
    "permute": "write np.transpose(x, axes)",
    "requires_grad": "write cr.grad(f, argnums=...), which says what is differentiated",
    "unsqueeze": "write np.expand_dims(x, axis), or x[:, None]",
}


def instead_of(name: str, kind: type) -> str:
    """Say what to write in place of an attribute that a traced number of type ``kind`` has not."""
    if name not in INSTEAD and kind in PYTHONS and hasattr(np.float64, name):
        return (
            "what NumPy computes of a list of traced numbers is Python's as well: write "
            "cr.array([x, y]) in place of the list, or np.float64(x) in an adopted module"
        )
    return INSTEAD.get(name, "")


class OfNumPys:
    """A method that NumPy's numbers have, and Python's have not."""

    def __init__(self, part: Any) -> None:
        self.part = part

    def __get__(self, x: Value, owner: type) -> Any:
        if x is not None and type_under(x) in PYTHONS:
            raise AttributeError  # of which ``__getattr__``, which is asked next, says more
        return self.part.__get__(x, owner)


def hide_from_pythons(of_numbers: type, of_arrays: type) -> None:
    """Let methods of NumPy's be seen on NumPy's numbers only, and on arrays, a sub-class."""
    for name, part in list(vars(of_numbers).items()):
        numpys = hasattr(np.float64, name) and not hasattr(float, name)
        if not name.startswith("_") and callable(part) and numpys:
            if isinstance(part, FunctionType) and not hasattr(np.ndarray, part.__name__):
                part.__name__ = name  # by which quantities know what it does to a unit
            setattr(of_numbers, name, OfNumPys(part))
            if name not in vars(of_arrays):
                setattr(of_arrays, name, part)
