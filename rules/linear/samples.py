"""Tangents in general position: to record a linear map with, or to move along beside a tie.

Where numbers are equal, rules ask which of them grows faster (see ``ties``). Along such tangents no
two grow alike unless they always do: of ``x[0]``, ``x[1]`` and ``x[0] + x[1]`` no two are equal.
"""

import math
from typing import Any

import numpy as np

from ..annotations import Value
from ..shapes import dtype_of, shape_of
from ..tangents.filled import zero_tangent
from ..tracing.operands import is_array

_SINES = 2 + np.sin(np.arange(1.0, 1025.0))  # of whole numbers, which are independent
_ROOT = math.sqrt(2)


class Samples:
    """Makes tangents whose numbers, from 1 to 9, are independent: no sum of multiples is 0.

    They are the products of few numbers with few, which takes less time than many sines: so they
    are laid in rows.
    """

    __slots__ = ("rows",)

    def __init__(self) -> None:
        self.rows = 0

    def tangent(self, x: Value) -> Any:
        """Return a tangent of ``x``, independent of those made before."""
        zero = zero_tangent(x)
        sample = zero if type(zero) is np.ndarray else np.zeros(shape_of(x), dtype_of(zero))
        flat = sample.ravel("K")  # a view
        for part in (flat.real, flat.imag) if flat.dtype.kind == "c" else (flat,):
            self._fill(part)
        if sample is zero:
            return sample
        return zero + (sample if is_array(x) else sample.item())

    def _fill(self, flat: Any) -> None:
        size, n = len(_SINES), len(flat)
        if n <= size:
            self.rows += 1
            np.multiply(_SINES[:n], 2 + math.sin(_ROOT * self.rows), out=flat)
            return
        whole = n // size
        factors = 2 + np.sin(_ROOT * np.arange(self.rows + 1, self.rows + whole + 2))
        self.rows += whole + 1
        np.multiply(factors[:-1, None], _SINES, out=flat[: whole * size].reshape(whole, size))
        rest = flat[whole * size :]
        np.multiply(factors[-1], _SINES[: len(rest)], out=rest)
