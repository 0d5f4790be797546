"""Eigenvalues and eigenvectors, by NumPy's rules; eigenvectors have the signs that SciPy gives.

At repeated eigenvalues exact is what is exact of ``numpy.linalg.eigh`` and ``eig``; the rest NaN.
"""

import numpy as np
from scipy import linalg

from .....config import MissingRuleError, user_line
from .... import (
    composed,
    pair_rule,
    primitive,
    seen,
    value,
)
from ...arrays.products import adjoint
from ...linalg.systems import inverse_or_nan
from .banded import other_form
from .lu import permuted
from .singular_values import phases, turned
from .systems import entries_read, transpose


def spectrum(a, own, eigvals_only, lower=True, first=None, moved=lambda v: v):
    """Return eigenvalues, and eigenvectors in the columns, as many as SciPy returns.

    ``first`` finds the place of the first; ``moved`` makes vectors those of another problem.
    """
    uplo = "L" if lower else "U"
    own_w = own if eigvals_only else own[0]
    y = np.linalg.eigvalsh(a, uplo) if eigvals_only else np.linalg.eigh(a, uplo)
    w = y if eigvals_only else y[0]
    count = np.shape(own_w)[-1]
    start = 0 if first is None or count == np.shape(w)[-1] else first(value(w))
    w = w[..., start : start + count]
    if eigvals_only:
        return w
    v = moved(y[1])[..., start : start + count]
    return w, turned(v, phases(v, own[1]))


def first_above(bound):
    """Return a function from eigenvalues to the place of the first one above a bound."""

    def first(w):
        if w.ndim > 1:
            raise MissingRuleError(
                "the rules of scipy.linalg for eigenvalues in an interval take one matrix"
                f", in {user_line()}.\n"
                "  call the function for each matrix"
            )
        return int(np.sum(w <= bound))

    return first


def first_of(by_index, by_value):
    if by_index is not None:
        return lambda _: int(by_index[0])
    return None if by_value is None else first_above(by_value[0])


def first_selected(select, select_range):
    select = select.lower() if isinstance(select, str) else select
    if select in ("i", 2, "index"):
        return first_of(select_range, None)
    return first_of(None, select_range) if select in ("v", 1, "value") else None


# ---- symmetric matrices ---------------------------------------------------------------------


def hermitian_spectrum(a, b, own, eigvals_only, lower, type, first):
    """Of ``a``, or with ``b = l @ l^H`` of ``inv(l) @ a @ inv(l)^H``, or ``l^H @ a @ l``.

    Source: LAPACK Users' Guide, generalized symmetric definite eigenproblems.
    """
    if b is None:
        return spectrum(a, own, eigvals_only, lower, first)
    solve = seen(linalg.solve_triangular)
    a = entries_read(a, "her", lower)
    factor = np.linalg.cholesky(b if lower else adjoint(b))
    if type == 1:
        a = solve(factor, adjoint(solve(factor, a, lower=True)), lower=True)
    else:
        a = adjoint(factor) @ a @ factor

    def moved(v):
        return factor @ v if type == 3 else solve(factor, v, 2, lower=True)

    return spectrum(a, own, eigvals_only, lower, first, moved)


@composed(linalg.eigh, value="own")
def eigh(a, b=None, lower=True, eigvals_only=False, type=1, subset_by_index=None,
         subset_by_value=None, *, own):  # fmt: skip
    first = first_of(subset_by_index, subset_by_value)
    return hermitian_spectrum(a, b, own, eigvals_only, lower, type, first)


@composed(linalg.eigvalsh, value="own")
def eigvalsh(a, b=None, lower=True, type=1, subset_by_index=None, subset_by_value=None, *, own):
    first = first_of(subset_by_index, subset_by_value)
    return hermitian_spectrum(a, b, own, True, lower, type, first)


def tridiagonal(d, e):
    """Return a matrix with the lower triangle of a symmetric tridiagonal one."""
    n = np.shape(d)[-1]
    stack = np.broadcast_shapes(np.shape(d)[:-1], np.shape(e)[:-1])
    d, e = np.broadcast_to(d, (*stack, n)), np.broadcast_to(e, (*stack, n - 1))
    below = np.eye(n, n - 1, -1) * np.expand_dims(e, -2)
    zeros = np.zeros((*stack, n, 1))
    return np.expand_dims(d, -1) * np.eye(n) + np.concatenate([below, zeros], axis=-1)


@composed(linalg.eigh_tridiagonal, value="own")
def eigh_tridiagonal(d, e, eigvals_only=False, select="a", select_range=None, *, own):
    if eigvals_only:
        return tridiagonal_values(d, e, select=select, select_range=select_range)
    first = first_selected(select, select_range)
    return spectrum(tridiagonal(d, e), own, False, first=first)


@composed(linalg.eigvalsh_tridiagonal, value="own")
def eigvalsh_tridiagonal(d, e, select="a", select_range=None):
    return tridiagonal_values(d, e, select=select, select_range=select_range)


@primitive
def tridiagonal_values(d, e, **options):
    return linalg.eigvalsh_tridiagonal(d, e, **options)


def weights_of_entries(v):
    """Return the slopes of eigenvalues in entries on the diagonal, and in those beside it."""
    return v * v, 2 * v[..., 1:, :] * v[..., :-1, :]


