"""Runge-Kutta methods, as SciPy's solvers have them."""

import numpy as np
from scipy import integrate

from .... import value
from .collocation import NODES, stages


def is_explicit(method):
    return issubclass(method, (integrate.RK23, integrate.RK45, integrate.DOP853))


def has_steps(method):
    return is_explicit(method) or issubclass(method, integrate.Radau)


class Weights:
    """The weights of the slopes of a step, in its states and in values inside.

    Slope ``j + 1`` is taken at ``t + times[j] * h``, in the state ``y + h * sum(rows[j] * k)``.
    ``columns[j]`` are those of slope ``j`` in the states after it, the last one first.
    """

    def __init__(self, rows, times, powers, alternating):
        self.rows, self.times, self.powers, self.alternating = rows, times, powers, alternating
        last_first = rows[::-1]
        self.columns = [
            np.array([row[j] for row in last_first[: len(rows) - j]]) for j in range(len(rows) + 1)
        ]

    def within(self, at, t, h):
        """The weights of all slopes in the values at the times ``at``: (len(at), slopes)."""
        if np.any(value(h) == 0):
            unit = np.eye(1, self.powers.shape[1])
            return (at - t)[:, None] * unit
        x = (at - t) / h
        return np.reshape(h * np.ones_like(x), (-1, 1)) * self.inside(x)

    def inside(self, x):
        """The weights of the slopes at fractions ``x`` of a step of length one."""
        factors = [x]
        for i in range(1, len(self.powers)):
            factors.append(factors[-1] * (1 - x if self.alternating and i % 2 else x))
        return np.stack(factors, axis=1) @ self.powers


class Explicit:
    """An explicit method of SciPy's: the class RK23, RK45 or DOP853.

    ``regular`` are the weights of a step, the last row of which leads to its end; ``dense`` have
    the further slopes that values inside need. ``last`` is the slope at the end.
    """

    def __init__(self, method):
        rows = [method.A[s, :s] for s in range(1, len(method.B))] + [method.B]
        times, self.last = [*method.C[1:], 1.0], len(rows)
        if not issubclass(method, integrate.DOP853):
            self.regular = self.dense = Weights(rows, times, method.P.T, False)
            return
        more = [a[: len(rows) + 1 + i] for i, a in enumerate(method.A_EXTRA)]
        first, end, whole = np.zeros((3, method.D.shape[1]))
        first[0], end[self.last], whole[: len(method.B)] = 1, 1, method.B
        powers = np.array([whole, first - whole, 2 * whole - first - end, *method.D])
        self.regular = Weights(rows, times, powers, True)
        self.dense = Weights(rows + more, [*times, *method.C_EXTRA], powers, True)


class Implicit:
    """Steps of Radau's method; ``guesses`` are stages as SciPy found them, for each step.

    A step leads from ``y`` at ``t`` to ``end``; ``at`` are times inside, where the value is that of
    the method's polynomial. ``f(t, y)`` is the right-hand side.
    """

    def __init__(self, guesses):
        self.guesses = guesses

    def step(self, k, f, t, end, y, at):
        h = end - t
        z = stages(self.guesses[k], f.field, t, h, y, *f.parameters)
        if len(at) == 0:
            return z[-1], None
        if value(h) == 0:
            return z[-1], y + np.multiply.outer(at - t, f(t, y))
        x, inside = (at - t) / h, 0.0
        nodes = np.concatenate([[0.0], NODES])
        for j, node in enumerate(nodes):  # Lagrange's polynomial, through the stages
            weight = 1.0
            for other in np.delete(nodes, j):
                weight = weight * (x - other) / (node - other)
            inside = inside + np.multiply.outer(weight, y if j == 0 else z[j - 1])
        return z[-1], inside
