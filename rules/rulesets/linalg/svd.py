"""Singular values and vectors, for stacks of matrices of any shape.

At equal singular values, and at zeros, exact are: first derivatives of what depends on the
singular values alone (at zeros one of the subgradients), and on vectors of others; of equal
ones that are not zero also every derivative of their sum, the nuclear norm. The rest is NaN.
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
    frule,
    is_traced,
    rrule,
    unmask,
    value,
)
from ..arrays.products import adjoint
from ..arrays.quotients import quotient
from .factorizations import (
    column_pairing,
    has_equal,
    is_uniform,
    nan_where,
    over_gaps,
    rounding,
    row_pivots,
    smooth_if_apart,
    turn,
    turning,
    turning_transpose,
    undetermined,
    used_columns,
)
from .matrix_functions import matrix_function
from .systems import diagonal_matrix, diagonal_of, over_matrices


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


def polar(a, s):
    """Return ``u @ v^H`` of each matrix, NaN where a singular value is 0.

    That is ``a @ (a^H a)**(-1/2)``, which has derivatives at equal singular values too.
    """
    tall = np.shape(a)[-2] >= np.shape(a)[-1]
    gram = adjoint(a) @ a if tall else a @ adjoint(a)
    root = matrix_function(gram, lambda w: 1 / np.sqrt(w))
    y = a @ root if tall else root @ a
    singular = np.any(value(s) ** 2 <= rounding(s)[..., 0] * value(s)[..., :1], axis=-1)
    return y * np.where(over_matrices(singular), np.nan, 1)


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


def adjoint_of(vhbar):
    if type(vhbar) is Masked:
        return Masked(adjoint(vhbar.value), np.swapaxes(vhbar.alive, -1, -2))
    return vhbar if isinstance(vhbar, AbstractZero) else adjoint(vhbar)


def used_vectors(ubar, u, s):
    """Return ``ubar`` as an array, and which vectors that have a singular value are used."""
    if isinstance(ubar, AbstractZero):
        return dense(ubar, u), np.zeros(np.shape(s), bool)
    ubar, used = used_columns(ubar)
    return ubar, used[..., : np.shape(s)[-1]]


def used_at_zero(s, used):
    """Say of each matrix whether a singular vector is used whose singular value is 0."""
    return np.any(used & (value(s) <= rounding(s)[..., 0]), axis=-1)


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
    square = np.shape(a)[-2] == np.shape(a)[-1]
    project_a = ProjectTo(a)

    def values_pullback(ybar):
        if is_traced(a) and is_uniform(ybar) and np.any(has_equal(s)):
            return NoTangent(), project_a(np.expand_dims(ybar[..., :1], -1) * polar(a, s))
        abar = (u * np.expand_dims(ybar, -2)) @ adjoint(v)
        return NoTangent(), project_a(smooth_if_apart(abar, s, ybar))

    def svd_pullback(ybar):
        ubar, sbar, vhbar = ybar
        if isinstance(ubar, AbstractZero) and isinstance(vhbar, AbstractZero):
            return values_pullback(unmask(sbar))
        ubar, used = used_vectors(ubar, y[0], s)
        vbar, used_too = used_vectors(adjoint_of(vhbar), adjoint(y[2]), s)
        used = used | used_too
        ubar, u_rest_bar = ubar[..., : np.shape(s)[-1]], ubar[..., np.shape(s)[-1] :]
        vbar, v_rest_bar = vbar[..., : np.shape(s)[-1]], vbar[..., np.shape(s)[-1] :]
        if np.iscomplexobj(u):
            rate_bar = np.imag(column_pairing(u, ubar) + column_pairing(v, vbar))
            short = shorter(u, v)
            moved = turning_transpose(rate_bar, short, row_pivots(short, 0))
            ubar, vbar = (ubar + moved, vbar) if short is u else (ubar, vbar + moved)
        in_u, in_v = adjoint(u) @ ubar, adjoint(v) @ vbar
        unknown = undetermined(s, used) | (used_at_zero(s, used) & (not square))
        kept, _ = parts(nan_where(unknown, over_gaps(in_u + in_v, s)))
        _, turned = parts(over_sums(in_u - in_v, s))
        out_of_u = over_values(outside_pull(u, ubar, u_rest, u_rest_bar), s)
        out_of_v = over_values(outside_pull(v, vbar, v_rest, v_rest_bar), s)
        inner = diagonal_matrix(unmask(dense(sbar, s))) + kept + turned
        abar = (u @ inner + out_of_u) @ adjoint(v) + u @ adjoint(out_of_v)
        return NoTangent(), project_a(abar)

    return (y, svd_pullback) if compute_uv else (s, values_pullback)


@composed(np.linalg.svdvals)
def svdvals(x, /):
    return np.linalg.svd(x, compute_uv=False)
