"""Patterns: which entries of a linear program's input each entry of a result depends on.

Of ``np.diff(x)`` each entry depends on two neighbours.

A pattern is a sparse matrix of flags, with a row for every entry of the result. A linear
function takes the pattern of its argument to that of its result: elementwise functions keep
the rows, others move, join or drop them. Where nothing is known of a function, each entry of
its result is taken to depend on all that any entry of its argument depends on: a pattern may
be too large, never too small.
"""

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ...config import MissingRuleError
from ...config.thresholds import LARGEST_PATTERN, PROBED
from ..annotations import Function, Value
from ..containers import LEAVES, iterate_leaves, map_leaves
from ..shapes import shape_of
from ..signatures import name_of
from ..table.tables import frule
from ..tangents.zeros import AbstractZero
from ..tracing.level import value
from .blocks import Block, blocks_in, entering, is_elementwise, run_on_block


class Pattern:
    """Of an array of ``shape``: ``rows`` is a ``scipy.sparse`` matrix of flags, entry by input."""

    __slots__ = ("rows", "shape")

    def __init__(self, shape: tuple[int, ...], rows: Any) -> None:
        self.shape = shape
        self.rows = rows

    @property
    def size(self) -> int:
        """Number of entries of the array."""
        return math.prod(self.shape)

    @property
    def rank(self) -> int:
        """Number of axes of the array."""
        return len(self.shape)

    @property
    def ids(self) -> np.ndarray:
        """The entries numbered from 1, in an array; 0 stands for no entry."""
        return np.arange(1.0, 1.0 + self.size).reshape(self.shape)

    def taken(self, ids: Any) -> "Pattern":
        """Return the pattern of an array whose entries are those of ``ids``."""
        return Pattern(np.shape(ids), selection(ids, self.size) @ self.rows)


LEAVES.add(Pattern)
_rules: dict[Any, Callable] = {}


def pattern_rule(*functions: Function) -> Callable[[Callable], Callable]:
    """Register what linear functions without a ``linear_rule`` do to patterns.

    The decorated function has the signature of the call, with a ``Pattern`` for every argument
    in which the call is linear, and returns one, or NotImplemented. Of the numbers in other
    arguments it may look at which are zero, and at nothing else: see ``what_is_read``.
    """
    return entering(_rules, functions)


def matrix(rows: Any, columns: Any, shape: tuple[int, int]) -> Any:
    """Return a sparse matrix of flags that are set at ``(rows, columns)``."""
    from scipy import sparse

    rows, columns = np.ravel(rows), np.ravel(columns)
    flags = sparse.csr_array((np.ones(len(rows), bool), (rows, columns)), shape)
    flags.data[:] = True
    return flags


def selection(ids: Any, count: int) -> Any:
    """Return the matrix that reads, for each of ``ids``, that of ``count`` entries; 0 is none."""
    ids = np.ravel(ids).astype(int)
    present = np.flatnonzero(ids)
    return matrix(present, ids[present] - 1, (ids.size, count))


def run_on_pattern(f: Function, args: tuple, kwargs: dict) -> Any:
    """Return the pattern of ``f(*args, **kwargs)``, or a container of patterns."""
    patterns = [x for x in iterate_leaves((args, kwargs)) if type(x) is Pattern]
    if not patterns:
        return value(f(*args, **kwargs))
    if any(type(x) is Pattern for x in iterate_leaves(tuple(kwargs.values()))):
        return everything(f, args, kwargs, patterns)
    kind = frule.kind_of(f)
    if kind is not None and kind.linear:
        args, kwargs = kind.bind(f, args, kwargs)
    read = what_is_read(f)
    if read == NOTHING:
        return entry_by_entry((*args, *kwargs.values()))
    if read == INTEGERS and all(type(x) is not Pattern for x in iterate_leaves(args[1:])):
        return moved(f, args, kwargs)
    if read == ZEROS:
        y = _rule_of(f)(*args, **kwargs)  # type: ignore[misc]
        if y is not NotImplemented:
            return y
    if read == NUMBERS and len(patterns) == 1 and patterns[0].size <= PROBED:
        return probed(f, args, kwargs, patterns[0])
    return everything(f, args, kwargs, patterns)


# What the pattern of a call depends on, beside the shapes of its arguments: on nothing; on what
# is no real or complex number, such as an index; on which of these are zero too; on all of them.
NOTHING, INTEGERS, ZEROS, NUMBERS = range(4)


