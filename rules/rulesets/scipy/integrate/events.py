"""Events of solve_ivp: when they happen depends on what is differentiated.

An event is a zero of ``g(t, y(t))``. By the implicit function theorem its time moves by
``tdot = -gdot / (dg/dt)``. That is what steps of Newton's method with a constant slope do with the
traced residual at the time that SciPy found; each step makes one more order of derivatives right.
"""

import numpy as np

from .... import value, with_values
from .integrands import number

ORDERS = 4  # how many derivatives are right


def traced_events(answer):
    """Return times and states of the events, and those of the one that ended it."""
    own = answer.own
    _, args, events, *_ = answer.build(*answer.parameters)
    args = () if args is None else args
    events = events if isinstance(events, tuple | list) else [events]
    t_events, y_events, last = [], [], None
    for event, times, states in zip(events, own.t_events, own.y_events):
        found = [event_at(event, args, float(t), answer.solution) for t in times]
        if answer.ended and len(times) and times[-1] == own.t[-1]:
            last = found[-1]
        t_events.append(with_values(np.stack([t for t, _ in found]), times) if found else times)
        y_events.append(with_values(np.stack([y for _, y in found]), states) if found else states)
    return t_events, y_events, last


def event_at(event, args, t, solution):
    k = solution.step_of(t)

    def state(t):
        return solution.at(k, np.reshape(t, (1,)))[0]

    def g(t):
        return number(event(t, state(t), *args))

    delta = 1e-4 * (solution.plan.mesh[k + 1] - solution.plan.mesh[k])
    slope = (float(value(g(t + delta))) - float(value(g(t - delta)))) / (2 * delta)
    if slope == 0:
        slope = np.float64(slope)
    moved = t
    for _ in range(ORDERS):
        moved = moved - g(moved) / slope
    return moved, state(moved)
