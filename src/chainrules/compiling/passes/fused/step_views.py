"""Views among steps: where the result of a step lies in the array that it is a view of."""

from typing import TYPE_CHECKING

import numpy as np

from ....rules import getitem
from ....rules.linear.steps import Slot
from ...ir.dtypes import KINDS, PARTS
from ...ir.lowering import lowering_of
from ...ir.references import has_slots
from ...ir.strides import View, can_be_made, has_order, placed
from ...native import Operation

if TYPE_CHECKING:
    from .groups import Grouping

# Lowerings that give a part of complex numbers, by their names.
PARTS_OF = {"real": 0, "imag": 1}


def is_made_of_base(groups: "Grouping", position: int, view: View) -> bool:
    """Say whether NumPy makes a view at once of the array that it is a part of."""
    form = groups.steps[position].form
    if view.base not in groups.contiguous or view.part is not None:
        return False
    if form is None or not form.array:
        return False
    return position in groups.whole_of or can_be_made(view, groups.steps[view.base].form)


def view_of(groups: "Grouping", step: Operation) -> View | None:
    """Return where the result of a step lies in the array that it is a view of."""
    f, args, kwargs, form, _ = step
    row = lowering_of(f)
    if not row.views and row.does not in PARTS_OF:
        return None
    if not args or type(args[0]) is not Slot:
        return None
    source = groups.steps[args[0].position].form
    if form is None or source is None or not source.array:
        return None
    if not form.array and not (groups.many and f is getitem and form.kind is np.float64):
        return None
    if has_slots((args[1:], kwargs)) or source.kind not in KINDS or not source.shape:
        return None
    known = groups.views.get(args[0].position) or groups.whole(args[0].position)
    if known.base not in groups.contiguous and has_order((args[1:], kwargs)):
        return None
    if row.does in PARTS_OF:
        if KINDS[source.kind] not in PARTS:
            return None
        return View(known.base, known.offset, known.shape, known.strides, PARTS_OF[row.does])
    place = placed(f, args[1:], kwargs, known)
    return place if place is not None and place.shape == form.shape else None
