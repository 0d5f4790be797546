"""Sequences of results and their tangents: stacked, taken apart, and zeros left zeros.

A *stack* of numbers or arrays has one more axis, the first; a stack of containers is a
container of stacks.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from ....config import ArgumentTypeError
from ... import (
    ZERO,
    AbstractZero,
    NoTangent,
    NotImplementedTangent,
    Projector,
    ProjectTo,
    Traced,
    TracedArray,
    Within,
    add,
    array_of,
    call,
    child_tangents,
    children,
    fold,
    is_array,
    is_lazy,
    iterate_leaves,
    map_leaves,
    replaced,
    structural,
    sum_tangents,
    unthunk,
    value,
)
from ...containers import LEAVES
from ...known_classes import are_unlike


def stack(items: Any) -> Any:
    """Stack numbers, arrays, or containers of these.

    Raises
    ------
    TypeError
        If the items are containers of different structure.
    """
    return joined_leaves(_stack, items)


def joined_leaves(join: Callable[[Any], Any], items: Any) -> Any:
    """Return ``join`` of numbers or arrays, or of those at each place of containers of these."""

    def look(items: Any) -> Any:
        parts = children(items[0])
        if parts is not None:
            return Within(zip(columns(items, parts.keys)), parts.rebuild)
        return None if all(item is None for item in items) else join(items)

    return fold(look, items)


def _stack(items: Any) -> Any:
    # NumPy takes long to stack many numbers, and not to make an array of them.
    return np.stack(items) if any(is_array(item) for item in items) else array_of(list(items))


def columns(items: Any, keys: tuple) -> list[list]:
    """Return, for each of ``keys``, what every item has there."""
    rows = [children(item) for item in items]
    if any(row is None or row.keys != keys for row in rows):
        raise ArgumentTypeError("results of different structure cannot be stacked.")
    if any(are_unlike(items[0], item) for item in items):
        raise ArgumentTypeError("results of different units, labels or others cannot be stacked.")
    return [[row.values[i] for row in rows if row is not None] for i in range(len(keys))]


def shell_of(items: Any) -> Any:
    """Return the structure of the first item, with nothing in it."""
    return map_leaves(lambda leaf: None, items[0]) if items else None


def stack_tangents(tangents: Any, shell: Any = None) -> Any:
    """Stack one tangent per item; ``shell`` has the items' structure."""
    return fold(_stack_tangents, tangents, shell)


def _stack_tangents(tangents: Any, shell: Any) -> Any:
    tangents = [unthunk(t) for t in tangents]
    missing = [t for t in tangents if isinstance(t, NotImplementedTangent)]
    if missing:
        return missing[0]
    present = [t for t in tangents if not isinstance(t, AbstractZero)]
    if not present:
        return sum_tangents(tangents)
    parts = children(shell)
    if parts is not None:
        rows = [child_tangents(shell, t) for t in tangents]
        columns = zip(zip(*rows, strict=True), parts.values, strict=True)
        return Within(columns, partial(structural, type(shell), parts.keys))
    if len(present) < len(tangents):
        zero = np.zeros_like(present[0])
        tangents = [zero if isinstance(t, AbstractZero) else t for t in tangents]
    return stack(tangents)


def unstack(t: Any, count: int, shell: Any = None) -> list:
    """Return one tangent per item; ``t`` is that of ``count`` items, stacked or in a sequence.

    Examples
    --------
    >>> import numpy as np
    >>> import chainrules as cr
    >>> cr.unstack(np.array([[1.0, 2.0], [3.0, 4.0]]), 2)
    [array([1., 2.]), array([3., 4.])]
    >>> cr.unstack(cr.ZeroTangent(), 2)
    [ZeroTangent(), ZeroTangent()]
    """

    def look(t: Any, shell: Any) -> Any:
        t = unthunk(t)
        if isinstance(t, AbstractZero):
            return [t] * count
        parts = children(shell)
        if parts is None:
            return list(t)

        def build(columns: list) -> list:
            rows = zip(*columns, strict=True)
            return [structural(type(shell), parts.keys, row) for row in rows]

        return Within(zip(child_tangents(shell, t), parts.values, strict=True), build)

    return fold(look, t, shell)


class Sequence:
    """A sequence of ``count`` items that was iterated over, as the space of its tangents."""

    __slots__ = ("count", "space")

    def __init__(self, x: Any, count: int) -> None:
        self.count = count
        # The keys of a dict, or what an iterator gave, have no tangents.
        whole = is_array(x) or isinstance(x, tuple | list)
        self.space: Projector = ProjectTo(x if whole else None)

    def collect(self, tangents: Any) -> Any:
        """Return the tangent of the sequence from those of its first items; the rest are zero."""
        tangents = [*tangents, *[ZERO] * (self.count - len(tangents))]
        if all(isinstance(t, AbstractZero) for t in tangents):
            return ZERO
        stacked = hasattr(self.space, "shape")
        return self.space(stack_tangents(tangents) if stacked else tangents)


