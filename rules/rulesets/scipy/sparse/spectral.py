"""Eigenvalues and eigenvectors of symmetric sparse matrices, and singular values."""

# ruff: noqa: N803 - SciPy's names of its arguments

import numpy as np
from scipy.sparse import linalg

from .....config import MissingRuleError, user_line
from .... import (
    AbstractZero,
    NoTangent,
    Tangent,
    composed,
    pair_rule,
    primitive,
    value,
)
from ...arrays.products import conj
from . import construction
from .array import SparseArray, issparse, lifted
from .products import matmul, on_pattern
from .systems import solved


@primitive
def eigenpairs(entries, places, options):
    """Return ``eigsh`` of the array with these entries: eigenvalues and eigenvectors."""
    return tuple(linalg.eigsh(places.holding(entries), **dict(options)))


def bordered(entries, places, w, v):
    """Return the matrix of the system for the derivatives of an eigenvector and its eigenvalue.

    From ``a @ v = w * v`` and ``v @ v = 1``:
    ``[[a - w, -v], [-v^T, 0]] @ [vdot, wdot] = [-adot @ v, 0]``.
    It is singular where the eigenvalue is a multiple one.
    """
    a = SparseArray(entries, places)
    shifted = a - construction.diags([w * np.ones(a.shape[0])], [0])
    rows = [[shifted, -v[:, None]], [-v[None], None]]
    return construction.bmat(rows, format="csc")


def eigenvector_moves(entries, places, w, v, vbar, wbar):
    """Solve the system, which is symmetric, for ``vdot`` or for its pullback."""
    system = bordered(entries, places, w, v)
    right = np.concatenate([vbar, np.reshape(wbar, (1,))])
    y = solved(system.entries, right, system.places)
    return y[:-1]


def refuse_complex(entries):
    if np.iscomplexobj(value(entries)):
        raise MissingRuleError(
            "scipy.sparse.linalg.eigsh has a rule for the eigenvalues of complex matrices, and "
            f"none for their eigenvectors, in {user_line()}.\n"
            "  write return_eigenvectors=False"
        )


@pair_rule(eigenpairs)
def eigenpairs_pair(eigenpairs, entries, places, options):
    w, v = eigenpairs(entries, places, options)
    refuse_complex(entries)

    def eigenpairs_pushforward(entries_dot, *_):
        moved = matmul(entries_dot, v, places)
        wdot = np.sum(v * moved, axis=0)
        columns = [eigenvector_moves(entries, places, w[i], v[:, i], -moved[:, i], 0.0)
                   for i in range(len(value(w)))]  # fmt: skip
        return Tangent(tuple, wdot, np.stack(columns, axis=1))

    def eigenpairs_pullback(ybar):
        wbar, vbar = ybar[0], ybar[1]
        if isinstance(vbar, AbstractZero):
            abar = on_pattern(v * wbar, v, places)
        else:
            wbar = np.zeros_like(w) if isinstance(wbar, AbstractZero) else wbar
            moves = [eigenvector_moves(entries, places, w[i], v[:, i], vbar[:, i], wbar[i])
                     for i in range(len(value(w)))]  # fmt: skip
            abar = on_pattern(-np.stack(moves, axis=1), v, places)
        return abar, NoTangent(), NoTangent()

    return (w, v), eigenpairs_pushforward, eigenpairs_pullback


@primitive
def eigenvalues(entries, places, options):
    return linalg.eigsh(places.holding(entries), return_eigenvectors=False, **dict(options))


def _vectors_for(entries, places, options, w):
    """Return the eigenvectors in the order of ``w``, which has one of its own."""
    found, v = eigenpairs(entries, places, options)
    return v[:, np.argsort(value(found))[np.argsort(np.argsort(value(w)))]]


@pair_rule(eigenvalues)
def eigenvalues_pair(eigenvalues, entries, places, options):
    w = eigenvalues(entries, places, options)
    v = _vectors_for(entries, places, options, w)

    def eigenvalues_pushforward(entries_dot, *_):
        return np.real(np.sum(conj(v) * matmul(entries_dot, v, places), axis=0))

    def eigenvalues_pullback(wbar):
        abar = on_pattern(v * wbar, conj(v), places)
        return abar, NoTangent(), NoTangent()

    return w, eigenvalues_pushforward, eigenvalues_pullback


@composed(linalg.eigsh)
def eigsh(A, k=6, M=None, sigma=None, which="LM", v0=None, ncv=None, maxiter=None, tol=0,
          return_eigenvectors=True, Minv=None, OPinv=None, mode="normal"):  # fmt: skip
    if M is not None or not issparse(A) or mode != "normal":
        raise MissingRuleError(
            "scipy.sparse.linalg.eigsh has a rule for a sparse matrix alone, without M, in "
            f"{user_line()}.\n  write numpy.linalg.eigh of a dense one"
        )
    a = lifted(A).summed()
    # Calls for derivatives begin with the same vector, and so find the same signs.
    start = np.random.default_rng(0).uniform(-1, 1, a.shape[0]) if v0 is None else value(v0)
    options = (("k", k), ("sigma", sigma), ("which", which), ("v0", start), ("ncv", ncv),
               ("maxiter", maxiter), ("tol", tol), ("OPinv", OPinv))  # fmt: skip
    if return_eigenvectors:
        return eigenpairs(a.entries, a.places, options)
    return eigenvalues(a.entries, a.places, options)


@composed(linalg.svds, value="own")
def svds(A, k=6, which="LM", return_singular_vectors=True, *, own, **options):
    """The largest singular values: roots of eigenvalues of the smaller of ``a^H a`` and ``a a^H``.

    With a tolerance ``tol`` other than 0 the eigenvectors have that of the values.
    """
    if return_singular_vectors is not False or which != "LM" or not issparse(A):
        raise MissingRuleError(
            "scipy.sparse.linalg.svds has a rule for the largest singular values alone, of a "
            f"sparse matrix, in {user_line()}.\n  write return_singular_vectors=False, or "
            "numpy.linalg.svd of A.toarray() (of A itself, where it is an array)"
        )
    a = lifted(A).summed()
    adjoint = a.conj().T
    squares = eigsh(adjoint @ a if a.shape[0] >= a.shape[1] else a @ adjoint, k,
                    return_eigenvectors=False)  # fmt: skip
    order = np.argsort(value(squares))[np.argsort(np.argsort(own))]
    return np.sqrt(squares[order])
