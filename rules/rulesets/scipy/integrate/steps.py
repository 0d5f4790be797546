"""Steps of Runge-Kutta methods, as SciPy takes them, and the values inside a step.

A step leads from ``y`` at ``t`` to ``end``; ``at`` are times inside, where the value is that of the
method's own polynomial. ``f(t, y)`` is the right-hand side.
"""

import numpy as np
from scipy import integrate

from .... import ZERO, AbstractZero, NoTangent, frule, primitive, rrule, value
from .collocation import NODES, stages


@primitive
def combined(weights, *xs):
    """``sum(weight * x)``, added up in the order in which SciPy does."""
    return np.dot(np.stack(xs).T, weights)


@frule.register(combined)
def combined_frule(tangents, combined, weights, *xs):
    dots = [(w, dot) for w, dot in zip(weights, tangents[2:]) if not isinstance(dot, AbstractZero)]
    y = combined(weights, *xs)
    if not dots:
        return y, ZERO
    return y, combined(np.array([w for w, _ in dots]), *(dot for _, dot in dots))


@rrule.register(combined)
def combined_rrule(combined, weights, *xs):
    def combined_pullback(ybar):
        return NoTangent(), NoTangent(), *[w * ybar if w else ZERO for w in weights.tolist()]

    return combined(weights, *xs), combined_pullback


class Explicit:
    """Steps of an explicit method. ``method`` is SciPy's class: RK23, RK45, DOP853."""

    def __init__(self, method):
        self.method = method

    def step(self, k, f, t, end, y, at):
        method, h = self.method, end - t
        slopes = [f(t, y)]
        for s in range(1, len(method.B)):
            dy = combined(method.A[s, :s], *slopes) * h
            slopes.append(f(t + method.C[s] * h, y + dy))
        y_end = y + h * combined(method.B, *slopes)
        if len(at) == 0:
            return y_end, None
        slopes.append(f(t + h, y_end))
        if value(h) == 0:
            return y_end, y + np.multiply.outer(at - t, slopes[0])
        inside = dop853 if issubclass(method, integrate.DOP853) else polynomial
        return y_end, inside(method, f, t, h, y, y_end, slopes, (at - t) / h)


def polynomial(method, f, t, h, y, y_end, slopes, x):
    """``y + h * sum(q[i] * x**(i + 1))``, at each of ``x``. Shape: (len(x), n)."""
    y_at, power = 0.0, x
    for p in method.P.T:
        y_at = y_at + np.multiply.outer(power, combined(p, *slopes))
        power = power * x
    return y + h * y_at


def dop853(method, f, t, h, y, y_end, slopes, x):
    """The polynomial of order 7, for which there are three more stages."""
    first, last = slopes[0], slopes[-1]
    for a, c in zip(method.A_EXTRA, method.C_EXTRA):
        dy = combined(a[: len(slopes)], *slopes) * h
        slopes.append(f(t + c * h, y + dy))
    delta = y_end - y
    parts = [delta, h * first - delta, 2 * delta - h * (last + first)]
    parts += [h * combined(d, *slopes) for d in method.D]
    y_at, x = 0.0, x[:, None]
    for i, part in enumerate(reversed(parts)):
        y_at = (y_at + part) * (x if i % 2 == 0 else 1 - x)
    return y + y_at


class Implicit:
    """Steps of Radau's method; ``guesses`` are stages as SciPy found them, for each step."""

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
