"""flatten: a container of numbers and arrays as one real vector, and back."""

from collections.abc import Callable
from typing import Any

import numpy as np

from ..annotations import Value
from ..containers import iterate_leaves, map_leaves
from ..shapes import dtype_of, shape_of
from ..tangents.project import ProjectTo
from ..tracing.funnel import array_of
from .inputs import is_perturbable_input, taken


def flatten(tree: Any) -> tuple[Any, Callable[[Any], Any]]:
    """Lay the numbers of a container out in one vector, as optimisers want them.

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
    for x in iterate_leaves(tree):
        _collect(x, parts)
    vector = np.concatenate(parts) if parts else np.zeros(0)
    size = len(vector)

    def unflatten(vector: Any) -> Any:
        if shape_of(vector) != (size,):
            raise ValueError(
                f"unflatten needs a vector of length {size}, and got shape {shape_of(vector)}."
            )
        return _rebuild(tree, vector)

    return vector, unflatten


def _is_complex(x: Value) -> bool:
    dtype = dtype_of(x)
    return dtype is not None and dtype.kind == "c"


def _collect(x: Value, found: list) -> None:
    if not is_perturbable_input(x):
        return
    flat = np.reshape(array_of(x), -1)
    if _is_complex(x):
        found.extend((np.real(flat), np.imag(flat)))
    else:
        found.append(flat if flat.dtype.kind == "f" else flat.astype(float))


def _rebuild(tree: Any, vector: Any) -> Any:
    start = 0

    def next_numbers(count: int) -> Any:
        nonlocal start
        start += count
        return vector[start - count : start]

    def leaf(x: Value) -> Any:
        if not is_perturbable_input(x):
            return x
        shape = shape_of(x)
        count = int(np.prod(shape, dtype=int))
        flat = next_numbers(count)
        if _is_complex(x):
            flat = flat + 1j * next_numbers(count)
        return ProjectTo(x)(np.reshape(flat, shape) if shape else flat[0])

    return map_leaves(leaf, tree)
