"""The sweep: pull cotangents back through recorded entries, last to first.

``entries`` says which forms of entries there are.
"""

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from ..config.thresholds import WRITTEN_INTO
from ..rules import AbstractZero, Traced
from ..rules.annotations import Tangentlike, Value
from ..rules.shapes import FLOATS, dtype_of, shape_of
from ..rules.table.structural_zeros import Masked, settled
from ..rules.table.sums import unbroadcast
from ..rules.tangents.project import cast
from ..rules.tracing.level import ONE
from .cotangents import Cotangents, multiply_into
from .entries import (
    BROADCAST,
    NODE,
    OF_ARRAY,
    OF_ARRAYS,
    OF_NUMBER,
    OF_NUMBERS,
    READ,
    Entry,
)
from .nodes import pull_item
from .pieces import Pieces

_array = np.ndarray


def keeps_dtype(x: Value, dtype: np.dtype) -> bool:
    """Say whether ``x`` has cotangents like a result of ``dtype``, up to broadcasting."""
    if x.__class__ is _array:
        return x.dtype is dtype and dtype.kind in "fc" and x.shape != ()
    return dtype_of(x) is dtype and isinstance(x, (np.generic, float, complex))


def broadcast_entry(entry: Entry, shape: tuple, x: Value, z: Value) -> Entry:
    """Return the entry for operands, ``x`` or ``x`` and ``z``, that were broadcast to ``shape``."""
    shape_x = None if (given := shape_of(x)) == shape else given
    if len(entry) == OF_ARRAY:
        if shape_x is None:
            return entry
        return *entry[:2], shape_x, None, None, None, entry[2], shape
    shape_z = None if (given := shape_of(z)) == shape else given
    if shape_x is None and shape_z is None:
        return entry
    a, partial, b, partial_b, args = entry
    return a, partial, shape_x, b, partial_b, shape_z, args, shape


def in_dtype(entry: Entry, dtype: np.dtype) -> Entry:
    """Return the entry of an elementwise rule on arrays of another dtype than float64."""

    def fitted(part: object) -> Any:
        return functools.partial(_in_dtype, part, dtype) if callable(part) else part

    return (*map(fitted, entry[:-1]), entry[-1])


def _in_dtype(partial: Callable, dtype: np.dtype, *args: object) -> Any:
    """Evaluate a partial, as a factor of cotangents of ``dtype``."""
    factor = cast(partial(*args), dtype)
    return np.conj(factor) if dtype.kind == "c" else factor


def forward_factor(partial: Callable, args: tuple) -> Any:
    """Evaluate a partial as a factor of tangents: that of cotangents is its conjugate."""
    factor = partial(*args)
    if isinstance(partial, functools.partial) and partial.func is _in_dtype:
        return np.conj(factor) if partial.args[1].kind == "c" else factor
    return factor


def times_partial(
    partial: Callable | None, args: tuple, ybar: Tangentlike, shape: tuple | None
) -> Any:
    """Multiply ``ybar`` by a partial, and sum it to the shape of what was broadcast."""
    if partial is None:
        return ybar if shape is None else unbroadcast(ybar, shape)
    factor = partial(*args)
    if shape is None:
        return factor * ybar
    if type(factor) is int:  # a constant of a rule, such as the -1 of a difference
        return factor * unbroadcast(ybar, shape)
    return unbroadcast(factor * ybar, shape)


