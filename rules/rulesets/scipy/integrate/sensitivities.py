"""Forward sensitivities: how all states of a solution move by the initial state and parameters.

The right-hand side is linearized at the states that SciPy came to, many of them in one callback.
What follows is linear algebra of plain matrices: within a step for all steps at once, and from step
to step ``s = m @ s + b``. For few columns that is cheaper than to push or pull through one
evaluation after the other, and it serves any number of directions.
"""

import itertools
import math

import numpy as np

from .....config import HasForwardsMode
from .....config.thresholds import (
    SLOPES_AT_ONCE,
    SLOPES_COLUMNS,
    SLOPES_KEPT,
)
from .... import dtype_of, innermost, is_lazy, jacobian_via_ad, shape_of, strip, value

NO_STATE = np.zeros(0)


class Columns:
    """The entries of the initial state and of the parameters, in a row."""

    def __init__(self, y, parameters):
        self.shapes = [shape_of(x) for x in parameters]
        self.n = shape_of(y)[0]
        self.ends = [*itertools.accumulate([self.n, *map(math.prod, self.shapes)])]
        self.size = self.ends[-1]

    def fit_a_block(self, y, parameters):
        """Say whether these are float64 numbers, few enough for one block of directions."""
        given = (y, *parameters)
        return self.size <= SLOPES_COLUMNS and all(dtype_of(x) == np.float64 for x in given)

    def row(self, y, parameters):
        return np.concatenate([y, *(np.reshape(x, -1) for x in parameters)])

    def parts(self, row):
        """The state, and a list of the parameters; further axes of the row stay the last."""
        found = []
        for start, end, shape in zip(self.ends, self.ends[1:], self.shapes):
            part = row[start:end] if shape else row[start]
            if len(shape) > 1:
                part = np.reshape(part, (*shape, *shape_of(row)[1:]))
            found.append(part)
        return row[: self.n], found


def in_a_row(slopes):
    if all(type(k) is tuple for k in slopes):
        return np.stack([x for k in slopes for x in k])
    return np.concatenate([np.stack(k) if type(k) is tuple else k for k in slopes])


def jacobians(config, f, ts, states, parameters, columns):
    """The slopes in these states, and their Jacobians: (len(ts), n, columns).

    All states are moved alike, so that one block of directions goes through all evaluations.
    """
    n, count = columns.n, len(ts)

    def moved(row):
        ydot, put = columns.parts(row)
        return in_a_row(f.slopes(ts, [y + ydot for y in states], put))

    still = columns.row(np.zeros(n), parameters)
    k, found = jacobian_via_ad(config, moved, still)
    return np.reshape(k, (count, n)), np.reshape(found, (count, n, columns.size))


def jacobians_of_all(config, f, ts, states, parameters, columns):
    """The slopes of any number of states, and their Jacobians, some states at a time."""
    step = SLOPES_AT_ONCE
    parts = [
        jacobians(config, f, ts[i : i + step], states[i : i + step], parameters, columns)
        for i in range(0, len(ts), step)
    ]
    return tuple(np.concatenate(found) for found in zip(*parts))


class WithSlopes:
    """A run of SciPy's solver whose right-hand side carries its Jacobian: it runs once, not twice.

    ``found`` are slopes and Jacobians, of all evaluations in their order; None where the initial
    state or a parameter carries derivatives of a further order, or there are many of these.
    """

    def __init__(self, y, parameters):
        level = innermost((y, *parameters))
        self.config = getattr(level, "config", None)
        given = strip([y, *parameters], level) if self.config is not None else []
        self.parameters = given[1:]
        self.columns = Columns(given[0], given[1:]) if given else None
        self.possible = (
            isinstance(self.config, HasForwardsMode)
            and innermost(given) is None
            and self.columns.size > 0
            and self.columns.fit_a_block(given[0], given[1:])
            and not any(map(is_lazy, given))
        )
        self.slopes, self.found = [], None

    def run(self, solve):
        """Return ``solve(ydot, parameters)``, in which states are moved by ``ydot``."""
        answer = None

        def moved(row):
            nonlocal answer
            answer = solve(*self.columns.parts(row))
            return in_a_row(self.slopes[:SLOPES_KEPT])

        still = self.columns.row(np.zeros(self.columns.n), self.parameters)
        k, j = jacobian_via_ad(self.config, moved, still)
        count, n = len(self.slopes), self.columns.n
        self.slopes.clear()
        if count <= SLOPES_KEPT:
            self.found = k.reshape(count, n), j.reshape(count, n, self.columns.size)
        return answer


def sensitivities(config, plan, f, states, start, stop, parameters, columns):
    """Return the tangents of all states, and of their slopes: (evaluations, n, columns) each."""
    if plan.linearized is not None and innermost((states, parameters)) is None:
        _, j = plan.linearized
    else:
        ts = plan.times_of_evaluations(start, stop)
        k, j = jacobians_of_all(config, f, ts, states, parameters, columns)
        plan.check(value(k))
    n = columns.n
    of_state = np.eye(n, columns.size)
    of_rest = np.diag(np.arange(columns.size) >= n).astype(float)

    def after(outer, inner):
        """``inner`` leads from the columns to a state, and ``outer`` from that and the rest on."""
        return outer[..., :n] @ inner + outer @ of_rest

    h = (plan.mesh[1:] - plan.mesh[:-1])[:, None, None]
    of_steps, maps, places = [], [], []
    for steps, numbers, rows in plan.groups():
        slopes = [k[steps] for k in of_steps] or [j[numbers[:, 0]]]
        for row in rows:
            s = of_state + h[steps] * sum(a * k for a, k in zip(row.tolist(), slopes, strict=True))
            place = numbers[:, len(slopes)]
            slopes.append(after(j[place], s))
            maps.append((steps, s, slopes[-1]))
            places.append(place)
        of_steps = of_steps or slopes
    last = maps[plan.method.last - 1][1]
    nodes = [of_state]
    own, rest = last[..., :n], last @ of_rest
    for k in range(len(plan)):
        nodes.append(own[k] @ nodes[-1] + rest[k])
    nodes = np.stack(nodes)
    order = np.argsort(np.concatenate([[0], *places]))
    of_states = [of_state[None], *(after(s, nodes[steps]) for steps, s, _ in maps)]
    of_slopes = [j[:1], *(after(k, nodes[steps]) for steps, _, k in maps)]
    return np.concatenate(of_states)[order], np.concatenate(of_slopes)[order]
