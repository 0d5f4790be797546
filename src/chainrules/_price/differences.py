"""Finite differences with a fixed step, as users write them: what derivatives compete with.

The kit's own, ``chainrules.testing.central_fdm``, choose steps and estimate errors.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

import chainrules as cr

EPSILON = float(np.finfo(np.float64).eps)
OfVector = Callable[[np.ndarray], Any]


def calls(order: int, sides: int, n: int) -> int:
    """Return how often differences in ``n`` inputs call the function."""
    if order == 1:
        return n + 1 if sides == 1 else 2 * n
    return (n + 1) * (n + 2) // 2 if sides == 1 else 2 * n * n + 1


def differences(f: Callable, order: int, sides: int, positions: tuple[int, ...]) -> Callable:
    """Return a function giving the Jacobian (order 1) or the Hessian (2) of ``f`` by differences.

    Its result is a matrix, a row for each output and a column for each input; for the Hessian a
    row for each input.
    """
    differ = {(1, 1): one_sided, (1, 2): two_sided, (2, 1): hessian_one, (2, 2): hessian_two}

    def differenced(*args: Any) -> np.ndarray:
        x, along = _on_vector(f, positions, args)
        return differ[order, sides](along, x)

    return differenced


def _on_vector(f: Callable, positions: tuple[int, ...], args: tuple) -> tuple[np.ndarray, OfVector]:
    """Return the chosen arguments as one vector, and ``f`` as a function of such a vector."""
    given = list(args)
    if len(positions) == 1:
        (i,) = positions
        x = args[i]
        if isinstance(x, float):

            def of_number(vector: np.ndarray) -> Any:
                given[i] = float(vector[0])
                return f(*given)

            return np.array([x]), of_number
        if type(x) is np.ndarray and x.dtype == np.float64:
            shape = x.shape

            def of_array(vector: np.ndarray) -> Any:
                given[i] = vector.copy() if len(shape) == 1 else vector.reshape(shape).copy()
                return f(*given)

            return x.ravel(), of_array
    vector, unflatten = cr.flatten(tuple([args[i] for i in positions]))

    def of_all(vector: np.ndarray) -> Any:
        for i, x in zip(positions, unflatten(vector), strict=True):
            given[i] = x
        return f(*given)

    return vector.astype(float), of_all


def numbers(y: Any) -> np.ndarray:
    """Return all numbers of a result as one vector."""
    if isinstance(y, np.ndarray | float):
        return np.ravel(y)
    return np.ravel(cr.flatten(y)[0])


def _steps(x: np.ndarray, root: float) -> np.ndarray:
    step: np.ndarray = EPSILON ** (1 / root) * np.maximum(1.0, np.abs(x))
    return step


def _stepped(x: np.ndarray, i: int, step: float) -> np.ndarray:
    x = x.copy()
    x[i] += step
    return x


def one_sided(along: OfVector, x: np.ndarray) -> np.ndarray:
    y = numbers(along(x))
    steps = _steps(x, 2)
    columns = [(numbers(along(_stepped(x, i, h))) - y) / h for i, h in enumerate(steps)]
    return np.stack(columns, axis=-1)


def two_sided(along: OfVector, x: np.ndarray) -> np.ndarray:
    columns = []
    for i, h in enumerate(_steps(x, 3)):
        after, before = numbers(along(_stepped(x, i, h))), numbers(along(_stepped(x, i, -h)))
        columns.append((after - before) / (2 * h))
    return np.stack(columns, axis=-1)


def hessian_one(along: OfVector, x: np.ndarray) -> np.ndarray:
    """Return the Hessian of a real function, to first order in the step."""
    y, steps = float(along(x)), _steps(x, 3)
    ahead = [float(along(_stepped(x, i, h))) for i, h in enumerate(steps)]
    found = np.empty((len(x), len(x)))
    for i, h in enumerate(steps):
        moved = _stepped(x, i, h)
        for j, k in enumerate(steps[: i + 1]):
            both = float(along(_stepped(moved, j, k)))
            found[i, j] = found[j, i] = (both - ahead[i] - ahead[j] + y) / (h * k)
    return found


def hessian_two(along: OfVector, x: np.ndarray) -> np.ndarray:
    """Return the Hessian of a real function, to second order in the step."""
    y, steps = float(along(x)), _steps(x, 4)
    found = np.empty((len(x), len(x)))
    for i, h in enumerate(steps):
        sides = _stepped(x, i, h), _stepped(x, i, -h)
        found[i, i] = (float(along(sides[0])) - 2 * y + float(along(sides[1]))) / (h * h)
        for j, k in enumerate(steps[:i]):
            corners = [float(along(_stepped(side, j, s * k))) for side in sides for s in (1, -1)]
            mixed = (corners[0] - corners[1] - corners[2] + corners[3]) / (4 * h * k)
            found[i, j] = found[j, i] = mixed
    return found
