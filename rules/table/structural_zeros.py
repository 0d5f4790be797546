"""Structural zeros: cotangents that know which of their entries nothing was selected from.

``np.where(x > 0, np.log(x), 0)`` sends zeros back to the entries of ``np.log(x)`` that it did
not select. Such zeros are no numbers that happen to be zero: whatever the derivative of the log is
there, even infinite or NaN, it contributes nothing. A numeric zero gets no such treatment, so
that ``sqrt(x)**2`` at 0 is not silently 0.
"""

import math
from typing import Any

import numpy as np

from ..annotations import Function, Tangentlike, Value
from ..shapes import is_foreign_array, is_lazy
from ..tracing.level import Traced


class Masked:
    """A cotangent whose entries are structurally zero where ``alive`` is False."""

    __slots__ = ("alive", "value")

    def __init__(self, value: Tangentlike, alive: Value) -> None:
        self.value = value
        self.alive: Any = plain_array(alive)  # of a 0-d array NumPy's comparisons make a number

    def __array_ufunc__(
        self, ufunc: np.ufunc, method: str, *inputs: object, **kwargs: object
    ) -> Any:
        if method != "__call__" or kwargs or len(inputs) != 2:
            return NotImplemented
        a, b = inputs
        other = b if a is self else a
        if ufunc is np.multiply:
            return self * other
        return self + other if ufunc is np.add else NotImplemented

    def __mul__(self, partial: Any) -> Any:
        if all_alive(self.alive):
            return partial * self.value
        # The product is NaN where an infinite partial meets a structural zero; it is not read.
        with np.errstate(invalid="ignore"):
            product = partial * self.value
        return Masked(zeroed(product, partial, self.alive), self.alive)

    __rmul__ = __mul__

    def __add__(self, other: Value) -> Any:
        if isinstance(other, Masked):
            return Masked(self.value + other.value, self.alive | other.alive)
        return self.value + other

    __radd__ = __add__


def plain_array(x: Value) -> Any:
    """Return an array, but of what a recording holds that itself: an array would be looked at.

    And an array of another library: one of dask would be computed.
    """
    known = type(x) is np.ndarray or isinstance(x, Traced) or is_foreign_array(x)
    return x if known else np.asarray(x)


def all_alive(alive: Any) -> bool:
    """Say whether no entry is structurally zero; of what is computed later nobody knows."""
    if type(alive) is np.ndarray:
        return bool(alive.all())
    return not is_lazy(alive) and bool(np.all(alive))


def counts_of(alive: Any) -> Any:
    """Return 1.0 where ``alive``, and 0.0 elsewhere."""
    theirs = isinstance(alive, Traced) or is_foreign_array(alive)
    return 1.0 * alive if theirs else np.asarray(alive, float)


def zeroed(product: Any, partial: Any, alive: Any) -> Any:
    """Return ``partial * value``, where ``value`` is zero, with zeros where not ``alive``."""
    if type(partial) in (int, float):
        finite = math.isfinite(partial)
    else:
        # A sum is finite only where all entries are, and takes a fifth of the time.
        with np.errstate(over="ignore", invalid="ignore"):
            finite = type(product) is np.ndarray and bool(np.isfinite(np.add.reduce(product, None)))
    return product if finite else np.where(alive, product, 0)


# Functions of several outputs whose pullbacks are told which entries nothing was selected from.
told_of_masks: set[Any] = set()


def is_told_of_masks(f: Function) -> bool:
    """Say whether the pullback of ``f`` takes cotangents with structural zeros."""
    return type(f).__hash__ is not None and f in told_of_masks


# Functions with rules by hand of which each entry of a result depends on that entry of the first
# argument alone: structural zeros stay where they are.
zeros_pass: set[Any] = set()


def do_zeros_pass(f: Function) -> bool:
    """Say whether structural zeros pass the pullback of ``f`` as they are."""
    return type(f).__hash__ is not None and f in zeros_pass


def masked(value: Tangentlike, alive: Value) -> Tangentlike:
    """Return a cotangent whose entries are structurally zero where not ``alive``, if any is."""
    return value if all_alive(alive) else Masked(value, alive)


def settled(ybar: Masked) -> Any:
    """Return a cotangent, of plain numbers where none of its entries is structurally zero."""
    plain = type(ybar.alive) is np.ndarray and ybar.alive.all()
    return ybar.value if plain else ybar


def unmask(ybar: Tangentlike) -> Any:
    """Return a cotangent as plain numbers."""
    return ybar.value if type(ybar) is Masked else ybar
