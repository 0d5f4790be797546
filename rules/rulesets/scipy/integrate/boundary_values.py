"""solve_bvp: by the implicit function theorem, on the mesh that SciPy ended with.

The states ``y`` at the mesh, and the unknown parameters ``p``, are a root ``u`` of the equations of
collocation and the boundary conditions, ``r(u) = 0``, so ``udot = -J^-1 rdot``. That is what a step
of Newton's method with a constant matrix ``J`` does with the traced residual; each step makes one
more order of derivatives right. Source of the equations: Kierzenka and Shampine (2001).
"""

import functools

import numpy as np
from scipy import integrate, sparse
from scipy.sparse import linalg

from .....config import MissingRuleError, NoSolutionError, user_line
from .... import array_of, linear_rule, primitive, value, with_values
from ..interpolate.cubic import hermite_coefficients
from ..interpolate.piecewise import TracedPPoly
from .events import ORDERS
from .integrands import as_array, plainly, rebuilt, settling
from .solutions import solved_in_one_step


@primitive
def solved(b, factors, transposed=False):
    """Solve a linear system, or that of the adjoint, by the factors of its matrix."""
    return factors.solve(np.asarray(b, factors.L.dtype), "H" if transposed else "N")


@linear_rule(solved)
def solved_transpose(ybar, space, factors, transposed=False):
    return solved(ybar, factors, not transposed)


class Collocation:
    """The equations, for functions ``fun(x, y, p)`` and ``bc(ya, yb, p)``."""

    def __init__(self, fun, bc, x, shape):
        self.fun, self.bc, self.x, self.shape = fun, bc, x, shape

    def apart(self, u):
        """Return the states (n, m) and the parameters."""
        size = self.shape[0] * self.shape[1]
        return np.reshape(u[:size], self.shape), u[size:]

    def residual(self, u):
        """Shape: (n * (m - 1) + n + k,), the equations of collocation first."""
        y, p = self.apart(u)
        h = np.diff(self.x)
        f = self.fun(self.x, y, p)
        between = (y[:, 1:] + y[:, :-1]) / 2 - h / 8 * (f[:, 1:] - f[:, :-1])
        f_between = self.fun(self.x[:-1] + h / 2, between, p)
        found = y[:, 1:] - y[:, :-1] - h / 6 * (f[:, :-1] + f[:, 1:] + 4 * f_between)
        return np.concatenate([np.ravel(found), self.bc(y[:, 0], y[:, -1], p)])

    def jacobian(self, u):
        """By differences: columns of states at every third node are moved together."""
        n, m = self.shape
        r = self.residual(u)
        rows, columns, entries = [], [], []

        def add(moved, reached):
            """``reached``: for each moved column, the rows that it can change."""
            step = np.zeros_like(u)
            step[moved] = 1.5e-8 * (1 + np.abs(u[moved]))
            change = self.residual(u + step) - r
            for column, at in zip(moved, reached, strict=True):
                rows.append(at)
                columns.append(np.full(len(at), column))
                entries.append(change[at] / step[column])

        def equations(node):
            """Rows that a state at a node is in; the ends, which all conditions may ask, alone."""
            which = [i for i in (node - 1, node) if 0 <= i < m - 1]
            at = (np.arange(n)[:, None] * (m - 1) + which).ravel()
            ends = np.arange(n * (m - 1), len(u)) if node in (0, m - 1) else []
            return np.concatenate([at, ends]).astype(int)

        for i in range(n):
            for node in (0, m - 1):
                add([i * m + node], [equations(node)])
            for start in (1, 2, 3):
                inner = np.arange(start, m - 1, 3)
                add(i * m + inner, [equations(node) for node in inner])
        for column in range(n * m, len(u)):
            add([column], [np.arange(len(u))])
        parts = np.concatenate(entries), (np.concatenate(rows), np.concatenate(columns))
        return sparse.csc_array(parts, shape=(len(u), len(u)))


def with_parameters(fun, bc, has_p):
    """Return both functions as such of ``p``, which may be empty; lists as arrays."""

    def of_p(x, y, p):
        return as_array(fun(x, y, p) if has_p else fun(x, y))

    def conditions(ya, yb, p):
        return as_array(bc(ya, yb, p) if has_p else bc(ya, yb))

    return of_p, conditions


@functools.wraps(integrate.solve_bvp)
def solve_bvp(fun, bc, x, y, p=None, S=None, fun_jac=None, bc_jac=None, **options):  # noqa: N803
    build, parameters, traced = rebuilt("solve_bvp", (fun, bc, fun_jac, bc_jac), x, y, p, S)
    if not traced:
        return integrate.solve_bvp(fun, bc, x, y, p, S, fun_jac, bc_jac, **options)
    line = user_line()
    if S is not None:
        raise MissingRuleError(
            f"scipy.integrate.solve_bvp with a singular term S has no derivative, in {line}.\n"
            "  begin a little beside the singular point, with the condition of the series there"
        )
    given = fun, bc, x, y, p, S, fun_jac, bc_jac
    if (answer := solved_in_one_step(solve_bvp, *given, **options)) is not None:
        return answer
    has_p = p is not None

    def run(known, level):
        fun, bc, *jacobians = (
            plainly(f, (), "solve_bvp", line, level) if callable(f) else f for f in known
        )
        own = integrate.solve_bvp(fun, bc, value(x), value(y), value(p), None, *jacobians,
                                  **options)  # fmt: skip
        if own.status != 0:
            raise NoSolutionError(
                f"scipy.integrate.solve_bvp in {line} found no solution, and so there is no "
                f"derivative: {own.message}"
            )
        u = np.concatenate([own.y.ravel(), own.p if has_p else []])
        equations = Collocation(*with_parameters(fun, bc, has_p), own.x, own.y.shape)
        return own, u, factored(equations.jacobian(u), line)

    own, u, factors = build.run_plain(run, "scipy.integrate.solve_bvp")
    fun, bc, *_ = build(*parameters)
    x = array_of(x)
    share = (own.x - own.x[0]) / (own.x[-1] - own.x[0])
    mesh = with_values(x[0] + share * (x[-1] - x[0]), own.x)  # its ends may move
    equations = Collocation(*with_parameters(fun, bc, has_p), mesh, own.y.shape)
    for _ in range(ORDERS):
        u = u - solved(equations.residual(u), factors=factors)
    return with_derivatives(own, equations, u)


def factored(jacobian, line):
    try:
        return linalg.splu(jacobian)
    except RuntimeError as error:
        raise NoSolutionError(
            f"the solution of scipy.integrate.solve_bvp in {line} has no derivative: the boundary "
            "conditions do not determine it (the matrix of its equations is singular)"
        ) from error


def with_derivatives(own, equations, u):
    """Return SciPy's answer with derivatives."""
    result = type(own)(own)
    y, p = equations.apart(u)
    yp = equations.fun(equations.x, y, p)
    result.x = equations.x
    result.y, result.yp = with_values((y, yp), (own.y, own.yp))
    result.p = None if own.p is None else with_values(p, own.p)
    c = hermite_coefficients(result.x, np.transpose(y), np.transpose(yp))
    result.sol = TracedPPoly(with_values(c, own.sol.c), result.x, own.sol.extrapolate, own.sol.axis)
    return result


INSTEAD = {"solve_bvp": settling(solve_bvp)}
