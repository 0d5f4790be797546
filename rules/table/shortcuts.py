"""Shortcuts past NumPy's Python wrappers, for arguments of known types.

``np.sum(x)`` of a plain array is ``np.add.reduce(x, axis=None)``, and takes twice as long. Where
the type of the argument is known, the inner function is called directly: the same computation,
to the bit.
"""

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from ..annotations import Function
from ..shapes import FLOAT64, FLOATS


def _stacked(parts: list, axis: Any = 0, **options: Any) -> Any:
    """Return ``np.stack(parts, axis)``; of numbers an array is made at once."""
    first = type(axis) is int and axis == 0 and not options
    if parts and first and FLOATS.issuperset(map(type, parts)):
        return np.array(parts)
    return np.stack(parts, axis, **options)


def _reshaped(x: np.ndarray, shape: Any, order: Any = "C", copy: Any = None) -> np.ndarray:
    if copy is not None:
        return np.reshape(x, shape, order, copy=copy)
    return x.reshape(shape) if order == "C" else x.reshape(shape, order=order)


def _transposed(x: np.ndarray, axes: Any = None) -> np.ndarray:
    return x.transpose(axes)


def _mean(x: np.ndarray, axis: Any = None, keepdims: Any = False, **options: Any) -> Any:
    if not options and x.dtype is FLOAT64 and x.size and (axis is None or type(axis) is int):
        total = np.add.reduce(x, axis=axis, keepdims=keepdims)
        return total / (x.size if axis is None else x.shape[axis])
    return x.mean(axis, keepdims=keepdims, **options)


def _var(x: np.ndarray, **options: Any) -> Any:
    return np.var(x, **options) if "correction" in options else x.var(**options)


def _std(x: np.ndarray, **options: Any) -> Any:
    return np.std(x, **options) if "correction" in options else x.std(**options)


def _reduced(ufunc: np.ufunc) -> tuple[type, Callable]:
    return np.ndarray, functools.partial(ufunc.reduce, axis=None)


# What these functions do in the end with an argument of a type, after asking what they were given.
SHORTCUTS: dict[Any, tuple[type, Callable]] = {
    np.sum: _reduced(np.add),
    np.prod: _reduced(np.multiply),
    np.max: _reduced(np.maximum),
    np.amax: _reduced(np.maximum),
    np.min: _reduced(np.minimum),
    np.amin: _reduced(np.minimum),
    np.mean: (np.ndarray, _mean),
    np.var: (np.ndarray, _var),
    np.std: (np.ndarray, _std),
    np.cumsum: (np.ndarray, np.ndarray.cumsum),
    np.clip: (np.ndarray, np.ndarray.clip),
    np.reshape: (np.ndarray, _reshaped),
    np.transpose: (np.ndarray, _transposed),
    np.ravel: (np.ndarray, np.ndarray.ravel),
    np.repeat: (np.ndarray, np.ndarray.repeat),
    np.squeeze: (np.ndarray, np.ndarray.squeeze),
    np.trace: (np.ndarray, np.ndarray.trace),
    np.stack: (list, _stacked),
}


def shortcut(f: Function) -> tuple[type | None, Any]:
    """Return the type of the first argument for which ``f`` has a quicker way, and that."""
    return SHORTCUTS.get(f, (None, None)) if type(f) is type(np.sum) else (None, None)
