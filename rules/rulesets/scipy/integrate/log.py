"""The steps of SciPy's solvers of initial value problems, as they take them."""

import numpy as np
from scipy import integrate

from .....config.progress import ending, long_work


class LoggedStep:
    """A step that SciPy took: both ends, and what its method knows of it.

    Known are Radau's polynomial; of BDF order, step size and differences, before and after; the
    state ``y`` at the beginning and the slopes of the others. ``last`` is how often the right-hand
    side had been evaluated, and ``more`` the numbers of the evaluations for values inside. The
    state at the end is ``reached``.
    """

    def __init__(self, solver, before, last):
        self.last, self.more = last, ()
        self.before, self.after = before, memory_of(solver)
        self.t, self.end, self.polynomial = solver.t_old, solver.t, getattr(solver, "sol", None)
        self.y, self.slopes = getattr(solver, "y_old", None), np.array(getattr(solver, "K", ()))
        self.reached = solver.y

    def keep(self, n):
        """Keep the first ``n`` entries of the state."""
        whole = self.polynomial
        self.polynomial = None if whole is None else lambda t: whole(t)[:n]
        self.y, self.slopes = self.y[:n], self.slopes[..., :n]


def memory_of(solver):
    """Return order, step size and differences that BDF has now."""
    return (solver.order, solver.h_abs, solver.D.copy()) if hasattr(solver, "D") else None


def logged(method, log, inside=None, evaluated=()):
    """Return SciPy's class ``method``, which notes its steps; for values at the times ``inside``.

    ``evaluated`` has an entry for each evaluation of the right-hand side so far.
    SciPy itself asks for the slopes for values inside a step, where it needs them.
    """

    work = long_work(method.__name__, None)

    class _Same(type(method)):
        def __eq__(cls, other):  # solve_ivp asks whether it is BDF or LSODA
            return other is cls or other is method

        def __hash__(cls):
            return hash(method)

    class Logged(method, metaclass=_Same):
        long_work = work  # which who calls the solver ends

        def step(self):
            before = memory_of(self)
            message = super().step()
            if work is not None:
                work.update()
            if self.status != "failed":
                log.append(LoggedStep(self, before, len(evaluated)))
                ends = sorted((self.t_old, self.t))
                if inside is not None and np.any((inside >= ends[0]) & (inside <= ends[1])):
                    self.dense_output()
            return message

        def dense_output(self):
            first = len(evaluated)
            solution = super().dense_output()
            if log:
                log[-1].more = range(first, len(evaluated))
                log[-1].slopes = np.array(getattr(self, "K_extended", log[-1].slopes))
            return solution

    Logged.__name__ = method.__name__
    return Logged


def mesh_of(log):
    return np.array([log[0].t, *(step.end for step in log)])


def solved_by(method, rhs, t_span, y0, **options):
    """Solve a problem by a class of SciPy's, or by a logged one, whose bar then ends."""
    with ending(getattr(method, "long_work", None)):
        return integrate.solve_ivp(rhs, t_span, y0, method, **options)
