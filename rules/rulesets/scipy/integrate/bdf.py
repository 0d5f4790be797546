"""Backward differentiation formulas: sensitivities along the steps that SciPy's BDF accepted.

BDF keeps backward differences ``D`` of the solution, (8, n), at its present order and step size.
Each step is linear in ``D`` and in its correction ``d``, by which ``c * f(t, y) = psi + d`` where
``y = y_predict + d``. Order and step sizes are held constant, so the derivative of a step is one
linear system: ``(I - c * J) @ ydot = y_predict_dot - psidot + c * fdot``. The states are those
that SciPy's Newton iteration ended with, which solve their equations to its tolerances.
Source: Shampine and Reichelt (1997), The MATLAB ODE Suite; scipy.integrate.BDF.
"""

import numpy as np

from .....config import HasForwardsMode, HasReverseMode
from .....config.thresholds import SLOPES_NUMBERS
from .... import (
    NoTangent,
    ProjectTo,
    as_structured,
    frule,
    innermost,
    primitive,
    rrule,
    shape_of,
    unthunk,
    value,
)
from .march import StepPlan
from .sensitivities import Columns, jacobians_of_all

MOST = 5  # the highest order
ROWS = MOST + 3
KAPPA = np.array([0, -0.1850, -1 / 9, -0.0823, -0.0415, 0])
GAMMA = np.hstack([0, np.cumsum(1 / np.arange(1, MOST + 1))])
ALPHA = (1 - KAPPA) * GAMMA


def rescaled(order, factor):
    """The matrix that makes differences at ``factor`` times the step size."""
    i = np.arange(1, order + 1)
    parts = []
    for x in (factor, 1.0):
        r = np.zeros((order + 1, order + 1))
        r[1:, 1:] = (i[:, None] - 1 - x * i) / i[:, None]
        r[0] = 1
        parts.append(np.cumprod(r, axis=0))
    whole = np.eye(ROWS)
    whole[: order + 1, : order + 1] = (parts[0] @ parts[1]).T
    return whole


class Differences(StepPlan):
    """Steps of BDF, and the differences that SciPy had before the first and after each.

    ``maps`` are matrices for each step, (steps, ROWS + 2, ROWS): the differences after it, if its
    correction were zero, then ``y_predict - psi`` and ``y_predict``. ``columns`` times the
    correction come to the differences, (steps, ROWS).
    """

    def __init__(self, log, mesh, times, warn):
        super().__init__(None, mesh, times, warn)
        memories = [log[0].before, *(step.after for step in log)]
        self.orders, self.sizes = [m[0] for m in memories], [m[1] for m in memories]
        self.known = np.array([m[2] for m in memories])
        h = np.diff(mesh)
        self.c = h / ALPHA[self.orders[:-1]]
        steps = zip(self.orders, self.orders[1:], self.sizes, self.sizes[1:], h.tolist())
        found = [self.matrices(*step) for step in steps]
        self.maps, self.columns = (np.array(parts) for parts in zip(*found))

    @staticmethod
    def matrices(order, order_after, size, size_after, h):
        before = rescaled(order, abs(h) / size)
        predict = np.sum(before[: order + 1], axis=0)
        psi = GAMMA[1 : order + 1] @ before[1 : order + 1] / ALPHA[order]
        # Differences with the correction as one more column, as SciPy brings them up to date.
        d = np.hstack([before, np.zeros((ROWS, 1))])
        correction = np.eye(1, ROWS + 1, ROWS)[0]
        d[order + 2] = correction - d[order + 1]
        d[order + 1] = correction
        for i in reversed(range(order + 1)):
            d[i] += d[i + 1]
        if (order_after, size_after) != (order, abs(h)):
            d = rescaled(order_after, size_after / abs(h)) @ d
        return np.vstack([d[:, :ROWS], predict - psi, predict]), d[:, ROWS]

    def check(self, slope):
        """Warn where the right-hand side gave another slope at the beginning."""
        off = np.abs(slope * np.copysign(self.sizes[0], self.c[0]) - self.known[0, 1])
        if np.max(off, initial=0.0) > 1e-9 * np.max(np.abs(self.known[:, 0]), initial=0.0):
            self.warn(np.max(off))

    def within_steps(self, table, at, where):
        """Values at the times ``at``, of the polynomials of the steps ``where``. (len(at), n)."""
        if len(where) == 0:
            return np.zeros((0, shape_of(table)[2]))
        ends = where + 1
        order = np.array(self.orders)[ends]
        h = np.copysign(np.array(self.sizes)[ends], self.c[0])
        x, weights = at - self.mesh[ends], [np.ones(len(where))]
        for i in range(MOST):
            weights.append(weights[-1] * ((x + i * h) / ((i + 1) * h)) * (order > i))
        weights = np.stack(weights, axis=1)[:, :, None]
        return np.sum(weights * table[ends, : MOST + 1], axis=1)


