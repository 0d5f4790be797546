"""What a type checker says of a user's program: ``make types`` checks this file strictly."""

from typing import Any, assert_type

import numpy as np

import chainrules as cr

Vector = np.ndarray[tuple[int], np.dtype[np.float64]]


def loss(x: Vector, k: float = 1.0) -> float:
    return float(np.sum(x * k))


x: Vector = np.ones(3)
gradient = cr.grad(loss)
assert_type(gradient(x, 2.0), Any)
gradient("no array", 3.0)  # type: ignore[arg-type]
gradient(x, j=3.0)  # type: ignore[call-arg]
cr.hessian(loss)(x, "two")  # type: ignore[arg-type]
cr.jacobian(loss)(x)
cr.grad(3)  # type: ignore[arg-type]


@cr.primitive
def square(x: float) -> float:
    return x * x


assert_type(square(2.0), float)
cr.scalar_rule(square, lambda _, x: 2 * x)
y, pullback = cr.vjp(loss, x, 2.0)
