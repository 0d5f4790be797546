"""Comparison of two results of one function, up to rounding."""

import time
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from ..config import BatchWarning
from ..config.lines import unsaid
from ..rules import iterate_leaves
from ..rules.tracing.captured import digest
from .ir.forms import ValueForm
from .record.recording import foreign_in

# Of the largest number of all results: 1e-9 for float64, 1e-4 for float32, as many of its digits.
DIGITS = 0.575

OVERWRITES = (
    "it overwrites an argument, which a replay does not; leave out overwrite_a=True and the like"
)

OUR_MISTAKE = "a replay gave something else than the recording, which is our mistake"
NOT_REPLAYED = (
    "it {}, which is seen while it is recorded and checked, and not in replays; return what is to "
    "be said, and say it outside"
)

_NUMBER = np.ndarray | np.generic | float | complex


def agree(a: Any, b: Any, scale: float = 0.0, eps: float = 0.0) -> bool:
    """Say whether two results have the same structure, dtypes and shapes, and equal numbers.

    Numbers are compared with the largest one of ``b``, or with ``scale`` where that is larger; as
    closely as their dtypes say, or ``eps`` where that is larger.

    Examples
    --------
    >>> agree((1.0, [np.ones(2)]), (1.0 + 1e-15, [np.ones(2)])), agree(1.0, 1)
    (True, False)
    """
    xs, ys = list(iterate_leaves(a)), list(iterate_leaves(b))
    scale = max([scale, *map(_largest, ys)])
    return len(xs) == len(ys) and all(_agree(x, y, scale, eps) for x, y in zip(xs, ys, strict=True))


def evaluated(f: Callable, args: tuple, kwargs: dict) -> Any:
    """Return ``f(*args, **kwargs)``, to be compared: how it goes there is told of its recording."""
    with unsaid(BatchWarning):
        return f(*args, **kwargs)


def digests(values: list) -> list[bytes]:
    """Return what tells whether a function has written into one of the arrays it was given."""
    return [digest(x) for x in values if isinstance(x, np.ndarray) and x.dtype.kind != "O"]


def coarsest(forms: Iterable[ValueForm | None]) -> float:
    """Return the relative rounding of the coarsest floats among results: 1.2e-7 of float32."""
    kinds = {np.dtype(form.kind) for form in forms if form is not None}
    return max([float(np.finfo(kind).eps) for kind in kinds if kind.kind in "fc"], default=0.0)


def other_than_numpys(recording: Any, values: list, y: Any) -> str:
    """Say how far a recording in machine code is from what NumPy gave, and why that may be."""
    try:
        missed, found = recording.run(values)
        if missed is not None:
            return _TOLD.format(f", which decides otherwise in {recording.looks[missed[0]].line}")
        pairs = list(zip(iterate_leaves(found), iterate_leaves(y), strict=True))
        size = max(_largest(a - b) for a, b in pairs) / max(_largest(b) for _, b in pairs)
        apart = f", by {size:.1g} of the largest number"
    except Exception:  # of another structure, or of an error that NumPy has not
        apart = ""
    return _TOLD.format(apart)


def other_while_recorded(recorder: Any) -> str:
    """Say why a function may give something else while it is recorded than as it is."""
    builders = [getattr(f, "builder", f) for f in foreign_in(recorder) if f.calls_back]
    solvers = sorted({getattr(made, "name", "a solver") for made in builders})
    if solvers:
        return (
            f"the answer of {', '.join(solvers)} changes by more than rounding where "
            "its function is rounded otherwise; ask for smaller tolerances, give it derivatives "
            "(jac=), or compile what comes before and after it by itself"
        )
    return (
        "it gave something else while it was recorded (does it ask for type(x), or return values "
        "in objects, functions or generators?)"
    )


_TOLD = (
    "its native code gave something else than NumPy{}, and is not used.\n"
    "  where numbers are the same but for rounding, as in a max, a sort or a test that ends a "
    "loop, either may choose another one: that is no error of the function"
)


def _largest(y: Any) -> float:
    if not isinstance(y, _NUMBER) or np.asarray(y).dtype.kind not in "fc":
        return 0.0
    sizes = np.abs(np.asarray(y))
    return float(np.max(sizes[np.isfinite(sizes)], initial=0.0))


def _agree(x: Any, y: Any, scale: float, eps: float) -> bool:
    if not (isinstance(x, _NUMBER) and isinstance(y, _NUMBER)):
        return x is y or (type(x) is type(y) and bool(x == y))
    x, y = np.asarray(x), np.asarray(y)
    if x.shape != y.shape or x.dtype != y.dtype:
        return False
    if x.dtype.kind not in "fc":
        return bool(np.array_equal(x, y))
    tolerance = max(float(np.finfo(x.dtype).eps), eps) ** DIGITS
    with np.errstate(all="ignore"):
        return bool(np.allclose(x, y, rtol=tolerance, atol=tolerance * scale, equal_nan=True))


def replays(recording: Any, values: list, y: Any) -> bool:
    """Say whether a replay gives what was recorded, and note how long it took.

    NumPy may complain in it where the function had told it not to, by ``np.errstate`` or a filter
    of warnings; and factors that are shared may be singular, to the last bit, where those of the
    transpose are not. Any other error is a mistake of ours, and is not hidden.
    """
    begin = time.thread_time()
    try:
        missed, again = recording.run(values)
        recording.seconds = time.thread_time() - begin
    except (FloatingPointError, Warning, np.linalg.LinAlgError):
        return False
    return missed is None and agree(again, y, eps=recording.eps)
