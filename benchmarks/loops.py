"""Loops of numbers, compiled, at other arguments each call: ``python benchmarks/loops.py``.

Value and gradient of three loops: Newton's method by ``while_loop``, a damped pendulum by Runge and
Kutta's method with ``scan``, and a filter along a signal of which each row is read. Beside the
compiled gradient stand the plain value, the eager gradient, central differences, and ``jax.jit`` of
JAX's gradient by ``lax.scan`` where JAX is installed. (JAX has no reverse mode through
``lax.while_loop``: Newton's method is ``jacfwd`` there.) CPU time of one thread, medians, all
interleaved; ``first`` is the time of the first call, and ``recordings`` how many were made in all.
"""

import argparse
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

import chainrules as cr  # noqa: E402

STEPS = 1000
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


PROGRAMS = {"Newton": newton, "pendulum": pendulum, "filter": filtered}
STARTS = {"Newton": [1.3, 5.2], "pendulum": [1.1, 0.3], "filter": [0.4, 0.2]}


def of_jax(name):
    import jax

    jax.config.update("jax_enable_x64", True)
    f = PROGRAMS[name]

    def g(p):
        return f(p, jax.lax.scan, jax.lax.while_loop, jax.numpy)

    d = jax.jit(jax.jacfwd(g) if name == "Newton" else jax.grad(g))
    return lambda p: np.asarray(d(p))


def differences(f):
    def slopes(p):
        steps = 1e-6 * np.eye(len(p))
        return np.array([(f(p + h) - f(p - h)) / 2e-6 for h in steps])

    return slopes


def measured(runs, points):
    """Return the median of each run's CPU time, one call at each point, in turns."""
    times = {name: [] for name in runs}
    for p in points:
        for name, run in runs.items():
            start = time.process_time()
            run(p)
            times[name].append(time.process_time() - start)
    return {name: statistics.median(found) for name, found in times.items()}


def row(name, repeats):
    f = PROGRAMS[name]
    points = [np.array(STARTS[name]) * (1 + 0.3 * k / repeats) for k in range(repeats)]
    compiled = cr.compile(cr.grad(f))
    start = time.perf_counter()
    compiled(points[0])
    first = time.perf_counter() - start
    runs = {"value": f, "compiled": compiled, "eager": cr.grad(f), "differences": differences(f)}
    if importlib.util.find_spec("jax"):
        runs["jit"] = of_jax(name)
        runs["jit"](points[0])
    for p in points[:2]:
        for run in (compiled, *([runs["jit"]] if "jit" in runs else [])):
            np.testing.assert_allclose(run(p), runs["eager"](p), rtol=1e-7)
    times = measured(runs, points)
    recordings = sum(kind.recordings for kind in compiled.kinds.values())
    return times, first, recordings


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=30, help="calls, each at another point")
    parser.add_argument("--only", nargs="*", choices=sorted(PROGRAMS), default=list(PROGRAMS))
    options = parser.parse_args()
    warnings.simplefilter("error", cr.CompileWarning)
    print(
        f"{'microseconds':10} {'value':>9} {'compiled':>9} {'eager':>9} {'differences':>12}", end=""
    )
    print(f" {'jit':>9} {'first':>9} {'recordings':>11}")
    for name in options.only:
        times, first, recordings = row(name, options.repeats)
        cells = [f"{times[key] * 1e6:9.0f}" for key in ("value", "compiled", "eager")]
        jit = f"{times['jit'] * 1e6:9.0f}" if "jit" in times else f"{'-':>9}"
        print(f"{name:12}", *cells, f"{times['differences'] * 1e6:12.0f}", jit, end=" ")
        print(f"{first * 1e6:9.0f} {recordings:11}")


if __name__ == "__main__":
    main()
