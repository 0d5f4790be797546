"""Cholesky factors, for stacks of matrices."""

import numpy as np

from ... import is_lazy, pair_rule, value
from ..arrays.products import adjoint
from .hermitian import from_triangle, from_triangle_transpose, half_lower
from .triangular import are_plain, cholesky_pull, inverse_of_lower


def inverse_of_factor(factor):
    return inverse_of_lower(factor) if are_plain(factor) else np.linalg.inv(factor)


def factor_of(cholesky, a, upper):
    """The factor, and whether it is the upper one: dask's is, and it takes no such keyword."""
    upper_only = is_lazy(value(a)) and not upper
    return (cholesky(a), True) if upper_only else (cholesky(a, upper=upper), upper)


@pair_rule(np.linalg.cholesky)
def cholesky_pair(cholesky, a, *, upper=False):
    """Triangular factor of each matrix in a stack.

    From ``l @ l^H = a``: ``inv(l) @ ldot`` is the lower triangle, with half the diagonal, of
    ``inv(l) @ adot @ inv(l)^H``.

    Shapes: ``a``, ``y``, ``ybar``: (..., n, n).
    Source: Murray (2016), differentiation of the Cholesky decomposition.
    """
    y, upper = factor_of(cholesky, a, upper)
    factor = adjoint(y) if upper else y

    def cholesky_pushforward(adot):
        inverse = inverse_of_factor(factor)
        moved = inverse @ from_triangle(adot, "U" if upper else "L") @ adjoint(inverse)
        ydot = factor @ half_lower(moved)
        return adjoint(ydot) if upper else ydot

    def cholesky_pullback(ybar):
        factor_bar = adjoint(ybar) if upper else ybar
        if are_plain(factor, factor_bar):
            abar = cholesky_pull(factor, factor_bar)
        else:
            inverse = inverse_of_factor(factor)
            inner = half_lower(adjoint(factor) @ factor_bar)
            abar = from_triangle_transpose(adjoint(inverse) @ inner @ inverse, "L")
        return adjoint(abar) if upper else abar

    return y, cholesky_pushforward, cholesky_pullback
