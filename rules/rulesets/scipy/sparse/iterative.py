"""Iterative solvers: the derivative is that of the solution, found by the same method.

From ``a @ y = b``, as for factorizations. The systems of the derivative are solved to the relative
tolerance of the call, with its preconditioner; where one of them does not converge, that is an
error, for what has not converged is no solution and has no such derivative. Of an operator ``A``
whose function holds traced values, and the same ``A0`` of plain ones, it is that of
``A0 @ y = b - (A - A0) @ y``, once for each order.
"""

# ruff: noqa: N803 - SciPy's names of its arguments

import copy

import numpy as np
from scipy.sparse import linalg

from .....config import MissingRuleError, user_line
from .... import (
    AbstractZero,
    NoTangent,
    Tangent,
    Traced,
    composed,
    levels_of,
    pair_rule,
    primitive,
    shape_of,
    value,
)
from ...arrays.products import conj
from .array import issparse, plain
from .operators import adjoint_of, held_operator, operated
from .products import matmul, on_pattern
from .systems import as_system, refuse_sparse

SYMMETRIC = {linalg.cg, linalg.minres}
SOLVERS = (
    "bicg", "bicgstab", "cg", "cgs", "gcrotmk", "gmres", "lgmres", "minres", "qmr", "tfqmr",
)  # fmt: skip
# Options that a system of the derivative does not share: they are of this one, or written to.
OWN = {"x0", "callback", "callback_type", "show", "check", "outer_v", "CU", "store_outer_Av",
       "prepend_outer_v", "discard_C"}  # fmt: skip


class Method:
    """Method for a linear system: SciPy's solver, its options, and the pattern of the matrix."""

    def __init__(self, solver, options, places=None, operator=None):
        self.solver = solver
        self.options = options
        self.places = places  # of a sparse matrix
        self.operator = operator  # where the matrix is one: it, held

    def matrix(self, a):
        if self.operator is not None:
            return self.operator()
        return a if self.places is None else self.places.holding(a)

    def push(self, a_dot, y):
        if isinstance(a_dot, AbstractZero):
            return a_dot
        return a_dot @ y if self.places is None else matmul(a_dot, y, self.places)

    def pull(self, bbar, y):
        if self.operator is not None:
            return NoTangent()
        if self.places is None:
            return -np.expand_dims(bbar, 1) * conj(y)
        return -on_pattern(bbar, conj(y), self.places)

    def for_derivatives(self, b):
        """The same method to the same relative tolerance, for other right-hand sides."""
        same = copy.copy(self)
        same.options = {name: x for name, x in self.options.items() if name not in OWN}
        rtol, size = same.options.get("rtol", 1e-5), np.linalg.norm(value(b))
        if same.options.get("atol") and size > 0:
            rtol = max(rtol, same.options["atol"] / size)
            same.options["atol"] = 0.0
        same.options["rtol"] = rtol
        return same

    @property
    def adjoint(self):
        other = copy.copy(self)
        if self.solver in SYMMETRIC:
            return other
        other.places = self.places and self.places.T
        other.operator = self.operator and self.operator.then(adjoint_of)
        names = {"M": "M", "M1": "M2", "M2": "M1"}
        known = {names[k]: _adjoint(M) for k, M in self.options.items() if k in names}
        other.options = {k: x for k, x in self.options.items() if k not in names} | known
        return other

    def adjoint_of(self, a):
        if self.solver in SYMMETRIC or self.operator is not None:
            return a
        return conj(a) if self.places is not None else conj(np.transpose(a))


def _adjoint(preconditioner):
    """Return its adjoint, or None where it has none: it only speeds things up."""
    if preconditioner is None:
        return None
    operator = linalg.aslinearoperator(preconditioner)
    try:
        operator.rmatvec(np.zeros(operator.shape[0]))
    except (NotImplementedError, TypeError):
        return None
    return operator.H


