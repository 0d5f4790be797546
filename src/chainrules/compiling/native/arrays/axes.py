"""The axes of a loop nest: their order, which are one, and the pieces that threads do."""

import math
from typing import NamedTuple

from ..limits import PIECE_POINTS, REST_POINTS
from ..request import Input, NativeProgram, Output

#: What a nest in pieces takes besides its arguments: the first row, and the one after the last.
PIECE = ("whole", "whole")


class Axes(NamedTuple):
    """Sizes from the outermost axis to the innermost, and strides of all inputs and outputs."""

    shape: list[int]
    in_strides: list[list[int]]
    out_strides: list[list[int]]


class AxisPieces(NamedTuple):
    """A nest that is done in pieces of ``each`` rows of its outermost axis.

    ``rest`` is what is left over of a nest of one axis, which is made one of two. ``partial`` are
    the outputs of which each piece gives a part.
    """

    axes: Axes
    each: int
    rest: NativeProgram | None
    partial: list[int]

    def ranges(self) -> list[tuple[int, int]]:
        """From which row to before which the pieces go; the rest begins behind the last row."""
        n, each = self.axes.shape[0], self.each
        found = [(k, min(k + each, n)) for k in range(0, n, each)]
        return [*found, (n, n)] if self.rest is not None else found


def axes_of(program: NativeProgram, width: int) -> Axes:
    """The axes in the order in which they are done, ``width`` points of the innermost at a time."""
    kept = [k for k, n in enumerate(program.shape) if n != 1]
    places: list[Input | Output] = [*program.inputs, *program.outputs]
    given = [x.strides or (0,) * len(program.shape) for x in places]
    shape, strides = [program.shape[k] for k in kept], [[s[k] for k in kept] for s in given]
    order = _order(shape, strides, width)
    shape = [shape[k] for k in order] or [1]
    strides = [[s[k] for k in order] or [0] for s in strides]
    shape, strides = _merged(shape, strides)
    first = len(program.inputs)
    return Axes(shape, strides[:first], strides[first:])


def pieces_of(program: NativeProgram, width: int) -> AxisPieces | None:
    """Split a nest into pieces; None where it is too small, or where pieces would interfere."""
    if 0 in program.shape or any(y.running is not None for y in program.outputs):
        return None
    axes, rest = axes_of(program, width), None
    if len(axes.shape) == 1:
        axes, rest = _in_rows(program, axes)
    rows = axes.shape[0]
    each = -(-PIECE_POINTS // math.prod(axes.shape[1:]))
    if rows <= each:
        return None
    partial = []
    for j, (y, strides) in enumerate(zip(program.outputs, axes.out_strides)):
        reduced = [n != 1 and s == 0 for n, s in zip(axes.shape, strides)]
        if not reduced[0] and any(reduced):
            inner = reduced.index(True)
            if not all(reduced[inner:]):
                return None  # it is filled as a whole before anything is added
        if reduced[0]:
            if y.reduce is None:
                return None
            partial.append(j)
    return AxisPieces(axes, each, rest, partial)


def _in_rows(program: NativeProgram, axes: Axes) -> tuple[Axes, NativeProgram | None]:
    """One axis as two, and the program of what is left over; as it is, where it is short."""
    (n,) = axes.shape
    rows = n // PIECE_POINTS
    if 0 < n - rows * PIECE_POINTS < REST_POINTS:
        rows -= 1
    if rows < 2:
        return axes, None
    done = rows * PIECE_POINTS

    def in_two(strides: list[list[int]]) -> list[list[int]]:
        return [[PIECE_POINTS * s, s] for (s,) in strides]

    inputs = [
        x if x.strides is None else x._replace(strides=(s,), offset=x.offset + done * s)
        for x, (s,) in zip(program.inputs, axes.in_strides)
    ]
    outputs = [
        y._replace(strides=(s,), offset=y.offset + done * s)
        for y, (s,) in zip(program.outputs, axes.out_strides)
    ]
    rest = program._replace(shape=(n - done,), inputs=inputs, outputs=outputs)
    split = Axes([rows, PIECE_POINTS], in_two(axes.in_strides), in_two(axes.out_strides))
    return split, rest if done < n else None


def _order(shape: list[int], strides: list[list[int]], width: int) -> list[int]:
    """The axes from the outermost to the innermost: large strides out, the cheapest axis in."""

    def cost(axis: int) -> float:
        n = shape[axis]
        steps = -(-n // width)
        each = sum(0.3 if s[axis] == 0 else 1 if s[axis] == 1 else 0.75 * width for s in strides)
        return steps * (3 + each) / n

    axes = list(range(len(shape)))
    if not axes:
        return axes
    # In doubt the last one, which is contiguous in plain arrays.
    inner = min(reversed(axes), key=cost)
    axes.remove(inner)
    axes.sort(key=lambda k: -sum(abs(s[k]) for s in strides))
    return [*axes, inner]


def _merged(shape: list[int], strides: list[list[int]]) -> tuple[list[int], list[list[int]]]:
    """Make one axis of two, where the outer one goes on as the inner one ends."""
    shape, strides = shape.copy(), [s.copy() for s in strides]
    for k in reversed(range(len(shape) - 1)):
        if all(s[k] == s[k + 1] * shape[k + 1] for s in strides):
            shape[k : k + 2] = [shape[k] * shape[k + 1]]
            for s in strides:
                del s[k]
    return shape, strides
