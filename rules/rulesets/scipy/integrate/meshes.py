"""Meshes for derivatives where SciPy's own steps do not serve: solved once more, by known methods.

A solution that rests, at an equilibrium, has no error in SciPy's eyes, whose steps are then as long
as they may be: too long for what leads away from there. Steps for that are those of the same
problem beside one tangent in general position, for both of which the tolerances hold.
"""

import numpy as np
from scipy import integrate

from .....config import NoSolutionError, frule_via_ad, user_line
from .....config.thresholds import STIFF_CALLS
from .... import ZERO, NoTangent, dtype_of, innermost, shape_of, value
from .log import logged, solved_by
from .runge_kutta import joined, joined_tangents

KNOWN = {"rtol", "atol", "max_step", "first_step", "jac", "jac_sparsity"}
OF_A_STATE = {"jac", "jac_sparsity"}
PART = 0.05  # of the span, above which a step is long
MOTION = 10  # tolerances, by which a state moves if these hold for its motion


class _TooManyCallsError(Exception):
    pass


def another_solution(rhs, t_span, y0, calls, options, inside):
    """Return a method that we know, and the steps that it took for the same problem."""
    options = {name: x for name, x in options.items() if name in KNOWN}
    count = 0

    def counted(t, y):
        nonlocal count
        count += 1
        if count > STIFF_CALLS * calls + 100:
            raise _TooManyCallsError
        return rhs(t, y)

    for method, f in ((integrate.DOP853, counted), (integrate.Radau, rhs)):
        log = []
        only = set() if method is integrate.Radau else {"jac", "jac_sparsity"}
        given = {name: x for name, x in options.items() if name not in only}
        try:
            answer = solved_by(logged(method, log, inside), f, t_span, y0, **given)
        except _TooManyCallsError:
            continue
        if answer.status == 0:
            return method, log
    raise NoSolutionError(
        f"the problem was solved again for its derivative, in {user_line()}, and that failed: "
        f"{answer.message}\n  use method='Radau'"
    )


def rests(log, y0, options):
    """Say whether a state moves by less than the ``MOTION`` for which the tolerances say anything.

    Steps that are short, or as long as the user lets them be, are so by themselves.
    """
    states = np.array([y0, *(step.reached for step in log)])
    size, least, most = np.abs(states).max(axis=0), states.min(axis=0), states.max(axis=0)
    tolerance = np.add(options.get("atol", 1e-6), options.get("rtol", 1e-3) * size)
    longest = max(abs(step.end - step.t) for step in log)
    long = longest > PART * abs(log[-1].end - log[0].t)
    bounded = longest > 0.999 * options.get("max_step", np.inf)
    return bool(long and not bounded and np.any(np.abs(most - least) < MOTION * tolerance))


def beside_a_tangent(took, f, y0, parameters, calls, options, inside):
    """Return method and steps for the derivative: what SciPy ``took``, if the solution moves."""
    config, log = getattr(innermost((y0, *parameters)), "config", None), took[1]
    y0, parameters = value(y0), value(parameters)
    if not rests(log, y0, options):
        return took
    n = len(y0)
    directions = [in_general(x, 1 + k) for k, x in enumerate(parameters)]

    def rhs(t, z):
        dots = NoTangent(), ZERO, z[n:], *directions
        k, kdot = frule_via_ad(config, dots, f.slope, t, z[:n], *parameters)
        return np.concatenate([joined(k), joined_tangents(k, kdot)])

    options = {name: x for name, x in options.items() if name not in OF_A_STATE}
    if np.ndim(options.get("atol")):
        options["atol"] = np.tile(options["atol"], 2)
    start = np.concatenate([y0, in_general(y0, 0)])
    span = log[0].t, log[-1].end
    try:
        method, found = another_solution(rhs, span, start, calls, options, inside)
    except NoSolutionError:
        return took
    for step in found:
        step.keep(n)
    return method, found


def in_general(x, k):
    """Return numbers of the shape of ``x`` from 1 to 3, no two of which are alike."""
    size = np.prod(shape_of(x), dtype=int)
    numbers = 2 + np.sin(np.arange(1.0, 1 + size) + k * np.sqrt(2))
    return np.reshape(numbers, shape_of(x)).astype(dtype_of(x))[()]
