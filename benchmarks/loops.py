"""Loops of numbers, compiled, at other arguments each call: ``python benchmarks/loops.py``.

Four loops: Newton's method by ``while_loop``, a damped pendulum by Runge and Kutta's method with
``scan``, a filter along a signal of which each row is read, and the misfit of prey and predators by
``solve_ivp``. Then solvers of SciPy's that call a function of the user's: two integrals, Brent's
method, two equations, a minimum and a curve of least squares. Plain Python's value, by SciPy where
it solves, stands beside the compiled one and ``jax.jit``'s. Then comes the gradient, each with its
value: compiled, by jit, eager, and by central differences.

JAX has ``lax.scan``, and ``odeint`` of its own for ``solve_ivp``, to the same tolerances. It has no
reverse mode through ``lax.while_loop``: Newton's method is ``jacfwd`` there. For the other solvers
it has no counterpart. Times are medians of
the CPU time of one thread, in turns. ``first`` is the time of the first call of the compiled
gradient, by the clock, and that of jit's; ``recordings`` is how many were made in all.
"""

import argparse
import functools
import importlib.util
import os
import statistics
import time
import warnings

for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"):
    os.environ.setdefault(name, "1")
os.environ.setdefault(
    "XLA_FLAGS", "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"
)

import numpy as np  # noqa: E402
from scipy import integrate, optimize  # noqa: E402
from workloads_fit import GIVEN, HARES, LYNXES, YEARS  # noqa: E402

import chainrules as cr  # noqa: E402
import chainrules.scipy  # noqa: E402

STEPS, TURN = 1000, 10
TOLERANCES = {"rtol": 1e-6, "atol": 1e-8}
PELTS = np.array([HARES, LYNXES])
SIGNAL = np.sin(np.linspace(0.0, 30.0, STEPS))


def newton(p, scan=None, while_loop=cr.while_loop, xp=np):
    def f(x):
        return x**3 + p[0] * x - p[1]

    return while_loop(
        lambda x: abs(f(x)) > 1e-11, lambda x: x - f(x) / (3 * x * x + p[0]), p[1] * 1.0
    )


def pendulum(p, scan=cr.scan, while_loop=None, xp=np):
    def slope(x, v):
        return v, -p[0] * xp.sin(x) - p[1] * v

    def step(carry, _):
        x, v = carry
        h = 0.01
        a, b = slope(x, v)
        c, d = slope(x + 0.5 * h * a, v + 0.5 * h * b)
        e, f = slope(x + 0.5 * h * c, v + 0.5 * h * d)
        g, i = slope(x + h * e, v + h * f)
        x, v = x + h / 6 * (a + 2 * c + 2 * e + g), v + h / 6 * (b + 2 * d + 2 * f + i)
        return (x, v), x * x

    (x, _), energies = scan(step, (p[0], 0.0 * p[1]), np.zeros(STEPS))
    return xp.sum(energies) / STEPS + x


def filtered(p, scan=cr.scan, while_loop=None, xp=np):
    def step(carry, y):
        level, trend = carry
        new = p[0] * y + (1 - p[0]) * (level + trend)
        trend = p[1] * (new - level) + (1 - p[1]) * trend
        return (new, trend), (y - level - trend) ** 2

    _, errors = scan(step, (SIGNAL[0] * p[0], 0.0 * p[1]), SIGNAL)
    return xp.sum(errors)


def fit(p, scan=None, while_loop=None, xp=np, solve_ivp=chainrules.scipy.integrate.solve_ivp):
    def slope(t, y):
        met = y[0] * y[1]
        return [p[0] * y[0] - p[1] * met, p[3] * met - p[2] * y[1]]

    if xp is np:
        states = solve_ivp(slope, (0.0, 20.0), p[4:], t_eval=YEARS, **TOLERANCES).y
    else:
        from jax.experimental.ode import odeint

        states = odeint(
            lambda y, t: xp.stack(slope(t, y)), p[4:], xp.asarray(YEARS), **TOLERANCES
        ).T
    return xp.sum((states - PELTS) ** 2)


# ---- solvers of SciPy's, by ours and by SciPy's own functions -----------------------------------


def mean(p, m=chainrules.scipy.integrate):
    def density(t):
        return np.exp(-p[0] * t - p[1] * t * t) * (1.0 + np.cos(p[2] * t))

    first = m.quad(lambda t: t * density(t), 0.0, np.inf)[0]
    return first / m.quad(density, 0.0, np.inf)[0]


def plate(p, m=chainrules.scipy.integrate):
    def load(y, x):
        return np.exp(-p[0] * x * y) * np.cos(p[1] * x)

    return m.dblquad(load, 0.0, 1.0, 0.0, lambda x: p[2] * x)[0]


def bond(p, m=chainrules.scipy.optimize):
    def excess(y):
        value = 0.0
        for year in range(1, 11):
            value = value + p[0] / (1.0 + y) ** year
        return value + p[1] / (1.0 + y) ** 10 - p[2]

    return m.brentq(excess, 0.0, 0.5)


def equations(p, m=chainrules.scipy.optimize):
    def balance(x):
        return [x[0] ** 2 + p[0] * x[1] - p[1], x[1] * np.exp(0.1 * x[0]) - p[2]]

    return np.sum(m.root(balance, [1.0, 1.0]).x)


