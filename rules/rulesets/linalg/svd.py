"""Singular values and vectors, for stacks of matrices of any shape.

From ``a = u @ diag(s) @ v^H``, with ``m = u^H @ adot @ v``: ``sdot = diag(m)``. Inside their spans
``udot = u @ (p + q)`` and ``vdot = v @ (p - q)``, where ``p[i, j]`` is that of ``(m + m^H) / 2``
over ``s[j] - s[i]`` and ``q[i, j]`` that of ``(m - m^H) / 2`` over ``s[j] + s[i]``. Out of their
spans lead ``adot @ v / s`` and ``adot^H @ u / s``.
Source: Townsend (2016), differentiating the singular value decomposition; Wan and Zhang (2019)
for the complex case.

At equal singular values, and at zeros, exact are: first derivatives of what depends on the
singular values alone (at zeros one of the subgradients), and on vectors of others; second
derivatives of the others; of equal ones that are not zero also every derivative of their sum, the
nuclear norm. The rest is NaN.

>>> cr.grad(lambda a: np.linalg.svdvals(a)[0])(np.diag([3.0, 1.0]))
array([[1., 0.],
       [0., 0.]])
"""

import numpy as np

from ... import (
    AbstractZero,
    NoTangent,
    ProjectTo,
    Tangent,
    composed,
    dense,
    frule,
    is_lazy,
    is_traced,
    primitive,
    rrule,
    told_of_masks,
    unmask,
    value,
)
from ..arrays.products import adjoint
from ..arrays.quotients import quotient
from .gaps import (
    has_equal,
    is_uniform,
    nan_where,
    of_values,
    over_gaps,
    rounding,
    that_weigh,
    told_used,
)
from .matrix_functions import matrix_function
from .matrix_rule import matrix_rule
from .phases import any_basis, keep_phase
from .systems import diagonal_matrix, diagonal_of, over_matrices

# ---- the formula: of u and v those columns that belong to singular values -------------------


def parts(x):
    """Return the parts of a matrix that its adjoint keeps, and that it turns around."""
    return (x + adjoint(x)) / 2, (x - adjoint(x)) / 2


def over_sums(x, s):
    """Return ``x[i, j] / (s[i] + s[j])``."""
    return quotient(x, np.expand_dims(s, -2) + np.expand_dims(s, -1))


def over_values(x, s):
    """Return ``x[i, j] / s[j]``."""
    return quotient(x, np.expand_dims(s, -2))


def outside(u, x, s):
    """Return what of ``x[i, j] / s[j]`` leads out of the span of ``u``; its own transpose."""
    if np.shape(u)[-2] == np.shape(u)[-1]:
        return np.zeros_like(x)
    moved = over_values(x, s)
    return moved - u @ (adjoint(u) @ moved)


def svd_push(u, s, v, adot):
    moved = adjoint(u) @ adot @ v
    kept, turned = parts(moved)
    p, q = over_gaps(kept, s), over_sums(turned, s)
    udot = u @ (p + q) + outside(u, adot @ v, s)
    vdot = v @ (p - q) + outside(v, adjoint(adot) @ u, s)
    return udot, np.real(diagonal_of(moved)), vdot


def svd_pull(u, s, v, ubar, sbar, vbar):
    in_u, in_v = adjoint(u) @ ubar, adjoint(v) @ vbar
    p, _ = parts(over_gaps(in_u + in_v, s))
    _, q = parts(over_sums(in_u - in_v, s))
    inner = diagonal_matrix(sbar) + p + q
    out_of_u, out_of_v = outside(u, ubar, s), outside(v, vbar, s)
    return (u @ inner + out_of_u) @ adjoint(v) + u @ adjoint(out_of_v)


def polar(a, s):
    """Return ``u @ v^H`` of each matrix, NaN where a singular value is 0.

    That is ``a @ (a^H a)**(-1/2)``, which has derivatives at equal singular values too.
    """
    tall = np.shape(a)[-2] >= np.shape(a)[-1]
    gram = adjoint(a) @ a if tall else a @ adjoint(a)
    root = matrix_function(gram, lambda w: 1 / np.sqrt(w))
    y = a @ root if tall else root @ a
    singular = np.any(s**2 <= rounding(s) * s[..., :1], axis=-1)
    return y * np.where(over_matrices(singular), np.nan, 1)


def svdvals_pull(a, u, s, v, sbar):
    """Return ``u @ diag(sbar) @ v^H``, without the vectors where they cancel."""
    if is_traced(a) and is_uniform(sbar) and np.any(has_equal(s)):
        return np.expand_dims(sbar[..., :1], -1) * polar(a, s)
    sbar, u, v = of_values(s, sbar, u, v)
    return (u * np.expand_dims(sbar, -2)) @ adjoint(v)


# ---- the phase: u and v of each pair share it -----------------------------------------------


def above(u, v):
    return np.concatenate([u, v], axis=-2)


def apart(pairs, u):
    n = np.shape(u)[-2]
    return pairs[..., :n, :], pairs[..., n:, :]


