"""Levels: which derivative a traced value belongs to, and how to look under it.

Every transform call takes the next number of one counter. Inner is higher, so the engine of
the highest level among the arguments answers first. There is no stack: threads need no care,
and an exception leaves nothing behind.
"""

import itertools
import operator
from typing import Any, Protocol

from .containers import LEAVES, children, map_leaves

next_level = itertools.count(1).__next__


class Level(Protocol):
    """One run of one transform: it answers the calls that its traced values take part in."""

    number: int

    def call(self, f: Any, args: tuple, kwargs: dict) -> Any:
        """Evaluate ``f`` and keep track of its derivative at this level."""


class Traced:
    """A value that some transform follows. ``value`` may itself be traced, at a lower level."""

    __slots__ = ("level", "value")

    value: Any
    level: Any

    def __init_subclass__(cls) -> None:
        LEAVES.add(cls)  # whatever attributes it has, it is a number or an array, no container

    # Whether it may be written to, and its value must be looked at by ``peek``.
    writable = False

    def peek(self) -> Any:
        """Return the value to look at it, and not to keep it: it may be written to."""
        return self.value


def innermost(args: Any) -> Any:
    """Return the highest level among ``args``, looking into containers, or None."""
    top = None
    for x in args:
        if isinstance(x, Traced):
            level = x.level
        elif type(x) in LEAVES:
            continue
        elif type(x) is tuple or type(x) is list:
            level = innermost(x)
        else:
            parts = children(x)
            level = None if parts is None else innermost(parts.values)
        if level is not None and (top is None or level.number > top.number):
            top = level
    return top


def is_traced(x: Any) -> bool:
    """Say whether ``x`` is, or holds, a traced value."""
    return isinstance(x, Traced) or innermost((x,)) is not None


def value(x: Any) -> Any:
    """Return the number or array under a traced value, with no derivative at any level.

    Parameters
    ----------
    x : Any
        A traced value, or a container of them; anything else is returned as it is.

    Examples
    --------
    >>> import chainrules as cr
    >>> cr.grad(lambda x: x * cr.value(x))(3.0)
    3.0
    """
    if isinstance(x, Traced):
        while isinstance(x, Traced):
            x = x.value
        return x
    return map_leaves(value, x) if is_traced(x) else x


def type_under(x: Any) -> type:
    """Return the type of ``x``, or of the number or array that a traced ``x`` carries."""
    while isinstance(x, Traced):
        x = x.peek() if x.writable else x.value
    return type(x)


def strip(x: Any, level: Level) -> Any:
    """Take the traced values of ``level`` off, in containers too; other levels stay."""
    if isinstance(x, Traced):
        return x.value if x.level is level else x
    if type(x) in LEAVES:
        return x
    parts = children(x)
    if parts is None:
        return x
    values = [strip(part, level) for part in parts.values]
    if all(map(operator.is_, values, parts.values)):
        return x
    return parts.rebuild(values)