def valley(p, m=chainrules.scipy.optimize):
    def f(x):
        return (x[0] - p[0]) ** 2 + p[1] * (x[1] - x[0] ** 2) ** 2 + np.cos(p[2] * x[0])

    return np.sum(m.minimize(f, np.array([0.5, 0.5]), jac=cr.grad(f)).x)


def decay(p, m=chainrules.scipy.optimize):
    def residual(x):
        return p[0] * x[0] * np.exp(-x[1] * TIMES) + p[2] - FALLING

    return np.sum(m.least_squares(residual, np.array([1.0, 1.0])).x)


TIMES = np.linspace(0.0, 2.0, 20)
FALLING = 2 * np.exp(-1.3 * TIMES) + 0.1 * np.cos(9 * TIMES)
OF_SCIPY = {
    "quad": (mean, integrate, [1.0, 0.5, 2.0]),
    "dblquad": (plate, integrate, [1.0, 3.0, 0.5]),
    "brentq": (bond, optimize, [5.0, 100.0, 95.0]),
    "root": (equations, optimize, [1.0, 3.0, 0.5]),
    "minimize": (valley, optimize, [1.0, 3.0, 0.5]),
    "least_squares": (decay, optimize, [1.0, 3.0, 0.1]),
}

PROGRAMS = {"Newton": newton, "pendulum": pendulum, "filter": filtered, "fit": fit}
PLAIN = PROGRAMS | {"fit": functools.partial(fit, solve_ivp=integrate.solve_ivp)}
PROGRAMS |= {name: f for name, (f, _, _) in OF_SCIPY.items()}
PLAIN |= {name: functools.partial(f, m=m) for name, (f, m, _) in OF_SCIPY.items()}
STARTS = {"Newton": [1.3, 5.2], "pendulum": [1.1, 0.3], "filter": [0.4, 0.2], "fit": GIVEN}
STARTS |= {name: start for name, (_, _, start) in OF_SCIPY.items()}


def of_jax(name):
    import jax

    jax.config.update("jax_enable_x64", True)
    f = PROGRAMS[name]

    def g(p):
        return f(p, jax.lax.scan, jax.lax.while_loop, jax.numpy)

    if name == "Newton":
        d = jax.jacfwd(lambda p: (g(p),) * 2, has_aux=True)
        both = jax.jit(lambda p: d(p)[::-1])
    else:
        both = jax.jit(jax.value_and_grad(g))
    value = jax.jit(g)
    return lambda p: float(value(p)), lambda p: jax.tree.map(np.asarray, both(p))


def differences(f):
    def value_and_slopes(p):
        steps = 1e-6 * np.diag(p)
        return f(p), np.array([(f(p + h) - f(p - h)) / (2 * np.sum(h)) for h in steps])

    return value_and_slopes


def measured(runs, points):
    """Return the median of each run's CPU time, one call at each point, in turns of ten calls.

    After a slow run the caches hold nothing of a fast one, whose first call takes several times as
    long: a call that others precede is what a fit does.
    """
    times = {name: [] for name in runs}
    for k in range(0, len(points), TURN):
        for name, run in runs.items():
            for p in points[k : k + TURN]:
                start = time.process_time()
                run(p)
                times[name].append(time.process_time() - start)
    return {name: statistics.median(found) for name, found in times.items()}


def timed(run, p):
    start = time.perf_counter()
    run(p)
    return time.perf_counter() - start


def row(name, repeats):
    """Return the medians of all programs, the times of first calls, and how many recordings."""
    f, plain = PROGRAMS[name], PLAIN[name]
    points = [np.array(STARTS[name]) * (1 + 0.3 * k / repeats) for k in range(repeats)]
    compiled, eager = cr.compile(cr.value_and_grad(f)), cr.value_and_grad(f)
    runs = {"value": plain, "compiled value": cr.compile(f), "compiled": compiled}
    runs |= {"eager": eager, "differences": differences(plain)}
    first = {"first": timed(compiled, points[0])}
    if importlib.util.find_spec("jax") and name not in OF_SCIPY:
        runs["jit value"], runs["jit"] = of_jax(name)
        first["first of jit"] = timed(runs["jit"], points[0])
    # A solver of other steps has another error, which is about that of its steps.
    rtol = {"compiled": 1e-5 if name in OF_SCIPY else 1e-7, "jit": 1e-3 if name == "fit" else 1e-7}
    for p in points[:2]:
        expected = eager(p)
        for of in rtol.keys() & runs.keys():
            for found, own in zip((*runs[of](p), runs[f"{of} value"](p)), (*expected, expected[0])):
                np.testing.assert_allclose(found, own, rtol=rtol[of])
    times = measured(runs, points) | first
    return times | {"recordings": sum(kind.recordings for kind in compiled.kinds.values())}


COLUMNS = ("value", "compiled value", "jit value", "compiled", "jit", "eager", "differences",
           "first", "first of jit")  # fmt: skip


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=30, help="calls, each at another point")
    parser.add_argument("--only", nargs="*", choices=sorted(PROGRAMS), default=list(PROGRAMS))
    options = parser.parse_args()
    warnings.simplefilter("error", cr.CompileWarning)
    print("| microseconds |", " | ".join((*COLUMNS, "recordings")), "|")
    print("|---" * (len(COLUMNS) + 2) + "|")
    for name in options.only:
        found = row(name, options.repeats)
        cells = [f"{found[key] * 1e6:.0f}" if key in found else "" for key in COLUMNS]
        print(f"| {name} |", " | ".join(cells), f"| {found['recordings']} |", flush=True)


if __name__ == "__main__":
    main()
