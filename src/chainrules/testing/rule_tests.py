"""``test_frule`` and ``test_rrule``: a rule against finite differences and against itself."""

# ruff: noqa: PT028 - testers, not tests: their parameters have defaults

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..config import (
    ArgumentTypeError,
    HasForwardsMode,
    HasReverseMode,
    MissingRuleError,
    RuleConfig,
    frule_via_ad,
    rrule_via_ad,
)
from ..forward import ForwardConfig
from ..reverse import ReverseConfig
from ..rules import frule, rrule
from ..rules.table.keys import why_never_asked
from ..rules.tracing.funnel import is_imported
from .adjoint import check_adjoint
from .case import Case, Report
from .describe import short_name
from .finite_differences import FiniteDifference
from .pullback_checks import Reverse
from .pushforward_checks import PushforwardChecks
from .random_tangents import short_numbers
from .second_order import SecondOrder, check_value_is_followed

__all__ = ["merged", "test_frule", "test_rrule"]


def test_rrule(
    f: Any,
    /,
    *args: Any,
    rtol: float | None = None,
    atol: float | None = None,
    fdm: FiniteDifference | None = None,
    rng: np.random.Generator | None = None,
    seed: int = 0,
    output_tangent: Any = None,
    fkwargs: dict | None = None,
    config: RuleConfig | None = None,
    rrule_f: Callable = rrule,
    second_order: bool = True,
    check_thunks: bool = True,
    **kwargs: Any,
) -> Report:
    """Test the ``rrule`` of one call, against finite differences and against itself.

    The value is that of a plain call, in type, shape and dtype. The pullback returns a tuple
    of one cotangent for the function and one per argument, each of its argument's shape and
    dtype. They pair with a random direction as finite differences do, whose own error estimate
    sets the tolerance (a complex step takes their place where it agrees with them), and as the
    ``frule`` does, if there is one. The pullback is linear, gives the same when called again,
    takes a thunk, and changes nothing that it was given or returned. The second derivative, by
    either engine over the rule, agrees with differences of the first.

    Parameters
    ----------
    f : callable
        The function, a class, or an object that can be called, whose fields are then tested too.
    *args : Any
        The point. Floats, complex numbers, arrays of them, and containers of these are given a
        random tangent. Integers (also in arrays), flags, strings, None and functions are not
        perturbed; for integers the pullback may return a zero or any float64, for the others a
        zero. ``primal_with_tangent(x, xdot)`` chooses a tangent, also for an integer;
        ``primal_with_tangent(x, NoTangent())`` leaves an argument out of the comparison.
    rtol, atol : float, optional
        Tolerances, besides the estimated error of the differences. By default both are 1e-9,
        1e-4 or 2e-2, for float64, float32 and float16.
    fdm : FiniteDifference, optional
        Use this method alone, for example ``forward_fdm(5, 1)`` at the edge of a domain.
    rng, seed : numpy.random.Generator, int, optional
        Where random tangents come from. The seed is part of every failure message.
    output_tangent : Any, optional
        The cotangent of the output; random by default.
    fkwargs : dict, optional
        Keywords for ``f`` that this function uses itself (``rtol``, ``seed`` ...). All keywords
        that are not listed here go to ``f`` anyway.
    config : RuleConfig, optional
        Handed to the rule; ``ReverseConfig()`` by default, so that rules may call back into AD.
    rrule_f : callable, optional
        Called as ``rrule_f(config, f, *args, **kwargs)`` instead of ``rrule``;
        ``rrule_via_ad`` tests the engine, and functions imported from another library.
    second_order : bool
        Whether to differentiate the pullback again.
    check_thunks : bool
        Whether the pullback is also called with ``thunk(lambda: ybar)``.

    Returns
    -------
    Report
        What was checked, and what could not be (entries marked ``not_implemented``).

    Raises
    ------
    RuleTestError
        An ``AssertionError``: it names the argument and the entry, what was expected, what came
        instead and by how much it is off.

    Examples
    --------
    >>> import numpy as np
    >>> report = test_rrule(np.multiply, 2.0, np.array([1.0, 3.0]))
    >>> report = test_rrule(np.sum, np.ones((2, 3)), axis=0)
    """
    __tracebackhide__ = True
    kwargs = merged(kwargs, fkwargs)
    case = Case("test_rrule", f, args, kwargs, rtol=rtol, atol=atol, fdm=fdm, rng=rng, seed=seed)
    config = ReverseConfig() if config is None else config
    if rrule_f is rrule and is_imported(f):
        rrule_f = rrule_via_ad
    if rrule_f is rrule:
        _note_if_never_asked(case)

    def run(items: tuple) -> Any:
        return case.within(lambda: rrule_f(config, *items, **kwargs), "running the rule")

    reverse = Reverse(case, run, f"rrule of {short_name(f)}", output_tangent)
    xbar = reverse.check(check_thunks)
    if case.result.size and case.space.size:
        partner = frule_via_ad if rrule_f is rrule_via_ad else frule

        def push(tangents: tuple) -> Any:
            return case.within(
                lambda: partner(ForwardConfig(), tangents, *case.items, **kwargs),
                "running the frule",
            )

        check_adjoint(case, push, reverse, xbar)
        if second_order and not np.any(reverse.missing):
            via_ad = rrule_f is rrule and isinstance(config, HasReverseMode)
            again = rrule_via_ad if via_ad else rrule_f
            _check_second_reverse(case, again, config, reverse, xbar)
    wide = case.in_float64() if case.result.size and case.space.size else None
    if wide is not None:
        # Differences of float32 are good to four digits; a wrong formula shows in float64.
        options: dict = {"rtol": rtol, "atol": atol, "fdm": fdm, "rng": rng, "seed": seed}
        options |= {"fkwargs": kwargs, "config": config, "rrule_f": rrule_f}
        options["output_tangent"] = case.result.tangent(reverse.seed, keep_dtype=False)
        options |= {"second_order": second_order, "check_thunks": check_thunks}
        test_rrule(case.f, *wide[1:], **options)
        case.report.checks.append("again in float64")
    return case.report


