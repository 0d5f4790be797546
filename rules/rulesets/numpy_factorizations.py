"""Factorizations of symmetric matrices, and QR, for stacks of matrices.

What LAPACK does not read has no derivative: ``cholesky`` and ``eigh`` read one triangle, and
their cotangents are zero in the other. An eigenvector is known up to its phase; the
derivatives keep the phase where LAPACK puts it.
"""

import numpy as np

from ..definitions import composed
from ..levels import value
from ..project import ProjectTo
from ..registry import frule, rrule
from ..tangents import AbstractZero, NoTangent, Tangent
from .numpy_linalg import diagonal_matrix, diagonal_of
from .numpy_products import adjoint
from .quotients import quotient

# ---- triangles ------------------------------------------------------------------------------


def half_lower(x):
    """Return the lower triangle with half the diagonal; as a linear map its own transpose."""
    return (np.tril(x) + np.tril(x, -1)) / 2


def half(x, triangle):
    """Return the lower or upper triangle, "L" or "U", with half the diagonal."""
    if triangle.upper() == "L":
        return half_lower(x)
    return np.swapaxes(half_lower(np.swapaxes(x, -1, -2)), -1, -2)


def hermitian(x):
    return x + adjoint(x)


def dense(xbar, x):
    """Return a cotangent as an array, also where it is a zero."""
    return np.zeros_like(x) if isinstance(xbar, AbstractZero) else xbar


# ---- Cholesky -------------------------------------------------------------------------------


@frule.register(np.linalg.cholesky)
def cholesky_frule(tangents, cholesky, a, *, upper=False):
    _, adot = tangents
    y = cholesky(a, upper=upper)
    factor = adjoint(y) if upper else y
    inverse = np.linalg.inv(factor)
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
    inverse = np.linalg.inv(factor)
    project_a = ProjectTo(a)

    def cholesky_pullback(ybar):
        factor_bar = adjoint(ybar) if upper else ybar
        moved = adjoint(inverse) @ half_lower(adjoint(factor) @ factor_bar) @ inverse
        return NoTangent(), project_a(half(hermitian(moved), "U" if upper else "L"))

    return y, cholesky_pullback


# ---- eigenvalues ----------------------------------------------------------------------------


def over_gaps(x, w):
    """Return ``x[i, j] / (w[j] - w[i])`` off the diagonal, and 0 on it.

    Where two of ``w`` are equal it is infinite, unless that entry of ``x`` is 0: what does not
    depend on the eigenvectors of a repeated eigenvalue has a derivative.
    """
    eye = np.eye(np.shape(w)[-1], dtype=bool)
    gaps = np.expand_dims(w, -2) - np.expand_dims(w, -1)
    return quotient(np.where(eye, 0, x), np.where(eye, 1, gaps))


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
        inner = diagonal_matrix(dense(wbar, w))
        if not isinstance(vbar, AbstractZero):
            if np.iscomplexobj(v):
                rate_bar = np.imag(column_pairing(v, vbar))
                pivots = row_pivots(v, EIGH_ROW[UPLO.upper()])
                vbar = vbar + turning_transpose(rate_bar, v, pivots)
            inner = inner + over_gaps(adjoint(v) @ vbar, w)
        return NoTangent(), project_a(half(hermitian(v @ inner @ adjoint(v)), UPLO))

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
        inner = (v * np.expand_dims(ybar, -2)) @ adjoint(v)
        return NoTangent(), project_a(half(hermitian(inner), UPLO))

    return w, eigvalsh_pullback


@frule.register(np.linalg.eig)
def eig_frule(tangents, eig, a):
    _, adot = tangents
    w, v = y = eig(a)
    moved = np.linalg.inv(v) @ adot @ v
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
    inverse = np.linalg.inv(v)
    project_a = ProjectTo(a)

    def eig_pullback(ybar):
        wbar, vbar = ybar
        inner = diagonal_matrix(dense(wbar, w))
        if not isinstance(vbar, AbstractZero):
            pairing = column_pairing(v, vbar)
            vbar = vbar - v * np.expand_dims(np.real(pairing), -2)
            if np.iscomplexobj(v):
                vbar = vbar + turning_transpose(np.imag(pairing), v, largest_pivots(v))
            inner = inner + over_gaps(adjoint(v) @ vbar, np.conj(w))
        return NoTangent(), project_a(adjoint(inverse) @ inner @ adjoint(v))

    return y, eig_pullback


@composed(np.linalg.eigvals)
def eigvals(a):
    return np.linalg.eig(a)[0]
