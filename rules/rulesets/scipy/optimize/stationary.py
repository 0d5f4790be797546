"""Points where an objective is least: its gradient is zero, but for the constraints that hold.

The equations are those of Karush, Kuhn and Tucker: at a minimum the gradient is a combination of
the gradients of the constraints that hold there with equality, ``grad f = sum of l_j grad c_j``,
and the multipliers l_j of inequalities are positive. Which ones hold is found at the plain answer,
and does not change nearby; where that is not so, as where a multiplier is zero, the answer has a
kink, and that is an error.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import nnls

from .....config import SingularJacobianError, user_line
from .... import array_of, gradient_via_ad, jacobian_via_ad, value
from ...functions.implicit import entrywise, is_real_number, settled, solution, untraced


class Constraint(NamedTuple):
    """``lower <= fun(x) <= upper``; of the unknowns themselves where ``fun`` is None."""

    fun: Callable | None
    lower: Any
    upper: Any

    def at(self, x: Any) -> Any:
        if self.fun is None:
            return x
        c = settled(self.fun(x))
        return np.reshape(array_of(c), -1)


def half_square(residual: Callable) -> Callable:
    """Return half the sum of squares of a residual, as a function."""

    def objective(x: Any, *args: Any) -> Any:
        r = array_of(settled(residual(x, *args)))
        return np.sum(r * r) / 2

    return objective


def stationary(
    objective: Callable, x: Any, args: tuple, config: Any, held: tuple[Constraint, ...] = ()
) -> Any:
    """Return the plain minimum ``x`` of an objective with its derivatives.

    ``held`` are the constraints, and ``config`` is as for ``solution``.

    Shapes: ``x``, of any shape; with constraints a vector.
    """

    def number(x: Any, *args: Any) -> Any:
        y = settled(objective(x, *args))
        return y if np.ndim(y) == 0 else np.reshape(y, ())

    active = active_rows(config, lambda x: number(x, *untraced(args)), x, held)
    if active:
        return _constrained(config, number, x, args, active)

    def gradient(x: Any, *args: Any) -> Any:
        return gradient_via_ad(config, lambda x: number(x, *args), x)

    if is_real_number(x):
        return entrywise(gradient, x, args, config)
    return solution(gradient, x, args, config)


class ActiveConstraint(NamedTuple):
    """The ``rows`` of a constraint that hold with equality, and their multipliers."""

    constraint: Constraint
    rows: np.ndarray
    at_upper: np.ndarray
    multipliers: np.ndarray

    def excess(self, x: Any) -> Any:
        """Return what is zero at the answer: the constraint less its bound."""
        c = self.constraint.at(x)[self.rows]
        shape = np.shape(self.rows)
        if not np.any(self.at_upper):
            return c - _rows(self.constraint.lower, self.rows)
        if np.all(self.at_upper):
            return c - _rows(self.constraint.upper, self.rows)
        lower, upper = (_rows(b, self.rows) for b in self.constraint[1:])
        return c - np.where(np.broadcast_to(self.at_upper, shape), upper, lower)


def _rows(bound: Any, rows: np.ndarray) -> Any:
    bound = array_of(bound)
    return bound if np.ndim(bound) == 0 or np.size(bound) == 1 else bound[rows]


def _constrained(
    config: Any, objective: Callable, x: Any, args: tuple, active: list[ActiveConstraint]
) -> Any:
    n = np.size(x)
    found = np.concatenate([x, *[part.multipliers for part in active]])

    def residual(unknowns: Any, *args: Any) -> Any:
        x, multipliers = unknowns[:n], unknowns[n:]

        def excess(x: Any) -> Any:
            return np.concatenate([part.excess(x) for part in active])

        def lagrangian(x: Any) -> Any:
            return objective(x, *args) - np.sum(multipliers * excess(x))

        return np.concatenate([gradient_via_ad(config, lagrangian, x), excess(x)])

    return solution(residual, found, args, config)[:n]


# ---- which constraints hold ---------------------------------------------------------------------

# How near to a constraint an answer may be for it to be looked at, and what solvers get wrong, both
# relative to the size of the unknowns; what part of a unit vector is none, and what multiplier.
NEAR, NOISE, IN_SPAN, ROUNDING = 1e-4, 1e-7, 1e-8, 1e-12


class _Candidates(NamedTuple):
    """Constraints near which the answer is; ``rows`` are gradients that point inside."""

    rows: np.ndarray  # (m, n), of length 1
    distances: np.ndarray  # (m,)
    equal: np.ndarray  # (m,), of equations
    places: np.ndarray  # (m, 3): which constraint, its row, whether at the upper bound
    lengths: np.ndarray  # (m,), of the gradients


def active_rows(
    config: Any, objective: Callable, x: Any, constraints: tuple[Constraint, ...]
) -> list[ActiveConstraint]:
    """Return the constraints that hold with equality at the minimum ``x``.

    Raises
    ------
    SingularJacobianError
        Where one does, and need not: the answer has a kink there.
    """
    if not constraints:
        return []
    size = 1.0 + np.max(np.abs(x), initial=0.0)
    near = _candidates(config, x, constraints, NEAR * size)
    if len(near.rows) == 0:
        return []
    g = value(gradient_via_ad(config, objective, x))
    multipliers = _multipliers(near, g)
    held = near.equal | (multipliers > 0)
    if not np.all(near.equal):
        held = _without_weak(config, objective, x, constraints, near, multipliers, NOISE * size)
    if not np.any(held):
        return []
    rows = near.rows[held]
    exact = np.linalg.lstsq(rows.T, g, rcond=None)[0] / near.lengths[held]
    places = near.places[held]
    found = []
    for k, constraint in enumerate(constraints):
        mine = places[:, 0] == k
        if np.any(mine):
            at_upper = places[mine, 2] == 1
            signs = np.where(at_upper, -1.0, 1.0)
            found.append(
                ActiveConstraint(constraint, places[mine, 1], at_upper, signs * exact[mine])
            )
    return found


def _candidates(
    config: Any, x: Any, constraints: tuple[Constraint, ...], near: float
) -> _Candidates:
    rows, distances, equal, places, lengths = [], [], [], [], []
    for k, constraint in enumerate(constraints):
        if constraint.fun is None:
            c, jacobian = x, np.eye(np.size(x))
        else:
            c, jacobian = map(value, jacobian_via_ad(config, constraint.at, x))
        lower, upper = (np.broadcast_to(value(array_of(b)), np.shape(c)) for b in constraint[1:])
        for i, row in enumerate(jacobian):
            length = np.linalg.norm(row) or 1.0
            same = lower[i] == upper[i]
            for at_upper, bound in ((0, lower[i]), (1, upper[i])):
                distance = abs(c[i] - bound) / length
                if (same and at_upper) or not (same or distance <= near):
                    continue
                rows.append((-row if at_upper else row) / length)
                distances.append(distance)
                equal.append(same)
                places.append((k, i, at_upper))
                lengths.append(length)
    matrix = np.reshape(rows, (len(rows), np.size(x)))
    return _Candidates(matrix, *map(np.array, (distances, equal, places, lengths)))


def _multipliers(near: _Candidates, g: np.ndarray) -> np.ndarray:
    """Return the multipliers that explain the gradient best; those of inequalities are >= 0."""
    a = np.concatenate([near.rows, -near.rows[near.equal]])
    found = nnls(a.T, g)[0]
    count = len(near.rows)
    multipliers = found[:count].copy()
    multipliers[near.equal] -= found[count:]
    return multipliers


def _without_weak(
    config: Any, objective: Callable, x: Any, constraints: Any, near: Any, multipliers: Any,
    noise: float,
) -> np.ndarray:  # fmt: skip
    """Return which candidates hold the answer; those that do not push it must be some way off.

    A constraint pushes if the answer would leave by more than solvers get wrong without it: by
    about its multiplier over the curvature of the Lagrangian along what the others leave free.
    """
    hessian = _curvature(config, objective, x, constraints, near, multipliers)
    held = near.equal | (multipliers > 0)
    for j in np.flatnonzero(~near.equal):
        others = near.rows[held & (np.arange(len(held)) != j)]
        free = near.rows[j] - others.T @ np.linalg.lstsq(others.T, near.rows[j], rcond=None)[0]
        length = np.linalg.norm(free)
        if length <= IN_SPAN:
            held[j] = False  # the others imply it
            continue
        free /= length
        curvature = max(free @ hessian @ free, 0.0)
        pushes = multipliers[j] > ROUNDING * np.max(multipliers)
        moves = pushes and multipliers[j] * length > max(noise, near.distances[j]) * curvature
        if not moves and near.distances[j] <= noise:
            raise _just_touches()
        held[j] = moves
    return held


def holding(distances: Any, multipliers: Any, curvatures: Any, x: Any) -> np.ndarray:
    """Say which bounds hold an unknown, of an objective that is quadratic in each.

    Raises
    ------
    SingularJacobianError
        Where one touches an unknown, and does not push it.
    """
    size = 1.0 + np.max(np.abs(x), initial=0.0)
    least = np.maximum(NOISE * size, distances) * curvatures
    held = (distances <= NEAR * size) & (multipliers > least)
    if np.any(~held & (np.abs(distances) <= NOISE * size) & (np.abs(multipliers) <= least)):
        raise _just_touches()
    return held


def _just_touches() -> SingularJacobianError:
    return SingularJacobianError(
        f"a bound or a constraint just touches the answer in {user_line()}, without holding it: "
        "its multiplier is zero. The answer has a kink there, and no derivative.\n"
        "  leave the bound out, or move it away; or write cr.value(...) where no derivative is "
        "wanted"
    )


def _curvature(
    config: Any, objective: Callable, x: Any, constraints: Any, near: Any, multipliers: Any
) -> np.ndarray:
    """Return the Hessian of the Lagrangian."""
    weights = multipliers / near.lengths * np.where(near.places[:, 2] == 1, -1.0, 1.0)

    def lagrangian(x: Any) -> Any:
        y = objective(x)
        for k, constraint in enumerate(constraints):
            mine = near.places[:, 0] == k
            if constraint.fun is not None and np.any(mine):
                y = y - np.sum(weights[mine] * constraint.at(x)[near.places[mine, 1]])
        return y

    return value(jacobian_via_ad(config, lambda x: gradient_via_ad(config, lagrangian, x), x)[1])
