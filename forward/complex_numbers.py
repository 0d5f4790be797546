"""Tangents of complex numbers: elementwise rules whose operands or result are complex.

A tangent is the sum of products with partials; that of a real result is its real part.
"""

from typing import Any

from ..rules import Traced
from ..rules.annotations import Value
from ..rules.engines.engine import Engine
from ..rules.shapes import FIELDS
from ..rules.table.kinds import ScalarRule, Shares
from ..rules.tangents.fitting import cast


def share_of_numbers(level: Engine, kind: ScalarRule, args: tuple, values: tuple, y: Value) -> Any:
    """Return what a slot holds for the number ``y``, one of ``FIELDS``.

    None where an operand of the level is no number of these, or at a tie that is differentiated
    again.
    """
    operands = kind.operands(values, y)
    ydot = None
    for i, x in enumerate(args):
        if isinstance(x, Traced) and x.at_level is level:
            partial = kind.partial(i, y, operands)
            if FIELDS.get(values[i].__class__) is None or type(partial) is Shares:
                return None
            share = x.tangent * partial
            ydot = share if ydot is None else ydot + share
    return None if ydot is None or level.carries(y) else cast(ydot, FIELDS[y.__class__])
