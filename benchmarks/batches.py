"""Many at once: ``python benchmarks/batches.py``, one thousand items in one call of ``cr.vmap``.

Nine programs of one item: gradients of a network for each example, prey and predators by Runge
and Kutta's steps, and their gradient, Newton's method by ``while``, a payoff with branches, and
its gradient, a Kalman filter, a statistic of bootstrap samples, the covariance of parameters.
Columns: a Python loop over the items (of the first ten, times a hundred); ``cr.vmap``; that
compiled; the program written for whole arrays by hand, where it can be; ``jax.vmap`` under jit;
``torch.func.vmap``, eager.
Other numbers at each call, medians of the CPU time of one thread, in turns. Then a million items
that branch, compiled, beside the same loop in C by gcc; on two threads the time by the clock.
Between these, what a batch of a thousand costs in items, and each operation (``batch_operations``).
"""

import argparse
import ctypes
import importlib.util
import os
import shutil
import statistics
import subprocess
import tempfile
import time
import warnings
from pathlib import Path

for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"):
    os.environ.setdefault(name, "1")
os.environ.setdefault(
    "XLA_FLAGS", "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"
)

import numpy as np  # noqa: E402
from batch_operations import print_operations  # noqa: E402

import chainrules as cr  # noqa: E402

ITEMS, LOOPED = 1000, 10
RNG = np.random.default_rng(0)
W1, B1, W2 = RNG.normal(size=(32, 8)) / 3, np.zeros(32), RNG.normal(size=32) / 5


# ---- programs of one item ------------------------------------------------------------------------


def network_loss(w, x, xp=np):
    hidden = xp.tanh(w @ x[:8] + B1)
    return (W2 @ hidden - x[8]) ** 2


def prey_and_predators(p, xp=np):
    def slope(u, v):
        return p[0] * u - p[1] * u * v, p[3] * u * v - p[2] * v

    u, v, h = 1.0, 1.0, 0.1
    for _ in range(15):
        a, b = slope(u, v)
        c, d = slope(u + h / 2 * a, v + h / 2 * b)
        e, f = slope(u + h / 2 * c, v + h / 2 * d)
        g, i = slope(u + h * e, v + h * f)
        u, v = u + h / 6 * (a + 2 * c + 2 * e + g), v + h / 6 * (b + 2 * d + 2 * f + i)
    return u + v


def root(p):
    x = p[0]
    while abs(x**3 + p[1] * x - p[0]) > 1e-10:
        x = x - (x**3 + p[1] * x - p[0]) / (3 * x * x + p[1])
    return x


def root_of_jax(p, jax, jnp):
    def f(x):
        return x**3 + p[1] * x - p[0]

    return jax.lax.while_loop(
        lambda x: jnp.abs(f(x)) > 1e-10, lambda x: x - f(x) / (3 * x * x + p[1]), p[0]
    )


def payoff(p):
    if p[0] < 0.8:
        return 0.0 * p[0]
    if p[0] < 1.2:
        return (p[0] - 0.8) ** 2 * p[1]
    return 0.16 * p[1] + np.log(p[0] / 1.2)


def payoff_by_where(p, xp=np):
    low = xp.where(p[0] < 0.8, 0.0, (p[0] - 0.8) ** 2 * p[1])
    return xp.where(p[0] < 1.2, low, 0.16 * p[1] + xp.log(p[0] / 1.2))


def kalman(y, xp=np):
    a, q, r = xp.array([[1.0, 0.1], [0.0, 0.95]]), 0.01 * xp.eye(2), 0.2
    x, s, total = xp.zeros(2), xp.eye(2), 0.0
    for k in range(20):
        x, s = a @ x, a @ s @ a.T + q
        spread = s[0, 0] + r
        error = y[k] - x[0]
        total = total + xp.log(spread) + error**2 / spread
        gain = s[:, 0] / spread
        x, s = x + gain * error, s - xp.outer(gain, s[0])
    return total


def statistic(sample, xp=np):
    ordered = xp.sort(sample)
    trimmed = ordered[5:-5]
    return xp.mean(trimmed) / xp.std(trimmed) + xp.median(sample)


