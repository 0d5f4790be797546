"""solve_ivp and odeint: SciPy's answer, with the derivative of a method on a mesh held constant.

Of RK23, RK45, DOP853 and Radau it is the derivative of the steps that SciPy accepted, to rounding;
of BDF too, at the states that SciPy's Newton iteration ended with. For LSODA, and for BDF with many
parameters or with times that are differentiated, the same problem is solved once more to the same
tolerances, by DOP853, or by Radau where that takes too many steps: the derivative is that of this
solution. Where a solution rests the mesh is that of ``meshes``.
"""

import functools
import inspect
import warnings

import numpy as np
from scipy import integrate

from .....config import NoSolutionError, user_line
from .....config.thresholds import SLOPES_KEPT
from .... import (
    TracedArray,
    TracedNumber,
    all_settled,
    array_of,
    innermost,
    is_array,
    snapshot,
    value,
    with_values,
)
from ...functions.scan import attempted
from ..traced_objects import as_float
from .bdf import Differences, follows_steps
from .controlled import controlled
from .events import traced_events
from .integrands import as_array, in_one_step, plainly, rebuilt, settling
from .log import logged, mesh_of, solved_by
from .march import StepPlan
from .meshes import another_solution, beside_a_tangent
from .runge_kutta import Steps
from .sensitivities import WithSlopes
from .solutions import Solution, TracedSolution, solved_in_one_step
from .steps import NODES, Explicit, Implicit, has_steps, is_explicit

METHODS = {
    name: getattr(integrate, name) for name in ("RK23", "RK45", "DOP853", "Radau", "BDF", "LSODA")
}
FAR = 100  # times the tolerances, which are about one step


class RightHandSide:
    """The user's function: ``bind(*parameters)`` is the function of ``t`` and ``y``."""

    def __init__(self, bind):
        self.bind = bind

    def __call__(self, *parameters):
        return BoundField(self, parameters)

    def field(self, ts, z, *parameters):
        rhs = self.bind(*parameters)
        return np.stack([state(rhs(t, row)) for t, row in zip(ts, z)])

    def slope(self, t, y, *parameters):
        """The slope as an array, or as the numbers in it."""
        return numbers_or_state(self.bind(*parameters)(t, y))

    def slopes(self, ts, states, parameters):
        """The slopes at several times and states."""
        rhs = self.bind(*parameters)
        return [numbers_or_state(rhs(t, y)) for t, y in zip(ts, states)]


class BoundField:
    """The right-hand side for given parameters."""

    def __init__(self, f, parameters):
        self.rhs, self.field, self.parameters = f.bind(*parameters), f.field, parameters

    def __call__(self, t, y):
        return state(self.rhs(t, y))


def plan_of(method, log, times, warn, everywhere=False):
    """Return the plan of the steps that ``method`` took, for values at ``times``."""
    mesh = mesh_of(log)
    if issubclass(method, integrate.BDF):
        return Differences(log, mesh, times, warn)
    if not issubclass(method, integrate.Radau):
        plan = Steps(Explicit(method), mesh, times, warn, everywhere)
        plan.know([step.y for step in log], [step.slopes for step in log])
        return plan
    guesses = [
        step.polynomial(step.t + NODES * (step.end - step.t)).T
        if step.end != step.t
        else np.stack([step.polynomial(step.end)] * 3)
        for step in log
    ]
    return StepPlan(Implicit(guesses), mesh, times, warn)


def scipys_own(method):
    """Return SciPy's class for the name of a method, or for our stand-in; else what is given."""
    stand_in = getattr(method, "__module__", "").startswith("chainrules.")
    name = method.__name__ if stand_in else method
    return METHODS.get(name, method) if isinstance(name, str) else method


def moved_by(ydot, fun, args, slopes):
    """Return ``fun`` at states that are moved by ``ydot``, which notes its slopes."""

    @functools.wraps(fun)
    def moved(t, y):
        k = numbers_or_state(fun(t, y + (ydot if y.ndim == 1 else ydot[:, None]), *args))
        slopes.append(k if len(slopes) < SLOPES_KEPT else None)
        return k

    return moved


