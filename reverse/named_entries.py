"""Names of entries: the operation that a sweep goes through while NumPy warns or raises.

They are found when the warning is told, so that a recorded operation keeps nothing for it.
"""

import functools
from types import FrameType
from typing import Any

import numpy as np

from ..config.numpy_warnings import HINT_OF_LINE
from ..rules import is_array, name_of, rrule
from ..rules.tracing.conversions import describe
from .entries import BROADCAST, NODE, ON_ARRAYS, Entry
from .nodes import CallNode, KindNode, MergeNode, RuleNode
from .watched import UNNOTED, WatchedCotangents


def pullback_under_way(frame: FrameType) -> str:
    """Return ``in the pullback of numpy.sqrt of float64[3]; ...`` for a frame of ``sweep``.

    It is empty where the entry is not known, or is one of numbers, which keeps no function.
    """
    names: dict[str, Any] = frame.f_locals
    cotangents, entries = names["cotangents"], names["entries"]
    position, entry = names.get("i", -1), names.get("entry", ())
    under_way = getattr(names["order"], "at", -1)
    if under_way >= 0:  # the accelerated iterator pulls back through an entry itself
        position, entry = under_way, entries[under_way]
    if isinstance(cotangents, WatchedCotangents):
        call = cotangents.tape.call_of(position)
        if call.f is not UNNOTED:
            return f"in the pullback of {call.name}, {call.line}"
    name = _name_of_entry(entry)
    return name and f"in the pullback of {name}; {HINT_OF_LINE}"


def pushforward_under_way(frame: FrameType) -> str:
    """Return ``in the pushforward of numpy.sqrt of float64[3]; ...`` for a frame of its run."""
    name = _name_of_entry(frame.f_locals.get("entry", ()))
    return name and f"in the pushforward of {name}; {HINT_OF_LINE}"


def _name_of_entry(entry: Entry) -> str:
    size = len(entry)
    if size == NODE:
        return _name_of_node(entry[0])
    if size not in (*ON_ARRAYS, BROADCAST):
        return ""
    args = entry[6] if size == BROADCAST else entry[-1]
    partials = entry[1:5:3] if size == BROADCAST else entry[1:-1:2]
    arrays = [x for x in args if is_array(x)]
    return _named_with(_ufuncs_with(partials), describe(arrays[0]) if arrays else "")


def _name_of_node(node: Any) -> str:
    if isinstance(node, MergeNode):
        return _name_of_node(node.node)
    if not isinstance(node, CallNode):
        return ""
    space = node.active[0][1].space
    operand = describe(space) if hasattr(space, "shape") else ""
    if isinstance(node, KindNode):
        return _named_with(name_of(node.kind.f), operand)
    return _named_with(name_of(node.f), operand) if isinstance(node, RuleNode) else ""


def _named_with(f: str, operand: str) -> str:
    return f"{f} of {operand}" if f and operand else f


def _ufuncs_with(partials: tuple) -> str:
    """Return the name of the ufunc with these partials; of several that have them, all names."""
    wanted = {p.args[0] if isinstance(p, functools.partial) else p for p in partials} - {None}
    found = {
        name_of(f)
        for f, kind in rrule.scalars.items()
        if isinstance(f, np.ufunc) and wanted and wanted <= {*kind.partials}
    }
    return " or ".join(sorted(found))
