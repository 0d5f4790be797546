"""RowLayout: numbers and arrays that a loop carries, as entries of one row of float64."""

import math
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from ...rules import value
from ..ir.forms import ValueForm
from ..ir.looks import NotRecordable, UnsuitedLoopError
from ..record.recorded_values import RecordedArray, RecordedNumber

Numbers = np.ndarray
RECORDED = (RecordedNumber, RecordedArray)
EXACT = 2**53  # up to which integers are exact as float64
_CARRIED = (float, np.float64, int, np.int64)


class Place(NamedTuple):
    """The entries ``start`` to ``end`` of a row, as a number or an array of one form."""

    form: ValueForm
    start: int
    end: int

    @property
    def whole(self) -> bool:
        """Say whether it holds integers, which have no derivative."""
        return self.form.kind in (int, np.int64)

    def read(self, row: Numbers) -> Any:
        """Return the number, or a copy of the array."""
        if self.form.array:
            return row[self.start : self.end].reshape(self.form.shape).astype(self.form.kind)
        return self.form.kind(row[self.start])

    def column(self, rows: Numbers) -> Numbers:
        """Return the entries of all rows, stacked; a number gives an array of one axis."""
        found = rows[:, self.start : self.end].reshape(len(rows), *self.form.shape)
        return found.astype(np.int64) if self.whole else found.copy()

    def takes(self, x: Any) -> bool:
        """Say whether a plain ``x`` has this form; the type of a float number is not asked."""
        form = ValueForm.of(x)
        if form is None or form.array != self.form.array or form.shape != self.form.shape:
            return False
        if self.whole or form.array:
            return bool(form.kind == self.form.kind)
        return form.kind in (float, np.float64)


class RowLayout:
    """Places of several numbers and arrays, one behind the other."""

    __slots__ = ("places", "size")

    def __init__(self, forms: Iterable[ValueForm]) -> None:
        self.places: list[Place] = []
        self.size = 0
        for form in forms:
            end = self.size + math.prod(form.shape)
            self.places.append(Place(form, self.size, end))
            self.size = end

    def __len__(self) -> int:
        return len(self.places)

    @property
    def forms(self) -> list[ValueForm]:
        return [place.form for place in self.places]

    def read(self, row: Numbers) -> list:
        return [place.read(row) for place in self.places]

    def put(self, row: Numbers, values: Sequence[Any]) -> None:
        """Store numbers and arrays that are known to have these forms.

        Raises
        ------
        UnsuitedLoopError
            If an integer is too large to be held exactly.
        """
        for place, x in zip(self.places, values):
            if place.whole and _largest(x) > EXACT:
                raise UnsuitedLoopError("an integer of more than 53 bits")
            if place.form.array:
                row[place.start : place.end] = x.reshape(-1)
            else:
                row[place.start] = x

    def write(self, row: Numbers, values: Sequence[Any]) -> None:
        """Store numbers and arrays of these forms.

        Raises
        ------
        NotRecordable
            If one has another form: a loop carries what it began with.
        """
        for place, x in zip(self.places, values, strict=True):
            if not place.takes(x):
                raise NotRecordable("a step that changes the type or the shape of what it carries")
        self.put(row, values)

    def rows(self, columns: Sequence[Any], count: int) -> Numbers:
        """Return stacks of numbers and arrays, one row for each of their first ``count`` items."""
        parts = [
            np.asarray(x)[:count].reshape(count, place.end - place.start)
            for place, x in zip(self.places, columns)
        ]
        if len(parts) == 1 and parts[0].dtype == np.float64 and parts[0].flags.c_contiguous:
            return parts[0]
        rows = np.empty((count, self.size))
        for place, part in zip(self.places, parts, strict=True):
            rows[:, place.start : place.end] = part
        return rows


def _largest(x: Any) -> Any:
    return np.max(np.abs(x), initial=0) if type(x) is np.ndarray else abs(x)


def plain(x: Any) -> Any:
    """Return the number or array under all transforms and recordings, in a list too."""
    if type(x) is list:
        return [plain(part) for part in x]
    x = value(x)
    return x.sample if type(x) in RECORDED else x


def form_of(x: Any) -> ValueForm:
    """Return the form of a plain leaf that a native loop carries: a number, or doubles in C order.

    Raises
    ------
    NotRecordable
    """
    return checked_form(ValueForm.of(x), x)


def checked_form(form: ValueForm | None, x: Any) -> ValueForm:
    """Return the form of ``x``, if a native loop can carry it.

    Raises
    ------
    NotRecordable
    """
    if form is None:
        raise NotRecordable(f"a loop that carries a {type(x).__name__}")
    known = form.kind == np.float64 and form.order == "C" if form.array else form.kind in _CARRIED
    if not known:
        raise NotRecordable(f"a loop that carries numbers of another kind ({form.kind})")
    return form


def row_form(x: Any) -> ValueForm:
    """Return the form of the items of a stack.

    Raises
    ------
    NotRecordable
    """
    if not isinstance(x, np.ndarray) or not x.ndim or x.dtype not in (np.float64, np.int64):
        raise NotRecordable("a loop over what is no array of numbers")
    return form_of(x[0] if x.ndim == 1 else np.ascontiguousarray(x[0]))
