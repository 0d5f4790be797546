"""The steps of an implicit method, one after the other, on a mesh that is held constant.

Forward mode pushes tangents along. Reverse mode keeps the state at the mesh only, and takes a
step again, on a tape of its own, when it comes back to it: the memory is that of one step.
"""

import numpy as np

from .....config import HasForwardsMode, HasReverseMode, frule_via_ad, rrule_via_ad, value_via_ad
from .....config.progress import long_work
from .... import (
    ZERO,
    AbstractZero,
    NoTangent,
    ProjectTo,
    Tangent,
    add,
    frule,
    primitive,
    rrule,
    unthunk,
    value,
)
from ...functions.progress import counted

SAME = 1e-7  # how near the same evaluations come to the same slopes and states


class StepPlan:
    """Constants of a solution: the mesh, the method, and the requested times within each step.

    ``warn`` is told how far a step that is taken again ends from where it ended.
    """

    def __init__(self, method, mesh, times, warn):
        self.method, self.mesh, self.warn = method, mesh, warn
        forwards = mesh[-1] >= mesh[0]
        inner = mesh[1:-1] if forwards else -mesh[1:-1]
        where = np.searchsorted(inner, times if forwards else np.negative(times), side="left")
        self.bounds = np.searchsorted(where, np.arange(len(mesh)), side="left").tolist()

    def __len__(self):
        return len(self.mesh) - 1

    def times(self, k, start, stop):
        """Both ends of step ``k``: the first and the last time are traced ones, maybe."""
        t = start if k == 0 else self.mesh[k]
        return t, stop if k == len(self) - 1 else self.mesh[k + 1]

    def within(self, k, at):
        return at[self.bounds[k] : self.bounds[k + 1]]

    def compare(self, end, again):
        """Warn where a step, taken again, ended in another state."""
        off = np.max(np.abs(value(again) - value(end)), initial=0.0)
        if off > SAME * np.max(np.abs(value(end)), initial=0.0):
            self.warn(off)


def marched(plan, f, y, start, stop, at, *parameters):
    nodes, inside, rhs = [y], [], f(*parameters)
    for k in range(len(plan)):
        t, end = plan.times(k, start, stop)
        y, values = plan.method.step(k, rhs, t, end, y, plan.within(k, at))
        nodes.append(y)
        inside += [] if values is None else [values]
    empty = np.zeros((0, np.shape(y)[0]))
    return np.stack(nodes), np.concatenate(inside) if inside else empty


# States at the mesh (N + 1, n), and at the times ``at`` (M, n). ``f(*parameters)`` gives
# the right-hand side.
march = primitive(marched)


@frule.register(march)
def march_frule(config: HasForwardsMode, tangents, march, plan, f, y, *given):
    return frule_via_ad(config, (NoTangent(), *tangents[1:]), marched, plan, f, y, *given)


@rrule.register(march)
def march_rrule(config: HasReverseMode, march, plan, f, y, start, stop, at, *parameters):
    nodes, inside = value_via_ad(config, marched, plan, f, y, start, stop, at, *parameters)
    times = start, stop, at
    project_at = ProjectTo(at)

    def march_pullback(bars):
        nodesbar, insidebar = map(unthunk, bars)
        ybar = row(nodesbar, len(plan))
        startbar = stopbar = ZERO
        atbars, parameterbars = [], [ZERO] * len(parameters)
        work = long_work("solve_ivp, back", len(plan))
        for k in counted(reversed(range(len(plan))), work):
            within = plan.within(k, insidebar) if not isinstance(insidebar, AbstractZero) else ZERO
            within = ZERO if isinstance(within, AbstractZero) or not len(within) else within
            if not (isinstance(ybar, AbstractZero) and isinstance(within, AbstractZero)):
                ends = nodes[k : k + 2]
                pulled = pull_step(config, plan, f, k, ends, times, parameters, ybar, within)
                ybar, tbar, endbar, atbar, *found = pulled
                startbar = tbar if k == 0 else startbar
                stopbar = endbar if k == len(plan) - 1 else stopbar
                parameterbars = [add(bar, more) for bar, more in zip(parameterbars, found)]
                atbars.append((k, atbar))
            ybar = add(ybar, row(nodesbar, k))
        return (
            NoTangent(), NoTangent(), NoTangent(), ybar, startbar, stopbar,
            together(plan, at, atbars, project_at), *parameterbars,
        )  # fmt: skip

    return (nodes, inside), march_pullback


def row(nodesbar, k):
    return ZERO if isinstance(nodesbar, AbstractZero) else nodesbar[k]


def pull_step(config, plan, f, k, ends, times, parameters, ybar, withinbar):
    """Take step ``k`` again, and pull back through it."""
    start, stop, at = times

    def step(y, t, end, at, *parameters):
        y_end, values = plan.method.step(k, f(*parameters), t, end, y, at)
        return y_end if values is None else (y_end, values)

    t, end = plan.times(k, start, stop)
    within = plan.within(k, at)
    again, pullback = rrule_via_ad(config, step, ends[0], t, end, within, *parameters)
    plan.compare(ends[1], again[0] if len(within) else again)
    bars = Tangent(tuple, ybar, withinbar) if len(within) else ybar
    return pullback(bars)[1:]


def together(plan, at, atbars, project):
    """The cotangent of all times, from those of the times in each step."""
    if all(isinstance(unthunk(bar), AbstractZero) for _, bar in atbars):
        return ZERO
    found = dict(atbars)
    parts = [found.get(k, ZERO) for k in range(len(plan))]
    zeros = [np.zeros(np.shape(plan.within(k, at))) for k in range(len(plan))]
    parts = [zero if isinstance(part, AbstractZero) else part for part, zero in zip(parts, zeros)]
    return project(np.concatenate(parts))