def sweep(
    cotangents: Cotangents, seeds: list[tuple[int, Any]], inputs: int, last: bool
) -> list[Any]:
    """Return one cotangent per input, a zero where nothing arrived.

    Parameters
    ----------
    cotangents : Cotangents
        Of the tape's entries; none yet.
    seeds : list of (index, ybar)
        The cotangents of the outputs. They are never written to.
    inputs : int
        How many entries, from the first, are inputs.
    last : bool
        Whether no other sweep will follow: entries are then freed as they are passed.
    """
    entries = cotangents.entries
    bars = cotangents.bars
    owned = cotangents.owned
    accumulate = cotangents.add
    # Most entries ask for these: local names are faster.
    of_number, of_numbers, one, floats = OF_NUMBER, OF_NUMBERS, ONE, FLOATS
    for index, ybar in seeds:
        accumulate(index, ybar)
    order = cotangents.order(inputs, last)
    for i in order:
        entry = entries.pop() if last else entries[i]
        ybar = bars[i]
        if ybar is None:
            continue
        bars[i] = None
        size = len(entry)
        if type(ybar) is Masked and not (size == NODE and entry[0].takes_pieces):
            ybar = settled(ybar)
        if size == of_numbers or size == of_number:  # noqa: SIM109
            if type(ybar) in floats or not isinstance(ybar, Traced):
                if size == of_number:
                    a, da = entry
                    xbar, abar = bars[a], ybar if da is one else ybar * da
                    bars[a] = abar if xbar is None else xbar + abar
                    continue
                a, da, b, db = entry
                xbar, abar = bars[a], ybar if da is one else ybar * da
                bars[a] = abar if xbar is None else xbar + abar
                xbar, bbar = bars[b], ybar if db is one else ybar * db
                bars[b] = bbar if xbar is None else xbar + bbar
                continue
            # It is differentiated again: a product and the sum that it joins are made at once.
            multiply_add = ybar.at_level.multiply_add
            if size == of_number:
                a, da = entry
            else:
                a, da, b, db = entry
            plain = da is ONE and bars[a] is None
            bars[a] = ybar if plain else multiply_add(bars[a], ybar, da)
            if size == of_numbers:
                plain = db is ONE and bars[b] is None
                bars[b] = ybar if plain else multiply_add(bars[b], ybar, db)
            continue
        if type(ybar) is Pieces and not (size == NODE and entry[0].takes_pieces):
            ybar = ybar.gathered()
            if isinstance(ybar, AbstractZero):
                continue
        # What the sweep made itself it may write into, if nobody else was given it. Small arrays
        # are not worth the question.
        large = type(ybar) is _array and ybar.size >= WRITTEN_INTO
        ours = large and i in owned
        if size == OF_ARRAY:
            a, partial, args = entry
            if partial is None:
                xbar = ybar
            else:
                xbar = multiply_into(ybar, partial(*args)) if ours else partial(*args) * ybar
                ours = large
            if bars[a] is None:
                bars[a] = xbar
                if ours:
                    owned.add(a)
            else:
                accumulate(a, xbar)
        elif size == OF_ARRAYS:
            a, partial, b, partial_b, args = entry
            xbar = ybar if partial is None else partial(*args) * ybar
            if bars[a] is None:
                bars[a] = xbar
                if large and (partial is not None or (ours and partial_b is not None)):
                    owned.add(a)
            else:
                accumulate(a, xbar)
            xbar = None
            if partial_b is None:
                xbar = ybar
                ours = ours and partial is not None
            else:
                ours = ours and partial is not None
                xbar = multiply_into(ybar, partial_b(*args)) if ours else partial_b(*args) * ybar
                ours = large
            if bars[b] is None:
                bars[b] = xbar
                if ours:
                    owned.add(b)
            else:
                accumulate(b, xbar)
        elif size == BROADCAST:
            a, partial, shape, b, partial_b, shape_b, args, _ = entry
            accumulate(a, times_partial(partial, args, ybar, shape))
            if b is not None:
                accumulate(b, times_partial(partial_b, args, ybar, shape_b))
        elif size == READ:
            pull_item(entry, ybar, cotangents)
        else:
            entry[0].pull(ybar, cotangents)
        args = xbar = ybar = None  # what is held on to here could not be freed
    entry = ()  # none is under way any more: see ``named_entries``
    return cotangents.of_inputs(inputs)
