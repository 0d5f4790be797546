"""Whole programs on small arrays, where what a library adds to each call is most of the time."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from peers import gradients, peers, programs
from table import PYTORCH
from workload import Workload
from workloads_gaussian_process import negative_log_likelihood
from workloads_jacobians import mixed
from workloads_rosenbrock import rosenbrock

OPERATIONS = 1600


def logsumexp_along_rows(namespace: Any) -> Callable:
    """Return it as users write it; PyTorch has it."""
    if namespace.__name__ == "torch":
        return lambda z: namespace.logsumexp(z, -1)

    def logsumexp(z: Any) -> Any:
        top = namespace.max(z, axis=-1, keepdims=True)
        return top[..., 0] + namespace.log(namespace.sum(namespace.exp(z - top), axis=-1))

    return logsumexp


def softplus_in(namespace: Any) -> Callable:
    if namespace.__name__ == "torch":
        return namespace.nn.functional.softplus
    return lambda z: namespace.logaddexp(0.0, z)


# ---- models ----


def mixture(namespace: Any) -> Callable:
    exp, total, logsumexp = namespace.exp, namespace.sum, logsumexp_along_rows(namespace)

    def log_likelihood(weights: Any, means: Any, scales: Any, points: Any) -> Any:
        z = (points - means) / exp(scales)
        terms = weights - scales - 0.5 * z**2
        return total(logsumexp(terms)) - len(points) * logsumexp(weights)

    return log_likelihood


def log_determinant(namespace: Any) -> Callable:
    return lambda a, eye: namespace.linalg.slogdet(a @ a.T + eye)[1]


def recurrent(namespace: Any) -> Callable:
    tanh, mean = namespace.tanh, namespace.mean

    def loss(w: Any, u: Any, b: Any, v: Any, inputs: Any, start: Any) -> Any:
        hidden, y = start, 0.0
        for t in range(20):
            hidden = tanh(w @ inputs[t] + u @ hidden + b)
            y = y + mean((v @ hidden - inputs[t + 1]) ** 2)
        return y

    return loss


def logistic(namespace: Any) -> Callable:
    mean, softplus = namespace.mean, softplus_in(namespace)

    def loss(w: Any, b: Any, features: Any, labels: Any) -> Any:
        return mean(softplus(-labels * (features @ w + b)))

    return loss


def perceptron(namespace: Any) -> Callable:
    tanh, mean, total = namespace.tanh, namespace.mean, namespace.sum
    logsumexp = logsumexp_along_rows(namespace)

    def loss(w: Any, b: Any, v: Any, c: Any, features: Any, classes: Any) -> Any:
        z = tanh(features @ w + b) @ v + c
        return mean(logsumexp(z) - total(z * classes, axis=1))

    return loss


def product_of_three(namespace: Any) -> Callable:
    return lambda a, b, c: namespace.sum(a @ b @ c)


def mean_squared_error(namespace: Any) -> Callable:
    return lambda y, seen: namespace.mean((y - seen) ** 2)


# ---- many operations in few parameters ----


def many_operations(namespace: Any) -> Callable:
    sin = namespace.sin

    def f(x: Any) -> Any:
        a, b, c, d = x[0], x[1], x[2], x[3]
        y = a
        for _ in range(OPERATIONS // 8):
            y = sin(y * a + b)
            y = y * c - d
            y = y / (1.5 + y * y)
        return y

    return f


def hessian_workload(x: np.ndarray) -> Workload:
    """Return the Hessian; each library's own gradient is measured beside it."""
    built = programs("hessian", many_operations, x)
    for name, program in gradients(many_operations, x).items():
        built[f"gradient, {name}"] = program
    if (torch_peer := peers().get(PYTORCH)) is not None:
        torch = torch_peer.torch
        given, f = torch_peer.array(x), many_operations(torch)
        hessian = torch.autograd.functional.hessian
        built[f"{PYTORCH}, 2"] = lambda: hessian(f, given)
        built[f"{PYTORCH}, 3"] = lambda: hessian(f, given, vectorize=True)
    return Workload(f"Hessian, {OPERATIONS} operations in 4 parameters", OPERATIONS, built)


def jacobian_workload(rng: np.random.Generator) -> Workload:
    x, a = rng.normal(size=12), rng.normal(size=(12, 12)) / 3
    built = programs("jacrev", mixed, x, data=(a,))
    if (torch_peer := peers().get(PYTORCH)) is not None:
        torch = torch_peer.torch
        given, f = torch_peer.array(x), mixed(torch, torch_peer.array(a))
        jacobian, unit = torch.autograd.functional.jacobian, torch.eye(12, dtype=torch.float64)
        leaf = given.clone().requires_grad_()
        built[f"{PYTORCH}, 2"] = lambda: jacobian(f, given)
        built[f"{PYTORCH}, 3"] = lambda: torch.autograd.grad(
            f(leaf), leaf, unit, is_grads_batched=True
        )[0]
    return Workload("Jacobian, R^12 -> R^12, reverse", 7, built)


def workloads() -> Iterator[Workload]:
    rng = np.random.default_rng(0)

    def normal(*shape: int) -> np.ndarray:
        return rng.normal(size=shape) * 0.5

    given: tuple = normal(3), normal(3), normal(3), normal(100, 1)
    built = gradients(mixture, *given, argnums=(0, 1, 2))
    yield Workload("gradient, mixture, 100 numbers, 3 parts", 17, built)
    x = np.sort(rng.uniform(0, 10, 20))
    seen = np.sin(x) + 0.1 * rng.normal(size=20)
    given = np.log([1.0, 1.5, 0.3]), (x[:, None] - x) ** 2, seen, np.eye(20)
    built = gradients(negative_log_likelihood, *given)
    yield Workload("gradient, Gaussian process, n = 20", 22, built)
    built = gradients(log_determinant, normal(10, 10), np.eye(10))
    yield Workload("gradient, slogdet(a @ a.T + I), n = 10", 4, built)
    given = normal(8, 4), normal(8, 8), normal(8), normal(4, 8), normal(21, 4), np.zeros(8)
    built = gradients(recurrent, *given, argnums=(0, 1, 2, 3))
    yield Workload("gradient, RNN, 8 cells, 20 steps", 200, built)
    given = normal(5), 0.2, normal(100, 5), rng.choice([-1.0, 1.0], size=100)
    built = gradients(logistic, *given, argnums=(0, 1))
    yield Workload("gradient, logistic regression 100 x 5", 5, built)
    layers = normal(4, 8), normal(8), normal(8, 3), normal(3)
    given = *layers, normal(30, 4), np.eye(3)[rng.integers(3, size=30)]
    built = gradients(perceptron, *given, argnums=(0, 1, 2, 3))
    yield Workload("gradient, MLP 4-8-3, batch of 30", 16, built)
    yield Workload("gradient, Rosenbrock, n = 12", 10, gradients(rosenbrock, normal(12)))
    yield jacobian_workload(rng)
    given = normal(3, 4), normal(4, 3), normal(3, 4)
    built = gradients(product_of_three, *given, argnums=(0, 1, 2))
    yield Workload("gradient, sum(a @ b @ c), 3 x 4", 3, built)
    built = gradients(mean_squared_error, normal(30), normal(30))
    yield Workload("gradient, mean squared error, 30 numbers", 3, built)
    yield hessian_workload(rng.uniform(0.5, 1.0, 4))
