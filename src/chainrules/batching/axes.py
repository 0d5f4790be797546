"""Axes of a batch: which axis of which argument, or result, is that of the items.

``in_axes=({"w": None, "b": 0}, 1)`` says it for each part of a container; an int or None stands for
all parts of what is there.
"""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from ..config import ArgumentValueError
from ..rules import children, describe, name_of, positional_names, shape_of
from ..rules.containers import LEAVES, constants
from ..rules.refusals.table import refusal
from ..rules.shapes import OBJECT
from ..rules.tracing.views import axes_of, bare, laid_out

Axes = Any  # an int, None, or a container of these
# The leaves of a call's arguments, with the axis of the items in front where they have one; which
# of them have one; and the number of items.
Items = tuple[Sequence, Sequence, int]


def paired(x: Any, axes: Axes, place: str) -> Iterator[tuple[Any, int | None, str]]:
    """Yield each leaf of ``x`` with its axis, and the name of its place.

    Raises
    ------
    ValueError
        If the containers in ``axes`` are not those of ``x``.
    """
    parts = None if type(x) in LEAVES else children(x)
    if parts is None:
        if axes is not None and not _is_axis(axes):
            raise refusal("axis of one value", place=place, x=describe(x), axes=repr(axes))
        yield x, axes, place
        return
    if axes is None or _is_axis(axes):
        for key, part in zip(parts.keys, parts.values, strict=True):
            yield from paired(part, axes, f"{place}, at {key!r}")
        return
    by_key = _by_key(axes)
    if not by_key.keys() >= set(parts.keys) or by_key.keys() - {*parts.keys, *constants(x)}:
        named = ", ".join(map(repr, by_key)) or "none"
        keys = ", ".join(map(repr, parts.keys))
        raise refusal("axes of other parts", place=place, parts=keys, axes=repr(axes), named=named)
    for key, part in zip(parts.keys, parts.values, strict=True):
        yield from paired(part, by_key[key], f"{place}, at {key!r}")


def _by_key(axes: Axes) -> dict:
    """Return the axes of the parts of a container, by their keys."""
    parts = children(axes)
    by_key = {} if parts is None else dict(zip(parts.keys, parts.values, strict=True))
    # The fields of an object that hold integers are constants, and no parts.
    return by_key | {name: getattr(axes, name) for name in constants(axes) if name in vars(axes)}


def axes_of_call(f: Any, in_axes: Axes, args: tuple, kwargs: dict) -> tuple[tuple, dict]:
    """Return the axes of the arguments by position and by name.

    Raises
    ------
    ValueError
        If ``in_axes`` has one for another number of arguments, or for a name that there is not.
    """
    if isinstance(in_axes, dict):
        names = positional_names(f)[: len(args)]
        unknown = in_axes.keys() - {*names, *kwargs}
        if unknown:
            raise refusal(
                "unknown names of axes",
                unknown=", ".join(sorted(map(repr, unknown))),
                f=name_of(f),
                given=", ".join([*names, *kwargs]) or "nothing",
            )
        named = [in_axes.get(name) for name in names]
        return tuple(named), {name: in_axes.get(name) for name in kwargs}
    if isinstance(in_axes, tuple | list):
        if len(in_axes) != len(args):
            raise refusal("number of axes", count=len(in_axes), f=name_of(f), given=len(args))
        return tuple(in_axes), dict.fromkeys(kwargs, 0)
    return (in_axes,) * len(args), dict.fromkeys(kwargs, 0)


def items_of_arrays(args: tuple) -> Items | None:
    """Return the items of plain arrays that have them in front; None where there is more to see."""
    count = 0
    for x in args:
        if type(x) is not np.ndarray or x.dtype is OBJECT or not x.ndim:
            return None
        if not x.flags.c_contiguous or count not in (0, len(x)):
            return None
        count = len(x)
    return (args, (True,) * len(args), count) if count else None


