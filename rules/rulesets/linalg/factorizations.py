"""Cholesky factors and eigenvalues, for stacks of matrices.

What LAPACK does not read has no derivative: ``cholesky`` and ``eigh`` read one triangle, and
their cotangents are zero in the other. An eigenvector is known up to its phase; the
derivatives keep the phase where LAPACK puts it.

At repeated eigenvalues (equal up to rounding) exact are: first derivatives of what depends on
the eigenvalues alone, and on eigenvectors of other eigenvalues; every derivative of their sum
with equal weights. Anything else there is NaN, also ``(v * f(w)) @ v.T`` and the second
derivative of ``sum(f(w))``, which exist: ``matrix_function`` has them.
"""

import numpy as np

from ... import (
    AbstractZero,
    Masked,
    NoTangent,
    ProjectTo,
    Tangent,
    composed,
    dense,
    dtype_of,
    frule,
    is_traced,
    rrule,
    told_of_masks,
    unmask,
    value,
)
from ..arrays.products import adjoint
from ..arrays.quotients import not_smooth, quotient
from .systems import diagonal_matrix, diagonal_of, entry_sum, over_matrices
from .triangular import are_plain, cholesky_pull, inverse_of_lower

# ---- triangles ------------------------------------------------------------------------------


def half_lower(x):
    """Return the lower triangle with half the diagonal; as a linear map its own transpose."""
    one = dtype_of(x).type(1)
    return np.tril(x) * np.where(np.eye(np.shape(x)[-1], dtype=bool), one / 2, one)


def half(x, triangle):
    """Return the lower or upper triangle, "L" or "U", with half the diagonal."""
    if triangle.upper() == "L":
        return half_lower(x)
    return np.swapaxes(half_lower(np.swapaxes(x, -1, -2)), -1, -2)


def hermitian(x):
    return x + adjoint(x)


# ---- Cholesky -------------------------------------------------------------------------------


def inverse_of_factor(factor):
    return inverse_of_lower(factor) if are_plain(factor) else np.linalg.inv(factor)


@frule.register(np.linalg.cholesky)
def cholesky_frule(tangents, cholesky, a, *, upper=False):
    _, adot = tangents
    y = cholesky(a, upper=upper)
    factor = adjoint(y) if upper else y
    inverse = inverse_of_factor(factor)
    moved = inverse @ hermitian(half(adot, "U" if upper else "L")) @ adjoint(inverse)
    ydot = factor @ half_lower(moved)
    return y, adjoint(ydot) if upper else ydot


@rrule.register(np.linalg.cholesky)
def cholesky_rrule(cholesky, a, *, upper=False):
    """Triangular factor of each matrix in a stack.

    From ``l @ l^H = a``: ``inv(l) @ ldot`` is the lower triangle, with half the diagonal, of
    ``inv(l) @ adot @ inv(l)^H``.

    Shapes: ``a``, ``y``, ``ybar``: (..., n, n).
    Source: Murray (2016), differentiation of the Cholesky decomposition.
    """
    y = cholesky(a, upper=upper)
    factor = adjoint(y) if upper else y
    project_a = ProjectTo(a)

    def cholesky_pullback(ybar):
        factor_bar = adjoint(ybar) if upper else ybar
        if are_plain(factor, factor_bar):
            abar = cholesky_pull(factor, factor_bar)
        else:
            inverse = inverse_of_factor(factor)
            inner = half_lower(adjoint(factor) @ factor_bar)
            abar = half_lower(hermitian(adjoint(inverse) @ inner @ inverse))
        return NoTangent(), project_a(adjoint(abar) if upper else abar)

    return y, cholesky_pullback


# ---- eigenvalues ----------------------------------------------------------------------------


def over_gaps(x, w):
    """Return ``x[i, j] / (w[j] - w[i])`` off the diagonal, and 0 on it.

    Where two of ``w`` are equal it is infinite, unless that entry of ``x`` is 0: what does not
    depend on the eigenvectors of a repeated eigenvalue has a derivative. A gap that is nothing
    but rounding counts as none.
    """
    eye = np.eye(np.shape(w)[-1], dtype=bool)
    gaps = np.expand_dims(w, -2) - np.expand_dims(w, -1)
    gaps = np.where(np.abs(value(gaps)) <= rounding(w), 0, gaps)
    return quotient(np.where(eye, 0, x), np.where(eye, 1, gaps))


def rounding(w):
    """Return how far LAPACK may be off the eigenvalues or singular values of each matrix."""
    sizes = np.abs(value(w))
    largest = np.max(sizes, axis=-1, keepdims=True, initial=0)
    return np.expand_dims(np.shape(w)[-1] * np.finfo(sizes.dtype).eps * largest, -1)