def test_frule(
    f: Any,
    /,
    *args: Any,
    rtol: float | None = None,
    atol: float | None = None,
    fdm: FiniteDifference | None = None,
    rng: np.random.Generator | None = None,
    seed: int = 0,
    fkwargs: dict | None = None,
    config: RuleConfig | None = None,
    frule_f: Callable = frule,
    second_order: bool = True,
    **kwargs: Any,
) -> Report:
    """Test the ``frule`` of one call, against finite differences and against itself.

    The value is that of a plain call; the tangent of the output has its shape and dtype and is
    what differences along the tangents of the arguments give, entry by entry; it is linear in
    the tangents, also where engines put ``ZeroTangent()`` for some; nothing is written into;
    it pairs with the cotangents of the ``rrule``, if there is one; and both engines
    differentiate it again.

    Parameters
    ----------
    f, *args, rtol, atol, fdm, rng, seed, fkwargs, second_order, **kwargs
        As in ``test_rrule``.
    config : RuleConfig, optional
        Handed to the rule; ``ForwardConfig()`` by default.
    frule_f : callable, optional
        Called as ``frule_f(config, tangents, f, *args, **kwargs)`` instead of ``frule``;
        ``frule_via_ad`` tests the engine.

    Returns
    -------
    Report

    Raises
    ------
    RuleTestError
        As in ``test_rrule``.

    Examples
    --------
    >>> import numpy as np
    >>> report = test_frule(np.hypot, 3.0, 4.0)
    """
    __tracebackhide__ = True
    kwargs = merged(kwargs, fkwargs)
    case = Case("test_frule", f, args, kwargs, rtol=rtol, atol=atol, fdm=fdm, rng=rng, seed=seed)
    config = ForwardConfig() if config is None else config
    if frule_f is frule and is_imported(f):
        frule_f = frule_via_ad
    if frule_f is frule:
        _note_if_never_asked(case)

    def push(tangents: tuple) -> Any:
        return case.within(
            lambda: frule_f(config, tangents, *case.items, **kwargs), "running the rule"
        )

    forward = PushforwardChecks(case, push, f"frule of {short_name(f)}")
    ydot = forward.check()
    if case.result.size and case.space.size:
        partner = rrule_via_ad if frule_f is frule_via_ad else rrule
        try:
            pair = partner(ReverseConfig(), *case.items, **kwargs)
        except MissingRuleError as error:
            case.report.skipped.append(f"forward against reverse: {str(error).splitlines()[0]}")
            pair = None
        if pair is not None:
            reverse = Reverse(case, lambda items: pair, f"rrule of {short_name(f)}")
            _, xbar = reverse.pull(reverse.start(), reverse.ybar)
            check_adjoint(case, push, reverse, xbar)
        if second_order:
            via_ad = frule_f is frule and isinstance(config, HasForwardsMode)
            again = frule_via_ad if via_ad else frule_f
            _check_second_forward(case, again, config, ydot)
    wide = case.in_float64() if case.result.size and case.space.size else None
    if wide is not None:
        options: dict = {"rtol": rtol, "atol": atol, "fdm": fdm, "rng": rng, "seed": seed}
        options |= {"fkwargs": kwargs, "config": config, "frule_f": frule_f}
        test_frule(case.f, *wide[1:], second_order=second_order, **options)
        case.report.checks.append("again in float64")
    return case.report


