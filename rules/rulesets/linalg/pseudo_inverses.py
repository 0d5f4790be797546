"""Pseudo-inverses, and least squares by them; singular values may be cut off as zeros."""

import numpy as np

from ... import (
    NoTangent,
    composed,
    is_lazy,
    is_traced,
    own_valued,
    pair_rule,
    primitive,
    solution_rule,
    value,
)
from ..arrays.products import adjoint
from .systems import sum_of_squares


@composed(np.linalg.pinv)
def pinv(a, rcond=None, *, rtol=np._NoValue):
    rcond, rtol = value(rcond), value(rtol)  # what is cut jumps with them
    wide = np.shape(a)[-2] < np.shape(a)[-1]
    return (pinv_of_wide if wide else pseudo_inverse)(a, rcond, rtol=rtol)


def by_the_adjoint(a, rcond, *, rtol):
    return adjoint(pseudo_inverse(adjoint(a), rcond, rtol=rtol))


pinv_of_wide = own_valued(np.linalg.pinv, by_the_adjoint)


@primitive
def pseudo_inverse(a, rcond, *, rtol):
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


def cuts(a, y):
    """Say whether the rank of some ``y``, the trace of a projector, is less than it can be."""
    ranks = np.real(np.sum(np.swapaxes(a, -1, -2) * y, axis=(-2, -1)))
    return np.any(ranks < np.shape(a)[-1] - 0.5)


@pair_rule(pseudo_inverse)
def pseudo_inverse_pair(pinv, a, *, rcond=None, rtol=np._NoValue):
    """Pseudo-inverse of each matrix in a stack; what is cut off, ``e = a - a @ y @ a``, may move.

    ``ydot = -y @ adot @ y + z @ y + y @ y^H @ (adot^H @ (I - a @ y) + (e @ z)^H)``, where z turns
    the kept right singular vectors towards the others, and solves
    ``z - e^H @ e @ z @ y @ y^H = (I - y @ a) @ adot^H @ y^H + e^H @ adot @ y @ y^H``. Where nothing
    is cut off, e is 0: these are the formulas of Golub and Pereyra (1973).

    Shapes: ``a``: (..., m, n), not wide; ``y``, ``ybar``: (..., n, m).
    """
    y = pinv(a, rcond, rtol=rtol)
    square, e = y @ adjoint(y), None
    if cuts(a, y):  # else e is nothing but rounding
        e = a - a @ y @ a
        weight = adjoint(e) @ e

    def pseudo_inverse_pushforward(adot):
        moved = adjoint(adot)
        left, z = moved - (moved @ a) @ y, moved @ adjoint(y)
        z = z - y @ (a @ z)
        if e is not None:
            z = stein(weight, square, z + adjoint(e) @ adot @ square)
            left = left + adjoint(e @ z)
        return -y @ adot @ y + z @ y + square @ left

    def pseudo_inverse_pullback(ybar):
        left, w = adjoint(ybar) @ square, ybar @ adjoint(y)
        if e is not None:
            w = stein(weight, square, w + adjoint(e) @ left)
        right = adjoint(w) - (adjoint(w) @ y) @ a
        left = left - a @ (y @ left)
        if e is not None:
            left = left + e @ w @ square
        return left + adjoint(y) @ (right - ybar @ adjoint(y))

    return y, pseudo_inverse_pushforward, pseudo_inverse_pullback


# ---- least squares --------------------------------------------------------------------------


def as_columns(t, vector):
    return np.expand_dims(t, -1) if vector else t


@primitive
def least_squares_solution(a, b, x):
    """The least squares solution ``x``, which was found, of ``a`` of full column rank."""
    return x


@pair_rule(least_squares_solution)
def least_squares_solution_pair(least_squares_solution, a, b, x):
    """From ``a^H @ (b - a @ x) = 0``, with ``y`` the pseudo-inverse and ``r = b - a @ x``.

    ``xdot = y @ (bdot - adot @ x) + y @ y^H @ adot^H @ r``.

    Shapes: ``a``: (m, n), not wide; ``b``: (m,) or (m, k).
    """
    x = least_squares_solution(a, b, x)
    y, vector = np.linalg.pinv(a, 0.0), np.ndim(b) == 1
    columns = as_columns(x, vector)
    r = as_columns(b, vector) - a @ columns

    def least_squares_pushforward(adot, bdot, _xdot):
        moved = as_columns(bdot, vector) - adot @ columns
        xdot = y @ (moved + adjoint(y) @ (adjoint(adot) @ r))
        return xdot[..., 0] if vector else xdot

    def least_squares_pullback(xbar):
        bbar = adjoint(y) @ as_columns(xbar, vector)
        abar = r @ adjoint(y @ bbar) - bbar @ adjoint(columns)
        return abar, bbar[..., 0] if vector else bbar, NoTangent()

    return x, least_squares_pushforward, least_squares_pullback


def squares_left(a, b, x):
    errors = np.atleast_1d(b - a @ x)
    squares = np.real(np.conj(errors) * errors)  # smooth at 0 too
    return np.sum(squares, axis=0, keepdims=np.ndim(b) == 1)


def by_singular_values(a, b, rcond=None):
    s = np.linalg.svdvals(a)
    precision = np.finfo(s.dtype).eps
    if rcond is None:
        rcond = precision * max(np.shape(a))
    least = (rcond if rcond >= 0 else precision) * np.max(value(s), initial=0)
    rank = int(np.count_nonzero(value(s) > least))
    x = np.linalg.pinv(a, max(rcond, 0)) @ b
    squares = squares_left(a, b, x)
    rows, columns = np.shape(a)
    return x, squares if rows > columns == rank else squares[:0], rank, s


def of_known_rank(a, b, rcond=None, *, own):
    x, squares, rank, _ = own
    rows, columns = np.shape(a)
    if not is_traced(a) or rank < columns or rows < columns:
        return by_singular_values(a, b, rcond)
    x = least_squares_solution(a, b, x)
    if rows > columns:
        squares = squares_left(a, b, x)
    return x, squares, rank, np.linalg.svdvals(a)


by_the_rank = own_valued(np.linalg.lstsq, of_known_rank)


@composed(np.linalg.lstsq)
def lstsq(a, b, rcond=None):
    lazy = is_lazy(value(a)) or is_lazy(value(b))  # arrays of dask
    return (by_singular_values if lazy else by_the_rank)(a, b, rcond)
