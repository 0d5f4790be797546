"""Least squares: the cost is least, with its full Hessian, not that of Gauss and Newton."""

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import optimize, sparse

from .....config import MissingRuleError, user_line
from .... import array_of, gradient_via_ad, is_traced, jacobian_via_ad, value, with_values
from ...functions.closures import TakenOut
from ...functions.equations import singular
from ...functions.implicit import Watched, config_of, settled
from ...linalg.pseudo_inverses import least_squares_solution
from .calls import Solved, SolverCall, follows, recorded_answer
from .constraints import between, parts_of, plain_bounds
from .results import Later, TracedResult
from .stationary import Constraint, half_square, holding, stationary

# rho(z) of z = (r / scale)**2, by SciPy's names.
LOSSES: dict[str, Callable] = {
    "soft_l1": lambda z: 2 * (np.sqrt(1 + z) - 1),
    "huber": lambda z: np.where(z <= 1, z, 2 * np.sqrt(np.where(z <= 1, 1.0, z)) - 1),
    "cauchy": np.log1p,
    "arctan": np.arctan,
}


def least_squares(call: SolverCall) -> Any:
    bounds, kwargs = call.get("bounds"), call.get("kwargs") or {}
    loss, scale = call.get("loss", "linear"), call.get("f_scale", 1.0)
    instead: dict = {} if bounds is None else {"bounds": plain_bounds(bounds)}
    watched_loss = Watched(loss) if callable(loss) else None
    if watched_loss is not None:
        instead["loss"] = watched_loss
    beside = (kwargs, scale, parts_of(bounds))
    solved = Solved(call, "fun", beside, **instead)
    answer, args = solved.answer, solved.args
    config = solved.config or getattr(watched_loss, "config", None)
    if config is None:
        return answer

    def residual(x: Any, *args: Any) -> Any:
        return np.reshape(array_of(settled(solved.f(x, *args, **kwargs))), -1)

    if loss == "linear":
        cost = half_square(residual)
    else:
        rho = LOSSES[loss] if isinstance(loss, str) else lambda z: settled(loss(z))[0]

        def cost(x: Any, *args: Any) -> Any:
            r = residual(x, *args)
            return scale**2 * np.sum(rho((r / scale) ** 2)) / 2

    x = stationary(cost, answer.x, args, config, () if bounds is None else between(bounds))
    made = {
        "x": x,
        "cost": Later(lambda: cost(x, *args)),
        "fun": Later(lambda: residual(x, *args)),
        "grad": Later(lambda: gradient_via_ad(config, lambda x: cost(x, *args), x)),
    }
    if loss == "linear" and isinstance(answer.jac, np.ndarray):
        made["jac"] = Later(lambda: jacobian_via_ad(config, lambda x: residual(x, *args), x)[1])
    return TracedResult(answer, **made)


def leastsq(call: SolverCall) -> Any:
    solved = Solved(call, "func")
    if not solved.traced:
        return solved.answer
    f, args = solved.f, solved.args
    own, *rest = solved.answer
    x = stationary(half_square(f), own, args, solved.config)
    if len(rest) == 1:
        return x, *rest
    cov_x, info, *rest = rest

    def residual(x: Any) -> Any:
        return np.reshape(array_of(settled(f(x, *args))), -1)

    fvec = Later(lambda: residual(x))
    cov = cov_x
    if cov_x is not None:
        cov = with_values(inverse_gram(solved.config, residual, x), cov_x)
    return x, cov, TracedResult(info, fvec=fvec), *rest


def inverse_gram(config: Any, residual: Callable, x: Any) -> Any:
    """Return the inverse of ``j.T @ j``, with j the Jacobian of the residual at ``x``."""
    jacobian = jacobian_via_ad(config, residual, x)[1]
    return np.linalg.inv(np.transpose(jacobian) @ jacobian)


# ---- fits of curves -----------------------------------------------------------------------------


def curve_fit(call: SolverCall) -> Any:
    f, bounds = call.get("f"), call.get("bounds")
    watched = Watched(f)  # type: ignore[arg-type]
    data = [call.get(name) for name in ("xdata", "ydata", "sigma")]
    instead: dict = {} if bounds is None else {"bounds": plain_bounds(bounds)}
    if "f" in call:
        if call.get("p0") is None and not isinstance(f, type):
            watched.__wrapped__ = f  # type: ignore[attr-defined]  # SciPy reads its signature
        instead["f"] = watched
    answer = recorded_answer(call, instead)
    if answer is None:
        answer = call.run(**instead)
        config = watched.config or config_of((data, parts_of(bounds)))
    else:
        config = config_of(TakenOut((f, data, parts_of(bounds))).parameters)
    if config is None:
        return answer
    own, own_cov, *rest = answer
    if call.get("loss", "linear") != "linear":
        raise MissingRuleError(
            f"curve_fit with a loss has no derivative: no rule yet, in {user_line()}.\n"
            "  write least_squares, which has"
        )
    whiten, x, y = _weighed(data, call.get("nan_policy"))

    def residual(p: Any) -> Any:
        return whiten(np.reshape(array_of(settled(f(x, *p))), -1) - y)  # type: ignore[misc]

    held = () if bounds is None else between(bounds)
    p = stationary(half_square(residual), own, (), config, held)
    cov = own_cov
    if np.all(np.isfinite(own_cov)):
        cov = inverse_gram(config, residual, p)
        if not call.get("absolute_sigma", False):
            r = residual(p)
            cov = cov * (np.sum(r * r) / (np.size(r) - np.size(p)))
        cov = with_values(cov, own_cov)
    if not rest:
        return p, cov
    info, *rest = rest
    fvec = Later(lambda: residual(p))
    return p, cov, TracedResult(info, fvec=fvec), *rest


