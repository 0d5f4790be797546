"""Fusion of elementwise steps of a recording into loops, with the inputs and outputs of each."""

import bisect
import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ....config.thresholds import FUSED_STEPS, LOOP_ARRAYS, LOOP_ENTRIES, MANY_STEPS
from ....rules import getitem
from ....rules.linear.steps import Slot
from ....rules.rulesets.arrays.indexing import scatter
from ....rules.tracing.funnel import astype, entry
from ....rules.tracing.writing import written
from ...ir.dtypes import PARTS, kind_of_form, operation_of
from ...ir.forms import ValueForm
from ...ir.lowering import Lowering, lowering_of
from ...ir.references import CopyOf
from ...ir.scalars import NotLowered
from ...ir.strides import (
    View,
    has_order,
    is_same,
    is_uniform,
    spread,
    strides_of,
)
from ...ir.values import Group, Stored, check_native, constant, doubled
from ...native import Input, Operation
from ...native.assembly.reductions import REDUCTIONS
from ...record.recorder import Recorder
from ..factor_sharing import Factor
from .expansion import gathered, joined, product, running
from .in_place import InPlace, added, put, scattered
from .lookups import LOOKUPS
from .step_views import is_made_of_base, view_of

# Lowerings of their own that loops have, by their names.
_REDUCTIONS = (*REDUCTIONS, "mean", "count_nonzero")
_PRODUCTS = ("matmul", "dot")
_RUNNING = ("cumsum", "cumprod")
_JOINED = ("stack", "concatenate", "array")
_NUMBER = (float, np.float64)
_FLOAT = np.dtype(np.float64)


class NumpyCall(NamedTuple):
    """A step that NumPy does, and why; a ``lazy`` one is a view, and may be read without it."""

    position: int
    step: Operation
    lazy: bool
    why: str


