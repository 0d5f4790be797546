"""What a type checker says of a user's program: ``make types`` checks this file strictly."""

from typing import Any, assert_type

import numpy as np

import chainrules as cr
from chainrules import math as cr_math
from chainrules import numpy as cnp
from chainrules.numpy.linalg import solve
from chainrules.scipy.linalg import expm

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

# chainrules.numpy has the types of NumPy.
assert_type(cnp.zeros(3), Vector)
assert_type(cnp.pi, float)
cnp.linalg.solve(cnp.eye(2), cnp.ones(2))
no_such_name = cnp.nonsense  # type: ignore[attr-defined]

assert_type(cr_math.sin(1.0), float)
solve(np.eye(2), np.ones(2))
expm(np.eye(2))
with cr.adopt("typed_program") as adoption:
    adoption.undo()
