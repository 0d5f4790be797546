"""Which elementwise steps of a recording become one loop, and what each loop reads and stores."""

import bisect
import math
import operator
from typing import Any

import numpy as np

from ..rules import getitem
from ..rules.linear.steps import Slot
from ..rules.rulesets.arrays.indexing import scatter
from ..rules.tracing.funnel import astype
from .forms import Form
from .layout import (
    View,
    broadcast,
    has_order,
    is_same,
    is_uniform,
    placed,
    strides_of,
)
from .lowering import ELEMENTWISE, LOGIC, OF_TRUTHS
from .names import NotLowered, kind_of
from .native import Input
from .native import axes as native_axes
from .recorder import Recorder
from .replay import Again, Writer, has_slots

ARRAYS = 24  # of one loop: more do not stay in registers and in the nearest cache
SMALL = 16  # entries, of fewer a loop is not worth a call
MANY = 500  # steps, of which loops follow each other without calls: then all are worth it
MOST = 200_000  # steps
MULTIPLICATIONS = 5000  # of a product of matrices, up to which it is a loop

_FLOAT, _BOOL = np.dtype(np.float64), np.dtype(bool)
_VIEWS = frozenset({
    getitem, np.reshape, np.transpose, np.swapaxes, np.moveaxis, np.expand_dims, np.squeeze,
    np.broadcast_to, np.matrix_transpose, np.ravel,
})  # fmt: skip
_REDUCTIONS: dict[Any, str] = {
    np.sum: "sum", np.mean: "sum", np.max: "max", np.min: "min", np.prod: "prod",
    np.amax: "max", np.amin: "min",
    np.any: "any", np.all: "all",
}  # fmt: skip


_PRODUCTS = (np.matmul, operator.matmul, np.dot)
_NUMBER = (float, np.float64)
_JOINED = (np.stack, np.concatenate, np.array)


class Group:
    """Operations over one shape, in the making."""

    def __init__(self, shape: tuple[int, ...]) -> None:
        self.shape = shape
        self.inputs: dict[tuple, tuple[Input, str]] = {}  # by what is read: and the argument's text
        self.ops: list[tuple] = []
        self.of_step: dict[int, Any] = {}  # what stands for the result of a step: an op, an operand
        self.stored: dict[int, tuple] = {}  # by step: value, strides, reduction, offset

    def arrays(self) -> int:
        return len(self.inputs) + len(self.stored)

    def names(self) -> list[str]:
        """Return the texts of what is read."""
        return [name for _, name in self.inputs.values()]


class Call:
    """A step that NumPy does."""

    def __init__(self, position: int, f: Any, args: tuple, kwargs: dict, lazy: bool) -> None:
        self.position, self.f, self.args, self.kwargs = position, f, args, kwargs
        self.lazy = lazy  # a view, which may be read without being made


