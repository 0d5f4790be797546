"""Conversions of pandas: its compiled module of algorithms, whose casts keep traced columns.

Rolling correlations ask it for the floats in a Series.
"""

from typing import Any

import numpy as np
from pandas._libs import algos

from .column import Column


def ensure_float64(x: Any) -> Any:
    """Return the array of float64 in a Series or an array, which may be traced."""
    column = getattr(x, "array", x)
    return column.to_numpy(np.float64) if isinstance(column, Column) else algos.ensure_float64(x)


def __getattr__(name: str) -> Any:
    return getattr(algos, name)
