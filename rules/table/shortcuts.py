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
from ..shapes import COMPLEX128, FLOAT64, FLOATS


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


# ---- Fourier transforms ----

_UFUNCS: Any = getattr(np.fft, "_pocketfft_umath", None)
_FORWARD = frozenset({np.fft.fft, np.fft.rfft})


def transform_of_length(transform: Function, length: int, n: Any, norm: Any) -> tuple | None:
    """Return the ufunc of a transform along an axis, the factor, and the entries that it makes.

    None where NumPy's wrapper is to be called. The ufuncs are NumPy's own and not public: of
    a release that has none of these names the wrappers are called, too.
    """
    if n is not None and type(n) is not int:
        return None
    return _planned(transform, length, n, norm) if norm is None or type(norm) is str else None


@functools.lru_cache
def _planned(transform: Function, length: int, n: int | None, norm: str | None) -> tuple | None:
    if n is None:
        n = 2 * length - 2 if transform is np.fft.irfft else length
    if n < 1 or norm not in (None, "backward", "forward"):
        return None
    half = transform is np.fft.rfft
    name = transform.__name__ + (("_n_odd" if n % 2 else "_n_even") if half else "")
    ufunc = getattr(_UFUNCS, name, None)
    divides = (transform in _FORWARD) is (norm == "forward")
    entries = n // 2 + 1 if half else n
    return (ufunc, 1.0 / n if divides else 1.0, entries) if isinstance(ufunc, np.ufunc) else None


def _along_last(transform: Function, given: np.dtype, made: np.dtype) -> Callable:
    """Return a transform that calls its ufunc for an array in C order, along the last axis."""

    def along_last(a: Any, n: Any = None, axis: Any = -1, norm: Any = None, **options: Any) -> Any:
        if type(a) is np.ndarray and a.dtype is given and not options:
            shape = a.shape
            if shape and (axis == -1 or axis == len(shape) - 1) and a.flags.c_contiguous:
                plan = transform_of_length(transform, shape[-1], n, norm)
                if plan is not None:
                    ufunc, scale, size = plan
                    y = np.empty(size if len(shape) == 1 else (*shape[:-1], size), made)
                    return ufunc(a, scale, out=y)
        return transform(a, n, axis, norm, **options)

    return along_last


#: Transforms along one axis: the dtypes of doubles that each takes and makes.
TRANSFORMS: dict[Any, tuple[np.dtype, np.dtype]] = {
    np.fft.fft: (COMPLEX128, COMPLEX128), np.fft.ifft: (COMPLEX128, COMPLEX128),
    np.fft.rfft: (FLOAT64, COMPLEX128), np.fft.irfft: (COMPLEX128, FLOAT64),
}  # fmt: skip


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
    **{f: (np.ndarray, _along_last(f, *dtypes)) for f, dtypes in TRANSFORMS.items()},
}


def shortcut(f: Function) -> tuple[type | None, Any]:
    """Return the type of the first argument for which ``f`` has a quicker way, and that."""
    return SHORTCUTS.get(f, (None, None)) if type(f) is type(np.sum) else (None, None)
