"""Roots of systems of equations."""

from typing import Any

import numpy as np
from scipy import optimize

from .... import array_of
from ...functions.implicit import settled, solution
from .calls import Solved, SolverCall, follows
from .results import Later, TracedResult
from .stationary import half_square, stationary


def root(call: SolverCall) -> Any:
    solved = Solved(call, "fun")
    answer = solved.answer
    if not solved.traced:
        return answer

    def residual(x: Any, *args: Any) -> Any:
        return solved.f(x, *args)[0] if call.get("jac") is True else solved.f(x, *args)

    # Of more equations than unknowns it is what is nearest to a root.
    square = np.size(answer.fun) == np.size(answer.x)
    solve = solution if square else stationary
    x = solve(residual if square else half_square(residual), answer.x, solved.args, solved.config)
    fun = Later(lambda: array_of(settled(residual(x, *solved.args))))
    return TracedResult(answer, x=x, fun=fun)


def fsolve(call: SolverCall) -> Any:
    solved = Solved(call, "func")
    if not solved.traced:
        return solved.answer
    f, args, config = solved.f, solved.args, solved.config
    if not isinstance(solved.answer, tuple):
        return solution(f, solved.answer, args, config)
    found, info, *rest = solved.answer
    x = solution(f, found, args, config)
    fvec = Later(lambda: array_of(settled(f(x, *args))))
    return x, TracedResult(info, fvec=fvec), *rest


def by_iteration(call: SolverCall) -> Any:
    """``broyden1`` and its kin, whose functions have no further arguments."""
    solved = Solved(call, "F")
    answer = solved.answer
    if not solved.traced:
        return answer
    if isinstance(answer, tuple):
        return solution(solved.f, answer[0], (), solved.config), *answer[1:]
    return solution(solved.f, answer, (), solved.config)


ITERATIONS = (
    "anderson", "broyden1", "broyden2", "diagbroyden", "excitingmixing", "linearmixing",
    "newton_krylov",
)  # fmt: skip
INSTEAD = {name: follows(getattr(optimize, name), by_iteration) for name in ITERATIONS}
INSTEAD |= {"root": follows(optimize.root, root), "fsolve": follows(optimize.fsolve, fsolve)}
