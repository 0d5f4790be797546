"""Stand-in classes: subclasses of a library's classes that a mirror shows in their place.

Instances and subclasses of a stand-in's ``original`` count as its own. A class that a user derives
from a stand-in is ordinary.
"""

from abc import ABCMeta

from ...annotations import Value


class StandIn(type):
    """The metaclass of stand-ins; ``original`` in the dict of a class marks it as one."""

    def __instancecheck__(cls, x: Value) -> bool:
        original = vars(cls).get("original")
        return super().__instancecheck__(x) if original is None else isinstance(x, original)

    def __subclasscheck__(cls, other: type) -> bool:
        original = vars(cls).get("original")
        if original is None:
            return super().__subclasscheck__(other)
        # Not issubclass: an abstract class asks its subclasses, of which this is one.
        return type.__subclasscheck__(original, other)


class AbstractStandIn(StandIn, ABCMeta):
    """The metaclass of stand-ins for abstract classes."""


def stands_for(cls: type, original: type) -> None:
    """Make the class ``cls``, which is derived from ``original``, a stand-in for it."""
    if isinstance(cls, StandIn):
        cls.original = original  # type: ignore[attr-defined]
