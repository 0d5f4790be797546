"""Checks of an ``frule``: value, form, direction, linearity, and no writes to arguments."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..config import RuleError, TangentError
from ..rules import AbstractZero, ZeroTangent
from .case import Case, about
from .compare import describe_difference
from .describe import guess
from .diagnosis import Diagnosis
from .errors import NoRuleError, WrongDerivativeError, WrongStructureError, WrongValueError
from .structure import tangent_complaint, value_complaint

__all__ = ["PushforwardChecks"]


class PushforwardChecks:
    """A case together with ``push(tangents) -> (y, ydot)``, or None where there is no rule."""

    def __init__(self, case: Case, push: Callable[[tuple], Any], rule: str) -> None:
        self.case, self.push, self.rule = case, push, rule

    def ydot(self, tangents: tuple) -> tuple[Any, np.ndarray, np.ndarray]:
        """The tangent of the output, its coordinates, and which of them are not implemented."""
        __tracebackhide__ = True
        case = self.case
        try:
            pair = self.push(tangents)
        except (RuleError, TangentError) as error:
            # What the registry refuses is a wrong form here too.
            raise case.failure(WrongStructureError, str(error)) from error
        if pair is None:
            raise case.failure(NoRuleError, f"there is no {self.rule}.")
        if type(pair) is not tuple or len(pair) != 2:
            raise case.failure(WrongStructureError, f"the {self.rule} must return (y, ydot).")
        y, ydot = pair
        complaint = value_complaint(y, case.y, "y", max(case.epsilon**0.75, case.given_rtol or 0))
        if complaint:
            raise case.failure(
                WrongValueError, f"the {self.rule} computes another value.", complaint
            )
        skipped: list[str] = []
        complaint = tangent_complaint(case.y, ydot, "ydot", skipped)
        if complaint:
            raise case.failure(
                WrongStructureError,
                f"the {self.rule} gives a tangent of the wrong form.",
                complaint,
            )
        case.report.skipped += [reason for reason in skipped if reason not in case.report.skipped]
        return ydot, case.result.pack(ydot), case.result.missing(ydot)

    def check(self) -> np.ndarray:
        """Run every check; return the coordinates of ``ydot``."""
        __tracebackhide__ = True
        case = self.case
        before = case.snapshot(**{"its tangent": case.tangents})
        _, got, missing = self.ydot(case.tangents)
        case.unchanged(before, f"the {self.rule}")
        case.report.checks += ["value", "form"]
        expected = case.directional(case.xdot)
        scale = np.max(np.abs(expected.value), initial=0.0)
        allowed = case.atol + case.rtol * (np.abs(expected.value) + 0.01 * scale)
        allowed = allowed + 10 * expected.error
        compare = ~missing & np.isfinite(case.result.values())
        wrong = compare & ~(np.abs(got - expected.value) <= allowed)
        if np.any(wrong):
            diagnosis = case.diagnosis(case.xdot)
            if not (case.lenient and between(got, diagnosis, wrong, allowed)):
                raise self.wrong(got, expected.value, wrong, expected.method, diagnosis)
            case.report.notes.append(f"{diagnosis.text}; the derivative is in between")
        case.report.checks.append(f"ydot by {expected.method}")
        again = self.ydot(case.tangents)[1]
        complaint = "gives something else when it is called again; does it keep state"
        self.equal(got, again, ~missing & np.isfinite(got), complaint)
        self.check_linear(got, ~missing & np.isfinite(got))
        return got

    def wrong(
        self,
        got: np.ndarray,
        expected: np.ndarray,
        wrong: np.ndarray,
        method: str,
        diagnosis: Diagnosis,
    ) -> WrongDerivativeError:
        """The error, with the guilty arguments and the worst entries."""
        case = self.case
        complex_ = all(leaf.dtype.kind == "c" for leaf in case.result.leaves)
        failure = case.failure(
            WrongDerivativeError,
            f"the {self.rule} gives a wrong tangent{self.culprit()}.",
            *entry_lines(got, expected, wrong, lambda i: "ydot" + case.result.name(i)),
            guess(got, expected, {}, complex_),
            about(diagnosis),
            f"expected values by {method}",
        )
        assert isinstance(failure, WrongDerivativeError)
        return failure

    def culprit(self) -> str:
        """Find the arguments whose own tangent already comes out wrong."""
        case = self.case
        if sum(not isinstance(xdot, AbstractZero) for xdot in case.tangents) < 2:
            return ""
        guilty = []
        for i, (name, xdot) in enumerate(zip(case.names, case.tangents, strict=True)):
            if isinstance(xdot, AbstractZero):
                continue
            direction = np.zeros_like(case.xdot)
            direction[case.slice_of(i)] = case.xdot[case.slice_of(i)]
            try:
                expected = case.directional(direction)
                _, got, _ = self.ydot(self.only(i))
            except Exception:  # the search for the culprit must not hide the crime
                continue
            allowed = case.atol + case.rtol * np.abs(expected.value) + 10 * expected.error
            if np.any(np.abs(got - expected.value) > allowed):
                guilty.append(name)
        return f" for {' and '.join(guilty)}" if guilty else ""

    def only(self, i: int) -> tuple:
        """The tangents of the case with zeros for all arguments but one, as engines give them."""
        return tuple(
            xdot if k == i or isinstance(xdot, AbstractZero) else ZeroTangent()
            for k, xdot in enumerate(self.case.tangents)
        )

    def check_linear(self, got: np.ndarray, compare: np.ndarray) -> None:
        """``ydot`` is a sum of shares of the arguments, and scales with the tangents."""
        __tracebackhide__ = True
        case = self.case
        scaled = self.ydot(case.space.tangents(-0.5 * case.xdot))[1]
        self.equal(-0.5 * got, scaled, compare, "is not linear: -0.5 * xdot gives another ydot")
        active = [i for i, xdot in enumerate(case.tangents) if not isinstance(xdot, AbstractZero)]
        if len(active) > 1:
            shares = sum(self.ydot(self.only(i))[1] for i in active)
            first = "is not linear: with ZeroTangent() for all but one argument in turn, ydot"
            self.equal(got, shares, compare, first + " does not add up")
        case.report.checks.append("linearity")

    def equal(self, expected: np.ndarray, got: Any, compare: np.ndarray, complaint: str) -> None:
        __tracebackhide__ = True
        case = self.case
        wrong = case.beyond_rounding(expected, got, compare, case.xdot)
        if np.any(wrong):
            lines = entry_lines(got, expected, wrong, lambda i: "ydot" + case.result.name(i))
            raise case.failure(WrongDerivativeError, f"the {self.rule} {complaint}.", *lines)


def between(got: np.ndarray, found: Diagnosis, wrong: np.ndarray, slack: np.ndarray) -> bool:
    """Say whether the wrong entries lie between the one-sided slopes of a kink."""
    if found.kind != "kink":
        return False
    low = np.minimum(found.left, found.right) - slack - 1e-6
    high = np.maximum(found.left, found.right) + slack + 1e-6
    return bool(np.all((low <= got) & (got <= high) | ~wrong))


def entry_lines(
    got: np.ndarray, expected: np.ndarray, wrong: np.ndarray, name: Callable[[int], str]
) -> list[str]:
    """A line for each of the worst five wrong coordinates."""
    with np.errstate(all="ignore"):
        off = np.where(wrong, np.nan_to_num(np.abs(got - expected), nan=np.inf), -1.0)
    worst = np.argsort(-off, kind="stable")[: min(5, int(np.sum(wrong)))]
    lines = [f"{name(int(i))}: {describe_difference(got[i], expected[i])}" for i in worst]
    rest = int(np.sum(wrong)) - len(lines)
    return [*lines, f"and {rest} more entries"] if rest else lines