def _weighed(data: list, nan_policy: Any) -> tuple[Callable, Any, Any]:
    """Return what divides residuals by their errors, and the data that count."""
    x, y, errors = data
    x, y = array_of(x) if isinstance(x, list | tuple) else x, array_of(y)
    sigma: Any = array_of(1.0 if errors is None else errors)
    if nan_policy == "omit":
        missing = np.isnan(value(x))
        kept = ~(np.any(missing, tuple(range(missing.ndim - 1))) | np.isnan(value(y)))
        x, y = x[..., kept], y[kept]
        if np.size(sigma) > 1:
            sigma = sigma[kept] if np.ndim(sigma) == 1 else sigma[kept][:, kept]
    if errors is None:
        return lambda r: r, x, y
    if np.size(sigma) == 1 or np.ndim(sigma) == 1:
        return lambda r: r / sigma, x, y
    lower = np.linalg.cholesky(sigma)
    return lambda r: np.linalg.solve(lower, r), x, y


# ---- linear least squares -----------------------------------------------------------------------


def lsq_linear(call: SolverCall) -> Any:
    bounds = call.get("bounds")
    plain = {} if bounds is None else {"bounds": plain_bounds(bounds)}
    answer = recorded_answer(call, plain) or call.run(**plain)
    if not is_traced((call.get("A"), call.get("b"), parts_of(bounds))):
        return answer
    a, b = _system(call)
    (held,) = (Constraint(None, -np.inf, np.inf),) if bounds is None else between(bounds)
    x = bounded_linear(a, b, answer.x, held)
    made = {
        "x": x,
        "fun": Later(lambda: a @ x - b),
        "cost": Later(lambda: np.sum((a @ x - b) ** 2) / 2),
    }
    return TracedResult(answer, **made)


def nnls(call: SolverCall) -> Any:
    answer = recorded_answer(call, {}) or call.run()
    if not is_traced((call.get("A"), call.get("b"))):
        return answer
    a, b = _system(call)
    x = bounded_linear(a, b, answer[0], Constraint(None, 0.0, np.inf))
    return x, with_values(np.linalg.norm(a @ x - b), answer[1])


def bounded_linear(a: Any, b: Any, own: Any, bounds: Constraint) -> Any:
    """Return the answer ``own`` of ``min |a @ x - b|`` with its derivatives.

    The unknowns that a bound holds are the bound; the others are least squares of what is left.
    """
    plain_a, size = value(a), np.shape(own)
    lower, upper = (np.broadcast_to(value(bound), size) for bound in bounds[1:])
    gradient = plain_a.T @ (plain_a @ own - value(b))
    curvature = np.sum(plain_a**2, axis=0)
    at_lower = holding(own - lower, gradient, curvature, own)
    at_upper = holding(upper - own, -gradient, curvature, own)
    free = ~(at_lower | at_upper)
    if np.linalg.matrix_rank(plain_a[:, free]) < np.count_nonzero(free):
        raise singular("the matrix of the unknowns that no bound holds has not full rank")
    ends = [np.broadcast_to(bound, size) for bound in bounds[1:]]
    fixed = np.where(at_lower, ends[0], np.where(at_upper, ends[1], 0.0))
    if is_traced(fixed) or np.any(fixed):
        b = b - a @ fixed
    if np.all(free):
        return least_squares_solution(a, b, own)
    rest = least_squares_solution(a[:, free], b, own[free])
    return with_values(fixed + np.eye(np.size(own))[:, free] @ rest, own)


def _system(call: SolverCall) -> tuple[Any, Any]:
    a, b = call["A"], array_of(call["b"])
    if isinstance(a, sparse.linalg.LinearOperator):
        raise MissingRuleError(
            f"lsq_linear of an operator has no derivative, in {user_line()}.\n"
            "  write the matrix itself: A @ np.eye(n)"
        )
    return a.toarray() if sparse.issparse(a) else array_of(a), b


INSTEAD = {
    "least_squares": follows(optimize.least_squares, least_squares),
    "leastsq": follows(optimize.leastsq, leastsq),
    "curve_fit": follows(optimize.curve_fit, curve_fit),
    "lsq_linear": follows(optimize.lsq_linear, lsq_linear),
    "nnls": follows(optimize.nnls, nnls),
}
