"""Roots of one equation in one unknown, and of many such equations side by side."""

from typing import Any

import numpy as np
from scipy import optimize

from .... import with_values
from ...functions.implicit import are_apart, difference, entrywise, solution
from .calls import Solved, SolverCall, follows
from .results import TracedResult
from .root_loops import root_by_loop


def bracketed(call: SolverCall) -> Any:
    """``brentq`` and its kin: a number, or with ``full_output`` a pair of it and a report."""
    x = root_by_loop(call, "f")
    return _root(Solved(call, "f"), solution) if x is None else solution(call["f"], x, call.args)


def newton(call: SolverCall) -> Any:
    """``newton``: of an array, each entry has an equation of its own."""
    x = root_by_loop(call, "func")
    if x is not None:
        return solution(call["func"], x, call.args)
    return _root(Solved(call, "func"), _of_entries)


def _of_entries(f: Any, x: Any, args: tuple, config: Any) -> Any:
    several = np.ndim(x) > 0 and x.dtype.kind == "f" and are_apart(f, x, args, config)
    return (entrywise if several else solution)(f, x, args, config)


def _root(solved: Solved, solve: Any) -> Any:
    answer = solved.answer
    if not solved.traced:
        return answer
    if not isinstance(answer, tuple):
        return solve(solved.f, answer, solved.args, solved.config)
    x = solve(solved.f, answer[0], solved.args, solved.config)
    if hasattr(answer, "_replace"):  # of arrays
        return answer._replace(root=x)
    return x, TracedResult(answer[1], root=x)


def root_scalar(call: SolverCall) -> Any:
    solved = Solved(call, "f")
    if not solved.traced:
        return solved.answer
    several = any(call.get(name) is True for name in ("fprime", "fprime2"))

    def residual(x: Any, *args: Any) -> Any:
        return solved.f(x, *args)[0] if several else solved.f(x, *args)

    x = solution(residual, solved.answer.root, solved.args, solved.config)
    return TracedResult(solved.answer, root=x)


def fixed_point(call: SolverCall) -> Any:
    solved = Solved(call, "func")
    if not solved.traced:
        return solved.answer
    x = solution(difference(solved.f), solved.answer, solved.args, solved.config)
    return with_values(x, solved.answer)


INSTEAD = {
    name: follows(getattr(optimize, name), bracketed)
    for name in ("bisect", "brenth", "brentq", "ridder", "toms748")
}
INSTEAD["newton"] = follows(optimize.newton, newton)
INSTEAD["root_scalar"] = follows(optimize.root_scalar, root_scalar)
INSTEAD["fixed_point"] = follows(optimize.fixed_point, fixed_point)
