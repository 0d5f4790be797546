"""scipy.integrate: a derivative over SciPy's own call, in time.

``python benchmarks/integrals.py``. Each problem depends on its parameter by capture. Run it with
one thread (``OPENBLAS_NUM_THREADS=1``).
"""

import warnings

import numpy as np
import scipy.integrate as own
from solvers import ratios

from chainrules.scipy import integrate

T, MESH, START = np.linspace(0.0, 3.0, 65), np.linspace(0.0, 1.0, 11), [1.0, 0.5]


def wave(t, a):
    return np.exp(-a * t) * np.sin(3 * t)


def oscillator(t, y, a):
    return np.stack([y[1], -a * y[0] - 0.1 * y[1]])


def at_end(solution):
    return np.sum(solution.y[:, -1])


def hanging(o, a):
    """A boundary value problem: y'' = -a exp(y), y(0) = y(1) = 0 (Bratu's)."""
    y = np.zeros((2, len(MESH)))

    def f(x, y):
        return np.stack([y[1], -a * np.exp(y[0])])

    return np.sum(o.solve_bvp(f, lambda u, v: np.stack([u[0], v[0]]), MESH, y).sol(0.5))


INNER, OUTER = (0.0, 1.0), (0.0, 2.0)
PROBLEMS = {
    "quad": lambda o, a: o.quad(lambda t: wave(t, a), 0, 3)[0],
    "quad, to infinity": lambda o, a: o.quad(lambda t: wave(t, a), 0, np.inf)[0],
    "quad, limits": lambda o, a: o.quad(lambda t: wave(t, 1.0), 0, a)[0],
    "quad_vec": lambda o, a: np.sum(
        o.quad_vec(lambda t: wave(t, a * np.arange(1.0, 5.0)), 0, 3)[0]
    ),
    "dblquad": lambda o, a: o.dblquad(lambda s, t: wave(t * s, a), *OUTER, *INNER)[0],
    "tplquad": lambda o, a: o.tplquad(
        lambda r, s, t: np.exp(-a * r * s * t), *INNER, *INNER, *INNER
    )[0],
    "nquad": lambda o, a: o.nquad(lambda s, t: wave(t * s, a), [INNER, OUTER])[0],
    "fixed_quad": lambda o, a: o.fixed_quad(lambda t: wave(t, a), 0, 3, n=20)[0],
    "tanhsinh": lambda o, a: o.tanhsinh(lambda t: wave(t, a), 0.0, 3.0).integral,
    "cubature": lambda o, a: (
        o.cubature(lambda x: wave(x[:, 0] * x[:, 1], a), np.zeros(2), np.ones(2)).estimate
    ),
    "qmc_quad": lambda o, a: (
        o.qmc_quad(lambda x: wave(x[0] * x[1], a), np.zeros(2), np.ones(2)).integral
    ),
    "nsum": lambda o, a: o.nsum(lambda n: 1 / (n * n + a), 1.0, np.inf).sum,
    "trapezoid": lambda o, a: o.trapezoid(wave(T, a), T),
    "simpson": lambda o, a: o.simpson(wave(T, a), x=T),
    "romb": lambda o, a: o.romb(wave(T, a), dx=3 / 64),
    "cumulative_trapezoid": lambda o, a: np.sum(o.cumulative_trapezoid(wave(T, a), T)),
    "cumulative_simpson": lambda o, a: np.sum(o.cumulative_simpson(wave(T, a), x=T)),
    "newton_cotes": lambda o, a: np.sum(o.newton_cotes(np.stack([0.0, 0.8, a, 3.0]))[0] * T[:4]),
    **{
        f"solve_ivp, {method}": lambda o, a, method=method: at_end(
            o.solve_ivp(lambda t, y: oscillator(t, y, a), (0, 5), START, method)
        )
        for method in ("RK45", "RK23", "DOP853", "Radau", "BDF", "LSODA")
    },
    "solve_ivp, t_eval": lambda o, a: np.sum(
        o.solve_ivp(lambda t, y: oscillator(t, y, a), (0, 5), START, t_eval=T).y
    ),
    "solve_ivp, dense_output": lambda o, a: np.sum(
        o.solve_ivp(lambda t, y: oscillator(t, y, a), (0, 5), START, dense_output=True).sol(T)
    ),
    "solve_ivp, an event": lambda o, a: o.solve_ivp(
        lambda t, y: oscillator(t, y, a), (0, 5), START, events=lambda t, y: y[0]
    ).t_events[0][0],
    "odeint": lambda o, a: np.sum(o.odeint(lambda y, t: oscillator(t, y, a), START, T)[-1]),
    "solve_bvp": hanging,
}

if __name__ == "__main__":
    warnings.simplefilter("ignore")
    ratios(PROBLEMS, own, integrate, 1.3)
