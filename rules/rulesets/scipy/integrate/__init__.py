"""Rules for scipy.integrate, which call back into the engine with the user's function.

A function of the user's may take traced values as arguments, capture them, or find them in
containers and objects that it captures: ``rulesets.functions.closures`` takes them out of it.
"""

from typing import Any

from . import (
    boundary_values,
    cubature,
    elementwise,
    initial_values,
    quadrature,
    random_points,
    refused,
    samples,
    series,
    several_variables,
)

__all__ = ["INSTEAD", "REFUSED", "samples"]

INSTEAD: dict[str, Any] = {
    **quadrature.INSTEAD, **several_variables.INSTEAD, **random_points.INSTEAD,
    **initial_values.INSTEAD, **boundary_values.INSTEAD, **elementwise.INSTEAD, **series.INSTEAD,
    **cubature.INSTEAD, **refused.INSTEAD,
}  # fmt: skip
REFUSED: dict[str, tuple[str, str]] = {}
