"""Pseudo-inverses, and least squares by them; singular values may be cut off as zeros."""

import numpy as np

from ... import composed, pair_rule, primitive, solution_rule, value
from ..arrays.products import adjoint
from .systems import sum_of_squares


@composed(np.linalg.pinv, value="own")
def pinv(a, rcond=None, *, rtol=np._NoValue):
    rcond, rtol = value(rcond), value(rtol)  # what is cut jumps with them
    if np.shape(a)[-2] < np.shape(a)[-1]:
        return adjoint(pseudo_inverse(adjoint(a), rcond, rtol))
    return pseudo_inverse(a, rcond, rtol)


@primitive
def pseudo_inverse(a, rcond, rtol):
    return np.linalg.pinv(a, rcond, rtol=rtol)


@primitive
def stein(p, q, r):
    """Return y of ``y - p @ y @ q = r``, for Hermitian p and q."""
    if np.all(sum_of_squares(p) * sum_of_squares(q) <= np.finfo(r.dtype).eps ** 2):
        return r
    (w, u), (z, v) = np.linalg.eigh(p), np.linalg.eigh(q)
    apart = 1 - np.expand_dims(w, -1) * np.expand_dims(z, -2)
    with np.errstate(divide="ignore", invalid="ignore"):
        return u @ ((adjoint(u) @ r @ v) / apart) @ adjoint(v)


solution_rule(
    stein,
    lambda y, p, q, pdot, qdot: -(pdot @ y @ q) - p @ y @ qdot,
    lambda w, y, p, q: (-(w @ adjoint(q) @ adjoint(y)), -(adjoint(y) @ adjoint(p) @ w)),
    lambda p, q: (adjoint(p), adjoint(q)),
)


@pair_rule(pseudo_inverse)
def pseudo_inverse_pair(pinv, a, *, rcond=None, rtol=np._NoValue):
    """Pseudo-inverse of each matrix in a stack; what is cut off, ``e = a - a @ y @ a``, may move.

    ``ydot = -y @ adot @ y + z @ y + y @ y^H @ (adot^H @ (I - a @ y) + (e @ z)^H)``, where z turns
    the kept right singular vectors towards the others, and solves
    ``z - e^H @ e @ z @ y @ y^H = (I - y @ a) @ adot^H @ y^H + e^H @ adot @ y @ y^H``. Where nothing
    but zeros is cut off, these are the formulas of Golub and Pereyra (1973).

    Shapes: ``a``: (..., m, n), not wide; ``y``, ``ybar``: (..., n, m).
    """
    y = pinv(a, rcond, rtol)
    square, e = y @ adjoint(y), a - a @ y @ a
    weight = adjoint(e) @ e

    def pseudo_inverse_pushforward(adot):
        moved = adjoint(adot)
        right = moved @ adjoint(y)
        z = stein(weight, square, right - y @ (a @ right) + adjoint(e) @ adot @ square)
        left = moved - (moved @ a) @ y + adjoint(e @ z)
        return -y @ adot @ y + z @ y + square @ left

    def pseudo_inverse_pullback(ybar):
        moved = adjoint(ybar) @ square
        w = stein(weight, square, ybar @ adjoint(y) + adjoint(e) @ moved)
        right = adjoint(w) - (adjoint(w) @ y) @ a
        left = moved - a @ (y @ moved) + e @ w @ square
        return left + adjoint(y) @ (right - ybar @ adjoint(y))

    return y, pseudo_inverse_pushforward, pseudo_inverse_pullback


@composed(np.linalg.lstsq, value="own")
def lstsq(a, b, rcond=None):
    rank, s = np.linalg.lstsq(value(a), np.zeros(np.shape(a)[0]), rcond)[2], np.linalg.svdvals(a)
    if rcond is None:
        rcond = np.finfo(s.dtype).eps * max(np.shape(a))
    x = np.linalg.pinv(a, max(rcond, 0)) @ b
    errors = b - a @ x
    rows, columns = np.shape(a)
    overdetermined = rows > columns == rank
    errors = np.atleast_1d(errors)
    squares = np.real(np.conj(errors) * errors)  # smooth at 0 too
    squares = np.sum(squares, axis=0, keepdims=np.ndim(b) == 1)
    return x, squares if overdetermined else squares[:0], rank, s
