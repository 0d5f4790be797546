"""Tuples, lists and dicts in the boxes that autograd makes of them."""

from typing import Any

from autograd.builtins import DictBox, SequenceBox
from autograd.tracer import getval, isbox

from .trees import leaves_of, parts_of, rebuilt


def opened(x: Any) -> Any:
    """Return a tuple, list or dict in place of a box of one, with boxes in it."""
    if type(x) is SequenceBox:
        return rebuilt(getval(x), [opened(x[i]) for i in range(len(x))])
    if type(x) is DictBox:
        return {key: opened(x[key]) for key in x}
    parts = parts_of(x)
    return x if parts is None else rebuilt(x, [opened(part) for part in parts])


def has_box(x: Any) -> bool:
    """Say whether autograd follows something in tuples, lists and dicts."""
    return any(map(isbox, leaves_of(x)))
