"""SciPy's solvers: a derivative over SciPy's own call, in time, and the calls that "ad" saves.

``python benchmarks/solvers.py``. Each problem depends on its parameter by capture. Run it with
one thread (``OPENBLAS_NUM_THREADS=1``).
"""

import statistics
import time
import warnings

import numpy as np
import scipy.optimize as own
from scipy import integrate as own_integrate
from scipy import sparse

import chainrules as cr
from chainrules.scipy import integrate, optimize

T = np.linspace(0, 4, 50)
Y = 2.5 * np.exp(-1.3 * T) + 0.5 + 0.1 * np.cos(9 * T)
A = np.cos(np.outer(np.arange(30.0), np.arange(1.0, 9.0)))
B = np.sin(np.arange(30.0))


def quartic(x, a):
    return (x - a) ** 4 + (x - 1) ** 2


def sum_of_quartics(x, a):
    return np.sum(quartic(x, a))


def cubic(x, a):
    return x**3 + x - a


def model(t, a, b, c):
    return a * np.exp(-b * t) + c


def rosenbrock(x):
    return np.sum(100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)


BOX = [(-2.0, 5.0)]
PROBLEMS = {
    **{
        name: lambda o, a, name=name: getattr(o, name)(lambda x: cubic(x, a), 0.0, 3.0)
        for name in ("brentq", "brenth", "ridder", "bisect", "toms748")
    },
    "newton": lambda o, a: o.newton(lambda x: cubic(x, a), 1.0),
    "newton, 1000 numbers": lambda o, a: np.sum(o.newton(lambda x: cubic(x, a), np.ones(1000))),
    "root_scalar": lambda o, a: o.root_scalar(lambda x: cubic(x, a), bracket=(0, 3)).root,
    "fixed_point": lambda o, a: o.fixed_point(lambda x: np.cos(0.3 * a * x), 1.0),
    "fsolve, 2": lambda o, a: o.fsolve(lambda x: cubic(x, a), np.ones(2))[0],
    "root, 2": lambda o, a: o.root(lambda x: cubic(x, a), np.ones(2)).x[0],
    "root, 50": lambda o, a: o.root(lambda x: cubic(x, a), np.ones(50)).x[0],
    "krylov, 50": lambda o, a: o.newton_krylov(lambda x: cubic(x, a), np.ones(50))[0],
    "minimize_scalar": lambda o, a: o.minimize_scalar(lambda x: quartic(x, a)).x,
    "fminbound": lambda o, a: o.fminbound(lambda x: quartic(x, a), -1.0, 5.0),
    **{
        f"minimize {method}, 3": lambda o, a, method=method: np.sum(
            o.minimize(lambda x: sum_of_quartics(x, a), np.zeros(3), method=method).x
        )
        for method in ("BFGS", "L-BFGS-B", "CG", "SLSQP", "Nelder-Mead", "Powell", "trust-constr")
    },
    "minimize BFGS, 30": lambda o, a: np.sum(
        o.minimize(lambda x: sum_of_quartics(x, a), np.zeros(30)).x
    ),
    "minimize, bounds": lambda o, a: np.sum(
        o.minimize(lambda x: sum_of_quartics(x, a), np.zeros(3), bounds=[(0, 1)] + 2 * BOX).x
    ),
    "minimize, constraint": lambda o, a: o.minimize(
        lambda x: sum_of_quartics(x, a),
        np.zeros(3),
        constraints={"type": "eq", "fun": lambda x: np.sum(x) - 1},
    ).x[0],
    "differential_evolution": lambda o, a: o.differential_evolution(
        lambda x: sum_of_quartics(x, a), BOX, seed=0
    ).x[0],
    "least_squares": lambda o, a: np.sum(
        o.least_squares(lambda p: model(T, *p) - Y * a, np.ones(3)).x
    ),
    "leastsq": lambda o, a: np.sum(o.leastsq(lambda p: model(T, *p) - Y * a, np.ones(3))[0]),
    "curve_fit, with errors": lambda o, a: np.sum(
        np.concatenate([np.ravel(part) for part in o.curve_fit(model, T, Y * a)])
    ),
    "lsq_linear": lambda o, a: np.sum(o.lsq_linear(A, B * a, (-0.05, 0.05)).x),
    "nnls": lambda o, a: np.sum(o.nnls(A, B * a)[0]),
}


