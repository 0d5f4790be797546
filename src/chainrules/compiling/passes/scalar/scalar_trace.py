"""A recording lowered to operations on single numbers: every array is its entries.

``x[1:] - x[:-1]`` of three numbers is two subtractions. An array is lowered to an array of the
*names* of numbers, so that NumPy itself says what ``reshape``, ``x[::-1]`` or ``concatenate`` do.
"""

import math
import operator
from collections.abc import Callable
from itertools import repeat
from typing import Any

import numpy as np

from ....config.thresholds import SCALAR_ARRAY, SCALAR_OPERATIONS
from ....rules import getitem
from ....rules.linear.steps import Slot
from ...ir.forms import ValueForm
from ...ir.looks import WHOLE, Look, bits
from ...ir.lowering import OF_BOOLEANS, lowering_of
from ...ir.scalars import FLOATS, Names, NotLowered, kind_of, settings
from ...native import Input, NativeConstant, Operation
from ...native.assembly.operation import Operations
from ...native.assembly.operations import LOGIC, OPCODES
from ...native.limits import WRITTEN_OPERATIONS
from ...record.recorder import Recorder
from .matrix_steps import MATRIX_STEPS, SEVERAL
from .scalar_simplification import simplified
from .scalar_steps import LARGEST, STEPS, nested_loop, of_counts
from .small_matrices import Factors

_NUMBERS = (float, np.float64)
_BUILT_IN = type(operator.add)
_FLOAT_OPERATIONS = frozenset({"add", "subtract", "multiply", "divide", "negative"})
_WHOLE = frozenset({"add", "subtract", "negative", "absolute", "maximum", "minimum"})


