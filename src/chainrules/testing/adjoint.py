"""The dot-product identity: forward and reverse mode are each other's transpose."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..config import MissingRuleError
from ..rules import NotImplementedTangent, unthunk
from .case import Case
from .describe import short_name
from .errors import WrongDerivativeError
from .pullback_checks import Reverse

__all__ = ["check_adjoint"]


def check_adjoint(
    case: Case, push: Callable[[tuple], Any], reverse: Reverse, xbar: np.ndarray
) -> None:
    """``<ybar, push(xdot)> == <pull(ybar), xdot>``: no differences, so nearly exact.

    Parameters
    ----------
    case : Case
    push : callable
        From a tuple of tangents to ``(y, ydot)``, or None where there is no rule.
    reverse : Reverse
        For its seed.
    xbar : numpy.ndarray
        The cotangents that the seed gave, in coordinates.
    """
    __tracebackhide__ = True
    missing = case.space.missing(case.tangents) | reverse.missing
    xdot = np.where(missing, 0.0, case.xdot)
    try:
        pair = push(case.space.tangents(xdot))
    except MissingRuleError as error:
        case.report.skipped.append(f"forward against reverse: {str(error).splitlines()[0]}")
        return
    if pair is None or isinstance(unthunk(pair[1]), NotImplementedTangent):
        return
    if np.any(case.result.missing(pair[1])):
        return
    left, right = reverse.seed * case.result.pack(pair[1]), xbar * xdot
    finite = np.isfinite(left).all() and np.isfinite(right).all()
    size = float(np.sum(np.abs(left)) + np.sum(np.abs(right)))
    rtol = max(case.epsilon**0.7, case.given_rtol or 0)
    rounding = case.rounding * float(np.sum(np.abs(reverse.seed)))
    if finite and abs(np.sum(left) - np.sum(right)) > rtol * size + rounding:
        raise case.failure(
            WrongDerivativeError,
            f"forward and reverse mode of {short_name(case.f)} disagree.",
            f"<ybar, ydot> is {np.sum(left):.10g}, <xbar, xdot> is {np.sum(right):.10g}",
        )
    case.report.checks.append("forward pairs with reverse")
