"""Functions of NumPy that are more than one operation on each number: sums, products, writes."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ....config.thresholds import ITEM_ROWS, SEARCHED_TABLE
from ....rules import getitem
from ....rules.linear.steps import Slot
from ...ir.forms import ValueForm
from ...ir.lowering import lowering_of
from ...ir.scalars import Names, NotLowered, kind_of, settings
from ...native.assembly.operations import LOGIC
from ...native.assembly.reductions import REDUCTIONS
from ...native.steps.way_tree import NestedLoop, NestedResult

_EXACT = 1 << 53
LARGEST = 1 << 31  # integer: what is made of such ones is still exact in a float64


def _sum(line: Any, form: ValueForm, x: Any, axis: Any = None, *, keepdims: Any = False) -> Names:
    kind = kind_of(form)
    x = line.names(x)
    if kind == "b1":
        raise NotLowered("a sum of truths")
    return line.reduced("add", line.as_kind(x, "f8"), kind, settings(axis), keepdims, 0.0)


def _mean(line: Any, form: ValueForm, x: Any, axis: Any = None, *, keepdims: Any = False) -> Names:
    total = _sum(line, form, x, axis, keepdims=keepdims)
    count = line.names(x).ids.size // max(total.ids.size, 1)
    return line.each("divide", "f8", total, line.names(float(count)))


def _reduction(which: str) -> Callable:
    name, neutral, _ = REDUCTIONS[which]
    empty = None if math.isinf(neutral) else neutral  # of nothing NumPy has no extremes

    def lower(
        line: Any,
        form: ValueForm,
        x: Any,
        axis: Any = None,
        *,
        keepdims: Any = False,
        initial: Any = None,
    ) -> Names:
        x, kind = line.names(x), kind_of(form)
        if initial is not None and (empty is not None or (x.kind, kind) != ("f8", "f8")):
            raise NotLowered("an initial value")
        if name == "multiply" and kind != "f8":
            raise NotLowered("a product of integers")
        if name in LOGIC:
            x = line.as_kind(x, "b1")
        elif x.kind == "b1":
            raise NotLowered("extremes of truths")
        if initial is None:
            return line.reduced(name, x, kind, settings(axis), keepdims, empty)
        first = line.names(float(settings(initial)))
        y = line.reduced(name, x, kind, settings(axis), keepdims, float(settings(initial)))
        return line.each(name, kind, y, first)

    return lower


def _count_nonzero(line: Any, form: ValueForm, x: Any, axis: Any = None) -> Names:
    truths = line.as_kind(line.names(x), "b1")
    return line.reduced("add", line.as_kind(truths, "f8"), "i8", settings(axis), False, 0.0)


def _searchsorted(line: Any, form: ValueForm, table: Any, x: Any, side: Any = "left") -> Names:
    """Count the entries of a constant table that lie before ``x``; NaN lies behind all."""
    entries = np.asarray(settings(table))
    if entries.dtype != np.float64 or entries.size > SEARCHED_TABLE:
        raise NotLowered("a table of other numbers, or a long one")
    if not np.all(entries[1:] >= entries[:-1]) or np.any(np.isnan(entries)):
        raise NotLowered("a table that is not sorted")
    given = line.as_kind(line.names(x), "f8")
    rows = Names(given.ids[..., None], "f8")
    compared = "less_equal" if side == "left" else "less"
    at_end = line.each(compared, "b1", rows, line.names(entries))
    before = line.each("logical_not", "b1", at_end)
    return line.reduced("add", line.as_kind(before, "f8"), "i8", -1, False, 0.0)


def _accumulated(name: str) -> Callable:
    def lower(line: Any, form: ValueForm, x: Any, axis: Any = None) -> Names:
        kind = kind_of(form)
        if name == "multiply" and kind != "f8":
            raise NotLowered("a product of integers")
        ids = line.as_kind(line.names(x), kind).ids
        if axis is None or not ids.ndim:
            ids, axis = ids.reshape(-1), -1
        lanes = np.moveaxis(ids, axis, -1)
        rows = []
        for lane in lanes.reshape(-1, lanes.shape[-1]).tolist():
            for k in range(1, len(lane)):
                lane[k] = line.op(name, lane[k - 1], lane[k])
            rows.append(lane)
        flat = np.array(rows, np.int64).reshape(lanes.shape)
        return Names(np.moveaxis(flat, -1, axis), kind_of(form))

    return lower


def _where(line: Any, form: ValueForm, c: Any, a: Any, b: Any) -> Names:
    kind = kind_of(form)
    truth = line.as_kind(line.names(c), "b1")
    return line.each("where", kind, truth, *[line.as_kind(line.names(x), kind) for x in (a, b)])


def _guarded_quotient(line: Any, form: ValueForm, a: Any, b: Any) -> Names:
    x, z = (line.as_kind(line.names(part), "f8") for part in (a, b))
    zero, one = line.names(0.0), line.names(1.0)
    nothing = line.each("logical_and", "b1", *[line.each("equal", "b1", y, zero) for y in (x, z)])
    return line.each("divide", "f8", x, line.each("where", "f8", nothing, one, z))


def _matmul(line: Any, form: ValueForm, a: Any, b: Any) -> Names:
    if kind_of(form) != "f8":
        raise NotLowered("a product of integers")
    return line.product(line.names(a), line.names(b))


def _dot(line: Any, form: ValueForm, a: Any, b: Any) -> Names:
    x, z = line.names(a), line.names(b)
    if x.ids.ndim == 0 or z.ids.ndim == 0:
        if kind_of(form) != "f8":
            raise NotLowered("a product of integers")
        return line.each("multiply", "f8", line.as_kind(x, "f8"), line.as_kind(z, "f8"))
    if x.ids.ndim > 1 and z.ids.ndim > 2:
        raise NotLowered("a product of all rows with stacks of matrices")
    return _matmul(line, form, a, b)


def _outer(line: Any, form: ValueForm, a: Any, b: Any) -> Names:
    if kind_of(form) != "f8":
        raise NotLowered("a product of integers")
    x, z = line.as_kind(line.names(a), "f8"), line.as_kind(line.names(b), "f8")
    columns = Names(x.ids.reshape(-1)[:, None], "f8")
    return line.each("multiply", kind_of(form), columns, Names(z.ids.reshape(-1), "f8"))


def _filled(x: float) -> Callable:
    def lower(line: Any, form: ValueForm, like: Any, *args: Any, **kwargs: Any) -> Names:
        settings((args, kwargs))  # no shape that is computed
        kind = kind_of(form)
        return Names(np.full(form.shape, line.constant(bool(x) if kind == "b1" else x)), kind)

    return lower


def _array(line: Any, form: ValueForm, x: Any, *args: Any, **kwargs: Any) -> Names:
    return line.as_kind(line.names(x), kind_of(form))


def _clip(line: Any, form: ValueForm, x: Any, low: Any, high: Any) -> Names:
    y = line.names(x)
    for name, end in (("maximum", low), ("minimum", high)):
        if end is not None:
            y = line.each(name, kind_of(form), y, line.names(end))
    return y


def _scatter(line: Any, form: ValueForm, x: Any, shape: Any, dtype: Any, index: Any) -> Names:
    places = np.arange(math.prod(form.shape)).reshape(form.shape)[settings(index)]
    given = np.broadcast_to(line.names(x).ids, places.shape)
    zero = line.constant(0.0)
    ids = [zero] * math.prod(form.shape)
    for place, name in zip(places.reshape(-1).tolist(), given.reshape(-1).tolist(), strict=True):
        ids[place] = line.op("add", ids[place], name)  # of -0.0 and nothing it is 0.0
    return Names(np.array(ids, np.int64).reshape(form.shape), kind_of(form))


def _written(line: Any, form: ValueForm, x: Any, path: Any, index: Any, v: Any, axes: Any) -> Names:
    y = line.names(x)
    ids = y.ids.copy()
    at: Any = ids
    for _, options, positions in settings(path):
        f, rest = options.get("f", getitem), options.get("rest", ())
        if positions or not (f is getitem or lowering_of(f).moves):
            raise NotLowered("a write through a view")
        at = f(at, *rest, **options.get("options", {}))
    if at is not ids and not np.shares_memory(at, ids):
        raise NotLowered("a write through a view")
    at[settings(index)] = line.as_kind(line.names(v), y.kind).ids
    return Names(ids, y.kind)


def _norm(
    line: Any, form: ValueForm, x: Any, order: Any = None, axis: Any = None, keepdims: Any = False
) -> Names:
    if order is not None:
        raise NotLowered("a norm of another order")
    return _euclidean(line, form, x, axis, keepdims)


def _euclidean(
    line: Any, form: ValueForm, x: Any, axis: Any = None, keepdims: Any = False
) -> Names:
    x = line.as_kind(line.names(x), "f8")
    if axis is not None and isinstance(axis, tuple):
        raise NotLowered("a norm of matrices")
    squares = line.each("multiply", "f8", x, x)
    total = line.reduced("add", squares, "f8", settings(axis), keepdims, 0.0)
    return line.each("sqrt", kind_of(form), total)


def _entry(line: Any, form: ValueForm, x: Any, index: Any = ()) -> Names:
    names = line.names(x)
    return line.as_kind(Names(np.asarray(names.ids[settings(index)]), names.kind), kind_of(form))


def _own_value(line: Any, form: ValueForm, _: Any, own: Any) -> Names:
    return line.as_kind(line.names(own), kind_of(form))


def _part(line: Any, form: ValueForm, whole: Any, k: int) -> Any:
    parts = line.values[whole.position] if type(whole) is Slot else None
    if type(parts) is not list:
        raise NotLowered("a part of a result")
    return parts[k]


def _bound(line: Any, x: Names) -> int:
    """Return what an integer is not larger than; a truth value among integers is 0 or 1."""
    if x.kind == "b1":
        return 1
    name = int(x.ids)
    return abs(int(line.constants[-name - 1])) if name < 0 else line.bounds.get(name, LARGEST)


def of_counts(line: Any, name: str, xs: list[Names]) -> tuple[Names, int]:
    """Lower an operation on Python's integers, which a float64 holds exactly to 2**53.

    Returned is besides what the result is not larger than.
    """
    if any(x.kind not in ("i8", "b1") or x.ids.ndim for x in xs):
        raise NotLowered(f"{name} of floats among integers")
    bounds = [_bound(line, x) for x in xs]
    if name not in ("add", "subtract", "multiply", "negative", "remainder"):
        raise NotLowered(f"{name} of integers")
    bound = math.prod(bounds) if name == "multiply" else sum(bounds)
    if bound > _EXACT:
        raise NotLowered("integers that may be larger than a float64 holds exactly")
    return line.each(name, "i8", *[line.as_kind(x, "i8") for x in xs]), bound


def nested_loop(
    line: Any, loop: NestedLoop, layouts: Any, args: tuple
) -> tuple[list[Names], list[int]]:
    """Return what a loop within a step gives: how many rounds there were, its carry, its rows.

    Returned are besides the names of what is to be finite.
    """
    finite: list[int] = []
    names = [line.names(x) for x in args]
    if any(x.kind == "b1" for x in names):
        raise NotLowered("a truth that a loop takes")
    count, *rest = names
    held = len(layouts.carry) + len(layouts.captured)
    given = [k for x in rest[:held] for k in x.ids.reshape(-1).tolist()]
    if loop.rounds is not None:
        at = int(count.ids)
        if at >= 0:
            raise NotLowered("a number of rounds that is computed")
        rounds = int(line.constants[-at - 1])
        if not 0 < rounds * (loop.taken + loop.given) <= ITEM_ROWS:
            raise NotLowered("a loop over many rows")
        loop = loop._replace(rounds=rounds)
        columns = [x.ids[:rounds].reshape(rounds, -1) for x in rest[held:]]
        given += np.concatenate(columns, axis=1).reshape(-1).tolist() if columns else []
        found = [count]
    else:
        found = [Names(np.array(line.op(NestedResult(loop, 0), *given)), "i8")]
    of_carry = np.arange(1, 1 + loop.carried)
    of_rows = np.arange((loop.rounds or 0) * loop.given).reshape(-1, max(loop.given, 1))
    places: list[tuple[Any, np.ndarray]] = [(place, of_carry) for place in layouts.carry.places]
    places += [(place, of_rows + 1 + loop.carried) for place in layouts.given.places]
    for place, numbers in places:
        part = numbers[..., place.start : place.end]
        ids = [line.op(NestedResult(loop, k), *given) for k in part.reshape(-1).tolist()]
        shape = (*numbers.shape[:-1], *place.form.shape)
        found.append(Names(np.array(ids, np.int64).reshape(shape), "i8" if place.whole else "f8"))
        if loop.finite and not place.whole:
            finite += ids
    return found, finite


#: By the names of lowerings in the table.
STEPS: dict[str, Callable] = {
    "sum": _sum, "mean": _mean, "prod": _reduction("prod"), "max": _reduction("max"),
    "min": _reduction("min"), "any": _reduction("any"), "all": _reduction("all"),
    "count_nonzero": _count_nonzero, "searchsorted": _searchsorted,
    "cumsum": _accumulated("add"), "cumprod": _accumulated("multiply"), "where": _where,
    "dot": _dot, "matmul": _matmul, "outer": _outer, "zeros_like": _filled(0.0),
    "ones_like": _filled(1.0), "array": _array, "clip": _clip, "astype": _array, "real": _array,
    "conjugate": _array, "positive": _array, "scatter": _scatter, "written": _written,
    "part": _part, "euclidean": _euclidean, "norm": _norm, "entry": _entry,
    "guarded_quotient": _guarded_quotient, "with_value": _own_value,
}  # fmt: skip
