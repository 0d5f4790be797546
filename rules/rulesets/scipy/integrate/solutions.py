"""The dense output of solve_ivp, as a function of traced times."""

import numpy as np

from .....config import MissingRuleError, user_line
from .... import array_of, value
from ...arrays.numpys_own import with_values


class TracedSolution:
    """``sol`` of the answer: SciPy's values, with the derivative of the method's polynomials."""

    def __init__(self, answer):
        self.answer, self.own = answer, answer.own.sol

    def __call__(self, t):
        y = self.formula(t)
        return with_values(y, self.own(value(t)))

    def formula(self, t):
        """Shape: (n,), or (n, len(t))."""
        t = array_of(t)
        if np.ndim(t) == 0:
            return self.at(self.step_of(value(t)), np.reshape(t, (1,)))[0]
        where = [self.step_of(x) for x in value(t)]
        rows = [self.at(k, t[i : i + 1]) for i, k in enumerate(where)]
        return np.transpose(np.concatenate(rows))

    def step_of(self, t):
        """Return the step that ``t`` lies in; the first or last one beyond these."""
        mesh = self.answer.mesh
        sign = 1 if mesh[-1] >= mesh[0] else -1
        k = np.searchsorted(sign * mesh, sign * t, side="left") - 1
        return int(np.clip(k, 0, len(mesh) - 2))

    def at(self, k, times):
        """Return the states at ``times`` in step ``k``, (len(times), n)."""
        answer = self.answer
        t, end = answer.plan.times(k, answer.start, answer.stop)
        rhs = answer.f(*answer.parameters)
        return answer.steps.step(k, rhs, t, end, answer.nodes[k], times)[1]

    def __getattr__(self, name):
        if name in ("t_min", "t_max", "ts", "n_segments", "ascending"):
            return getattr(self.own, name)
        if name.startswith("__"):
            raise AttributeError(name)
        raise MissingRuleError(
            f"{name} of the dense output of solve_ivp has no derivative: no rule yet, in "
            f"{user_line()}.\n  write calls of it, at times of yours"
        )
