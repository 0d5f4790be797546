"""Linear equations for matrices: Sylvester's and Lyapunov's. Shapes: (..., n, n), of q (..., m, n).

Each rule solves the same equation once more, along a direction; the cotangents solve the one
with the adjoint coefficients. Source: Kao and Hennequin (2020), automatic differentiation of
Sylvester, Lyapunov, and algebraic Riccati equations.
"""

import numpy as np
from scipy import linalg

from .....config import MissingRuleError, user_line
from .... import composed, primitive, solution_rule, value
from ...arrays.products import adjoint

DIRECT_BELOW = 10  # rows, for which SciPy solves a discrete equation by a Kronecker product


def forgets_blocks(a, *others):
    """Say whether SciPy forgets blocks of a real ``a``, whose Schur form a complex solver reads."""
    return any(map(np.iscomplexobj, others)) and not np.iscomplexobj(a)


def with_blocks(a, *others):
    """Return ``a`` as SciPy solves with all of it."""
    return a + 0j if forgets_blocks(a, *others) else a


def refuse_wrong_solution(f, a, *others):
    if forgets_blocks(a, *others):
        raise MissingRuleError(
            f"scipy.linalg.{f.__name__} of a real matrix beside a complex one has no rule: what "
            f"SciPy returns does not solve the equation, in {user_line()}.\n"
            "  write a + 0j in place of each real matrix a"
        )


def turns(b):
    """Say whether a matrix has complex eigenvalues: else its Schur form has no blocks."""
    return bool(np.any(np.imag(np.linalg.eigvals(b)) != 0))


@primitive
def sylvester(a, b, q):
    a = with_blocks(a, b, q)
    return linalg.solve_sylvester(a, with_blocks(b, a, q) if turns(b) else b, q)


# From ``a @ y + y @ b = q``.
solution_rule(
    sylvester,
    lambda y, a, b, adot, bdot: adot @ y + y @ bdot,
    lambda w, y, a, b: (w @ adjoint(y), adjoint(y) @ w),
    lambda a, b: (adjoint(a), adjoint(b)),
)


@composed(linalg.solve_sylvester)
def solve_sylvester(a, b, q):
    refuse_wrong_solution(linalg.solve_sylvester, a, b, q)
    if turns(value(b)):
        refuse_wrong_solution(linalg.solve_sylvester, b, a, q)
    return sylvester(a, b, q)


@primitive
def twice_hermitian(p, q):
    """Return y of ``p @ y + y @ p = q``, for a Hermitian p: a division by sums of eigenvalues."""
    w, v = np.linalg.eigh(p)
    sums = np.expand_dims(w, -2) + np.expand_dims(w, -1)
    with np.errstate(divide="ignore", invalid="ignore"):
        return v @ ((adjoint(v) @ q @ v) / sums) @ adjoint(v)


solution_rule(
    twice_hermitian,
    lambda y, p, pdot: pdot @ y + y @ pdot,
    lambda w, y, p: (w @ adjoint(y) + adjoint(y) @ w,),
    lambda p: (p,),
)


@primitive
def continuous_lyapunov(a, q):
    return linalg.solve_continuous_lyapunov(with_blocks(a, q), q)


# From ``a @ y + y @ a^H = q``.
solution_rule(
    continuous_lyapunov,
    lambda y, a, adot: adot @ y + y @ adjoint(adot),
    lambda w, y, a: (w @ adjoint(y) + adjoint(w) @ y,),
    lambda a: (adjoint(a),),
)


@composed(linalg.solve_continuous_lyapunov)
def solve_continuous_lyapunov(a, q):
    refuse_wrong_solution(linalg.solve_continuous_lyapunov, a, q)
    return continuous_lyapunov(a, q)


@primitive
def discrete_lyapunov(a, q, *, method=None):
    return linalg.solve_discrete_lyapunov(with_blocks(a, q), q, method)


# From ``y - a @ y @ a^H = q``.
solution_rule(
    discrete_lyapunov,
    lambda y, a, adot: -(adot @ y @ adjoint(a)) - a @ y @ adjoint(adot),
    lambda w, y, a: (-(w @ a @ adjoint(y)) - adjoint(w) @ a @ y,),
    lambda a: (adjoint(a),),
)


@composed(linalg.solve_discrete_lyapunov)
def solve_discrete_lyapunov(a, q, method=None):
    if method == "bilinear" or (method is None and np.shape(a)[0] >= DIRECT_BELOW):
        refuse_wrong_solution(linalg.solve_discrete_lyapunov, a, q)
    return discrete_lyapunov(a, q, method=method)
