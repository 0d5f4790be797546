"""astropy's quantities and units, in the words of ``packages.py``."""

import functools
from typing import Any

from astropy import units
from astropy.utils.masked import Masked

from .packages import Package


def _convert(magnitude: Any, unit: Any, other: Any, equivalencies: Any = ()) -> Any:
    return unit.get_converter(units.Unit(other), list(equivalencies))(magnitude)


@functools.lru_cache(maxsize=1024)
def _base(unit: Any) -> Any:
    scaled = unit.decompose()
    return scaled / scaled.scale


def _told(unit: Any) -> tuple:
    base = unit.decompose()
    return str(unit), base.scale, tuple(map(str, base.bases)), tuple(map(float, base.powers))


PACKAGE = Package(
    name=__name__,
    unit="unit",
    plain=units.Quantity(1.0),
    quantity=lambda like, magnitude, unit: like._new_view(magnitude, unit, propagate_info=False),
    convert=_convert,
    base=_base,
    told=_told,
    is_offset=lambda _: False,  # degrees Celsius become kelvin by an equivalency alone
    views=frozenset({"value"}),
    copies=frozenset(),
    conversions=frozenset({"to", "si", "cgs", "decompose"}),
    classes=(units.Quantity, units.UnitBase),
    left_out=lambda q: (
        isinstance(q, units.function.FunctionQuantity | Masked) or q.dtype.names is not None
    ),
)
