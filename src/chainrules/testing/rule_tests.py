"""``test_frule``, ``test_rrule``, ``test_scalar``: a rule against differences and itself."""

# ruff: noqa: PT028 - testers, not tests: their parameters have defaults

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..config import RuleConfig, frule_via_ad, rrule_via_ad
from ..forward import ForwardConfig
from ..reverse import ReverseConfig
from ..rules import frule, rrule
from .adjoint import check_adjoint
from .arguments import primal_with_tangent
from .case import Case, Report
from .describe import short_name
from .errors import WrongDerivativeError
from .finite_differences import FiniteDifference
from .pullback_checks import Reverse
from .pushforward_checks import Pushforward
from .second_order import SecondOrder

__all__ = ["test_frule", "test_rrule", "test_scalar"]


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
        ``rrule_via_ad`` tests the engine.
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
    kwargs = _merged(kwargs, fkwargs)
    case = Case("test_rrule", f, args, kwargs, rtol=rtol, atol=atol, fdm=fdm, rng=rng, seed=seed)
    config = ReverseConfig() if config is None else config

    def run(items: tuple = case.items) -> Any:
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
            again = rrule_via_ad if rrule_f is rrule else rrule_f
            _check_second_reverse(case, again, config, reverse)
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
    kwargs = _merged(kwargs, fkwargs)
    case = Case("test_frule", f, args, kwargs, rtol=rtol, atol=atol, fdm=fdm, rng=rng, seed=seed)
    config = ForwardConfig() if config is None else config

    def push(tangents: tuple, items: tuple = case.items) -> Any:
        return case.within(lambda: frule_f(config, tangents, *items, **kwargs), "running the rule")

    forward = Pushforward(case, push, f"frule of {short_name(f)}")
    forward.check()
    if case.result.size and case.space.size:
        partner = rrule_via_ad if frule_f is frule_via_ad else rrule
        pair = partner(ReverseConfig(), *case.items, **kwargs)
        if pair is not None:
            reverse = Reverse(case, lambda: pair, f"rrule of {short_name(f)}")
            _, xbar = reverse.pull(reverse.start(), reverse.ybar)
            check_adjoint(case, push, reverse, xbar)
        if second_order:
            again = frule_via_ad if frule_f is frule else frule_f
            _check_second_forward(case, again, config)
    return case.report


def test_scalar(
    f: Any,
    x: Any,
    /,
    *,
    rtol: float | None = None,
    atol: float | None = None,
    fdm: FiniteDifference | None = None,
    fkwargs: dict | None = None,
    second_order: bool = True,
    **kwargs: Any,
) -> Report:
    """Test ``frule`` and ``rrule`` of a function of one number, with unit tangents.

    For a complex number the directions 1 and i are taken, for a complex output the cotangents 1
    and i, so that the whole real Jacobian of two rows and columns is covered both ways; and a
    real 1 must give what ``1 + 0j`` gives.

    Parameters
    ----------
    f : callable
        A function of one number, with both rules.
    x : float or complex
    rtol, atol, fdm, fkwargs, second_order, **kwargs
        As in ``test_rrule``.

    Raises
    ------
    RuleTestError
        As in ``test_rrule``.

    Examples
    --------
    >>> import numpy as np
    >>> report = test_scalar(np.sin, 0.7)
    >>> report = test_scalar(np.exp, 0.7 + 0.2j)
    """
    __tracebackhide__ = True
    kwargs = _merged(kwargs, fkwargs)
    options: dict = {"rtol": rtol, "atol": atol, "fdm": fdm, "fkwargs": kwargs}
    units = [1.0, 1j]
    y = f(x, **kwargs)
    for k, xdot in enumerate(units if np.iscomplexobj(x) else units[:1]):
        report = test_frule(
            f, primal_with_tangent(x, xdot), second_order=second_order and not k, **options
        )
    for k, ybar in enumerate(units if np.iscomplexobj(y) else units[:1]):
        at: dict = {"output_tangent": ybar, "second_order": second_order and not k}
        found = test_rrule(f, primal_with_tangent(x, units[0]), **at, **options)
        if np.iscomplexobj(x):
            test_rrule(f, primal_with_tangent(x, 1j), **at | {"second_order": False}, **options)
        report.checks += [check for check in found.checks if check not in report.checks]
    _check_real_units(f, x, y, kwargs)
    return report


# pytest collects what is called test_*, also where a test module only imports it.
for _test in (test_rrule, test_frule, test_scalar):
    _test.__test__ = False  # type: ignore[union-attr]


def _merged(kwargs: dict, fkwargs: dict | None) -> dict:
    """Keywords for ``f``, from both places."""
    twice = kwargs.keys() & (fkwargs or {}).keys()
    if twice:
        raise TypeError(f"the keyword {min(twice)!r} is given twice, once in fkwargs.")
    return {**kwargs, **(fkwargs or {})}


def _check_real_units(f: Any, x: Any, y: Any, kwargs: dict) -> None:
    """A real 1 as tangent or cotangent of a complex number is ``1 + 0j``."""
    __tracebackhide__ = True
    case = Case("test_scalar", f, (primal_with_tangent(x, 1.0),), kwargs)
    if np.iscomplexobj(x):
        dots = [
            frule(ForwardConfig(), (case.tangents[0], unit), f, x, **kwargs)
            for unit in (1.0, 1 + 0j)
        ]
        pair = [case.result.pack(dot[1]) for dot in dots if dot is not None]
        _same_units(case, pair, "frule", "tangent")
    found = rrule(ReverseConfig(), f, x, **kwargs)
    if np.iscomplexobj(y) and found is not None:
        pair = [case.space.pack(found[1](unit)) for unit in (1.0, 1 + 0j)]
        _same_units(case, pair, "rrule", "cotangent")


def _same_units(case: Case, pair: list[np.ndarray], rule: str, what: str) -> None:
    __tracebackhide__ = True
    if len(pair) == 2 and not np.allclose(pair[0], pair[1], rtol=case.rtol, atol=case.atol):
        raise case.failure(
            WrongDerivativeError,
            f"the {rule} of {short_name(case.f)} treats the {what} 1.0 unlike 1+0j.",
        )


def _check_second_reverse(case: Case, rule: Callable, config: Any, reverse: Reverse) -> None:
    __tracebackhide__ = True

    def cotangents(items: tuple) -> tuple:
        _, pullback = rule(config, *items, **case.kwargs)
        return pullback(reverse.ybar)

    SecondOrder(case, cotangents, case.space, case.entry_name, "reverse").check()


def _check_second_forward(case: Case, rule: Callable, config: Any) -> None:
    __tracebackhide__ = True

    def tangent(items: tuple) -> Any:
        return rule(config, case.tangents, *items, **case.kwargs)[1]

    def name(i: int) -> str:
        return "ydot" + case.result.name(i)

    SecondOrder(case, tangent, case.result, name, "forward").check()
