"""Points in clusters: a mixture of Gaussians, and k-means by Newton's method."""

from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

import numpy as np
from peers import derivative, gradient
from table import JAX_JIT
from workload import Workload


def extremum(namespace: ModuleType, name: str) -> Callable:
    """Return ``min`` or ``max`` along an axis; PyTorch's of that name give indices as well."""
    return getattr(namespace, f"a{name}" if namespace.__name__ == "torch" else name)


# ---- the log-likelihood; a component has a mean and the Cholesky factor of its precision ----


def mixture(namespace: ModuleType) -> Callable:
    exp, log, total = namespace.exp, namespace.log, namespace.sum
    largest, swapaxes = extremum(namespace, "max"), namespace.swapaxes

    def logsumexp(z: Any) -> Any:
        top = largest(z, axis=0)
        return top + log(total(exp(z - top), axis=0))

    def log_likelihood(
        weights: Any, means: Any, scales: Any, lower: Any, points: Any, below: Any, eye: Any
    ) -> Any:
        factors = lower * below + exp(scales)[:, :, None] * eye  # (k, d, d)
        whitened = (points - means[:, None, :]) @ swapaxes(factors, -1, -2)  # (k, n, d)
        squared = total(whitened**2, axis=2)
        terms = (weights + total(scales, axis=1))[:, None] - 0.5 * squared
        return total(logsumexp(terms)) - len(points) * logsumexp(weights)

    return log_likelihood


def mixture_by_hand(
    weights: Any, means: Any, scales: Any, lower: Any, points: Any, below: Any, eye: Any
) -> tuple:
    n = len(points)
    diagonals = np.exp(scales)
    factors = lower * below + diagonals[:, :, None] * eye
    centred = points - means[:, None, :]
    whitened = centred @ np.swapaxes(factors, -1, -2)
    terms = (weights + np.sum(scales, axis=1))[:, None] - 0.5 * np.sum(whitened**2, axis=2)
    top = np.max(terms, axis=0)
    shares = np.exp(terms - top)
    sums = np.sum(shares, axis=0)
    shares /= sums
    most = np.max(weights)
    odds = np.exp(weights - most)
    y = np.sum(top + np.log(sums)) - n * (most + np.log(np.sum(odds)))

    counts = np.sum(shares, axis=1)
    whitened *= -shares[:, :, None]
    factors_bar = np.swapaxes(whitened, -1, -2) @ centred  # (k, d, d)
    means_bar = -(np.sum(whitened, axis=1)[:, None, :] @ factors)[:, 0, :]
    scales_bar = counts[:, None] + diagonals * np.diagonal(factors_bar, axis1=1, axis2=2)
    weights_bar = counts - n * odds / np.sum(odds)
    return y, (weights_bar, means_bar, scales_bar, factors_bar * below)


def mixture_workload(rng: np.random.Generator) -> Workload:
    n, d, k = 2000, 10, 10
    weights, means, scales = rng.normal(size=k), rng.normal(size=(k, d)), rng.normal(size=(k, d))
    lower, points = rng.normal(size=(k, d, d)), rng.normal(size=(n, d))
    given = (weights, means, scales * 0.3, lower * 0.3, points, np.tri(d, k=-1), np.eye(d))
    return Workload(
        "gradient, Gaussian mixture, 2000 x 10, 10", 22, gradient(mixture, (0, 1, 2, 3)), given,
        mixture_by_hand, large=True, compiled={JAX_JIT: 0.5},
    )  # fmt: skip


# ---- k-means: what a Newton step in the centres needs ----


def k_means(namespace: ModuleType, points: Any) -> Callable:
    total, least = namespace.sum, extremum(namespace, "min")

    def cost(centres: Any) -> Any:
        lengths = total(points**2, axis=1)[:, None] + total(centres**2, axis=1)
        return total(least(lengths - 2.0 * (points @ centres.T), axis=1))

    return cost


def k_means_by_hand(centres: Any, centres_dot: Any, points: Any) -> tuple:
    # The length of the point itself changes nothing in which centre is nearest.
    nearest = np.argmin(np.sum(centres**2, axis=1) - 2.0 * (points @ centres.T), axis=1)
    counts = np.bincount(nearest, minlength=len(centres))[:, None]
    sums = np.stack([np.bincount(nearest, column, len(centres)) for column in points.T], axis=1)
    return 2.0 * (counts * centres - sums), 2.0 * counts * centres_dot


def k_means_workload(rng: np.random.Generator) -> Workload:
    points = rng.normal(size=(10_000, 5))
    return Workload(
        "Newton, k-means, 10^4 x 5, 10 centres",
        9,
        derivative("gradient_and_product", k_means, points),
        (points[:10] + 0.01, rng.normal(size=(10, 5))),
        lambda centres, direction: k_means_by_hand(centres, direction, points),
        large=True,
    )


def workloads() -> Iterator[Workload]:
    rng = np.random.default_rng(0)
    yield mixture_workload(rng)
    yield k_means_workload(rng)
