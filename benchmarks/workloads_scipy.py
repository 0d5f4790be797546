"""Programs that call SciPy, as users write them; and some whose lengths or integers move."""

import functools
import importlib
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

import numpy as np
from peers import Function, Peer, gradient
from table import JAX_JIT
from workload import Workload
from workloads_branches import numbers_between
from workloads_small import mean_squared_error

NO_JAX = {JAX_JIT: "jax.scipy does not have it"}
VALUES = {JAX_JIT: "values decide what is done"}


def scipy_of(namespace: ModuleType, module: str) -> Any:
    """Return the module of SciPy that goes with a namespace: JAX's, or the mirror of ours."""
    theirs = namespace.__name__ == "jax.numpy"
    return importlib.import_module(f"{'jax' if theirs else 'chainrules'}.scipy.{module}")


# ---- likelihoods ----


def mixture(namespace: ModuleType) -> Callable:
    logsumexp = scipy_of(namespace, "special").logsumexp
    logpdf = scipy_of(namespace, "stats").norm.logpdf

    def log_likelihood(weights: Any, means: Any, scales: Any, points: Any) -> Any:
        terms = weights + logpdf(points, means, namespace.exp(scales))
        return namespace.sum(logsumexp(terms, axis=1)) - len(points) * logsumexp(weights)

    return log_likelihood


def regression(namespace: ModuleType) -> Callable:
    logpdf = scipy_of(namespace, "stats").norm.logpdf

    def log_posterior(w: Any, log_noise: Any, features: Any, seen: Any) -> Any:
        noise = namespace.exp(log_noise)
        prior = namespace.sum(logpdf(w, 0.0, 1.0)) + logpdf(log_noise, 0.0, 1.0)
        return prior + namespace.sum(logpdf(seen, features @ w, noise))

    return log_posterior


def counts(namespace: ModuleType) -> Callable:
    gammaln = scipy_of(namespace, "special").gammaln

    def log_likelihood(w: Any, log_size: Any, features: Any, seen: Any) -> Any:
        mean, size = namespace.exp(features @ w), namespace.exp(log_size)
        ways = gammaln(seen + size) - gammaln(size) - gammaln(seen + 1.0)
        odds = seen * namespace.log(mean) + size * log_size
        return namespace.sum(ways + odds - (seen + size) * namespace.log(mean + size))

    return log_likelihood


def gaussian_process(namespace: ModuleType) -> Callable:
    linalg, exp = scipy_of(namespace, "linalg"), namespace.exp

    def negative_log_likelihood(logs: Any, x: Any, seen: Any) -> Any:
        length, scale, noise = exp(logs[0]), exp(logs[1]), exp(logs[2])
        squared = (x[:, None] - x) ** 2
        k = scale**2 * exp(-0.5 * squared / length**2) + noise**2 * namespace.eye(len(x))
        factor = linalg.cho_factor(k, lower=True)
        weights = linalg.cho_solve(factor, seen)
        return 0.5 * seen @ weights + namespace.sum(namespace.log(namespace.diagonal(factor[0])))

    return negative_log_likelihood


def kernel_regression(namespace: ModuleType) -> Callable:
    cdist = scipy_of(namespace, "spatial.distance").cdist

    def error(log_length: Any, x: Any, seen: Any, places: Any, values: Any) -> Any:
        weights = namespace.exp(-cdist(places, x, "sqeuclidean") / namespace.exp(log_length))
        found = weights @ seen / namespace.sum(weights, axis=1)
        return namespace.mean((found - values) ** 2)

    return error


# ---- curves, matrices, signals ----


def spline(namespace: ModuleType) -> Callable:
    interpolate = scipy_of(namespace, "interpolate")

    def misfit(values: Any, knots: Any, places: Any, seen: Any) -> Any:
        return namespace.sum((interpolate.CubicSpline(knots, values)(places) - seen) ** 2)

    return misfit