def covariance(p, xp=np):
    t = xp.linspace(0.0, 2.0, 30)
    rate = p[1] * xp.exp(-p[0] * t)
    columns = xp.stack([-t * rate, xp.exp(-p[0] * t), xp.ones(30)])
    return xp.sqrt(xp.diagonal(xp.linalg.inv(columns @ columns.T)))


# ---- their batches -------------------------------------------------------------------------------

OF_ONE = {
    "gradient for each example": lambda x: cr.grad(network_loss)(W1, x),
    "prey and predators": prey_and_predators,
    "its gradient": cr.grad(prey_and_predators),
    "Newton, while": root,
    "payoff, if": payoff,
    "its gradient, if": cr.grad(payoff),
    "Kalman filter, 20 steps": kalman,
    "bootstrap statistic": statistic,
    "covariance, inverse": covariance,
}
GIVEN = {
    "gradient for each example": lambda: RNG.normal(size=(ITEMS, 9)),
    "prey and predators": lambda: 1 + 0.2 * RNG.random((ITEMS, 4)),
    "its gradient": lambda: 1 + 0.2 * RNG.random((ITEMS, 4)),
    "Newton, while": lambda: 1 + RNG.random((ITEMS, 2)),
    "payoff, if": lambda: 0.5 + RNG.random((ITEMS, 2)),
    "its gradient, if": lambda: 0.5 + RNG.random((ITEMS, 2)),
    "Kalman filter, 20 steps": lambda: RNG.normal(size=(ITEMS, 20)),
    "bootstrap statistic": lambda: RNG.normal(size=(ITEMS, 100)),
    "covariance, inverse": lambda: 1 + RNG.random((ITEMS, 2)),
}
BY_HAND = {
    "prey and predators": lambda p: prey_and_predators(p.T),
    "payoff, if": lambda p: payoff_by_where(p.T),
}


def of_jax():
    import jax
    import jax.numpy as jnp

    jax.config.update("jax_enable_x64", True)

    def batch(f):
        jitted = jax.jit(jax.vmap(f))
        return lambda xs: np.asarray(jax.block_until_ready(jitted(xs)))

    def lv(p):
        return prey_and_predators(p, jnp)

    return {
        "gradient for each example": batch(
            lambda x: jax.grad(lambda w: network_loss(w, x, jnp))(jnp.asarray(W1))
        ),
        "prey and predators": batch(lv),
        "its gradient": batch(jax.grad(lv)),
        "Newton, while": batch(lambda p: root_of_jax(p, jax, jnp)),
        "payoff, if": batch(lambda p: payoff_by_where(p, jnp)),
        "its gradient, if": batch(jax.grad(lambda p: payoff_by_where(p, jnp))),
        "Kalman filter, 20 steps": batch(lambda y: kalman(y, jnp)),
        "bootstrap statistic": batch(lambda x: statistic(x, jnp)),
        "covariance, inverse": batch(lambda p: covariance(p, jnp)),
    }


def of_torch():
    import torch

    torch.set_num_threads(1)
    torch.set_default_dtype(torch.float64)
    w1, b1, w2 = map(torch.from_numpy, (W1, B1, W2))

    def loss(w, x):
        return (w2 @ torch.tanh(w @ x[:8] + b1) - x[8]) ** 2

    def where(p):
        return payoff_by_where(p, torch)

    def batch(f):
        batched = torch.func.vmap(f)
        return lambda xs: batched(torch.from_numpy(xs)).numpy()

    return {
        "gradient for each example": batch(lambda x: torch.func.grad(loss)(w1, x)),
        "prey and predators": batch(prey_and_predators),
        "its gradient": batch(torch.func.grad(prey_and_predators)),
        "payoff, if": batch(where),
        "its gradient, if": batch(torch.func.grad(where)),
    }


def looped(f):
    return lambda xs: [f(x) for x in xs[:LOOPED]]


def measured(runs, given, repeats):
    """Return the median CPU time of each, at other numbers each time, in turns."""
    times = {name: [] for name in runs}
    for _ in range(repeats):
        xs = given()
        for name, run in runs.items():
            start = time.process_time()
            run(xs)
            times[name].append(time.process_time() - start)
    found = {name: statistics.median(spent) for name, spent in times.items()}
    return found | {"loop": found["loop"] * ITEMS / LOOPED}


