"""Updates in place: sums of small parts, and writes, where nobody else reads the array before.

The cotangent of ``x`` in ``sum(f(x[t]) for t in range(n))`` is a sum of n arrays of zeros with one
row each; ``y[t] = ...`` in a loop gives a new array each time. Where only the next update reads the
array, it touches its own entries alone, and takes time in proportion to them.
"""

import functools
import math
import operator
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ....config.thresholds import SMALL_PART
from ....rules import getitem, iterate_leaves
from ....rules.linear.steps import Slot
from ...ir.dtypes import dtype_of, kind_of_form
from ...ir.forms import ValueForm
from ...ir.references import CopyOf, has_slots
from ...ir.strides import View, as_slice, placed, strides_of
from ...ir.values import Group, Stored
from ...native import Operation
from ...record.recorder import Recorder
from ..factor_sharing import Factor
from .expansion import Operands

if TYPE_CHECKING:
    from .groups import Grouping


class ScatteredPart(NamedTuple):
    """Entries ``x`` that are to be added at ``place``, a view of an array of the sum's shape."""

    x: Slot
    place: View


class InPlace:
    """Arrays whose memory nobody else reads, by the positions of the steps that give them."""

    def __init__(self, recorder: Recorder, plan: dict[int, Operation]) -> None:
        self.recorder, self.plan = recorder, plan
        self.memory_of: dict[
            int, int
        ] = {}  # of an update, the first array, in whose memory it lies
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

    def reader(self, position: int) -> int | None:
        """Return the only step that reads a result, if it is only one and nothing else."""
        return self.only_readers.get(position)

    def defers(self, position: int, form: ValueForm, x: Slot, place: View) -> bool:
        """Say whether a part is left to the sum that alone reads it, and note it if so."""
        if SMALL_PART * math.prod(place.shape) > math.prod(form.shape):
            return False
        reader = self.reader(position)
        step = None if reader is None else self.plan[reader]
        if step is None or step.function not in (operator.add, np.add) or step.options:
            return False
        others = [y for y in step.operands if type(y) is Slot and y.position != position]
        if len(others) != 1 or len(step.operands) != 2 or step.form != form:
            return False
        other = others[0].position
        if other not in self.owned or self.reader(other) != reader:
            return False
        self.parts[position] = ScatteredPart(x, place)
        return True

    def note(self, position: int, root: int) -> None:
        """Note that an update lies in the memory of ``root``, which may be its own."""
        if root != position:
            self.memory_of[position] = root
        self.owned.add(position)

    def taken(self, args: Any) -> tuple[int, ScatteredPart] | None:
        """Return of the operands of a sum the array that it is added to, and the part, if any."""
        for k, x in enumerate(args):
            if type(x) is Slot and x.position in self.parts:
                other = args[1 - k].position
                return self.memory_of.get(other, other), self.parts.pop(x.position)
        return None


def added(steps: Operands, root: int, part: ScatteredPart, kind: str) -> tuple[int, list[Group]]:
    """Return the array ``root``, and the loop that adds a part to its entries there."""
    place = part.place
    group = Group(place.shape)
    key = root, place.offset, place.strides, None
    before = group.input(key, kind, place.strides, place.offset, f"v{root}")
    total = group.op("add", before, steps.value(group, part.x, kind))
    group.stored[root] = Stored(total, place.strides, None, place.offset)
    group.updated.add(root)
    return root, [group]


def put(
    steps: Operands, known: InPlace, position: int, form: ValueForm, args: tuple
) -> tuple[int, list[Group]] | None:
    """Return the array that a write goes to, and the loops that copy it, if need be, and write.

    None of a write through a view, at computed places, or of another type.
    """
    x, path, index, v, axes = args
    if path != () or axes is not None or has_slots(index) or form.order != "C":
        return None
    kind = kind_of_form(form)
    place = placed(getitem, (index,), {}, View(position, 0, form.shape, strides_of(form.shape)))
    if place is None or kind not in ("f8", "f4", "c16", "c8"):
        return None
    given = dtype_of(v, steps.steps)
    if dtype_of(x, steps.steps) != form.kind or steps.shape_of(x) != form.shape:
        return None
    if len(steps.shape_of(v)) > len(place.shape):
        return None
    if not place.shape and (kind != "f8" or given not in (float, np.dtype(np.float64))):
        return None  # single numbers of other kinds
    root, made = known.memory_of.get(x.position, x.position) if type(x) is Slot else position, []
    if type(x) is not Slot or x.position not in known.owned or position != known.reader(x.position):
        root, copy = position, Group(form.shape)
        copy.of_step[root] = steps.value(copy, x, kind)
        made.append(copy)
    group = Group(place.shape)
    group.stored[root] = Stored(steps.value(group, v, kind), place.strides, None, place.offset)
    group.updated.add(root)
    return root, [*made, group]


def scattered(
    groups: "Grouping", position: int, form: ValueForm, x: Any, shape: Any, dtype: Any, index: Any
) -> bool:
    """Store what is scattered at a plain index into an array of zeros."""
    kind = kind_of_form(form)
    if type(x) is not Slot or kind == "b1" or has_slots(index) or not form.array:
        return False
    given = groups.steps[x.position].form
    if given is None or not given.array or groups.are_few(given.shape):
        return False
    whole = View(position, 0, form.shape, strides_of(form.shape))
    place = placed(getitem, (as_slice(index, form.shape),), {}, whole)
    if place is None or place.shape != given.shape:
        return False
    if given.kind == form.kind and groups.in_place.defers(position, form, x, place):
        return True
    if form.order == "C":
        groups.in_place.owned.add(position)
    number, group = groups.group(given.shape, [x])
    value = groups.value(group, x, kind)
    nothing = groups.value(group, 0, kind)
    value = group.op("add", value, nothing)  # of -0.0 and nothing it is 0.0
    group.stored[position] = Stored(value, place.strides, None, place.offset)
    groups.item_of[position] = number
    groups.note_stored(position)
    return True