def state(y):
    """Return what the user's function gave as an array of one axis, which nobody writes to."""
    y = all_settled(y)
    if isinstance(y, TracedArray) and y.ndim == 1:
        return snapshot(y)  # its array is copied when the user's function writes to it again
    if isinstance(y, list | tuple) or (type(y) is np.ndarray and y.dtype == object):
        y = as_array(y)
    else:
        y = +y if is_array(y) else np.reshape(y, 1)
    return y if np.ndim(y) == 1 else np.ravel(y)


NUMBERS = {float, np.float64, int}


def numbers_or_state(y):
    """Return a list of numbers as a tuple: to make an array of it is for whoever wants one."""
    if (
        type(y) in (list, tuple)
        and y
        and all(
            type(x) in NUMBERS or (isinstance(x, TracedNumber) and not isinstance(x, TracedArray))
            for x in y
        )
    ):
        return tuple(y)
    return state(y)


def evaluator(build, vectorized=False, swapped=False):
    """Return the user's function as a ``RightHandSide``; ``build`` gives it with its args."""

    def bind(*parameters):
        fun, args, *_ = build(*parameters)
        args = () if args is None else args
        if swapped:
            return lambda t, y: fun(y, t, *args)
        if vectorized:
            return lambda t, y: fun(t, y[:, None], *args)
        return lambda t, y: fun(t, y, *args)

    return RightHandSide(bind)


@functools.wraps(integrate.solve_ivp)
def solve_ivp(fun, t_span, y0, method="RK45", t_eval=None, dense_output=False, events=None,
              vectorized=False, args=None, **options):  # fmt: skip
    given = (fun, args, events, options.get("jac"))
    build, parameters, traced = rebuilt("solve_ivp", given, t_span, y0, t_eval, options)
    if not traced:
        method = scipys_own(method)
        return integrate.solve_ivp(fun, t_span, y0, method, t_eval, dense_output, events,
                                   vectorized, args, **options)  # fmt: skip
    line, log = user_line(), []
    cls = scipys_own(method)
    if not (dense_output or vectorized) and events is options.get("jac") is None:
        derived = not getattr(innermost((y0, *parameters)), "records", False)
        given = build(*parameters)
        answer = attempted(
            lambda: controlled(given, state, t_span, y0, cls, t_eval, options, derived)
        )
        if answer is not None:
            return answer
    given = fun, t_span, y0, method, t_eval, dense_output, events, vectorized, args
    to_solve = solved_in_one_step if dense_output else in_one_step
    if (answer := to_solve(solve_ivp, *given, **options)) is not None:
        return answer
    constants = {name: value(x) for name, x in options.items()}
    solved = isinstance(cls, type) and issubclass(cls, integrate.OdeSolver)
    # It may be one of ours, sparse even, which is differentiated no further.
    _, args_of_jac, _, jac = build(*value(parameters))
    if callable(jac):
        jac = plainly(jac, args_of_jac or (), "solve_ivp", line, None)
    plain_jacobian = {} if jac is None else {"jac": jac}

    moving = WithSlopes(as_float(y0), parameters)
    moving.possible &= solved and is_explicit(cls) and innermost(t_span) is None

    def run(known, level, ydot=None):
        fun, args, events, _ = known

        def own(f):
            return plainly(f, args or (), "solve_ivp", line, level) if callable(f) else value(f)

        events = list(map(own, events)) if isinstance(events, tuple | list) else own(events)
        rhs = own(fun)
        if ydot is not None:
            rhs = plainly(moved_by(ydot, fun, args or (), moving.slopes), (), "solve_ivp", line,
                          ydot.at_level)  # fmt: skip
        options = constants | plain_jacobian
        method = logged(cls, log, evaluated=moving.slopes) if solved else cls
        return solved_by(method, rhs, value(t_span), value(y0), t_eval=value(t_eval), events=events,
                         dense_output=dense_output, vectorized=vectorized, **options)  # fmt: skip

    def run_moving(ydot, given):
        def with_slopes(known, _):
            return run(known, ydot.at_level, ydot)

        return build.run_with(given, with_slopes, "scipy.integrate.solve_ivp")

    if moving.possible:
        own = moving.run(run_moving)
    else:
        own = build.run_plain(run, "scipy.integrate.solve_ivp")
    if not log:
        raise NoSolutionError(
            f"scipy.integrate.solve_ivp in {line} took no step, so there is no derivative: "
            f"{own.message}"
        )
    if own.status < 0:
        warnings.warn(
            f"scipy.integrate.solve_ivp in {line} failed; its derivative is that of the steps "
            f"that it took: {own.message}", RuntimeWarning, stacklevel=2,
        )  # fmt: skip
    f = evaluator(build, vectorized)
    y0 = as_float(y0)
    took = cls, log
    within = own.t if t_eval is None else value(array_of(t_eval))
    known = has_steps(cls) or (
        issubclass(cls, integrate.BDF) and follows_steps(len(log), y0, *t_span, parameters)
    )
    if not known:
        reached = log[0].t, log[-1].end

        def run_again(known, level):
            rhs = plainly(evaluator(lambda: known, vectorized)(), (), "solve_ivp", line, level)
            options = constants | plain_jacobian
            return another_solution(rhs, reached, value(y0), own.nfev, options, within)

        took = build.run_plain(run_again, "scipy.integrate.solve_ivp")
    longer = took
    took = beside_a_tangent(took, f, y0, parameters, own.nfev, constants, within)
    found = moving.found if took is longer else None
    warn = functools.partial(warn_off, "solve_ivp", line)
    answer = Answer(own, f, y0, t_span, t_eval, took, warn, parameters, build, found)
    if answer.count and not known:
        compare(answer.states, own.y.T[: len(answer.times)], constants, warn)
    return answer.result()


