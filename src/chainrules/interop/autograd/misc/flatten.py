"""As ``autograd.misc.flatten``: one vector for tuples, lists and dicts of numbers and arrays."""

from collections.abc import Callable
from typing import Any

from ....rules import dtype_of, shape_of
from ... import autograd as _autograd
from ..trees import mapped


def flatten(value: Any) -> tuple[Any, Callable]:
    """Return the numbers in ``value`` as one vector, and the way back.

    Dicts are read in the order of their sorted keys. Both ways are differentiated.

    Examples
    --------
    >>> from chainrules.interop.autograd.misc.flatten import flatten
    >>> vector, unflatten = flatten({"b": 3.0, "a": [np.ones(2)]})
    >>> vector
    array([1., 1., 3.])
    >>> unflatten(2 * vector)
    {'b': np.float64(6.0), 'a': [array([2., 2.])]}
    """
    np = _autograd.numpy
    leaves = list(_in_order(value))
    vector = np.concatenate([np.ravel(x) for x in leaves]) if leaves else np.array([])
    places, start = [], 0
    for x in leaves:
        shape, dtype = shape_of(x), dtype_of(x)
        stop = start + _count(shape)
        places.append((start, stop, shape, dtype is not None and dtype.kind == "c"))
        start = stop
    template = _numbered(value, iter(range(len(leaves))))

    def unflatten(vector: Any) -> Any:
        def part(k: int) -> Any:
            start, stop, shape, is_complex = places[k]
            y = np.reshape(vector[start:stop], shape) if shape else vector[start]
            return y if is_complex else np.real(y)

        return mapped(part, template)

    return vector, unflatten


def flatten_func(func: Callable, example: Any) -> tuple[Callable, Callable, Any]:
    """Return ``func`` from vector to vector, the way back, and the vector of ``example``.

    Examples
    --------
    >>> from chainrules.interop.autograd import grad, numpy as np
    >>> from chainrules.interop.autograd.misc.flatten import flatten_func
    >>> slopes = grad(lambda p: np.sum(p["a"] ** 2) * p["b"])
    >>> flat, unflatten, start = flatten_func(slopes, {"a": np.ones(2), "b": 3.0})
    >>> flat(start)
    array([6., 6., 2.])
    """
    vector, unflatten = flatten(example)

    def flat(x: Any, *args: Any) -> Any:
        return flatten(func(unflatten(x), *args))[0]

    return flat, unflatten, vector


def _in_order(x: Any) -> Any:
    if isinstance(x, dict):
        for key in sorted(x):
            yield from _in_order(x[key])
    elif isinstance(x, tuple | list):
        for part in x:
            yield from _in_order(part)
    else:
        yield x


def _numbered(x: Any, numbers: Any) -> Any:
    """Return ``x`` with the place in the vector's order of each leaf."""
    if isinstance(x, dict):
        found = {key: _numbered(x[key], numbers) for key in sorted(x)}
        return type(x)((key, found[key]) for key in x)
    if isinstance(x, tuple | list):
        parts = [_numbered(part, numbers) for part in x]
        return type(x)(*parts) if hasattr(x, "_fields") else type(x)(parts)
    return next(numbers)


def _count(shape: tuple[int, ...]) -> int:
    count = 1
    for length in shape:
        count *= length
    return count
