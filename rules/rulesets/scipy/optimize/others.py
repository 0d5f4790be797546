"""Assignments, regressions and test functions; and what is refused, with the reason."""

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import optimize

from .....config import MissingRuleError, user_line
from .... import array_of, composed, is_traced, non_differentiable, with_values
from .calls import Solved, SolverCall, follows, recorded_answer
from .results import TracedResult

# What they give are positions, or texts.
non_differentiable(
    optimize.linear_sum_assignment, optimize.show_options, optimize.linprog_verbose_callback
)


def quadratic_assignment(call: SolverCall) -> Any:
    answer = call.run()
    a, b = call.get("A"), call.get("B")
    if not is_traced((a, b)):
        return answer
    order = answer.col_ind
    moved = array_of(b)[order][:, order]
    return TracedResult(answer, fun=with_values(np.sum(array_of(a) * moved), answer.fun))


def isotonic_regression(call: SolverCall) -> Any:
    """Each block has the weighted mean of its entries."""
    answer = recorded_answer(call, {}) or call.run()
    y, weights = call.get("y"), call.get("weights")
    if not is_traced((y, weights)):
        return answer
    y = array_of(y)
    weights = np.ones(np.shape(y)) if weights is None else array_of(weights)
    starts, lengths = answer.blocks[:-1], np.diff(answer.blocks)
    total = np.add.reduceat(weights, starts)
    x = np.repeat(np.add.reduceat(weights * y, starts) / total, lengths)
    fields = {"x": with_values(x, answer.x), "weights": with_values(total, answer.weights)}
    return TracedResult(answer, **fields)


# ---- Rosenbrock's function ----------------------------------------------------------------------


def _as_float(x: Any) -> Any:
    x = array_of(x)
    return x if x.dtype.kind == "f" else x * 1.0


@composed(optimize.rosen, value="own")
def rosen_composed(x):
    x = _as_float(x)
    return np.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2, axis=0)


@composed(optimize.rosen_der, value="own")
def rosen_der_composed(x):
    x = _as_float(x)
    slope = x[1:] - x[:-1] ** 2
    first = np.concatenate([-400 * slope * x[:-1] - 2 * (1 - x[:-1]), 0 * x[:1]])
    return first + np.concatenate([0 * x[:1], 200 * slope])


@composed(optimize.rosen_hess, value="own")
def rosen_hess_composed(x):
    x = np.atleast_1d(_as_float(x))
    beside = np.diag(-400 * x[:-1], 1)
    ends = 1200 * x[:-1] ** 2 - 400 * x[1:] + 2
    diagonal = np.concatenate([ends, 0 * x[:1]]) + np.r_[0.0, np.full(np.size(x) - 1, 200.0)]
    return beside + np.transpose(beside) + np.diag(diagonal)


@composed(optimize.rosen_hess_prod, value="own")
def rosen_hess_prod_composed(x, p):
    return rosen_hess_composed(x) @ _as_float(p)


# ---- what is refused ----------------------------------------------------------------------------

LINEAR = (
    "its answer is a corner of the constraints, which jumps as the objective turns",
    "np.linalg.solve(A[held], b[held]) for the constraints that hold at the answer, or a strictly "
    "convex objective in minimize",
)
DIFFERENCES = ("it is a difference of numbers", "cr.grad(f)(x), or cr.jacobian(f)(x)")
STEPS = ("it depends on the steps of a search", "minimize, whose answer does not")
REFUSED = {
    "approx_fprime": DIFFERENCES,
    "bracket": STEPS,
    "check_grad": DIFFERENCES,
    "line_search": STEPS,
    "linprog": LINEAR,
    "milp": LINEAR,
}
# Parameters that are functions, which may capture what is traced.
FUNCTIONS = {"approx_fprime": "f", "bracket": "func", "check_grad": "func", "line_search": "f"}


def refusing(name: str) -> Callable:
    """Return what is SciPy's own where nothing is traced, and else says what to write."""
    reason, remedy = REFUSED[name]

    def refuse(call: SolverCall) -> Any:
        solved = Solved(call, FUNCTIONS[name], list(call.values()))
        if not solved.traced:
            return solved.answer
        raise MissingRuleError(
            f"scipy.optimize.{name} has no derivative: {reason}, in {user_line()}.\n"
            f"  write {remedy}"
        )

    return refuse


INSTEAD = {
    "quadratic_assignment": follows(optimize.quadratic_assignment, quadratic_assignment),
    "isotonic_regression": follows(optimize.isotonic_regression, isotonic_regression),
}
INSTEAD |= {name: follows(getattr(optimize, name), refusing(name)) for name in FUNCTIONS}
