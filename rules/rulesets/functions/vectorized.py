"""NumPy's functions that apply a function of the user's: everywhere, along an axis, in pieces."""

import math
import re
from collections.abc import Callable
from typing import Any

import numpy as np

from ....config import HasForwardsMode, HasReverseMode, frule_via_ad, rrule_via_ad
from ... import (
    NoTangent,
    array_of,
    astype,
    composed,
    dtype_of,
    frule,
    instances,
    replaced,
    rrule,
    value,
)
from ..arrays.numpys_own import laid_out_like
from .implicit import in_plain_numbers
from .map import map
from .sequences import stack


@composed(np.apply_along_axis)
def apply_along_axis_composed(func1d, axis, arr, *args, **kwargs):
    rows = np.moveaxis(array_of(arr), axis, -1)
    *outer, length = np.shape(rows)
    if 0 in outer:
        raise ValueError("Cannot apply_along_axis when any iteration dimensions are 0")
    rows = np.reshape(rows, (math.prod(outer), length))
    ys = map(lambda row: array_of(func1d(row, *args, **kwargs)), rows)
    inner = np.shape(ys)[1:]
    first = axis % np.ndim(arr)
    y = np.reshape(ys, (*outer, *inner))
    return np.moveaxis(y, (*range(-len(inner), 0),), (*range(first, first + len(inner)),))


@composed(np.piecewise)
def piecewise_composed(x, condlist, funclist, *args, **kw):
    x = array_of(x)
    entries = np.ravel(x)
    # What the functions gave, one after the other; first a zero, for where no condition holds.
    pieces = [np.zeros_like(entries, shape=1)]

    def collector(f):
        def collect(chosen):
            piece = f(entries[chosen], *args, **kw) if callable(f) else f
            first = sum(np.size(before) for before in pieces)
            pieces.append(np.ravel(np.broadcast_to(piece, np.shape(chosen))))
            return np.reshape(first + np.arange(np.size(chosen)), np.shape(chosen))

        return collect

    # NumPy itself finds out which function answers where: on the positions of the entries.
    positions = np.reshape(np.arange(np.size(entries)), np.shape(x))
    conditions = replaced(in_plain_numbers, value(condlist))  # each decides its way
    found = np.piecewise(positions, conditions, [collector(f) for f in funclist])
    y = np.reshape(np.concatenate(pieces)[np.ravel(found)], np.shape(x))
    y = astype(y, dtype_of(x))
    return laid_out_like(y, x)


_OF_PYTHON = tuple(map(np.dtype, (float, complex, np.int64, bool)))

# ---- vectorize ------------------------------------------------------------------------------


def core_ndims(signature: str | None, count: int) -> list[int]:
    """Return how many axes each argument keeps for itself: ``"(m,n),(n)->(m)"`` gives 2, 1."""
    if signature is None:
        return [0] * count
    cores = re.findall(r"\(([^()]*)\)", signature.partition("->")[0])
    return [len([name for name in core.split(",") if name.strip()]) for core in cores]


def of_python(x: Any) -> Any:
    """Return an entry as a number of Python's of the same width, as an array of objects has it.

    A narrow one stays as it is: it says the dtype of the result.
    """
    return x.item() if dtype_of(x) in _OF_PYTHON and hasattr(x, "item") else x


def at_items(vectorize: Any, args: tuple, kwargs: dict) -> tuple[Callable, list]:
    """Return the function of what varies, and what varies: arguments that are not excluded."""
    places = [i for i in range(len(args)) if i not in vectorize.excluded]
    names = [name for name in kwargs if name not in vectorize.excluded]

    varying = [*(args[i] for i in places), *(kwargs[name] for name in names)]
    whole = vectorize.signature is not None
    kept = [whole or isinstance(x, np.generic) for x in varying]

    def at_item(*items: Any) -> Any:
        items = tuple([x if keep else of_python(x) for x, keep in zip(items, kept)])
        placed = dict(zip(places, items))
        named = dict(zip(names, items[len(places) :]))
        given = [placed.get(i, x) for i, x in enumerate(args)]
        return vectorize.pyfunc(*given, **{**kwargs, **named})

    return at_item, varying


def gives_objects(vectorize: Any) -> bool:
    """Say whether the results are kept as objects: of them there is no rule as a whole."""
    return vectorize.signature is None and [*(vectorize.otypes or ())] == ["O"]


def of_objects(ys: list, shape: tuple[int, ...]) -> np.ndarray:
    """Return results that are objects, such as tuples of traced numbers, as NumPy's array of them.

    A single one is an array of its own entries, as NumPy makes one of a tuple.
    """
    if not shape:
        return np.asanyarray(ys[0], dtype=object)
    y = np.empty(len(ys), object)
    for i, item in enumerate(ys):
        y[i] = item
    return y.reshape(shape)


def vectorized(vectorize: Any, *args: Any, **kwargs: Any) -> Any:
    """Do what calling ``vectorize`` does, by functions that have rules."""
    at_item, varying = at_items(vectorize, args, kwargs)
    xs = [array_of(x) for x in varying]
    ndims = core_ndims(vectorize.signature, len(xs))
    # Of each argument's shape, the part to loop over and the part to hand on.
    outers = [np.shape(x)[: np.ndim(x) - ndim] for x, ndim in zip(xs, ndims)]
    cores = [np.shape(x)[np.ndim(x) - ndim :] for x, ndim in zip(xs, ndims)]
    loop = np.broadcast_shapes(*outers)
    if 0 in loop or not xs:  # NumPy knows the dtype of no results, or refuses
        plain = {name: value(x) for name, x in kwargs.items()}
        return np.vectorize.__call__(vectorize, *map(value, args), **plain)
    rows = [
        np.reshape(np.broadcast_to(x, (*loop, *core)), (math.prod(loop), *core))
        for x, core in zip(xs, cores)
    ]
    if gives_objects(vectorize):
        return of_objects([at_item(*items) for items in zip(*rows)], loop)
    # A rule for each item costs several times what a function of single numbers does.
    ys = map(at_item, *rows) if any(cores) else stack([at_item(*items) for items in zip(*rows)])
    several = isinstance(ys, tuple)
    shaped = [np.reshape(y, (*loop, *np.shape(y)[1:])) for y in (ys if several else (ys,))]
    if vectorize.otypes:
        shaped = [y.astype(otype) for y, otype in zip(shaped, vectorize.otypes)]
    return tuple(shaped) if several else shaped[0]


@frule.register(instances(np.vectorize))
def vectorize_frule(config: HasForwardsMode, tangents, vectorize, *args, **kwargs):
    return frule_via_ad(config, (NoTangent(), *tangents), vectorized, vectorize, *args, **kwargs)


@rrule.register(instances(np.vectorize))
def vectorize_rrule(config: HasReverseMode, vectorize, *args, **kwargs):
    y, pullback = rrule_via_ad(config, vectorized, vectorize, *args, **kwargs)

    def vectorize_pullback(ybar):
        return pullback(ybar)[1:]

    return y, vectorize_pullback
