"""Programs on single numbers: every array is its entries, and what moves entries costs nothing.

``x[1:] - x[:-1]`` of three numbers is two subtractions. An array is lowered to an array of the
*names* of numbers, so that NumPy itself says what ``reshape``, ``x[::-1]`` or ``concatenate`` do.
It suits loops over numbers and small arrays, whose whole program is then one native function.
"""

import math
import operator
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ..rules import getitem
from ..rules.linear.steps import Slot, part_at
from ..rules.rulesets.arrays.indexing import scatter
from ..rules.rulesets.linalg.norms import euclidean
from ..rules.tracing.funnel import astype
from ..rules.tracing.writing import written
from .forms import Form
from .looks import Look, bits
from .lowering import ELEMENTWISE, LOGIC, MOVING, OF_TRUTHS
from .native import Input, Output, build
from .native.operations import OPERATIONS
from .recorded import entry
from .recorder import Recorder
from .replay import Missed, Writer

MOST = 300_000  # operations
LONGEST = 20_000  # entries of an array


class NotLowered(Exception):  # noqa: N818 - it says that another way is taken
    """A step, an input or a result that has no native form."""


class Names:
    """An array of names of numbers: at least 0 for a value, below 0 for a constant.

    ``kind`` is "f8", "b1", or "i8" of whole numbers that are held as float64.
    """

    __slots__ = ("ids", "kind")

    def __init__(self, ids: np.ndarray, kind: str) -> None:
        self.ids = ids
        self.kind = kind


