"""Kind of functions that select entries: an operand moves where ``np.where`` took it."""

from typing import Any

import numpy as np

from ..annotations import Function, Tangentlike, Value
from ..tangents.project import Projector
from ..tangents.zeros import ZERO
from .kinds import Kind
from .sums import unbroadcast


class SelectionRule(Kind):
    """``f(condition, a, b)`` takes each entry from ``a`` or from ``b``, as ``np.where`` does."""

    __slots__ = ()
    label = "selection rule"
    adds = drops = elementwise = idles = True

    def __init__(self, f: Function, line: str) -> None:
        super().__init__(f, 3, set(), line)

    def push(self, i: int, xdot: Tangentlike, y: Value, args: tuple, kwargs: dict) -> Tangentlike:
        if i == 0:
            return ZERO
        return self.f(args[0], xdot, 0) if i == 1 else self.f(args[0], 0, xdot)

    def pull(
        self, i: int, ybar: Tangentlike, y: Value, args: tuple, kwargs: dict, space: Projector
    ) -> Tangentlike:
        if i == 0:
            return ZERO
        xbar = self.f(args[0], ybar, 0) if i == 1 else self.f(args[0], 0, ybar)
        return unbroadcast(xbar, space.shape)

    def counts(
        self, i: int, flags: Value, shape: tuple, args: tuple, kwargs: dict, space: Projector
    ) -> Tangentlike:
        chosen = args[0] if i == 1 else np.logical_not(args[0])
        chosen = np.broadcast_to(chosen, shape) if flags is None else chosen * flags
        return unbroadcast(chosen, space.shape)

    def kept(self, active: list, y: Value, args: tuple) -> tuple[Any, tuple]:
        return None, (args[0], None, None)
