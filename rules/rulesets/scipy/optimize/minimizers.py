"""Minima: of functions of several unknowns, with and without constraints, and of one."""

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import optimize

from .....config import MissingRuleError, user_line
from .... import gradient_via_ad, jacobian_via_ad, with_values
from ...functions.implicit import Watched, settled
from .calls import Solved, SolverCall, follows, plain_part
from .constraints import Bounds, Conditions, LinearConstraint, bounds_of, parts_of, plain_bounds
from .results import Later, TracedResult
from .stationary import Constraint, stationary


def minimize(call: SolverCall) -> Any:
    """``minimize``, and the global optimisers that return a result with ``x`` and ``fun``."""
    name = "fun" if "fun" in call else "func"
    bounds, minimizer = call.get("bounds"), call.get("minimizer_kwargs") or {}
    conditions = Conditions(minimizer.get("constraints", call.get("constraints", ())))
    instead: dict = {}
    if bounds is not None:
        instead["bounds"] = plain_bounds(bounds)
    if conditions.read:
        instead["constraints"] = conditions.given
    if minimizer:
        parts = {part: plain_part(part, x) for part, x in minimizer.items()}
        if "constraints" in minimizer:
            parts["constraints"] = instead.pop("constraints", ())
        instead["minimizer_kwargs"] = parts
    inner = minimizer.get("args", ())
    solved = Solved(call, name, (parts_of(bounds), minimizer), **instead)
    config = solved.config or conditions.config
    if config is None:
        return solved.answer
    args = solved.args or (inner if isinstance(inner, tuple) else (inner,))
    pair = call.get("jac") is True or minimizer.get("jac") is True
    bounds = minimizer.get("bounds") if bounds is None else bounds
    held = (
        bounds_of(bounds)
        + conditions.read
        + _integers_held(call.get("integrality"), solved.answer.x)
    )
    return traced_result(
        solved.answer, first_of(solved.f) if pair else solved.f, args, config, held
    )


def _integers_held(integrality: Any, x: Any) -> tuple[Constraint, ...]:
    """Hold the unknowns that are whole numbers: nearby the answer has the same."""
    if integrality is None or not np.any(integrality):
        return ()
    whole = np.broadcast_to(np.asarray(integrality, bool), np.shape(x))
    return (Constraint(None, np.where(whole, x, -np.inf), np.where(whole, x, np.inf)),)


def first_of(f: Callable) -> Callable:
    """Return the first of the two results of ``f``, as a function: the other is a derivative."""

    def first(x: Any, *args: Any) -> Any:
        return f(x, *args)[0]

    return first


def traced_result(
    answer: Any, f: Callable, args: tuple, config: Any, held: tuple[Constraint, ...]
) -> Any:
    """Return SciPy's result, whose ``x``, ``fun`` and derivatives follow traced values."""
    x = stationary(f, answer.x, args, config, held)

    def number(x: Any) -> Any:
        return np.reshape(settled(f(x, *args)), ())

    def gradient(x: Any) -> Any:
        return gradient_via_ad(config, number, x)

    made: dict = {"x": x, "fun": Later(lambda: number(x))}
    # Of no constraints these are the derivatives of the function itself.
    if "jac" in answer and not isinstance(answer.jac, list):
        made["jac"] = Later(lambda: gradient(x))
    if "hess" in answer:
        made["hess"] = Later(lambda: jacobian_via_ad(config, gradient, x)[1])
    return TracedResult(answer, **made)


# ---- one unknown --------------------------------------------------------------------------------


def minimize_scalar(call: SolverCall) -> Any:
    bounds = call.get("bounds")
    solved = Solved(call, "fun", bounds)
    answer = solved.answer
    if not solved.traced:
        return answer
    x = _in_interval(solved, answer.x, bounds)
    fun = Later(lambda: _number(solved, x))
    return TracedResult(answer, x=x, fun=fun)


def _in_interval(solved: Solved, x: Any, bounds: Any) -> Any:
    def of_vector(x: Any, *args: Any) -> Any:
        return solved.f(x[0], *args)

    if bounds is None:
        found = stationary(solved.f, np.float64(1.0) * x, solved.args, solved.config)
    else:
        held = Constraint(None, *[np.reshape(b, 1) for b in bounds])
        start = np.reshape(np.float64(1.0) * x, 1)
        found = stationary(of_vector, start, solved.args, solved.config, (held,))[0]
    return with_values(found, x)


def fminbound(call: SolverCall) -> Any:
    bounds = call.get("x1"), call.get("x2")
    return _of_number(Solved(call, "func", bounds), bounds)


def by_bracket(call: SolverCall) -> Any:
    """``brent`` and ``golden``."""
    return _of_number(Solved(call, "func"), None)


def _of_number(solved: Solved, bounds: Any) -> Any:
    answer = solved.answer
    if not solved.traced:
        return answer
    if not isinstance(answer, tuple):
        return _in_interval(solved, answer, bounds)
    x = _in_interval(solved, answer[0], bounds)
    return x, with_values(_number(solved, x), answer[1]), *answer[2:]


