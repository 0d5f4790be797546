"""Sums of parts in place: what is scattered into zeros is added where the sum so far lies.

The cotangent of ``x`` in ``sum(f(x[t]) for t in range(n))`` is a sum of n arrays of zeros with one
row each. Where only the sum is read, and a part is small beside it, the part is added to its
entries alone, so that a loop over the rows takes time in proportion to them.
"""

import functools
import math
import operator
from typing import Any, NamedTuple

import numpy as np

from ...config.thresholds import SMALL_PART
from ...rules import iterate_leaves
from ...rules.linear.steps import Slot
from ..ir.forms import ValueForm
from ..ir.references import CopyOf
from ..ir.strides import View
from ..ir.values import Group, Stored
from ..native import Operation
from ..record.recorder import Recorder
from .expansion import Operands
from .factor_sharing import Factor


class ScatteredPart(NamedTuple):
    """Entries ``x`` that are to be added at ``place``, a view of an array of the sum's shape."""

    x: Slot
    place: View


class SumsInPlace:
    """Sums whose memory nobody else reads, by the positions of the steps that give them."""

    def __init__(self, recorder: Recorder, plan: dict[int, Operation]) -> None:
        self.recorder, self.plan = recorder, plan
        self.memory_of: dict[int, int] = {}  # of a sum, the first array, in whose memory it lies
        self.owned: set[int] = set()  # arrays that a loop makes, which nothing else shares
        self.parts: dict[int, ScatteredPart] = {}  # that are not added yet

    @functools.cached_property
    def only_readers(self) -> dict[int, int]:
        """Of each result that one step reads, and nothing else, the step."""
        readers: dict[int, int | None] = {}
        for position, step in self.plan.items():
            for leaf in iterate_leaves((step.operands, step.options)):
                if type(leaf) in (Slot, CopyOf, Factor):
                    readers[leaf.position] = None if leaf.position in readers else position
        seen = [look.position for look in self.recorder.looks]
        seen += [x.position for x in self.recorder.outputs]
        readers |= dict.fromkeys(seen)
        return {position: at for position, at in readers.items() if at is not None}

    def defers(self, position: int, form: ValueForm, x: Slot, place: View) -> bool:
        """Say whether a part is left to the sum that alone reads it, and note it if so."""
        if SMALL_PART * math.prod(place.shape) > math.prod(form.shape):
            return False
        reader = self.only_readers.get(position)
        step = None if reader is None else self.plan[reader]
        if step is None or step.function not in (operator.add, np.add) or step.options:
            return False
        others = [y for y in step.operands if type(y) is Slot and y.position != position]
        if len(others) != 1 or len(step.operands) != 2 or step.form != form:
            return False
        other = others[0].position
        if other not in self.owned or self.only_readers.get(other) != reader:
            return False
        self.parts[position] = ScatteredPart(x, place)
        return True

    def taken(self, args: Any) -> tuple[int, ScatteredPart] | None:
        """Return of the operands of a sum the array that it is added to, and the part, if any."""
        for k, x in enumerate(args):
            if type(x) is Slot and x.position in self.parts:
                other = args[1 - k].position
                return self.memory_of.get(other, other), self.parts.pop(x.position)
        return None


def added(steps: Operands, root: int, part: ScatteredPart, kind: str) -> Group:
    """Return the loop that adds a part to its entries of the array ``root``."""
    place = part.place
    group = Group(place.shape)
    key = root, place.offset, place.strides, None
    before = group.input(key, kind, place.strides, place.offset, f"v{root}")
    total = group.op("add", before, steps.value(group, part.x, kind))
    group.stored[root] = Stored(total, place.strides, None, place.offset)
    group.updated.add(root)
    return group