class ResultStructure:
    """Structure of a function's results for all items, and the form in which they return.

    ``form`` is ``stack``, ``list`` or ``tuple``.
    """

    __slots__ = ("count", "form", "shell")

    def __init__(self, ys: Any, form: Any) -> None:
        self.form = form
        self.count = len(ys)
        self.shell = shell_of(ys) if form is stack else None

    def collect(self, tangents: Any) -> Any:
        """Return the tangent of all results from one for each."""
        if self.form is stack:
            return stack_tangents(tangents, self.shell)
        tangents = [unthunk(t) for t in tangents]
        if all(isinstance(t, AbstractZero) for t in tangents):
            return sum_tangents(tangents)
        return structural(self.form, tuple(range(self.count)), tangents)

    def split(self, ybar: Any) -> list:
        """Return the cotangent of every result from that of all."""
        return unstack(ybar, self.count, self.shell)


def form_of(x: Any) -> Any:
    """Return the form of results over ``x``: stacked for an array, a tuple for a tuple."""
    if is_array(x):
        return stack
    return tuple if isinstance(x, tuple) else list


def gather(ys: Any, form: Any, x: Any) -> Any:
    """Return the results ``ys`` over ``x`` in their form; those of an empty array are its like."""
    if form is stack:
        if ys:
            return stack(ys)
        return np.copy(x[:0]) if is_array(x) else np.zeros(0)
    return form([copied(y) for y in ys])


class Constant:
    """Opaque value: rules pass it through unchanged, and a function is run on its content.

    To a rule an integer that is differentiated, and counts as a float64, looks like one that is a
    counter, an index or a size, and has to stay what it is. Outside of the rule they differ.
    """

    __slots__ = ("x",)

    def __init__(self, x: Any) -> None:
        self.x = x


LEAVES.add(Constant)


def held(x: Any) -> Any:
    """Return ``x`` with each whole number that is not traced held as a constant."""
    return replaced(_held, x)


def _held(x: Any) -> Any:
    whole = isinstance(x, int | np.integer) or (type(x) is np.ndarray and x.dtype.kind in "iu")
    return Constant(x) if whole and not isinstance(x, Traced) else x


def released(x: Any) -> Any:
    """Return ``x`` with what was held as it is."""
    return replaced(_released, x)


def _released(x: Any) -> Any:
    return x.x if type(x) is Constant else x


def has_held(x: Any) -> bool:
    return any(type(leaf) is Constant for leaf in iterate_leaves(x))


def released_call(f: Any, args: Any, kwargs: Any) -> Any:
    """Call ``f`` with what was held as it is."""
    args, kwargs = released((args, kwargs))
    return call(f, args, kwargs)


def copied(x: Any) -> Any:
    """Return ``x`` with copies of its arrays.

    What a function gives back may be an item itself, or a view of it. A rule's result is none,
    so it must not be one without a rule.
    """
    return replaced(_copied, x)


def own_items(xs: Any) -> Any:
    """Return the items of a sequence in memory of their own, since a function may write into them.

    A rule hands out such items, too: the array of which they are rows stays as it is.
    """
    return xs if type(xs) is np.ndarray and xs.ndim == 1 else map(copied, xs)


def _copied(x: Any) -> Any:
    if type(x) is Constant:
        return Constant(copied(x.x))
    if type(x) is np.ndarray:
        return x.copy()
    if isinstance(x, TracedArray):
        return x if is_lazy(value(x)) else np.copy(x)  # whose parts nobody writes into
    return x.copy() if isinstance(x, np.ndarray) else x  # of a subclass, which np.copy drops


def pull_item(pullback: Any, ybar: Any, count: int) -> tuple:
    """Pull the cotangent of one result back, unless it is zero, to ``count`` cotangents."""
    ybar = unthunk(ybar)
    if isinstance(ybar, AbstractZero):
        return (ZERO,) * count
    return pullback(ybar)


def sum_of_fbars(f: Any, fbars: Any) -> Any:
    """Return the cotangent of the function that was called for every item."""
    return add(NoTangent() if children(f) is None else ZERO, sum_tangents(fbars))


def unzip(rows: Any, count: int) -> tuple:
    """Return ``count`` tuples, of the first parts of ``rows``, of the second, ..."""
    return tuple(zip(*rows, strict=True)) or ((),) * count
