"""A quotient that is 0 where both numbers are, for derivatives of norms and of spectra."""

import math

import numpy as np

from ... import Shares, primitive, scalar_rule


def quotient(a, b):
    """``a / b``, and 0 where both are 0.

    A norm at 0 has the subgradient 0, and equal eigenvalues matter only to what depends on
    their eigenvectors. The derivatives of this function are those of ``a / b`` everywhere,
    infinite or NaN where ``b`` is 0: there is no second derivative, and none is made up.
    """
    if type(b) is np.float64 and 0 < abs(b) < math.inf and type(a) is np.ndarray:
        return a / b  # most norms are no zero
    return guarded_quotient(a, b)


@primitive
def guarded_quotient(a, b):
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.divide(a, np.where((np.equal(a, 0)) & (np.equal(b, 0)), 1, b))


def quotient_by_a(_, _a, b):
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.divide(1, b)


def quotient_by_b(y, _a, b):
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.divide(-y, b)


scalar_rule(guarded_quotient, quotient_by_a, quotient_by_b)


@primitive
def undefined(t, at_kink):
    """0 along ``t``; but NaN at a kink, unless nothing moves there."""
    return np.where(at_kink & (t != 0), math.nan, 0.0).astype(np.result_type(t))[()]


scalar_rule(undefined, lambda _, _t, at_kink: np.where(at_kink, math.nan, 0.0), 0)


@primitive
def kink(x, where):
    """0, without a derivative ``where`` ``x`` moves."""
    return np.zeros_like(x)[()]


class Undefined:
    """The partial of ``kink``, of tangents."""

    __array_ufunc__ = None  # so that arrays leave the product to it

    def __init__(self, where):
        self.where = where

    def __mul__(self, t):
        # Of a tangent that knows which of its entries move, the others are 0.
        return undefined(t.settled() if hasattr(t, "settled") else t, self.where)

    __rmul__ = __mul__


def partial_of_kink(_, _x, where):
    # A cotangent of 0 does not say that nothing moves: it may be a factor that is 0 at this point.
    return Shares(Undefined(where), lambda ybar: np.where(where, math.nan, 0.0) * ybar)


scalar_rule(kink, partial_of_kink, 0)


def not_smooth(x, where):
    """``x``, whose derivative is not known ``where`` it moves: NaN."""
    return x + kink(x, where)
