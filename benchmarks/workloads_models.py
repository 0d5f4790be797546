"""Regressions and networks: the losses that users minimise."""

from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

import numpy as np
from peers import gradients
from table import BY_HAND
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


def classifier_workload(rng: np.random.Generator) -> Workload:
    shapes = [(784, 256), (256,), (256, 10), (10,)]
    layers = [rng.normal(size=shape) * 0.05 for shape in shapes]
    features, classes = rng.uniform(size=(128, 784)), np.eye(10)[rng.integers(10, size=128)]
    given = (*layers, features, classes)
    built = gradients(classifier, *given, argnums=(0, 1, 2, 3))
    built[BY_HAND] = lambda: classifier_by_hand(*given)
    return Workload("gradient, MLP 784-256-10, batch of 128", 13, built, large=True)


def workloads() -> Iterator[Workload]:
    rng = np.random.default_rng(0)
    layers = [rng.normal(size=shape) * 0.3 for shape in [(20, 50), (50,), (50, 1), (1,)]]
    features, labels = rng.normal(size=(100, 20)), rng.choice([-1.0, 1.0], size=(100, 1))
    arguments = (*layers, features, labels)
    built = gradients(network, *arguments, argnums=(0, 1, 2, 3))
    built[BY_HAND] = lambda: network_by_hand(*arguments)
    yield Workload("gradient, network 100x20 -> 50 -> 1", 9, built)

    features, labels = rng.normal(size=(10_000, 100)), rng.choice([-1.0, 1.0], size=10_000)
    given = (rng.normal(size=100) * 0.1, 0.2, features, labels)
    built = gradients(regression, *given, argnums=(0, 1))
    built[BY_HAND] = lambda: regression_by_hand(*given)
    yield Workload("gradient, logistic regression 10^4 x 100", 6, built, large=True)
    yield classifier_workload(rng)