def compare(states, own, options, warn):
    """Warn where the other method led somewhere else."""
    states, own = value(states), np.asarray(own)
    size = np.max(np.abs(own), initial=0.0)
    tolerance = FAR * (np.max(options.get("atol", 1e-6)) + np.max(options.get("rtol", 1e-3)) * size)
    off = np.max(np.abs(states - own), initial=0.0)
    if off > tolerance:
        warn(off)


def warn_off(name, line, off):
    warnings.warn(
        f"scipy.integrate.{name} in {line}: the solution that the derivative belongs to is off "
        f"by {off:.2g}, which is much more than the tolerances.\n"
        "  ask for smaller ones; the function must give the same for the same arguments, also when "
        "it is called once more:\n  what changes, as a global variable, pass in args",
        RuntimeWarning,
        stacklevel=4,
    )


class Answer:
    """SciPy's answer ``own``, and what its derivative is to be computed from."""

    def __init__(self, own, f, y0, t_span, t_eval, took, warn, parameters, build, slopes):
        self.own, self.f, self.parameters, self.build = own, f, parameters, build
        self.t_span, self.t_eval = t_span, t_eval
        self.start, stop = t_span
        self.mesh = mesh_of(took[1])
        # An event that ends it, and a failure, leave the end of the last step where it is.
        self.stop = stop if own.status == 0 else self.mesh[-1]
        self.count = len(own.t)
        self.ended = own.status == 1
        self.times = self.output_times()
        on_mesh = self.t_eval is None and np.array_equal(
            value(self.times), self.mesh[: len(self.mesh) - self.ended]
        )
        times = self.times[:0] if on_mesh else self.times
        everywhere = own.sol is not None or own.t_events is not None
        plan = self.plan = plan_of(*took, value(times), warn, everywhere)
        if slopes is not None:
            plan.linearize(took[1], *slopes)
        self.solution = Solution(plan, f, y0, self.start, self.stop, times, parameters)
        self.states = self.solution.nodes[: len(self.times)] if on_mesh else self.solution.inside

    def output_times(self):
        if self.t_eval is not None:
            return array_of(self.t_eval)[: self.count]
        # The ends of SciPy's steps, but for an event that ended it.
        times = self.own.t[:-1] if self.ended else self.own.t
        if is_moving(self.start, self.stop) and len(times):
            last = [] if self.ended else [self.stop]
            inner = times[1 : len(times) - len(last)].tolist()
            times = array_of([self.start, *inner, *last])
        return times

    def result(self):
        own = self.own
        result = type(own)(own)
        solution = TracedSolution(self.own.sol, self.solution)
        last = []
        if own.t_events is not None:
            result.t_events, result.y_events, last = traced_events(self)
        if self.count:
            result.t, result.y = with_values(self.times_and_states(last), (own.t, own.y))
        if own.sol is not None:
            result.sol = solution
        return result

    def times_and_states(self, last):
        """Return what SciPy calls t and y; ``last`` are time and state at the event that ended."""
        t, states = self.times, self.states
        if self.ended and self.t_eval is None:
            t = np.concatenate([t, np.reshape(last[0], (1,))])
            states = np.concatenate([states, last[1][None]])
        return t, np.transpose(states)


