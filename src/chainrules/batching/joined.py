"""Results of a batch put together: those of its ways, in the order of the items."""

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from ..config import BatchError, user_line
from ..rules import children, dtype_of, name_of, shape_of, spread, value
from ..rules.containers import LEAVES
from ..rules.known_classes import are_unlike
from ..rules.tracing.classes.own_arrays import ReturnedArray


class Stacked:
    """A result with the items along its first axis."""

    __slots__ = ("values",)

    def __init__(self, values: Any) -> None:
        self.values = values


LEAVES.add(Stacked)


def stacked_items(results: list) -> Any:
    if dtype_of(results[0]) is None and not isinstance(results[0], int):
        return results[0]
    return Stacked(np.stack(results))


def none_of(leaf: Any) -> Any:
    if dtype_of(leaf) is None and not isinstance(leaf, int):
        return leaf
    return Stacked(np.zeros((0, *shape_of(leaf)), np.asarray(value(leaf)).dtype))


def joined_ways(parts: Iterable[tuple], order: np.ndarray, f: Callable) -> Any:
    """Put the results of all ways together, in the order of the items."""
    parts = list(parts)
    nodes: list[Any] = [children(y) for y, _, _ in parts]
    first: Any = nodes[0]
    if first is not None:
        same = all(node is not None and node.keys == first.keys for node in nodes)
        if not same or len({y.__class__ for y, _, _ in parts}) > 1:
            raise _unlike([y for y, _, _ in parts], "containers", f)
        if any(are_unlike(parts[0][0], y) for y, _, _ in parts):
            raise _unlike([y for y, _, _ in parts], "units, labels or constants", f)
        columns = zip(*[node.values for node in nodes], strict=True)
        return first.rebuild(
            [
                joined_ways([(y, level, n) for y, (_, level, n) in zip(column, parts)], order, f)
                for column in columns
            ]
        )
    blocks = []
    for y, level, count in parts:
        if level is not None and level.carries(y):
            blocks.append(y.block)
        elif dtype_of(y) is None and not isinstance(y, int):
            if all(part[0] is y or part[0] == y for part in parts):
                return y
            raise _unlike([y for y, _, _ in parts], "types", f)
        else:
            blocks.append(spread(y, count))
    if len({shape_of(block)[1:] for block in blocks}) > 1:
        raise _unlike(blocks, "shapes", f)
    return Stacked(np.concatenate(blocks)[order])


def own_class_in(y: Any) -> type | None:
    """Return the class of an array of a class of its own that holds results; None if none does."""
    if type(y) is ReturnedArray:
        return type(y.like)
    parts = children(y)
    found = () if parts is None else map(own_class_in, parts.values)
    return next((cls for cls in found if cls is not None), None)


def without_stack(cls: type, f: Callable) -> BatchError:
    """Return the error for a result of a class of its own, whose stack is none."""
    return BatchError(
        f"{name_of(f)} gives a {cls.__name__}, whose items make no array of its class.\n"
        "  return np.asarray(...) of it, or write cr.map(f, list(xs))"
    )


def _unlike(results: list, what: str, f: Callable) -> BatchError:
    told = {str(shape_of(x)[1:]) if what == "shapes" else type(x).__name__ for x in results}
    return BatchError(
        f"{name_of(f)} gives results of different {what} for different items: "
        f"{', '.join(sorted(told))}, in {user_line()}.\n"
        "  they have no place in one array: write cr.map(f, list(xs)), which gives a list"
    )
