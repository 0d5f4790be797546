"""Whole programs on small arrays, where what a library adds to each call is most of the time."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from peers import derivative, gradient, peers
from table import AUTOGRAD, JAX_JIT, OURS, PYTORCH
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


def torch_ways(workload: Workload, *ways: Callable[..., Callable]) -> None:
    """Add further ways to write it in PyTorch: each gets torch and the arguments as tensors."""
    if (peer := peers().get(PYTORCH)) is not None:
        given = tuple(map(peer.array, workload.args))
        for number, way in enumerate(ways, start=2):
            workload.references[f"{PYTORCH}, {number}"] = way(peer.namespace, *given)


def hessian_workload(x: np.ndarray) -> Workload:
    """Return the Hessian; each library's own gradient is measured beside it."""
    name, slope = f"Hessian, {OPERATIONS} operations in 4 parameters", gradient(many_operations)
    given = derivative("hessian", many_operations), (x,)
    workload = Workload(name, OPERATIONS, *given, slow=(JAX_JIT,))
    for name in (OURS, AUTOGRAD, PYTORCH):
        if (peer := peers().get(name)) is not None:
            workload.references[f"gradient, {name}"] = peer.call(slope(peer), (x,))

    def one_by_one(torch: Any, x: Any) -> Callable:
        f, hessian = many_operations(torch), torch.autograd.functional.hessian
        return lambda: hessian(f, x)

    def at_once(torch: Any, x: Any) -> Callable:
        f, hessian = many_operations(torch), torch.autograd.functional.hessian
        return lambda: hessian(f, x, vectorize=True)

    torch_ways(workload, one_by_one, at_once)
    return workload


def jacobian_workload(rng: np.random.Generator) -> Workload:
    x, a = rng.normal(size=12), rng.normal(size=(12, 12)) / 3
    name = "Jacobian, R^12 -> R^12, reverse"
    workload = Workload(name, 7, derivative("jacrev", mixed, a), (x,))

    def one_by_one(torch: Any, x: Any) -> Callable:
        f, jacobian = mixed(torch, torch.tensor(a)), torch.autograd.functional.jacobian
        return lambda: jacobian(f, x)

    def at_once(torch: Any, x: Any) -> Callable:
        f, unit, grad = mixed(torch, torch.tensor(a)), torch.tensor(np.eye(12)), torch.autograd.grad
        x.requires_grad_()
        return lambda: grad(f(x), x, unit, is_grads_batched=True)[0]

    torch_ways(workload, one_by_one, at_once)
    return workload


def workloads() -> Iterator[Workload]:
    rng, four = np.random.default_rng(0), (0, 1, 2, 3)

    def normal(*shape: int) -> np.ndarray:
        return rng.normal(size=shape) * 0.5

    given: tuple = normal(3), normal(3), normal(3), normal(100, 1)
    name = "gradient, mixture, 100 numbers, 3 parts"
    yield Workload(name, 17, gradient(mixture, (0, 1, 2)), given)
    x = np.sort(rng.uniform(0, 10, 20))
    seen = np.sin(x) + 0.1 * rng.normal(size=20)
    given = np.log([1.0, 1.5, 0.3]), (x[:, None] - x) ** 2, seen, np.eye(20)
    yield Workload(
        "gradient, Gaussian process, n = 20", 22, gradient(negative_log_likelihood), given
    )
    given = normal(10, 10), np.eye(10)
    yield Workload("gradient, slogdet(a @ a.T + I), n = 10", 4, gradient(log_determinant), given)
    given = normal(8, 4), normal(8, 8), normal(8), normal(4, 8), normal(21, 4), np.zeros(8)
    yield Workload("gradient, RNN, 8 cells, 20 steps", 200, gradient(recurrent, four), given)
    given = normal(5), 0.2, normal(100, 5), rng.choice([-1.0, 1.0], size=100)
    name = "gradient, logistic regression 100 x 5"
    yield Workload(name, 5, gradient(logistic, (0, 1)), given)
    layers = normal(4, 8), normal(8), normal(8, 3), normal(3)
    given = *layers, normal(30, 4), np.eye(3)[rng.integers(3, size=30)]
    yield Workload("gradient, MLP 4-8-3, batch of 30", 16, gradient(perceptron, four), given)
    yield Workload("gradient, Rosenbrock, n = 12", 10, gradient(rosenbrock), (normal(12),))
    yield jacobian_workload(rng)
    given = normal(3, 4), normal(4, 3), normal(3, 4)
    name = "gradient, sum(a @ b @ c), 3 x 4"
    yield Workload(name, 3, gradient(product_of_three, (0, 1, 2)), given)
    given = normal(30), normal(30)
    name = "gradient, mean squared error, 30 numbers"
    yield Workload(name, 3, gradient(mean_squared_error), given)
    yield hessian_workload(rng.uniform(0.5, 1.0, 4))
