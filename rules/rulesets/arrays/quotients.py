"""A quotient that is 0 where both numbers are, for derivatives of norms and of spectra."""

import math

import numpy as np

from ... import primitive, scalar_rule


@primitive
def quotient(a, b):
    """``a / b``, and 0 where both are 0.

    A norm at 0 has the subgradient 0, and equal eigenvalues matter only to what depends on
    their eigenvectors. The derivatives of this function are those of ``a / b`` everywhere,
    infinite or NaN where ``b`` is 0: there is no second derivative, and none is made up.
    """
    if type(b) is np.float64 and 0 < abs(b) < math.inf and type(a) is np.ndarray:
        return a / b  # most norms are no zero
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.divide(a, np.where((np.equal(a, 0)) & (np.equal(b, 0)), 1, b))


def quotient_by_a(_, _a, b):
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.divide(1, b)


def quotient_by_b(y, _a, b):
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.divide(-y, b)


scalar_rule(quotient, quotient_by_a, quotient_by_b)


@primitive
def not_smooth(x, where):
    """Return ``x``, whose derivative is not known ``where``: NaN."""
    return x


scalar_rule(not_smooth, lambda _, _x, where: np.where(where, math.nan, 1), 0)