class ScalarTrace:
    """Operations on numbers, to which the steps of a recording are lowered one after another.

    With ``whole`` an input may be a whole number, and ``exact`` has the names of those computed
    that may have grown beyond what a float64 holds exactly; ``finite`` of what a loop gives, where
    it is to be run in Python if it is not finite; ``regular`` truths without which NumPy does it.
    """

    def __init__(self, steps: list[Operation], whole: bool = False) -> None:
        self.steps, self.whole = steps, whole
        self.exact: list[int] = []
        self.bounds: dict[int, int] = {}  # of integers, by name: what they are not larger than
        self.finite: list[int] = []
        self.regular: list[int] = []
        self.factors: dict[Any, Factors] = {}  # by the names in the rows of the matrix
        self.constants: list[Any] = []
        self.known_constants: dict[Any, int] = {}
        self.ops = Operations([])
        self.known: dict[tuple, int] = {}
        self.inputs: list[Input] = []
        self.ends: list[int] = []  # after each step, how many operations there are
        self.values: dict[int, Any] = {}
        self.first = 0  # the name of the first result, behind those of the inputs

    @classmethod
    def of(
        cls,
        recorder: Recorder,
        kept: frozenset[int] | set[int] = frozenset(),
        whole: bool = False,
    ) -> "ScalarTrace":
        """Return a recording lowered; the results of steps ``kept`` are asked for."""
        trace = cls(recorder.steps, whole)
        for position in recorder.inputs:
            trace.values[position] = trace.input(recorder.steps[position].form)
        trace.first = len(trace.inputs)
        for position, step in recorder.plan.items():
            trace.add(position, trace.lowered(step))
            for read in recorder.last_reads.get(position, ()):
                if read not in kept:
                    del trace.values[read]
        return trace

    def add(self, position: int, names: Any) -> None:
        """Enter what the step at ``position`` gives, behind its operations."""
        self.values[position] = names
        self.ends.append(len(self.ops))
        if len(self.ops) > (WRITTEN_OPERATIONS if self.whole else SCALAR_OPERATIONS):
            raise NotLowered("too many operations on single numbers")

    # ---- inputs and constants -------------------------------------------------------------------

    def input(self, form: ValueForm | None) -> Names:
        kind = "f8"
        whole = (int, np.int64) if self.whole else (int,)
        if form is not None and form.kind in whole and (self.whole or not form.array):
            kind = "i8"
        elif form is None or form.kind not in FLOATS:
            raise NotLowered("an argument that is no float64")
        if form.order == "?":
            raise NotLowered("an argument with gaps")
        first = len(self.inputs)
        if not form.array:
            self.inputs.append(Input("f8", None))
            return Names(np.array(first), kind)
        size = math.prod(form.shape)
        if size > SCALAR_ARRAY:
            raise NotLowered("a large array")
        places = np.arange(size).reshape(form.shape[::-1] if form.order == "F" else form.shape)
        places = places.T if form.order == "F" else places
        if not size:
            raise NotLowered("an empty array")
        self.inputs.append(Input("f8", (), 0))
        self.inputs += [Input("f8", (), k, first) for k in range(1, size)]
        return Names(first + places, kind)

    def constant(self, x: Any) -> int:
        key = bits(x)
        name = self.known_constants.get(key)
        if name is None:
            self.constants.append(x)
            name = self.known_constants[key] = -len(self.constants)
        return name

    def names(self, x: Any) -> Names:
        """Return the names of the entries of an argument of a step."""
        kind = type(x)
        if kind is Slot:
            y = self.values[x.position]
            if type(y) is not Names:
                raise NotLowered("a tuple")
            return y
        if kind is float or kind is np.float64:
            return Names(np.array(self.constant(float(x))), "f8")
        if kind is int or kind is np.int64:
            if abs(x) > LARGEST:
                raise NotLowered("a large integer")
            return Names(np.array(self.constant(float(x))), "i8")
        if kind is bool or kind is np.bool_:
            return Names(np.array(self.constant(bool(x))), "b1")
        if kind is np.ndarray and x.dtype.kind in "fiub" and x.size <= SCALAR_ARRAY:
            if x.dtype.kind == "f" and x.dtype != np.float64:
                raise NotLowered(f"an array of {x.dtype}")
            if x.dtype.kind in "iu" and x.size and max(-int(x.min()), int(x.max())) > LARGEST:
                raise NotLowered("a large integer")
            truth = x.dtype.kind == "b"
            convert: Callable = bool if truth else float
            flat = [self.constant(convert(v)) for v in x.reshape(-1).tolist()]
            shaped = np.array(flat, np.int64).reshape(x.shape)
            return Names(shaped, "b1" if truth else "f8" if x.dtype.kind == "f" else "i8")
        if kind is list or kind is tuple:
            parts, common = self.parts(x)
            if len({part.shape for part in parts}) == 1:
                return Names(np.array(parts), common)
        raise NotLowered(f"a {kind.__name__} among the arguments")

    def parts(self, xs: list | tuple) -> tuple[list[np.ndarray], str]:
        """Return the names of several arrays, converted to one kind, and that kind."""
        parts = [self.names(x) for x in xs]
        kinds = {part.kind for part in parts}
        if len(kinds) == 1:
            return [part.ids for part in parts], kinds.pop()
        if "f8" not in kinds:
            raise NotLowered("truths and integers together")
        return [self.as_kind(part, "f8").ids for part in parts], "f8"

    # ---- what comes out -------------------------------------------------------------------------

    def truth(self, look: Look) -> int:
        """Return the name of the truth that a look sees."""
        x = self.values[look.position]
        if type(x) is not Names or x.ids.size != 1:
            raise NotLowered("a look at an array")
        name = int(x.ids.reshape(-1)[0])
        if look.kind == "zero":
            return self.op("equal", name, self.constant(0.0))
        if look.kind == "finite":
            return self.op("isfinite", name)
        return name if x.kind == "b1" else self.op("bool", name)

    def is_same(self, look: Look) -> int | None:
        """Return the name of the truth that a look sees the whole number that it saw.

        None where it looks at something else.
        """
        if look.kind not in WHOLE:
            return None
        x, seen = self.values[look.position], look.seen
        if type(x) is not Names or x.kind != "i8" or x.ids.size != 1 or type(seen) is not tuple:
            return None
        if seen[0] != "int" or abs(seen[1]) > LARGEST:
            return None
        return self.op("equal", int(x.ids.reshape(-1)[0]), self.constant(float(seen[1])))

    def program(self, wanted: list[int]) -> tuple[list[int], Operations, Callable[[int], Any]]:
        """Return the operations that the numbers ``wanted`` need: their names, and themselves.

        The third is a function from a name to an operand: a number of the request, or a constant.
        """
        needed = {name for name in wanted if name >= self.first}
        for k in range(len(self.ops) - 1, -1, -1):
            if self.first + k in needed:
                needed.update(x for x in self.ops.pairs[k][1] if x >= self.first)
        order = sorted(needed)
        renamed = dict(zip(order, range(self.first, self.first + len(order)), strict=True))
        operands: dict[int, Any] = {k: k for k in range(self.first)} | renamed
        operands |= {-k - 1: NativeConstant(x) for k, x in enumerate(self.constants)}
        operand = operands.__getitem__
        pairs = [self.ops.pairs[k - self.first] for k in order]
        ops = Operations([(name, tuple(map(operand, ids))) for name, ids in pairs])
        return order, ops, operand

    # ---- operations -----------------------------------------------------------------------------

    def op(self, name: Any, *ids: int) -> int:
        """Return the name of the result of one operation, which is made once."""
        if min(ids) < 0 or name == "power by itself":
            simple = simplified(self, name, ids)
            if simple is not None:
                return simple
        return self.as_it_is(name, ids)

    def as_it_is(self, name: Any, ids: tuple[int, ...]) -> int:
        """Return the name of the result of an operation that is not simplified."""
        key = name, ids
        known = self.known.get(key)
        if known is None:
            known = self.known[key] = self.first + len(self.ops)
            self.ops.pairs.append(key)
        return known

    def as_kind(self, x: Names, kind: str) -> Names:
        if kind == x.kind:
            return x
        if kind == "b1" or x.kind == "b1":
            return self.each("bool" if kind == "b1" else "float", kind, x)
        if kind == "i8":
            raise NotLowered("floats that become integers")
        return Names(x.ids, kind)

    def each(self, name: str, kind: str, *xs: Names) -> Names:
        """Do one operation for each entry of broadcast arrays."""
        if all(x.ids.ndim == 0 for x in xs):
            return Names(np.array(self.op(name, *[int(x.ids) for x in xs])), kind)
        if len(xs) == 1:
            (x,) = xs
            flat = [self.op(name, k) for k in x.ids.reshape(-1).tolist()]
            return Names(np.array(flat, np.int64).reshape(x.ids.shape), kind)
        arrays = [x.ids for x in xs]
        shapes = {a.shape for a in arrays if a.ndim}
        if len(shapes) > 1:
            arrays = list(np.broadcast_arrays(*arrays))
            shapes = {arrays[0].shape}
        (shape,) = shapes
        lists = [a.reshape(-1).tolist() if a.ndim else repeat(a.item()) for a in arrays]
        flat = [self.op(name, *row) for row in zip(*lists)]
        return Names(np.array(flat, np.int64).reshape(shape), kind)

    def float_operation(self, name: str, args: tuple) -> Names | None:
        """Lower an operation on two float64 numbers that gives one, as nearly all of long programs.

        It gives what :meth:`elementwise` gives of these; None of other operands.
        """
        ids = []
        for x in args:
            kind = type(x)
            if kind is Slot:
                y = self.values[x.position]
                if type(y) is not Names or y.kind != "f8" or y.ids.ndim:
                    return None
                ids.append(y.ids.item())
            elif kind is float:
                ids.append(self.constant(x))
            else:
                return None
        return Names(np.array(self.op(name, *ids)), "f8")

    def elementwise(self, f: Any, name: str, xs: list[Names], form: ValueForm) -> Names:
        if all(x.kind == "b1" for x in xs):
            name = OF_BOOLEANS.get(name, name)
        if len(xs) != OPCODES[name].arity:
            raise NotLowered(str(f))
        kind = "i8" if self.whole and form.kind is int else kind_of(form)
        if name in LOGIC:
            return self.each(name, kind, *[self.as_kind(x, "b1") for x in xs])
        if kind == "i8" and form.kind is int and not self.whole:
            y, bound = of_counts(self, name, xs)
            self.bounds[int(y.ids)] = bound
            return y
        if kind == "i8" and name not in _WHOLE:
            if name != "multiply" or not self.whole:
                raise NotLowered(f"{name} of integers")
            product = self.each(name, kind, *xs)
            self.exact += product.ids.reshape(-1).tolist()
            return product
        if name == "power" and (xs[1].ids.ndim or f is np.float_power or not form.array):
            name = "power by itself" if f is not np.power or xs[1].ids.ndim else name
        return self.each(name, kind, *[self.as_kind(x, "f8") for x in xs])

    def folded(self, name: str, ids: list[int]) -> int:
        """Reduce numbers by an operation, in a tree: short chains, and small errors.

        A sum begins with 0.0, as NumPy's does: of nothing but -0.0 it is 0.0.
        """
        while len(ids) > 1:
            pairs = [self.op(name, a, b) for a, b in zip(ids[::2], ids[1::2], strict=False)]
            ids = pairs + ids[len(ids) - len(ids) % 2 :]
        return self.op("add", ids[0], self.constant(0.0)) if name == "add" else ids[0]

    def reduced(
        self, name: str, x: Names, kind: str, axis: Any, keepdims: bool, empty: Any
    ) -> Names:
        ids = x.ids
        given = range(ids.ndim) if axis is None else axis if isinstance(axis, tuple) else (axis,)
        axes = sorted(k % ids.ndim for k in given) if ids.ndim else []
        others = [k for k in range(ids.ndim) if k not in axes]
        lanes = np.transpose(ids, (*others, *axes)).reshape(
            *[ids.shape[k] for k in others], -1 if ids.size else 0
        )
        if lanes.shape[-1] == 0:
            if empty is None:
                raise NotLowered("a reduction of nothing")
            flat = np.full(lanes.shape[:-1], self.constant(empty))
        else:
            rows = lanes.reshape(-1, lanes.shape[-1]).tolist()
            flat = np.array([self.folded(name, row) for row in rows], np.int64)
        shape = [ids.shape[k] for k in others]
        if keepdims:
            shape = [1 if k in axes else n for k, n in enumerate(ids.shape)]
        return Names(flat.reshape(shape), kind)

    def product(self, a: Names, b: Names) -> Names:
        """Multiply matrices, vectors or stacks of matrices as ``np.matmul`` does."""
        a, b = self.as_kind(a, "f8"), self.as_kind(b, "f8")
        if not (a.ids.ndim and b.ids.ndim):
            raise NotLowered("a product of numbers")
        rows = a.ids if a.ids.ndim > 1 else a.ids[None, :]
        columns = b.ids if b.ids.ndim > 1 else b.ids[:, None]
        if rows.shape[-1] == 0:
            raise NotLowered("an empty product")
        stack = np.broadcast_shapes(rows.shape[:-2], columns.shape[:-2])
        pairs = zip(
            np.broadcast_to(rows, (*stack, *rows.shape[-2:])).reshape(-1, *rows.shape[-2:]),
            np.broadcast_to(columns, (*stack, *columns.shape[-2:])).reshape(
                -1, *columns.shape[-2:]
            ),
            strict=True,
        )
        flat = [
            [
                self.folded("add", [self.op("multiply", i, j) for i, j in zip(row, column)])
                for column in y.T.tolist()
            ]
            for x, y in pairs
            for row in x.tolist()
        ]
        last = a.ids.shape[-2:-1], b.ids.shape[-1:] if b.ids.ndim > 1 else ()
        shape = (*stack, *last[0], *last[1])
        return Names(np.array(flat, np.int64).reshape(shape), "f8")

    # ---- steps ----------------------------------------------------------------------------------

    def lowered(self, step: Operation) -> Any:
        """Return the names of what a step gives."""
        f, args, kwargs, form, _ = step
        if form is None:
            return self.several(f, args, kwargs)
        row = lowering_of(f)
        if form.kind in _NUMBERS and type(f) is _BUILT_IN and row.op in _FLOAT_OPERATIONS:
            y = self.float_operation(row.op, args)
            if y is not None:
                return y
        if form.array and math.prod(form.shape) > SCALAR_ARRAY:
            raise NotLowered("a large array")
        if f is getitem and len(args) + len(kwargs) == 2:
            x = self.names(args[0])
            index = settings(args[1] if len(args) == 2 else kwargs["index"])
            return Names(np.asarray(x.ids[index]), x.kind)
        if row.op and not kwargs:
            return self.elementwise(f, row.op, [self.names(x) for x in args], form)
        if (step_of := STEPS.get(row.does) or MATRIX_STEPS.get(row.does)) is not None:
            return step_of(self, form, *args, **kwargs)
        if row.moves:
            return self.moved(f, args, kwargs)
        raise NotLowered(getattr(f, "__name__", str(f)))

    def moved(self, f: Any, args: tuple, kwargs: dict) -> Names:
        rest, options = settings(args[1:]), settings(kwargs)
        if isinstance(args[0], list | tuple):
            given, kind = self.parts(args[0])
            return Names(np.asarray(f(given, *rest, **options)), kind)
        x = self.names(args[0])
        if {"K", "A"}.intersection(map(str, (*rest, *options.values()))):
            x = self.as_in_memory(x, args[0])
        # Zero is what a function fills with, and then the name of a zero.
        zero = self.constant(0.0 if x.kind != "b1" else False)
        return Names(np.asarray(f(x.ids - zero, *rest, **options)) + zero, x.kind)

    def as_in_memory(self, x: Names, given: Any) -> Names:
        """Return names in the order in which the array has its entries in memory."""
        form: ValueForm | None = ValueForm.of(given)
        if type(given) is Slot:
            form = self.steps[given.position].form
        if form is None or form.order == "?":
            raise NotLowered("an array with gaps, in the order of memory")
        return Names(np.array(x.ids, order=form.order), x.kind)  # type: ignore[call-overload]

    def several(self, f: Any, args: tuple, kwargs: dict) -> Any:
        if self.whole and (nested := getattr(f, "nested", None)) is not None:
            found, finite = nested_loop(self, nested, f.layouts, args)
            self.finite += finite
            return found
        if (row := lowering_of(f)).does in SEVERAL:
            return SEVERAL[row.does](self, *args, **kwargs)
        if not row.moves:
            raise NotLowered(getattr(f, "__name__", str(f)))
        if f is np.broadcast_arrays:
            xs = [self.names(x) for x in args]
            shaped = np.broadcast_arrays(*[x.ids for x in xs])
            return [Names(np.array(ids), x.kind) for ids, x in zip(shaped, xs, strict=True)]
        x = self.names(args[0])
        parts = f(x.ids, *settings(args[1:]), **settings(kwargs))
        return [Names(np.asarray(part), x.kind) for part in parts]
