"""Tasks for workers: evaluate one item, keep its tape there, pull a cotangent back."""

from collections.abc import Iterable
from functools import partial
from typing import Any

import numpy as np

from .....config import ArgumentTypeError, rrule_via_ad, value_via_ad
from .... import (
    ZERO,
    AbstractZero,
    NotImplementedTangent,
    add,
    children,
    describe,
    dtype_of,
    iterate_leaves,
    shape_of,
)
from .items import pulled_leaves, refuse_another


class SharedCall:
    """Common part of all items of a map: the function ``h``, and the ``shared`` values.

    ``back`` is the way back, ``config`` that of the engine that asks for one.
    """

    def __init__(self, h: Any, shared: tuple, config: Any = None, back: str | None = None) -> None:
        self.h, self.shared, self.config, self.back = h, shared, config, back


def run_item(call: SharedCall, data: Any, own: tuple) -> tuple:
    return call.h(data, call.shared, own)


def run_aside(call: SharedCall, data: Any, own: tuple) -> tuple:
    """Evaluate an item in the memory of the caller, where what ``f`` leaves behind may be read."""
    return value_via_ad(call.config, partial(call.h, data), call.shared, own)


class HeldResult:
    """Result of one item, with its tape or its slopes, in the memory of the worker that ran it.

    Pickled it is its recipe. Wherever it arrives it is evaluated again, when it is needed.
    """

    def __init__(self, call: SharedCall, data: Any, own: tuple) -> None:
        self.recipe = call, data, own
        self.y: Any = None
        self.pullback: Any = None
        self.slopes: tuple | None = None

    def __reduce__(self) -> tuple:
        return HeldResult, self.recipe

    def __sizeof__(self) -> int:
        """Say what it would take to move it: a scheduler asks."""
        call, data, own = self.recipe
        parts = (call.shared, data, own) if self.slopes is None else (data, own, self.slopes)
        return object.__sizeof__(self) + bytes_in(parts)

    def value(self) -> tuple:
        """Return what the item gave."""
        if self.y is None:
            call, data, own = self.recipe
            y, pullback = rrule_via_ad(call.config, partial(call.h, data), call.shared, own)
            if has_slopes(y, call.back):
                self.slopes = slopes_of(pullback, y, call.shared, own)
            else:
                self.pullback = pullback
            self.y = y
        return self.y

    def pull(self, addbars: tuple, givebars: tuple, expected: list) -> tuple[tuple, tuple]:
        """Pull cotangents back of what was ``expected``; it may have been evaluated once more."""
        y = self.value()
        call, _, own = self.recipe
        refuse_another(call.h, expected, y[1])
        if self.slopes is not None:
            return scaled(self.slopes, givebars)
        return pulled_leaves(self.pullback, y, call.shared, own, addbars, givebars)


def bytes_in(x: Any) -> int:
    return sum([part.nbytes for part in iterate_leaves(x) if isinstance(part, np.ndarray)])


def hold(call: SharedCall, data: Any, own: tuple) -> HeldResult:
    held = HeldResult(call, data, own)
    held.value()
    return held


def value_of(_: None, held: HeldResult) -> tuple:
    return held.value()


def pull(addbars: tuple, held: HeldResult, givebars: tuple, expected: list) -> tuple:
    return held.pull(addbars, givebars, expected)


def with_slopes(call: SharedCall, data: Any, own: tuple) -> tuple[tuple, tuple | None]:
    """Return what the item gave, and its slopes if that is one number."""
    held = hold(call, data, own)
    return held.value(), held.slopes


def with_light_slopes(limit: int, held: HeldResult) -> tuple[tuple, tuple | None]:
    """Return what the item gave, and its slopes if they take at most ``limit`` bytes."""
    y, slopes = held.value(), held.slopes
    return y, slopes if slopes is not None and bytes_in(slopes) <= limit else None


# ---- one number an item: its gradient is found in the same task ------------------------------


def has_slopes(y: tuple, back: str | None) -> bool:
    """Say whether ``y`` is one real number, whose slopes stand for its tape.

    Raises
    ------
    TypeError
        If it is not, and slopes were asked for by name.
    """
    adds, gives = y
    is_real = children(gives) is None and shape_of(gives) == () and _dtype_kind(gives) == "f"
    found = not adds and is_real and back != "tape"
    if back == "slopes" and not found:
        raise ArgumentTypeError(
            "cr.map(..., back='slopes') needs a function that returns one real number for each "
            f"item, and it returned {describe(gives)}.\n  leave out back"
        )
    return found


def _dtype_kind(x: Any) -> str:
    dtype = dtype_of(x)
    return "" if dtype is None else dtype.kind


def slopes_of(pullback: Any, y: tuple, shared: tuple, own: tuple) -> tuple[tuple, tuple]:
    return pulled_leaves(pullback, y, shared, own, (), (np.ones_like(y[1])[()],))


def scaled(slopes: tuple[tuple, tuple], givebars: tuple) -> tuple:
    """Return what pulls the cotangent of the one number back, by its slopes."""
    (ybar,) = givebars
    return tuple([tuple([_scaled(slope, ybar) for slope in part]) for part in slopes])


def _scaled(slope: Any, ybar: Any) -> Any:
    if isinstance(ybar, AbstractZero):
        return ZERO
    if isinstance(slope, AbstractZero | NotImplementedTangent):
        return slope
    return slope * ybar


# ---- sums ------------------------------------------------------------------------------------


def added(columns: Iterable[tuple]) -> tuple | None:
    """Return the sums of the first parts of all, of the second, ...; None where there are none."""
    total = None
    for column in columns:
        total = column if total is None else tuple(map(add, total, column))
    return total


def add_first(_: None, results: list) -> tuple | None:
    """Add up what items add, where they are."""
    return added([adds for adds, _ in results])


def add_again(_: None, results: list) -> tuple | None:
    return added(results)


def second(_: None, result: tuple) -> Any:
    return result[1]
