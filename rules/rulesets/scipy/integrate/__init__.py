"""Rules for scipy.integrate, which call back into the engine with the user's function.

A function of the user's may take traced values as arguments, capture them, or find them in
containers and objects that it captures: ``rulesets.functions.closures`` takes them out of it.
"""

from typing import Any

from scipy import integrate

from .... import non_differentiable
from ..traced_objects import refused
from . import (
    boundary_values,
    cubature,
    elementwise,
    initial_values,
    quadrature,
    samples,
    series,
    several_variables,
)

__all__ = ["INSTEAD", "REFUSED", "samples"]

SOLVER = "the steps are yours to take, and the method keeps them in arrays of its own", "solve_ivp"
SOLVERS = ("BDF", "DOP853", "LSODA", "RK23", "RK45", "Radau", "complex_ode", "ode")
INSTEAD: dict[str, Any] = {
    **quadrature.INSTEAD, **several_variables.INSTEAD,
    **initial_values.INSTEAD, **boundary_values.INSTEAD, **elementwise.INSTEAD, **series.INSTEAD,
    **cubature.INSTEAD, **{name: refused(getattr(integrate, name), *SOLVER) for name in SOLVERS},
}  # fmt: skip
REFUSED: dict[str, tuple[str, str]] = {}
if hasattr(integrate, "lebedev_rule"):
    non_differentiable(integrate.lebedev_rule)
