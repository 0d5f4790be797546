"""Bounds and constraints, as SciPy takes them in many forms, with traced numbers in them."""

# ruff: noqa: N803, N806 - SciPy's names of its arguments

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import optimize, sparse

from .... import StandIn, array_of, is_traced
from ...functions.implicit import Watched, config_of, settled, untraced
from .stationary import Constraint


class Bounds(optimize.Bounds, metaclass=StandIn):
    """``scipy.optimize.Bounds``, which may be traced."""

    def __init__(self, lb: Any = -np.inf, ub: Any = np.inf, keep_feasible: Any = False) -> None:
        lb, ub = settled((lb, ub))
        super().__init__(untraced(lb), untraced(ub), keep_feasible)
        for name, bound in (("lb", lb), ("ub", ub)):
            if is_traced(bound):
                setattr(self, name, np.atleast_1d(array_of(bound)))


class LinearConstraint(optimize.LinearConstraint, metaclass=StandIn):
    """``scipy.optimize.LinearConstraint``, which may be traced."""

    def __init__(
        self,
        A: Any,
        lb: Any = -np.inf,
        ub: Any = np.inf,
        keep_feasible: Any = False,
    ) -> None:
        A, lb, ub = settled((A, lb, ub))
        super().__init__(untraced(A), untraced(lb), untraced(ub), keep_feasible)
        if is_traced(A):
            self.A = np.atleast_2d(array_of(A))
        for name, bound in (("lb", lb), ("ub", ub)):
            if is_traced(bound):
                setattr(self, name, np.atleast_1d(array_of(bound)))


def parts_of(bounds: Any) -> Any:
    """Return the lower and the upper bounds of SciPy's ``Bounds``; else what is given."""
    return (bounds.lb, bounds.ub) if isinstance(bounds, optimize.Bounds) else bounds


def plain_bounds(bounds: Any) -> Any:
    """Return bounds as SciPy gets them."""
    if isinstance(bounds, optimize.Bounds):
        if not is_traced((bounds.lb, bounds.ub)):
            return bounds
        return optimize.Bounds(untraced(bounds.lb), untraced(bounds.ub), bounds.keep_feasible)
    return untraced(bounds)


def bounds_of(bounds: Any) -> tuple[Constraint, ...]:
    """Return bounds of the unknowns, an object of SciPy's or pairs, as a constraint, if any."""
    if bounds is None:
        return ()
    if isinstance(bounds, optimize.Bounds):
        return (Constraint(None, bounds.lb, bounds.ub),)
    lower, upper = zip(*bounds)
    return (
        Constraint(
            None,
            array_of([-np.inf if b is None else b for b in lower]),
            array_of([np.inf if b is None else b for b in upper]),
        ),
    )


def between(bounds: Any) -> tuple[Constraint, ...]:
    """As ``bounds_of``, where a pair is one lower bound, or an array of them, and the upper."""
    if isinstance(bounds, optimize.Bounds):
        return bounds_of(bounds)
    return (Constraint(None, array_of(bounds[0]), array_of(bounds[1])),)


class Conditions:
    """The constraints of a call: ``given`` as SciPy gets them, ``read`` as they are looked at."""

    def __init__(self, constraints: Any) -> None:
        self.watched: list[Watched] = []
        self.beside: list[Any] = []
        alone = constraints is None or isinstance(constraints, dict) or _is_scipys(constraints)
        several = [constraints] if alone else list(constraints)
        self.read: tuple[Constraint, ...] = ()
        made = [self._take(one) for one in several if one is not None]
        self.given: Any = made[0] if alone and made else made if made else constraints

    @property
    def config(self) -> Any:
        """Of an engine that follows one of them: to be asked when SciPy has called them."""
        return config_of(self.beside) or next((w.config for w in self.watched if w.config), None)

    def _watch(self, f: Any) -> Any:
        if not callable(f):
            return f
        self.watched.append(Watched(f))
        return self.watched[-1]

    def _take(self, one: Any) -> Any:
        if isinstance(one, dict):
            args = one.get("args", ())
            f = one["fun"]
            equal = str(one.get("type")).lower() == "eq"
            self._add(lambda x: f(x, *args), 0.0, 0.0 if equal else np.inf, args)
            watched = {k: self._watch(x) if k in ("fun", "jac") else x for k, x in one.items()}
            return watched | ({"args": untraced(args)} if "args" in one else {})
        if isinstance(one, optimize.LinearConstraint):
            a = one.A.toarray() if sparse.issparse(one.A) else one.A
            self._add(lambda x: a @ x, one.lb, one.ub, a)
            if not is_traced((a, one.lb, one.ub)):
                return one
            return optimize.LinearConstraint(untraced(a), untraced(one.lb), untraced(one.ub))
        if isinstance(one, optimize.NonlinearConstraint):
            self._add(one.fun, one.lb, one.ub, ())
            parts = {name: self._watch(getattr(one, name)) for name in ("fun", "jac", "hess")}
            rest = ("keep_feasible", "finite_diff_rel_step", "finite_diff_jac_sparsity")
            kept = {name: getattr(one, name) for name in rest}
            return optimize.NonlinearConstraint(
                lb=untraced(one.lb), ub=untraced(one.ub), **parts, **kept
            )
        return one

    def _add(self, f: Callable, lower: Any, upper: Any, beside: Any) -> None:
        self.read += (Constraint(f, lower, upper),)
        self.beside += [beside, lower, upper]


def _is_scipys(x: Any) -> bool:
    return isinstance(x, optimize.LinearConstraint | optimize.NonlinearConstraint)