class Grouped(Writer):
    """A recording whose steps are put into loops over one shape each, and into calls of NumPy."""

    def __init__(self, recorder: Recorder, output: Any) -> None:
        super().__init__(recorder, output)
        if len(recorder.plan) > MOST:
            raise NotLowered(f"more than {MOST} steps")
        self.many = len(recorder.plan) >= MANY
        self.forms = recorder.forms
        self.looks = [look for _, look in recorder.looks]
        self.items: list[Group | Call] = []
        self.open: dict[tuple, list[int]] = {}  # by shape: loops that may take more
        self.item_of: dict[int, int] = dict.fromkeys(recorder.inputs, -1)
        self.views: dict[int, View] = {}
        self.whole_of: dict[int, int] = {}  # views that are all of an array, as it lies
        self.demanded: set[int] = set()
        self.whole_made: set[int] = set()  # by several loops, each of which makes a part
        self.divided: dict[int, int] = {}  # sums that are means, and by what they are divided
        self.contiguous: set[int] = {
            p for p in recorder.inputs if (form := self.forms[p]) and form.order != "?"
        }
        self.asks_for_order = any(
            has_order((args, kwargs)) for _, _, args, kwargs, *_ in recorder.plan
        )
        for position, f, args, kwargs, _, _ in recorder.plan:
            self.take(position, f, args, kwargs or {})

    # ---- which step goes where ------------------------------------------------------------------

    def take(self, position: int, f: Any, args: tuple, kwargs: dict) -> None:
        form = self.forms[position]
        try:
            if form is not None and self.taken(position, f, args, kwargs, form):
                return
        except NotLowered:
            pass
        view = self.view(f, args, kwargs, form)
        if view is not None:
            self.views[position] = view
            if is_same(view, self.whole(view.base)):
                self.whole_of[position] = view.base
        else:
            self.demand((args, kwargs))
        self.item_of[position] = len(self.items)
        self.items.append(Call(position, f, args, kwargs, view is not None))

    def taken(self, position: int, f: Any, args: tuple, kwargs: dict, form: Form) -> bool:
        """Put a step into a loop, if it has native code and is worth it."""
        if type(f).__hash__ is None:
            return False
        if f in _REDUCTIONS and args and not kwargs.keys() - {"axis", "keepdims"}:
            return len(args) <= 2 and self.reduced(position, f, form, *args, **kwargs)
        if f is scatter:
            return self.scattered(position, form, *args, **kwargs)
        if f in _PRODUCTS and self.many and len(args) == 2 and not kwargs:
            return self.product(position, form, *args)
        if f in _JOINED and self.many and type(args[0]) in (list, tuple):
            axis = () if f is np.array else ("axis",)
            plain = len(args) <= 1 + len(axis) and not kwargs.keys() - set(axis)
            return plain and self.joined(position, f, form, *args, **kwargs)
        if not self.is_worth(form):
            return False
        if form.order == "?" and self.asks_for_order:
            return False  # a loop would lay it out in C's order
        if f is np.broadcast_to and self.is_number(args[0]):
            return self.elementwise(position, "float", [args[0]], form)
        if f is np.where and len(args) == 3 and not kwargs:
            return self.elementwise(position, "where", list(args), form)
        if f is astype and form.kind == _FLOAT and not kwargs.keys() - {"dtype"}:
            return self.elementwise(position, "float", [args[0]], form)
        if (f in ELEMENTWISE or f in OF_TRUTHS) and not kwargs:
            truths = all(self.kind_read(x) == "b1" for x in args)
            name = (OF_TRUTHS.get(f) if truths else None) or ELEMENTWISE.get(f)
            root = name == "power" and type(args[1]) is not Slot and np.all(np.equal(args[1], 0.5))
            if root and (f is np.float_power or np.ndim(args[1]) or not form.array):
                return False  # no root, of which -0.0 and -inf tell
            return name is not None and self.elementwise(position, name, list(args), form)
        return False

    def is_worth(self, form: Form) -> bool:
        """Say whether numbers of this form are computed in a loop."""
        if self.many and form.kind in _NUMBER:
            return True
        kind = form.array and form.kind in (_FLOAT, _BOOL)
        return kind and (self.many or math.prod(form.shape) >= SMALL)

    def is_number(self, x: Any) -> bool:
        form = self.forms[x.position] if type(x) is Slot else None
        return form is not None and not form.array and form.kind in _NUMBER

    def elementwise(self, position: int, name: str, args: list, form: Form) -> bool:
        kind = "f8" if form.kind == _FLOAT else "b1"
        if name == "power" and type(args[1]) in (int, float, np.float64) and args[1] == 2:
            name, args = "multiply", [args[0], args[0]]
        number, group = self.group(form.shape, args)
        operands = [self.operand(group, x) for x in args]
        wanted = ["b1"] * len(operands) if name in LOGIC else ["f8"] * len(operands)
        if name == "where":
            wanted = ["b1", kind, kind]
        converted = [self.converted(group, x, k) for x, k in zip(operands, wanted, strict=True)]
        y = converted[0] if name == "float" else self.op(group, kind, name, *converted)
        group.of_step[position] = y
        self.item_of[position] = number
        self.contiguous.add(position)
        return True

    def group(self, shape: tuple[int, ...], args: list) -> tuple[int, Group]:
        """Return the first loop over ``shape`` that can read ``args``, or a new one."""
        first = max([self.earliest(x, shape) for x in args], default=0)
        numbers = self.open.setdefault(shape, [])
        full: list[int] = []
        for k in range(bisect.bisect_left(numbers, first), len(numbers)):
            item = self.items[numbers[k]]
            assert type(item) is Group
            if item.arrays() < ARRAYS:
                return numbers[k], item
            full.append(k)
        for k in reversed(full):
            del numbers[k]
        made = Group(shape)
        numbers.append(len(self.items))
        self.items.append(made)
        return len(self.items) - 1, made

    def earliest(self, x: Any, shape: tuple[int, ...]) -> int:
        """Return the first item that can read ``x``."""
        if type(x) is not Slot:
            return 0
        position = self.whole_of.get(x.position, x.position)
        at = self.item_of[position]
        if position in self.views:
            return self.item_of[self.views[position].base] + 1
        item = self.items[at] if at >= 0 else None
        same = type(item) is Group and item.shape == shape and position in item.of_step
        return at if same else at + 1

    # ---- operands -------------------------------------------------------------------------------

    def kind_read(self, x: Any) -> str:
        """Return "f8" or "b1" for what a step reads."""
        if type(x) is Slot:
            form = self.forms[x.position]
            kind = None if form is None else kind_of(form)
            if kind in ("f8", "b1"):
                return kind
        elif type(x) in (float, int, np.float64, np.int64):
            return "f8"
        elif type(x) in (bool, np.bool_):
            return "b1"
        elif type(x) is np.ndarray and x.dtype.kind in "iu":
            return "f8"
        elif type(x) is np.ndarray and x.dtype in (_FLOAT, _BOOL):
            return "f8" if x.dtype == _FLOAT else "b1"
        raise NotLowered("an operand that is no float64")

    def operand(self, group: Group, x: Any, axes: tuple[int, ...] | None = None) -> Any:
        """Return what stands for ``x`` in a loop: a value of it, an input, or a constant.

        ``axes`` says which axes of the loop are those of ``x``, if it is not broadcast.
        """
        kind = self.kind_read(x)
        if type(x) is Slot:
            position = self.whole_of.get(x.position, x.position)
            if position in group.of_step:
                return group.of_step[position]
            return self.read(group, position, kind, axes)
        if type(x) is not np.ndarray or x.ndim == 0 or is_uniform(x):
            entry = x if type(x) is not np.ndarray else x.reshape(-1)[0]
            return ("c", bool(entry) if kind == "b1" else float(entry))
        array = np.ascontiguousarray(x, _FLOAT if kind == "f8" else _BOOL)
        strides = spread(array.shape, strides_of(array.shape), group.shape, axes)
        return self.input(group, (id(x), strides), Input(kind, strides), self.constant(array), kind)

    def read(self, group: Group, position: int, kind: str, axes: tuple[int, ...] | None) -> Any:
        form = self.forms[position]
        assert form is not None
        if not form.array and position not in self.views:
            self.demand(Slot(position))
            if form.kind is np.bool_:
                raise NotLowered("a truth by itself")
            return self.input(group, (position,), Input(kind, None), f"v{position}", kind)
        view = self.views.get(position) or self.whole(position)
        self.demand(Slot(view.base))
        strides = spread(view.shape, view.strides, group.shape, axes)
        name = f"v{view.base}" if view.base in self.contiguous else f"w{view.base}"
        place = Input(kind, strides, view.offset)
        return self.input(group, (view.base, view.offset, strides), place, name, kind)

    def whole(self, position: int) -> View:
        form = self.forms[position]
        assert form is not None
        order = form.order if position in self.contiguous else "C"
        return View(position, 0, form.shape, strides_of(form.shape, order))

    def input(self, group: Group, key: tuple, place: Input, text: str, kind: str) -> Any:
        if key not in group.inputs:
            group.inputs[key] = place, text
        return ("in", key, kind)

    def op(self, group: Group, kind: str, name: str, *operands: Any) -> Any:
        group.ops.append((name, *operands))
        return ("op", len(group.ops) - 1, kind)

    def converted(self, group: Group, x: Any, kind: str) -> Any:
        if x[0] == "c":
            return ("c", bool(x[1]) if kind == "b1" else float(x[1]))
        if x[2] == kind:
            return x
        return self.op(group, kind, "bool" if kind == "b1" else "float", x)

    def demand(self, x: Any) -> None:
        """Note that the slots in ``x`` must be arrays or numbers in Python's hands."""
        left = [x]
        while left:
            x = left.pop()
            if type(x) is Slot or type(x) is Again:
                if x.position in self.demanded:
                    continue
                self.demanded.add(x.position)
                view = self.views.get(x.position)
                if view is not None:
                    # It is made at once of the whole array, or as it was, of another view.
                    made = self.items[self.item_of[x.position]]
                    assert type(made) is Call
                    of_base = self.is_made_of_base(x.position, view)
                    left += [Slot(view.base)] if of_base else [made.args, made.kwargs]
            elif type(x) in (tuple, list):
                left += x
            elif type(x) is dict:
                left += x.values()

    # ---- reductions, parts, views ---------------------------------------------------------------

    def reduced(
        self, position: int, f: Any, form: Form, x: Any, axis: Any = None, keepdims: Any = False
    ) -> bool:
        if type(x) is not Slot or (given := self.forms[x.position]) is None or not given.array:
            return False
        shape, name = given.shape, _REDUCTIONS[f]
        one = not form.array and form.kind not in _ONE
        few = not self.many and math.prod(shape) < SMALL
        if not shape or not math.prod(shape) or few or type(axis) is Slot or one:
            return False
        if form.array and form.kind not in (_FLOAT, _BOOL):
            return False
        given_axes = range(len(shape)) if axis is None else axis
        given_axes = given_axes if isinstance(given_axes, range | tuple) else (given_axes,)
        axes = {k % len(shape) for k in given_axes}
        kept = [k for k in range(len(shape)) if k not in axes]
        strides, step = [0] * len(shape), 1
        for k in kept if form.array and form.order == "F" else reversed(kept):
            strides[k], step = step, step * shape[k]
        if form.kind in (_BOOL, np.bool_):
            name = {"max": "any", "min": "all"}.get(name, name)
        number, group = self.group(shape, [x])
        value = self.operand(group, x)
        value = self.converted(group, value, "b1" if name in ("any", "all") else "f8")
        if value[0] == "c":
            return False
        group.stored[position] = value, tuple(strides), name, 0
        self.item_of[position] = number
        self.contiguous.add(position)
        self.demanded.add(position)
        if f is np.mean:
            self.divided[position] = math.prod([shape[k] for k in axes])
        return True

    def product(self, position: int, form: Form, x: Any, y: Any) -> bool:
        """Multiply small matrices or vectors as ``np.matmul`` does, of at most two axes."""
        if form.kind != _FLOAT or self.kind_read(x) != "f8" or self.kind_read(y) != "f8":
            return False
        shapes = [self.shape_of(x), self.shape_of(y)]
        if not all(1 <= len(shape) <= 2 for shape in shapes):
            return False
        (*m, k), n = shapes[0], shapes[1][1:]
        shape = (*m, k, *n)
        if not 0 < math.prod(shape) <= MULTIPLICATIONS:
            return False
        group = Group(shape)
        one = self.operand(group, x, (*range(len(m)), len(m)))
        other = self.operand(group, y, (len(m), *range(len(m) + 1, len(shape))))
        value = self.op(group, "f8", "multiply", one, other)
        strides = strides_of((*m, *n), form.order if form.order == "F" else "C")
        group.stored[position] = value, (*strides[: len(m)], 0, *strides[len(m) :]), "sum", 0
        self.item_of[position] = len(self.items)
        self.items.append(group)
        self.contiguous.add(position)
        self.demanded.add(position)
        return True

    def joined(self, position: int, f: Any, form: Form, xs: Any, axis: Any = 0) -> bool:
        """Put arrays side by side: a loop each, which stores a part of the result."""
        if not xs or any(type(x) in (list, tuple) for x in xs) or type(axis) is not int:
            return False
        if form.kind != _FLOAT or form.order != "C" or math.prod(form.shape) >= native_axes.LEAST:
            return False
        if any(self.kind_read(x) != "f8" for x in xs):
            return False
        result, start, places = View(position, 0, form.shape, strides_of(form.shape)), 0, []
        before = (slice(None),) * (axis % len(form.shape))
        for shape in map(self.shape_of, xs):
            size = shape[axis] if f is np.concatenate else 1
            at = slice(start, start + size) if f is np.concatenate else start
            place = placed(getitem, ((*before, at),), {}, result)
            start += size
            if place is None or place.shape != shape:
                return False
            places.append(place)
        made = []
        for x, place in zip(xs, places, strict=True):
            group = Group(place.shape)
            value = self.operand(group, x)
            if value[0] == "c":
                value = self.op(group, "f8", "where", ("c", True), value, value)
            group.stored[position] = value, place.strides, None, place.offset
            made.append(group)
        self.items += made
        self.item_of[position] = len(self.items) - 1
        self.whole_made.add(position)
        self.contiguous.add(position)
        self.demanded.add(position)
        return True

    def shape_of(self, x: Any) -> tuple[int, ...]:
        if type(x) is not Slot:
            return np.shape(x)
        form = self.forms[x.position]
        assert form is not None
        return form.shape

    def scattered(
        self, position: int, form: Form, x: Any, shape: Any, dtype: Any, index: Any
    ) -> bool:
        """Store what is scattered at a plain index into an array of zeros."""
        if type(x) is not Slot or form.kind != _FLOAT or has_slots(index) or not form.array:
            return False
        given = self.forms[x.position]
        few = given is None or (not self.many and math.prod(given.shape) < SMALL)
        if given is None or few or not given.array:
            return False
        place = placed(getitem, (index,), {}, View(position, 0, form.shape, strides_of(form.shape)))
        if place is None or place.shape != given.shape:
            return False
        number, group = self.group(given.shape, [x])
        value = self.converted(group, self.operand(group, x), "f8")
        if value[0] == "c":
            return False
        value = self.op(group, "f8", "add", value, ("c", 0.0))  # of -0.0 and nothing it is 0.0
        group.stored[position] = value, place.strides, None, place.offset
        self.item_of[position] = number
        self.contiguous.add(position)
        self.demanded.add(position)
        return True

    def is_made_of_base(self, position: int, view: View) -> bool:
        """Say whether NumPy makes a view at once of the array that it is a part of."""
        form = self.forms[position]
        if view.base not in self.contiguous or form is None or not form.array:
            return False
        return position in self.whole_of or _can_be_made(view, self.forms[view.base])

    def view(self, f: Any, args: tuple, kwargs: dict, form: Form | None) -> View | None:
        """Return where the result of a step lies in the array that it is a view of."""
        if type(f).__hash__ is None or f not in _VIEWS or not args or type(args[0]) is not Slot:
            return None
        source = self.forms[args[0].position]
        if form is None or source is None or not source.array:
            return None
        if not form.array and not (self.many and f is getitem and form.kind is np.float64):
            return None
        if has_slots((args[1:], kwargs)) or source.kind not in (_FLOAT, _BOOL) or not source.shape:
            return None
        known = self.views.get(args[0].position) or self.whole(args[0].position)
        if known.base not in self.contiguous and has_order((args[1:], kwargs)):
            return None
        place = placed(f, args[1:], kwargs, known)
        return place if place is not None and place.shape == form.shape else None


def spread(shape: tuple, strides: tuple, target: tuple, axes: tuple | None) -> tuple[int, ...]:
    """Return the strides of an array along the axes of a loop over ``target``."""
    if axes is None:
        return broadcast(shape, strides, target)
    along = dict(zip(axes, strides, strict=True))
    return tuple([along.get(k, 0) for k in range(len(target))])


_ONE = (float, np.float64, np.bool_)


def _can_be_made(view: View, form: Form | None) -> bool:
    """Say whether ``np.ndarray`` makes a view of an array of this form in one go."""
    if form is None or form.order != "C":
        return False
    size, memory = form.kind.itemsize, np.empty(form.shape, form.kind)
    try:
        strides = [size * step for step in view.strides]
        np.ndarray(view.shape, form.kind, memory, size * view.offset, strides)
    except ValueError:
        return False
    return True
