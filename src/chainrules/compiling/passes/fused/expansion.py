"""Expansion of small products and joins into elementwise loops, where many follow each other."""

import math
from typing import Any, Protocol

import numpy as np

from ....config.thresholds import EXPANDED_PRODUCT
from ....rules import getitem
from ....rules.linear.steps import Slot
from ...ir.dtypes import dtype_of, kind_of_form
from ...ir.forms import ValueForm
from ...ir.strides import View, placed, positions_in, strides_of
from ...ir.values import Group, Stored
from ...native import Operation
from ...native.arrays import axes as native_axes

_FLOAT = np.dtype(np.float64)


class Operands(Protocol):
    """Operands of loops: forms of results, and values that stand for them in a loop."""

    steps: list[Operation]

    def shape_of(self, x: Any) -> tuple[int, ...]: ...

    def value(
        self, group: Group, x: Any, kind: str, axes: tuple[int, ...] | None = None
    ) -> Any: ...

    def view_at(self, position: int) -> View: ...

    def are_few(self, shape: tuple[int, ...]) -> bool: ...

    def read(self, group: Group, view: View, kind: str) -> Any: ...


def product(steps: Operands, position: int, form: ValueForm, x: Any, y: Any) -> list[Group] | None:
    """Return the loop of a product of small matrices or vectors, of at most two axes."""
    dtypes = [dtype_of(z, steps.steps) for z in (x, y)]
    shapes = [steps.shape_of(z) for z in (x, y)]
    if dtypes != [_FLOAT] * 2 or not all(1 <= len(shape) <= 2 for shape in shapes):
        return None
    (*m, k), n = shapes[0], shapes[1][1:]
    shape = (*m, k, *n)
    if not 0 < math.prod(shape) <= EXPANDED_PRODUCT:
        return None
    group = Group(shape)
    one = steps.value(group, x, "f8", (*range(len(m)), len(m)))
    other = steps.value(group, y, "f8", (len(m), *range(len(m) + 1, len(shape))))
    value = group.op("multiply", one, other)
    strides = strides_of((*m, *n), form.order if form.order == "F" else "C")
    group.stored[position] = Stored(value, (*strides[: len(m)], 0, *strides[len(m) :]), "sum", 0)
    return [group]


def gathered(
    steps: Operands, position: int, form: ValueForm, x: Any, index: Any
) -> list[Group] | None:
    """Return the loop that reads a vector at constant places: rows of equal steps, as a block is.

    Places that no such loop goes over are NumPy's.
    """
    if len(shape := steps.shape_of(x)) != 1 or type(x) is not Slot:
        return None
    if (at := positions_in(index, shape)) is None:
        return None
    steps_between = np.diff(at)
    ends = np.flatnonzero(steps_between != steps_between[:1])
    length = int(ends[0]) + 1 if ends.size else at.size
    if at.size % length:
        return None
    rows = at.reshape(-1, length)
    down, along = (int(d.flat[0]) if d.size else 0 for d in (np.diff(rows[:, 0]), np.diff(rows[0])))
    first = int(at[0])
    block = first + down * np.arange(len(rows))[:, None] + along * np.arange(length)
    if not np.array_equal(block, rows):
        return None
    group = Group(rows.shape)
    known = steps.view_at(x.position)
    (step,) = known.strides
    strides = down * step, along * step
    place = View(known.base, known.offset + first * step, rows.shape, strides, known.part)
    value = steps.read(group, place, kind_of_form(form))
    group.stored[position] = Stored(value, strides_of(rows.shape), None, 0)
    return [group]


def joined(
    steps: Operands, position: int, f: Any, form: ValueForm, xs: Any, axis: Any = 0
) -> list[Group] | None:
    """Return the loops that put arrays side by side: each stores a part of the result."""
    if not xs or any(type(x) in (list, tuple) for x in xs) or type(axis) is not int:
        return None
    if (
        form.kind != _FLOAT
        or form.order != "C"
        or math.prod(form.shape) >= native_axes.PIECE_POINTS
    ):
        return None
    if any(dtype_of(x, steps.steps) not in (float, _FLOAT) for x in xs):
        return None
    result, start, places = View(position, 0, form.shape, strides_of(form.shape)), 0, []
    before = (slice(None),) * (axis % len(form.shape))
    for shape in map(steps.shape_of, xs):
        size = shape[axis] if f is np.concatenate else 1
        at = slice(start, start + size) if f is np.concatenate else start
        place = placed(getitem, ((*before, at),), {}, result)
        start += size
        if place is None or place.shape != shape:
            return None
        places.append(place)
    made = []
    for x, place in zip(xs, places, strict=True):
        group = Group(place.shape)
        value = steps.value(group, x, "f8")
        group.stored[position] = Stored(value, place.strides, None, place.offset)
        made.append(group)
    return made


def running(
    steps: Operands,
    position: int,
    does: str,
    form: ValueForm,
    x: Any,
    axis: Any = None,
    dtype: Any = None,
) -> list[Group] | None:
    """Return the loop of running sums or products along the axis whose entries lie side by side."""
    shape = steps.shape_of(x)
    axis = 0 if axis is None and len(shape) == 1 else axis
    if type(x) is not Slot or type(axis) is not int or not math.prod(shape) or not shape:
        return None
    if dtype is not None:
        return None
    kind, strides = kind_of_form(form), strides_of(shape, form.order)
    if kind not in ("f8", "f4", "i8") or dtype_of(x, steps.steps) != form.kind:
        return None
    axis %= len(shape)
    if strides[axis] != 1 or form.order == "?" or steps.are_few(shape):
        return None
    group = Group(shape)
    value = steps.read(group, steps.view_at(x.position), kind)
    name = "sum" if does == "cumsum" else "prod"
    group.stored[position] = Stored(value, strides, name, 0, axis)
    return [group]
