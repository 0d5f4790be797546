"""Eigenvalues and eigenvectors, for stacks of matrices.

From ``a @ v = v @ diag(w)``, with ``m = inv(v) @ adot @ v``: ``wdot = diag(m)`` and, but for length
and phase of its columns, ``vdot = v @ c``, where ``c[i, j]`` is ``m[i, j] / (w[j] - w[i])`` off the
diagonal, 0 on it. The columns of ``left = inv(v)^H`` are the left eigenvectors; those of ``eigh``
are ``v`` itself.
Source: Giles (2008), section 3.1; Boeddeker et al. (2017) for the complex case.

At repeated eigenvalues (equal up to rounding) exact are: first derivatives of what depends on
the eigenvalues alone, and on eigenvectors of other eigenvalues; second derivatives of the others;
every derivative of their sum with equal weights. Anything else there is NaN, also
``(v * f(w)) @ v.T`` and the second derivative of ``sum(f(w))``, which exist:
``matrix_function`` has them.

>>> cr.grad(lambda a: np.linalg.eigvalsh(a)[0])(np.diag([1.0, 3.0]))
array([[1., 0.],
       [0., 0.]])
"""

import numpy as np

from ... import (
    AbstractZero,
    Tangent,
    composed,
    dense,
    is_traced,
    pair_rule,
    told_of_masks,
    unmask,
    value,
)
from ..arrays.products import adjoint
from .gaps import is_uniform, of_values, over_gaps, that_weigh, told_used
from .hermitian import from_triangle, from_triangle_transpose
from .phases import LARGEST, any_basis, column_pairing, keep_phase
from .systems import diagonal_matrix, diagonal_of, entry_sum, inverse_or_nan, over_matrices

# ---- the formula ----------------------------------------------------------------------------


def eigen_push(w, v, left, adot):
    moved = adjoint(left) @ adot @ v
    return diagonal_of(moved), v @ over_gaps(moved, w)


def eigen_pull(w, v, left, wbar, vbar):
    inner = diagonal_matrix(wbar) + over_gaps(adjoint(v) @ vbar, np.conj(w))
    return left @ inner @ adjoint(v)


def eigenvalues_pull(w, v, left, wbar):
    """Return ``left @ diag(wbar) @ v^H``, without the eigenvectors where they cancel."""
    # Where nothing is traced, weights may be equal by chance: then it matters that v is a basis.
    if is_uniform(wbar) and (left is v or is_traced(w)):
        return diagonal_matrix(wbar)
    wbar, left, v = of_values(w, wbar, left, v)
    return (left * np.expand_dims(wbar, -2)) @ adjoint(v)


# ---- the basis: length and phase of its columns ---------------------------------------------

REAL_ROW = {"L": 0, "U": -1}  # by the triangle that LAPACK reads


def keep_length(x, v):
    """Return ``x`` without what makes the columns of ``v`` longer; its own transpose."""
    return x - v * np.expand_dims(np.real(column_pairing(v, x)), -2)


def left_vectors(v):
    """Return ``inv(v)^H``, NaN where eigenvectors coincide up to rounding: there is no basis."""
    inverse = inverse_or_nan(v, np.linalg.det(value(v)))
    condition = over_matrices(entry_sum(v) * entry_sum(inverse))
    return adjoint(np.where(condition > 1e-3 / np.finfo(v.dtype).eps, np.nan, inverse))


# ---- what was asked for ---------------------------------------------------------------------

told_of_masks.update((np.linalg.eigh, np.linalg.eig))


@pair_rule(np.linalg.eigh)
def eigh_pair(eigh, a, *, UPLO="L"):  # noqa: N803 - NumPy's name
    """Shapes: ``a``, ``v``: (..., n, n); ``w``: (..., n)."""
    w, v = y = eigh(a, UPLO)

    def eigh_pushforward(adot):
        wdot, vdot = eigen_push(w, v, v, from_triangle(adot, UPLO))
        return Tangent(type(y), np.real(wdot), keep_phase(vdot, v, REAL_ROW[UPLO.upper()]))

    def eigh_pullback(ybar):
        wbar, vbar = unmask(dense(ybar[0], w)), ybar[1]
        if isinstance(vbar, AbstractZero):
            abar = eigenvalues_pull(w, v, v, wbar)
        else:
            vbar, used = told_used(vbar, v)
            used = that_weigh(used, vbar, wbar)
            vbar = any_basis(vbar, used, w, v, REAL_ROW[UPLO.upper()])
            abar = eigen_pull(w, v, v, wbar, vbar)
        return from_triangle_transpose(abar, UPLO)

    return y, eigh_pushforward, eigh_pullback


@pair_rule(np.linalg.eigvalsh)
def eigvalsh_pair(eigvalsh, a, *, UPLO="L"):  # noqa: N803 - NumPy's name
    w, v = np.linalg.eigh(a, UPLO)

    def eigvalsh_pushforward(adot):
        return np.real(column_pairing(v, from_triangle(adot, UPLO) @ v))

    def eigvalsh_pullback(ybar):
        abar = eigenvalues_pull(w, v, v, ybar)
        return from_triangle_transpose(abar, UPLO)

    return w, eigvalsh_pushforward, eigvalsh_pullback


@pair_rule(np.linalg.eig)
def eig_pair(eig, a):
    """Shapes: ``a``, ``v``: (..., n, n); ``w``: (..., n)."""
    w, v = y = eig(a)
    left = left_vectors(v)

    def eig_pushforward(adot):
        wdot, vdot = eigen_push(w, v, left_vectors(v), adot)
        return Tangent(type(y), wdot, keep_phase(keep_length(vdot, v), v, LARGEST))

    def eig_pullback(ybar):
        wbar, vbar = unmask(dense(ybar[0], w)), ybar[1]
        if isinstance(vbar, AbstractZero):
            abar = eigenvalues_pull(w, v, left, wbar)
        else:
            vbar = keep_length(any_basis(*told_used(vbar, v), w, v, LARGEST), v)
            abar = eigen_pull(w, v, left, wbar, vbar)
        return abar

    return y, eig_pushforward, eig_pullback


@composed(np.linalg.eigvals)
def eigvals(a):
    return np.linalg.eig(a)[0]
