"""Adaptive finite differences with exact coefficients and an estimate of their own error.

The step balances the rounding error of the function against the truncation error of the
stencil, which is judged from an estimate of the next derivative (as FiniteDifferences.jl does).
The error that comes back is the larger of that bound and of what a second, halved step shows.
"""

from __future__ import annotations

import dataclasses
import functools
import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from ..config import ArgumentValueError

__all__ = ["Estimate", "FiniteDifference", "backward_fdm", "central_fdm", "forward_fdm"]

SHRINKS = 12  # tries with a tenth of the range each, before an edge is taken as not avoidable


@dataclasses.dataclass(frozen=True)
class Estimate:
    """A derivative, an estimate of its error (entry by entry), and the step that gave it."""

    value: Any
    error: Any
    step: float
    method: str = "finite differences"


@dataclasses.dataclass(frozen=True)
class FiniteDifference:
    """Derivative of order ``q`` from values of a function at ``x + step * grid``.

    Attributes
    ----------
    grid : tuple of int
        Where the function is evaluated, in steps.
    q : int
        Order of the derivative.
    adapt : int
        1 chooses the step from an estimate of the derivative of order ``len(grid)``,
        0 from ``condition`` alone.
    condition : float
        Guess of the ratio of that derivative to the function, where it is not estimated.
    factor : float
        Rounding error of the function in units of its last place; large for noisy functions.
    max_range : float
        The function is evaluated no further than this from ``x``.

    Examples
    --------
    >>> import math
    >>> method = central_fdm(5, 1)
    >>> bool(abs(method(math.sin, 1.0) - math.cos(1.0)) < 1e-12)
    True
    >>> bool(method.estimate(math.sin, 1.0).error < 1e-10)
    True
    """

    grid: tuple[int, ...]
    q: int
    adapt: int = 1
    condition: float = 10.0
    factor: float = 1.0
    max_range: float = math.inf

    def __post_init__(self) -> None:
        if not 1 <= self.q < len(self.grid):
            raise ArgumentValueError(
                f"a derivative of order {self.q} by differences needs 1 <= order < points, "
                f"and the stencil has {len(self.grid)}.\n"
                f"  write for example central_fdm({self.q + 2}, {self.q})"
            )

    def __call__(self, f: Callable[[float], Any], x: float = 0.0) -> Any:
        """The derivative of ``f`` at ``x``; ``f`` takes a float and returns a float or an array."""
        return self.estimate(f, x).value

    def estimate(self, f: Callable[[float], Any], x: float = 0.0) -> Estimate:
        """The derivative of ``f`` at ``x``, with its error and the step that was taken.

        Where ``f`` is not finite within reach of the stencil the reach is shortened; where two
        steps contradict the predicted error it is shortened too, and the better answer kept. The
        steps stay above the spacing of the floats at ``x``: below it every function is constant.
        """
        values = SampledFunction(f, x)
        reach, best = self.max_range, None
        for _ in range(SHRINKS):
            step, bound = self.choose_step(values, reach)
            if step < 10 * values.resolution:
                break
            found = self.at_step(values, step, bound)
            if found is None:
                reach = step * max(map(abs, self.grid)) / 10
                continue
            if best is None or np.max(found.error) < np.max(best.error):
                best = found
            promised = bound + self.blur(values, step) * np.abs(found.value)
            trusted = np.max(found.error, initial=0.0) <= 20 * np.max(promised, initial=0.0)
            if trusted or not self.adapt:
                return best
            reach = step * max(map(abs, self.grid)) / 10
            if values.count > 100:
                break
        if best is None:
            centre = np.asarray(values(0.0)) * math.nan
            return Estimate(centre, np.full_like(centre, math.inf), 0.0)
        return best

    def choose_step(self, values: SampledFunction, reach: float) -> tuple[float, Any]:
        """The step, and the bound of the error that it promises for each entry."""
        p, q = len(self.grid), self.q
        furthest = max(map(abs, self.grid))
        amplify, curve = amplification(self.grid, q)
        centre = np.abs(np.asarray(values(0.0)))
        rounding = values.epsilon * centre
        magnitude = self.condition * centre
        default = self.best_step(values.epsilon * amplify * self.factor, self.condition * curve)
        step = default
        if self.adapt:
            estimated = self.next_derivative(values, reach)
            if estimated is not None:
                magnitude, size = estimated
                rounding = values.epsilon * np.maximum(size, centre)
                largest, curviest = np.max(rounding, initial=0.0), np.max(magnitude, initial=0.0)
                if largest > 0:
                    tiny = curviest * curve or largest * 1e-9
                    step = self.best_step(largest * amplify * self.factor, tiny)
        step = round_step(min(step, 1000 * default, reach / furthest))
        bound = rounding * amplify * self.factor / step**q + magnitude * curve * step ** (p - q)
        return step, bound

    def best_step(self, rounding: float, truncation: float) -> float:
        """Return the ``h`` that minimizes ``rounding * h**-q + truncation * h**(p - q)``."""
        p, q = len(self.grid), max(self.q, 1)
        return float((q / (p - q) * rounding / truncation) ** (1 / p))

    def next_derivative(self, values: SampledFunction, reach: float) -> tuple[Any, Any] | None:
        """Magnitudes of the derivative of order ``p`` and of the function, entry by entry."""
        p = len(self.grid)
        wide = widened(self.grid)
        coarse = FiniteDifference(wide, p, adapt=0, condition=self.condition, factor=self.factor)
        while True:
            step, _ = coarse.choose_step(values, reach)
            samples = values.at(wide, step)
            if np.all(np.isfinite(samples)):
                break
            reach = step * max(map(abs, wide)) / 10
            if reach < 1e-14:
                return None
        # The estimate at one point may vanish by chance; at three neighbouring ones it will not.
        middle = (
            wide[len(wide) // 2] if min(wide) < 0 < max(wide) else wide[1 if wide[1] > 0 else -2]
        )
        around = np.array([neighbours(wide, p, middle + shift) for shift in (-1, 0, 1)])
        slopes = np.max(np.abs(np.tensordot(around, samples, 1)), axis=0) / step**p
        size = np.max(np.abs(samples), axis=0)
        # What rounding alone may have made counts as nothing: two steps are compared anyway.
        noise = self.factor * values.epsilon * size * np.max(np.sum(np.abs(around), axis=1))
        return np.maximum(slopes - noise / step**p, 0.0), size

    def at_step(self, values: SampledFunction, step: float, bound: Any) -> Estimate | None:
        """The derivative with this step; None where the function is not finite on the stencil."""
        whole, half = values.at(self.grid, step), values.at(self.grid, step / 2)
        if not (np.all(np.isfinite(whole)) and np.all(np.isfinite(half))):
            return None
        weights = np.array(coefficients(self.grid, self.q), dtype=float)
        derivative = np.tensordot(weights, whole, 1) / step**self.q
        refined = np.tensordot(weights, half, 1) / (step / 2) ** self.q
        error = np.maximum(bound, np.abs(derivative - refined))
        error = error + self.blur(values, step) * np.abs(derivative)
        if np.ndim(derivative) == 0:
            return Estimate(derivative[()], error[()], step)
        return Estimate(derivative, error, step)

    def blur(self, values: SampledFunction, step: float) -> float:
        """Relative error from the rounding of the stencil's points, that is, of their distances."""
        return amplification(self.grid, self.q)[0] * values.resolution / step


class SampledFunction:
    """Values of ``f`` around ``x``, each computed once; offsets are exact multiples of a step."""

    __slots__ = ("f", "known", "x")

    def __init__(self, f: Callable[[float], Any], x: float) -> None:
        self.f, self.x = f, x
        self.known: dict[float, Any] = {}

    def __call__(self, offset: float) -> Any:
        if offset not in self.known:
            # A copy: the function may fill and return one and the same array each time.
            y = np.array(self.f(self.x + offset))
            if y.dtype.kind == "c" and offset and self(0.0).dtype.kind != "c":
                y = np.full(y.shape, np.nan)  # Python's (-1.0) ** 0.5: left the real domain
            self.known[offset] = y
        return self.known[offset]

    def at(self, grid: Sequence[int], step: float) -> Any:
        return np.stack([self(point * step) for point in grid])

    @property
    def count(self) -> int:
        return len(self.known)

    @property
    def resolution(self) -> float:
        """Least offset that surely changes the argument of the function."""
        of_f = getattr(self.f, "resolution", None)
        return float(np.spacing(abs(self.x))) if of_f is None else of_f

    @property
    def epsilon(self) -> float:
        """Spacing of the floats that the function returns."""
        dtype = self(0.0).dtype
        return float(np.finfo(dtype if dtype.kind in "fc" else float).eps)


def round_step(step: float) -> float:
    """The power of two below ``step``: then ``x + step`` and ``step / 2`` hide no rounding."""
    return math.ldexp(0.5, math.frexp(step)[1])


@functools.cache
def coefficients(grid: tuple[int, ...], q: int) -> tuple[Fraction, ...]:
    """Exact weights whose sum over the grid is the derivative of order ``q`` at 0.

    Differentiates the Lagrange polynomial of each grid point.

    Examples
    --------
    >>> [str(c) for c in coefficients((-1, 0, 1), 1)]
    ['-1/2', '0', '1/2']
    """
    return tuple(math.factorial(q) * lagrange(grid, point)[q] for point in grid)


def lagrange(grid: tuple[int, ...], point: int) -> list[Fraction]:
    """Coefficients, lowest first, of the polynomial that is 1 at ``point``, 0 at the others."""
    polynomial = [Fraction(1)]
    for other in grid:
        if other != point:
            raised, kept = [Fraction(0), *polynomial], [*polynomial, Fraction(0)]
            gap = point - other
            polynomial = [(up - other * c) / gap for up, c in zip(raised, kept, strict=True)]
    return polynomial


@functools.cache
def neighbours(grid: tuple[int, ...], q: int, centre: int) -> tuple[float, ...]:
    """Weights for the derivative of order ``q`` at the grid point ``centre``."""
    return tuple(map(float, coefficients(tuple(point - centre for point in grid), q)))


@functools.cache
def amplification(grid: tuple[int, ...], q: int) -> tuple[float, float]:
    """Return a stencil's factors of rounding errors and the derivative of order ``len(grid)``."""
    weights, p = coefficients(grid, q), len(grid)
    rounding = sum(abs(c) for c in weights)
    truncation = sum(abs(c * point**p) for c, point in zip(weights, grid, strict=True))
    return float(rounding), float(truncation / math.factorial(p))


def widened(grid: tuple[int, ...]) -> tuple[int, ...]:
    """The grid of the same kind with two more points."""
    if min(grid) >= 0:
        return (*grid, max(grid) + 1, max(grid) + 2)
    if max(grid) <= 0:
        return (min(grid) - 2, min(grid) - 1, *grid)
    return (min(grid) - 1, *grid, max(grid) + 1)


def central_fdm(p: int = 5, q: int = 1, **options: Any) -> FiniteDifference:
    """Stencil of ``p`` points around ``x`` for the derivative of order ``q``.

    Examples
    --------
    >>> central_fdm(5, 1).grid
    (-2, -1, 0, 1, 2)
    >>> float(round(central_fdm(5, 2)(lambda x: x**3, 2.0), 6))
    12.0
    """
    half = p // 2
    grid = [point for point in range(-half, half + 1) if p % 2 or point]
    return FiniteDifference(tuple(grid), q, **options)


def forward_fdm(p: int = 5, q: int = 1, **options: Any) -> FiniteDifference:
    """Stencil of ``p`` points from ``x`` upwards, for a function that begins at ``x``.

    Examples
    --------
    >>> float(round(forward_fdm(5, 1)(lambda x: x**2.5, 1.0), 6))
    2.5
    """
    return FiniteDifference(tuple(range(p)), q, **options)


def backward_fdm(p: int = 5, q: int = 1, **options: Any) -> FiniteDifference:
    """Stencil of ``p`` points from ``x`` downwards, for a function that ends at ``x``.

    Examples
    --------
    >>> backward_fdm(3, 1).grid
    (-2, -1, 0)
    """
    return FiniteDifference(tuple(range(1 - p, 1)), q, **options)