def follows_steps(steps, y, start, stop, parameters):
    """Say whether the derivative is that of these steps of BDF: of few states and parameters."""
    columns = Columns(y, parameters)
    return (
        innermost((start, stop)) is None
        and start != stop
        and columns.size > 0
        and steps * ROWS * columns.n * columns.size <= SLOPES_NUMBERS
        and columns.fit_a_block(y, parameters)
    )


# The differences at the mesh, (steps + 1, ROWS, n).
@primitive
def differences(plan, f, y, *parameters):
    return plan.known


def moved(config, plan, f, table, parameters, columns):
    """Return the tangents of all differences: (steps + 1, ROWS, n, columns)."""
    n, count = columns.n, columns.size
    states = [table[k, 0] for k in range(len(plan) + 1)]
    slopes, j = jacobians_of_all(config, f, plan.mesh, states, parameters, columns)
    plan.check(value(slopes[0]))
    c = plan.c[:, None, None]
    of_rest = (np.arange(count) >= n).astype(float)
    right = np.concatenate([np.broadcast_to(np.eye(n), (len(plan), n, n)), c * j[1:] * of_rest], 2)
    solved = np.linalg.solve(np.eye(n) - c * j[1:, :, :n], right)
    own, rest = solved[:, :, :n], solved[:, :, n:]
    first = [np.eye(n, count), j[0] * np.copysign(plan.sizes[0], plan.c[0])]
    s = np.stack([*first, *[np.zeros((n, count))] * (ROWS - 2)])
    tangents = [s]
    for k in range(len(plan)):
        found = np.tensordot(plan.maps[k], s, 1)
        correction = own[k] @ found[ROWS] + rest[k] - found[ROWS + 1]
        s = found[:ROWS] + plan.columns[k][:, None, None] * correction
        tangents.append(s)
    return np.stack(tangents)


@frule.register(differences)
def differences_frule(config: HasForwardsMode, tangents, differences, plan, f, y, *parameters):
    _, _, _, ydot, *dots = map(unthunk, tangents)
    columns = Columns(y, parameters)
    table = differences(plan, f, y, *parameters)
    dot = columns.row(as_structured(y, ydot), as_structured(parameters, tuple(dots)))
    return table, moved(config, plan, f, table, parameters, columns) @ dot


@rrule.register(differences)
def differences_rrule(config: HasReverseMode, differences, plan, f, y, *parameters):
    table = differences(plan, f, y, *parameters)
    columns = Columns(y, parameters)
    spaces = [ProjectTo(x) for x in (y, *parameters)]
    found = None

    def differences_pullback(tablebar):
        nonlocal found
        if found is None:
            found = moved(config, plan, f, table, parameters, columns)
        ybar, bars = columns.parts(np.tensordot(tablebar, found, 3))
        bars = [project(bar) for project, bar in zip(spaces, (ybar, *bars))]
        return NoTangent(), NoTangent(), NoTangent(), *bars

    return table, differences_pullback