class Line:
    """A recording lowered to operations on numbers."""

    def __init__(self, recorder: Recorder) -> None:
        self.forms = recorder.forms
        self.constants: list[Any] = []
        self.known_constants: dict[Any, int] = {}
        self.ops: list[tuple] = []
        self.known: dict[tuple, int] = {}
        self.inputs: list[Input] = []
        self.values: dict[int, Any] = {}
        for position in recorder.inputs:
            self.values[position] = self.input(recorder.forms[position])
        self.first = len(self.inputs)
        for position, f, args, kwargs, _, last in recorder.plan:
            self.values[position] = self.step(f, args, kwargs or {}, recorder.forms[position])
            if len(self.ops) > MOST:
                raise NotLowered("too many operations on single numbers")
            for read in last:
                del self.values[read]

    # ---- inputs and constants -------------------------------------------------------------------

    def input(self, form: Form | None) -> Names:
        if form is None or form.kind not in _FLOATS:
            raise NotLowered("an argument that is no float64")
        if form.order == "?":
            raise NotLowered("an argument with gaps")
        first = len(self.inputs)
        if not form.array:
            self.inputs.append(Input("f8", None))
            return Names(np.array(first), "f8")
        size = math.prod(form.shape)
        if size > LONGEST:
            raise NotLowered("a large array")
        places = np.arange(size).reshape(form.shape[::-1] if form.order == "F" else form.shape)
        places = places.T if form.order == "F" else places
        if not size:
            raise NotLowered("an empty array")
        self.inputs.append(Input("f8", (), 0))
        self.inputs += [Input("f8", (), k, first) for k in range(1, size)]
        return Names(first + places, "f8")

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
            if abs(x) > _LARGEST:
                raise NotLowered("a large integer")
            return Names(np.array(self.constant(float(x))), "i8")
        if kind is bool or kind is np.bool_:
            return Names(np.array(self.constant(bool(x))), "b1")
        if kind is np.ndarray and x.dtype.kind in "fiub" and x.size <= LONGEST:
            if x.dtype.kind == "f" and x.dtype != np.float64:
                raise NotLowered(f"an array of {x.dtype}")
            if x.dtype.kind in "iu" and x.size and max(-int(x.min()), int(x.max())) > _LARGEST:
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
        """Return the names of several arrays as those of one kind, and this."""
        parts = [self.names(x) for x in xs]
        kinds = {part.kind for part in parts}
        if len(kinds) == 1:
            return [part.ids for part in parts], kinds.pop()
        if "f8" not in kinds:
            raise NotLowered("truths and integers together")
        return [self.as_kind(part, "f8").ids for part in parts], "f8"

    # ---- operations -----------------------------------------------------------------------------

    def op(self, name: str, *ids: int) -> int:
        """Return the name of the result of one operation, which is made once."""
        simple = _simplified(self, name, ids)
        if simple is not None:
            return simple
        key = (name, *ids)
        known = self.known.get(key)
        if known is None:
            known = self.known[key] = self.first + len(self.ops)
            self.ops.append(key)
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
        arrays = np.broadcast_arrays(*[x.ids for x in xs])
        rows = zip(*[a.reshape(-1).tolist() for a in arrays], strict=True)
        flat = [self.op(name, *row) for row in rows]
        return Names(np.array(flat, np.int64).reshape(arrays[0].shape), kind)

    def elementwise(self, f: Any, xs: list[Names], form: Form) -> Names:
        truths = all(x.kind == "b1" for x in xs)
        name = OF_TRUTHS.get(f) if truths else ELEMENTWISE.get(f)
        name = name or ELEMENTWISE.get(f)
        if name is None or len(xs) != OPERATIONS[name]:
            raise NotLowered(str(f))
        kind = _kind_of(form)
        if name in LOGIC:
            return self.each(name, kind, *[self.as_kind(x, "b1") for x in xs])
        if kind == "i8" and name not in _WHOLE:
            raise NotLowered(f"{name} of integers")
        if name == "power" and (xs[1].ids.ndim or f is np.float_power or not form.array):
            name = "power by itself" if f is not np.power or xs[1].ids.ndim else name
        return self.each(name, kind, *[self.as_kind(x, "f8") for x in xs])

    def folded(self, name: str, ids: list[int]) -> int:
        """Reduce numbers by an operation, in a tree: short chains, and small errors."""
        while len(ids) > 1:
            pairs = [self.op(name, a, b) for a, b in zip(ids[::2], ids[1::2], strict=False)]
            ids = pairs + ids[len(ids) - len(ids) % 2 :]
        return ids[0]

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
        """Multiply matrices or vectors as ``np.matmul`` does, of at most two axes."""
        a, b = self.as_kind(a, "f8"), self.as_kind(b, "f8")
        if not 1 <= a.ids.ndim <= 2 or not 1 <= b.ids.ndim <= 2:
            raise NotLowered("a product of stacks of matrices")
        rows, columns = np.atleast_2d(a.ids), b.ids if b.ids.ndim == 2 else b.ids[:, None]
        if rows.shape[1] == 0:
            raise NotLowered("an empty product")
        flat = [
            [
                self.folded("add", [self.op("multiply", i, j) for i, j in zip(row, column)])
                for column in columns.T.tolist()
            ]
            for row in rows.tolist()
        ]
        shape = (*a.ids.shape[:-1], *b.ids.shape[1:])
        return Names(np.array(flat, np.int64).reshape(shape), "f8")

    # ---- steps ----------------------------------------------------------------------------------

    def step(self, f: Any, args: tuple, kwargs: dict, form: Form | None) -> Any:
        if form is None:
            return self.several(f, args, kwargs)
        if form.array and math.prod(form.shape) > LONGEST:
            raise NotLowered("a large array")
        if f is getitem and len(args) == 2 and not kwargs:
            x = self.names(args[0])
            return Names(np.asarray(x.ids[_plain(args[1])]), x.kind)
        try:
            known = f in ELEMENTWISE or f in OF_TRUTHS
        except TypeError:
            raise NotLowered("a function of its own") from None
        if known and not kwargs:
            return self.elementwise(f, [self.names(x) for x in args], form)
        lower = _STEPS.get(f)
        if lower is not None:
            return lower(self, form, *args, **kwargs)
        if f in MOVING:
            return self.moved(f, args, kwargs)
        raise NotLowered(getattr(f, "__name__", str(f)))

    def moved(self, f: Any, args: tuple, kwargs: dict) -> Names:
        rest, options = _plain(args[1:]), _plain(kwargs)
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
        form = self.forms[given.position] if type(given) is Slot else Form.of(given)
        if form is None or form.order == "?":
            raise NotLowered("an array with gaps, in the order of memory")
        return Names(np.array(x.ids, order=form.order), x.kind)  # type: ignore[call-overload]

    def several(self, f: Any, args: tuple, kwargs: dict) -> Any:
        if f not in MOVING:
            raise NotLowered(getattr(f, "__name__", str(f)))
        if f is np.broadcast_arrays:
            xs = [self.names(x) for x in args]
            shaped = np.broadcast_arrays(*[x.ids for x in xs])
            return [Names(np.array(ids), x.kind) for ids, x in zip(shaped, xs, strict=True)]
        x = self.names(args[0])
        parts = f(x.ids, *_plain(args[1:]), **_plain(kwargs))
        return [Names(np.asarray(part), x.kind) for part in parts]


