"""pint's quantities: containers of one number or array, whose unit is constant.

``cr.grad(lambda x: (x**2).to("m2").magnitude)(3.0 * u.km)`` is ``6e6``: the derivative is that of
the magnitude, plain, in the units of the result for one unit of the argument. pint is not imported
here: who has one of its objects has imported it.
"""

import importlib
from typing import Any

from ..rules.engines.registration import children_by
from ..rules.known_classes import quantities, registered, rests
from ..rules.refusals.table import refusal


def register_pint() -> None:
    """Let pint's quantities be containers."""
    cls = importlib.import_module("pint").Quantity
    registered[cls] = children_by(lambda q: {"magnitude": q._magnitude}, _with_magnitude)
    rests[cls] = lambda q: (str(q._units), q._REGISTRY)
    quantities.add(cls)


def _with_magnitude(q: Any, parts: dict) -> Any:
    """Return a quantity of the unit of ``q``, if it keeps the magnitude as it is."""
    (magnitude,) = parts.values()
    made = type(q)(magnitude, q._units)
    if made._magnitude is not magnitude:
        raise refusal("rebuild replaces", cls=type(q).__name__, name="magnitude")
    return made
