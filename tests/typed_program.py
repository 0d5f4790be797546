"""Types of a user's program: ``make types`` checks this file strictly."""

from collections.abc import Callable
from typing import Any, assert_type

import numpy as np
from numpy.typing import NDArray

import chainrules as cr
from chainrules import math as cr_math
from chainrules import numpy as cnp
from chainrules.numpy.linalg import solve
from chainrules.scipy.linalg import expm

Vector = np.ndarray[tuple[int], np.dtype[np.float64]]
Array = NDArray[np.float64]


def loss(x: Vector, k: float = 1.0) -> float:
    return float(np.sum(x * k))


# A gradient has the type of the array, and the parameters of the function.
x: Vector = np.ones(3)
gradient = cr.grad(loss)
assert_type(gradient(x, 2.0), Vector)
assert_type(gradient(x, k=2.0), Vector)
assert_type(gradient(x=x, k=2.0), Vector)
gradient("no array", 3.0)  # type: ignore[call-overload]
gradient(x, j=3.0)  # type: ignore[call-overload]
assert_type(cr.value_and_grad(loss)(x), tuple[float, Vector])
loss_of_any_shape: Callable[[Array], float] = np.sum
assert_type(cr.grad(loss_of_any_shape)(np.ones((2, 2))), Array)
assert_type(cr.value_and_grad(loss_of_any_shape)(np.ones((2, 2))), tuple[float, Array])
step: Callable[[Array], Array] = cr.grad(loss_of_any_shape)


def loss_and_note(x: Vector) -> tuple[float, str]:
    return loss(x), "a note"


assert_type(cr.grad(loss_and_note, has_aux=True)(x), tuple[Vector, str])
with_note = cr.value_and_grad(loss_and_note, has_aux=True)
assert_type(with_note(x), tuple[tuple[float, str], Vector])


# What argnums chooses is not followed, and no integer is the gradient of one.
def of_integers(n: NDArray[np.int64]) -> float:
    return float(np.sum(n))


assert_type(cr.grad(loss, argnums="k")(x, 2.0), Any)
assert_type(cr.grad(loss, argnums=(0, 1))(x, k=2.0), Any)
assert_type(cr.grad(of_integers)(np.arange(3)), Any)
assert_type(cr.grad(lambda x: x * x)(2.0), Any)
cr.grad(loss, argnums=1)("no array")  # type: ignore[arg-type]
cr.grad(of_integers)(x, 3)  # type: ignore[call-arg, arg-type]
cr.hessian(loss)(x, "two")  # type: ignore[arg-type]
cr.jacobian(loss)(x)
cr.grad(3)  # type: ignore[call-overload]


# A loop gives what it carries.
def halved(x: Vector) -> Vector:
    return x / 2


def moved(place: Vector, speed: float) -> tuple[Vector, float]:
    return place + speed, float(np.sum(place))


assert_type(cr.loop(3, halved, x), Vector)
assert_type(cr.loop(3, lambda x: (x + 2.0 / x) / 2.0, 1.0), float)
assert_type(cr.loop(3, lambda pair: (pair[1], pair[0]), (1.0, 2.0)), tuple[float, float])
assert_type(cr.while_loop(lambda x: bool(np.max(x) > 1.0), halved, x), Vector)
cr.loop(3, halved, "no array")  # type: ignore[arg-type]
assert_type(cr.scan(moved, x, np.ones(5)), tuple[Vector, Any])
assert_type(cr.scan(moved, x, [1.0, 2.0])[0], Vector)
assert_type(cr.scan(lambda n, k: (n + k, None), 0, range(5))[0], int)
cr.scan(moved, x, ["no speed"])  # type: ignore[arg-type]
cr.scan(halved, x, range(5))  # type: ignore[arg-type]


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
