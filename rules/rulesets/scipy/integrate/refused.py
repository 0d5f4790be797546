"""Classes and functions without a derivative, and the alternative to each class."""

from scipy import integrate

from .... import non_differentiable
from ..traced_objects import refused

SOLVER = "the steps are yours to take, and the method keeps them in arrays of its own", "solve_ivp"
SOLVERS = ("BDF", "DOP853", "LSODA", "RK23", "RK45", "Radau", "complex_ode", "ode")
INSTEAD = {name: refused(getattr(integrate, name), *SOLVER) for name in SOLVERS}
if hasattr(integrate, "lebedev_rule"):
    non_differentiable(integrate.lebedev_rule)
