"""Programs of science: filters, equations over time, tables, attention, windows, segments.

Each is written as its users write it in NumPy, with steps on arrays of ten to a few thousand
numbers, and for JAX also with its own loop or its own function.
"""

from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

import numpy as np
from peers import gradient, peers
from table import AUTOGRAD, JAX, JAX_JIT, PYTORCH
from workload import Workload
from workloads_scipy import table

OURS_ALONE = dict.fromkeys((AUTOGRAD, JAX, PYTORCH), "compared with JAX's jit alone")
WITHOUT_JIT = OURS_ALONE | {JAX_JIT: "its arrays are not written to"}


def lax() -> Any:
    return peers()[JAX_JIT].jax.lax


# ---- a Kalman filter: position and velocity in the plane, of which the position is seen ---------


def kalman_step(namespace: ModuleType, noise: Any, x: Any, p: Any, seen: Any, model: tuple) -> Any:
    move, look, q, r = model
    x, p = move @ x, move @ p @ move.T + noise[0] * q
    s = look @ p @ look.T + noise[1] * r
    missed = seen - look @ x
    gain = namespace.linalg.solve(s, look @ p).T
    cost = missed @ namespace.linalg.solve(s, missed) + namespace.linalg.slogdet(s)[1]
    return x + gain @ missed, p - gain @ look @ p, cost


def plane(step: float = 0.1) -> tuple:
    move = np.eye(4) + step * np.eye(4, k=2)
    return move, np.eye(2, 4), np.eye(4), np.eye(2)


def kalman(namespace: ModuleType) -> Callable:
    def cost(noise: Any, seen: Any) -> Any:
        x, p, total, model = np.zeros(4), np.eye(4), 0.0, plane()
        for t in range(len(seen)):
            x, p, lost = kalman_step(namespace, noise, x, p, seen[t], model)
            total = total + lost
        return total

    return cost


def kalman_in_loop(namespace: ModuleType) -> Callable:
    def cost(noise: Any, seen: Any) -> Any:
        def step(carry: Any, y: Any) -> Any:
            x, p, lost = kalman_step(namespace, noise, *carry, y, plane())
            return (x, p), lost

        start = namespace.zeros(4), namespace.eye(4)
        return namespace.sum(lax().scan(step, start, seen)[1])

    return cost


# ---- forward probabilities of a hidden Markov model, in logarithms ------------------------------


def forward_step(namespace: ModuleType, log_p: Any, log_t: Any, log_e: Any) -> Any:
    z = log_p[:, None] + log_t
    top = namespace.max(z, axis=0)
    return top + namespace.log(namespace.sum(namespace.exp(z - top), axis=0)) + log_e


def total(namespace: ModuleType, log_p: Any) -> Any:
    top = namespace.max(log_p)
    return top + namespace.log(namespace.sum(namespace.exp(log_p - top)))


def hidden_markov(namespace: ModuleType) -> Callable:
    def likelihood(log_t: Any, log_e: Any) -> Any:
        log_p = log_e[0]
        for t in range(1, len(log_e)):
            log_p = forward_step(namespace, log_p, log_t, log_e[t])
        return total(namespace, log_p)

    return likelihood


def hidden_markov_in_loop(namespace: ModuleType) -> Callable:
    def likelihood(log_t: Any, log_e: Any) -> Any:
        step = lambda p, e: (forward_step(namespace, p, log_t, e), None)  # noqa: E731
        return total(namespace, lax().scan(step, log_e[0], log_e[1:])[0])

    return likelihood


# ---- heat along a rod and on a plate, Burgers' equation -----------------------------------------


def rod(namespace: ModuleType) -> Callable:
    def left(x: Any, rate: Any) -> Any:
        for _ in range(100):
            inner = x[1:-1] + rate * (x[2:] - 2.0 * x[1:-1] + x[:-2])
            x = namespace.concatenate([x[:1], inner, x[-1:]])
        return namespace.sum(x * x)

    return left


def rod_in_loop(namespace: ModuleType) -> Callable:
    def left(x: Any, rate: Any) -> Any:
        def step(x: Any, _: Any) -> tuple:
            return x.at[1:-1].add(rate * (x[2:] - 2.0 * x[1:-1] + x[:-2])), None

        x, _ = lax().scan(step, x, None, length=100)
        return namespace.sum(x * x)

    return left


def sides(x: Any) -> Any:
    return x[2:, 1:-1] + x[:-2, 1:-1] + x[1:-1, 2:] + x[1:-1, :-2] - 4.0 * x[1:-1, 1:-1]


def plate(namespace: ModuleType) -> Callable:
    def left(x: Any, rate: Any) -> Any:
        for _ in range(100):
            new = namespace.copy(x)
            new[1:-1, 1:-1] = x[1:-1, 1:-1] + rate * sides(x)
            x = new
        return namespace.sum(x * x)

    return left


def plate_in_loop(namespace: ModuleType) -> Callable:
    def left(x: Any, rate: Any) -> Any:
        x, _ = lax().scan(
            lambda x, _: (x.at[1:-1, 1:-1].add(rate * sides(x)), None), x, None, length=100
        )
        return namespace.sum(x * x)

    return left


def burgers_step(namespace: ModuleType, u: Any, viscosity: Any, k: Any) -> Any:
    there, back = namespace.fft.rfft, namespace.fft.irfft
    of_u = there(u)
    slope, bend = back(1j * k * of_u), back(-(k**2) * of_u)
    return u + 1e-3 * (viscosity * bend - u * slope)


def burgers(namespace: ModuleType) -> Callable:
    def energy(u: Any, viscosity: Any, k: Any) -> Any:
        for _ in range(50):
            u = burgers_step(namespace, u, viscosity, k)
        return namespace.sum(u * u)

    return energy


