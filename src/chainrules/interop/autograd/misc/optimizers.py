"""As ``autograd.misc.optimizers``: stochastic gradient descent in three forms.

``grad(params, i)`` gives the gradient in step ``i``; ``params`` is any nest of tuples, lists and
dicts of numbers and arrays. After each gradient ``callback(params, i, gradient)`` is called.
"""

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from .flatten import flatten


def unflatten_optimizer(optimize: Callable) -> Callable:
    """Return an optimizer of vectors as one of nests of tuples, lists and dicts."""

    @functools.wraps(optimize)
    def optimize_nest(
        grad: Callable, x0: Any, callback: Callable | None = None, *args: Any, **kwargs: Any
    ) -> Any:
        start, unflatten = flatten(x0)

        def gradient(x: Any, i: int) -> Any:
            return flatten(grad(unflatten(x), i))[0]

        def called(x: Any, i: int, g: Any) -> None:
            if callback:
                callback(unflatten(x), i, unflatten(g))

        return unflatten(optimize(gradient, start, called, *args, **kwargs))

    return optimize_nest


@unflatten_optimizer
def sgd(
    grad: Callable,
    x: Any,
    callback: Callable,
    num_iters: int = 200,
    step_size: float = 0.1,
    mass: float = 0.9,
) -> Any:
    """Stochastic gradient descent with momentum."""
    velocity = np.zeros(len(x))
    for i in range(num_iters):
        g = grad(x, i)
        callback(x, i, g)
        velocity = mass * velocity - (1 - mass) * g
        x = x + step_size * velocity
    return x


@unflatten_optimizer
def rmsprop(
    grad: Callable,
    x: Any,
    callback: Callable,
    num_iters: int = 100,
    step_size: float = 0.1,
    gamma: float = 0.9,
    eps: float = 1e-8,
) -> Any:
    """RMSProp: steps relative to the root of the mean square of recent gradients."""
    mean_square = np.ones(len(x))
    for i in range(num_iters):
        g = grad(x, i)
        callback(x, i, g)
        mean_square = mean_square * gamma + g**2 * (1 - gamma)
        x = x - step_size * g / (np.sqrt(mean_square) + eps)
    return x


@unflatten_optimizer
def adam(
    grad: Callable,
    x: Any,
    callback: Callable,
    num_iters: int = 100,
    step_size: float = 0.001,
    b1: float = 0.9,
    b2: float = 0.999,
    eps: float = 1e-8,
) -> Any:
    """Adam. Source: Kingma and Ba (2014), arXiv:1412.6980.

    Examples
    --------
    >>> from chainrules.interop.autograd import grad, numpy as np
    >>> from chainrules.interop.autograd.misc.optimizers import adam
    >>> slope = grad(lambda p: np.sum((p["a"] - 1) ** 2))
    >>> found = adam(lambda p, i: slope(p), {"a": np.zeros(2)}, num_iters=500, step_size=0.1)
    >>> found["a"].round(3)
    array([1., 1.])
    """
    first, second = np.zeros(len(x)), np.zeros(len(x))
    for i in range(num_iters):
        g = grad(x, i)
        callback(x, i, g)
        first = (1 - b1) * g + b1 * first
        second = (1 - b2) * g**2 + b2 * second
        unbiased = first / (1 - b1 ** (i + 1))
        scale = second / (1 - b2 ** (i + 1))
        x = x - step_size * unbiased / (np.sqrt(scale) + eps)
    return x
