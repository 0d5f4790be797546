"""Programs on arrays: elementwise operations of one shape are fused to one native loop.

``np.sum(np.sin(x) ** 2)`` and its gradient are one loop over ``x``: the sum rides along, and
nothing but ``x`` and the gradient lies in memory. Slices and transposes are read where they lie.
What has no native code (products of matrices, solves, indices that are computed) is a call of
NumPy, as in a replay.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from ..rules import getitem, name_of
from ..rules.linear.steps import Slot
from ..rules.rulesets.arrays.indexing import scatter
from ..rules.tracing.funnel import astype
from .forms import Form
from .line_of_numbers import NotLowered
from .looks import Look
from .lowering import ELEMENTWISE, LOGIC, OF_TRUTHS
from .native import Input, Output, build
from .recorder import Recorder
from .replay import Again, Missed, Writer

ARRAYS = 24  # of one loop: more do not stay in registers and in the nearest cache
SMALL = 16  # entries, of fewer a loop is not worth a call
STEPS = 4000  # in one Python function

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


class View:
    """An array as a part of another one: ``base``, and where its entries lie in that."""

    __slots__ = ("base", "offset", "shape", "strides")

    def __init__(self, base: int, offset: int, shape: tuple, strides: tuple) -> None:
        self.base, self.offset, self.shape, self.strides = base, offset, shape, strides


class Group:
    """Operations over one shape, in the making."""

    def __init__(self, shape: tuple[int, ...]) -> None:
        self.shape = shape
        self.inputs: dict[tuple, tuple[Input, str]] = {}  # by what is read: and the argument's text
        self.ops: list[tuple] = []
        self.of_step: dict[int, Any] = {}  # what stands for the result of a step: an op, an operand
        self.kinds: dict[int, str] = {}
        self.stored: dict[int, tuple] = {}  # by step: value, strides, reduction, offset

    def arrays(self) -> int:
        return len(self.inputs) + len(self.stored)


class Call:
    """A step that NumPy does."""

    def __init__(self, position: int, f: Any, args: tuple, kwargs: dict, lazy: bool) -> None:
        self.position, self.f, self.args, self.kwargs = position, f, args, kwargs
        self.lazy = lazy  # a view, which may be read without being made


class Fused(Writer):
    """A recording as calls of fused loops and of NumPy, which runs as a ``Replay`` does.

    Raises
    ------
    NotLowered
        When made, if there is nothing to fuse.
    """

    def __init__(self, recorder: Recorder, output: Any) -> None:
        super().__init__(recorder, output)
        if len(recorder.plan) > STEPS:
            raise NotLowered("more steps than one function of Python takes")
        self.forms = recorder.forms
        self.looks = [look for _, look in recorder.looks]
        self.items: list[Group | Call] = []
        self.item_of: dict[int, int] = dict.fromkeys(recorder.inputs, -1)
        self.views: dict[int, View] = {}
        self.demanded: set[int] = set()
        self.divided: dict[int, int] = {}  # sums that are means, and by what they are divided
        self.contiguous: set[int] = {
            p for p in recorder.inputs if (form := self.forms[p]) and form.order != "?"
        }
        self.asks_for_order = any(
            _has_order((args, kwargs)) for _, _, args, kwargs, *_ in recorder.plan
        )
        for position, f, args, kwargs, _, _ in recorder.plan:
            self.take(position, f, args, kwargs or {})
        if not any(type(item) is Group for item in self.items):
            raise NotLowered("nothing but calls of NumPy")
        self.loops: list[str] = []
        self.run: Callable[[list], tuple[Missed | None, Any]] = self.written(output)
        calls = [item for item in self.items if type(item) is Call and self.is_made(item)]
        self.how = [f"machine code: {len(self.loops)} loops, {len(calls)} calls of NumPy"]
        self.how += [f"  a loop over {loop}" for loop in self.loops]
        self.how += [f"  NumPy's {name_of(call.f)}" for call in calls]

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
        if not form.array or form.kind not in (_FLOAT, _BOOL) or _size(form.shape) < SMALL:
            return False
        if form.order == "?" and self.asks_for_order:
            return False  # a loop would lay it out in C's order
        if f is np.where and len(args) == 3 and not kwargs:
            return self.elementwise(position, "where", list(args), form)
        if f is astype and form.kind == _FLOAT and not kwargs.keys() - {"dtype"}:
            return self.elementwise(position, "float", [args[0]], form)
        if (f in ELEMENTWISE or f in OF_TRUTHS) and not kwargs:
            truths = all(self.kind_of(x) == "b1" for x in args)
            name = (OF_TRUTHS.get(f) if truths else None) or ELEMENTWISE.get(f)
            if name == "power" and _is_half(args[1]) and (f is np.float_power or np.ndim(args[1])):
                return False  # no root, of which -0.0 and -inf tell
            return name is not None and self.elementwise(position, name, list(args), form)
        return False

    def elementwise(self, position: int, name: str, args: list, form: Form) -> bool:
        kind = "f8" if form.kind == _FLOAT else "b1"
        if name == "power" and type(args[1]) in (int, float, np.float64) and args[1] == 2:
            name, args = "multiply", [args[0], args[0]]
        number, group = self.group(form.shape, args)
        operands = [self.operand(group, number, x) for x in args]
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
        for number in range(first, len(self.items)):
            item = self.items[number]
            if type(item) is Group and item.shape == shape and item.arrays() < ARRAYS:
                return number, item
        made = Group(shape)
        self.items.append(made)
        return len(self.items) - 1, made

    def earliest(self, x: Any, shape: tuple[int, ...]) -> int:
        """Return the first item that can read ``x``."""
        if type(x) is not Slot:
            return 0
        position = x.position
        at = self.item_of[position]
        if position in self.views:
            return self.item_of[self.views[position].base] + 1
        item = self.items[at] if at >= 0 else None
        same = type(item) is Group and item.shape == shape and position in item.of_step
        return at if same else at + 1

    # ---- operands -------------------------------------------------------------------------------

    def kind_of(self, x: Any) -> str:
        """Return "f8" or "b1" for what a step reads."""
        if type(x) is Slot:
            form = self.forms[x.position]
            if form is not None and form.kind in (_FLOAT, float, np.float64):
                return "f8"
            if form is not None and form.kind in (_BOOL, np.bool_):
                return "b1"
        elif type(x) in (float, int, np.float64, np.int64):
            return "f8"
        elif type(x) in (bool, np.bool_):
            return "b1"
        elif type(x) is np.ndarray and x.dtype.kind in "iu":
            return "f8"
        elif type(x) is np.ndarray and x.dtype in (_FLOAT, _BOOL):
            return "f8" if x.dtype == _FLOAT else "b1"
        raise NotLowered("an operand that is no float64")

    def operand(self, group: Group, number: int, x: Any) -> Any:
        """Return what stands for ``x`` in a loop: a value of it, an input, or a constant."""
        kind = self.kind_of(x)
        if type(x) is Slot:
            if x.position in group.of_step:
                return group.of_step[x.position]
            return self.read(group, x.position, kind)
        if type(x) is not np.ndarray or x.ndim == 0 or _is_uniform(x):
            entry = x if type(x) is not np.ndarray else x.reshape(-1)[0]
            return ("c", bool(entry) if kind == "b1" else float(entry))
        array = np.ascontiguousarray(x, _FLOAT if kind == "f8" else _BOOL)
        strides = _broadcast(array.shape, _strides(array.shape), group.shape)
        return self.input(group, (id(x), strides), Input(kind, strides), self.constant(array), kind)

    def read(self, group: Group, position: int, kind: str) -> Any:
        form = self.forms[position]
        assert form is not None
        if not form.array:
            self.demand(Slot(position))
            if form.kind is np.bool_:
                raise NotLowered("a truth by itself")
            return self.input(group, (position,), Input(kind, None), f"v{position}", kind)
        view = self.views.get(position) or self.whole(position)
        self.demand(Slot(view.base))
        strides = _broadcast(view.shape, view.strides, group.shape)
        name = f"v{view.base}" if view.base in self.contiguous else f"w{view.base}"
        place = Input(kind, strides, view.offset)
        return self.input(group, (view.base, view.offset, strides), place, name, kind)

    def whole(self, position: int) -> View:
        form = self.forms[position]
        assert form is not None
        order = form.order if position in self.contiguous else "C"
        return View(position, 0, form.shape, _strides(form.shape, order))

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
                if x.position in self.views:  # made by NumPy, of the view that it is taken of
                    call = self.items[self.item_of[x.position]]
                    assert type(call) is Call
                    left.append(call.args)
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
        if (
            not shape
            or _size(shape) < SMALL
            or type(axis) is Slot
            or (not form.array and form.kind not in _ONE)
        ):
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
        value = self.operand(group, number, x)
        value = self.converted(group, value, "b1" if name in ("any", "all") else "f8")
        if value[0] == "c":
            return False
        group.stored[position] = value, tuple(strides), name, 0
        self.item_of[position] = number
        self.contiguous.add(position)
        self.demanded.add(position)
        if f is np.mean:
            self.divided[position] = _size([shape[k] for k in axes])
        return True

    def scattered(
        self, position: int, form: Form, x: Any, shape: Any, dtype: Any, index: Any
    ) -> bool:
        """Store what is scattered at a plain index into an array of zeros."""
        if type(x) is not Slot or form.kind != _FLOAT or _has_slot(index) or not form.array:
            return False
        given = self.forms[x.position]
        if given is None or not given.array or _size(given.shape) < SMALL:
            return False
        place = _placed(getitem, (index,), {}, View(position, 0, form.shape, _strides(form.shape)))
        if place is None or place.shape != given.shape:
            return False
        number, group = self.group(given.shape, [x])
        value = self.converted(group, self.operand(group, number, x), "f8")
        if value[0] == "c":
            return False
        value = self.op(group, "f8", "add", value, ("c", 0.0))  # of -0.0 and nothing it is 0.0
        group.stored[position] = value, place.strides, None, place.offset
        self.item_of[position] = number
        self.contiguous.add(position)
        self.demanded.add(position)
        return True

    def view(self, f: Any, args: tuple, kwargs: dict, form: Form | None) -> View | None:
        """Return where the result of a step lies in the array that it is a view of."""
        if type(f).__hash__ is None or f not in _VIEWS or not args or type(args[0]) is not Slot:
            return None
        source = self.forms[args[0].position]
        if form is None or not form.array or source is None or not source.array:
            return None
        if _has_slot((args[1:], kwargs)) or source.kind not in (_FLOAT, _BOOL) or not source.shape:
            return None
        known = self.views.get(args[0].position) or self.whole(args[0].position)
        if known.base not in self.contiguous and _has_order((args[1:], kwargs)):
            return None
        place = _placed(f, args[1:], kwargs, known)
        return place if place is not None and place.shape == form.shape else None

    # ---- source ---------------------------------------------------------------------------------

    def written(self, output: Any) -> Callable:
        recorder = self.recorder
        self.demand(recorder.outputs)
        for look in self.looks:
            self.demand(Slot(look.position))
        at, body = 0, []
        for item in self.items:
            if isinstance(item, Group):
                body += self.loop(item)
                continue
            at = self._looks_before(item.position, at, recorder.looks, body)
            if not self.is_made(item):
                continue
            body.append(f"v{item.position} = {self.step(item.f, item.args, item.kwargs)}")
            if self._is_read_by_loops(item.position):
                body.append(f"w{item.position} = ascontiguousarray(v{item.position})")
        self._looks_before(len(recorder.steps) + 1, at, recorder.looks, body)
        body.append(f"return None, {self.expression(output, final=True)}")
        head = [
            f"w{p} = ascontiguousarray(v{p})"
            for p in recorder.inputs
            if p not in self.contiguous and self._is_read_by_loops(p)
        ]
        given = ", ".join(f"v{p}" for p in recorder.inputs)
        unpacked = [f"({given},) = values"] if given else []
        self.source = "\n    ".join(["def run(values):", *unpacked, *head, *body])
        names = {
            **self.names, "ascontiguousarray": np.ascontiguousarray, "empty": np.empty,
            "zeros": np.zeros, "bool_": np.bool_, "float64": np.float64,
        }  # fmt: skip
        exec(compile(self.source, "<native recording>", "exec"), names)
        return names["run"]

    def is_made(self, call: Call) -> bool:
        return not call.lazy or call.position in self.demanded

    def look(self, at: int, look: Look) -> str:
        return super().look(at, look).replace(f"return {at}, ", f"return ({at}, ") + "), None"

    def _is_read_by_loops(self, position: int) -> bool:
        text = f"w{position}"
        return any(
            type(item) is Group and any(name == text for _, name in item.inputs.values())
            for item in self.items
        )

    def loop(self, group: Group) -> list[str]:
        """Return the lines that call a loop, and make the arrays that it fills."""
        before, after, names = [], [], []
        stored = dict(group.stored)
        for position, value in group.of_step.items():
            if position in self.demanded and position not in stored:
                stored[position] = value, self.whole(position).strides, None, 0
        if not stored:
            return []
        keys = list(group.inputs)
        inputs = [group.inputs[key][0] for key in keys]
        numbers = {key: k for k, key in enumerate(keys)}

        def operand(x: tuple) -> Any:
            if x[0] == "c":
                return x
            return numbers[x[1]] if x[0] == "in" else len(keys) + x[1]

        ops, outputs = [(name, *map(operand, xs)) for name, *xs in group.ops], []
        for position, (value, strides, reduction, offset) in stored.items():
            form = self.forms[position]
            assert form is not None
            name = f"v{position}"
            kind = "b1" if form.kind in (_BOOL, np.bool_) else "f8"
            dtype = ", bool_" if kind == "b1" else ""
            made = "empty" if reduction or position in group.of_step else "zeros"
            target = name if form.array else f"a{position}"
            shape = form.shape if form.array else ()
            order = ", order='F'" if form.order == "F" else ""
            before.append(f"{target} = {made}({shape}{dtype}{order})")
            if value[0] == "c":
                raise NotLowered("a constant result")
            outputs.append(Output(operand(value), strides, reduction, kind, offset))
            names.append(target)
            if position in self.divided:
                if form.array:
                    after.append(f"{name} /= {self.divided[position]}")
                else:
                    after.append(f"{name} = a{position}[()] / {self.divided[position]}")
            elif not form.array:
                after.append(f"{name} = a{position}[()]")
        self.loops.append(f"{group.shape}: {len(ops)} operations, {len(inputs)} arrays or numbers "
                          f"read, {len(outputs)} made")  # fmt: skip
        kernel = self.constant(build(group.shape, inputs, ops, outputs))
        given = [group.inputs[key][1] for key in keys]
        return [*before, f"{kernel}({', '.join([*given, *names])})", *after]


_ONE = (float, np.float64, np.bool_)


def _size(shape: Any) -> int:
    return int(np.prod(shape)) if len(shape) else 1


def _strides(shape: tuple[int, ...], order: str = "C") -> tuple[int, ...]:
    """Return the strides, in entries, of an array of this shape in C's or in Fortran's order."""
    if order == "F":
        return _strides(shape[::-1])[::-1]
    strides, step = [], 1
    for n in reversed(shape):
        strides.append(step)
        step *= n
    return tuple(reversed(strides))


def _broadcast(shape: tuple, strides: tuple, target: tuple) -> tuple[int, ...]:
    missing = len(target) - len(shape)
    pairs = zip(shape, strides, target[missing:], strict=True)
    return (0,) * missing + tuple([0 if n == 1 and m != 1 else s for n, s, m in pairs])


def _is_uniform(x: np.ndarray) -> bool:
    return x.size > 0 and x.dtype.kind in "fb" and bool((x == x.reshape(-1)[0]).all())


def _is_half(x: Any) -> bool:
    return type(x) is not Slot and bool(np.all(np.equal(x, 0.5)))


def _has_slot(x: Any) -> bool:
    if type(x) in (tuple, list):
        return any(map(_has_slot, x))
    return any(map(_has_slot, x.values())) if type(x) is dict else type(x) is Slot


def _has_order(x: Any) -> bool:
    """Say whether settings name an order that depends on how an array lies in memory."""
    if type(x) in (tuple, list):
        return any(map(_has_order, x))
    return any(map(_has_order, x.values())) if type(x) is dict else type(x) is str and x in "KA"


def _placed(f: Any, rest: tuple, options: dict, view: View) -> View | None:
    """Return where ``f`` of a view lies, by asking NumPy; None where it copies."""
    steps = [(n - 1) * s for n, s in zip(view.shape, view.strides, strict=True)]
    if not all(view.shape):
        return None
    memory = np.empty(1 + sum(map(abs, steps)))  # all of it: where f copies, it reads that
    first = memory[-sum(step for step in steps if step < 0) :]
    given = np.lib.stride_tricks.as_strided(first, view.shape, [8 * s for s in view.strides])
    if f is getitem:
        (index,) = rest if rest else (options["index"],)
        parts = index if type(index) is tuple else (index,)
        if not all(type(p) in (int, slice, type(None), type(...)) for p in parts):
            return None
        y = given[index]
        if type(y) is not np.ndarray:
            return None
    else:
        y = f(given, *rest, **options)
    if y.size == 0 or not np.may_share_memory(y, memory):
        return None
    start = given.__array_interface__["data"][0]
    offset = (y.__array_interface__["data"][0] - start) // 8
    return View(view.base, view.offset + offset, y.shape, tuple([s // 8 for s in y.strides]))