def is_uniform(wbar):
    """Say whether all eigenvalues have one and the same constant weight: their sum is a trace."""
    return not is_traced(wbar) and bool(np.all(wbar == wbar[..., :1]))


def used_columns(vbar):
    """Return ``vbar`` as plain numbers, and which of its columns anything was computed from."""
    if type(vbar) is Masked:
        return vbar.value, np.any(vbar.alive, axis=-2)
    return vbar, np.ones((*np.shape(vbar)[:-2], np.shape(vbar)[-1]), bool)


def nan_where(undetermined, x):
    """Return a stack of matrices with NaN for those that are undetermined."""
    return np.where(over_matrices(undetermined), np.nan, x)


def undetermined(w, used):
    """Say of each matrix whether an eigenvector is used whose eigenvalue another one has.

    What was computed from it may not depend on which basis of the space was taken, such as
    ``(v * f(w)) @ v.T``; but its derivative cannot be had from its cotangent alone.
    """
    w = value(w)
    gaps = np.abs(np.expand_dims(w, -2) - np.expand_dims(w, -1))
    equal = (gaps <= rounding(w)) & ~np.eye(np.shape(w)[-1], dtype=bool)
    return np.any(equal & np.expand_dims(used, -1), axis=(-2, -1))


told_of_masks.update((np.linalg.eigh, np.linalg.eig, np.linalg.svd))


def row_pivots(v, row):
    """Return a mask of the entries that LAPACK makes real: one row, where it is not tiny."""
    here = np.expand_dims(np.arange(np.shape(v)[-2]) == row % np.shape(v)[-2], -1)
    return here & (np.abs(v) > np.sqrt(np.finfo(v.dtype).eps))


def largest_pivots(v):
    """Return a mask of the entries that LAPACK makes real: the largest real one per column."""
    sizes = np.where(np.imag(value(v)) == 0, np.abs(value(v)), -1)
    place = np.argmax(sizes, axis=-2, keepdims=True)
    return np.expand_dims(np.arange(np.shape(v)[-2]), -1) == place


def pivot_entries(v, pivots):
    entries = np.sum(np.where(pivots, np.real(v), 0), axis=-2)
    return np.where(np.any(pivots, axis=-2), entries, 1)


def turning(v, vdot, pivots):
    """Return the rates of phase, one per column, that keep the pivots of ``v`` real."""
    moved = np.sum(np.where(pivots, np.imag(vdot), 0), axis=-2)
    return -moved / pivot_entries(v, pivots)


def turning_transpose(rate_bar, v, pivots):
    rows = np.expand_dims(-1j * rate_bar / pivot_entries(v, pivots), -2)
    return np.where(pivots, rows, 0)


def column_pairing(v, vbar):
    """Return ``v_j^H @ vbar_j`` for each column."""
    return np.sum(np.conj(v) * vbar, axis=-2)


def turn(v, rate):
    return 1j * v * np.expand_dims(rate, -2)


def weighted(w, v, wbar):
    """Return ``v @ diag(wbar) @ v^H``, without the eigenvectors where they cancel."""
    if is_uniform(wbar):
        return diagonal_matrix(wbar)
    return smooth_if_apart((v * np.expand_dims(wbar, -2)) @ adjoint(v), w, wbar)


def smooth_if_apart(abar, w, wbar):
    """Return ``abar``, with no derivative of its own where weights that vary meet equal ``w``.

    How the weights would differ if ``w`` did, nobody knows then.
    """
    return not_smooth(abar, has_equal(w)) if is_traced(wbar) else abar


def has_equal(w):
    """Say of each matrix whether two of its eigenvalues are equal up to rounding."""
    w = value(w)
    gaps = np.abs(np.expand_dims(w, -2) - np.expand_dims(w, -1))
    apart = (gaps > rounding(w)) | np.eye(np.shape(w)[-1], dtype=bool)
    return over_matrices(~np.all(apart, axis=(-2, -1)))


EIGH_ROW = {"L": 0, "U": -1}


@frule.register(np.linalg.eigh)
def eigh_frule(tangents, eigh, a, *, UPLO="L"):  # noqa: N803 - NumPy's name
    _, adot = tangents
    w, v = y = eigh(a, UPLO)
    moved = adjoint(v) @ hermitian(half(adot, UPLO)) @ v
    vdot = v @ over_gaps(moved, w)
    if np.iscomplexobj(v):
        vdot = vdot + turn(v, turning(v, vdot, row_pivots(v, EIGH_ROW[UPLO.upper()])))
    return y, Tangent(type(y), np.real(diagonal_of(moved)), vdot)