def seconds(f, x, budget=0.3):
    """The median time of a call, in which other work on the machine does not count."""
    f(x)
    times, end = [], time.process_time() + budget
    while len(times) < 5 or time.process_time() < end:
        start = time.process_time()
        f(x)
        times.append(time.process_time() - start)
    return statistics.median(times)


def ratios(problems, own, ours, a):
    print(f"{'':24} {'SciPy, us':>10} {'plain':>7} {'jvp':>7} {'grad':>7}   (over SciPy)")
    for name, solve in problems.items():
        base = seconds(lambda a, s=solve: s(own, a), a)
        shown = lambda a, s=solve: s(ours, a)  # noqa: E731
        others = [shown, lambda a, f=shown: cr.jvp(f, (a,), (1.0,)), cr.grad(shown)]
        parts = " ".join(f"{seconds(f, a) / base:7.1f}" for f in others)
        print(f"{name:24} {base * 1e6:10.0f} {parts}", flush=True)


def calls_saved():
    def counted(f, calls):
        def counting(*args):
            calls.append(1)
            return f(*args)

        return counting

    def count(run, f, *args, **more):
        calls = []
        run(counted(f, calls), *args, **more)
        return len(calls)

    start = np.array([-1.2, 1.0] * 5)
    print(f"\n{'calls of the function':24} {'differences':>12} {'ad':>7}")
    for method in ("BFGS", "L-BFGS-B", "CG", "SLSQP", "TNC"):
        before = count(own.minimize, rosenbrock, start, method=method)
        after = count(optimize.minimize, rosenbrock, start, method=method, jac="ad")
        print(f"{'Rosenbrock ' + method:24} {before:12} {after:7}")
    for method in ("trust-exact", "trust-krylov", "Newton-CG"):
        more = {"hess": "ad"} if method == "trust-exact" else {"hessp": "ad"}
        after = count(optimize.minimize, rosenbrock, start, method=method, jac="ad", **more)
        print(f"{'Rosenbrock ' + method:24} {'':>12} {after:7}")
    for method in ("lm", "trf"):
        p = np.ones(3)
        before = count(own.curve_fit, model, T, Y, p, method=method)
        after = count(optimize.curve_fit, model, T, Y, p, method=method, jac="ad")
        print(f"{'curve_fit ' + method:24} {before:12} {after:7}")


def chain(x):
    return np.concatenate([10 * (x[1:] - x[:-1] ** 2), 1 - x[:-1]])


def heat(t, y):
    cold, n = np.zeros(1), len(y) + 1
    apart = np.concatenate([cold, y[:-1]]) - 2 * y + np.concatenate([y[1:], cold])
    return n**2 * apart + y * (1 - y)


def calls_and_time_of_sparse(n=400):
    """Calls of the function and CPU time, where its Jacobian has two or three diagonals."""
    near = sparse.diags_array([1.0, 1.0, 1.0], offsets=[-1, 0, 1], shape=(n, n)).tocsr()
    pattern = sparse.vstack([near[:-1], near[:-1]])
    y0 = np.sin(np.pi * np.arange(1, n + 1) / (n + 1)) ** 2
    problems = {
        "least_squares": lambda o, _, f, **more: o.least_squares(f, np.full(n, 0.5), **more),
        "Radau": lambda _, i, f, **more: i.solve_ivp(f, (0, 1), y0, "Radau", rtol=1e-6, **more),
        "BDF": lambda _, i, f, **more: i.solve_ivp(f, (0, 1), y0, "BDF", rtol=1e-6, **more),
    }
    print(f"\n{f'{n} unknowns':24} {'differences':>20} {'ad':>20}   (calls, seconds)")
    for name, solve in problems.items():
        f, known = (chain, pattern) if name == "least_squares" else (heat, near)
        for more in ({}, {"jac_sparsity": known}):
            line = []
            for modules, jac in (
                ((own, own_integrate), {}),
                ((optimize, integrate), {"jac": "ad"}),
            ):
                calls, begin = [], time.process_time()
                solve(*modules, lambda *x, f=f, c=calls: c.append(1) or f(*x), **jac, **more)
                line.append(f"{len(calls):11} {time.process_time() - begin:8.3f}")
            print(f"{name + (', jac_sparsity' if more else ''):24} {' '.join(line)}", flush=True)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    ratios(PROBLEMS, own, optimize, 2.3)
    calls_saved()
    calls_and_time_of_sparse()
