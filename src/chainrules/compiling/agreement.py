"""Whether two results of one function are the same, but for rounding."""

from typing import Any

import numpy as np

from ..rules import iterate_leaves

RELATIVE = 1e-9  # of the largest number of all results, for float64

_NUMBER = np.ndarray | np.generic | float | complex


def agree(a: Any, b: Any, scale: float = 0.0) -> bool:
    """Say whether two results have the same structure, dtypes and shapes, and equal numbers.

    Numbers are compared with the largest one of ``b``, or with ``scale`` where that is larger.

    Examples
    --------
    >>> agree((1.0, [np.ones(2)]), (1.0 + 1e-15, [np.ones(2)])), agree(1.0, 1)
    (True, False)
    """
    xs, ys = list(iterate_leaves(a)), list(iterate_leaves(b))
    scale = max([scale, *map(_largest, ys)])
    return len(xs) == len(ys) and all(_agree(x, y, scale) for x, y in zip(xs, ys, strict=True))


def _largest(y: Any) -> float:
    if not isinstance(y, _NUMBER) or np.asarray(y).dtype.kind not in "fc":
        return 0.0
    sizes = np.abs(np.asarray(y))
    return float(np.max(sizes[np.isfinite(sizes)], initial=0.0))


def _agree(x: Any, y: Any, scale: float) -> bool:
    if not (isinstance(x, _NUMBER) and isinstance(y, _NUMBER)):
        return x is y or (type(x) is type(y) and bool(x == y))
    x, y = np.asarray(x), np.asarray(y)
    if x.shape != y.shape or x.dtype != y.dtype:
        return False
    if x.dtype.kind not in "fc":
        return bool(np.array_equal(x, y))
    tolerance = RELATIVE * float(np.finfo(x.dtype).eps) / float(np.finfo(float).eps)
    with np.errstate(all="ignore"):
        return bool(np.allclose(x, y, rtol=tolerance, atol=tolerance * scale, equal_nan=True))
