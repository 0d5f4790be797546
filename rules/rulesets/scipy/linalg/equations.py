"""Linear equations for matrices: Sylvester's and Lyapunov's. Shapes: (..., n, n), of q (..., m, n).

Each rule solves the same equation once more, along a direction; the cotangents solve the one
with the adjoint coefficients. Source: Kao and Hennequin (2020), automatic differentiation of
Sylvester, Lyapunov, and algebraic Riccati equations.
"""

import numpy as np
from scipy import linalg

from .... import NoTangent, ProjectTo, composed, frule, primitive, rrule, unbroadcast
from ...arrays.products import adjoint


def pulled(*pairs):
    """Project each cotangent, without the axes of a stack that its argument met."""
    return NoTangent(), *(project(unbroadcast(xbar, project.shape)) for project, xbar in pairs)


@primitive
def sylvester(a, b, q):
    return linalg.solve_sylvester(a, b, q)


@frule.register(sylvester)
def sylvester_frule(tangents, sylvester, a, b, q):
    _, adot, bdot, qdot = tangents
    y = sylvester(a, b, q)
    return y, sylvester(a, b, qdot - adot @ y - y @ bdot)


@rrule.register(sylvester)
def sylvester_rrule(sylvester, a, b, q):
    """From ``a @ y + y @ b = q``: so ``ydot`` solves it for ``qdot - adot @ y - y @ bdot``."""
    y = sylvester(a, b, q)
    project_a, project_b, project_q = ProjectTo(a), ProjectTo(b), ProjectTo(q)

    def sylvester_pullback(ybar):
        qbar = sylvester(adjoint(a), adjoint(b), ybar)
        return pulled(
            (project_a, -qbar @ adjoint(y)), (project_b, -adjoint(y) @ qbar), (project_q, qbar)
        )

    return y, sylvester_pullback


@composed(linalg.solve_sylvester)
def solve_sylvester(a, b, q):
    return sylvester(a, b, q)


@primitive
def twice_hermitian(p, q):
    """Return y of ``p @ y + y @ p = q``, for a Hermitian p: a division by sums of eigenvalues."""
    w, v = np.linalg.eigh(p)
    sums = np.expand_dims(w, -2) + np.expand_dims(w, -1)
    with np.errstate(divide="ignore", invalid="ignore"):
        return v @ ((adjoint(v) @ q @ v) / sums) @ adjoint(v)


@frule.register(twice_hermitian)
def twice_hermitian_frule(tangents, twice_hermitian, p, q):
    _, pdot, qdot = tangents
    y = twice_hermitian(p, q)
    return y, twice_hermitian(p, qdot - pdot @ y - y @ pdot)


@rrule.register(twice_hermitian)
def twice_hermitian_rrule(twice_hermitian, p, q):
    y = twice_hermitian(p, q)
    project_p, project_q = ProjectTo(p), ProjectTo(q)

    def twice_hermitian_pullback(ybar):
        qbar = twice_hermitian(p, ybar)
        pbar = -qbar @ adjoint(y) - adjoint(y) @ qbar
        return pulled((project_p, pbar), (project_q, qbar))

    return y, twice_hermitian_pullback


@primitive
def continuous_lyapunov(a, q):
    return linalg.solve_continuous_lyapunov(a, q)


@frule.register(continuous_lyapunov)
def continuous_lyapunov_frule(tangents, continuous_lyapunov, a, q):
    _, adot, qdot = tangents
    y = continuous_lyapunov(a, q)
    return y, continuous_lyapunov(a, qdot - adot @ y - y @ adjoint(adot))


@rrule.register(continuous_lyapunov)
def continuous_lyapunov_rrule(continuous_lyapunov, a, q):
    """From ``a @ y + y @ a^H = q``."""
    y = continuous_lyapunov(a, q)
    project_a, project_q = ProjectTo(a), ProjectTo(q)

    def continuous_lyapunov_pullback(ybar):
        qbar = continuous_lyapunov(adjoint(a), ybar)
        abar = -qbar @ adjoint(y) - adjoint(qbar) @ y
        return pulled((project_a, abar), (project_q, qbar))

    return y, continuous_lyapunov_pullback


@composed(linalg.solve_continuous_lyapunov)
def solve_continuous_lyapunov(a, q):
    return continuous_lyapunov(a, q)


@primitive
def discrete_lyapunov(a, q, method=None):
    return linalg.solve_discrete_lyapunov(a, q, method)


@frule.register(discrete_lyapunov)
def discrete_lyapunov_frule(tangents, discrete_lyapunov, a, q, *, method=None):
    _, adot, qdot = tangents
    y = discrete_lyapunov(a, q, method)
    moved = qdot + adot @ y @ adjoint(a) + a @ y @ adjoint(adot)
    return y, discrete_lyapunov(a, moved, method)


@rrule.register(discrete_lyapunov)
def discrete_lyapunov_rrule(discrete_lyapunov, a, q, *, method=None):
    """From ``y - a @ y @ a^H = q``."""
    y = discrete_lyapunov(a, q, method)
    project_a, project_q = ProjectTo(a), ProjectTo(q)

    def discrete_lyapunov_pullback(ybar):
        qbar = discrete_lyapunov(adjoint(a), ybar, method)
        abar = qbar @ a @ adjoint(y) + adjoint(qbar) @ a @ y
        return pulled((project_a, abar), (project_q, qbar))

    return y, discrete_lyapunov_pullback


@composed(linalg.solve_discrete_lyapunov)
def solve_discrete_lyapunov(a, q, method=None):
    return discrete_lyapunov(a, q, method)
