"""As ``autograd.numpy.numpy_vjps``: what rules of other packages import from it."""

from collections.abc import Callable
from typing import Any

from .... import numpy as np
from .numpy_wrapper import metadata


def unbroadcast(x: Any, target_meta: tuple, broadcast_idx: int = 0) -> Any:
    """Sum a cotangent over the axes along which its argument, of this metadata, was broadcast."""
    shape, ndim, _, is_complex = target_meta
    while np.ndim(x) > ndim:
        x = np.sum(x, axis=broadcast_idx)
    for axis, length in enumerate(shape):
        if length == 1 != np.shape(x)[axis]:
            x = np.sum(x, axis=axis, keepdims=True)
    return np.real(x) if np.iscomplexobj(x) and not is_complex else x


def unbroadcast_f(target: Any, f: Callable) -> Callable:
    """Return ``f``, whose result is a cotangent of ``target`` that may have been broadcast.

    Examples
    --------
    >>> from chainrules.interop.autograd.numpy.numpy_vjps import unbroadcast_f
    >>> unbroadcast_f(2.0, lambda g: g * np.ones(3))(1.0)
    np.float64(3.0)
    """
    target_meta = metadata(target)
    return lambda g: unbroadcast(f(g), target_meta)


def match_complex(target: Any, x: Any) -> Any:
    """Return ``x``, as a real or a complex number as ``target`` is one."""
    if np.iscomplexobj(x) == np.iscomplexobj(target):
        return x
    return np.real(x) if np.iscomplexobj(x) else x + 0j


def repeat_to_match_shape(
    g: Any, shape: tuple, dtype: Any, axis: Any, keepdims: bool
) -> tuple[Any, Any]:
    """Return the cotangent of a reduction for each entry reduced, and how many go into one."""
    if shape == ():
        return g, 1
    axes = range(len(shape)) if axis is None else (axis,) if isinstance(axis, int) else axis
    axes = [i % len(shape) for i in axes]
    kept = [1 if i in axes else length for i, length in enumerate(shape)]
    count = np.prod([shape[i] for i in axes])
    return np.reshape(g, kept) + np.zeros(shape, dtype), count


def replace_zero(x: Any, val: Any) -> Any:
    """Return ``x`` with ``val`` in place of zeros."""
    return np.where(x, x, val)