def _plain(x: Any) -> Any:
    """Return settings of a step that hold no slots."""
    kind = type(x)
    if kind is Slot:
        raise NotLowered("an index or a size that is computed")
    if kind is tuple or kind is list:
        return kind(map(_plain, x))
    return {k: _plain(v) for k, v in x.items()} if kind is dict else x


def _kind_of(form: Form) -> str:
    kind = form.kind
    if kind in _FLOATS:
        return "f8"
    if kind in (bool, np.bool_, np.dtype(bool)):
        return "b1"
    if kind in (np.int64, np.dtype(np.int64)):
        return "i8"
    raise NotLowered(f"results of {kind}")


_FLOATS = (float, np.float64, np.dtype(np.float64))
# What keeps integers so small that float64 holds them.
_WHOLE = frozenset({"add", "subtract", "negative", "absolute", "maximum", "minimum"})
_LARGEST = 1 << 31  # constant


def _simplified(line: Line, name: str, ids: tuple) -> int | None:
    """Return what an operation gives where that is known to the last bit, or to rounding."""
    constants = [line.constants[-k - 1] for k in ids if k < 0]
    if name == "power by itself":
        half = bool(constants) and ids[1] < 0 and constants[-1] == 0.5
        return _half_power(line, ids[0]) if half else line.op("power", *ids)
    if not constants:
        return None
    if len(constants) == len(ids) and name in _FOLDED:
        with np.errstate(all="ignore"):
            y = _FOLDED[name](*[np.float64(x) for x in constants])
        return line.constant(bool(y) if isinstance(y, np.bool_) else float(y))
    if name == "add" and _is_zero(constants[0]):
        other = ids[1] if ids[0] < 0 else ids[0]
        made = line.ops[other - line.first] if other >= line.first else ("",)
        if made[0] == "add" and any(k < 0 and _is_zero(line.constants[-k - 1]) for k in made[1:]):
            return other  # it is no -0.0 any more
    if name in ("multiply", "divide", "subtract", "power") and len(ids) == 2:
        a, b = ids
        x = line.constants[-b - 1] if b < 0 else line.constants[-a - 1]
        if b < 0 and name == "power":
            return _power(line, a, x)
        if name == "multiply" and abs(x) == 1.0:
            other = a if b < 0 else b
            return other if x == 1.0 else line.op("negative", other)
        if b < 0 and name == "divide" and abs(x) == 1.0:
            return a if x == 1.0 else line.op("negative", a)
        if b < 0 and name == "subtract" and x == 0.0 and not np.signbit(x):
            return a
    return None


def _power(line: Line, a: int, exponent: float) -> int | None:
    if exponent == 1.0:
        return a
    if exponent in (2.0, 3.0, 4.0):
        square = line.op("multiply", a, a)
        if exponent == 2.0:
            return square
        return line.op("multiply", square, a if exponent == 3.0 else square)
    return line.op("reciprocal", a) if exponent == -1.0 else None


