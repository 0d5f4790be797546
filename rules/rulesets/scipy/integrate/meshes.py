"""Meshes for derivatives where SciPy's own steps do not serve: solved once more, by known methods.

A solution that rests, at an equilibrium, has no error in SciPy's eyes, whose steps are then as long
as they may be: too long for what leads away from there. Steps for that are those of the same
problem beside one tangent in general position, for both of which the tolerances hold.
"""

import numpy as np
from scipy import integrate

from .....config import NoSolutionError, frule_via_ad, user_line
from .....config.thresholds import STIFF_CALLS
from .... import ZERO, NoTangent, dtype_of, innermost, is_lazy, shape_of, value
from .log import logged, mesh_of, solved_by
from .runge_kutta import Steps, joined, joined_tangents, pushed_steps
from .steps import Explicit, is_explicit

KNOWN = {"rtol", "atol", "max_step", "first_step", "jac", "jac_sparsity"}
OF_A_STATE = {"jac", "jac_sparsity"}
PART = 0.05  # of the span, above which a step is long
RESOLVED = 2  # tolerances, up to which the error of a tangent is that of the solution
TIGHTEST = 1e-10  # relative tolerance that an estimate is compared with
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
    """Return method and steps for the derivative: what SciPy ``took``, if it serves."""
    config, (method, log) = getattr(innermost((y0, *parameters)), "config", None), took
    y0, parameters = value(y0), value(parameters)
    # A level that only looks on has no configuration, and dask's numbers are not there yet.
    if config is None or any(map(is_lazy, (y0, *parameters))) or not rests(log, y0, options):
        return took
    n, start = len(y0), in_general(y0, 0)
    directions = [in_general(x, 1 + k) for k, x in enumerate(parameters)]
    if is_explicit(method):
        off = error_of_a_tangent(config, method, log, f, y0, start, parameters, directions)
        if off < RESOLVED * max(options.get("rtol", 1e-3), TIGHTEST):
            return took

    def rhs(t, z):
        dots = NoTangent(), ZERO, z[n:], *directions
        k, kdot = frule_via_ad(config, dots, f.slope, t, z[:n], *parameters)
        return np.concatenate([joined(k), joined_tangents(k, kdot)])

    options = {name: x for name, x in options.items() if name not in OF_A_STATE}
    if np.ndim(options.get("atol")):
        options["atol"] = np.tile(options["atol"], 2)
    span, start = (log[0].t, log[-1].end), np.concatenate([y0, start])
    try:
        method, found = another_solution(rhs, span, start, calls, options, inside)
    except NoSolutionError:
        return took
    for step in found:
        step.keep(n)
    return method, found


def error_of_a_tangent(config, method, log, f, y0, ydot, parameters, directions):
    """Return the largest error of a step of the tangent, by the method's own estimate.

    It is relative to the largest entry of the tangent in the step.
    """
    mesh = mesh_of(log)
    plan = Steps(Explicit(method), mesh, mesh[:0], None)
    dots = NoTangent(), NoTangent(), NoTangent(), ydot, ZERO, ZERO, *directions
    _, moved = pushed_steps(config, dots, plan, f, y0, mesh[0], mesh[-1], *parameters)
    ydots, kdots = moved
    weights = [getattr(method, name) for name in ("E", "E5") if hasattr(method, name)][-1]
    numbers = np.array([numbers[: len(weights)] for numbers in plan.numbers])
    errors = np.diff(mesh)[:, None] * np.tensordot(kdots[numbers], weights, (1, 0))
    sizes = np.max(np.abs(ydots[numbers]), axis=(1, 2))
    return np.max(np.max(np.abs(errors), axis=1) / sizes)


def in_general(x, k):
    """Return numbers of the shape of ``x`` from 1 to 3, no two of which are alike."""
    size = np.prod(shape_of(x), dtype=int)
    numbers = 2 + np.sin(np.arange(1.0, 1 + size) + k * np.sqrt(2))
    return np.reshape(numbers, shape_of(x)).astype(dtype_of(x))[()]
