"""The arguments of a test: their tangents, and proof that nobody wrote into them."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Any

import numpy as np

from ..config import ArgumentValueError
from ..rules import AbstractZero, children
from .coordinates import Coordinates
from .plan import is_sparse, label
from .random_tangents import rand_tangent

__all__ = ["Snapshot", "paired", "primal_with_tangent"]


@dataclasses.dataclass(frozen=True, eq=False)
class PrimalWithTangent:
    """An argument of a test together with the tangent to use for it."""

    x: Any
    xdot: Any


def primal_with_tangent(x: Any, xdot: Any) -> PrimalWithTangent:
    """Choose the tangent of an argument of ``test_frule``, ``test_rrule`` or ``check_grad``.

    Parameters
    ----------
    x : Any
        The argument.
    xdot : Any
        Its tangent. ``NoTangent()`` keeps the argument out of the test: it is not differenced
        and its cotangent is not compared. A tangent for an integer, or for an array of them,
        makes the test treat it as a real number.

    Examples
    --------
    >>> import numpy as np
    >>> import chainrules as cr
    >>> from chainrules.testing import test_rrule
    >>> report = test_rrule(np.power, 2.5, primal_with_tangent(3, cr.NoTangent()))
    """
    return PrimalWithTangent(x, xdot)


def paired(given: tuple, rng: np.random.Generator) -> tuple[tuple, tuple, tuple]:
    """Arguments, their tangents, and which of these the caller has chosen."""
    primals, tangents, choices = [], [], []
    for argument in given:
        chosen = isinstance(argument, PrimalWithTangent)
        x = argument.x if isinstance(argument, PrimalWithTangent) else argument
        xdot = argument.xdot if isinstance(argument, PrimalWithTangent) else rand_tangent(x, rng)
        if chosen and not isinstance(xdot, AbstractZero):
            space = Coordinates(x, xdot)
            if children(x) is None and np.shape(xdot) != np.shape(x):
                raise ArgumentValueError(
                    f"the tangent has shape {np.shape(xdot)}, its argument {np.shape(x)}."
                )
            xdot = space.tangent(space.pack(xdot))
        primals.append(x)
        tangents.append(xdot)
        choices.append(chosen)
    return tuple(primals), tuple(tangents), tuple(choices)


class Snapshot:
    """Copies of everything in some values that can be written into, to compare with later.

    Examples
    --------
    >>> import numpy as np
    >>> x = [np.zeros(2), np.zeros(3)]
    >>> before = Snapshot({"x": x})
    >>> x[1][0] = 7
    >>> before.changed()
    'x[1]'
    """

    __slots__ = ("copies", "values")

    def __init__(self, values: dict[str, Any]) -> None:
        self.values = values
        self.copies = {
            path: part.copy() if _writable(part) else part for path, part in self.parts()
        }

    def parts(self) -> Iterator[tuple[str, Any]]:
        """Every part that may change, with its path."""
        for name, value in self.values.items():
            yield from _named_parts(value, name)

    def changed(self) -> str | None:
        """The path of the first part that is not what it was, or None."""
        now = dict(self.parts())
        for path in {**self.copies, **now}:
            if path not in now or path not in self.copies:
                return path
            if not _same(now[path], self.copies[path]):
                return path
        return None


def _writable(x: Any) -> bool:
    return isinstance(x, np.ndarray) or is_sparse(x)


def _named_parts(x: Any, path: str) -> Iterator[tuple[str, Any]]:
    parts = None if is_sparse(x) else children(x)
    if parts is not None:
        for key, part in zip(parts.keys, parts.values, strict=True):
            yield from _named_parts(part, path + label(x, key))
    elif _writable(x) or isinstance(x, float | complex | int | str | None):
        yield path, x


def _same(a: Any, b: Any) -> bool:
    if is_sparse(a):
        return a.shape == b.shape and np.array_equal(a.toarray(), b.toarray(), equal_nan=True)
    if isinstance(a, np.ndarray):
        kinds = "fc" if a.dtype.kind in "fc" else ""
        same = isinstance(b, np.ndarray) and a.dtype == b.dtype
        return same and np.array_equal(a, b, equal_nan=bool(kinds))
    return a is b or a == b or (a != a and b != b)
