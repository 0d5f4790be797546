"""``jac=cr.ad``: derivatives that solvers are given, computed by chainrules itself.

SciPy's solvers approximate the derivatives that they are not given by differences, as ``"2-point"``
or ``"cs"``. In the same place ``cr.ad``, or ``"ad"``, asks for the exact ones. Without it a program
computes what SciPy computes, to the last bit.
"""

import functools
import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import optimize

from .._ad import ad
from ..forward import jacfwd, jvp
from ..reverse import grad, hessian, hvp, jacobian, value_and_grad
from ..rules import StandIn
from ..rules.rulesets.scipy.integrate.initial_values import state


def is_asked(x: Any) -> bool:
    return isinstance(x, str | type(ad)) and x == ad


def gradient(f: Callable) -> Callable:
    return grad(f)


def second_derivative(f: Callable) -> Callable:
    return slope(slope(f))


def slope(f: Callable) -> Callable:
    """Return the derivative of ``f`` of a number, or of each of many numbers beside each other."""

    def derivative(x: Any, *args: Any) -> Any:
        return jvp(lambda x: f(x, *args), (x,), (np.ones_like(x)[()],))[1]

    return derivative


def product(f: Callable) -> Callable:
    """Return the Hessian times a vector, as ``hessp`` is called."""

    def hessian_product(x: Any, p: Any, *args: Any) -> Any:
        return hvp(lambda x: f(x, *args), (x,), (p,))

    return hessian_product


def of_parameters(f: Callable) -> Callable:
    """Return the Jacobian of a model in its parameters, as ``curve_fit`` calls it."""

    def jacobian_of_model(x: Any, *parameters: Any) -> Any:
        at = np.array(parameters, float)
        # Few parameters, many data.
        return jacfwd(lambda p: f(x, *p))(at)

    return jacobian_of_model


def of_state(f: Callable, sparse: bool = False, vectorized: bool = False) -> Callable:
    """Return the Jacobian of a right-hand side in the state, as ``solve_ivp`` calls it."""

    def slope_at(y: Any, t: Any, *args: Any) -> Any:
        return state(f(t, y[:, None] if vectorized else y, *args))

    jacobian_at = jacfwd(slope_at, sparse=sparse)

    def jacobian_of_state(t: Any, y: Any, *args: Any) -> Any:
        return jacobian_at(y, t, *args)

    return jacobian_of_state


def weighed(f: Callable) -> Callable:
    """Return the Hessian of constraints, weighed by multipliers, as SciPy calls it."""

    def weighed_hessian(x: Any, v: Any) -> Any:
        return hessian(lambda x: np.sum(np.asarray(v) * f(x)))(x)

    return weighed_hessian


class NonlinearConstraint(optimize.NonlinearConstraint, metaclass=StandIn):
    """``scipy.optimize.NonlinearConstraint``, whose ``jac`` and ``hess`` may be ``cr.ad``."""

    def __init__(self, fun: Callable, lb: Any, ub: Any, *args: Any, **kwargs: Any) -> None:
        super().__init__(fun, lb, ub, *args, **kwargs)
        for name, derivative in (("jac", jacobian), ("hess", weighed)):
            given = getattr(self, name)
            if is_asked(given):
                setattr(self, name, derivative(fun))


# By name: the parameter that is the user's function, and those that may be asked for. Residuals
# have at least as many numbers as unknowns, for which forward mode is the faster one.
MINIMIZERS = {"jac": gradient, "hess": hessian, "hessp": product}
OLDER = {"fprime": gradient}
ROOTS = {"fprime": slope, "fprime2": second_derivative}
Asked = dict[str, tuple[str, dict[str, Callable]]]
OF_OPTIMIZE: Asked = {
    "curve_fit": ("f", {"jac": of_parameters}),
    "fmin_bfgs": ("f", OLDER),
    "fmin_cg": ("f", OLDER),
    "fmin_l_bfgs_b": ("func", OLDER),
    "fmin_ncg": ("f", {"fprime": gradient, "fhess": hessian, "fhess_p": product}),
    "fmin_slsqp": ("func", OLDER),
    "fmin_tnc": ("func", OLDER),
    "fsolve": ("func", {"fprime": jacfwd}),
    "least_squares": ("fun", {"jac": jacfwd}),
    "leastsq": ("func", {"Dfun": jacfwd}),
    "minimize": ("fun", MINIMIZERS),
    "newton": ("func", ROOTS),
    "root": ("fun", {"jac": jacfwd}),
    "root_scalar": ("f", ROOTS),
}
# These ask for the gradient wherever they ask for the value, so that one run gives both.
TOGETHER = ("bfgs", "cg", "l-bfgs-b")


def asks_for_both(call: dict[str, Any]) -> bool:
    """Say so of the method that ``minimize`` is told to take, or takes if it is told none."""
    method = call.get("method")
    if method is None:
        given = call.get("constraints", ())
        return isinstance(given, tuple | list) and len(given) == 0
    return isinstance(method, str) and method.lower() in TOGETHER


DENSE = ("LSODA", "lm")  # these take no pattern, and SciPy says so
OF_INTEGRATE: Asked = {"solve_ivp": ("fun", {"jac": of_state})}


def with_slopes(constraints: Any) -> Any:
    """Return constraints in dicts with the Jacobians that they ask for."""
    if isinstance(constraints, dict):
        asks = is_asked(constraints.get("jac"))
        return {**constraints, "jac": jacobian(constraints["fun"])} if asks else constraints
    if not isinstance(constraints, list | tuple):
        return constraints
    given = [with_slopes(part) if isinstance(part, dict) else part for part in constraints]
    same = all(new is old for new, old in zip(given, constraints, strict=True))
    return constraints if same else given


def exact(name: str, solver: Callable, of_module: Asked) -> Callable:
    """Return the solver, which takes ``cr.ad`` for derivatives of its function.

    Where it is told beside that which entries of the Jacobian may not be zero (``jac_sparsity``),
    it is given a sparse matrix. Which ones are not, our own run of the function says.
    """
    parameter, asked = of_module[name]
    names = tuple(inspect.signature(solver).parameters)

    @functools.wraps(solver)
    def solves(*args: Any, **kwargs: Any) -> Any:
        if "constraints" in kwargs and name == "minimize":
            kwargs["constraints"] = with_slopes(kwargs["constraints"])
        if not any(map(is_asked, (*args, *kwargs.values()))):
            return solver(*args, **kwargs)
        call = {**dict(zip(names, args)), **kwargs}
        f, more = call[parameter], {}
        if name == "minimize" and is_asked(call.get("jac")) and asks_for_both(call):
            call |= {"fun": value_and_grad(f), "jac": True}
        method = getattr(call.get("method"), "__name__", call.get("method"))
        if call.get("jac_sparsity") is not None and method not in DENSE:
            del call["jac_sparsity"]
            more["sparse"] = True
        if call.get("vectorized"):
            more["vectorized"] = True
        for word, derivative in asked.items():
            if is_asked(call.get(word)):
                call[word] = derivative(f, **more)
        return solver(**call)

    return solves
