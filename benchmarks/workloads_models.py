"""Regressions and networks: the losses that users minimise."""

from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

import numpy as np
from peers import gradient
from table import JAX_JIT
from workload import Workload

# ---- logistic loss of two models; labels are -1 and 1 ----


def regression(namespace: ModuleType) -> Callable:
    mean, log1p, exp = namespace.mean, namespace.log1p, namespace.exp

    def loss(w: Any, b: Any, features: Any, labels: Any) -> Any:
        return mean(log1p(exp(-labels * (features @ w + b))))

    return loss


def regression_by_hand(w: Any, b: Any, features: Any, labels: Any) -> tuple:
    odds = np.exp(-labels * (features @ w + b))
    zbar = -labels * odds / (1.0 + odds) / len(labels)
    return np.mean(np.log1p(odds)), (features.T @ zbar, np.sum(zbar))


def network(namespace: ModuleType) -> Callable:
    tanh = namespace.tanh
    loss_of_last = regression(namespace)

    def loss(w: Any, b: Any, v: Any, c: Any, features: Any, labels: Any) -> Any:
        return loss_of_last(v, c, tanh(features @ w + b), labels)

    return loss


def network_by_hand(w: Any, b: Any, v: Any, c: Any, features: Any, labels: Any) -> tuple:
    hidden = np.tanh(features @ w + b)
    odds = np.exp(-labels * (hidden @ v + c))
    zbar = -labels * odds / (1.0 + odds) / len(labels)
    hbar = (zbar @ v.T) * (1.0 - hidden * hidden)
    bars = features.T @ hbar, np.sum(hbar, axis=0), hidden.T @ zbar, np.sum(zbar, axis=0)
    return np.mean(np.log1p(odds)), bars


# ---- ten classes: the loss is minus the log of the softmax ----


def classifier(namespace: ModuleType) -> Callable:
    tanh, exp, log, total = namespace.tanh, namespace.exp, namespace.log, namespace.sum

    def loss(w: Any, b: Any, v: Any, c: Any, features: Any, classes: Any) -> Any:
        z = tanh(features @ w + b) @ v + c
        chosen = total(z * classes, axis=1)
        return namespace.mean(log(total(exp(z), axis=1)) - chosen)

    return loss


def classifier_by_hand(w: Any, b: Any, v: Any, c: Any, features: Any, classes: Any) -> tuple:
    hidden = np.tanh(features @ w + b)
    z = hidden @ v + c
    odds = np.exp(z)
    sums = np.sum(odds, axis=1)
    y = np.mean(np.log(sums) - np.sum(z * classes, axis=1))
    zbar = (odds / sums[:, None] - classes) / len(features)
    hbar = (zbar @ v.T) * (1.0 - hidden * hidden)
    bars = features.T @ hbar, np.sum(hbar, axis=0), hidden.T @ zbar, np.sum(zbar, axis=0)
    return y, bars


def workloads() -> Iterator[Workload]:
    rng, four = np.random.default_rng(0), (0, 1, 2, 3)

    def normal(scale: float, *shape: int) -> np.ndarray:
        return scale * rng.normal(size=shape)

    layers: tuple = normal(0.3, 20, 50), normal(0.3, 50), normal(0.3, 50, 1), normal(0.3, 1)
    given: tuple = (*layers, normal(1.0, 100, 20), rng.choice([-1.0, 1.0], size=(100, 1)))
    name = "gradient, network 100x20 -> 50 -> 1"
    yield Workload(name, 9, gradient(network, four), given, network_by_hand)
    labels = rng.choice([-1.0, 1.0], size=10_000)
    given = normal(0.1, 100), 0.2, normal(1.0, 10_000, 100), labels
    yield Workload(
        "gradient, logistic regression 10^4 x 100", 6, gradient(regression, (0, 1)), given,
        regression_by_hand, large=True, compiled={JAX_JIT: 0.85},
    )  # fmt: skip
    layers = normal(0.05, 784, 256), normal(0.05, 256), normal(0.05, 256, 10), normal(0.05, 10)
    given = (*layers, rng.uniform(size=(128, 784)), np.eye(10)[rng.integers(10, size=128)])
    yield Workload(
        "gradient, MLP 784-256-10, batch of 128", 13, gradient(classifier, four), given,
        classifier_by_hand, large=True, compiled={JAX_JIT: 0.85},
    )  # fmt: skip
