"""Packages of units: the words that ours asks each of them by, for its quantities and its units."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ...rules.tracing.object_arrays import healed


class Package(NamedTuple):
    """Words of a package of units.

    ``convert(magnitude, unit, other, *how)`` computes with operators alone; ``base(unit)`` is the
    unit of a coherent system that has the same dimensions.
    """

    name: str  # of the module here that has the words
    unit: str  # the attribute of a quantity
    plain: Any  # a quantity, of numbers
    quantity: Callable[[Any, Any, Any], Any]  # of the class of one, with a magnitude and a unit
    convert: Callable[..., Any]
    base: Callable[[Any], Any]
    told: Callable[[Any], tuple]  # by which a unit is told from others
    is_offset: Callable[[Any], bool]
    views: frozenset[str]  # attributes: the magnitude as it stands, in the same memory
    copies: frozenset[str]  # the same in memory of its own, which ``to_value`` gives as well
    conversions: frozenset[str]  # attributes and methods: the quantity in another unit
    classes: tuple[type, type]  # of its quantities and of its units
    left_out: Callable[[Any], bool]  # whether a quantity is of another kind, such as decibel

    def unit_of(self, q: Any) -> Any:
        return getattr(q, self.unit)

    def magnitude(self, q: Any) -> Any:
        """Return the number or the array in a quantity; a traced one where its objects are."""
        return healed(q.view(np.ndarray))[()]

    def same(self, unit: Any, other: Any) -> bool:
        """Say whether two units are one, with the same zero."""
        if unit is other:
            return True
        return bool(unit == other) and not (self.is_offset(unit) or self.is_offset(other))