def real_row(u, v):
    """Return which row of ``above(u, v)`` LAPACK makes real: the first of the shorter one."""
    return 0 if np.shape(u)[-2] < np.shape(v)[-2] else np.shape(u)[-2]


def used_at_zero(u, s, v, used):
    """Say of each matrix, if it is not square, whether a vector is used whose value is 0."""
    if np.shape(u)[-2] == np.shape(v)[-2]:
        return False
    return np.any(np.any(used, axis=-2) & (s <= rounding(s)), axis=-1)


# ---- what was asked for: values, vectors, and the vectors of no value -----------------------

told_of_masks.add(np.linalg.svd)


def thin(y):
    """Return the vectors that belong to singular values, as columns, and the others."""
    u, s, vh = y
    k, v = np.shape(s)[-1], adjoint(vh)
    return u[..., :k], s, v[..., :k], u[..., k:], v[..., k:]


def rest_push(u, s, rest, moved):
    """Return how the others move: ``rest^H @ u`` stays 0, and among them nothing turns."""
    return -u @ (adjoint(over_values(moved, s)) @ rest)


def rest_pull(u, s, rest, rest_bar):
    return over_values(-rest @ (adjoint(rest_bar) @ u), s)


def decomposed(svd, a, full_matrices):
    # Dask gives the thin factors, where NumPy gives all of them.
    return svd(a) if is_lazy(value(a)) else svd(a, full_matrices=full_matrices)


@frule.register(np.linalg.svd)
def svd_frule(tangents, svd, a, *, full_matrices=True, compute_uv=True):
    _, adot = tangents
    y = decomposed(svd, a, full_matrices and compute_uv)
    u, s, v, u_rest, v_rest = thin(y)
    if not compute_uv:
        return s, np.real(diagonal_of(adjoint(u) @ adot @ v))
    udot, sdot, vdot = svd_push(u, s, v, adot)
    udot, vdot = apart(keep_phase(above(udot, vdot), above(u, v), real_row(u, v)), u)
    if np.shape(u_rest)[-1]:
        udot = np.concatenate([udot, rest_push(u, s, u_rest, adot @ v)], axis=-1)
    if np.shape(v_rest)[-1]:
        vdot = np.concatenate([vdot, rest_push(v, s, v_rest, adjoint(adot) @ u)], axis=-1)
    return y, Tangent(type(y), udot, sdot, adjoint(vdot))


@rrule.register(np.linalg.svd)
def svd_rrule(svd, a, *, full_matrices=True, compute_uv=True):
    """Shapes: ``a``: (..., m, n); ``s``: (..., k), where k is the smaller of m and n."""
    y = decomposed(svd, a, full_matrices and compute_uv)
    u, s, v, u_rest, v_rest = thin(y)
    project_a = ProjectTo(a)

    def values_pullback(ybar):
        return NoTangent(), project_a(svdvals_pull(a, u, s, v, ybar))

    def svd_pullback(ybar):
        ubar, sbar, vhbar = ybar
        if isinstance(ubar, AbstractZero) and isinstance(vhbar, AbstractZero):
            return values_pullback(unmask(sbar))
        (ubar, u_used), (vhbar, vh_used) = told_used(ubar, y[0]), told_used(vhbar, y[2])
        sbar = unmask(dense(sbar, s))
        ubar, _, vbar, u_rest_bar, v_rest_bar = thin((ubar, s, vhbar))
        u_used, _, v_used, _, _ = thin((u_used, s, vh_used))
        pairs = above(ubar, vbar)
        used = that_weigh(above(u_used, v_used), pairs, sbar)
        pairs = any_basis(pairs, used, s, above(u, v), real_row(u, v))
        ubar, vbar = apart(nan_where(used_at_zero(u, s, v, used), pairs), u)
        abar = svd_pull(u, s, v, ubar, sbar, vbar)
        if np.shape(u_rest)[-1]:
            abar = abar + rest_pull(u, s, u_rest, u_rest_bar) @ adjoint(v)
        if np.shape(v_rest)[-1]:
            abar = abar + u @ adjoint(rest_pull(v, s, v_rest, v_rest_bar))
        return NoTangent(), project_a(abar)

    return (y, svd_pullback) if compute_uv else (s, values_pullback)


@composed(np.linalg.svdvals)
def svdvals(x, /):
    return np.linalg.svd(x, compute_uv=False)


# ---- their sum: smooth where they are equal, and none is 0 ----------------------------------


@primitive
def nuclear_norm(a):
    return np.sum(np.linalg.svdvals(a), axis=-1)


def aligned(a):
    """Return ``u @ v^H`` of each matrix: the slope of its nuclear norm."""
    u, s, vh = np.linalg.svd(a, full_matrices=False)
    return svdvals_pull(a, u, s, adjoint(vh), np.ones_like(value(s)))


matrix_rule(
    nuclear_norm,
    lambda adot, _, a: np.real(np.sum(np.conj(aligned(a)) * adot, axis=(-2, -1))),
    lambda ybar, _, a: over_matrices(ybar) * aligned(a),
)
