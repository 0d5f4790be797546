"""Cholesky factors, and systems that are solved by them. SciPy's are upper triangles at first."""

import numpy as np
from scipy import linalg

from .... import seen
from ...arrays.products import adjoint
from .calls import composed_with_value


@composed_with_value(linalg.cholesky)
def cholesky(a, lower=False):
    """By NumPy's lower one, which reads the lower triangle: that of ``a^H`` is the upper."""
    return np.linalg.cholesky(a) if lower else adjoint(np.linalg.cholesky(adjoint(a)))


@composed_with_value(linalg.cho_factor)
def cho_factor(a, lower=False):
    """In the other triangle there still is that of ``a``."""
    factor = seen(linalg.cholesky)(a, lower=lower, check_finite=False)
    return factor + (np.triu(a, 1) if lower else np.tril(a, -1)), lower


@composed_with_value(linalg.cho_solve)
def cho_solve(c_and_lower, b):
    c, lower = c_and_lower
    solve = seen(linalg.solve_triangular)
    first, second = (0, 2) if lower else (2, 0)
    inner = solve(c, b, first, lower=lower, check_finite=False)
    return solve(c, inner, second, lower=lower, check_finite=False)
