"""Watched dual numbers: levels that look at the tangent of each operation, for ``cr.debug``."""

from ..rules import Traced
from ..rules.annotations import Function, Value
from ..rules.containers import iterate_leaves
from ..rules.shapes import shape_of
from ..rules.tracing.level import Level
from ..rules.tracing.noted_calls import FoundNumber, noted
from ..rules.tracing.watching import Stops, WatchedLevel, bad_number, stop_at, stops, told
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
    if wanted is None or (found := _bad_tangent(level, y, wanted)) is None:
        return
    if _bad_tangent(level, operands, wanted) is None:
        raise stop_at("bad tangent", **told(noted(f, iterate_leaves(operands)), found))


def _bad_tangent(level: Level, x: Value, wanted: Stops) -> FoundNumber | None:
    """Return the first number that is wanted in the tangents in ``x``."""
    for leaf in iterate_leaves(x):
        if isinstance(leaf, Traced) and leaf.at_level is level:
            found = bad_number(unmarked(leaf.tangent), wanted)
            if found is not None:
                lead = len(found.shape) - len(shape_of(leaf))
                return found._replace(
                    lead=lead, of="of direction" if lead > found.lead else found.of
                )
    return None
