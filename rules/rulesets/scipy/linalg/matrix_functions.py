"""Logarithms, roots, powers and signs of matrices, and functions that the user gives.

At an eigenvalue where the function has no derivative that of the matrix is NaN or very large.
"""

import numpy as np
from scipy import linalg

from .... import (
    astype,
    composed,
    dtype_of,
    is_traced,
    pair_rule,
    primitive,
    seen,
    value,
    with_values,
)
from ...arrays.products import adjoint
from .equations import sylvester
from .exponential import block_triangle, blocks, holomorphic_rules
from .systems import nearly_singular

# ---- logarithm ------------------------------------------------------------------------------


@primitive
def logarithm(a):
    return linalg.logm(a)


@primitive
def logarithm_along(a, e):
    return blocks(linalg.logm(block_triangle(a, e)))[2]


holomorphic_rules(logarithm, logarithm_along)


@composed(linalg.logm)
def logm(A):  # noqa: N803 - SciPy's name
    return logarithm(A)


# ---- roots and signs ------------------------------------------------------------------------


def twice(factor, x):
    """Return y of ``factor @ y + y @ factor = x``, NaN where the factor is singular."""
    y = sylvester(factor, factor, x)
    return np.where(nearly_singular(factor), np.nan, y)


@primitive
def square_root(a):
    return linalg.sqrtm(a)


def in_double(y):
    """SciPy before 1.15 may give a root in extended precision, which LAPACK does not take."""
    return astype(y, complex) if dtype_of(y) == np.clongdouble else y


@pair_rule(square_root)
def square_root_pair(square_root, a):
    """From ``y @ y = a``: ``y @ ydot + ydot @ y = adot``."""
    y = in_double(square_root(a))

    def square_root_pushforward(adot):
        return twice(y, adot)

    def square_root_pullback(ybar):
        return twice(adjoint(y), in_double(ybar))

    return y, square_root_pushforward, square_root_pullback


@composed(linalg.sqrtm)
def sqrtm(A):  # noqa: N803
    return square_root(A)


@primitive
def sign(a):
    return linalg.signm(a)


@pair_rule(sign)
def sign_pair(sign, a):
    """With ``n = a @ y``, the root of ``a @ a``: ``n @ ydot + ydot @ n = adot - y @ adot @ y``.

    Source: Kenney and Laub (1991), polar decomposition and matrix sign function condition
    estimates.
    """
    y = sign(a)

    def sign_pushforward(adot):
        return twice(a @ y, adot - y @ adot @ y)

    def sign_pullback(ybar):
        moved = twice(adjoint(a @ y), ybar)
        return moved - adjoint(y) @ moved @ adjoint(y)

    return y, sign_pushforward, sign_pullback


@composed(linalg.signm)
def signm(A):  # noqa: N803
    return sign(A)


# ---- powers, and any function ---------------------------------------------------------------


@composed(linalg.fractional_matrix_power, value="own")
def fractional_matrix_power(A, t):  # noqa: N803
    if not is_traced(t) and t == int(t):
        return np.linalg.matrix_power(A, int(t))
    return seen(linalg.expm)(t * seen(linalg.logm)(A))


@composed(linalg.funm)
def funm(A, func, disp=True):  # noqa: N803
    """By eigenvalues, which have to differ: the derivative is NaN where two are equal.

    As SciPy does, ``func`` is given complex numbers. What it captures is followed too.
    """
    own = linalg.funm(value(A), lambda w: value(func(w)), disp)
    w, v = np.linalg.eig(A)
    y = (v * np.expand_dims(func(w + 0j), -2)) @ np.linalg.inv(v)
    return with_values(y if disp else (y, own[1]), own)