COLUMNS = ("loop", "vmap", "compiled", "by hand", "jit(vmap)", "torch")


# ---- a thousand items, in items ------------------------------------------------------------------


def arithmetic(count):
    """Return a program of so many sums, differences and products, of numbers or of arrays."""

    def f(p):
        x, y = p[0], p[1]
        for _ in range(count // 4):
            x, y = 0.9 * x + 0.1 * y, x - y
        return x

    return f


def with_functions(count):
    """Return a program of so many operations, of which two fifths are sines and quotients."""

    def f(p):
        x, y = p[0], p[1]
        for _ in range(count // 5):
            x, y = np.sin(x) * y + 1.0, x / (y + 2.0)
        return x

    return f


PROGRAMS = (
    ("numbers", arithmetic, (2,), (4, 20, 48, 100, 200)),
    ("numbers, sines", with_functions, (2,), (5, 20, 50, 100, 200)),
    ("arrays of 3", arithmetic, (2, 3), (20, 100)),
    ("arrays of 10", arithmetic, (2, 10), (20, 60, 200)),
    ("arrays of 100", arithmetic, (2, 100), (20, 60, 200)),
)


def in_items(repeats):
    """Print what a batch of a thousand costs, in calls of the function of one item."""
    columns = ("one item, us", "vmap", "plain NumPy", "one gradient, us", "vmap of it")
    print("\n| a thousand items, in items |", " | ".join(columns), "|")
    print("|---" * (len(columns) + 1) + "|")
    for what, program, shape, counts in PROGRAMS:
        for count in counts:
            f = program(count)
            gradient = cr.grad(lambda p, f=f: np.sum(f(p)))
            runs = {
                "one": lambda xs, f=f: [f(x) for x in xs[:LOOPED]],
                "vmap": cr.vmap(f),
                "hand": lambda xs, f=f: f(np.swapaxes(xs, 0, 1)),
                "gradient": lambda xs, g=gradient: [g(x) for x in xs[:LOOPED]],
                "vmap of it": cr.vmap(gradient),
            }
            spent = {name: [] for name in runs}
            for _ in range(repeats):
                xs = RNG.random((ITEMS, *shape))
                for name, run in runs.items():
                    start = time.process_time()
                    run(xs)
                    spent[name].append(time.process_time() - start)
            found = {name: statistics.median(times) * 1e6 for name, times in spent.items()}
            one, gradient_of_one = found["one"] / LOOPED, found["gradient"] / LOOPED
            cells = [one, found["vmap"] / one, found["hand"] / one]
            cells += [gradient_of_one, found["vmap of it"] / gradient_of_one]
            row = " | ".join(f"{cell:.3g}" for cell in cells)
            print(f"| {what}, {count} operations | {row} |", flush=True)


# ---- a million items that branch, beside C -------------------------------------------------------

MILLION = 1_000_000
IN_C = """
#include <math.h>
void payoff(const double *p, double *y, long n) {
    for (long i = 0; i < n; i++) {
        double a = p[2 * i], b = p[2 * i + 1];
        if (a < 0.8) y[i] = 0.0 * a;
        else if (a < 1.2) y[i] = (a - 0.8) * (a - 0.8) * b;
        else y[i] = 0.16 * b + log(a / 1.2);
    }
}
void root(const double *p, double *y, long n) {
    for (long i = 0; i < n; i++) {
        double a = p[2 * i], b = p[2 * i + 1], x = a;
        while (fabs(x * x * x + b * x - a) > 1e-10)
            x = x - (x * x * x + b * x - a) / (3 * x * x + b);
        y[i] = x;
    }
}
"""


def root_by_while_loop(p):
    def is_far(x):
        return abs(x**3 + p[1] * x - p[0]) > 1e-10

    return cr.while_loop(is_far, lambda x: x - (x**3 + p[1] * x - p[0]) / (3 * x * x + p[1]), p[0])


def of_c():
    """Return the functions of ``IN_C``, compiled by gcc; none where there is no gcc."""
    if shutil.which("gcc") is None:
        return {}
    folder = Path(tempfile.mkdtemp())
    source, library = folder / "items.c", folder / "items.so"
    source.write_text(IN_C)
    options = ["-O3", "-march=native", "-shared", "-fPIC", "-o", str(library), str(source), "-lm"]
    subprocess.run(["gcc", *options], check=True)
    loaded = ctypes.CDLL(str(library))
    shutil.rmtree(folder)

    def function(name):
        def run(xs):
            y = np.empty(len(xs))
            places = map(ctypes.c_void_p, (xs.ctypes.data, y.ctypes.data))
            getattr(loaded, name)(*places, ctypes.c_long(len(xs)))
            return y

        return run

    return {name: function(name) for name in ("payoff", "root")}


def a_million(repeats):
    """Print the table of programs that branch, of a million items."""
    in_c = of_c()
    rows = (
        ("payoff, if", payoff, "payoff"),
        ("its gradient, if", cr.grad(payoff), ""),
        ("Newton, while", root, "root"),
        ("Newton, cr.while_loop", root_by_while_loop, "root"),
    )
    columns = ("compiled", "C", "compiled / C", "two threads")
    print("\n| milliseconds, 10^6 items |", " | ".join(columns), "|")
    print("|---" * (len(columns) + 1) + "|")
    for name, f, of in rows:
        first = 0.5 if "if" in name else 1.0
        runs = {"compiled": cr.compile(cr.vmap(f)), "threads": cr.compile(cr.vmap(f), threads=2)}
        if of in in_c:
            runs["C"] = in_c[of]
        xs = first + RNG.random((MILLION, 2))
        for run in runs.values():
            for _ in range(3):
                np.testing.assert_allclose(run(xs), runs["compiled"](xs), rtol=1e-9, atol=1e-12)
        spent = {column: [] for column in runs}
        for _ in range(repeats):
            xs = first + RNG.random((MILLION, 2))
            for column, run in runs.items():
                clock = time.perf_counter if column == "threads" else time.process_time
                start = clock()
                run(xs)
                spent[column].append(clock() - start)
        found = {column: statistics.median(times) * 1e3 for column, times in spent.items()}
        ratio = f"{found['compiled'] / found['C']:.2f}" if "C" in found else ""
        c = f"{found['C']:.3g}" if "C" in found else ""
        cells = [f"{found['compiled']:.3g}", c, ratio, f"{found['threads']:.3g}"]
        print(f"| {name} |", " | ".join(cells), "|", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=15, help="calls, each with other numbers")
    parser.add_argument("--only", nargs="*", choices=sorted(OF_ONE), default=list(OF_ONE))
    options = parser.parse_args()
    warnings.simplefilter("error", cr.BatchWarning)
    peers = {
        "jit(vmap)": of_jax() if importlib.util.find_spec("jax") else {},
        "torch": of_torch() if importlib.util.find_spec("torch") else {},
    }
    print("| milliseconds |", " | ".join(COLUMNS), "|")
    print("|---" * (len(COLUMNS) + 1) + "|")
    for name in options.only:
        f = OF_ONE[name]
        runs = {"loop": looped(f), "vmap": cr.vmap(f)}
        runs["compiled"] = cr.compile(cr.vmap(f))
        if name in BY_HAND:
            runs["by hand"] = BY_HAND[name]
        runs |= {column: known[name] for column, known in peers.items() if name in known}
        xs = GIVEN[name]()
        right = np.stack(looped(f)(xs))
        for column, run in runs.items():
            for _ in range(4 if column == "compiled" else 1):
                y = run(xs)
            if column != "loop":
                np.testing.assert_allclose(y[:LOOPED], right, rtol=1e-7, atol=1e-9)
        found = measured(runs, GIVEN[name], options.repeats)
        cells = [f"{found[key] * 1e3:.3g}" if key in found else "" for key in COLUMNS]
        print(f"| {name} |", " | ".join(cells), "|", flush=True)
    if len(options.only) == len(OF_ONE):
        in_items(options.repeats)
        print_operations(options.repeats)
        a_million(options.repeats)


if __name__ == "__main__":
    main()
