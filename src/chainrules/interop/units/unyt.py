"""unyt's quantities and units, in the words of ``packages.py``."""

import functools
from typing import Any

import numpy as np
import unyt

from ...rules.refusals.table import refusal
from .packages import Package


def _quantity(like: Any, magnitude: Any, unit: Any) -> Any:
    x, cls = np.asarray(magnitude), type(like)
    if issubclass(cls, unyt.unyt_quantity) == (x.ndim > 0):
        cls = unyt.unyt_array if x.ndim > 0 else unyt.unyt_quantity
    return cls(x, unit)


def _convert(magnitude: Any, unit: Any, other: Any, equivalence: Any = None) -> Any:
    if equivalence is not None:
        raise refusal(
            "quantity",
            what=f"equivalence={equivalence!r}",
            cls="unyt_array",
            instead="the formula of the equivalence, such as h * c / q",
        )
    factor, offset = unit.get_conversion_factor(unyt.Unit(other, registry=unit.registry))
    y = magnitude * factor
    return y - offset if offset else y


PACKAGE = Package(
    name=__name__,
    unit="units",
    plain=unyt.unyt_quantity(1.0, "dimensionless"),
    quantity=_quantity,
    convert=_convert,
    base=functools.lru_cache(maxsize=1024)(lambda unit: unit.get_base_equivalent("mks")),
    told=lambda unit: (str(unit), unit.base_value, unit.base_offset, str(unit.dimensions)),
    is_offset=lambda unit: unit.base_offset != 0.0,
    views=frozenset({"d", "ndview"}),
    copies=frozenset({"value", "v"}),
    conversions=frozenset({"to", "in_units", "in_base", "in_mks", "in_cgs"}),
    classes=(unyt.unyt_array, unyt.Unit),
    left_out=lambda _: False,
)
