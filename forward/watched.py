"""Watched dual numbers: levels that look at the tangent of each operation, for ``cr.debug``."""

from typing import Any

from ..rules import Traced
from ..rules.annotations import Function, Value
from ..rules.containers import iterate_leaves
from ..rules.refusals.table import refusal
from ..rules.tracing.level import Level, value
from ..rules.tracing.watching import WatchedLevel, at_index, bad_number, operation_of, stops
from .blocks import BlockDuals
from .dual import ForwardLevel
from .still import unmarked


class WatchedTangents(WatchedLevel):
    """The part of a watched level that looks at each tangent."""

    __slots__ = ()

    def note(self, f: Function | str, y: Value, operands: tuple) -> None:
        super().note(f, y, operands)
        look_at_tangents(self, f, y, operands)


class WatchedDuals(WatchedTangents, ForwardLevel):
    """A level of dual numbers that looks at each tangent."""

    __slots__ = ()


class WatchedBlocks(WatchedTangents, BlockDuals):
    """A level of dual numbers with blocks of directions that looks at each block."""

    __slots__ = ()


def look_at_tangents(level: Level, f: Function | str, y: Value, operands: tuple) -> None:
    """Raise where the tangent of ``y`` has a number that is wanted, and no operand's has."""
    wanted = stops()
    if wanted is None or (found := bad_number(_tangents(level, y), wanted)) is None:
        return
    if bad_number(_tangents(level, operands), wanted) is None:
        made = operation_of(f)
        number, index = found
        raise refusal(
            "bad tangent", name=made.name, number=number, at=at_index(index), line=made.line
        )


def _tangents(level: Level, x: Value) -> list[Any]:
    """Return the numbers of the tangents in ``x``."""
    return [
        value(unmarked(leaf.tangent))
        for leaf in iterate_leaves(x)
        if isinstance(leaf, Traced) and leaf.at_level is level
    ]