@primitive
def iterated(a, b, method, held):
    """Return the solution and SciPy's ``info``; ``held`` are options that a program computes."""
    found = method.solver(method.matrix(a), b, **method.options, **held)
    if method.operator is not None:
        method.operator.taken.after_run()
    return found


def solution(a, b, method, held):
    """Solve a system that a derivative asks for."""
    y, info = iterated(a, b, method, held)
    refuse_unsolved(info, method)
    return y


def refuse_unsolved(info, method):
    if info != 0:
        raise np.linalg.LinAlgError(
            f"{method.solver.__name__} did not converge (info={info}), and what has not converged "
            "has no derivative: allow more iterations, or a larger rtol"
        )


@pair_rule(iterated)
def iterated_pair(iterated, a, b, method, held):
    y, info = iterated(a, b, method, held)
    refuse_unsolved(info, method)
    adjoint = method.for_derivatives(b).adjoint
    # A preconditioner only speeds things up, and its adjoint is another one.
    shared = {name: x for name, x in held.items() if name not in OWN}
    of_adjoint = shared if method.solver in SYMMETRIC else {}

    def iterated_pushforward(a_dot, bdot, _2, _3):
        right = bdot - method.push(a_dot, y)
        ydot = solution(a, right, method.for_derivatives(b), shared)
        return Tangent(tuple, ydot, NoTangent())

    def iterated_pullback(ybar):
        bbar = solution(method.adjoint_of(a), ybar[0], adjoint, of_adjoint)
        return method.pull(bbar, y), bbar, NoTangent(), NoTangent()

    return (y, info), iterated_pushforward, iterated_pullback


def with_adjoint(solver, held):
    """Return an operator whose functions hold traced values with its adjoint."""
    if solver in SYMMETRIC:
        return held.then(symmetric)
    if _adjoint(held()) is None:
        raise MissingRuleError(
            f"scipy.sparse.linalg.{solver.__name__} of an operator that depends on what is traced "
            f"needs its adjoint, in {user_line()}.\n  give it: LinearOperator(shape, matvec, "
            "rmatvec=...)"
        )
    return held


def symmetric(operator):
    matvec = operator._matvec
    return linalg.LinearOperator(operator.shape, matvec, matvec, dtype=operator.dtype)


def by_iteration(solver):
    def solve(A, b, x0=None, **options):
        b = refuse_sparse(solver.__name__, b)
        b = b if isinstance(b, Traced) else np.asarray(b)
        b = np.ravel(b) if np.ndim(b) == 2 and np.shape(b)[1] == 1 else b
        shift = options.get("shift", 0.0)
        options = {"x0": value(x0), **{name: plain(x) for name, x in options.items()}}
        held = {name: x for name, x in options.items() if isinstance(x, Traced)}
        fixed = {name: x for name, x in options.items() if name not in held}
        parameters = []
        if isinstance(A, linalg.LinearOperator):
            operator = held_operator(A, b)
            parameters = operator.taken.parameters
            operator = with_adjoint(solver, operator) if parameters else operator
            a, method = 0.0, Method(solver, fixed, operator=operator)
        elif issparse(A):
            system = as_system(A)
            a, method = system.entries, Method(solver, fixed, system.places)
        else:
            a, method = A, Method(solver, fixed)
        y, info = iterated(a, b, method, held)
        # ``(A - shift) y = b``: what moves of the shift stands on the right, once for each order.
        for _ in levels_of(shift):
            y, info = iterated(a, b + (shift - value(shift)) * y, method, held)
        for _ in levels_of(*parameters):
            off = np.reshape(A._matvec(y), shape_of(y)) - operated(y, operator)
            y, info = iterated(a, b - (off - value(off)), method, held)
        return y, info

    return solve


FOLLOWED = {}  # of SciPy's solvers what follows an operator by functions
for _name in SOLVERS:
    _solver = getattr(linalg, _name)
    FOLLOWED[_solver] = by_iteration(_solver)
    composed(_solver)(FOLLOWED[_solver])