def burgers_in_loop(namespace: ModuleType) -> Callable:
    def energy(u: Any, viscosity: Any, k: Any) -> Any:
        step = lambda u, _: (burgers_step(namespace, u, viscosity, k), None)  # noqa: E731
        u, _ = lax().scan(step, u, None, length=50)
        return namespace.sum(u * u)

    return energy


# ---- a table, attention, windows, segments ------------------------------------------------------


def attention(namespace: ModuleType) -> Callable:
    einsum = namespace.einsum

    def loss(x: Any, q: Any, k: Any, v: Any) -> Any:
        queries, keys, values = [einsum("td,dhe->the", x, w) for w in (q, k, v)]
        scores = einsum("the,she->hts", queries, keys) / np.sqrt(keys.shape[-1])
        odds = namespace.exp(scores - namespace.max(scores, axis=-1, keepdims=True))
        shares = odds / namespace.sum(odds, axis=-1, keepdims=True)
        return namespace.sum(einsum("hts,she->the", shares, values) ** 2)

    return loss


def windows(namespace: ModuleType) -> Callable:
    view = np.lib.stride_tricks.sliding_window_view

    def loss(filters: Any, images: Any, weights: Any) -> Any:
        seen = view(images, (3, 3), axis=(1, 2))
        found = namespace.maximum(namespace.einsum("bxykl,fkl->bfxy", seen, filters), 0.0)
        return namespace.mean((namespace.mean(found, axis=(2, 3)) @ weights) ** 2)

    return loss


def windows_by_convolution(namespace: ModuleType) -> Callable:
    def loss(filters: Any, images: Any, weights: Any) -> Any:
        found = lax().conv(images[:, None], filters[:, None], (1, 1), "VALID")
        found = namespace.maximum(found, 0.0)
        return namespace.mean((namespace.mean(found, axis=(2, 3)) @ weights) ** 2)

    return loss


def segments(namespace: ModuleType) -> Callable:
    def loss(x: Any, places: Any) -> Any:
        sums = namespace.zeros_like(x, shape=100)
        namespace.add.at(sums, places, x * x)
        return namespace.sum(namespace.log1p(sums))

    return loss


def segments_at_once(namespace: ModuleType) -> Callable:
    def loss(x: Any, places: Any) -> Any:
        return namespace.sum(namespace.log1p(namespace.zeros(100).at[places].add(x * x)))

    return loss


def workloads() -> Iterator[Workload]:
    rng, two = np.random.default_rng(0), (0, 1)
    seen = np.cumsum(0.1 * rng.normal(size=(200, 2)), axis=0)
    yield Workload(
        "Kalman filter, 4 states, 200 steps", 4400, gradient(kalman),
        (np.array([0.01, 0.1]), seen), own_loop=gradient(kalman_in_loop),
        skipped=OURS_ALONE, slow=(JAX_JIT,), reverse=False,
    )  # fmt: skip
    yield Workload(
        "hidden Markov model, 10 states, 300 steps", 2400, gradient(hidden_markov, two),
        (np.log(rng.dirichlet(np.ones(10), 10)), rng.normal(size=(300, 10))),
        own_loop=gradient(hidden_markov_in_loop, two),
        skipped=OURS_ALONE, slow=(JAX_JIT,), reverse=False,
    )  # fmt: skip
    yield Workload(
        "heat in a rod, 200 cells, 100 steps", 600, gradient(rod, two),
        (rng.normal(size=200), 0.2), own_loop=gradient(rod_in_loop, two), skipped=OURS_ALONE,
        slow=(JAX_JIT,), reverse=False,
    )  # fmt: skip
    yield Workload(
        "heat in a plate, 64 x 64, 100 steps", 800, gradient(plate, two),
        (rng.normal(size=(64, 64)), 0.2), own_loop=gradient(plate_in_loop, two),
        skipped=WITHOUT_JIT, reverse=False,
    )  # fmt: skip
    given: tuple = (rng.normal(size=256), 0.05, np.arange(129.0))
    yield Workload(
        "Burgers by FFT, 256 points, 50 steps", 500, gradient(burgers, two), given,
        own_loop=gradient(burgers_in_loop, two), compiled={JAX_JIT: 1.2}, skipped=OURS_ALONE,
        reverse=False,
    )  # fmt: skip
    given = np.arange(50.0), np.sort(rng.uniform(0, 10, 50)), rng.normal(size=10_000)
    given = rng.normal(size=50), given[0], rng.uniform(0, 49, 10_000), given[2]
    yield Workload(
        "np.interp, 10^4 points, table of 50", 4, gradient(table, (0, 2)), given,
        skipped=OURS_ALONE, reverse=False,
    )  # fmt: skip
    weights = [rng.normal(size=(32, 4, 32)) / 6 for _ in range(3)]
    yield Workload(
        "attention by einsum, 64 x 4 x 32", 12, gradient(attention, (0, 1, 2, 3)),
        (rng.normal(size=(64, 32)), *weights), skipped=OURS_ALONE, reverse=False,
    )  # fmt: skip
    given = rng.normal(size=(8, 3, 3)), rng.normal(size=(16, 28, 28)), rng.normal(size=8)
    yield Workload(
        "windows by einsum, 16 x 28 x 28, 8 filters", 7, gradient(windows), given,
        own_loop=gradient(windows_by_convolution), compiled={JAX_JIT: 1.2}, skipped=WITHOUT_JIT,
        reverse=False,
    )  # fmt: skip
    yield Workload(
        "segment sums, 10^4 into 100", 5, gradient(segments),
        (rng.normal(size=10_000), rng.integers(0, 100, 10_000)),
        own_loop=gradient(segments_at_once), skipped=WITHOUT_JIT, reverse=False,
    )  # fmt: skip