def _is_zero(x: float) -> bool:
    return x == 0.0 and not np.signbit(x)


def _half_power(line: Line, a: int) -> int:
    """Return ``a ** 0.5`` where that is no root to NumPy: of -0.0 it is 0.0, and of -inf inf."""
    root = line.op("sqrt", line.op("add", a, line.constant(0.0)))
    least = line.op("equal", a, line.constant(-np.inf))
    return line.op("where", least, line.constant(np.inf), root)


_FOLDED: dict[str, Any] = {
    "add": np.add, "subtract": np.subtract, "multiply": np.multiply, "divide": np.divide,
    "negative": np.negative, "less": np.less, "less_equal": np.less_equal, "equal": np.equal,
    "greater": np.greater, "greater_equal": np.greater_equal, "not_equal": np.not_equal,
    "absolute": np.absolute, "maximum": np.maximum, "minimum": np.minimum, "sqrt": np.sqrt,
}  # fmt: skip


# ---- functions that are more than one operation -------------------------------------------------


def _sum(line: Line, form: Form, x: Any, axis: Any = None, keepdims: Any = False) -> Names:
    kind = _kind_of(form)
    x = line.names(x)
    if kind == "b1":
        raise NotLowered("a sum of truths")
    return line.reduced("add", line.as_kind(x, "f8"), kind, _plain(axis), keepdims, 0.0)


def _mean(line: Line, form: Form, x: Any, axis: Any = None, keepdims: Any = False) -> Names:
    total = _sum(line, form, x, axis, keepdims)
    count = line.names(x).ids.size // max(total.ids.size, 1)
    return line.each("divide", "f8", total, line.names(float(count)))


def _reduction(name: str, empty: Any) -> Callable:
    def lower(line: Line, form: Form, x: Any, axis: Any = None, keepdims: Any = False) -> Names:
        x, kind = line.names(x), _kind_of(form)
        if name == "multiply" and kind != "f8":
            raise NotLowered("a product of integers")
        if name in LOGIC:
            x = line.as_kind(x, "b1")
        elif x.kind == "b1":
            raise NotLowered("extremes of truths")
        return line.reduced(name, x, kind, _plain(axis), keepdims, empty)

    return lower


def _count_nonzero(line: Line, form: Form, x: Any, axis: Any = None) -> Names:
    truths = line.as_kind(line.names(x), "b1")
    return line.reduced("add", line.as_kind(truths, "f8"), "i8", _plain(axis), False, 0.0)


def _accumulated(name: str) -> Callable:
    def lower(line: Line, form: Form, x: Any, axis: Any = None) -> Names:
        kind = _kind_of(form)
        if name == "multiply" and kind != "f8":
            raise NotLowered("a product of integers")
        ids = line.as_kind(line.names(x), kind).ids
        ids = ids.reshape(-1) if axis is None else ids
        lanes = np.moveaxis(ids, -1 if axis is None else axis, -1)
        rows = []
        for lane in lanes.reshape(-1, lanes.shape[-1]).tolist():
            for k in range(1, len(lane)):
                lane[k] = line.op(name, lane[k - 1], lane[k])
            rows.append(lane)
        flat = np.array(rows, np.int64).reshape(lanes.shape)
        return Names(np.moveaxis(flat, -1, -1 if axis is None else axis), _kind_of(form))

    return lower


def _where(line: Line, form: Form, c: Any, a: Any, b: Any) -> Names:
    kind = _kind_of(form)
    truth = line.as_kind(line.names(c), "b1")
    return line.each("where", kind, truth, *[line.as_kind(line.names(x), kind) for x in (a, b)])


def _matmul(line: Line, form: Form, a: Any, b: Any) -> Names:
    if _kind_of(form) != "f8":
        raise NotLowered("a product of integers")
    return line.product(line.names(a), line.names(b))


