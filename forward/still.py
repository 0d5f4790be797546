"""Structural zeros of tangents: entries that come from nothing that moves.

``np.sqrt(np.where(x > 0, x, 0.0))`` has an infinite slope where the other branch was taken, and
the tangent there is no number that happens to be zero: it is 0 whatever it is multiplied by. So
``np.where`` of a branch that does not move, ``np.pad`` and ``np.diag`` give tangents that know
which of their entries move; elementwise functions, moves of entries, sums and reductions hand that
on. What else is done with such a tangent sees plain zeros.
"""

from typing import Any

import numpy as np

from ..rules import ZERO, AbstractZero, ProjectTo, Traced, is_array, is_lazy
from ..rules.annotations import Index, Tangentlike, Value
from ..rules.shapes import dtype_of, shape_of
from ..rules.table.kinds import Kind, ScalarRule
from ..rules.table.pullback import fit_tangent
from ..rules.table.reduction_kind import ReductionRule
from ..rules.table.selection_kind import SelectionRule
from ..rules.table.structural_zeros import counts_of

BOOL = np.dtype(bool)


class Moving:
    """A tangent whose entries are structurally zero where not ``moves``.

    What ``held`` has there means nothing: an infinite slope may have met the zero. ``moves`` may
    have fewer axes, and is broadcast.
    """

    __slots__ = ("held", "moves")

    def __init__(self, held: Any, moves: Any) -> None:
        self.held = held
        self.moves = moves

    def settled(self) -> Any:
        """Return the tangent as plain numbers."""
        return np.where(self.moves, self.held, 0)

    def __array_ufunc__(
        self, ufunc: np.ufunc, method: str, *inputs: object, **kwargs: object
    ) -> Any:
        if method != "__call__" or kwargs or ufunc not in (np.multiply, np.add):
            return NotImplemented
        other = inputs[1] if inputs[0] is self else inputs[0]
        return self * other if ufunc is np.multiply else self + other

    def __mul__(self, partial: Any) -> "Moving":
        return Moving(self.held * partial, self.moves)

    __rmul__ = __mul__

    def __add__(self, other: Any) -> Any:
        if type(other) is Moving:
            if self.moves is other.moves:  # as nearly always: they come from one selection
                return Moving(self.held + other.held, self.moves)
            return Moving(self.settled() + other.settled(), np.logical_or(self.moves, other.moves))
        return self.settled() + other

    __radd__ = __add__

    def __getitem__(self, index: Index) -> Any:
        part = self.held[index]
        shape, moves = shape_of(self.held), self.moves
        # Of numbers read one by one the broadcast takes longer than all else.
        moves = (moves if shape_of(moves) == shape else np.broadcast_to(moves, shape))[index]
        return Moving(part, moves) if is_array(part) else part if moves else ZERO


def unmarked(t: Tangentlike) -> Any:
    """Return a tangent as plain numbers."""
    return t.settled() if type(t) is Moving else t


def still_beside(kind: Kind, tangents: list, ydot: Any, values: tuple, kwargs: dict) -> Any:
    """Return the tangent of what was selected, or padded, with which of its entries move."""
    if type(kind) is not SelectionRule:
        (t,) = tangents
        if isinstance(t, AbstractZero) or not is_array(ydot):
            return ydot
        moves = kind.idles(shape_of(t), **kwargs)
        return ydot if moves is None else Moving(ydot, moves)
    first, second = [not isinstance(t, AbstractZero) for t in tangents[1:]]
    if first is second or not is_array(ydot) or is_lazy(ydot):
        return ydot
    chosen = values[0] if dtype_of(values[0]) is BOOL else np.not_equal(values[0], 0)
    # Marks of its own: the user may write another condition into that array.
    return Moving(ydot, np.copy(chosen) if first else np.logical_not(chosen))


def moves_of(t: Tangentlike) -> Any:
    """Say which entries of a tangent move."""
    return t.moves if type(t) is Moving else not isinstance(t, AbstractZero)


def push_moving(kind: Kind, tangents: list, y: Value, values: tuple, kwargs: dict) -> Any:
    """Push tangents through a kind, of which at least one is ``Moving``."""
    if type(kind) is ScalarRule:
        return fitted(kind.push_all(tangents, y, values, kwargs), y)
    t = tangents[0]
    plain = [unmarked(t) for t in tangents]
    if type(t) is Moving and type(kind) is ReductionRule and kind.again is None:
        return reduced(kind, t, y, values, kwargs)
    ydot = kind.push_all(plain, y, values, kwargs)
    if type(kind) is SelectionRule and is_array(ydot):
        first, second = map(moves_of, tangents[1:])
        return fitted(Moving(ydot, np.where(values[0], first, second)), y)
    if type(t) is not Moving or not (kind.linear and kind.adds):
        return ydot
    moves = moves_after(kind, t, shape_of(t.held), values, kwargs)
    if not is_array(y):
        return ZERO if is_still(moves) else ydot
    return fitted(Moving(ydot, np.not_equal(moves, 0)), y)


def moves_after(kind: Kind, t: Moving, shape: tuple[int, ...], values: tuple, kwargs: dict) -> Any:
    """Return what is 0 where an entry of the result of a linear kind comes from none that moves."""
    if kind.elementwise:  # of the imaginary part of real flags nothing would be left
        return t.moves
    moves = t.moves if shape_of(t.moves) == shape else np.broadcast_to(t.moves, shape)
    return kind.push(0, counts_of(moves), None, values, kwargs)


def pushed(kind: Kind, tangents: list, y: Value, values: tuple, kwargs: dict) -> Any:
    """Push tangents, of which some may be ``Moving``, through a kind. ``fit_tangent`` it."""
    if Moving in map(type, tangents):
        return push_moving(kind, tangents, y, values, kwargs)
    ydot = kind.push_all(tangents, y, values, kwargs)
    if kind.idles:
        return fitted(still_beside(kind, tangents, ydot, values, kwargs), y)
    return ydot


def fitted(ydot: Tangentlike, y: Value) -> Any:
    """Return a tangent in the shape and dtype of ``y``."""
    if type(ydot) is not Moving or not is_array(y):
        return unmarked(ydot)
    space = ProjectTo(y)
    held = ydot.held
    return ydot if space.holds(held) else Moving(space(fit_tangent(held, y)), ydot.moves)


def reduced(kind: ReductionRule, t: Moving, y: Value, values: tuple, kwargs: dict) -> Any:
    """Push through a reduction, whose weights may be infinite or NaN where nothing moves."""
    (x,) = values
    axis, keepdims = kwargs.get("axis", kind.axis), kwargs.get("keepdims", False)
    terms = t * kind.weights_at(x, y, axis, kwargs)
    counted = np.logical_and(np.broadcast_to(t.moves, shape_of(x)), kind.counted(x, kwargs))
    terms = np.where(counted, terms.held, 0)
    ydot = np.sum(terms, axis=axis, dtype=kwargs.get("dtype"), keepdims=keepdims)
    if not is_array(y):
        return ZERO if is_still(counted) else ydot
    return fitted(Moving(ydot, np.any(counted, axis=axis, keepdims=keepdims)), y)


def is_still(moves: Any) -> bool:
    """Say whether nothing moves; of what is recorded or computed later nobody knows."""
    if type(moves) is np.float64:
        return not moves
    return not (isinstance(moves, Traced) or is_lazy(moves)) and not np.any(moves)