# pytest collects what is called test_*, also where a test module only imports it.
for _test in (test_rrule, test_frule):
    _test.__test__ = False  # type: ignore[union-attr]


def merged(kwargs: dict, fkwargs: dict | None) -> dict:
    """Keywords for ``f``, from both places."""
    twice = kwargs.keys() & (fkwargs or {}).keys()
    if twice:
        raise ArgumentTypeError(f"the keyword {min(twice)!r} is given twice, once in fkwargs.")
    return {**kwargs, **(fkwargs or {})}


def _note_if_never_asked(case: Case) -> None:
    reason = why_never_asked(case.f)
    if reason:
        case.report.notes.append(f"this rule is {reason}")


def _check_second_reverse(
    case: Case, rule: Callable, config: Any, reverse: Reverse, xbar: np.ndarray
) -> None:
    __tracebackhide__ = True

    def cotangents(items: tuple, keep_dtype: bool = True) -> tuple:
        _, pullback = rule(config, *items, **case.kwargs)
        return pullback(case.result.tangent(reverse.seed, keep_dtype=keep_dtype))

    def value(items: tuple) -> Any:
        return rule(config, *items, **case.kwargs)[0]

    SecondOrder(case, cotangents, case.space, case.entry_name, "reverse").check()
    xdot = case.xdot
    check_value_is_followed(case, value, "reverse", reverse.seed, xdot, xbar * xdot)


def _check_second_forward(case: Case, rule: Callable, config: Any, ydot: np.ndarray) -> None:
    __tracebackhide__ = True

    def tangent(items: tuple, keep_dtype: bool = True) -> Any:
        tangents = case.space.tangents(case.xdot, keep_dtype=keep_dtype)
        return rule(config, tangents, *items, **case.kwargs)[1]

    def value(items: tuple) -> Any:
        tangents = case.space.tangents(case.xdot, keep_dtype=True)
        return rule(config, tangents, *items, **case.kwargs)[0]

    def name(i: int) -> str:
        return "ydot" + case.result.name(i)

    second = SecondOrder(case, tangent, case.result, name, "forward")
    second.check()
    # What is not implemented is left out of the sum.
    seed = np.where(second.compared, short_numbers(case.result.size, case.rng), 0.0)
    check_value_is_followed(
        case, value, "forward", seed, case.xdot, seed * np.where(second.compared, ydot, 0.0)
    )
