"""Memory layout of arrays: strides in entries, and views of arrays."""

from typing import Any

import numpy as np

from ...rules import getitem
from .forms import ValueForm


class View:
    """An array as a part of another one: ``base``, and where its entries lie in that.

    ``part`` is 0 for the real parts of a complex one, 1 for the imaginary ones.
    """

    __slots__ = ("base", "offset", "part", "shape", "strides")

    def __init__(
        self, base: int, offset: int, shape: tuple, strides: tuple, part: int | None = None
    ) -> None:
        self.base, self.offset, self.shape, self.strides = base, offset, shape, strides
        self.part = part


def strides_of(shape: tuple[int, ...], order: str = "C") -> tuple[int, ...]:
    """Return the strides, in entries, of an array of this shape in C's or in Fortran's order."""
    if order == "F":
        return strides_of(shape[::-1])[::-1]
    strides, step = [], 1
    for n in reversed(shape):
        strides.append(step)
        step *= n
    return tuple(reversed(strides))


def broadcast(shape: tuple, strides: tuple, target: tuple) -> tuple[int, ...]:
    missing = len(target) - len(shape)
    pairs = zip(shape, strides, target[missing:], strict=True)
    return (0,) * missing + tuple([0 if n == 1 and m != 1 else s for n, s, m in pairs])


def is_uniform(x: np.ndarray) -> bool:
    return x.size > 0 and x.dtype.kind in "fcbiu" and bool((x == x.reshape(-1)[0]).all())


def is_same(a: View, b: View) -> bool:
    return all(getattr(a, k) == getattr(b, k) for k in ("offset", "shape", "strides", "part"))


def has_order(x: Any) -> bool:
    """Say whether settings name an order that depends on how an array lies in memory."""
    if type(x) in (tuple, list):
        return any(map(has_order, x))
    return any(map(has_order, x.values())) if type(x) is dict else type(x) is str and x in "KA"


def placed(f: Any, rest: tuple, options: dict, view: View) -> View | None:
    """Return where ``f`` of a view lies, by asking NumPy; None where it copies."""
    if not all(view.shape):
        return None
    steps = [(n - 1) * s for n, s in zip(view.shape, view.strides, strict=True)]
    memory = np.empty(1 + sum(map(abs, steps)))  # all of it: where f copies, it reads that
    first = memory[-sum(step for step in steps if step < 0) :]
    given = np.lib.stride_tricks.as_strided(first, view.shape, [8 * s for s in view.strides])
    if f is getitem:
        (index,) = rest if rest else (options["index"],)
        parts = index if type(index) is tuple else (index,)
        if not all(type(p) in (int, slice, type(None), type(...)) for p in parts):
            return None
        y = given[(*parts, ...)] if ... not in parts else given[index]
        if type(y) is not np.ndarray:
            return None
    else:
        y = f(given, *rest, **options)
    if y.size == 0 or not np.may_share_memory(y, memory):
        return None
    start = given.__array_interface__["data"][0]
    offset = (y.__array_interface__["data"][0] - start) // 8
    strides = tuple([s // 8 for s in y.strides])
    return View(view.base, view.offset + offset, y.shape, strides, view.part)


def positions_in(index: Any, shape: tuple[int, ...]) -> np.ndarray | None:
    """Return the positions along the first axis that a vector of constants has; None of others."""
    (places,) = index if type(index) is tuple and len(index) == 1 else (index,)
    if type(places) is not np.ndarray or places.ndim != 1 or places.dtype.kind not in "iu":
        return None
    at = places.astype(np.int64)
    at[at < 0] += shape[0]
    return at if at.size and 0 <= at.min() <= at.max() < shape[0] else None


def as_slice(index: Any, shape: tuple[int, ...]) -> Any:
    """Return the slice of the first axis that a vector of constant positions at one distance is."""
    at = positions_in(index, shape)
    steps = set() if at is None else set(np.diff(at).tolist()) or {1}
    if at is None or len(steps) != 1 or 0 in steps:
        return index
    (step,) = steps
    end = int(at[-1]) + (1 if step > 0 else -1)
    return slice(int(at[0]), None if end < 0 else end, step)


def spread(shape: tuple, strides: tuple, target: tuple, axes: tuple | None) -> tuple[int, ...]:
    """Return the strides of an array along the axes of a loop over ``target``."""
    if axes is None:
        return broadcast(shape, strides, target)
    along = dict(zip(axes, strides, strict=True))
    return tuple([along.get(k, 0) for k in range(len(target))])


def can_be_made(view: View, form: ValueForm | None) -> bool:
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
