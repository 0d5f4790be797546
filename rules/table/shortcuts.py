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


def _along_last(transform: Function, forward: bool, to_half: bool, from_half: bool) -> Callable:
    """Return a transform that calls its ufunc for an array in C order, along the last axis.

    The ufuncs are NumPy's own and not public: what differs, and a release that has none of
    these, is for the wrapper.
    """
    name = transform.__name__
    pair = ("rfft_n_even", "rfft_n_odd") if to_half else (name, name)
    of_numpy: Any = getattr(np.fft, "_pocketfft_umath", None)
    even, odd = [getattr(of_numpy, ufunc, None) for ufunc in pair]
    if not isinstance(even, np.ufunc) or not isinstance(odd, np.ufunc):
        return transform
    scales_up = {None: forward, "backward": forward, "forward": not forward}
    given, made = FLOAT64 if to_half else COMPLEX128, FLOAT64 if from_half else COMPLEX128

    def along_last(a: Any, n: Any = None, axis: Any = -1, norm: Any = None, **options: Any) -> Any:
        whole = scales_up.get(norm)  # whether the sums are left as they are
        if type(a) is np.ndarray and a.dtype is given and whole is not None and not options:
            shape = a.shape
            if shape and (axis == -1 or axis == len(shape) - 1) and a.flags.c_contiguous:
                points = n
                if n is None:
                    points = 2 * shape[-1] - 2 if from_half else shape[-1]
                if type(points) is int and points > 0:
                    size = points // 2 + 1 if to_half else points
                    y = np.empty(size if len(shape) == 1 else (*shape[:-1], size), made)
                    ufunc = odd if points % 2 else even
                    return ufunc(a, 1.0 if whole else 1.0 / points, out=y)
        return transform(a, n, axis, norm, **options)

    return along_last


#: Transforms along one axis, and for each the same function with less around it.
TRANSFORMS: dict[Any, Callable] = {
    np.fft.fft: _along_last(np.fft.fft, True, False, False),
    np.fft.ifft: _along_last(np.fft.ifft, False, False, False),
    np.fft.rfft: _along_last(np.fft.rfft, True, True, False),
    np.fft.irfft: _along_last(np.fft.irfft, False, False, True),
}


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
    **{transform: (np.ndarray, quick) for transform, quick in TRANSFORMS.items()},
}


def shortcut(f: Function) -> tuple[type | None, Any]:
    """Return the type of the first argument for which ``f`` has a quicker way, and that."""
    return SHORTCUTS.get(f, (None, None)) if type(f) is type(np.sum) else (None, None)
