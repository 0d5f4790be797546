"""Diagnosis of points at which differences may fail: randomness, noise, a jump, a kink."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np

__all__ = ["Diagnosis", "diagnose"]

NEAR, FAR = 2.0**-30, 2.0**-14  # distances at which a smooth function looks straight


@dataclasses.dataclass(frozen=True)
class Diagnosis:
    """Diagnosis of a function of one real number at 0.

    Attributes
    ----------
    kind : str
        ``smooth``, ``random``, ``noisy``, ``jump`` or ``kink``.
    text : str
        The same as a sentence, with numbers; empty where the function looks smooth.
    left, right : array or None
        The one-sided slopes at a kink, entry by entry.
    """

    kind: str
    text: str = ""
    left: Any = None
    right: Any = None


def diagnose(f: Callable[[float], Any], epsilon: float = 2.0**-52) -> Diagnosis:
    """Look at ``f`` around 0, and tell what would spoil its differences.

    Parameters
    ----------
    f : callable
        From a float to a float or an array.
    epsilon : float
        The spacing of the floats that ``f`` computes with.

    Examples
    --------
    >>> diagnose(lambda t: abs(t) + t).text
    'it has a kink here: its slope is 0 to the left and 2 to the right'
    >>> diagnose(lambda t: t * t).kind
    'smooth'
    """
    widen = (epsilon / 2.0**-52) ** 0.5
    near, far = NEAR * widen, min(FAR * widen, 2.0**-4)
    with np.errstate(all="ignore"):
        centre, again = np.array(f(0.0)), np.array(f(0.0))
        if not np.array_equal(centre, again, equal_nan=True):
            change = np.nanmax(np.abs(centre - again))
            return Diagnosis(
                "random", f"two calls with the same arguments differ by {change:.2g}: is it random?"
            )
        samples = {t: np.array(f(t)) for t in _distances(near, far)}
        if not all(np.all(np.isfinite(y)) for y in samples.values()):
            return Diagnosis(
                "edge", "it is not finite next to this point: is it at the edge of its domain?"
            )
        for look in (_jump, _noise, _kink):
            found = look(f, centre, samples, near, far, epsilon)
            if found is not None:
                return found
    return Diagnosis("smooth")


def _distances(near: float, far: float) -> list[float]:
    steps = (near, far, far / 2, far / 4, far / 8)
    return [sign * step for step in steps for sign in (1, -1)]


def _jump(
    f: Callable, centre: Any, samples: dict, near: float, far: float, epsilon: float
) -> Diagnosis | None:
    """A change that does not get smaller with the distance."""
    scale = np.max(np.abs(centre), initial=0.0)
    for sign in (1, -1):
        close = np.max(np.abs(samples[sign * near] - centre), initial=0.0)
        wide = np.max(np.abs(samples[sign * far] - centre), initial=0.0)
        if close > 1e4 * epsilon * scale and close > 0.1 * wide > 0:
            size, side = close, "right" if sign > 0 else "left"
            settled = np.max(
                np.abs(np.array(f(sign * near / 2)) - samples[sign * near]), initial=0.0
            )
            if settled < 0.1 * size:
                return Diagnosis("jump", f"it jumps here, by {size:.2g} to the {side}")
    return None


def _noise(
    f: Callable, centre: Any, samples: dict, near: float, far: float, epsilon: float
) -> Diagnosis | None:
    """Scatter of neighbouring values, by fourth differences on one side of the point."""
    # The level of noise from a table of differences: J. More, S. Wild (2011), ECNoise.
    scale = np.abs(centre) + np.abs(samples[far] - centre)
    for step in (near, far / 64):
        levels, changes = [], []
        for sign in (1, -1):
            values = np.stack([np.array(f(sign * step * k)) for k in range(1, 8)])
            levels.append(np.sqrt(np.mean(np.diff(values, n=4, axis=0) ** 2, axis=0) / 70))
            changes.append(np.abs(values[-1] - values[0]))
        level = np.minimum(*levels)
        if np.any((level > 200 * epsilon * scale) & (level > 5e-3 * np.maximum(*changes))):
            size = float(np.max(level))
            return Diagnosis(
                "noisy", f"it is noisy here: neighbouring values scatter by {size:.1g}"
            )
    return None


def _kink(
    f: Callable, centre: Any, samples: dict, near: float, far: float, epsilon: float
) -> Diagnosis | None:
    """Slopes that differ on the two sides; what a curve makes of them is extrapolated away."""

    def slope(step: float) -> Any:
        return 2 * (samples[step / 2] - centre) / (step / 2) - (samples[step] - centre) / step

    right, left = slope(far / 4), slope(-far / 4)
    gap, farther = np.abs(right - left), np.abs(slope(far) - slope(-far))
    floor = 1e-5 * (np.abs(right) + np.abs(left)) + 1e4 * epsilon * np.abs(centre) / far
    # At a kink the gap stays when one comes nearer; at a mere sharp bend it closes.
    kinked = (gap > floor) & (gap > 0.7 * farther)
    if not np.any(kinked):
        return None
    worst = np.unravel_index(np.argmax(np.where(kinked, gap, 0.0)), np.shape(gap))
    text = (
        f"it has a kink here: its slope is {left[worst]:.6g} to the left"
        f" and {right[worst]:.6g} to the right"
    )
    return Diagnosis("kink", text, left, right)
