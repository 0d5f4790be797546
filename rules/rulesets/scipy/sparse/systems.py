"""Sparse linear systems by factorization.

From ``a @ y = b``: ``ydot = solve(a, bdot - adot @ y)``, and ``bbar = solve(a^H, ybar)``,
``abar = -bbar @ y^H``, of which only the entries on the pattern are computed.
"""

# ruff: noqa: N803 - SciPy's names of its arguments

from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse import linalg

from .....config import MissingRuleError, user_line
from .... import (
    AbstractZero,
    NoTangent,
    composed,
    innermost,
    pair_rule,
    primitive,
    value,
)
from ...arrays.products import conj
from .array import issparse, lifted, plain
from .products import matmul, on_pattern


def refuse_sparse(f, b):
    if issparse(b):
        raise MissingRuleError(
            f"{f} with a sparse right-hand side has no rule where something is traced, in "
            f"{user_line()}.\n  write b.toarray()"
        )
    return b


def as_system(a):
    """Return a matrix, which may be traced or not, as a ``SparseArray``."""
    if issparse(a):
        return lifted(a).summed()
    if innermost((a,)) is not None:
        raise MissingRuleError(
            "a sparse solver has no rule for a traced dense matrix, whose pattern is not constant, "
            f"in {user_line()}.\n  write numpy.linalg.solve(a, b), or csc_array((data, (row, col)))"
        )
    return lifted(sparse.csc_array(a))


def times_dot(entries_dot, x, places):
    """Return ``adot @ x``, where ``adot`` may not move."""
    return entries_dot if isinstance(entries_dot, AbstractZero) else matmul(entries_dot, x, places)


# ---- spsolve --------------------------------------------------------------------------------


@primitive
def solved(entries, b, places, **options):
    """``spsolve`` of the array with these entries, and a dense ``b``."""
    return linalg.spsolve(places.holding(entries), b, **options)


@pair_rule(solved)
def solved_pair(solved, entries, b, places, **options):
    y = solved(entries, b, places, **options)

    def solved_pushforward(entries_dot, bdot, _2):
        return solved(entries, bdot - times_dot(entries_dot, y, places), places, **options)

    def solved_pullback(ybar):
        bbar = solved(conj(entries), ybar, places.T, **options)
        abar = -on_pattern(bbar, conj(y), places)
        return abar, bbar, NoTangent()

    return y, solved_pushforward, solved_pullback


@composed(linalg.spsolve)
def spsolve(A, b, permc_spec=None, use_umfpack=True):
    b = refuse_sparse("spsolve", b)
    a = as_system(A)
    if a.format not in ("csc", "csr"):
        linalg.spsolve(a.to_scipy(), value(b), permc_spec, use_umfpack)  # SciPy's warning or error
        a = a.asformat("csc")
    if np.ndim(b) == 2 and np.shape(b)[1] == 1:
        b = np.ravel(b)
    return solved(a.entries, b, a.places, permc_spec=permc_spec, use_umfpack=use_umfpack)


# ---- factorizations -------------------------------------------------------------------------


class SparseFactors:
    """SciPy's factors of a matrix; where its entries stand for others, each step makes them."""

    def __init__(self, make, a, given):
        self.make = make
        self.made = None if innermost((value(a.entries),)) is not None else make(plain(given))

    def of(self, entries, places):
        return self.make(places.holding(entries)) if self.made is None else self.made


@primitive
def backsolved(entries, b, places, factors, adjoint):
    """Solve by the factorization, of SciPy's, of the array with these entries."""
    return factors.of(entries, places).solve(np.asarray(b), "H" if adjoint else "N")


@pair_rule(backsolved)
def backsolved_pair(backsolved, entries, b, places, factors, adjoint):
    y = backsolved(entries, b, places, factors, adjoint)

    def backsolved_pushforward(entries_dot, bdot, *_):
        if adjoint and not isinstance(entries_dot, AbstractZero):
            entries_dot = conj(entries_dot)
        moved = times_dot(entries_dot, y, places.T if adjoint else places)
        return backsolved(entries, bdot - moved, places, factors, adjoint)

    def backsolved_pullback(ybar):
        bbar = backsolved(entries, ybar, places, factors, not adjoint)
        left, right = (y, conj(bbar)) if adjoint else (bbar, conj(y))
        abar = -on_pattern(left, right, places)
        return abar, bbar, NoTangent(), NoTangent(), NoTangent()

    return y, backsolved_pushforward, backsolved_pullback


