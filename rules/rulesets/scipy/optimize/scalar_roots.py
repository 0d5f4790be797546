"""Roots of one equation in one unknown, and of many such equations side by side."""

from typing import Any

import numpy as np
from scipy import optimize

from .... import is_traced
from ...arrays.numpys_own import with_values
from ...functions.implicit import Watched, difference, entrywise, solution
from .calls import as_tuple, follows, plain_call
from .results import TracedResult


def bracketed(own: Any, call: dict) -> Any:
    """``brentq`` and its kin: a number, or with ``full_output`` a pair of it and a report."""
    return _followed(own, call, "f", solution)


def newton(own: Any, call: dict) -> Any:
    """``newton``: of an array, each entry has an equation of its own."""
    return _followed(own, call, "func", _of_entries)


def _of_entries(f: Any, x: Any, args: tuple) -> Any:
    complex_or_number = np.ndim(x) == 0 or x.dtype.kind != "f"
    return (solution if complex_or_number else entrywise)(f, x, args)


def _followed(own: Any, call: dict, name: str, solve: Any) -> Any:
    f, args = call.get(name), as_tuple(call.get("args", ()))
    watched = Watched(f)  # type: ignore[arg-type]
    answer = own(**plain_call(call, **{name: watched}))
    if not (watched.traced or is_traced(args)):
        return answer
    if not isinstance(answer, tuple):
        return solve(f, answer, args)
    x = solve(f, answer[0], args)
    if hasattr(answer, "_replace"):  # of arrays
        return answer._replace(root=x)
    return x, TracedResult(answer[1], root=x)


def root_scalar(own: Any, call: dict) -> Any:
    f, args = call.get("f"), as_tuple(call.get("args", ()))
    watched = Watched(f)  # type: ignore[arg-type]
    answer = own(**plain_call(call, f=watched))
    if not (watched.traced or is_traced(args)):
        return answer
    several = any(call.get(name) is True for name in ("fprime", "fprime2"))

    def residual(x: Any, *args: Any) -> Any:
        return f(x, *args)[0] if several else f(x, *args)  # type: ignore[misc]

    return TracedResult(answer, root=solution(residual, answer.root, args))


def fixed_point(own: Any, call: dict) -> Any:
    f, args = call.get("func"), as_tuple(call.get("args", ()))
    watched = Watched(f)  # type: ignore[arg-type]
    x = own(**plain_call(call, func=watched))
    if not (watched.traced or is_traced(args)):
        return x
    return with_values(solution(difference(f), x, args), x)  # type: ignore[arg-type]


INSTEAD = {
    name: follows(getattr(optimize, name), bracketed)
    for name in ("bisect", "brenth", "brentq", "ridder", "toms748")
}
INSTEAD["newton"] = follows(optimize.newton, newton)
INSTEAD["root_scalar"] = follows(optimize.root_scalar, root_scalar)
INSTEAD["fixed_point"] = follows(optimize.fixed_point, fixed_point)