def table(namespace: ModuleType) -> Callable:
    def misfit(values: Any, knots: Any, places: Any, seen: Any) -> Any:
        return namespace.sum((namespace.interp(places, knots, values) - seen) ** 2)

    return misfit


def markov_chain(namespace: ModuleType) -> Callable:
    expm = scipy_of(namespace, "linalg").expm

    def misfit(logs: Any, time: Any, start: Any, seen: Any) -> Any:
        rates = namespace.exp(logs) * (1.0 - namespace.eye(len(start)))
        rates = rates - namespace.diag(namespace.sum(rates, axis=1))
        return namespace.sum((start @ expm(time * rates) - seen) ** 2)

    return misfit


def stiffness(namespace: ModuleType) -> Callable:
    solve = scipy_of(namespace, "linalg").solve

    def energy(springs: Any, force: Any) -> Any:
        inner = springs[:-1] + springs[1:]
        matrix = namespace.diag(inner) - namespace.diag(springs[1:-1], 1)
        return force @ solve(matrix - namespace.diag(springs[1:-1], -1), force)

    return energy


def filtered(namespace: ModuleType) -> Callable:
    signal = scipy_of(namespace, "signal")

    def misfit(b: Any, a: Any, given: Any, seen: Any) -> Any:
        return namespace.mean((signal.lfilter(b, a, given) - seen) ** 2)

    return misfit


# ---- numbers that decide, integers, lengths ----


def implied_volatility(namespace: ModuleType) -> Callable:
    ndtr, log, sqrt, exp = scipy_of(namespace, "special").ndtr, np.log, np.sqrt, np.exp

    def volatility(price: Any, strike: Any, years: Any) -> Any:
        """Solve for the volatility of an option by Newton's method, where the share costs 1."""
        sigma = 0.5
        while True:
            spread = sigma * sqrt(years)
            d = -log(strike) / spread + 0.5 * spread
            missing = ndtr(d) - strike * ndtr(d - spread) - price
            if abs(missing) < 1e-12:
                return sigma
            sigma = sigma - missing * sqrt(2.0 * np.pi) / (exp(-0.5 * d * d) * sqrt(years))

    return volatility


def priced(k: int) -> tuple:
    """Return the arguments of ``implied_volatility``, drawn anew for each k."""
    from scipy.special import ndtr

    sigma, strike, years = numbers_between((0.2, 0.9, 0.5), (0.8, 1.1, 1.5), k)
    spread = sigma * years**0.5
    d = -np.log(strike) / spread + 0.5 * spread
    return float(ndtr(d) - strike * ndtr(d - spread)), strike, years


def adam(peer: Peer) -> Function:
    """Return the gradient, in the rate, of the loss after one step of Adam's method."""
    np = peer.namespace

    def loss(w: Any, features: Any, seen: Any) -> Any:
        return np.mean((np.tanh(features @ w) - seen) ** 2)

    def after(rate: Any, w: Any, m: Any, v: Any, t: Any, features: Any, seen: Any) -> Any:
        slope = peer.of["grad"](loss)(w, features, seen)
        m, v = 0.9 * m + 0.1 * slope, 0.999 * v + 0.001 * slope**2
        mean, deviation = m / (1.0 - 0.9**t), np.sqrt(v / (1.0 - 0.999**t))
        return loss(w - rate * mean / (deviation + 1e-8), features, seen)

    return peer.outermost("gradient")(after, argnums=(0,))


def steps(_: ModuleType) -> Callable:
    def f(x: Any, n: int) -> Any:
        for _ in range(n):
            x = x + 0.1 * x * (1.0 - x)
        return x

    return f


def at_lengths(lengths: Callable[[int], int], k: int) -> tuple:
    rng, n = np.random.default_rng(k), lengths(k)
    return rng.normal(size=n), rng.normal(size=n)


def counted(kind: type, args: tuple, k: int) -> tuple:
    rate, *arrays, features, seen = args
    move = 1.0 + 0.01 * np.random.default_rng(k).uniform()
    return (rate, *[x * move for x in arrays], kind(k + 1), features, seen)


