"""``check_grad``: one line that checks the derivatives of a user's own function, with a verdict."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..forward import jvp
from ..reverse import grad, vjp
from ..rules import NoTangent
from .adjoint import check_adjoint
from .arguments import primal_with_tangent
from .case import Case, Report
from .errors import UndecidedError
from .finite_differences import FiniteDifference
from .pullback_checks import Reverse
from .pushforward_checks import PushforwardChecks
from .rule_tests import merged
from .second_order import SecondOrder
from .structure import value_complaint

__all__ = ["check_grad"]


def check_grad(
    f: Callable,
    /,
    *args: Any,
    rtol: float | None = None,
    atol: float | None = None,
    fdm: FiniteDifference | None = None,
    rng: np.random.Generator | None = None,
    seed: int = 0,
    output_tangent: Any = None,
    fkwargs: dict | None = None,
    second_order: bool = True,
    **kwargs: Any,
) -> Report:
    """Check ``jvp`` and ``vjp`` (and so ``grad``) of a function at a point.

    Both modes are compared with adaptive finite differences along a random direction, with each
    other, and differentiated once more. Where the function has a kink, any derivative between
    the one-sided ones will do, and a note in the report says so.

    Parameters
    ----------
    f : callable
        Returns a number, an array, or a container of these; it need not be a scalar.
    *args : Any
        The point. Integers, flags and strings are not differentiated; leave an argument out
        with ``primal_with_tangent(x, NoTangent())``.
    rtol, atol, fdm, rng, seed, output_tangent, fkwargs, second_order, **kwargs
        As in ``test_rrule``.

    Returns
    -------
    Report
        Print it to see what was checked.

    Raises
    ------
    WrongDerivativeError
        Which argument and entry, what was expected, what came instead; and whether the function
        looks noisy, kinked or random there.
    UndecidedError
        If differences cannot tell: the function is random, noisy, or at an edge of its domain.

    Examples
    --------
    >>> import numpy as np
    >>> def loss(w, x):
    ...     return np.sum(np.sin(w * x) ** 2)
    >>> report = check_grad(loss, np.array([1.0, 2.0]), 0.5)
    """
    __tracebackhide__ = True
    kwargs = merged(kwargs, fkwargs)
    # What the function holds is not differentiated here, only its arguments.
    function = primal_with_tangent(f, NoTangent())
    case = Case(
        "check_grad",
        function,
        args,
        kwargs,
        rtol=rtol,
        atol=atol,
        fdm=fdm,
        rng=rng,
        seed=seed,
        lenient=True,
    )
    _check_repeatable(case)
    if not case.space.leaves or not case.result.leaves:
        raise UndecidedError(
            f"{case.report.call} has no derivative to check: "
            + ("its result is not" if case.space.leaves else "no argument is")
            + " a float, a complex number, or an array or container of these.\n"
            "  write 2.0 for 2, or primal_with_tangent(2, 1.0) to count an integer as real"
        )
    name = case.report.call.split("(")[0]

    def push(tangents: tuple) -> tuple:
        return case.within(lambda: _jvp(kwargs, tangents, case.items), "running jvp")

    def pull(items: tuple) -> tuple:
        return case.within(lambda: _vjp(kwargs, items), "running vjp")

    PushforwardChecks(case, push, f"jvp of {name}").check()
    reverse = Reverse(case, pull, f"vjp of {name}", output_tangent)
    xbar = reverse.check(thunks=False)
    check_adjoint(case, push, reverse, xbar)
    if isinstance(case.y, float | np.floating):
        _check_grad_itself(case, reverse)
    if second_order:

        def cotangents(items: tuple, keep_dtype: bool = True) -> tuple:
            ybar = case.result.tangent(reverse.seed, keep_dtype=keep_dtype)
            return _vjp(kwargs, items)[1](ybar)

        SecondOrder(case, cotangents, case.space, case.entry_name, "reverse").check()
    case.report.checks = list(dict.fromkeys(case.report.checks))
    return case.report


def _jvp(kwargs: dict, tangents: tuple, items: tuple) -> tuple:
    f, *args = items
    return jvp(lambda *primals: f(*primals, **kwargs), tuple(args), tuple(tangents[1:]))


def _vjp(kwargs: dict, items: tuple) -> tuple:
    f, *args = items
    y, pullback = vjp(lambda *primals: f(*primals, **kwargs), *args)
    return y, lambda ybar: (NoTangent(), *pullback(ybar))


def _check_grad_itself(case: Case, reverse: Reverse) -> None:
    """``grad`` is the pullback of 1, for every argument that counts."""
    __tracebackhide__ = True
    f, *args = case.items
    used = [case.slice_of(1 + i) for i in range(len(args))]
    argnums = tuple(i for i, at in enumerate(used) if at.stop > at.start)
    gradient = grad(lambda *primals: f(*primals, **case.kwargs), argnums=argnums)
    found = case.within(lambda: gradient(*args), "running grad")
    pieces: list[Any] = [NoTangent()] * (1 + len(args))
    for i, xbar in zip(argnums, found, strict=True):
        pieces[1 + i] = xbar
    _, ones = reverse.pull(reverse.start(), case.result.tangent(np.ones(1)))
    reverse.equal(ones, case.space.pack(tuple(pieces)), "is not what grad gives")
    case.report.checks.append("grad")


def _check_repeatable(case: Case) -> None:
    """A function that gives something else each time has no derivative to speak of."""
    __tracebackhide__ = True
    again = case.call(case.space.point(case.space.values(), keep_dtype=True))
    complaint = value_complaint(again, case.y, "y", 0.0)
    if complaint:
        raise case.failure(
            UndecidedError,
            "two calls of the function with the same arguments differ: is it random?",
            complaint,
            "seed the generator inside the function, or pass random numbers as an argument",
        )