class Factorization:
    """Result of ``splu``, as SciPy's ``SuperLU``: its ``solve`` takes traced values."""

    def __init__(self, a, factors, name):
        self._a = a
        self._factors = factors
        self._name = name

    def __getattr__(self, name):
        if name.startswith("_"):
            raise AttributeError(name)
        unmade = self._factors.made is None
        if unmade or (name in ("L", "U") and innermost((self._a.entries,)) is not None):
            raise MissingRuleError(
                f"{name} of a sparse factorization has no rule, in {user_line()}.\n"
                "  use its solve, or scipy.linalg.lu of A.toarray()"
            )
        return getattr(self._factors.made, name)

    def solve(self, rhs, trans="N"):
        a = self._a
        if innermost((a.entries, rhs)) is None:
            return self._factors.made.solve(rhs, trans)
        rhs = refuse_sparse(f"{self._name}.solve", rhs)
        if trans not in ("N", "T", "H"):
            return self._factors.of(value(a.entries), a.places).solve(value(rhs), trans)  # says so
        if trans == "T":
            return conj(backsolved(a.entries, conj(rhs), a.places, self._factors, True))
        return backsolved(a.entries, rhs, a.places, self._factors, trans == "H")

    __call__ = solve


def splu(A, permc_spec=None, diag_pivot_thresh=None, relax=None, panel_size=None, options=None):
    a = as_system(A)

    def make(matrix):
        return linalg.splu(
            matrix, permc_spec, diag_pivot_thresh, relax, panel_size, options=options or {}
        )

    return Factorization(a, SparseFactors(make, a, A), "splu")


def constant_factorization(made, name="splu"):
    """Return a factorization of SciPy's, of a matrix that is constant, as one of ours."""
    # What it solves is linear in the right-hand side; the matrix is never looked at.
    a = lifted(sparse.csc_array(made.shape))
    return Factorization(a, SparseFactors(lambda _: made, a, a), name)


def spilu(A, *args, **kwargs):
    if innermost((A,)) is not None:
        raise MissingRuleError(
            "scipy.sparse.linalg.spilu has no derivative in its matrix: what it drops depends on "
            f"the numbers, in {user_line()}.\n  write spilu(cr.value(A)), a constant "
            "preconditioner, or splu(A)"
        )
    return constant_factorization(linalg.spilu(plain(A), *args, **kwargs), "spilu")


def factorized(A):
    if not issparse(A):
        return linalg.factorized(A)  # SciPy's warnings and errors
    return splu(as_system(A).tocsc() if issparse(A) else A).solve


# ---- triangular systems ---------------------------------------------------------------------


@primitive
def triangular_solved(entries, b, places, lower, unit_diagonal, form):
    """``spsolve_triangular`` of a matrix of this format, which the transposed one has as well."""
    a = places.holding(entries).asformat(form)
    return linalg.spsolve_triangular(a, b, lower=lower, unit_diagonal=unit_diagonal)


def strict(entries, places, unit_diagonal):
    """Return the entries that are looked at: a diagonal of ones is not stored."""
    rows, columns = places.coords
    constant = isinstance(entries, AbstractZero) or not unit_diagonal
    return entries if constant else entries * (rows != columns)


@pair_rule(triangular_solved)
def triangular_pair(solved, entries, b, places, lower, unit_diagonal, form):
    y = solved(entries, b, places, lower, unit_diagonal, form)

    def triangular_pushforward(entries_dot, bdot, *_):
        moved = times_dot(strict(entries_dot, places, unit_diagonal), y, places)
        return solved(entries, bdot - moved, places, lower, unit_diagonal, form)

    def triangular_pullback(ybar):
        bbar = solved(conj(entries), ybar, places.T, not lower, unit_diagonal, form)
        abar = -strict(on_pattern(bbar, conj(y), places), places, unit_diagonal)
        return abar, bbar, *(NoTangent(),) * 4

    return y, triangular_pushforward, triangular_pullback


@composed(linalg.spsolve_triangular)
def spsolve_triangular(A, b, lower=True, overwrite_A=False, overwrite_b=False,
                       unit_diagonal=False):  # fmt: skip
    b = refuse_sparse("spsolve_triangular", b)
    a = as_system(A)
    a = a if a.format in ("csc", "csr") else a.tocsc()
    rows, columns = a.places.coords
    if np.any(rows < columns if lower else rows > columns):
        raise MissingRuleError(
            "spsolve_triangular has a rule for triangular matrices alone, and there are entries "
            f"on the other side of the diagonal, in {user_line()}.\n"
            "  write tril(A) or triu(A)"
        )
    return triangular_solved(a.entries, b, a.places, bool(lower), bool(unit_diagonal), a.format)


# Always ours: SciPy's own are compiled, and their solve cannot be shown traced values.
INSTEAD: dict[str, Any] = {"factorized": factorized, "spilu": spilu, "splu": splu}
for _name, _body in INSTEAD.items():
    composed(getattr(linalg, _name))(_body)