def with_steps(k: int) -> tuple:
    return *numbers_between((0.1,), (0.9,), k), 10 + k % 10


def workloads() -> Iterator[Workload]:
    rng = np.random.default_rng(0)

    def normal(*shape: int) -> np.ndarray:
        return rng.normal(size=shape) * 0.5

    given: tuple = normal(3), normal(3), normal(3), normal(200, 1)
    yield Workload("logsumexp and norm.logpdf, mixture", 7, gradient(mixture, (0, 1, 2)), given)
    given = normal(5), -0.5, normal(100, 5), normal(100)
    yield Workload("norm.logpdf, regression 100 x 5", 9, gradient(regression, (0, 1)), given)
    given = normal(5), 0.5, normal(100, 5), rng.poisson(2.0, 100).astype(float)
    yield Workload("gammaln, counts 100 x 5", 14, gradient(counts, (0, 1)), given)
    given = np.log([1.0, 1.5, 0.3]), np.sort(rng.uniform(0, 10, 50)), normal(50)
    yield Workload("cho_solve, Gaussian process, n = 50", 15, gradient(gaussian_process), given)
    given = 0.3, normal(60, 3), normal(60), normal(40, 3), normal(40)
    name = "cdist, kernel regression 40 x 60"
    yield Workload(name, 9, gradient(kernel_regression), given, skipped=NO_JAX)
    knots, places = np.arange(10.0), np.sort(rng.uniform(0.5, 8.5, 100))
    given = normal(10), knots, places, normal(100)
    yield Workload("CubicSpline, 10 knots", 4, gradient(spline), given, skipped=NO_JAX)
    yield Workload("np.interp, table of 10", 4, gradient(table), given)
    given = normal(6, 6), 0.7, np.full(6, 1 / 6), rng.dirichlet(np.ones(6))
    yield Workload("expm, Markov chain of 6 states", 9, gradient(markov_chain), given)
    given = rng.uniform(1, 2, 31), normal(30)
    yield Workload("linalg.solve, 30 springs in line", 7, gradient(stiffness), given)
    given = normal(3), np.array([1.0, -0.5, 0.1]), normal(500), normal(500)
    yield Workload("lfilter, 500 samples", 4, gradient(filtered, (0, 1)), given, skipped=NO_JAX)
    yield Workload(
        "implied volatility, ndtr (while)", 60, gradient(implied_volatility, (0, 1, 2)),
        priced(0), skipped=VALUES, points=priced,
    )  # fmt: skip
    given = 0.01, normal(5), normal(5), normal(5) ** 2, normal(100, 5), normal(100)
    args = counted(float, given, 0)
    points = functools.partial(counted, float, given)
    yield Workload("Adam's step, count t as a float", 20, adam, args, points=points)


def of_moved_kinds() -> Iterator[Workload]:
    """Yield programs of which a length or an integer moves: each is recorded by itself."""
    rng = np.random.default_rng(0)
    given: tuple = 0.01, *rng.normal(size=(2, 5)), rng.uniform(0.1, 1.0, 5)
    given = *given, rng.normal(size=(100, 5)), rng.normal(size=100)
    points = functools.partial(counted, int, given)
    yield Workload(
        "Adam's step, count t as an int", 20, adam, counted(int, given, 0), points=points
    )
    yield Workload(
        "10 to 19 steps, as an argument", 60, gradient(steps), with_steps(0), skipped=VALUES,
        points=with_steps,
    )  # fmt: skip
    for name, lengths in (
        ("8 lengths that come again", lambda k: 100 + k % 8),
        ("a new length at each call", lambda k: 100 + k),
    ):
        points = functools.partial(at_lengths, lengths)
        loss = gradient(mean_squared_error)
        yield Workload(f"mean squared error, {name}", 3, loss, points(0), points=points)