def what_is_read(f: Function) -> int:
    """Say at what ``run_on_pattern`` looks in the arguments of ``f`` that are no patterns."""
    if is_elementwise(f):
        return NOTHING
    kind = frule.kind_of(f)
    if kind is not None and kind.linear and kind.moves:
        return INTEGERS
    return NUMBERS if _rule_of(f) is None else ZEROS


def _rule_of(f: Function) -> Callable | None:
    kind = frule.kind_of(f)
    return kind.pattern if kind is not None and kind.linear else _rules.get(f)


def entry_by_entry(args: tuple) -> Pattern:
    """Return the pattern of an elementwise function."""
    shape = np.broadcast_shapes(*[shape_of(x) for x in args if not isinstance(x, AbstractZero)])
    rows = None
    for x in args:
        if type(x) is Pattern:
            here = x if x.shape == shape else x.taken(np.broadcast_to(x.ids, shape))
            rows = here.rows if rows is None else rows + here.rows
    return Pattern(shape, rows)


def moved(f: Function, args: tuple, kwargs: dict) -> Any:
    """Return the pattern of a function that moves the entries of its first argument."""
    numbered, whole = number(args[0])
    # In another dtype the numbers of the entries could be rounded.
    kwargs = {name: x for name, x in kwargs.items() if name not in ("dtype", "casting")}
    return map_leaves(whole.taken, f(numbered, *map(value, args[1:]), **kwargs))


def number(x: Value) -> tuple[Any, Pattern]:
    """Number the entries of all patterns in ``x``, and return one pattern for all of them.

    Whatever else there is in ``x`` depends on nothing, and has the number 0.
    """
    from scipy import sparse

    rows: list[Any] = []
    total = 0

    def numbered(leaf: Value) -> Any:
        nonlocal total
        if type(leaf) is not Pattern:
            return np.zeros(shape_of(leaf))
        ids = leaf.ids + total
        total += leaf.size
        rows.append(leaf.rows)
        return ids

    ids = map_leaves(numbered, x)
    return ids, Pattern((total,), rows[0] if len(rows) == 1 else sparse.vstack(rows, "csr"))


def probed(f: Function, args: tuple, kwargs: dict, pattern: Pattern) -> Any:
    """Return the pattern of a linear function of few numbers, from what each of them does."""

    def images(unit: complex) -> Any:
        units = Block((unit * np.eye(pattern.size)).reshape(pattern.size, *pattern.shape))
        given = map_leaves(lambda leaf: units if leaf is pattern else value(leaf), list(args))
        return run_on_block(f, tuple(given), kwargs)

    y = images(1.0)
    try:
        # Linear in real numbers only, such as a real part, what i does may be something else.
        turned = images(1.0j)
    except Exception:
        turned = y  # it takes no complex numbers, so no step gives it any
    others = iter(blocks_in([turned]))

    def pattern_of(leaf: Value) -> Any:
        from scipy import sparse

        if type(leaf) is not Block:
            return leaf
        flags = (leaf.flat != 0) | (next(others).flat != 0)  # also of what is NaN or infinite
        return Pattern(leaf.shape, sparse.csr_array(value(flags).T) @ pattern.rows)

    return map_leaves(pattern_of, y)


def everything(f: Function, args: tuple, kwargs: dict, patterns: list[Pattern]) -> Any:
    """Return the pattern of a function of which nothing is known."""
    used = np.zeros(patterns[0].rows.shape[1], bool)
    for x in patterns:
        used |= np.asarray(x.rows.sum(axis=0)).ravel() > 0
    columns = np.flatnonzero(used)

    def sample(leaf: Value) -> Any:
        return np.ones(leaf.shape)[()] if type(leaf) is Pattern else value(leaf)

    y = f(*map_leaves(sample, list(args)), **map_leaves(sample, kwargs))

    def pattern_of(part: Value) -> Pattern:
        shape = shape_of(part)
        size = math.prod(shape)
        refuse_too_many(f, size, len(columns))
        rows = np.repeat(np.arange(size), len(columns))
        return Pattern(shape, matrix(rows, np.tile(columns, size), (size, len(used))))

    return map_leaves(pattern_of, y)


def refuse_too_many(f: Function, size: int, count: int) -> None:
    """Refuse a pattern where each of ``size`` entries depends on ``count`` others.

    Raises
    ------
    MissingRuleError
    """
    if size * count > LARGEST_PATTERN:
        raise MissingRuleError(
            f"nothing is known of which entries {name_of(f)} makes of which others, and all "
            f"{size} of all {count} are too many.\n  leave out sparse=True"
        )
