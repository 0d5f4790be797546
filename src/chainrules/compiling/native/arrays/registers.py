"""Reductions of a loop nest that are kept in registers, and stores of short rows of them."""

from typing import NamedTuple

from ..assembly.assembler import Lanes
from ..assembly.memory import load, store
from ..limits import SHORT_ROWS
from ..request import Output
from .results import Result


class Kept(NamedTuple):
    """Outputs, by their numbers, and the level of the nest from which on each is kept."""

    #: reduced over the innermost axis, and in one total
    held: dict[int, int]
    #: reduced over the axes around it, and in a register for each vector of it
    rows: dict[int, int]
    #: combined with what is in memory, since an axis farther out is reduced too
    combined: set[int]


def planned(
    outputs: list[Output], shape: list[int], out_strides: list[list[int]], width: int
) -> Kept:
    """Choose the reductions of a nest over ``shape`` that are kept in registers, not in memory."""
    kept = Kept({}, {}, set())
    for j, (y, strides) in enumerate(zip(outputs, out_strides)):
        reduced = [n != 1 and s == 0 for n, s in zip(shape, strides)]
        if y.reduce is None or not any(reduced):
            continue
        in_rows = (
            not reduced[-1] and reduced[:-1][-1:] == [True] and shape[-1] <= SHORT_ROWS * width
        )
        start = len(shape) - in_rows
        while start and reduced[start - 1]:
            start -= 1
        if in_rows:
            kept.rows[j] = start
        elif start < len(shape):
            kept.held[j] = start
        if any(reduced[:start]):
            kept.combined.add(j)
    return kept


def places_of(n: int, width: int) -> list[tuple[str, int]]:
    """Return the start of each vector of ``n`` numbers, and its number of lanes."""
    return [(str(k), min(width, n - k)) for k in range(0, n, width)]


def store_row(
    v: Lanes,
    result: Result,
    row: list[str],
    places: list[tuple[str, int]],
    base: str,
    stride: int,
    *,
    combined: bool,
) -> None:
    """Store totals that lie in vectors, each at its place, or combine them with what is there."""
    dtype = result.output.dtype
    for text, (at, lanes) in zip(row, places):
        if combined:
            there = load(v, base, at, stride, lanes, dtype)
            text = result.combine(result.read(there, v), text, v)
        store(v, result.stored(text, v), base, at, stride, lanes, dtype)