@rrule.register(np.linalg.eigh)
def eigh_rrule(eigh, a, *, UPLO="L"):  # noqa: N803 - NumPy's name
    """Eigenvalues and eigenvectors of each hermitian matrix in a stack.

    With ``m = v^H @ adot @ v``: ``wdot = diag(m)`` and ``vdot = v @ c``, where ``c[i, j]`` is
    ``m[i, j] / (w[j] - w[i])`` off the diagonal.

    Shapes: ``a``, ``v``: (..., n, n); ``w``: (..., n).
    Source: Giles (2008), section 3.1.
    """
    w, v = y = eigh(a, UPLO)
    project_a = ProjectTo(a)

    def eigh_pullback(ybar):
        wbar, vbar = ybar
        wbar = unmask(dense(wbar, w))
        if isinstance(vbar, AbstractZero):
            inner = weighted(w, v, wbar)
        else:
            vbar, used = used_columns(vbar)
            if np.iscomplexobj(v):
                rate_bar = np.imag(column_pairing(v, vbar))
                pivots = row_pivots(v, EIGH_ROW[UPLO.upper()])
                vbar = vbar + turning_transpose(rate_bar, v, pivots)
            inner = diagonal_matrix(wbar) + over_gaps(adjoint(v) @ vbar, w)
            inner = v @ nan_where(undetermined(w, used), inner) @ adjoint(v)
        return NoTangent(), project_a(half(hermitian(inner), UPLO))

    return y, eigh_pullback


@frule.register(np.linalg.eigvalsh)
def eigvalsh_frule(tangents, eigvalsh, a, *, UPLO="L"):  # noqa: N803 - NumPy's name
    _, adot = tangents
    w, v = np.linalg.eigh(a, UPLO)
    return w, np.real(column_pairing(v, hermitian(half(adot, UPLO)) @ v))


@rrule.register(np.linalg.eigvalsh)
def eigvalsh_rrule(eigvalsh, a, *, UPLO="L"):  # noqa: N803 - NumPy's name
    w, v = np.linalg.eigh(a, UPLO)
    project_a = ProjectTo(a)

    def eigvalsh_pullback(ybar):
        return NoTangent(), project_a(half(hermitian(weighted(w, v, ybar)), UPLO))

    return w, eigvalsh_pullback


def inverse_of_basis(v):
    """Return ``inv(v)``, NaN where eigenvectors coincide up to rounding: there is no basis."""
    inverse = np.linalg.inv(v)
    condition = over_matrices(entry_sum(v) * entry_sum(inverse))
    return np.where(condition > 1e-3 / np.finfo(v.dtype).eps, np.nan, inverse)


@frule.register(np.linalg.eig)
def eig_frule(tangents, eig, a):
    _, adot = tangents
    w, v = y = eig(a)
    moved = inverse_of_basis(v) @ adot @ v
    vdot = v @ over_gaps(moved, w)
    vdot = vdot - v * np.expand_dims(np.real(column_pairing(v, vdot)), -2)
    if np.iscomplexobj(v):
        vdot = vdot + turn(v, turning(v, vdot, largest_pivots(v)))
    return y, Tangent(type(y), diagonal_of(moved), vdot)


@rrule.register(np.linalg.eig)
def eig_rrule(eig, a):
    """Eigenvalues and eigenvectors of each matrix in a stack.

    As for ``eigh``, with ``m = inv(v) @ adot @ v``; and each column of ``v`` keeps length 1,
    and its largest entry real.

    Shapes: ``a``, ``v``: (..., n, n); ``w``: (..., n).
    Source: Giles (2008), section 3.1; Boeddeker et al. (2017) for the complex case.
    """
    w, v = y = eig(a)
    inverse = inverse_of_basis(v)
    project_a = ProjectTo(a)

    def eig_pullback(ybar):
        wbar, vbar = ybar
        wbar = unmask(dense(wbar, w))
        inner = diagonal_matrix(wbar)
        if isinstance(vbar, AbstractZero) and is_traced(a) and is_uniform(wbar):
            return NoTangent(), project_a(inner)
        if not isinstance(vbar, AbstractZero):
            vbar, used = used_columns(vbar)
            pairing = column_pairing(v, vbar)
            vbar = vbar - v * np.expand_dims(np.real(pairing), -2)
            if np.iscomplexobj(v):
                vbar = vbar + turning_transpose(np.imag(pairing), v, largest_pivots(v))
            inner = inner + over_gaps(adjoint(v) @ vbar, np.conj(w))
            inner = nan_where(undetermined(w, used), inner)
        abar = adjoint(inverse) @ inner @ adjoint(v)
        return NoTangent(), project_a(smooth_if_apart(abar, w, wbar))

    return y, eig_pullback


@composed(np.linalg.eigvals)
def eigvals(a):
    return np.linalg.eig(a)[0]
