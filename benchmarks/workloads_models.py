"""Whole functions such as users minimise: Rosenbrock's, a small network, a regression."""

from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

import numpy as np
from workload import BY_HAND, OURS, Workload, gradients, optional, tensor

# ---- Rosenbrock, written with slices ----


def rosenbrock(namespace: ModuleType) -> Callable:
    total = namespace.sum

    def f(x: Any) -> Any:
        return total(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1.0 - x[:-1]) ** 2)

    return f


def rosenbrock_by_hand(x: np.ndarray) -> tuple:
    bend, slope = x[1:] - x[:-1] ** 2, 1.0 - x[:-1]
    xbar = np.zeros_like(x)
    xbar[1:] = 200.0 * bend
    xbar[:-1] -= 400.0 * x[:-1] * bend + 2.0 * slope
    return np.sum(100.0 * bend**2 + slope**2), (xbar,)


def rosenbrock_hvp_by_hand(x: np.ndarray, xdot: np.ndarray) -> np.ndarray:
    bend = x[1:] - x[:-1] ** 2
    bend_dot = xdot[1:] - 2.0 * x[:-1] * xdot[:-1]
    product = np.zeros_like(x)
    product[1:] = 200.0 * bend_dot
    product[:-1] -= 400.0 * (xdot[:-1] * bend + x[:-1] * bend_dot) - 2.0 * xdot[:-1]
    return product


def hvp_programs(x: np.ndarray, xdot: np.ndarray) -> dict[str, Callable]:
    import chainrules as cr

    f = rosenbrock(np)
    programs: dict[str, Callable] = {OURS: lambda: cr.hvp(f, (x,), (xdot,))}
    if (autograd := optional("autograd")) is not None:
        product = autograd.hessian_vector_product(rosenbrock(autograd.numpy))
        programs["autograd"] = lambda: product(x, xdot)
    if (torch := optional("torch")) is not None:
        f_torch = rosenbrock(torch)
        primal, tangent = tensor(torch, x).requires_grad_(), tensor(torch, xdot)

        def torch_program() -> Any:
            (gradient,) = torch.autograd.grad(f_torch(primal), primal, create_graph=True)
            return torch.autograd.grad(gradient, primal, tangent)[0]

        programs["PyTorch"] = torch_program
    programs[BY_HAND] = lambda: rosenbrock_hvp_by_hand(x, xdot)
    gradient = cr.grad(f)
    programs["own gradient"] = lambda: gradient(x)
    return programs


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


def workloads() -> Iterator[Workload]:
    rng = np.random.default_rng(0)
    x, xdot = rng.normal(size=1000), rng.normal(size=1000)
    programs = gradients(rosenbrock, x)
    programs[BY_HAND] = lambda: rosenbrock_by_hand(x)
    yield Workload("gradient, Rosenbrock, n = 1000", 10, programs)
    yield Workload("Hessian times vector, Rosenbrock", 10, hvp_programs(x, xdot))

    layers = [rng.normal(size=shape) * 0.3 for shape in [(20, 50), (50,), (50, 1), (1,)]]
    features, labels = rng.normal(size=(100, 20)), rng.choice([-1.0, 1.0], size=(100, 1))
    arguments = (*layers, features, labels)
    programs = gradients(network, *arguments, argnums=(0, 1, 2, 3))
    programs[BY_HAND] = lambda: network_by_hand(*arguments)
    yield Workload("gradient, network 100x20 -> 50 -> 1", 9, programs)

    features, labels = rng.normal(size=(10_000, 100)), rng.choice([-1.0, 1.0], size=10_000)
    given = (rng.normal(size=100) * 0.1, 0.2, features, labels)
    programs = gradients(regression, *given, argnums=(0, 1))
    programs[BY_HAND] = lambda: regression_by_hand(*given)
    yield Workload("gradient, logistic regression 10^4 x 100", 6, programs)