def _dot(line: Line, form: Form, a: Any, b: Any) -> Names:
    x, z = line.names(a), line.names(b)
    if x.ids.ndim == 0 or z.ids.ndim == 0:
        if _kind_of(form) != "f8":
            raise NotLowered("a product of integers")
        return line.each("multiply", "f8", line.as_kind(x, "f8"), line.as_kind(z, "f8"))
    return _matmul(line, form, a, b)


def _outer(line: Line, form: Form, a: Any, b: Any) -> Names:
    if _kind_of(form) != "f8":
        raise NotLowered("a product of integers")
    x, z = line.as_kind(line.names(a), "f8"), line.as_kind(line.names(b), "f8")
    columns = Names(x.ids.reshape(-1)[:, None], "f8")
    return line.each("multiply", _kind_of(form), columns, Names(z.ids.reshape(-1), "f8"))


def _filled(x: float) -> Callable:
    def lower(line: Line, form: Form, *args: Any, **kwargs: Any) -> Names:
        kind = _kind_of(form)
        return Names(np.full(form.shape, line.constant(bool(x) if kind == "b1" else x)), kind)

    return lower


def _array(line: Line, form: Form, x: Any, *args: Any, **kwargs: Any) -> Names:
    return line.as_kind(line.names(x), _kind_of(form))


def _clip(line: Line, form: Form, x: Any, low: Any, high: Any) -> Names:
    y = line.names(x)
    for name, end in (("maximum", low), ("minimum", high)):
        if end is not None:
            y = line.each(name, _kind_of(form), y, line.names(end))
    return y


def _scatter(line: Line, form: Form, x: Any, shape: Any, dtype: Any, index: Any) -> Names:
    places = np.arange(math.prod(form.shape)).reshape(form.shape)[_plain(index)]
    given = np.broadcast_to(line.names(x).ids, places.shape)
    zero = line.constant(0.0)
    ids = [zero] * math.prod(form.shape)
    for place, name in zip(places.reshape(-1).tolist(), given.reshape(-1).tolist(), strict=True):
        ids[place] = name if ids[place] == zero else line.op("add", ids[place], name)
    return Names(np.array(ids, np.int64).reshape(form.shape), _kind_of(form))


def _written(line: Line, form: Form, x: Any, path: Any, index: Any, v: Any, axes: Any) -> Names:
    y = line.names(x)
    ids = y.ids.copy()
    at: Any = ids
    for _, options, positions in _plain(path):
        f, rest = options.get("f", getitem), options.get("rest", ())
        if positions or (f is not getitem and f not in MOVING):
            raise NotLowered("a write through a view")
        at = f(at, *rest, **options.get("options", {}))
    if at is not ids and not np.shares_memory(at, ids):
        raise NotLowered("a write through a view")
    at[_plain(index)] = line.as_kind(line.names(v), y.kind).ids
    return Names(ids, y.kind)


def _norm(
    line: Line, form: Form, x: Any, order: Any = None, axis: Any = None, keepdims: Any = False
) -> Names:
    if order is not None:
        raise NotLowered("a norm of another order")
    return _euclidean(line, form, x, axis, keepdims)


def _euclidean(line: Line, form: Form, x: Any, axis: Any = None, keepdims: Any = False) -> Names:
    x = line.as_kind(line.names(x), "f8")
    if axis is not None and isinstance(axis, tuple):
        raise NotLowered("a norm of matrices")
    squares = line.each("multiply", "f8", x, x)
    total = line.reduced("add", squares, "f8", _plain(axis), keepdims, 0.0)
    return line.each("sqrt", _kind_of(form), total)


def _entry(line: Line, form: Form, x: Any, *index: Any) -> Names:
    names, index = line.names(x), _plain(index)
    if index and isinstance(index[0], tuple):
        (index,) = index
    flat = len(index) < 2
    ids = names.ids.reshape(-1)[index[0] if index else 0] if flat else names.ids[index]
    return Names(np.asarray(ids), names.kind)


def _part(line: Line, form: Form, whole: Any, k: int) -> Any:
    parts = line.values[whole.position] if type(whole) is Slot else None
    if type(parts) is not list:
        raise NotLowered("a part of a result")
    return parts[k]


