"""The numbers and arrays in a container that can be perturbed, and derivatives built of theirs."""

from collections.abc import Iterator
from typing import Any

from ..rules import AbstractZero, NoTangent, ZeroTangent, children, unthunk
from ..rules.surface import is_perturbable_input
from ..rules.tangents import child_tangents, derivative_like


def leaves(x: Any) -> list:
    """Return the numbers and arrays in ``x`` that can be perturbed."""
    parts = children(x)
    if parts is not None:
        return [leaf for part in parts.values for leaf in leaves(part)]
    return [x] if is_perturbable_input(x) else []


def tangent_leaves(x: Any, t: Any) -> list:
    """Return the parts of the tangent ``t`` that belong to ``leaves(x)``."""
    t = unthunk(t)
    if isinstance(t, AbstractZero):
        return [ZeroTangent() for _ in leaves(x)]
    parts = children(x)
    if parts is not None:
        given = child_tangents(x, t)
        pairs = zip(parts.values, given, strict=True)
        return [leaf for part, partdot in pairs for leaf in tangent_leaves(part, partdot)]
    return [t] if is_perturbable_input(x) else []


def with_leaves(x: Any, values: Iterator) -> Any:
    """Return a derivative with the structure of ``x`` and the next ``values`` as its leaves."""
    parts = children(x)
    if parts is None:
        return next(values) if is_perturbable_input(x) else NoTangent()
    return derivative_like(x, [with_leaves(part, values) for part in parts.values])