def items_of_call(f: Any, given: list, axis_size: int | None) -> Items:
    """Return the items of leaves that are given with their axes and the names of their places.

    Raises
    ------
    ValueError
        If they have different numbers of items, or none says how many there are.
    """
    leaves = [x if axis is None else items_of(x, axis, place) for x, axis, place in given]
    batched = [axis is not None and x is not None for x, axis, _ in given]
    return leaves, batched, _number_of_items(given, leaves, batched, axis_size, f)


def _number_of_items(
    given: list, leaves: list, batched: list, axis_size: int | None, f: Any
) -> int:
    counts: dict[int, str] = {}
    for (_, _, place), x, is_batched in zip(given, leaves, batched, strict=True):
        if is_batched:
            counts.setdefault(shape_of(x)[0], place)
    if axis_size is not None:
        counts.setdefault(axis_size, "axis_size")
    if len(counts) > 1:
        told = ", ".join(f"{place} has {n}" for n, place in counts.items())
        raise ArgumentValueError(f"vmap({name_of(f)}) is given different numbers of items: {told}.")
    if not counts:
        raise ArgumentValueError(
            f"vmap({name_of(f)}) is given no axis of items.\n"
            "  name one with in_axes, or say how many items there are: axis_size=n"
        )
    (count,) = counts
    return count


def items_of(x: Any, axis: int, place: str) -> Any:
    """Return an array with the axis of the items in front.

    Raises
    ------
    ValueError
        If ``x`` has no such axis.
    """
    if type(x) is np.ndarray and axis == 0 and x.ndim and x.flags.c_contiguous:
        return x  # as most are
    if not hasattr(x, "shape") or not hasattr(x, "ndim"):
        if x is None:
            return None
        instead = "give an array, or say with in_axes=None that all items share it"
        given = f"a {type(x).__name__}"
        raise refusal("no axis of items", place=place, x=given, axis=axis, instead=instead)
    rank = len(shape_of(x))
    if not -rank <= axis < rank:
        instead = "name another one with in_axes, or None for what all items share"
        raise refusal("no axis of items", place=place, x=describe(x), axis=axis, instead=instead)
    return items_outermost(x if axis % rank == 0 else np.moveaxis(x, axis, 0))


def items_outermost(block: Any) -> Any:
    """Return a block whose items lie one after another in memory, each as an array by itself does.

    What NumPy makes of an item has the memory order of that item, and is a view where that allows
    it: so it must be of a batch.
    """
    plain = block if type(block) is np.ndarray else bare(block)
    if type(plain) is not np.ndarray or plain.ndim < 2 or plain.size == 0:
        return block
    if plain.flags.c_contiguous:
        return block
    strides = [abs(stride) for stride in plain.strides]
    if strides[0] >= max(strides[1:]) or plain.shape[0] == 1:
        return block
    return _with_items_in(block, axes_of(plain[0]), plain.ndim - 1)


def items_as(block: Any, one: Any) -> Any:
    """Return a block whose items have the memory order of ``one``, an item as NumPy makes it."""
    plain, one = bare(block), bare(one)
    if type(plain) is not np.ndarray or type(one) is not np.ndarray or one.ndim < 2:
        return block
    axes = axes_of(one)
    if plain.size == 0 or axes_of(plain[0]) == axes:
        return block
    return _with_items_in(block, axes, one.ndim)


def _with_items_in(block: Any, axes: tuple[int, ...] | None, rank: int) -> Any:
    """Copy a block such that its items lie one after another, each with its ``axes`` in order."""
    return laid_out(block, (0, *[axis + 1 for axis in axes or range(rank)]))


def check_axes(axes: Axes, name: str) -> None:
    """Refuse what is no axis.

    Raises
    ------
    TypeError
    """
    parts = children(axes)
    if parts is None:
        if axes is not None and not _is_axis(axes):
            raise refusal("axes of another type", name=name, axes=repr(axes))
        return
    for part in parts.values:
        check_axes(part, name)


def _is_axis(x: Any) -> bool:
    return isinstance(x, int | np.integer) and not isinstance(x, bool)
