"""Gather and scatter: ``x[i]`` and ``x[i] = v`` where each item of a batch has an index of its own.

``x[i]`` of a batch is ``block[np.arange(items), i]``.
"""

import operator
from typing import Any

import numpy as np

from ..rules import Block, shape_of
from ..rules.containers import LEAVES, iterate_leaves
from ..rules.linear.blocks import aligned, fitted
from .batched import is_batched

_WHOLE = (slice, type(None), type(...))


def holds_batched(index: Any) -> bool:
    if is_batched(index) or type(index) in LEAVES:
        return is_batched(index)
    return any(is_batched(part) for part in iterate_leaves(index))


def plain_slices(index: Any) -> tuple:
    """Return an index as a tuple, in which the ends of slices are plain: shapes depend on them."""
    parts = index if type(index) is tuple else (index,)
    return tuple([_plain_slice(part) if type(part) is slice else part for part in parts])


def _plain_slice(part: slice) -> slice:
    ends = [operator.index(x) if is_batched(x) else x for x in (part.start, part.stop, part.step)]
    return slice(*ends)


def is_mask(x: Any) -> bool:
    dtype = getattr(x, "dtype", None)
    return dtype is not None and dtype.kind == "b"


class Gather:
    """An index of each item, as one index of a block.

    ``led`` reads from the block; ``rank`` is that of what the indices read together, and ``before``
    how many axes of the result stand before these.
    """

    def __init__(self, level: Any, shape: tuple[int, ...], index: tuple) -> None:
        parts = _without_ellipsis(index, len(shape))
        given = [Block(x.block) if level.carries(x) else x for x in parts]
        places = [k for k, x in enumerate(given) if not isinstance(x, _WHOLE)]
        self.rank = max(
            [
                len(x.shape) if type(x) is Block else len(shape_of(x))
                for x in map(given.__getitem__, places)
            ]
        )
        first = np.arange(level.count).reshape(level.count, *(1,) * self.rank)
        indices = [aligned(x, self.rank) for x in given]
        self.led = (first, *indices)
        together = places[-1] - places[0] == len(places) - 1
        self.before = places[0] if together else 0

    def read(self, block: Any) -> Any:
        """Return the block of what each item reads."""
        y = block[self.led]
        if self.before and self.rank:
            read = range(1, 1 + self.rank)
            y = np.moveaxis(y, read, [k + self.before for k in read])
        return y

    def write(self, block: Any, v: Any) -> bool:
        """Write what each item writes; say whether there is a form for it."""
        if self.before:
            return False
        block[self.led] = fitted(v, len(shape_of(block[self.led])) - 1)
        return True


def _without_ellipsis(index: tuple, rank: int) -> tuple:
    places = [k for k, part in enumerate(index) if part is ...]
    if not places:
        return index
    (k,) = places
    used = sum(1 for part in index if part is not None and part is not ...)
    return (*index[:k], *(slice(None),) * (rank - used), *index[k + 1 :])


def numbers_of_true(mask: Any) -> list[int]:
    """Return how many entries a mask has that are true, for each item."""
    return np.count_nonzero(np.reshape(mask, (len(mask), -1)), axis=1).tolist()


def read_masked(block: Any, mask: Any) -> Any:
    """Return what masks read that have as many true entries for each item."""
    rest = shape_of(block)[np.ndim(mask) :]
    return np.reshape(block[mask], (len(mask), numbers_of_true(mask)[0], *rest))


def write_masked(block: Any, mask: Block, v: Any) -> bool:
    """Write ``v`` where a mask of each item says so; say whether there is a form for it."""
    rank = len(shape_of(block)) - 1
    rest = rank - mask.rank
    shape = v.shape if type(v) is Block else shape_of(v)
    if type(mask.values) is np.ndarray and type(v) is Block and len(shape) == rest + 1:
        # One entry of ``v`` for each that is true, as many for each item.
        if len({*numbers_of_true(mask.values), shape[0]}) > 1:
            return False
        block[mask.values] = np.reshape(v.values, (v.count * shape[0], *shape[1:]))
        return True
    if len(shape) > rest or mask.shape != shape_of(block)[1 : 1 + mask.rank]:
        return False
    alive = np.reshape(mask.values, (mask.count, *mask.shape, *(1,) * rest))
    block[...] = np.where(alive, aligned(v, rank), block)
    return True
