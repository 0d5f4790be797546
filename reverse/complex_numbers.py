"""Entries of complex numbers: those of elementwise rules whose operands or result are complex.

The entry of a function of complex numbers is that of floats, with the conjugates of its partials as
factors of cotangents. A real operand is taken as a complex one before, a real result is the real
part of a complex one, each by a ``FieldNode``:

``abs(z)`` appends ``(z, z / abs(z))``, which moves as the complex product, and then the real part.
"""

from typing import TYPE_CHECKING, Any

import numpy as np

from ..rules import Traced
from ..rules.annotations import Tangentlike, Value
from ..rules.shapes import COMPLEX128, FIELDS, FLOAT64
from ..rules.table.kinds import Kind, ScalarRule, Shares
from ..rules.table.structural_zeros import Masked
from ..rules.tangents.project import cast
from .cotangents import Cotangents
from .entries import DISCARDED, TapeNode, append

if TYPE_CHECKING:
    from .tape import Tape


class FieldNode(TapeNode):
    """A number in another field than its ``parent``, of ``dtype``: as complex, or its real part."""

    __slots__ = ("dtype", "parent")
    sensitive = True

    def __init__(self, parent: int, dtype: np.dtype) -> None:
        self.parent = parent
        self.dtype = dtype

    def pull(self, ybar: Tangentlike, cotangents: Cotangents) -> None:
        if type(ybar) is Masked:
            xbar = Masked(cast(ybar.value, self.dtype), ybar.alive)
            cotangents.add(self.parent, xbar)
        else:
            cotangents.add(self.parent, cast(ybar, self.dtype))

    def push(self, t: Any) -> Any:
        """Return the tangent of the number, given that of the parent; None is zero."""
        return None if t is None else cast(t, FLOAT64 if self.dtype is COMPLEX128 else COMPLEX128)

    def parents(self) -> tuple[int, ...]:
        return (self.parent,)


def record_number(tape: "Tape", kind: Kind, args: tuple, values: tuple, y: Value) -> Any:
    """Record a number computed from complex ones, or itself complex, and return it traced.

    None where the rule is not elementwise, no number is complex, an active one is neither of
    float64 nor of complex128, or there are more than two, of which no entry has the form.
    """
    field = FIELDS.get(y.__class__)
    if field is None or type(kind) is not ScalarRule or tape.carries(y):
        return None
    active = [i for i, x in enumerate(args) if isinstance(x, Traced) and x.at_level is tape]
    fields = [FIELDS.get(values[i].__class__) for i in active]
    known = all(of_x is not None for of_x in fields)  # a dtype of float64 is equal to None
    if len(active) not in (1, 2) or not known or (field is FLOAT64 and COMPLEX128 not in fields):
        return None
    entries = tape.entries
    if entries is DISCARDED:
        return tape.wrap(y, ())
    operands = kind.operands(values, y)
    entry: list[Any] = []
    for i, of_x in zip(active, fields, strict=True):
        partial = kind.partial(i, y, operands)
        if type(partial) is Shares:
            return None
        position = args[i].position
        if of_x is FLOAT64:
            position = append(entries, (FieldNode(position, FLOAT64),))
        entry += position, conjugate(partial)
    if field is COMPLEX128:
        return tape.wrap(y, tuple(entry))
    return tape.wrap(y, (FieldNode(append(entries, tuple(entry)), COMPLEX128),))


def conjugate(factor: Any) -> Any:
    """Return the conjugate of a partial, one of NumPy's numbers; a real one as it is.

    It is the factor of cotangents in an entry; of that of an entry, it is the factor of tangents.
    """
    cls = factor.__class__
    if cls is int or FIELDS.get(cls) is FLOAT64:
        return factor
    if issubclass(type(factor), complex):  # of which NumPy's method takes longer
        return np.complex128(complex.conjugate(factor))
    return np.conjugate(factor)
