"""Reference for a directional derivative: complex step if it can be had, else differences."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from .complex_step import complex_step, consistent
from .coordinates import Coordinates
from .finite_differences import Estimate, FiniteDifference, backward_fdm, central_fdm, forward_fdm

__all__ = ["DirectionalFunction", "adaptive", "directional_derivative", "quiet"]

OUTSIDE = (ArithmeticError, ValueError)  # what functions raise outside of their domain
QUICK = central_fdm(5, 1, adapt=0, condition=1e3)


class DirectionalFunction:
    """A function along the line ``x + t * xdot``, as a vector of real numbers.

    Parameters
    ----------
    f : callable
        Takes a value with the structure of ``space.x``; returns one with that of ``result.x``.
    space, result : Coordinates
        The arguments, and the value of ``f`` at ``t = 0``.
    direction : numpy.ndarray
        In the coordinates of ``space``.
    fixed : numpy.ndarray of bool, optional
        Coordinates of the result to leave out; by default those of ``result.x`` not finite.
    at_least : float, optional
        Spacing of the floats that ``f`` computes in, whatever the dtypes that it returns.

    Notes
    -----
    The arguments are widened to float64 where the function then returns float64: differences
    of float32 values are good to three digits only.
    """

    def __init__(
        self,
        f: Callable,
        space: Coordinates,
        direction: np.ndarray,
        result: Coordinates,
        fixed: np.ndarray | None = None,
        at_least: float = 0.0,
    ) -> None:
        self.at_least = at_least
        self.f, self.space, self.result = f, space, result
        self.start, self.direction = space.values(), direction
        self.keep_dtype = False
        self.failure: Exception | None = None
        leaves = (*space.leaves, *result.leaves)
        narrow = any(leaf.dtype.itemsize < _wide(leaf.dtype) for leaf in leaves)
        self.keep_dtype = at_least > 0.0 or (narrow and not self.widens())
        # Entries that are infinite or undefined at the point itself have no derivative to check.
        self.fixed = ~np.isfinite(result.values()) if fixed is None else fixed

    @property
    def epsilon(self) -> float:
        """The spacing of the floats that the function works with."""
        if not self.keep_dtype:
            return float(np.finfo(float).eps)
        dtypes: list[Any] = [leaf.dtype for leaf in (*self.space.leaves, *self.result.leaves)]
        return max(self.at_least, *[float(np.finfo(dtype).eps) for dtype in dtypes])

    @property
    def resolution(self) -> float:
        """The spacing of the floats at the point, in units of ``t``."""
        moving = (self.direction != 0) & np.isfinite(self.start)
        steps = np.abs(self.start[moving] / self.direction[moving])
        return self.epsilon * float(np.max(steps, initial=0.0))

    def widens(self) -> bool:
        """Say whether the function of float64 arguments returns float64."""
        try:
            with quiet():
                pieces = self.result.split(self.f(self.space.point(self.start)))
        except Exception:  # a function for float32 alone is used as it is
            return False
        return all(
            np.asarray(piece).dtype.itemsize >= _wide(leaf.dtype)
            for leaf, piece in zip(self.result.leaves, pieces, strict=True)
        )

    def __call__(self, t: float) -> np.ndarray:
        x = self.space.point(self.start + t * self.direction, keep_dtype=self.keep_dtype)
        try:
            y = self.result.pack(self.f(x))
        except OUTSIDE as failure:
            self.failure = failure
            return np.full(self.result.size, np.nan)
        y = np.where(self.fixed, 0.0, y) if self.fixed.any() else y
        return y.astype(np.float32) if self.keep_dtype else y

    def imaginary(self, t: complex) -> np.ndarray:
        """The imaginary parts, where ``t`` and with it the point are complex."""
        return self.result.pack(self.f(self.space.point(self.start + t * self.direction)), np.imag)

    @property
    def real(self) -> bool:
        """Say whether arguments and results are real, as a complex step needs them."""
        leaves = (*self.space.leaves, *self.result.leaves)
        return not self.keep_dtype and all(leaf.dtype.kind != "c" for leaf in leaves)


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """No warnings: differences look where the caller would not."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        yield


def _wide(dtype: np.dtype) -> int:
    return 16 if dtype.kind == "c" else 8


def directional_derivative(
    line: DirectionalFunction, fdm: FiniteDifference | None = None
) -> Estimate:
    """The derivative at ``t = 0`` of a function along a line, with an estimate of its error.

    Parameters
    ----------
    line : DirectionalFunction
    fdm : FiniteDifference, optional
        Then this method alone is used. Without it: a complex step, where five differences
        confirm it; else adaptive central differences, and at the edge of a domain one-sided ones.
    """
    if line.result.size == 0:
        return Estimate(np.zeros(0), np.zeros(0), 0.0)
    with quiet():
        if fdm is not None:
            return fdm.estimate(line)
        exact = complex_step(line.imaginary) if line.real else None
        if exact is not None:
            rough = QUICK.estimate(line)
            if consistent(exact, rough):
                return exact
        found = adaptive(line)
        return exact if exact is not None and consistent(exact, found) else found


def adaptive(line: DirectionalFunction) -> Estimate:
    """Central differences; one-sided where the function ends at the point."""
    # The reach keeps away from kinks and poles nearby; floats of less precision need more of it.
    reach = 1e-2 * (line.epsilon / float(np.finfo(float).eps)) ** (1 / 6)
    reach = max(reach, 1e4 * line.resolution)  # at a large point nothing less is a step at all
    found = central_fdm(5, 1, max_range=reach).estimate(line)
    for one_sided in (forward_fdm, backward_fdm):
        if np.all(np.isfinite(found.error)):
            break
        found = one_sided(5, 1, max_range=reach).estimate(line)
    return found
