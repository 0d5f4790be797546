"""The numbers and arrays in a container that can be perturbed, and derivatives built of theirs."""

from collections.abc import Iterator
from functools import partial
from typing import Any

from ..annotations import Tangentlike, Value
from ..containers import Within, children, fold, iterate_leaves
from ..engines.inputs import is_perturbable_input
from ..tangents.structural import (
    AbstractZero,
    NoTangent,
    ZeroTangent,
    child_tangents,
    derivative_like,
    unthunk,
)


def leaves(x: Value) -> list:
    """Return the numbers and arrays in ``x`` that can be perturbed."""
    return [leaf for leaf in iterate_leaves(x) if is_perturbable_input(leaf)]


def tangent_leaves(x: Value, t: Tangentlike) -> list:
    """Return the parts of the tangent ``t`` that belong to ``leaves(x)``."""
    found: list[Any] = []

    def look(x: Value, t: Tangentlike) -> Any:
        t = unthunk(t)
        parts = children(x)
        if parts is not None:
            return Within(zip(parts.values, child_tangents(x, t)), list)
        if is_perturbable_input(x):
            found.append(ZeroTangent() if isinstance(t, AbstractZero) else t)
        return None

    fold(look, x, t)
    return found


def with_leaves(x: Value, values: Iterator) -> Any:
    """Return a derivative with the structure of ``x`` and the next ``values`` as its leaves."""

    def look(x: Value) -> Any:
        parts = children(x)
        if parts is None:
            return next(values) if is_perturbable_input(x) else NoTangent()
        return Within(zip(parts.values), partial(derivative_like, x))

    return fold(look, x)