# ---- older names --------------------------------------------------------------------------------


def older(call: SolverCall) -> Any:
    """``fmin`` and its kin: ``x``, or a tuple that begins with ``x`` and the minimum."""
    name = "f" if call.own.__name__ in ("fmin_bfgs", "fmin_cg", "fmin_ncg") else "func"
    bounds = call.get("bounds") or None
    solved = Solved(call, name, parts_of(bounds))
    answer = solved.answer
    if not solved.traced:
        return answer
    pairs = call.own.__name__ in ("fmin_l_bfgs_b", "fmin_tnc")
    pair = pairs and call.get("fprime") is None and not call.get("approx_grad")
    f = first_of(solved.f) if pair else solved.f
    own = answer[0] if isinstance(answer, tuple) else answer
    x = stationary(f, own, solved.args, solved.config, bounds_of(bounds))
    if not isinstance(answer, tuple):
        return x
    if call.own.__name__ == "fmin_tnc":
        return x, *answer[1:]
    rest = answer[2:]
    if any(isinstance(part, np.ndarray) and part.ndim for part in rest):
        raise MissingRuleError(
            f"{call.own.__name__} gave arrays that are made of its steps, which have no "
            f"derivative, in {user_line()}.\n  leave full_output out, or write minimize"
        )
    minimum = np.reshape(settled(f(x, *solved.args)), ())
    report = [TracedResult(part) if isinstance(part, dict) else part for part in rest]
    return x, with_values(minimum, answer[1]), *report


def fmin_slsqp(call: SolverCall) -> Any:
    equal, least = ("eqcons", "f_eqcons", 0.0), ("ieqcons", "f_ieqcons", np.inf)
    return _by_functions(call, [equal, least])


def fmin_cobyla(call: SolverCall) -> Any:
    return _by_functions(call, [("cons", None, np.inf)])


def _by_functions(call: SolverCall, kinds: list) -> Any:
    """Minimize under constraints that are functions: lists of them, or one that gives several."""
    own_args = call.get("consargs")
    args = call.args if own_args is None else own_args
    held: tuple[Constraint, ...] = ()
    instead: dict = {}
    watched: list[Watched] = []

    def watch(f: Callable, upper: float) -> Watched:
        nonlocal held
        held += (Constraint(lambda x: f(x, *args), 0.0, upper),)
        watched.append(Watched(f))
        return watched[-1]

    for several, one, upper in kinds:
        functions = call.get(several) or ()
        if callable(functions):
            instead[several] = watch(functions, upper)
        elif functions:
            instead[several] = [watch(f, upper) for f in functions]
        if one is not None and call.get(one) is not None:
            instead[one] = watch(call[one], upper)
    bounds = call.get("bounds") or None
    solved = Solved(call, "func", (bounds, args), **instead)
    answer = solved.answer
    config = next((f.config for f in watched if f.config), solved.config)
    if config is None:
        return answer
    held += bounds_of(bounds)
    own = answer[0] if isinstance(answer, tuple) else answer
    x = stationary(solved.f, own, solved.args, config, held)
    if not isinstance(answer, tuple):
        return x
    return x, with_values(_number(solved, x), answer[1]), *answer[2:]


def _number(solved: Solved, x: Any) -> Any:
    return np.reshape(settled(solved.f(x, *solved.args)), ())


def brute(call: SolverCall) -> Any:
    solved = Solved(call, "func", call.get("ranges"))
    answer = solved.answer
    if not solved.traced:
        return answer
    if call.get("finish", optimize.fmin) is None:
        raise MissingRuleError(
            f"brute without finish gives a point of its grid, in {user_line()}: it jumps, and has "
            "no derivative.\n  leave finish as it is, so that the minimum is found"
        )
    if not isinstance(answer, tuple):
        return stationary(solved.f, answer, solved.args, solved.config)
    x = stationary(solved.f, answer[0], solved.args, solved.config)
    return x, with_values(_number(solved, x), answer[1]), *answer[2:]


GLOBAL = ("basinhopping", "differential_evolution", "direct", "dual_annealing", "shgo")
OLDER = ("fmin", "fmin_bfgs", "fmin_cg", "fmin_l_bfgs_b", "fmin_ncg", "fmin_powell", "fmin_tnc")
INSTEAD: dict[str, Any] = {"Bounds": Bounds, "LinearConstraint": LinearConstraint}
INSTEAD |= {name: follows(getattr(optimize, name), minimize) for name in ("minimize", *GLOBAL)}
INSTEAD |= {name: follows(getattr(optimize, name), older) for name in OLDER}
INSTEAD |= {
    "minimize_scalar": follows(optimize.minimize_scalar, minimize_scalar),
    "fminbound": follows(optimize.fminbound, fminbound),
    "brent": follows(optimize.brent, by_bracket),
    "golden": follows(optimize.golden, by_bracket),
    "brute": follows(optimize.brute, brute),
    "fmin_slsqp": follows(optimize.fmin_slsqp, fmin_slsqp),
    "fmin_cobyla": follows(optimize.fmin_cobyla, fmin_cobyla),
}