@pair_rule(tridiagonal_values)
def tridiagonal_values_pair(tridiagonal_values, d, e, **options):
    """From ``wdot = v^T @ adot @ v`` for each column: no other entries of ``a`` move."""
    w, v = seen(linalg.eigh_tridiagonal)(d, e, **options)

    def tridiagonal_values_pushforward(ddot, edot):
        by_d, by_e = weights_of_entries(v)
        ddot, edot = ddot + np.zeros_like(d), edot + np.zeros_like(e)
        return np.einsum("...ij,...i->...j", by_d, ddot) + np.einsum("...ij,...i->...j", by_e, edot)

    def tridiagonal_values_pullback(wbar):
        return tuple(np.einsum("...ij,...j->...i", by, wbar) for by in weights_of_entries(v))

    return w, tridiagonal_values_pushforward, tridiagonal_values_pullback


def lower_triangle(ab, lower):
    """Return a matrix with the lower triangle of a Hermitian one that is given as a band."""
    ab = ab if lower else other_form(ab, False)
    height, n = np.shape(ab)[-2:]
    rows = np.arange(n)[:, None] - np.arange(n)
    inside = (rows >= 0) & (rows < height)
    return np.where(inside, ab[..., np.where(inside, rows, 0), np.arange(n)], 0)


@composed(linalg.eig_banded, value="own")
def eig_banded(a_band, lower=False, eigvals_only=False, select="a", select_range=None,
               max_ev=0, *, own):  # fmt: skip
    first = first_selected(select, select_range)
    if not eigvals_only and np.iscomplexobj(a_band):
        raise MissingRuleError(
            "the rule of scipy.linalg.eig_banded has no eigenvectors of complex matrices: LAPACK "
            f"keeps no phase, in {user_line()}.\n  use eigh of the matrix, or eigvals_banded"
        )
    return spectrum(lower_triangle(a_band, lower), own, eigvals_only, first=first)


@composed(linalg.eigvals_banded, value="own")
def eigvals_banded(a_band, lower=False, select="a", select_range=None, *, own):
    first = first_selected(select, select_range)
    return spectrum(lower_triangle(a_band, lower), own, True, first=first)


# ---- any matrices ---------------------------------------------------------------------------


def order_like(w, own):
    """Return the places of the numbers in ``w`` in the order of ``own``."""
    if np.allclose(w, own):
        return np.broadcast_to(np.arange(np.shape(w)[-1]), np.shape(w))
    return np.argmin(np.abs(own[..., :, None] - w[..., None, :]), axis=-1)


def general_spectrum(a, b, own_w):
    if b is not None and np.any(np.linalg.det(value(b)) == 0):
        raise MissingRuleError(
            "the rules of scipy.linalg.eig and eigvals need a regular b: some eigenvalues are "
            f"infinite, in {user_line()}.\n  write 1 / eigvals(b, a), if a is regular"
        )
    w, v = np.linalg.eig(a if b is None else np.linalg.solve(b, a))
    order = order_like(value(w), own_w)
    w = np.take_along_axis(w, order, -1)
    # SciPy's eigenvalues are complex at all times.
    return w + np.zeros_like(own_w), transpose(permuted(transpose(v), order))


def refuse_homogeneous(homogeneous_eigvals):
    if homogeneous_eigvals:
        raise MissingRuleError(
            "the rules of scipy.linalg.eig do not support homogeneous_eigvals=True: only the "
            f"ratio of the two is known, in {user_line()}.\n  use the eigenvalues themselves"
        )


def left_vectors(v, own):
    """Return the columns of ``inv(v)^H``, of length 1, each with its largest entry real."""
    left = adjoint(inverse_or_nan(v, np.linalg.det(value(v))))
    left = left / np.linalg.norm(left, axis=-2, keepdims=True)
    if not np.iscomplexobj(left):
        return turned(left, phases(left, own))
    rows = np.arange(np.shape(own)[-2])[:, None]
    largest = np.expand_dims(np.argmax(np.abs(own), axis=-2), -2) == rows
    pivots = np.sum(np.where(largest, left, 0), axis=-2, keepdims=True)
    own_pivots = np.sum(np.where(largest, own, 0), axis=-2, keepdims=True)
    return left * (np.conj(pivots) / np.abs(pivots) * own_pivots / np.abs(own_pivots))


@composed(linalg.eig, value="own")
def eig(a, b=None, left=False, right=True, homogeneous_eigvals=False, *, own):
    refuse_homogeneous(homogeneous_eigvals)
    own_w, *own_vectors = own if left or right else (own,)
    w, v = general_spectrum(a, b, own_w)
    if own_vectors and b is not None and np.iscomplexobj(own_vectors[0]):
        raise MissingRuleError(
            "the rule of scipy.linalg.eig has no complex eigenvectors of two matrices: LAPACK "
            f"keeps no phase, in {user_line()}.\n  use eig(solve(b, a)), or eigvals(a, b)"
        )
    vectors = []
    if left:
        # Of a and b they are those of a and inv(b): multiply by inv(b)^H.
        vectors.append(left_vectors(v if b is None else b @ v, own_vectors[0]))
    if right:
        vectors.append(turned(v, phases(v, own_vectors[-1])))
    return (w, *vectors) if vectors else w


@composed(linalg.eigvals, value="own")
def eigvals(a, b=None, homogeneous_eigvals=False, *, own):
    refuse_homogeneous(homogeneous_eigvals)
    return general_spectrum(a, b, own)[0]
