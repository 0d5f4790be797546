"""Functions of NumPy whose results have shapes and dtypes that depend on no numbers.

Of a function that is not listed the structure of the result is looked at in every run.
"""

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from ...rules import getitem
from ...rules.rulesets.arrays.indexing import scatter
from ...rules.rulesets.linalg.systems import inverse_or_nan
from ...rules.rulesets.linalg.triangular import cholesky_pull, inverse_of_lower, solve_by_blocks
from ...rules.tracing.funnel import astype, entry
from ...rules.tracing.level import Traced
from .lowering import MOVING

# The shapes and dtypes of their results depend on those of the arguments alone.
_ONE_SHAPE = MOVING | {
    np.sum, np.prod, np.mean, np.var, np.std, np.max, np.min, np.amax, np.amin, np.any, np.all,
    np.cumsum, np.cumprod, np.dot, np.vdot, np.inner, np.outer, np.matmul, np.tensordot, np.einsum,
    np.kron, np.trace, np.zeros_like, np.ones_like, np.full_like, np.argmax, np.argmin, np.argsort,
    np.sort, np.clip, np.tril, np.triu, np.real, np.imag, np.conjugate, np.array, np.linalg.solve,
    np.linalg.inv, np.linalg.det, np.linalg.slogdet, np.linalg.cholesky, np.linalg.eigh, np.diff,
    np.round, astype, inverse_or_nan, inverse_of_lower, solve_by_blocks, cholesky_pull,
    np.linalg.norm, np.count_nonzero, np.take_along_axis, np.cross, entry,
}  # fmt: skip


# Of these functions of one shape some numbers are errors: singular matrices, wrong indices. Of what
# has not one shape the structure is looked at, which keeps it in the program.
_RAISING = frozenset({
    np.linalg.solve, np.linalg.inv, np.linalg.cholesky, np.linalg.eigh, np.take_along_axis,
})  # fmt: skip


def may_raise(f: Any, args: tuple) -> bool:
    """Say whether ``f`` raises for some numbers, though it gives one shape."""
    if f is getitem:
        index = args[1] if len(args) > 1 else ()
        return any(isinstance(x, Traced) for x in (index if type(index) is tuple else (index,)))
    return type(f).__hash__ is not None and f in _RAISING


def gives_one_shape(f: Any, args: tuple, kwargs: dict) -> bool:
    """Say whether shape and dtype of ``f(*args)`` are the same for all numbers in recorded ones."""
    if isinstance(f, np.ufunc) or getattr(f, "gives_one_shape", False):
        return True
    if f is getitem:
        index = args[1] if len(args) > 1 else kwargs.get("index")
        parts = index if type(index) is tuple else (index,)
        return not any(isinstance(part, Traced) and _kind(part) == "b" for part in parts)
    if f is np.where:
        return len(args) == 3
    if f is scatter:
        shape = args[1] if len(args) > 1 else kwargs["shape"]
        return not any(isinstance(n, Traced) for n in shape)
    if getattr(f, "__module__", None) == "math":
        return True
    is_method = isinstance(getattr(f, "__self__", None), np.ufunc)
    if not is_method and (type(f).__hash__ is None or f not in _ONE_SHAPE):
        return False
    # Axes and sizes are options, or whole numbers that come after the array.
    if kwargs and any(True for _ in _traced(kwargs.values())):
        return False
    return not any(f in MOVING or _kind(x) in "iu" for x in _traced(args[1:]))


def _traced(options: Iterable) -> Iterator[Traced]:
    for x in options:
        if isinstance(x, Traced):
            yield x
        elif type(x) is tuple or type(x) is list:
            yield from _traced(x)


def _kind(x: Any) -> str:
    return str(x.dtype.kind)
