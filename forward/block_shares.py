"""Shares of plain blocks of tangents in the tangent of a result, without a level in between.

A block has the directions as its first axis. Dual numbers and the sweep forward along a tape ask
for these first, and take None for an answer: then the rule sees a block as one tangent.
"""

import operator
from functools import reduce
from typing import Any

import numpy as np

from ..rules import ZERO
from ..rules.linear.blocks import Block, share_in_block
from ..rules.shapes import FLOATS_AND_ARRAYS
from ..rules.table.kinds import Kind
from .still import Moving, is_still, moves_after

_array = np.ndarray
PLAIN = FLOATS_AND_ARRAYS | {int, complex, np.complex128}
_BESIDE = PLAIN | {str}  # the subscripts of einsum
_GIVEN = PLAIN | {type(None)}  # a bound that was left out


def shares_of_blocks(
    kind: Kind, blocks: dict[int, Any], values: tuple, kwargs: dict, y: Any
) -> Any:
    """Sum what a kind makes of blocks, by the number of their argument; None where it does not.

    ``values`` are the arguments, None for those that the kind does not look at.
    """
    if not kind.linear and type(kind).push_block is Kind.push_block:
        return None  # it has no form
    if not blocks or {*map(type, blocks.values())} != {_array}:
        return None
    if kind.linear:
        if not _is_plain_call(kind, kwargs):
            return None
        if len(values) == 1:
            return share_in_block(kind, (Block(blocks[0]),), kwargs)
        others = [x for i, x in enumerate(values) if i not in blocks or len(blocks) > 1]
        if not _BESIDE.issuperset(map(type, others)):
            return None
        given = [(*values[:i], Block(t), *values[i + 1 :]) for i, t in blocks.items()]
        return reduce(operator.add, [share_in_block(kind, each, kwargs) for each in given])
    if not _GIVEN.issuperset(map(type, values)):
        return None
    shares = [kind.push_block(i, t, y, values, kwargs) for i, t in blocks.items()]
    return None if any(share is None for share in shares) else reduce(operator.add, shares)


def share_of_parts(kind: Kind, parts: list, kwargs: dict) -> Any:
    """Return what a join makes of ``parts``, blocks and zeros; None where it does not."""
    given = [x.values if type(x) is Block else x for x in parts]
    if not given or not PLAIN.issuperset(map(type, given)) or not _is_plain_call(kind, kwargs):
        return None
    return share_in_block(kind, (parts,), kwargs)


def share_of_moving(kind: Kind, t: Moving, values: tuple, kwargs: dict, y: Any) -> Any:
    """Return what a linear kind of one array makes of a block of which some entries move."""
    plain = len(values) == 1 and type(values[0]) is type(t.held) is type(t.moves) is _array
    if not (plain and kind.linear and kind.adds) or kind.elementwise:
        return None
    if not _is_plain_call(kind, kwargs):
        return None
    ydot = share_in_block(kind, (Block(t.settled()),), kwargs)
    moves = moves_after(kind, t, values[0].shape, values, kwargs)
    if type(y) is _array:
        return Moving(ydot, np.not_equal(moves, 0))
    return ZERO if is_still(moves) else ydot


def _is_plain_call(kind: Kind, kwargs: dict) -> bool:
    """Say whether the function of a linear kind takes a block with these options as they are."""
    constants = kwargs and (getattr(kind, "constants", None) or "where" in kwargs)
    return not (kind.idles or constants)
