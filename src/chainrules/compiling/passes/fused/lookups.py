"""Lookups in loops: ``np.searchsorted`` and ``np.interp`` of a table, with its transposes."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from ....rules.linear.steps import Slot
from ...ir.dtypes import dtype_of
from ...ir.scalars import NotLowered
from ...ir.values import AddedAt, Stored, constant
from ...native import Input

if TYPE_CHECKING:
    from .groups import Grouping

_FLOAT, _SINGLE = np.dtype(np.float64), np.dtype(np.float32)


class _Lookup:
    """The loop over ``x`` of one step, which reads tables; ``others`` are read as ``x`` is.

    Raises
    ------
    NotLowered
        When made, if it is no loop of doubles, or not worth one.
    """

    def __init__(
        self, groups: "Grouping", position: int, x: Any, tables: list, others: tuple = ()
    ) -> None:
        self.groups, self.position = groups, position
        shape = groups.shape_of(x)
        if not shape or groups.are_few(shape):
            raise NotLowered("a table that is searched for few numbers")
        if any(groups.shape_of(y) != shape for y in others):
            raise NotLowered("cotangents of another shape")
        for table in tables:
            if len(groups.shape_of(table)) != 1 or groups.shape_of(table)[0] < 2:
                raise NotLowered("a table that is no vector, or of one entry")
        dtypes = [np.dtype(dtype_of(y, groups.steps)) for y in (*tables, x, *others)]
        if {*dtypes} - {_FLOAT, _SINGLE} or _SINGLE in dtypes[: len(tables)]:
            raise NotLowered("a lookup of other numbers than doubles")
        self.number, self.group = groups.group(shape, [x, *others], tables)
        self.x, self.op = groups.value(self.group, x, "f8"), self.group.once

    def table(self, x: Any) -> Any:
        """Return a table as an operand of lookups."""
        groups, (length,) = self.groups, self.groups.shape_of(x)
        key: tuple = "table", id(x)
        place = Input("f8", (0,) * len(self.group.shape), 0, None, length)
        if type(x) is Slot:
            view = groups.view_at(x.position)
            if view.strides != (1,) or view.part is not None:
                raise NotLowered("a table whose entries lie apart")
            groups.demand(Slot(view.base))
            name = f"{'v' if view.base in groups.contiguous else 'w'}{view.base}"
            key, place = ("table", view.base, view.offset), place._replace(offset=view.offset)
        else:
            name = groups.constant(np.ascontiguousarray(x))
        return self.group.read(key, place, name, place.kind)

    def gives(self, y: Any) -> bool:
        """Note that ``y`` is the result of the step."""
        self.group.of_step[self.position] = y
        self.groups.item_of[self.position] = self.number
        self.groups.contiguous.add(self.position)
        return True

    def adds(self, *parts: tuple) -> bool:
        """Note that the step gives zeros to which these values are added at these places."""
        strides = (0,) * len(self.group.shape)
        self.group.stored[self.position] = Stored(AddedAt(parts), strides, None, 0)
        self.groups.item_of[self.position] = self.number
        self.groups.note_stored(self.position)
        return True


class _Bracket(_Lookup):
    """A lookup of the entries of ``xp`` around ``x``, by the formulas of the rule and of NumPy."""

    def __init__(
        self, groups: "Grouping", position: int, x: Any, xp: Any, *tables: Any, ybar: Any = None
    ) -> None:
        super().__init__(groups, position, x, [xp, *tables], () if ybar is None else (ybar,))
        op, (length,), self.xp = self.op, groups.shape_of(xp), self.table(xp)
        if any(groups.shape_of(y) != (length,) for y in tables):
            raise NotLowered("a table of another length than its grid")
        self.last = constant(length - 1, "i8")
        count = op("search right", self.x, self.xp)
        one, none = constant(1, "i8"), constant(0, "i8")
        self.k = op("maximum", op("subtract", count, one), none)
        self.after = op("minimum", op("add", self.k, one), self.last)
        self.zero, self.none = constant(0.0, "f8"), none
        self.ends = op("read", none, self.xp), op("read", self.last, self.xp)
        self.outside = op("less", self.x, self.ends[0]), op("greater", self.x, self.ends[1])

    def both(self, table: Any) -> tuple[Any, Any]:
        """Return the entries of a table before and after ``x``."""
        return self.op("read", self.k, table), self.op("read", self.after, table)

    def shares(self) -> tuple[Any, Any]:
        """Return the slope between the entries and the part of the way, as ``Bracket`` does."""
        op, (start, stop) = self.op, self.both(self.xp)
        outside, step = op("logical_or", *self.outside), op("subtract", stop, start)
        one = constant(1.0, "f8")
        step = op("where", op("equal", step, self.zero), one, step)
        slope = op("where", outside, self.zero, op("divide", one, step))
        way = op("where", outside, self.zero, op("subtract", self.x, start))
        return slope, op("multiply", slope, way)


def _search(
    groups: "Grouping", position: int, a: Any, v: Any, side: Any = "left", sorter: Any = None
) -> bool:
    if side not in ("left", "right") or sorter is not None:
        raise NotLowered("searchsorted with a sorter")
    at = _Lookup(groups, position, v, [a])
    return at.gives(at.op(f"search {side}", at.x, at.table(a)))


def _interp(groups: "Grouping", position: int, fp: Any, x: Any, xp: Any) -> bool:
    """Interpolate by NumPy's formula, which tries the other end where it gives a NaN."""
    at = _Bracket(groups, position, x, xp, fp)
    op, table, (start, stop) = at.op, at.table(fp), at.both(at.xp)
    y, after = at.both(table)

    def from_end(place: Any, value: Any) -> Any:
        return op("add", op("multiply", slope, op("subtract", at.x, place)), value)

    slope = op("divide", op("subtract", after, y), op("subtract", stop, start))
    one, other = from_end(start, y), from_end(stop, after)
    flat = op("logical_and", op("isnan", other), op("equal", y, after))
    other = op("where", flat, y, other)
    found = op("where", op("isnan", one), other, one)
    on_entry = op("logical_or", op("equal", start, at.x), op("equal", at.k, at.last))
    found = op("where", on_entry, y, found)
    for outside, place in zip(at.outside, (at.none, at.last), strict=True):
        found = op("where", outside, op("read", place, table), found)
    return at.gives(op("where", op("isnan", at.x), at.x, found))


