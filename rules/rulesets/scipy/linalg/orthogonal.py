"""Orthogonal factors: QR and RQ, the polar decomposition, rotations, angles between subspaces."""

import numpy as np
from scipy import linalg

from .....config import MissingRuleError, user_line
from .... import composed, pair_rule, primitive, seen, value
from ...arrays.products import adjoint
from .equations import twice_hermitian
from .lu import permuted
from .systems import nearly_singular, transpose

COMPLETED = (
    "the rule of scipy.linalg.{} does not support mode='full' for a {} matrix: what completes q is "
    "known up to a rotation only, in {}.\n  use mode='economic'; the projector on the rest is {}"
)


@composed(linalg.qr, value="own")
def qr(a, mode="full", pivoting=False):
    """By NumPy's rule, for the columns in the order that pivoting found; the order is constant."""
    rows, columns = np.shape(a)[-2:]
    if mode == "raw":
        raise MissingRuleError(
            "the rule of scipy.linalg.qr does not support mode='raw', which gives LAPACK's "
            f"reflections, in {user_line()}.\n  use mode='economic'"
        )
    if mode == "full" and rows > columns:
        raise MissingRuleError(
            COMPLETED.format("qr", "tall", user_line(), "np.eye(m) - q @ q.conj().T")
        )
    order = ()
    if pivoting:
        order = (linalg.qr(value(a), mode="r", pivoting=True)[1],)
        a = transpose(permuted(transpose(a), *order))
    q, r = np.linalg.qr(a)
    if mode != "r":
        return q, r, *order
    if rows > columns:
        zeros = np.zeros_like(a[..., columns:, :])
        r = np.concatenate([r, zeros], axis=-2)
    return (r, *order) if pivoting or np.ndim(a) == 2 else r


@composed(linalg.qr_multiply, value="own")
def qr_multiply(a, c, mode="right", pivoting=False, conjugate=False):
    q, *rest = seen(linalg.qr)(a, mode="economic", pivoting=pivoting)
    q = np.conj(q) if conjugate else q
    return q @ c if mode == "left" else c @ q, *rest


@composed(linalg.rq, value="own")
def rq(a, mode="full", *, own):
    """From the QR factorization of the rows from last to first, as columns.

    Phases are those of LAPACK, by the diagonal of its triangle.
    """
    rows, columns = np.shape(a)[-2:]
    if mode == "full" and columns > rows:
        raise MissingRuleError(
            COMPLETED.format("rq", "wide", user_line(), "np.eye(n) - q.conj().T @ q")
        )
    q, r = np.linalg.qr(adjoint(np.flip(a, -2)))
    q, r = np.flip(adjoint(q), -2), np.flip(adjoint(r), (-2, -1))
    k = min(rows, columns)
    own_r = own if mode == "r" else own[0]
    corner = [x[..., rows - k :, -k:] for x in (value(r), own_r)] if k else [value(r), own_r]
    before, after = (np.diagonal(x, axis1=-2, axis2=-1) for x in corner)
    turn = np.where(before == 0, 1, after) / np.where(before == 0, 1, before)
    turn = turn / np.abs(turn)
    r, q = r * np.expand_dims(turn, -2), q * np.expand_dims(np.conj(turn), -1)
    if mode != "r":
        return r, q
    zeros = np.zeros_like(a[..., : columns - k])
    return np.concatenate([zeros, r], axis=-1) if columns > k else r


# ---- the polar decomposition ----------------------------------------------------------------


@primitive
def unitary_of_tall(a):
    u, _, vh = linalg.svd(a, full_matrices=False)
    return u @ vh


def outside(y, x, p):
    """Return what of ``x @ inv(p)`` leads out of the span of ``y``."""
    if np.shape(y)[-2] == np.shape(y)[-1]:
        return 0
    return adjoint(np.linalg.solve(p, adjoint(x - y @ (adjoint(y) @ x))))


@pair_rule(unitary_of_tall)
def unitary_pair(unitary_of_tall, a):
    """The unitary factor of ``a = y @ p``, NaN where a singular value is 0.

    From ``adot = ydot @ p + y @ pdot``: ``t = y^H @ ydot``, which is skew, solves
    ``t @ p + p @ t = y^H @ adot - adot^H @ y``. Out of the span of y leads ``adot @ inv(p)``.

    Shapes: ``a``, ``y``: (..., m, n), where m is not smaller than n.
    Source: Higham (2008), functions of matrices, section 8.3, for the equation.
    """
    y = unitary_of_tall(a)
    p = adjoint(y) @ a
    singular = nearly_singular(a)

    def unitary_pushforward(adot):
        inner = adjoint(y) @ adot
        turn = twice_hermitian(p, inner - adjoint(inner))
        ydot = y @ turn + outside(y, adot, p)
        return np.where(singular, np.nan, ydot)

    def unitary_pullback(ybar):
        turn = twice_hermitian(p, adjoint(y) @ ybar)
        abar = y @ (turn - adjoint(turn)) + outside(y, ybar, p)
        return np.where(singular, np.nan, abar)

    return y, unitary_pushforward, unitary_pullback


def unitary_part(a):
    """Return ``u @ vh`` of the singular value decomposition: also where values are equal."""
    if np.shape(a)[-2] >= np.shape(a)[-1]:
        return unitary_of_tall(a)
    return adjoint(unitary_of_tall(adjoint(a)))


@composed(linalg.polar, value="own")
def polar(a, side="right"):
    u = unitary_part(a)
    p = adjoint(u) @ a if side == "right" else a @ adjoint(u)
    return u, (p + adjoint(p)) / 2


# SciPy's names.
@composed(linalg.orthogonal_procrustes, value="own")
def orthogonal_procrustes(A, B):  # noqa: N803
    product = adjoint(A) @ B
    return unitary_part(product), np.linalg.norm(product, "nuc", (-2, -1))


@composed(linalg.subspace_angles, value="own")
def subspace_angles(A, B):  # noqa: N803
    """By cosines where angles are large, and by sines where they are small, as SciPy does.

    Source: Knyazev and Argentati (2002), principal angles between subspaces.
    """
    for x in map(value, (A, B)):
        if np.any(np.linalg.matrix_rank(x) < min(np.shape(x)[-2:])):
            raise MissingRuleError(
                "the rule of scipy.linalg.subspace_angles needs matrices of full rank: the "
                "dimension of the subspace may change"
                f", in {user_line()}.\n  leave out columns that depend on others"
            )
    q, other = np.linalg.qr(A)[0], np.linalg.qr(B)[0]
    if np.shape(q)[-1] < np.shape(other)[-1]:
        q, other = other, q
    product = adjoint(q) @ other
    cosines = np.flip(np.linalg.svd(product, compute_uv=False), -1)
    sines = np.linalg.svd(other - q @ product, compute_uv=False)
    rows, columns = np.shape(q)[-2:]
    # Subspaces that meet for want of room meet wherever they move.
    sines = np.where(np.arange(np.shape(sines)[-1]) < rows - columns, sines, 0)
    small = np.flip(value(cosines), -1) ** 2 >= 0.5
    # Of the two each is asked where its slope is finite.
    by_sines = np.arcsin(np.where(small, sines, 0))
    return np.where(small, by_sines, np.arccos(np.where(small, 0, cosines)))