class Grouping:
    """Steps of a recording, put into loops over one shape each and into calls of NumPy.

    ``items`` are both, in the order in which they can run. ``constant`` gives a name to an array
    that a loop reads. ``many`` says whether loops follow each other without calls.
    """

    def __init__(
        self,
        recorder: Recorder,
        plan: dict[int, Operation],
        constant: Callable[[Any], str],
        many: bool | None = None,
    ) -> None:
        if len(plan) > FUSED_STEPS:
            raise NotLowered(f"more than {FUSED_STEPS} steps")
        self.constant = constant
        self.many = len(plan) >= MANY_STEPS if many is None else many
        self.steps = recorder.steps
        self.items: list[Group | NumpyCall] = []
        self.open: dict[tuple, list[int]] = {}  # by shape: loops that may take more
        self.item_of: dict[int, int] = dict.fromkeys(recorder.inputs, -1)
        self.views: dict[int, View] = {}
        self.whole_of: dict[int, int] = {}  # views that are all of an array, as it lies
        self.part_of: dict[int, tuple[int, int]] = {}  # real or imaginary parts of all of an array
        self.demanded: set[int] = set()
        self.whole_made: set[int] = set()  # by several loops, each of which makes a part
        self.in_place = InPlace(recorder, plan)
        self.divided: dict[int, int] = {}  # sums that are means, and by what they are divided
        self.contiguous: set[int] = {
            p for p in recorder.inputs if (form := self.steps[p].form) and form.order != "?"
        }
        self.asks_for_order = any(
            has_order((step.operands, step.options)) for step in plan.values()
        )
        for position, step in plan.items():
            self.take(position, step)

    # ---- which step goes where ------------------------------------------------------------------

    def take(self, position: int, step: Operation) -> None:
        why = ""
        try:
            if step.form is not None and self.taken(position, step):
                return
        except NotLowered as error:
            why = str(error)
        view = view_of(self, step)
        if view is not None:
            self.views[position] = view
            whole = self.whole(view.base)
            if view.part is not None:
                whole.part = view.part
                if is_same(view, whole):
                    self.part_of[position] = view.base, view.part
            elif is_same(view, whole):
                self.whole_of[position] = view.base
        else:
            self.demand((step.operands, step.options))
        self.item_of[position] = len(self.items)
        self.items.append(NumpyCall(position, step, view is not None, why))

    def taken(self, position: int, step: Operation) -> bool:
        """Put a step into a loop, if it has native code and is worth it."""
        f, args, kwargs, form, _ = step
        row = lowering_of(f)
        if row.does in _REDUCTIONS and args and not kwargs.keys() - {"axis", "keepdims"}:
            return len(args) <= 2 and self.reduced(position, row, form, *args, **kwargs)
        if row.does in _RUNNING and len(args) <= 3 and not kwargs.keys() - {"axis", "dtype"}:
            return self.add_loops(
                position, running(self, position, row.does, form, *args, **kwargs)
            )
        if f is scatter:
            return scattered(self, position, form, *args, **kwargs)
        if f is written and len(args) == 5 and self.is_worth(form):
            return self.update(position, put(self, self.in_place, position, form, args))
        if f is getitem and len(args) == 2 and self.is_worth(form):
            return self.add_loops(position, gathered(self, position, form, *args))
        if row.does in _PRODUCTS and self.many and len(args) == 2 and not kwargs:
            return self.add_loops(position, product(self, position, form, *args))
        if row.does in _JOINED and self.many and type(args[0]) in (list, tuple):
            axis = () if f is np.array else ("axis",)
            plain = len(args) <= 1 + len(axis) and not kwargs.keys() - set(axis)
            if not plain:
                return False
            return self.add_loops(position, joined(self, position, f, form, *args, **kwargs))
        if row.does in LOOKUPS:
            return LOOKUPS[row.does](self, position, *args, **kwargs)
        if not self.is_worth(form):
            return False
        kind = kind_of_form(form)
        if not form.shape and kind not in ("f8", "b1"):
            return False
        if form.order == "?" and self.asks_for_order:
            return False  # a loop would lay it out in C's order
        if f is np.where and len(args) == 3 and not kwargs:
            return self.elementwise(position, "where", args, ["b1", kind, kind], form)
        if (same := self.copied(f, row.does, args, kwargs)) is not None:
            return self.elementwise(position, "as it is", [same], [kind], form)
        if f is np.conjugate and not kwargs:
            name = "conjugate" if kind in PARTS else "as it is"
            return self.elementwise(position, name, args, [kind], form)
        if kwargs or not row.op:
            return False
        if (sum_so_far := self.in_place.taken(args)) is not None:
            return self.update(position, added(self, *sum_so_far, kind))
        found = operation_of(f, row.op, args, form, self.steps)
        return found is not None and self.elementwise(position, found[0], args, found[1], form)

    def copied(self, f: Any, does: str, args: tuple, kwargs: dict) -> Any:
        """Return the number or array whose entries the result of ``f`` has; None of another."""
        of_number = f in (np.broadcast_to, entry) and self.is_number(args[0])
        alone = f in (entry, np.copy) or does == "zeros_like"
        if alone and (len(args) != 1 or kwargs):
            return None
        if does in ("zeros_like", "with_value"):
            return 0 if does == "zeros_like" else args[1]
        converts = f is astype and not kwargs.keys() - {"dtype"}
        return args[0] if of_number or f is np.copy or converts else None

    def add_loops(self, position: int, made: list[Group] | None) -> bool:
        """Append the loops that a step is expanded to, if it is."""
        if made is None:
            return False
        self.items += made
        self.item_of[position] = len(self.items) - 1
        self.note_stored(position)
        self.whole_made.add(position)
        return True

    def update(self, position: int, update: tuple[int, list[Group]] | None) -> bool:
        """Append the loops of an update in the memory of an array, which may be made by them."""
        if update is None:
            return False
        root, made = update
        self.in_place.note(position, root)
        self.items += made
        self.item_of[position] = self.item_of[root] = len(self.items) - 1
        self.note_stored(position)
        return True

    def note_stored(self, position: int) -> None:
        """Note that a loop stores the result of a step, whoever reads it."""
        self.contiguous.add(position)
        self.demanded.add(position)

    def is_worth(self, form: ValueForm) -> bool:
        """Say whether numbers of this form are computed in a loop."""
        if self.many and form.kind in (*_NUMBER, np.bool_):
            return True
        return form.array and not self.are_few(form.shape)

    def are_few(self, shape: tuple[int, ...]) -> bool:
        """Say whether arrays of this shape are better left to NumPy."""
        return not self.many and math.prod(shape) < LOOP_ENTRIES

    def is_number(self, x: Any) -> bool:
        form = self.steps[x.position].form if type(x) is Slot else None
        return form is not None and not form.array and form.kind in _NUMBER

    def elementwise(
        self, position: int, name: str, args: Any, kinds: list[str], form: ValueForm
    ) -> bool:
        """Put into a loop an operation of ``args``, as what NumPy makes of them first."""
        if name == "power" and type(args[1]) in (int, float, np.float64) and args[1] == 2:
            name, args, kinds = "multiply", [args[0], args[0]], [kinds[0], kinds[0]]
        check_native(name, kinds)
        whole = not form.shape and not {"f8", "b1"}.issuperset(kinds)
        shape = (1,) if whole else form.shape  # single numbers are floats and truths
        number, group = self.group(shape, args)
        xs = [self.value(group, x, kind) for x, kind in zip(args, kinds, strict=True)]
        y = xs[0] if name == "as it is" else group.op(name, *xs)
        if y.kind != kind_of_form(form):
            raise NotLowered(f"{name} that gives {form.kind}")
        group.of_step[position] = y
        self.item_of[position] = number
        self.contiguous.add(position)
        if whole:
            group.stored[position] = Stored(y, (1,), None, 0)
            self.note_stored(position)
        return True

    def group(self, shape: tuple[int, ...], args: list, tables: Any = ()) -> tuple[int, Group]:
        """Return the first loop over ``shape`` that can read ``args``, or a new one.

        Of ``tables`` it reads any entry, so that they are made before it.
        """
        first = max([self.earliest(x, shape) for x in args], default=0)
        first = max([first, *[self.earliest(x, None) for x in tables]])
        numbers = self.open.setdefault(shape, [])
        full: list[int] = []
        for k in range(bisect.bisect_left(numbers, first), len(numbers)):
            item = self.items[numbers[k]]
            assert type(item) is Group
            if item.arrays() < LOOP_ARRAYS:
                return numbers[k], item
            full.append(k)
        for k in reversed(full):
            del numbers[k]
        made = Group(shape)
        numbers.append(len(self.items))
        self.items.append(made)
        return len(self.items) - 1, made

    def earliest(self, x: Any, shape: tuple[int, ...] | None) -> int:
        """Return the first item that can read ``x``: of a loop over ``shape``, that itself."""
        if type(x) is not Slot:
            return 0
        position = self.whole_of.get(x.position, x.position)
        position = self.part_of.get(position, (position, 0))[0]
        at = self.item_of[position]
        if position in self.views:
            return self.item_of[self.views[position].base] + 1
        item = self.items[at] if at >= 0 else None
        same = type(item) is Group and item.shape == shape and position in item.of_step
        return at if same else at + 1

    # ---- operands -------------------------------------------------------------------------------

    def value(self, group: Group, x: Any, kind: str, axes: tuple[int, ...] | None = None) -> Any:
        """Return what stands for ``x``, as a value of this kind: one of the loop, or a constant.

        ``axes`` says which axes of the loop are those of ``x``, if it is not broadcast.
        """
        if type(x) is Slot:
            return group.converted(self.slot(group, x.position, axes), kind)
        if type(x) is not np.ndarray or x.ndim == 0 or is_uniform(x):
            entry = x if type(x) is not np.ndarray else x.reshape(-1)[0]
            return constant(entry, kind)
        if kind == "b1" and x.dtype.kind == "c":
            raise NotLowered("truths of complex numbers")
        with np.errstate(all="ignore"):
            array = np.ascontiguousarray(x, kind)
        strides = spread(array.shape, strides_of(array.shape), group.shape, axes)
        key = id(x), strides, kind
        return group.input(key, kind, strides, 0, self.constant(array))

    def slot(self, group: Group, position: int, axes: tuple[int, ...] | None = None) -> Any:
        """Return what stands for a result in a loop: a value of it, or an input."""
        position = self.whole_of.get(position, position)
        if position in group.of_step:
            return group.of_step[position]
        base, part = self.part_of.get(position, (position, 0))
        if base in group.of_step and base != position:
            return group.of_step[base][part]
        form = self.steps[position].form
        if form is None:
            raise NotLowered("an operand that is no number")
        kind = kind_of_form(form)
        if not form.array and position not in self.views:
            self.demand(Slot(position))
            if form.kind in (float, np.float64):
                return group.read((position,), Input(kind, None), f"v{position}", kind)
            text = f"asarray(v{position})"
            return group.input((position,), kind, (0,) * len(group.shape), 0, text)
        return self.read(group, self.view_at(position), kind, axes)

    def view_at(self, position: int) -> View:
        """Return where a result lies that no loop holds."""
        position = self.whole_of.get(position, position)
        return self.views.get(position) or self.whole(position)

    def read(self, group: Group, view: View, kind: str, axes: tuple[int, ...] | None = None) -> Any:
        """Return an input of a loop that reads a view."""
        self.demand(Slot(view.base))
        strides = spread(view.shape, view.strides, group.shape, axes)
        name = f"v{view.base}" if view.base in self.contiguous else f"w{view.base}"
        key = view.base, view.offset, strides, view.part
        if view.part is None:
            return group.input(key, kind, strides, view.offset, name)
        place = Input(kind, doubled(strides), 2 * view.offset + view.part)
        return group.read(key, place, name, kind)

    def whole(self, position: int) -> View:
        form = self.steps[position].form
        assert form is not None
        order = form.order if position in self.contiguous else "C"
        return View(
            self.in_place.memory_of.get(position, position),
            0,
            form.shape,
            strides_of(form.shape, order),
        )

    def demand(self, x: Any) -> None:
        """Note that the slots in ``x`` must be arrays or numbers in Python's hands."""
        left = [x]
        while left:
            x = left.pop()
            if type(x) is Slot or type(x) is CopyOf:
                position = self.in_place.memory_of.get(x.position, x.position)
                if position in self.demanded:
                    continue
                self.demanded.add(position)
                view = self.views.get(position)
                if view is not None:
                    # It is made at once of the whole array, or as it was, of another view.
                    made = self.items[self.item_of[position]]
                    assert type(made) is NumpyCall
                    of_base = is_made_of_base(self, position, view)
                    given = made.step.operands, made.step.options
                    left += [Slot(view.base)] if of_base else given
            elif type(x) is Factor:
                left.append(x.matrix)
            elif type(x) in (tuple, list):
                left += x
            elif type(x) is dict:
                left += x.values()

    # ---- reductions, parts, views ---------------------------------------------------------------

    def reduced(
        self,
        position: int,
        row: Lowering,
        form: ValueForm,
        x: Any,
        axis: Any = None,
        keepdims: Any = False,
    ) -> bool:
        given = self.steps[x.position].form if type(x) is Slot else None
        if given is None or not given.array:
            return False
        shape = given.shape
        if not shape or not math.prod(shape) or self.are_few(shape) or type(axis) is Slot:
            return False
        counts = row.does == "count_nonzero"
        kind, name = kind_of_form(form), "sum" if counts or row.does == "mean" else row.does
        if kind in PARTS and name != "sum":
            return False
        given_axes = range(len(shape)) if axis is None else axis
        given_axes = given_axes if isinstance(given_axes, range | tuple) else (given_axes,)
        axes = {k % len(shape) for k in given_axes}
        kept = [k for k in range(len(shape)) if k not in axes]
        strides, step = [0] * len(shape), 1
        for k in kept if form.array and form.order == "F" else reversed(kept):
            strides[k], step = step, step * shape[k]
        if kind == "b1":
            name = REDUCTIONS[name].of_truths or name
        number, group = self.group(shape, [x])
        value = self.value(group, x, "b1" if counts or name in ("any", "all") else kind)
        value = group.converted(value, kind)
        group.stored[position] = Stored(value, tuple(strides), name, 0)
        self.item_of[position] = number
        self.note_stored(position)
        if row.does == "mean":
            self.divided[position] = math.prod([shape[k] for k in axes])
        return True

    def shape_of(self, x: Any) -> tuple[int, ...]:
        if type(x) is not Slot:
            return np.shape(x)
        return tuple(self.steps[x.position].form.shape)
