"""flatten: a container of numbers and arrays as one real vector, and back.

``flatten({"w": w, "b": 1.0})`` gives the vector of the entries of ``w`` and of 1.0, and the
function that makes a dict like this one of such a vector.
"""

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ....config import ArgumentValueError
from ... import (
    ProjectTo,
    array_of,
    is_perturbable_input,
    iterate_leaves,
    map_leaves,
    shape_of,
    taken,
)


def flatten(tree: Any) -> tuple[Any, Callable[[Any], Any]]:
    """Flatten a container of numbers into one vector; return it, and a function that goes back.

    Parameters
    ----------
    tree : Any
        Numbers and arrays in tuples, lists, dicts, namedtuples, dataclasses or objects.
        Integers become floats; but those in the fields of an object, and tuples of these, stay
        what they are, as does what a dataclass calls static. A complex number counts as two real
        ones; what is no number stays where it is.

    Returns
    -------
    vector : array of float
        All numbers, one after the other, in the order of the container.
    unflatten : callable
        ``unflatten(vector)`` is a container like ``tree`` with other numbers. It may be
        differentiated.

    Raises
    ------
    ValueError
        When ``unflatten`` is given a vector of another length.

    Examples
    --------
    >>> import numpy as np
    >>> import chainrules as cr
    >>> vector, unflatten = cr.flatten({"w": np.ones((2, 2)), "b": 3.0, "name": "model"})
    >>> vector
    array([1., 1., 1., 1., 3.])
    >>> unflatten(2 * vector)["b"]
    np.float64(6.0)
    """
    tree = taken(tree)
    parts: list[Any] = []
    for x in filter(is_perturbable_input, iterate_leaves(tree)):
        flat = np.reshape(array_of(x), (-1,))
        if flat.dtype.kind == "c":
            parts += [np.real(flat), np.imag(flat)]
        else:
            parts.append(flat if flat.dtype.kind == "f" else flat.astype(float))
    vector = np.concatenate(parts) if parts else np.zeros(0)
    size = len(vector)

    def unflatten(vector: Any) -> Any:
        if shape_of(vector) != (size,):
            raise ArgumentValueError(
                f"unflatten needs a vector of length {size}, and got shape {shape_of(vector)}."
            )
        return _rebuild(tree, vector)

    return vector, unflatten


def _rebuild(tree: Any, vector: Any) -> Any:
    start = 0

    def next_numbers(count: int) -> Any:
        nonlocal start
        start += count
        return vector[start - count : start]

    def leaf(x: Any) -> Any:
        if not is_perturbable_input(x):
            return x
        shape = shape_of(x)
        count = math.prod(shape)
        flat = next_numbers(count)
        if np.iscomplexobj(x):
            flat = flat + 1j * next_numbers(count)
        return ProjectTo(x)(np.reshape(flat, shape) if shape else flat[0])

    return map_leaves(leaf, tree)
