"""Whether two results of one function are the same, but for rounding."""

from typing import Any

import numpy as np

from ..rules import iterate_leaves

RELATIVE = 1e-9  # of the largest number of a result, for float64


def agree(a: Any, b: Any) -> bool:
    """Say whether two results have the same structure, dtypes and shapes, and equal numbers.

    Examples
    --------
    >>> agree((1.0, [np.ones(2)]), (1.0 + 1e-15, [np.ones(2)])), agree(1.0, 1)
    (True, False)
    """
    xs, ys = list(iterate_leaves(a)), list(iterate_leaves(b))
    return len(xs) == len(ys) and all(map(_agree, xs, ys))


def _agree(x: Any, y: Any) -> bool:
    number = np.ndarray | np.generic | float | complex
    if not (isinstance(x, number) and isinstance(y, number)):
        return x is y or (type(x) is type(y) and bool(x == y))
    x, y = np.asarray(x), np.asarray(y)
    if x.shape != y.shape or x.dtype != y.dtype:
        return False
    if x.dtype.kind not in "fc":
        return bool(np.array_equal(x, y))
    finite = np.abs(y[np.isfinite(y)])
    scale = float(np.max(finite, initial=0.0))
    tolerance = RELATIVE * float(np.finfo(x.dtype).eps) / float(np.finfo(float).eps)
    with np.errstate(all="ignore"):
        return bool(np.allclose(x, y, rtol=tolerance, atol=tolerance * scale, equal_nan=True))
