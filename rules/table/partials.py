"""Partials of products and quotients, by name: the accelerator computes these itself."""

from typing import Any


def first(_y: object, x: Any, _z: object) -> Any:
    """Return the first operand: the partial of a product in its second."""
    return x


def second(_y: object, _x: object, z: Any) -> Any:
    """Return the second operand: the partial of a product in its first."""
    return z


def over_second(_y: object, _x: object, z: Any) -> Any:
    """Return the partial of a quotient in its first operand."""
    return 1 / z


def minus_quotient_over_second(y: Any, _x: object, z: Any) -> Any:
    """Return the partial of a quotient in its second operand."""
    return -y / z
