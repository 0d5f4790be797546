"""Second derivatives: the engines run through a first derivative, and differences judge."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from ..forward import jvp
from ..reverse import vjp
from ..rules import AbstractZero, NotImplementedTangent
from .case import Case
from .coordinates import Coordinates
from .errors import UndecidedError, WrongDerivativeError
from .oracle import DirectionalFunction, adaptive, quiet
from .plan import join
from .pushforward_checks import entry_lines
from .random_tangents import short_numbers

__all__ = ["SecondOrder", "check_value_is_followed"]


class SecondOrder:
    """A first derivative as a function of the point, ready to be differentiated again.

    Parameters
    ----------
    case : Case
    first : callable
        From the function and its arguments, in a tuple, to a tangent or a tuple of cotangents.
        With ``keep_dtype=False``, which differences ask for, the tangents or the seed that it
        holds are as precise as float64.
    result : Coordinates
        Where that tangent lives.
    name : callable
        Names a coordinate of ``result``.
    order : str
        What ``first`` is, in words: ``reverse`` or ``forward``.
    """

    def __init__(
        self,
        case: Case,
        first: Callable[..., Any],
        result: Coordinates,
        name: Callable[[int], str],
        order: str,
    ) -> None:
        self.case, self.first, self.result = case, first, result
        self.name, self.order = name, order
        tangents = first(case.items)
        self.size = result.pack(tangents)
        pieces = result.split(tangents)
        zeros = AbstractZero | NotImplementedTangent
        self.kept = [i for i, piece in enumerate(pieces) if not isinstance(piece, zeros)]
        self.compared = np.isfinite(result.values()) & np.isfinite(self.size)
        for i, leaf in enumerate(result.leaves):
            if i not in self.kept:
                self.compared[leaf.start : leaf.stop] = False

    def check(self) -> None:
        """Forward and reverse over the first derivative, against differences of it."""
        __tracebackhide__ = True
        case = self.case
        if not self.kept or any(leaf.sparse for leaf in (*case.space.leaves, *self.result.leaves)):
            return
        direction = case.another_direction() / 4
        weight = np.where(self.compared, short_numbers(self.result.size, case.rng), 0.0)
        forward = case.within(lambda: self.forward(direction), f"forward over {self.order}")
        reverse = case.within(lambda: self.reverse(weight), f"reverse over {self.order}")
        self.against_differences(forward, direction)
        self.against_each_other(forward, direction, reverse, weight)
        case.report.checks.append(f"second order (forward and reverse over {self.order})")

    def flat(self, *values: Any) -> tuple:
        """The first derivative as a function from numbers and arrays to numbers and arrays."""
        pieces = self.result.split(self.first(self.case.space.assemble(values)))
        return tuple(pieces[i] for i in self.kept)

    def forward(self, direction: np.ndarray) -> np.ndarray:
        """The tangent of the first derivative, in coordinates."""
        case = self.case
        xdots = tuple(leaf.number(direction, True) for leaf in case.space.leaves)
        _, dots = jvp(self.flat, self.values(), xdots)
        return self.packed(dots)

    def reverse(self, weight: np.ndarray) -> np.ndarray:
        """The cotangents of the arguments of the first derivative, in coordinates."""
        leaves = self.result.leaves
        _, pullback = vjp(self.flat, *self.values())
        bars = pullback(tuple(leaves[i].number(weight, True) for i in self.kept))
        pairs = zip(self.case.space.leaves, bars, strict=True)
        return join([leaf.pack(bar) for leaf, bar in pairs])

    def values(self) -> tuple:
        start = self.case.space.values()
        return tuple(leaf.number(start, True) for leaf in self.case.space.leaves)

    def packed(self, dots: Any) -> np.ndarray:
        vector = np.zeros(self.result.size)
        for i, dot in zip(self.kept, dots, strict=True):
            leaf = self.result.leaves[i]
            vector[leaf.start : leaf.stop] = leaf.pack(dot)
        return vector

    def against_differences(self, got: np.ndarray, direction: np.ndarray) -> None:
        __tracebackhide__ = True
        case = self.case
        line = self.line(direction)
        with quiet():
            found = case.fdm.estimate(line) if case.fdm else adaptive(line)
        try:
            case.decided(found, line)
        except UndecidedError:
            # A kink of the first derivative: the rule is not to blame, and has no second one.
            case.report.skipped.append("second order: differences cannot tell here")
            return
        rtol = max(case.rtol, case.epsilon**0.45)
        scale = np.max(np.abs(found.value), initial=0.0)
        allowed = rtol * (1 + np.abs(found.value) + 0.1 * scale) + 10 * found.error
        wrong = ~(np.abs(got - found.value) <= allowed) & self.compared
        if np.any(wrong):
            raise case.failure(
                WrongDerivativeError,
                f"the second derivative is wrong, forward over {self.order}.",
                *entry_lines(got, found.value, wrong, self.name),
                "does the rule's body hide something from the tracer (cr.value, np.asarray)?",
            )

    def line(self, direction: np.ndarray) -> DirectionalFunction:
        """The first derivative along a line; in float64, unless it is one for float32 alone."""
        case, first = self.case, functools.partial(self.first, keep_dtype=False)
        along = case.space, direction, self.result, ~self.compared
        # JAX takes float64, and gives back what it computed in float32.
        narrow = case.epsilon if case.line(case.xdot).keep_dtype else 0.0
        line = DirectionalFunction(first, *along, narrow)
        return DirectionalFunction(self.first, *along, narrow) if line.keep_dtype else line

    def against_each_other(
        self, forward: np.ndarray, direction: np.ndarray, reverse: np.ndarray, weight: np.ndarray
    ) -> None:
        """``<weight, forward>`` and ``<reverse, direction>`` are one number."""
        __tracebackhide__ = True
        case = self.case
        left, right = (weight * forward)[self.compared], reverse * direction
        size = float(np.sum(np.abs(left)) + np.sum(np.abs(right)))
        rtol = max(case.epsilon**0.65, case.given_rtol or 0)
        # What the first derivative is made of may have cancelled to zero in the second.
        rounding = case.rounding * float(np.sum(np.abs(weight) * (1 + np.abs(self.size))))
        off = abs(np.sum(left) - np.sum(right))
        if np.isfinite(size) and not off <= rtol * size + rounding:
            raise case.failure(
                WrongDerivativeError,
                f"the second derivative is wrong, reverse over {self.order}.",
                f"paired with a direction it gives {np.sum(right):.6g}, forward over {self.order}"
                f" {np.sum(left):.6g}",
            )


def check_value_is_followed(
    case: Case,
    value: Callable[..., Any],
    order: str,
    seed: np.ndarray,
    xdot: np.ndarray,
    slope: Any,
) -> None:
    """Check that the value returned by a rule is differentiated again: it must not be a constant.

    Parameters
    ----------
    case : Case
    value : callable
        From the function and its arguments, in a tuple, to the value that the rule gives.
    order : str
        The direction of the rule: ``reverse`` or ``forward``.
    seed, xdot : numpy.ndarray
        A weight of the value and a direction of the arguments, in coordinates.
    slope : array of terms
        Whose sum is ``<seed, ydot>``, by the rule itself.
    """
    __tracebackhide__ = True
    if any(leaf.sparse for leaf in (*case.space.leaves, *case.result.leaves)):
        return
    followed = SecondOrder(case, value, case.result, str, order)
    expected = float(np.sum(slope))
    steps = {
        "forward": lambda: seed * followed.forward(xdot),
        "reverse": lambda: followed.reverse(seed) * xdot,
    }
    for engine, step in steps.items():
        terms = case.within(step, f"{engine} over the value of the rule")
        size = float(np.sum(np.abs(terms)) + np.sum(np.abs(slope)))
        rtol = max(case.epsilon**0.65, case.given_rtol or 0)
        rounding = case.rounding * float(np.sum(np.abs(seed)))
        if np.isfinite(size) and abs(np.sum(terms) - expected) > rtol * size + rounding:
            raise case.failure(
                WrongDerivativeError,
                f"the value that the rule returns is not followed, {engine} over {order}.",
                f"its slope is {np.sum(terms):.6g}, and {expected:.6g} by the rule itself",
                "does the rule's body hide something from the tracer (cr.value, np.asarray)?",
            )
    case.report.checks.append("the value differentiated again")
