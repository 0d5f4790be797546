"""Singular values and vectors, for stacks of matrices of any shape."""

import numpy as np

from ..definitions import composed
from ..project import ProjectTo
from ..registry import frule, rrule
from ..tangents import AbstractZero, NoTangent, Tangent
from .numpy_factorizations import (
    column_pairing,
    dense,
    over_gaps,
    row_pivots,
    turn,
    turning,
    turning_transpose,
)
from .numpy_linalg import diagonal_matrix, diagonal_of
from .numpy_products import adjoint
from .quotients import quotient


def parts(x):
    """Return the parts of a matrix that its adjoint keeps, and that it turns around."""
    return (x + adjoint(x)) / 2, (x - adjoint(x)) / 2


def over_sums(x, s):
    """Return ``x[i, j] / (s[i] + s[j])``."""
    return quotient(x, np.expand_dims(s, -2) + np.expand_dims(s, -1))


def over_values(x, s):
    """Return ``x[i, j] / s[j]``."""
    return quotient(x, np.expand_dims(s, -2))


def thin(y):
    """Return the vectors that belong to singular values, as columns, and the others."""
    u, s, vh = y
    v, k = adjoint(vh), np.shape(s)[-1]
    return u[..., :k], s, v[..., :k], u[..., k:], v[..., k:]


# u and v of each pair share a phase, and LAPACK makes the first entry of the shorter one real.
def shorter(u, v):
    return u if np.shape(u)[-2] < np.shape(v)[-2] else v


@frule.register(np.linalg.svd)
def svd_frule(tangents, svd, a, *, full_matrices=True, compute_uv=True):
    _, adot = tangents
    y = np.linalg.svd(a, full_matrices=full_matrices and compute_uv)
    u, s, v, u_rest, v_rest = thin(y)
    moved = adjoint(u) @ adot @ v
    sdot = np.real(diagonal_of(moved))
    if not compute_uv:
        return s, sdot
    kept, turned = parts(moved)
    udot = u @ (over_gaps(kept, s) + over_sums(turned, s))
    vdot = v @ (over_gaps(kept, s) - over_sums(turned, s))
    if np.iscomplexobj(u):
        short, short_dot = (u, udot) if shorter(u, v) is u else (v, vdot)
        rate = turning(short, short_dot, row_pivots(short, 0))
        udot, vdot = udot + turn(u, rate), vdot + turn(v, rate)
    udot = outside_push(u, udot, over_values(adot @ v, s), u_rest)
    vdot = outside_push(v, vdot, over_values(adjoint(adot) @ u, s), v_rest)
    return y, Tangent(type(y), udot, sdot, adjoint(vdot))


def outside_push(u, udot, moved, u_rest):
    """Add to ``udot`` what leads out of the span of ``u``, and append what ``u_rest`` does."""
    if np.shape(u)[-2] == np.shape(u)[-1]:
        return udot
    if np.shape(u_rest)[-1] == 0:
        return udot + moved - u @ (adjoint(u) @ moved)
    into_rest = adjoint(u_rest) @ moved
    columns = [udot + u_rest @ into_rest, -u @ adjoint(into_rest)]
    return np.concatenate(columns, axis=-1)


def outside_pull(u, ubar, u_rest, u_rest_bar):
    """Return the cotangent of ``moved`` in ``outside_push``."""
    if np.shape(u)[-2] == np.shape(u)[-1]:
        return np.zeros_like(ubar)
    if np.shape(u_rest)[-1] == 0:
        return ubar - u @ (adjoint(u) @ ubar)
    return u_rest @ (adjoint(u_rest) @ ubar - adjoint(u_rest_bar) @ u)


@rrule.register(np.linalg.svd)
def svd_rrule(svd, a, *, full_matrices=True, compute_uv=True):
    """Singular values and vectors of each matrix in a stack.

    With ``m = u^H @ adot @ v``: ``sdot = diag(m)``. Inside their spans ``udot = u @ (p + q)``
    and ``vdot = v @ (p - q)``, where ``p[i, j]`` is that of ``(m + m^H) / 2`` over
    ``s[j] - s[i]`` and ``q[i, j]`` that of ``(m - m^H) / 2`` over ``s[j] + s[i]``. Out of
    their spans lead ``adot @ v / s`` and ``adot^H @ u / s``.

    Shapes: ``a``: (..., m, n); ``s``: (..., k), where k is the smaller of m and n.
    Source: Townsend (2016), differentiating the singular value decomposition; Wan and Zhang
    (2019) for the complex case.
    """
    y = np.linalg.svd(a, full_matrices=full_matrices and compute_uv)
    u, s, v, u_rest, v_rest = thin(y)
    project_a = ProjectTo(a)

    def values_pullback(ybar):
        return NoTangent(), project_a((u * np.expand_dims(ybar, -2)) @ adjoint(v))

    def svd_pullback(ybar):
        ubar, sbar, vhbar = ybar
        if isinstance(ubar, AbstractZero) and isinstance(vhbar, AbstractZero):
            return values_pullback(sbar)
        ubar, vbar = dense(ubar, y[0]), adjoint(dense(vhbar, y[2]))
        ubar, u_rest_bar = ubar[..., : np.shape(s)[-1]], ubar[..., np.shape(s)[-1] :]
        vbar, v_rest_bar = vbar[..., : np.shape(s)[-1]], vbar[..., np.shape(s)[-1] :]
        if np.iscomplexobj(u):
            rate_bar = np.imag(column_pairing(u, ubar) + column_pairing(v, vbar))
            short = shorter(u, v)
            moved = turning_transpose(rate_bar, short, row_pivots(short, 0))
            ubar, vbar = (ubar + moved, vbar) if short is u else (ubar, vbar + moved)
        in_u, in_v = adjoint(u) @ ubar, adjoint(v) @ vbar
        kept, _ = parts(over_gaps(in_u + in_v, s))
        _, turned = parts(over_sums(in_u - in_v, s))
        out_of_u = over_values(outside_pull(u, ubar, u_rest, u_rest_bar), s)
        out_of_v = over_values(outside_pull(v, vbar, v_rest, v_rest_bar), s)
        inner = diagonal_matrix(dense(sbar, s)) + kept + turned
        abar = (u @ inner + out_of_u) @ adjoint(v) + u @ adjoint(out_of_v)
        return NoTangent(), project_a(abar)

    return (y, svd_pullback) if compute_uv else (s, values_pullback)


@composed(np.linalg.svdvals)
def svdvals(x, /):
    return np.linalg.svd(x, compute_uv=False)
