"""Rules for scipy.linalg."""

from typing import Any

import numpy as np
from scipy import linalg

from ..arrays.numpys_own import composed_for_derivatives

INSTEAD: dict[str, Any] = {}
REFUSED: dict[str, tuple[str, str]] = {}


@composed_for_derivatives(linalg.det)
def det(a, overwrite_a=False, check_finite=True):
    return np.linalg.det(a)


@composed_for_derivatives(linalg.solve)
def solve(a, b, lower=False, overwrite_a=False, overwrite_b=False, check_finite=True, assume_a=None,
          transposed=False):  # fmt: skip
    return np.linalg.solve(a.T if transposed else a, b)
