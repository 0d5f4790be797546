"""The QR factorization, for stacks of matrices."""

import numpy as np

from ....config import MissingDerivativeError, MissingRuleError, user_line
from ... import Tangent, ZeroTangent, dense, pair_rule, value
from ...shapes import is_lazy
from ..arrays.products import adjoint
from .hermitian import half_lower


def over_factor(x, r):
    """Return ``x @ inv(r)``."""
    return adjoint(np.linalg.solve(adjoint(r), adjoint(x)))


_REFLECTIONS = "raw", "economic", "e"  # the last two are old names, deprecated


def factors(a, mode, y):
    """Return q, r, and the columns of ``a`` that make them; the rest only meet ``q^H``.

    Where a mode gives both, they are ``y``.
    """
    rows, columns = np.shape(a)[-2:]
    if mode in _REFLECTIONS:
        raise MissingRuleError(
            f"the rule of numpy.linalg.qr does not support mode={mode!r}, which gives LAPACK's "
            f"reflections, in {user_line()}.\n  use mode='reduced'"
        )
    if mode == "complete" and rows > columns:
        raise MissingRuleError(
            "the rule of numpy.linalg.qr does not support mode='complete' for a tall matrix: the "
            f"columns that complete q are known up to a rotation only, in {user_line()}.\n"
            "  use mode='reduced'; the projector on the rest is np.eye(m) - q @ q.conj().T"
        )
    q, r = y if mode == "reduced" else np.linalg.qr(a)
    return q, r, a[..., : min(rows, columns)], a[..., rows:]


def no_derivative(r):
    """Return the error of dependent columns, if some are: there q, and signs in r, jump.

    Of an array that nobody has computed yet it is not known: there, solving says so.
    """
    plain = value(r)
    if is_lazy(plain) or np.all(np.diagonal(plain, axis1=-2, axis2=-1) != 0):
        return None
    return MissingDerivativeError(
        "numpy.linalg.qr has no derivative where the columns of a matrix that make q are linearly "
        f"dependent, as those of a singular one: r has a 0 on its diagonal, in {user_line()}.\n"
        "  use np.linalg.svd, lstsq or pinv, or qr of columns that are independent; cr.value(a) "
        "where no derivative is wanted"
    )


@pair_rule(np.linalg.qr)
def qr_pair(qr, a, *, mode="reduced"):
    """Orthonormal columns and a triangle, for each matrix in a stack.

    With ``m = q^H @ adot @ inv(r)``, of a tall matrix: ``qdot = q @ (t - m) + adot @ inv(r)``
    and ``rdot = (m - t) @ r``, where ``t = l - l^H`` and ``l`` is the lower triangle of ``m``
    with half its diagonal. Of a wide one, so move the first columns, and the others of r are
    ``q^H @ a``.

    Where r has a 0 on its diagonal there is none, and an error says so.

    Shapes: ``a``: (..., m, n); ``q``: (..., m, k); ``r``: (..., k, n), where k is the smaller
    of m and n.
    Source: Walter and Lehmann (2012), algorithmic differentiation of linear algebra functions.
    """
    y = qr(a) if mode == "reduced" else qr(a, mode)
    q, r, _, a_rest = factors(a, mode, y)
    k = np.shape(q)[-1]
    error = no_derivative(r)

    def qr_pushforward(adot):
        if error is not None:
            raise error
        moved = over_factor(adot[..., :k], r[..., :k])
        inner = adjoint(q) @ moved
        turned = half_lower(inner) - adjoint(half_lower(inner))
        qdot = q @ (turned - inner) + moved
        rdot = (inner - turned) @ r[..., :k]
        if np.shape(a_rest)[-1]:
            rest = adjoint(qdot) @ a_rest + adjoint(q) @ adot[..., k:]
            rdot = np.concatenate([rdot, rest], axis=-1)
        return rdot if mode == "r" else Tangent(type(y), qdot, rdot)

    def qr_pullback(ybar):
        if error is not None:
            raise error
        qbar, rbar = (ZeroTangent(), ybar) if mode == "r" else ybar
        qbar, rbar = dense(qbar, q), dense(rbar, r)
        square, square_bar, rest_bar = r[..., :k], rbar[..., :k], rbar[..., k:]
        if np.shape(a_rest)[-1]:
            qbar = qbar + a_rest @ adjoint(rest_bar)
        pairing = square_bar @ adjoint(square)
        turned = adjoint(q) @ qbar - pairing
        inner = half_lower(turned - adjoint(turned)) - turned
        abar = adjoint(np.linalg.solve(square, adjoint(q @ inner + qbar)))
        if np.shape(a_rest)[-1]:
            abar = np.concatenate([abar, q @ rest_bar], axis=-1)
        return abar

    return y, qr_pushforward, qr_pullback
