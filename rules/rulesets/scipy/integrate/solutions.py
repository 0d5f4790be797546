"""The dense output of solve_ivp, as a function of traced times; and of solvers in a recording."""

import functools

import numpy as np

from .....config import MissingRuleError, user_line
from .... import array_of, innermost, name_of, value
from ..optimize.results import ReadResult
from ..traced_objects import valued
from .bdf import Differences, differences
from .integrands import in_one_step, one_step
from .march import march
from .runge_kutta import Steps, inside, runge_kutta
from .steps import Implicit


class Solution:
    """The solution of the steps of a plan, as a function of traced times."""

    def __init__(self, plan, f, y0, start, stop, times, parameters):
        self.plan, self.rhs, self.ends = plan, functools.partial(f, *parameters), (start, stop)
        if isinstance(plan, Steps):
            plan.moves = innermost((start, stop)) is not None
            self.found = runge_kutta(plan, f, y0, start, stop, *parameters)
            self.nodes = self.found[0][plan.nodes]
            where = np.repeat(np.arange(len(plan)), np.diff(plan.bounds))
            self.inside = inside(plan, self.found, start, stop, times, where)
        elif isinstance(plan, Differences):
            self.found = differences(plan, f, y0, *parameters)
            self.nodes = self.found[:, 0]
            where = np.repeat(np.arange(len(plan)), np.diff(plan.bounds))
            self.inside = plan.within_steps(self.found, times, where)
        else:
            self.nodes, self.inside = march(plan, f, y0, start, stop, times, *parameters)

    def __call__(self, t):
        """Shape: (n,), or (n, len(t))."""
        t = array_of(t)
        if np.ndim(t) == 0:
            return self.at(self.step_of(value(t)), np.reshape(t, (1,)))[0]
        where = [self.step_of(x) for x in value(t)]
        if not isinstance(self.plan.method, Implicit):
            return np.transpose(self.in_steps(t, np.array(where)))
        rows = [self.at(k, t[i : i + 1]) for i, k in enumerate(where)]
        return np.transpose(np.concatenate(rows))

    def step_of(self, t):
        """Return the step that ``t`` lies in; the first or last one beyond these."""
        mesh = self.plan.mesh
        sign = 1 if mesh[-1] >= mesh[0] else -1
        k = np.searchsorted(sign * mesh, sign * t, side="left") - 1
        return int(np.clip(k, 0, len(mesh) - 2))

    def at(self, k, times):
        """Return the states at ``times`` in step ``k``, (len(times), n)."""
        if not isinstance(self.plan.method, Implicit):
            return self.in_steps(times, np.full(len(times), k))
        t, end = self.plan.times(k, *self.ends)
        return self.plan.method.step(k, self.rhs(), t, end, self.nodes[k], times)[1]

    def in_steps(self, times, where):
        if isinstance(self.plan, Differences):
            return self.plan.within_steps(self.found, times, where)
        return inside(self.plan, self.found, *self.ends, times, where)


class TracedSolution:
    """``sol`` of the answer: SciPy's values, with the derivative of the method's polynomials."""

    def __init__(self, own, formula):
        self.own, self.formula = own, formula

    @valued
    def __call__(self, t):
        return self.formula(t)

    def __getattr__(self, name):
        if name in ("t_min", "t_max", "ts", "n_segments", "ascending"):
            return getattr(self.own, name)
        if name.startswith("__"):
            raise AttributeError(name)
        raise MissingRuleError(
            f"{name} of the dense output of solve_ivp has no derivative: no rule yet, in "
            f"{user_line()}.\n  write calls of it, at times of yours"
        )


# ---- in a recording ------------------------------------------------------------------------------


def solved_in_one_step(f, *args, **options):
    """Return a solver's answer as ``in_one_step``; its field ``sol`` solves when it is called."""
    take = one_step(functools.wraps(f)(functools.partial(without_sol, f)), *args, **options)
    return None if take is None else AnswerWhenRead(take, SolvedWhenCalled(f, args, options))


class AnswerWhenRead(ReadResult):
    """An answer in a recording, which is found when a field of it is read: but for ``sol``."""

    def __init__(self, take, sol):
        super().__init__(sol=sol)
        object.__setattr__(self, "_take", take)
        object.__setattr__(self, "_solver", name_of(sol.f))

    def __getitem__(self, name):
        if name != "sol":
            self._find()
        return super().__getitem__(name)

    def __iter__(self):
        self._find()
        return super().__iter__()

    def __contains__(self, name):
        return name in list(self)

    def keys(self):
        return list(self)

    def _find(self):
        take = self._take
        if take is None:
            return
        object.__setattr__(self, "_take", None)
        found = take()
        if found is None:
            raise no_step("an answer", self._solver)
        self.update({name: found[name] for name in found if name != "sol"})


def no_step(what, solver):
    return MissingRuleError(
        f"{what} of {solver} is no step of a compiled function, in {user_line()}.\n"
        "  read numbers and arrays of it, and call sol(t)"
    )


def without_sol(f, *args, **options):
    answer = f(*args, **options)
    answer["sol"] = None
    return answer


def values_of_sol(f, args, options, *at, **how):
    return f(*args, **options).sol(*at, **how)


class SolvedWhenCalled:
    """The dense output of a solver in a recording: each call of it is a step that solves."""

    def __init__(self, f, args, options):
        self.f, self.args, self.options = f, args, options

    def __call__(self, *at, **how):
        values = functools.wraps(self.f)(functools.partial(values_of_sol, self.f))
        y = in_one_step(values, self.args, self.options, *at, **how)
        if y is None:
            raise no_step("sol at many traced times", name_of(self.f))
        return y

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        raise no_step(f"sol.{name}", name_of(self.f))