_STEPS: dict[Any, Callable] = {
    np.sum: _sum, np.mean: _mean, np.prod: _reduction("multiply", 1.0),
    np.max: _reduction("maximum", None), np.min: _reduction("minimum", None),
    np.amax: _reduction("maximum", None), np.amin: _reduction("minimum", None),
    np.any: _reduction("logical_or", False), np.all: _reduction("logical_and", True),
    np.count_nonzero: _count_nonzero, np.cumsum: _accumulated("add"),
    np.cumprod: _accumulated("multiply"), np.where: _where, np.dot: _dot, np.matmul: _matmul,
    np.outer: _outer, np.zeros_like: _filled(0.0), np.ones_like: _filled(1.0), np.array: _array,
    np.clip: _clip, astype: _array, np.real: _array, np.conjugate: _array, scatter: _scatter,
    written: _written, part_at: _part, operator.getitem: _part, operator.matmul: _matmul,
    euclidean: _euclidean, np.linalg.norm: _norm, entry: _entry,
}  # fmt: skip


# ---- the native function ------------------------------------------------------------------------

# Looks that stand for one truth, and looks at whole numbers, which rounding does not change.
_TRUTHS, _WHOLE_LOOKS = (
    ("bool", "zero", "finite"),
    ("int", "index", "floor", "ceil", "trunc", "round"),
)


class Place(NamedTuple):
    """Where the entries of a result lie: from ``start`` in the array of numbers, or of truths."""

    kind: str
    start: int
    form: Form

    def text(self) -> str:
        """Return the expression that reads the result, of the arrays ``n`` and ``t``."""
        form, held = self.form, "t" if self.kind == "b1" else "n"
        if not form.array:
            read = f"{held}[{self.start}]"
            if form.kind in (np.float64, np.bool_):
                return read
            return f"{read}.item()" if form.kind in (float, bool) else f"int64({read})"
        text = f"{held}[{self.start}:{self.start + math.prod(form.shape)}]"
        text += ".astype(int64)" if self.kind == "i8" else ".copy()"
        if len(form.shape) == 1:
            return text
        if form.order == "F":
            return f"{text}.reshape({form.shape[::-1]}).T"
        return f"{text}.reshape({form.shape})"


