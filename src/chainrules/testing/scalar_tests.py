"""``test_scalar``: both rules of a function of one number, with unit tangents."""

# ruff: noqa: PT028 - a tester, not a test: its parameters have defaults

from __future__ import annotations

from typing import Any

import numpy as np

from ..forward import ForwardConfig
from ..reverse import ReverseConfig
from ..rules import frule, rrule
from .arguments import primal_with_tangent
from .case import Case, Report
from .describe import short_name
from .errors import WrongDerivativeError
from .finite_differences import FiniteDifference
from .rule_tests import merged, test_frule, test_rrule

__all__ = ["test_scalar"]


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
    kwargs = merged(kwargs, fkwargs)
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


test_scalar.__test__ = False  # type: ignore[attr-defined]  # pytest would collect it


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
