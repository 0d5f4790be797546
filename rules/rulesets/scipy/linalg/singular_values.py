"""Singular values and what is made of them: pseudo-inverses, least squares, norms."""

import numpy as np
from scipy import linalg

from .... import composed, seen, value
from ...arrays.products import adjoint
from ...linalg import norms
from ...linalg.matrix_functions import matrix_function
from .systems import as_columns, entries_read


def unit(v):
    """Return columns of length 1."""
    return v / np.linalg.norm(v, axis=-2, keepdims=True)


def phases(v, own):
    """Return by what number of size 1 each column is to be multiplied to be that of ``own``."""
    along = np.sum(np.conj(unit(value(v))) * unit(own), axis=-2)
    # Of equal values any other vectors will do as well, and there is no derivative.
    found = np.abs(along) > 0.5
    return np.where(found, along / np.where(found, np.abs(along), 1), 1)


def turned(v, phase):
    """Multiply columns; mostly there is nothing to do, and what is a zero stays one."""
    return v if np.allclose(phase, 1, atol=1e-3) else v * np.expand_dims(phase, -2)


def rotated(rest, own):
    """Turn a basis into ``own``, which spans the same."""
    return rest @ (adjoint(value(rest)) @ own)


@composed(linalg.svd, value="own")
def svd(a, full_matrices=True, compute_uv=True, *, own):
    if not compute_uv:
        return np.linalg.svd(a, compute_uv=False)
    u, s, vh = np.linalg.svd(a, full_matrices=full_matrices)
    k = np.shape(s)[-1]
    phase = phases(u[..., :k], own[0][..., :k])
    if np.allclose(phase, 1, atol=1e-3) and u.shape[-1] == k == vh.shape[-2]:
        return u, s, vh
    u_rest, v_rest = u[..., k:], adjoint(vh)[..., k:]
    u, v = turned(u[..., :k], phase), turned(adjoint(vh)[..., :k], phase)
    if np.shape(u_rest)[-1]:
        u = np.concatenate([u, rotated(u_rest, own[0][..., k:])], axis=-1)
    if np.shape(v_rest)[-1]:
        v = np.concatenate([v, rotated(v_rest, adjoint(own[2])[..., k:])], axis=-1)
    return u, s, adjoint(v)


@composed(linalg.svdvals, value="own")
def svdvals(a):
    return np.linalg.svd(a, compute_uv=False)


@composed(linalg.orth, value="own")
def orth(A, rcond=None, *, own):  # noqa: N803 - SciPy's name
    u = np.linalg.svd(A, full_matrices=False)[0][..., : np.shape(own)[-1]]
    return turned(u, phases(u, own))


@composed(linalg.diagsvd, value="own")
def diagsvd(s, M, N):  # noqa: N803 - SciPy's names
    k = np.shape(s)[-1]
    return s[..., :, None] * np.eye(k, N) if k == M else s[..., None, :] * np.eye(M, k)


# ---- pseudo-inverses ------------------------------------------------------------------------


def cutoff(sizes, atol, rtol, shape):
    """Return below which size SciPy takes singular values for zeros: a plain number."""
    atol, rtol = value(atol), value(rtol)
    largest = np.max(sizes, axis=-1, keepdims=True, initial=0)
    rtol = max(shape[-2:]) * np.finfo(sizes.dtype).eps if rtol is None else rtol
    return largest, (atol or 0) + largest * rtol


def inverse_above(w, bound):
    """Return ``1 / w``, and 0 within a bound, of which there is one for each matrix in a stack."""
    bound = np.reshape(bound, (*np.shape(bound), *(1,) * (np.ndim(w) - np.ndim(bound))))
    kept = np.abs(value(w)) > bound
    return np.where(kept, 1 / np.where(kept, w, 1), 0)


def pseudo_inverse(a, atol, rtol):
    sizes = np.linalg.svd(value(a), compute_uv=False)
    largest, bound = cutoff(sizes, atol, rtol, np.shape(a))
    return np.linalg.pinv(a, (bound / np.where(largest == 0, 1, largest))[..., 0])


@composed(linalg.pinv, value="own")
def pinv(a, atol=None, rtol=None, return_rank=False, *, own):
    y = pseudo_inverse(a, atol, rtol)
    return (y, own[1]) if return_rank else y


@composed(linalg.pinvh, value="own")
def pinvh(a, atol=None, rtol=None, lower=True, return_rank=False, *, own):
    """A function of the eigenvalues, which is 0 where they are taken for zeros."""
    a = entries_read(a, "her", lower)
    sizes = np.abs(np.linalg.eigvalsh(value(a)))
    _, bound = cutoff(sizes, atol, rtol, np.shape(a))
    y = matrix_function(a, lambda w: inverse_above(w, bound[..., 0]))
    return (y, own[1]) if return_rank else y


@composed(linalg.lstsq, value="own")
def lstsq(a, b, cond=None, *, own):
    """Of full rank, by the QR factorization of the tall one of ``a`` and its adjoint."""
    _, own_squares, rank, own_s = own
    rows, columns = np.shape(a)[-2:]
    vector, solve = np.ndim(b) == 1, seen(linalg.solve_triangular)
    b = as_columns(b, vector)
    if np.any(rank < min(rows, columns)):
        x = pseudo_inverse(a, 0, np.finfo(value(a).dtype).eps if cond is None else cond) @ b
    elif rows >= columns:
        q, r = np.linalg.qr(a)
        x = solve(r, adjoint(q) @ b)
    else:
        q, r = np.linalg.qr(adjoint(a))
        x = q @ solve(r, b, 2)
    errors = b - a @ x
    squares = np.sum(np.real(np.conj(errors) * errors), axis=-2)  # smooth at 0 too
    squares = np.reshape(squares, own_squares.shape) if own_squares.size else own_squares
    none = own_s is None or own_s.dtype == object  # with gelsy
    s = own_s if none else np.linalg.svd(a, compute_uv=False)
    return x[..., 0] if vector else x, squares, rank, s


@composed(linalg.norm, value="own")
def norm(a, ord=None, axis=None, keepdims=False):
    return norms.norm(a, ord, axis, keepdims)  # of a traced order NumPy's protocol does not ask
