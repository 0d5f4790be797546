"""Checks of an ``rrule``: value, form, pairing with differences, linearity, no writes."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any

import numpy as np

from ..config import ArgumentValueError, RuleError, TangentError
from ..config.thresholds import SINGLY
from ..rules import AbstractZero, NoTangent, Tangent, ZeroTangent, thunk, unthunk
from .arguments import Snapshot
from .case import Case, about
from .describe import guess, short
from .diagnosis import Diagnosis
from .errors import (
    MutatedArgumentError,
    NoRuleError,
    UndecidedError,
    WrongDerivativeError,
    WrongStructureError,
    WrongValueError,
)
from .finite_differences import Estimate
from .oracle import quiet
from .pushforward_checks import entry_lines
from .random_tangents import short_numbers
from .structure import inplace_complaint, tangent_complaint, value_complaint

__all__ = ["Reverse"]


class Reverse:
    """A case together with ``rule(items) -> (y, pullback)``, or None where there is no rule.

    Attributes
    ----------
    seed : numpy.ndarray
        The cotangent of the output, in coordinates.
    ybar : Any
        The same as a cotangent.
    """

    def __init__(
        self, case: Case, rule: Callable[[tuple], Any], name: str, output_tangent: Any = None
    ) -> None:
        self.case, self.run, self.rule = case, rule, name
        space = case.result
        if output_tangent is None:
            self.seed = short_numbers(space.size, case.rng)
        else:
            self.seed = space.pack(output_tangent)
            if self.seed.shape != (space.size,) or not np.all(np.isfinite(self.seed)):
                raise ArgumentValueError(
                    f"output_tangent does not fit the output, {short(case.y)}."
                )
        self.seed = np.where(np.isfinite(space.values()), self.seed, 0.0)
        self.ybar = space.tangent(self.seed)
        self.missing = np.zeros(case.space.size, bool)

    def start(self) -> Callable[[Any], Any]:
        """Run the rule, compare its value, and return its pullback."""
        __tracebackhide__ = True
        case = self.case
        before = case.snapshot()
        try:
            pair = self.run(case.items)
        except (RuleError, TangentError) as error:
            # What the registry refuses is a wrong form here too.
            raise case.failure(WrongStructureError, str(error)) from error
        if pair is None:
            raise case.failure(NoRuleError, f"there is no {self.rule}.")
        if type(pair) is not tuple or len(pair) != 2 or not callable(pair[1]):
            raise case.failure(WrongStructureError, f"the {self.rule} must return (y, pullback).")
        y, pullback = pair
        case.unchanged(before, f"the {self.rule}")
        complaint = value_complaint(y, case.y, "y", max(case.epsilon**0.75, case.given_rtol or 0))
        if complaint:
            raise case.failure(
                WrongValueError, f"the {self.rule} computes another value.", complaint
            )
        return pullback

    def pull(
        self, pullback: Callable[[Any], Any], ybar: Any, when: str = ""
    ) -> tuple[tuple, np.ndarray]:
        """The cotangents of function and arguments, and their coordinates."""
        __tracebackhide__ = True
        case = self.case
        try:
            xbars = case.within(lambda: pullback(ybar), f"calling the pullback{when}")
        except (RuleError, TangentError) as error:
            raise case.failure(WrongStructureError, str(error)) from error
        if type(xbars) is not tuple:
            raise case.failure(
                WrongStructureError,
                f"the pullback of the {self.rule} returned a {type(xbars).__name__}, not a tuple.",
            )
        if len(xbars) != len(case.items):
            raise case.failure(
                WrongStructureError,
                f"the pullback of the {self.rule} returned {len(xbars)} cotangents for "
                f"{len(case.args)} arguments.",
                f"return {len(case.items)}: one for the function, then one per positional argument",
            )
        skipped: list[str] = []
        for name, x, xbar in zip(case.names, case.items, xbars, strict=True):
            complaint = tangent_complaint(x, xbar, name, skipped) or inplace_complaint(
                x, xbar, name
            )
            if complaint:
                first = f"the pullback of the {self.rule} gives a cotangent of the wrong form."
                raise case.failure(WrongStructureError, first, complaint)
        case.report.skipped += [reason for reason in skipped if reason not in case.report.skipped]
        return xbars, case.space.pack(xbars)

    def check(self, thunks: bool = True) -> np.ndarray:
        """Run every check; return the coordinates of the cotangents."""
        __tracebackhide__ = True
        case = self.case
        pullback = self.start()
        if not case.result.leaves:
            return self.check_constant(pullback)
        before = case.snapshot(ybar=self.ybar)
        xbars, got = self.pull(pullback, self.ybar)
        case.unchanged(before, f"the pullback of the {self.rule}")
        self.missing = case.space.missing(xbars)
        case.report.checks += ["value", "form"]
        self.check_pairing(got)
        self.check_repeated(pullback, xbars, got, before)
        if thunks:
            _, again = self.pull(pullback, thunk(lambda: self.ybar))
            self.equal(got, again, "gives something else for thunk(lambda: ybar)")
        return got

    def check_constant(self, pullback: Callable) -> np.ndarray:
        """An output that cannot be perturbed takes a zero seed only, and gives zeros."""
        __tracebackhide__ = True
        case = self.case
        _, got = self.pull(pullback, ZeroTangent())
        if np.any(got):
            first = f"the pullback of the {self.rule} makes something of ZeroTangent()."
            raise case.failure(WrongDerivativeError, first)
        case.report.checks += ["value", "form", "zero seed"]
        return got

    def check_pairing(self, got: np.ndarray) -> None:
        """``<xbar, xdot> == <ybar, ydot>``, with ``ydot`` by differences along one line."""
        __tracebackhide__ = True
        case = self.case
        xdot = np.where(self.missing, 0.0, case.xdot)
        expected = case.directional(xdot)
        if self.pairs(got, xdot, expected):
            case.report.checks.append(f"cotangents by {expected.method}")
            return
        diagnosis = case.diagnosis(xdot)
        if case.lenient and self.between(float(got @ xdot), diagnosis):
            case.report.notes.append(f"{diagnosis.text}; the cotangents are in between")
            return
        self.locate(got, expected, diagnosis)

    def between(self, paired: float, found: Diagnosis) -> bool:
        """Say whether the cotangents pair with a direction to something between its two slopes."""
        if found.kind != "kink":
            return False
        slopes = self.seed * np.stack([found.left, found.right])
        slack = self.case.atol + 1e-6 * float(np.sum(np.abs(slopes)))
        return np.sum(slopes.min(axis=0)) - slack <= paired <= np.sum(slopes.max(axis=0)) + slack

    def pairs(self, got: np.ndarray, xdot: np.ndarray, expected: Estimate) -> bool:
        """Say whether the cotangents pair with a direction as differences say."""
        case = self.case
        left, right = got * xdot, self.seed * expected.value
        size = float(np.sum(np.abs(left)) + np.sum(np.abs(right)))
        allowed = case.atol + case.rtol * size + 10 * float(np.abs(self.seed) @ expected.error)
        return bool(abs(np.sum(left) - np.sum(right)) <= allowed)

    def locate(self, got: np.ndarray, paired: Estimate, diagnosis: Diagnosis) -> None:
        """Difference one coordinate after the other, to name the wrong ones."""
        __tracebackhide__ = True
        case = self.case
        expected, allowed = got.copy(), np.full(got.size, np.inf)
        for i in self.suspects(got):
            try:
                found = case.directional(np.eye(1, got.size, i)[0])
            except UndecidedError:
                continue
            expected[i] = self.seed @ found.value
            error = 10 * float(np.abs(self.seed) @ found.error)
            allowed[i] = case.atol + case.rtol * abs(expected[i]) + error
        wrong = ~self.missing & ~(np.abs(got - expected) <= allowed)
        if not np.any(wrong):
            first = f"the {self.rule} gives cotangents that do not pair with the tangents."
            raise case.failure(
                WrongDerivativeError,
                first,
                about(diagnosis),
                "each entry by itself looks right, as far as differences can tell",
            )
        names = self.guilty(wrong)
        raise case.failure(
            WrongDerivativeError,
            f"the {self.rule} gives a wrong cotangent for {' and '.join(names)}.",
            *entry_lines(got, expected, wrong, case.entry_name),
            *self.guesses(got, expected, wrong),
            about(diagnosis),
            f"expected values by {paired.method}",
        )

    def suspects(self, got: np.ndarray) -> list[int]:
        """Coordinates to difference one by one: all, or of many those in wrong blocks."""
        case = self.case
        blocks = [np.arange(got.size)]
        while blocks and max(map(len, blocks)) > SINGLY:
            halves = [half for block in blocks for half in np.array_split(block, 2)]
            blocks = []
            for half in halves:
                xdot = np.zeros_like(case.xdot)
                xdot[half] = np.where(self.missing, 0.0, case.xdot)[half]
                if not self.pairs(got, xdot, case.directional(xdot)):
                    blocks.append(half)
            blocks = blocks[:4]
        return [int(i) for block in blocks for i in block]

    def guilty(self, wrong: np.ndarray) -> list[str]:
        case = self.case
        return [name for i, name in enumerate(case.names) if np.any(wrong[case.slice_of(i)])]

    def guesses(self, got: np.ndarray, expected: np.ndarray, wrong: np.ndarray) -> list[str]:
        """One guess per guilty argument at what went wrong."""
        case = self.case
        of = {name: expected[case.slice_of(i)] for i, name in enumerate(case.names)}
        lines = []
        for i, name in enumerate(case.names):
            at = case.slice_of(i)
            if np.any(wrong[at]):
                others = {key: value for key, value in of.items() if key != name and value.size}
                kinds = [
                    leaf.dtype.kind
                    for leaf in case.space.leaves
                    if leaf.start in range(at.start, at.stop)
                ]
                text = guess(got[at], expected[at], others, all(kind == "c" for kind in kinds))
                lines += [f"{name}: {text}"] if text else []
        return lines

    def check_repeated(
        self, pullback: Callable, xbars: tuple, got: np.ndarray, before: Snapshot
    ) -> None:
        """A second seed: nothing returned before changes, and the pullback is linear."""
        __tracebackhide__ = True
        case = self.case
        returned = Snapshot(dict(zip(case.names, map(opened, xbars), strict=True)))
        vseed = np.where(self.seed != 0, short_numbers(self.seed.size, case.rng), 0.0)
        again = " again, which must work any number of times"
        _, second = self.pull(pullback, case.result.tangent(vseed), again)
        path = returned.changed()
        if path is not None:
            first = f"a second call of the pullback of the {self.rule} changed what the first gave."
            raise case.failure(MutatedArgumentError, first, f"it changed the cotangent of {path}")
        case.unchanged(before, f"the pullback of the {self.rule}, called again,")
        self.equal(
            got, self.pull(pullback, self.ybar)[1], "gives something else when it is called again"
        )
        # Halves and doubles are exact in binary: what is left is the rounding of the rule.
        _, mixed = self.pull(pullback, case.result.tangent(2 * self.seed - 0.5 * vseed))
        self.equal(2 * got - 0.5 * second, mixed, "is not linear: 2 * ybar - 0.5 * vbar")
        _, nothing = self.pull(pullback, case.result.tangent(0 * self.seed))
        finite = np.where(np.isfinite(got), nothing, 0.0)
        self.equal(np.zeros_like(got), finite, "gives something for a zero seed")
        case.report.checks.append("linearity")
        self.check_state(pullback, got)

    def check_state(self, pullback: Callable, got: np.ndarray) -> None:
        """Neither a call at another point nor a second one at the same changes anything."""
        __tracebackhide__ = True
        case = self.case
        elsewhere = case.space.point(case.space.values() * (1 + 2.0**-7), keep_dtype=True)
        with quiet(), contextlib.suppress(Exception):  # it may be outside of the domain
            self.run(elsewhere)
        keeps = "does the rule keep something outside of its call?"
        _, again = self.pull(pullback, self.ybar)
        complaint = "gives something else after the rule was run for other arguments"
        self.equal(got, again, complaint, keeps)
        _, again = self.pull(self.start(), self.ybar)
        self.equal(got, again, "gives something else when the rule is run again", keeps)

    def equal(self, expected: np.ndarray, got: np.ndarray, complaint: str, hint: str = "") -> None:
        __tracebackhide__ = True
        case = self.case
        compare = ~self.missing & np.isfinite(expected)
        wrong = case.beyond_rounding(expected, got, compare, self.seed)
        if np.any(wrong):
            first = f"the pullback of the {self.rule} {complaint}."
            lines = entry_lines(got, expected, wrong, case.entry_name)
            raise case.failure(WrongDerivativeError, first, *lines, hint)


def opened(xbar: Any) -> Any:
    """A cotangent as it is after thunks were opened; zeros hold nothing that could change."""
    xbar = unthunk(xbar)
    if isinstance(xbar, Tangent):
        return xbar.map(opened)
    return None if isinstance(xbar, AbstractZero | NoTangent) else xbar
