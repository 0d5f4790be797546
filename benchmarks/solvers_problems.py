"""The problems of ``solvers_and_peers.py``, and how each library solves them.

A function is written once, over a namespace of array functions. A library is what solves with it:
``states(f, y0, times, p)`` of an initial value problem, ``answer(f, x0, p)`` of the others.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from peers import optional
from scipy import integrate, linalg

OURS, JAX, AUTOGRAD, DIFFRAX, OPTIMISTIX = "ours", "JAX", "autograd", "diffrax", "optimistix"


class Problem(NamedTuple):
    """A loss of an answer, in ``p``; ``reference`` is its gradient, but for rounding."""

    name: str
    function_in: Callable  # namespace -> f
    start: Callable  # p -> y0 or x0
    p: np.ndarray
    loss: Callable  # (namespace, answer) -> number
    reference: Callable | None = None
    times: np.ndarray | None = None


class Contender(NamedTuple):
    library: str
    method: str
    solve: Callable


# ---- initial values -----------------------------------------------------------------------------


def predators(namespace: Any) -> Callable:
    def f(t: Any, y: Any, p: Any) -> Any:
        met = y[0] * y[1]
        return namespace.stack([p[0] * y[0] - p[1] * met, p[3] * met - p[2] * y[1]])

    return f


def robertson(namespace: Any) -> Callable:
    def f(t: Any, y: Any, p: Any) -> Any:
        slow, fast, back = p[0] * y[0], p[1] * y[1] ** 2, p[2] * y[1] * y[2]
        return namespace.stack([back - slow, slow - back - fast, fast])

    return f


def linear(namespace: Any) -> Callable:
    return lambda t, y, p: p @ y


def by_complex_steps(problem: Problem, method: str, h: float = 1e-30) -> np.ndarray:
    """The gradient by SciPy alone: steps into the complex plane, at tolerances near rounding."""
    f, found = problem.function_in(np), []
    for i in range(len(problem.p)):
        p = problem.p.astype(complex)
        p[i] += 1j * h
        y = integrate.solve_ivp(
            lambda t, y, p=p: f(t, y, p), (0.0, problem.times[-1]), problem.start(p) + 0j,
            method, problem.times, rtol=1e-12, atol=1e-14,
        ).y.T  # fmt: skip
        found.append(np.imag(problem.loss(np, y)) / h)
    return np.array(found)


ORDER, STOP = 50, 5.0
SPREAD = np.random.default_rng(3).normal(size=(ORDER, ORDER)) / np.sqrt(ORDER)
MATRIX, ONES = SPREAD - SPREAD.T - 0.3 * np.eye(ORDER), np.ones(ORDER)


def of_exponential(_: Problem) -> np.ndarray:
    """The gradient of ``sum(y**2)`` in the matrix, by the derivative of its exponential."""
    ybar = 2 * linalg.expm(STOP * MATRIX) @ ONES
    return STOP * linalg.expm_frechet(STOP * MATRIX.T, np.outer(ybar, ONES), compute_expm=False)


def sum_of_squares(namespace: Any, states: Any) -> Any:
    return namespace.sum(states[1:] ** 2)


INITIAL_VALUES = [
    Problem(
        "Lotka-Volterra, 20 years, 6 parameters", predators, lambda p: p[4:],
        np.array([0.55, 0.028, 0.84, 0.026, 33.0, 6.0]), sum_of_squares,
        lambda problem: by_complex_steps(problem, "DOP853"), np.arange(21.0),
    ),
    Problem(
        "50 linear equations, 2500 parameters", linear, lambda p: ONES,
        MATRIX, sum_of_squares, of_exponential, np.array([0.0, STOP]),
    ),
]  # fmt: skip
STIFF = Problem(
    "Robertson, stiff, to t = 1000", robertson, lambda p: np.array([1.0, 0.0, 0.0]),
    np.array([0.04, 3e7, 1e4]), lambda namespace, states: states[-1, 0],
    lambda problem: by_complex_steps(problem, "BDF"), np.array([0.0, 1000.0]),
)  # fmt: skip


def by_solve_ivp(method: str, times: Any, **options: float) -> Callable:
    from chainrules.scipy.integrate import solve_ivp

    def states(f: Callable, y0: Any, p: Any) -> Any:
        span = times[0], times[-1]
        return solve_ivp(lambda t, y: f(t, y, p), span, y0, method, times, **options).y.T

    return states


def by_odeint(odeint: Callable, times: Any, **options: float) -> Callable:
    return lambda f, y0, p: odeint(lambda y, t, p: f(t, y, p), y0, times, p, **options)


def by_autograd(times: Any, **options: float) -> Callable:
    from autograd.builtins import tuple as boxed
    from autograd.scipy.integrate import odeint

    def states(f: Callable, y0: Any, p: Any) -> Any:
        return odeint(lambda y, t, p: f(t, y, p), y0, times, boxed((p,)), **options)

    return states


def by_diffrax(solver: Any, times: Any, rtol: float, atol: float, adjoint: Any = None) -> Callable:
    import diffrax
    import jax.numpy as jnp

    def states(f: Callable, y0: Any, p: Any) -> Any:
        return diffrax.diffeqsolve(
            diffrax.ODETerm(f), solver, times[0], times[-1], None, jnp.asarray(y0), p,
            saveat=diffrax.SaveAt(ts=jnp.asarray(times)), max_steps=4096,
            stepsize_controller=diffrax.PIDController(rtol=rtol, atol=atol),
            adjoint=adjoint or diffrax.RecursiveCheckpointAdjoint(),
        ).ys  # fmt: skip

    return states


def solvers_of(problem: Problem) -> list[Contender]:
    times = problem.times
    stiff = problem is STIFF
    given = {"rtol": 1e-6, "atol": 1e-10} if stiff else {"rtol": 1e-8, "atol": 1e-8}
    methods = ("Radau", "BDF") if stiff else ("RK45", "DOP853")
    found = [Contender(OURS, method, by_solve_ivp(method, times, **given)) for method in methods]
    if optional("autograd"):
        found.append(Contender(AUTOGRAD, "odeint", by_autograd(times, **given)))
    if optional("jax") and not stiff:  # its odeint is explicit
        from jax.experimental.ode import odeint

        found.append(Contender(JAX, "odeint", by_odeint(odeint, times, **given)))
    if diffrax := optional("diffrax"):
        solvers = (diffrax.Kvaerno5,) if stiff else (diffrax.Tsit5, diffrax.Dopri8)
        for solver in solvers:
            found.append(Contender(DIFFRAX, solver.__name__, by_diffrax(solver(), times, **given)))
        if not stiff:
            backwards = diffrax.BacksolveAdjoint()
            solve = by_diffrax(diffrax.Tsit5(), times, **given, adjoint=backwards)
            found.append(Contender(DIFFRAX, "Tsit5, backsolve", solve))
    return found


# ---- answers of equations -----------------------------------------------------------------------

TIMES = np.linspace(0.0, 4.0, 50)
DECAY = 2.5 * np.exp(-1.3 * TIMES) + 0.5 + 0.1 * np.cos(9 * TIMES)


def broyden(namespace: Any) -> Callable:
    def residual(x: Any, p: Any) -> Any:
        none = namespace.zeros(1)
        before, after = (namespace.concatenate(part) for part in ([none, x[:-1]], [x[1:], none]))
        return (3 - 2 * x) * x - before - 2 * after + p

    return residual


def misfit(namespace: Any) -> Callable:
    return lambda x, p: x[0] * namespace.exp(-x[1] * TIMES) + x[2] - p


def valley(namespace: Any) -> Callable:
    def objective(x: Any, p: Any) -> Any:
        return namespace.sum(10 * (x[1:] - x[:-1] ** 2) ** 2) + namespace.sum((p - x) ** 2)

    return objective


def weighed(namespace: Any, x: Any) -> Any:
    return namespace.sum(x * np.cos(np.arange(x.shape[0])))


ROOT = Problem("root of Broyden's 50 equations", broyden, lambda p: -np.ones(50), np.ones(50),
               weighed)  # fmt: skip
FIT = Problem("least squares, 3 unknowns, 50 data", misfit, lambda p: np.ones(3), DECAY, weighed)
MINIMUM = Problem("minimum of 10 unknowns", valley, lambda p: np.zeros(10),
                  np.linspace(0.5, 1.5, 10), weighed)  # fmt: skip
ANSWERS = [ROOT, FIT, MINIMUM]


def by_scipy(name: str, **options: Any) -> Callable:
    from chainrules.scipy import optimize

    return lambda f, x0, p: getattr(optimize, name)(f, x0, args=(p,), **options).x


def by_optimistix(name: str, solver: Any) -> Callable:
    import optimistix

    def answer(f: Callable, x0: Any, p: Any) -> Any:
        import jax.numpy as jnp

        return getattr(optimistix, name)(f, solver, jnp.asarray(x0), p).value

    return answer


def solvers_of_answers(problem: Problem) -> list[Contender]:
    small = {"rtol": 1e-8, "atol": 1e-8}
    optimistix = optional("optimistix")
    if problem is ROOT:
        found = [
            Contender(OURS, "root, differences", by_scipy("root", tol=1e-8)),
            Contender(OURS, 'root, jac="ad"', by_scipy("root", tol=1e-8, jac="ad")),
        ]
        theirs = ("root_find", ("Newton", "Dogleg"))
    elif problem is FIT:
        given = {"xtol": 1e-8, "ftol": 1e-8, "gtol": 1e-8, "method": "lm"}
        found = [
            Contender(OURS, "lm, differences", by_scipy("least_squares", **given)),
            Contender(OURS, 'lm, jac="ad"', by_scipy("least_squares", **given, jac="ad")),
        ]
        theirs = ("least_squares", ("LevenbergMarquardt", "GaussNewton"))
    else:
        found = [
            Contender(OURS, "BFGS, differences", by_scipy("minimize", tol=1e-8)),
            Contender(OURS, 'BFGS, jac="ad"', by_scipy("minimize", tol=1e-8, jac="ad")),
        ]
        theirs = ("minimise", ("BFGS",))
    if optimistix:
        name, solvers = theirs
        for solver in solvers:
            made = getattr(optimistix, solver)(**small)
            found.append(Contender(OPTIMISTIX, solver, by_optimistix(name, made)))
    return found


def exact_answer(problem: Problem) -> Callable:
    """Solve to rounding: no library has another reference, and theirs agree with it."""
    if problem is ROOT:
        return by_scipy("root", tol=1e-15, jac="ad")
    if problem is FIT:
        return by_scipy("least_squares", xtol=1e-15, ftol=1e-15, gtol=1e-15, jac="ad")
    return by_scipy("minimize", method="trust-exact", jac="ad", hess="ad", tol=1e-13)
