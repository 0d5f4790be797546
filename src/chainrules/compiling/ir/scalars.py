"""Scalarization: an array is represented by an integer array of value numbers, one per element."""

from typing import Any

import numpy as np

from ...rules.linear.steps import Slot
from .forms import ValueForm
from .looks import STRUCTURE, TRUTHS, WHOLE


class NotLowered(Exception):  # noqa: N818 - it says that another way is taken
    """A step, an input or a result that has no native form."""


class Names:
    """An array of names of numbers: at least 0 for a value, below 0 for a constant.

    ``kind`` is "f8", "b1", or "i8" of whole numbers that are held as float64.
    """

    __slots__ = ("ids", "kind")

    def __init__(self, ids: np.ndarray, kind: str) -> None:
        self.ids = ids
        self.kind = kind


def settings(x: Any) -> Any:
    """Return settings of a step that hold no slots."""
    kind = type(x)
    if kind is Slot:
        raise NotLowered("an index or a size that is computed")
    if kind is tuple or kind is list:
        return kind(map(settings, x))
    return {k: settings(v) for k, v in x.items()} if kind is dict else x


def kind_of(form: ValueForm) -> str:
    kind = form.kind
    if kind in FLOATS:
        return "f8"
    if kind in (bool, np.bool_, np.dtype(bool)):
        return "b1"
    if kind in (np.int64, np.dtype(np.int64)):
        return "i8"
    raise NotLowered(f"results of {kind}")


FLOATS = (float, np.float64, np.dtype(np.float64))


def refuse_last_bits(recorder: Any) -> None:
    """Refuse looks at floats to their last bit: machine code rounds in its own way.

    Raises
    ------
    NotLowered
    """
    for look in recorder.looks:
        form = recorder.steps[look.position].form
        whole = form is not None and np.dtype(form.kind).kind in "iub"
        whole = whole or look.kind in TRUTHS + STRUCTURE + WHOLE
        if not whole and look.position not in recorder.inputs:
            raise NotLowered("a look at a number, to its last bit")