def _interp_slope(groups: "Grouping", position: int, fp: Any, x: Any, xp: Any) -> bool:
    at = _Bracket(groups, position, x, xp, fp)
    (before, after), slope = at.both(at.table(fp)), at.shares()[0]
    y = at.op("multiply", slope, at.op("subtract", after, before))
    return at.gives(at.op("where", at.op("equal", slope, at.zero), at.zero, y))


def _interp_transposed(
    groups: "Grouping", position: int, ybar: Any, shape: Any, x: Any, xp: Any
) -> bool:
    at = _Bracket(groups, position, x, xp, ybar=ybar)
    ybar, part = groups.value(at.group, ybar, "f8"), at.shares()[1]
    rest = at.op("subtract", constant(1.0, "f8"), part)
    pairs = (rest, at.k), (part, at.after)
    return at.adds(*[(at.op("multiply", weight, ybar), place) for weight, place in pairs])


def _interp_slope_transposed(
    groups: "Grouping", position: int, ybar: Any, shape: Any, x: Any, xp: Any
) -> bool:
    at = _Bracket(groups, position, x, xp, ybar=ybar)
    ybar, slope = groups.value(at.group, ybar, "f8"), at.shares()[0]
    pairs = (at.op("negative", slope), at.k), (slope, at.after)
    return at.adds(*[(at.op("multiply", weight, ybar), place) for weight, place in pairs])


#: By the names of lowerings in the table.
LOOKUPS: dict[str, Callable[..., bool]] = {
    "searchsorted": _search, "interp": _interp, "interp slope": _interp_slope,
    "interp transposed": _interp_transposed,
    "interp slope transposed": _interp_slope_transposed,
}  # fmt: skip
