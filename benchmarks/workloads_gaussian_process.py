"""A Gaussian process: the marginal likelihood in its length, its scale and the noise."""

from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

import numpy as np
from peers import gradient
from table import JAX_JIT
from workload import Workload

N = 200


def negative_log_likelihood(namespace: ModuleType) -> Callable:
    exp, log, total = namespace.exp, namespace.log, namespace.sum
    cholesky, solve = namespace.linalg.cholesky, namespace.linalg.solve

    def f(logs: Any, squared: Any, seen: Any, eye: Any) -> Any:
        length, scale, noise = exp(logs[0]), exp(logs[1]), exp(logs[2])
        k = scale**2 * exp(-0.5 * squared / length**2) + noise**2 * eye
        factor = cholesky(k)
        whitened = solve(factor, seen)
        return 0.5 * total(whitened**2) + total(log(namespace.diagonal(factor, 0, -1, -2)))

    return f


def by_hand(logs: np.ndarray, squared: np.ndarray, seen: np.ndarray, eye: np.ndarray) -> tuple:
    length, scale, noise = np.exp(logs)
    smooth = scale**2 * np.exp(squared * (-0.5 / length**2))
    k = smooth + noise**2 * eye
    factor = np.linalg.cholesky(k)
    inverse = np.linalg.inv(k)
    weights = inverse @ seen
    y = 0.5 * (seen @ weights) + np.sum(np.log(np.diagonal(factor)))
    kbar = 0.5 * (inverse - np.outer(weights, weights))
    smooth_bar = kbar * smooth
    length_bar = np.sum(smooth_bar * squared) / length**2
    return y, (np.array([length_bar, 2.0 * np.sum(smooth_bar), 2.0 * noise**2 * np.trace(kbar)]),)


def log_determinant_likelihood(namespace: ModuleType) -> Callable:
    exp, total, linalg = namespace.exp, namespace.sum, namespace.linalg

    def f(logs: Any, squared: Any, seen: Any, eye: Any) -> Any:
        length, scale, noise = exp(logs[0]), exp(logs[1]), exp(logs[2])
        k = scale**2 * exp(-0.5 * squared / length**2) + noise**2 * eye
        return 0.5 * total(seen * linalg.solve(k, seen)) + 0.5 * linalg.slogdet(k)[1]

    return f


def workloads() -> Iterator[Workload]:
    rng = np.random.default_rng(0)
    x = np.sort(rng.uniform(0, 10, N))
    seen = np.sin(x) + 0.1 * rng.normal(size=N)
    given = (np.log([1.0, 1.5, 0.3]), (x[:, None] - x) ** 2, seen, np.eye(N))
    for way, f, ratio in (
        ("Cholesky", negative_log_likelihood, 0.95),
        ("slogdet", log_determinant_likelihood, 1.0),
    ):
        yield Workload(
            f"gradient, Gaussian process, n = 200, {way}", 22, gradient(f), given, by_hand,
            large=True, compiled={JAX_JIT: ratio},
        )  # fmt: skip