def is_moving(*times):
    return innermost(times) is not None


NAMES_OF_ODEINT = list(inspect.signature(integrate.odeint).parameters)[7:]


@functools.wraps(integrate.odeint)
def odeint(func, y0, t, args=(), Dfun=None, col_deriv=0, full_output=0, *more,  # noqa: N803
           tfirst=False, **options):  # fmt: skip
    options |= dict(zip(NAMES_OF_ODEINT, more))
    tfirst = options.pop("tfirst", tfirst)
    args = args if isinstance(args, tuple) else (args,)
    build, parameters, traced = rebuilt("odeint", (func, args, Dfun), y0, t, options)
    if not traced:
        return integrate.odeint(func, y0, t, args, Dfun, col_deriv, full_output, tfirst=tfirst,
                                **options)  # fmt: skip
    given = options | {"tfirst": tfirst}
    answer = in_one_step(odeint, func, y0, t, args, Dfun, col_deriv, full_output, **given)
    if answer is not None:
        return answer
    line = user_line()
    constants = {name: value(x) for name, x in options.items()}

    def run(known, level):
        func, args, jac = known
        own, jac = (
            plainly(f, args, "odeint", line, level) if callable(f) else f for f in (func, jac)
        )
        return integrate.odeint(own, value(y0), value(t), (), jac, col_deriv, True, tfirst=tfirst,
                                **constants)  # fmt: skip

    own, info = build.run_plain(run, "scipy.integrate.odeint")
    times, y0 = array_of(t), np.ravel(as_float(y0))
    f = evaluator(build, swapped=not tfirst)
    plain_times = np.asarray(value(times), float)
    given = {name: x for name, x in constants.items() if x is not None}
    tolerances = {name: given.get(name, 1.49012e-8) for name in ("rtol", "atol")}
    if constants.get("hmax"):
        tolerances["max_step"] = constants["hmax"]
    moves = len(plain_times) > 1 and plain_times[0] != plain_times[-1]
    if moves and "successful" not in info["message"]:
        raise NoSolutionError(
            f"scipy.integrate.odeint in {line} failed, and has no derivative: {info['message']}"
        )
    warn = functools.partial(warn_off, "odeint", line)
    if moves:

        def run_again(known, level):
            bound = evaluator(lambda: known, swapped=not tfirst)()
            rhs = plainly(bound, (), "odeint", line, level)
            reached, start = plain_times[[0, -1]], value(y0)
            return another_solution(rhs, reached, start, info["nfe"][-1], tolerances, plain_times)

        took = build.run_plain(run_again, "scipy.integrate.odeint")
        took = beside_a_tangent(took, f, y0, parameters, info["nfe"][-1], tolerances, plain_times)
        plan = plan_of(*took, plain_times, warn)
    else:
        plan = Steps(Explicit(integrate.RK45), plain_times[[0, -1]], plain_times, warn)
    y = Solution(plan, f, y0, times[0], times[-1], times, parameters).inside
    compare(y, own, tolerances, warn)
    y = with_values(y, own)
    return (y, info) if full_output else y


INSTEAD = {f.__name__: settling(f) for f in (solve_ivp, odeint)}
