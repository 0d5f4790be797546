"""Quantities of astropy and unyt: containers of one magnitude, whose unit is constant.

``cr.grad(lambda q: (q**2).to_value("m2"))(3.0 * u.km)`` is ``6e6``: the derivative is that of the
magnitude, plain, in the units of the result for one unit of the argument.
"""

import importlib
import operator
from collections.abc import Callable
from typing import Any, cast

import numpy as np

from ...rules.engines.registration import children_by
from ...rules.known_classes import Children, Table, quantities, registered, rests, tables
from ...rules.tracing.level import Traced
from .packages import Package
from .quantity import TracedQuantity, answered, lifted

__all__ = ["TracedQuantity"]

_LABELS = frozenset({np.multiply, operator.mul, operator.lshift})


def register(name: str) -> None:
    """Let the quantities of a package be containers, which traced values compute with."""
    package: Package = importlib.import_module(f"{__name__}.{name}").PACKAGE
    by_magnitude = children_by(
        lambda q: {"magnitude": package.magnitude(q)},
        lambda q, parts: _with_magnitude(package, q, package.unit_of(q), parts["magnitude"]),
    )
    quantity, unit = package.classes
    registered[quantity] = lambda q: cast(
        Children, None if package.left_out(q) else by_magnitude(q)
    )
    rests[quantity] = lambda q: (
        type(q), package.told(package.unit_of(q)),
        {name: v for name, v in vars(q).items() if not name.endswith(package.unit)},
    )  # fmt: skip
    quantities.add(quantity)
    for cls in (quantity, unit):
        tables[cls] = Table(
            lambda operation, a, b: operate(package, operation, a, b),
            package.magnitude,
            lambda f, args, kwargs: answered(package, f, args, kwargs),
        )


def _with_magnitude(package: Package, like: Any, unit: Any, magnitude: Any) -> Any:
    """Return a quantity with another magnitude, which may be traced, a tangent, or a mark."""
    if isinstance(magnitude, Traced) or not isinstance(
        magnitude, np.ndarray | float | complex | np.generic
    ):
        return TracedQuantity(package, like, magnitude, unit)
    return package.quantity(like, magnitude, unit)


def operate(package: Package, operation: Callable, a: Any, b: Any) -> Any:
    """Return ``operation(a, b)`` of a traced value and a quantity or a unit."""
    if operation in _LABELS:
        for x, other in ((a, b), (b, a)):
            if isinstance(x, Traced) and isinstance(other, package.classes[1]):
                return TracedQuantity(package, package.plain, x, other)
    return answered(package, operation, (a, b), {})


registered[TracedQuantity] = children_by(
    lambda q: {"magnitude": q.magnitude},
    lambda q, parts: _with_magnitude(q.package, q.like, q.of_unit, parts["magnitude"]),
)
rests[TracedQuantity] = lambda q: rests[q.package.classes[0]](q.plain())
quantities.add(TracedQuantity)
tables[TracedQuantity] = Table(
    lambda operation, a, b: operate(
        (a if type(a) is TracedQuantity else b).package, operation, a, b
    ),
    lambda q: q.magnitude,
    lambda f, args, kwargs: NotImplemented,
)