class NativeLine:
    """A recording as one native function on numbers, which runs as a ``Replay`` does.

    What it gives, and what was looked at, lies in an array of numbers, and in one of truths, of
    which the first are those that decide the way. It runs to its end, and compares these then.

    Raises
    ------
    NotLowered
        When made, if a step has no native form.
    """

    def __init__(self, recorder: Recorder, output: Any) -> None:
        self.line = line = Line(recorder)
        self.looks = [look for _, look in recorder.looks]
        self.numbers: list[int] = []
        self.truths: list[int] = []
        self.quick: dict[int, int] = {}  # of a look, which truth it is
        for at, look in enumerate(self.looks):
            if look.kind in _TRUTHS:
                self.quick[at] = len(self.truths)
                self.truths.append(self._truth(look))
        self.slow: dict[int, str] = {}  # of a look, how its value is read
        for at, look in enumerate(self.looks):
            if look.kind not in (*_TRUTHS, "structure", "length"):
                given = look.position in recorder.inputs
                if not given and look.kind not in _WHOLE_LOOKS:
                    raise NotLowered("a look at a number, to its last bit")
                self.slow[at] = self.place(look.position).text()
        writer = Writer(recorder, output, self.place)
        text = writer.expression(output, final=True)
        self.kernel, numbers, truths = self._built()
        self.names = {
            **writer.names, "kernel": self.kernel, "numbers": numbers, "truths": truths,
            "int64": np.int64, "bool": np.bool_, "bool_": np.bool_,
            "expected": bytes(look.seen == ("bool", True) for look in self._looks_at_truths()),
            "first_missed": self.first_missed,
        }  # fmt: skip
        self.source = self._source(text, len(line.inputs))
        exec(compile(self.source, "<native recording>", "exec"), self.names)
        self.run: Callable[[list], tuple[Missed | None, Any]] = self.names["run"]

    def _looks_at_truths(self) -> list[Look]:
        return [self.looks[at] for at in self.quick]

    def _truth(self, look: Look) -> int:
        x = self.line.values[look.position]
        if type(x) is not Names or x.ids.size != 1:
            raise NotLowered("a look at an array")
        name = int(x.ids.reshape(-1)[0])
        if look.kind == "zero":
            return self.line.op("equal", name, self.line.constant(0.0))
        if look.kind == "finite":
            return self.line.op("isfinite", name)
        return name if x.kind == "b1" else self.line.op("bool", name)

    def place(self, position: int) -> Place:
        """Give the result of a step a place among what comes out."""
        x, form = self.line.values[position], self.line.forms[position]
        if type(x) is not Names or form is None:
            raise NotLowered("a tuple that comes out")
        held = self.truths if x.kind == "b1" else self.numbers
        start = len(held)
        held += x.ids.reshape(-1, order="F" if form.order == "F" else "C").tolist()
        return Place(x.kind, start, form)

    def _built(self) -> tuple[Callable, np.ndarray, np.ndarray]:
        """Return the native function, and the two arrays with the constants in them."""
        line = self.line
        needed = {name for name in (*self.numbers, *self.truths) if name >= line.first}
        for k in range(len(line.ops) - 1, -1, -1):
            if line.first + k in needed:
                needed.update(x for x in line.ops[k][1:] if x >= line.first)
        order = sorted(needed)
        renamed = dict(zip(order, range(line.first, line.first + len(order)), strict=True))
        constants = [("c", x) for x in line.constants]

        def operand(x: int) -> Any:
            return constants[-x - 1] if x < 0 else renamed.get(x, x)

        ops = [
            (name, *map(operand, operands))
            for name, *operands in (line.ops[k - line.first] for k in order)
        ]
        outputs, arrays = [], []
        for dtype, held in (("f8", self.numbers), ("b1", self.truths)):
            array: np.ndarray = np.zeros(len(held), np.float64 if dtype == "f8" else np.bool_)
            first = None
            for place, name in enumerate(held):
                if name < 0:
                    array[place] = line.constants[-name - 1]
                    continue
                outputs.append(Output(operand(name), (), None, dtype, place, first))
                first = len(outputs) - 1 if first is None else first
            arrays.append((array, first is not None))
        self.how = [f"machine code: {len(ops)} operations on numbers, {len(self.looks)} looks"]
        self.given = [name for (_, used), name in zip(arrays, "nt", strict=True) if used]
        return build((), line.inputs, ops, outputs), arrays[0][0], arrays[1][0]

    def _source(self, text: str, inputs: int) -> str:
        lines = ["def run(values):", "n = numbers.copy()"]
        lines += ["t = truths.copy()"] if self.truths else []
        lines.append(f"kernel({', '.join(['*values', *self.given])})")
        if self.quick or self.slow:
            q = len(self.quick)
            changed = (
                f"t[:{q}].tobytes() != expected"
                if q < len(self.truths)
                else ("t.tobytes() != expected")
            )
            condition = "True" if self.slow else changed
            lines += [
                f"if {condition}:",
                f"    missed = first_missed(n, {'t' if self.truths else None})",
                "    if missed is not None: return missed, None",
            ]
        return "\n    ".join([*lines, f"return None, {text}"])

    def first_missed(self, n: np.ndarray, t: np.ndarray) -> Missed | None:
        """Return the first look that sees something else than it did, and what."""
        for at, look in enumerate(self.looks):
            if at in self.quick:
                seen: Any = ("bool", bool(t[self.quick[at]]))
            elif at in self.slow:
                seen = look.at(eval(self.slow[at], {**self.names, "n": n, "t": t}))
            else:
                continue
            if seen != look.seen:
                return at, seen
        return None
