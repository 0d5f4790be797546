"""What has no derivative, and what to write instead."""

import functools

from scipy import integrate

from .....config import MissingRuleError, user_line
from .... import innermost, non_differentiable
from ...functions.closures import TakenOut
from ..traced_objects import refused

ONE_BY_ONE = "no rule yet, for all elements are integrated at once, and end at different levels"
REFUSED = {
    "cubature": ("no rule yet", "nquad, or quad_vec in each variable"),
    "newton_cotes": ("no rule yet", "simpson, or trapezoid, which take positions"),
    "nsum": ("no rule yet, for how many terms it adds depends on them", "np.sum of the terms"),
    "tanhsinh": (ONE_BY_ONE, "quad, or quad_vec"),
}
REFUSED = {name: why for name, why in REFUSED.items() if hasattr(integrate, name)}
SOLVER = "the steps are yours to take, and the method keeps them in arrays of its own", "solve_ivp"
SOLVERS = ("BDF", "DOP853", "LSODA", "RK23", "RK45", "Radau", "complex_ode", "ode")


def refusing(name, reason, remedy):
    """Return SciPy's function, for where nothing is traced, captured values included."""
    f = getattr(integrate, name)

    @functools.wraps(f)
    def refuses(*args, **kwargs):
        if innermost((*args, *kwargs.values())) is None and not TakenOut((args, kwargs)).parameters:
            return f(*args, **kwargs)
        raise MissingRuleError(
            f"scipy.integrate.{name} has no derivative: {reason}, in {user_line()}.\n"
            f"  write {remedy}"
        )

    return refuses


INSTEAD = {name: refusing(name, *why) for name, why in REFUSED.items()}
INSTEAD |= {name: refused(getattr(integrate, name), *SOLVER) for name in SOLVERS}
if hasattr(integrate, "lebedev_rule"):
    non_differentiable(integrate.lebedev_rule)
