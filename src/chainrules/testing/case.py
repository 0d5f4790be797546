"""One case of a test: the call, its directions, its tolerances, and how it reports a failure."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np

from ..rules import AbstractZero
from .arguments import Snapshot, paired, primal_with_tangent
from .coordinates import Coordinates
from .describe import argument_names, call_text, short_name
from .diagnosis import Diagnosis, diagnose
from .errors import MutatedArgumentError, RuleTestError, UndecidedError
from .finite_differences import Estimate, FiniteDifference
from .oracle import DirectionalFunction, directional_derivative, quiet
from .random_tangents import short_numbers

__all__ = ["Case", "Report", "about"]


@dataclasses.dataclass
class Report:
    """Report on a call that passed its test.

    Attributes
    ----------
    call : str
        The call that was tested.
    checks : list of str
        What was compared.
    skipped : list of str
        What was not, and why: derivatives marked ``not_implemented``, for example.
    notes : list of str
        What a careful reader would like to know: a kink at the point, noise.
    """

    call: str
    checks: list[str] = dataclasses.field(default_factory=list)
    skipped: list[str] = dataclasses.field(default_factory=list)
    notes: list[str] = dataclasses.field(default_factory=list)

    def __str__(self) -> str:
        lines = [f"{self.call} passed: {', '.join(self.checks)}"]
        lines += [f"  skipped: {reason}" for reason in self.skipped]
        lines += [f"  note: {note}" for note in self.notes]
        return "\n".join(lines)


class Case:
    """A call ``f(*args, **kwargs)`` with a direction for every argument.

    Parameters
    ----------
    tool : str
        The test's name, for messages.
    f, given, kwargs
        The call; arguments may be ``primal_with_tangent``.
    rtol, atol, fdm, rng, seed
        As in ``test_rrule``.
    lenient : bool
        Whether at a kink any derivative between the one-sided ones will do.
    """

    def __init__(
        self,
        tool: str,
        f: Any,
        given: tuple,
        kwargs: dict,
        *,
        rtol: float | None = None,
        atol: float | None = None,
        fdm: FiniteDifference | None = None,
        rng: np.random.Generator | None = None,
        seed: int = 0,
        lenient: bool = False,
    ) -> None:
        self.tool, self.kwargs, self.fdm, self.seed = tool, kwargs, fdm, seed
        self.seeded, self.lenient = rng is None, lenient
        self.rng = rng or np.random.default_rng(seed)
        # ``items`` are the function and its arguments: a functor has fields to differentiate.
        self.items, self.tangents, self.chosen = paired((f, *given), self.rng)
        self.f, self.args = self.items[0], self.items[1:]
        self.space = Coordinates(self.items, self.tangents)
        self.xdot = self.space.pack(self.tangents)
        self.names = argument_names(self.f, len(self.args))
        self.report = Report(call_text(self.f, self.args, kwargs))
        # A copy of the point: the function may write into its arguments.
        self.y = self.call(self.space.point(self.space.values(), keep_dtype=True))
        self.result = Coordinates(self.y)
        epsilon = max(
            [_epsilon(leaf.dtype) for leaf in (*self.space.leaves, *self.result.leaves)] or [0.0]
        )
        self.epsilon = max(epsilon, float(np.finfo(float).eps))
        # 1e-9 for float64, 1e-4 for float32, 2e-2 for float16.
        self.rtol = self.epsilon**0.575 if rtol is None else rtol
        self.atol = self.rtol if atol is None else atol
        self.given_rtol = rtol
        finite = np.abs(self.result.values()[np.isfinite(self.result.values())])
        self.magnitude = 1 + float(np.max(finite, initial=0.0))
        # Where terms cancel, zero comes out as rounding, and rounding has no correct digits.
        self.rounding = 100 * self.epsilon * self.magnitude

    def call(self, items: tuple) -> Any:
        """The function at another point."""
        return items[0](*items[1:], **self.kwargs)

    def in_float64(self) -> list | None:
        """The arguments in float64; None if they are, or if the function returns float32 anyway."""
        if self.epsilon == np.finfo(float).eps or self.line(self.xdot).keep_dtype:
            return None
        items = self.space.point(self.space.values())
        tangents = self.space.tangents(self.xdot, keep_dtype=False)
        pairs = zip(items, tangents, self.tangents, strict=True)
        return [
            primal_with_tangent(x, old if isinstance(old, AbstractZero) else xdot)
            for x, xdot, old in pairs
        ]

    def another_direction(self) -> np.ndarray:
        """Random coordinates, but those of the caller where a tangent was chosen."""
        direction = short_numbers(self.space.size, self.rng)
        for i, chosen in enumerate(self.chosen):
            if chosen:
                direction[self.slice_of(i)] = self.xdot[self.slice_of(i)]
        return direction

    def directional(self, direction: np.ndarray) -> Estimate:
        """Estimate the tangent of the output in this direction, in coordinates."""
        line = self.line(direction)
        return self.decided(directional_derivative(line, self.fdm), line)

    def line(self, direction: np.ndarray) -> DirectionalFunction:
        """The function along a line through the point."""
        return DirectionalFunction(self.call, self.space, direction, self.result)

    def diagnosis(self, direction: np.ndarray) -> Diagnosis:
        """Diagnose the function along a line: smooth, or the reason why differences may fail."""
        return self.look(self.line(direction))

    def look(self, line: DirectionalFunction) -> Diagnosis:
        """Diagnose the function along this line."""
        with quiet():
            return diagnose(line, line.epsilon)

    def decided(self, found: Estimate, line: DirectionalFunction) -> Estimate:
        """Refuse an estimate that is too vague to tell right from wrong."""
        allowed = max(1e-2, self.given_rtol or 0.0) * np.max(np.abs(found.value), initial=0.0)
        # Of a large value, be it constant, differences say less.
        allowed += 1e-8 * self.magnitude
        vague = np.max(found.error, initial=0.0) > allowed + max(10 * self.atol, 1e-6)
        if np.all(np.isfinite(found.value)) and not vague:
            return found
        failure = line.failure
        raise self.failure(
            UndecidedError,
            f"differences of {short_name(self.f)} say nothing here; "
            f"their error is {float(np.max(found.error, initial=0.0)):.2g}.",
            about(self.look(line)),
            f"next to the point it raises {type(failure).__name__}: {failure}" if failure else "",
            "choose another point, a tangent that stays inside (primal_with_tangent), or fdm=,"
            " for example forward_fdm(5, 1) or central_fdm(5, 1, factor=1e6)",
        )

    def beyond_rounding(
        self, expected: np.ndarray, got: Any, compare: np.ndarray, seed: np.ndarray
    ) -> np.ndarray:
        """Return which of these entries of two results of one rule, for ``seed``, are not the same.

        Rounding only is allowed for, and a user's own rtol where that is coarser.
        """
        rtol = max(self.epsilon**0.7, self.given_rtol or 0)
        scale = np.max(np.abs(expected[compare]), initial=0.0)
        rounding = self.rounding * np.max(np.abs(seed), initial=0.0)
        return compare & ~(np.abs(got - expected) <= rtol * (np.abs(expected) + scale) + rounding)

    def slice_of(self, i: int) -> slice:
        """The coordinates of item ``i``: 0 is the function, 1 the first argument."""
        before = f"[{i}]"
        leaves = [leaf for leaf in self.space.leaves if leaf.path.startswith(before)]
        return slice(leaves[0].start, leaves[-1].stop) if leaves else slice(0, 0)

    def entry_name(self, i: int) -> str:
        """Coordinate ``i`` of the arguments, as in ``argument 0 (x)[2, 1]``."""
        name = self.space.name(i)
        item, _, rest = name[1:].partition("]")
        return self.names[int(item)] + rest

    def snapshot(self, **others: Any) -> Snapshot:
        """Copies of the arguments, and of other values, to see later whether they changed."""
        values = dict(zip(self.names, self.items, strict=True))
        values.update({f"keyword {name}": value for name, value in self.kwargs.items()})
        return Snapshot({**values, **others})

    def unchanged(self, snapshot: Snapshot, who: str) -> None:
        """Fail if anything in the snapshot was written into."""
        __tracebackhide__ = True
        path = snapshot.changed()
        if path is not None:
            raise self.failure(
                MutatedArgumentError,
                f"{who} wrote into {path}.",
                "rules may not write into what they are given or returned",
            )

    def failure(self, error: type[RuleTestError], first: str, *more: str) -> RuleTestError:
        """An error whose first line is complete by itself; the call and the seed come last."""
        seed = f"seed={self.seed}" if self.seeded else "rng= (given by the caller)"
        lines = [first, *(line for line in more if line)]
        lines.append(f"called as  {self.tool}({self._inner()}), {seed}")
        return error("\n  ".join(lines))

    def _inner(self) -> str:
        name, rest = self.report.call.split("(", 1)
        return name + (", " + rest[:-1] if rest != ")" else "")

    def within(self, f: Callable[[], Any], what: str) -> Any:
        """Run a step; an exception of foreign code is given the name of the step."""
        try:
            return f()
        except Exception as error:
            if not isinstance(error, RuleTestError):
                error.add_note(f"in {self.tool} of {self.report.call}: {what}")
            raise


def about(diagnosis: Diagnosis) -> str:
    """A line for a message; empty where the function looks smooth."""
    return f"look at the function: {diagnosis.text}" if diagnosis.text else ""


def _epsilon(dtype: np.dtype) -> float:
    return float(np.finfo(dtype).eps)
