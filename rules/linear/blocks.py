"""Blocks: several values of one quantity at once, one for each of several directions.

``np.cumsum(xdot)`` of one tangent is ``np.cumsum(xdots, axis=1)`` of a block of them.

A linear program that is to be run for many directions runs once, on arrays that have the
directions as their first axis. Elementwise functions take that axis by themselves, others
say with their rule what becomes of it; any other function is called for one direction after
another. ``cr.vmap`` asks the same forms for a batch of values.
"""

import math
import operator
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from ...config import MissingRuleError
from ..accelerated import numbers
from ..annotations import Function, Index, Value
from ..containers import LEAVES, children, iterate_leaves, map_leaves
from ..shapes import axes_in_block, dtype_of, shape_of
from ..table.tables import frule
from ..tangents.zeros import AbstractZero
from ..tracing.funnel import array_of, shown
from ..tracing.operands import is_array


class Block:
    """An array of values, of shape ``(directions, *shape)``."""

    __slots__ = ("values",)

    def __init__(self, values: Any) -> None:
        self.values = values

    @property
    def count(self) -> int:
        """Number of directions."""
        return shape_of(self.values)[0]

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of each value."""
        return shape_of(self.values)[1:]

    @property
    def rank(self) -> int:
        """Number of axes of each value."""
        return len(shape_of(self.values)) - 1

    @property
    def flat(self) -> Any:
        """The values as vectors: an array of shape ``(directions, size)``."""
        if self.rank == 1:
            return self.values
        return self.values.reshape((self.count, math.prod(self.shape)))

    def axes(self, axis: object) -> Any:
        """Return where an axis of a value, or each of several, is in ``values``; None is all.

        Where NumPy takes axis 0 of a number, that stands for all of its axes, too.
        """
        return axes_in_block(axis, self.rank)

    def in_columns(self, solve: Callable) -> Any:
        """Call a solver of linear systems once, with the vectors or columns of all directions."""
        if self.rank == 1:
            return solve(self.values.T).T
        n, *rest = self.shape
        columns = self.values.swapaxes(0, 1)
        y = solve(columns.reshape((n, math.prod(rest) * self.count)))
        return y.reshape((shape_of(y)[0], self.count, *rest)).swapaxes(0, 1)


LEAVES.add(Block)
_rules: dict[Any, Callable] = {}
_forms: dict[Any, Callable] = {}
_of_entries: list[Callable[[Function], bool]] = []  # which functions of a library are elementwise
# Functions whose pushforwards take a stack of tangents, and the axes that their values may have.
_of_stacks: dict[Function, float] = {}
# Of two operands, as the operators of Python and as ufuncs.
ARITHMETIC = {
    operator.add, operator.sub, operator.mul, operator.truediv,
    np.add, np.subtract, np.multiply, np.true_divide,
}  # fmt: skip
_operators = ARITHMETIC | {operator.neg, operator.pos}


def entering(rules: dict[Any, Callable], functions: tuple) -> Callable[[Callable], Callable]:
    """Return a decorator that enters into ``rules`` what it decorates, for these functions."""

    def register(rule: Callable) -> Callable:
        rules.update(dict.fromkeys(functions, rule))
        return rule

    return register


def block_rule(*functions: Function) -> Callable[[Callable], Callable]:
    """Register how functions run on a block that do not say it with their rule.

    The decorated function has the signature of the call. Some of the arguments are a ``Block``,
    and so may be the parts of a list. It returns an array with the directions as its first axis
    (a tuple of these for a function of several results), or NotImplemented.
    """
    return entering(_rules, functions)


def batch_form(*functions: Function) -> Callable[[Callable], Callable]:
    """Register how functions run on a batch of values that are not linear, or not in several.

    As ``block_rule``; it is asked where that gives no answer, and before the rule of the function.
    """
    return entering(_forms, functions)


def entry_by_entry(is_so: Callable[[Function], bool]) -> Callable[[Function], bool]:
    """Let functions of a library that ``is_so`` tells be taken for elementwise in all arguments."""
    _of_entries.append(is_so)
    return is_so


def pushes_stacks(*functions: Function, most: float = 2) -> None:
    """Let pushforwards of functions of matrices take the tangents of one matrix as a stack.

    Their formulas broadcast over axes in front of those of a matrix, as NumPy's linear algebra
    does: all directions are computed at once, without looking at each operation. Values of more
    axes than ``most`` are stacks themselves.
    """
    _of_stacks.update(dict.fromkeys(functions, most))


def takes_stack(f: Function, values: Iterable) -> bool:
    """Say whether the pushforward of ``f`` at ``values``, one matrix each, takes stacks."""
    most = None if type(f).__hash__ is None else _of_stacks.get(f)
    if most is None or most == math.inf:
        return most is not None
    for x in values:  # noqa: SIM110  # a generator takes longer
        if len(shape_of(x)) > most:
            return False
    return True


def by_entries(f: Function, args: tuple, kwargs: dict) -> Any:
    """Call a library's function of entries once for all items; NotImplemented where it is none.

    What it gives for all items alike is no block.
    """
    given = (*args, *kwargs.values())
    known = all(type(x) is Block or isinstance(x, float | int) or dtype_of(x) for x in given)
    if not known or not any(is_so(f) for is_so in _of_entries):
        return NotImplemented
    rank = max(map(rank_of, given))
    y = f(*[aligned(x, rank) for x in args], **{k: aligned(x, rank) for k, x in kwargs.items()})

    def in_block(leaf: Any) -> Any:
        return Block(leaf) if len(shape_of(leaf)) == rank + 1 else leaf

    return map_leaves(in_block, y)


def run_on_block(f: Function, args: tuple, kwargs: dict) -> Any:
    """Call ``f`` for every direction of the blocks among its arguments.

    Returns
    -------
    Any
        A ``Block``, or a container of blocks; what it would be where there is no block.
    """
    blocks = blocks_in((*args, *kwargs.values()) if kwargs else args)
    if not blocks:
        return f(*args, **kwargs)
    y = at_once_on_blocks(f, args, kwargs)
    return _one_by_one(f, args, kwargs, blocks[0].count) if y is NotImplemented else y


def at_once_on_blocks(f: Function, args: tuple, kwargs: dict) -> Any:
    """Call ``f`` once for all directions, by its batch form; NotImplemented where it has none."""
    if kwargs and blocks_in(kwargs.values()):
        return NotImplemented
    f = shown(f)
    kind = frule.kind_of(f)
    if _is_elementwise(f, kind) and f not in _forms:
        lists = [x for x in args if type(x) is list or type(x) is tuple]
        if lists and blocks_in(lists):  # which NumPy takes for objects
            return NotImplemented
        y = _entry_by_entry(f, args, kwargs)
        if type(y) is tuple:
            return tuple(map(Block, y))
        return y if isinstance(y, AbstractZero) else Block(y)
    hashable = type(f).__hash__ is not None
    y = _rules[f](*args, **kwargs) if hashable and f in _rules else NotImplemented
    if y is NotImplemented and hashable and f in _forms:
        y = _forms[f](*args, **kwargs)
    if y is NotImplemented and kind is not None and (kind.block is not None or kind.axes):
        try:
            args, kwargs = kind.bind(f, args, kwargs)
        except MissingRuleError:  # there is a value all the same
            return NotImplemented
        if not (kwargs and blocks_in(kwargs.values())):  # an option was given by its place
            y = _by_declaration(kind, f, args, kwargs)
    if y is NotImplemented:
        return y
    return map_leaves(Block, y) if isinstance(y, tuple) else Block(y)


def operate_on_blocks(operation: Callable, x: Value, z: Value) -> Any:
    """Do ``operation(x, z)`` where blocks have as many axes for each value as the result has."""
    if type(x) is Block:
        if type(z) is Block:
            return Block(operation(x.values, z.values))
        if not isinstance(z, AbstractZero):
            return Block(operation(x.values, z))
    elif type(z) is Block and not isinstance(x, AbstractZero):
        return Block(operation(x, z.values))
    return run_on_block(operation, (x, z), {})


def blocks_in(x: Iterable) -> list[Block]:
    """Return the blocks among some values and in their parts."""
    found = []
    for part in x:
        cls = type(part)
        if cls is Block:
            found.append(part)
        elif cls is tuple or cls is list:
            found += blocks_in(part)
        elif cls not in LEAVES:
            found += [leaf for leaf in iterate_leaves(part) if type(leaf) is Block]
    return found


def is_elementwise(f: Function) -> bool:
    """Say whether ``f`` is elementwise in every argument."""
    return _is_elementwise(f, frule.kind_of(f))


def _is_elementwise(f: Function, kind: Any) -> bool:
    if isinstance(f, np.ufunc):
        return f.signature is None
    return f in _operators or (kind is not None and kind.elementwise)


def has_batch_form(f: Function) -> bool:
    """Say whether a call of ``f`` is one call for all directions, with most of its arguments."""
    kind = frule.kind_of(f)
    declared = kind is not None and (kind.block is not None or bool(kind.axes))
    return is_elementwise(f) or f in _rules or f in _forms or declared


def _by_declaration(kind: Any, f: Function, args: tuple, options: dict) -> Any:
    """Run a function on a block as its rule says; NotImplemented where it does not."""
    if kind.block is not None:
        return kind.block(*args, **options)
    if not kind.axes or type(args[0]) is not Block:
        return NotImplemented
    (x,) = args
    shifts = {name: x.axes(options.get(name, default)) for name, default in kind.axes.items()}
    for_type, quick = kind.shortcut
    return (quick if type(x.values) is for_type else f)(x.values, **options | shifts)


def _entry_by_entry(f: Function, args: tuple, options: dict) -> Any:
    others = options.values() if options else ()  # a mask broadcasts as an argument does
    rank = max([rank_of(x) for x in (*args, *others)])
    return f(*[aligned(x, rank) for x in args], **options)


def rank_of(x: Value) -> int:
    """Return how many axes a value has; of a block, each of its values."""
    if type(x) is Block:
        return x.rank
    return 0 if isinstance(x, AbstractZero) else len(shape_of(x))


def aligned(x: Value, rank: int) -> Any:
    """Return the values of a block with ``rank`` axes for each value; others as they are."""
    if type(x) is not Block:
        return x
    missing = rank - x.rank
    if missing <= 0:
        return x.values
    return np.reshape(x.values, (x.count, *(1,) * missing, *x.shape))


def fitted(v: Value, rank: int) -> Any:
    """Return the values of a block that is assigned to ``rank`` axes: NumPy drops leading ones."""
    if type(v) is Block and v.rank > rank:
        return np.reshape(v.values, (v.count, *v.shape[v.rank - rank :]))
    return aligned(v, rank)


def led_index(index: Index) -> tuple:
    """Return the index that reads in a block what ``index`` reads in each direction."""
    return (slice(None), *index) if type(index) is tuple else (slice(None), index)


def spread(x: Any, count: int) -> Any:
    """Return the values of a block; of anything else the same value for every direction."""
    return x.values if type(x) is Block else np.broadcast_to(x, (count, *shape_of(x)))


def _one_by_one(f: Function, args: tuple, kwargs: dict, count: int) -> Any:
    def of_leaf(leaf: Value, k: int) -> Any:
        return leaf.values[k] if type(leaf) is Block else leaf

    def direction(x: Value, k: int) -> Any:
        if type(x) in LEAVES:  # as most arguments are
            return of_leaf(x, k)
        return map_leaves(lambda leaf: of_leaf(leaf, k), x)

    def called(k: int) -> Any:
        options = {name: direction(x, k) for name, x in kwargs.items()}
        return f(*[direction(x, k) for x in args], **options)

    def one_zero(leaf: Value) -> Any:
        if type(leaf) is not Block:
            return leaf
        return Block(np.zeros_like(leaf.values, shape=(1, *leaf.shape)))

    if count == 0:
        # What comes out is seen from one direction, which is then left out.
        y = _one_by_one(f, map_leaves(one_zero, args), map_leaves(one_zero, kwargs), 1)
        return map_leaves(lambda leaf: Block(leaf.values[:0]), y)
    return _gathered(list(map(called, range(count))))


def _gathered(results: list) -> Any:
    zeros = [isinstance(y, AbstractZero) for y in results]
    if all(zeros):
        return results[0]
    if any(zeros):  # in some directions nothing moves
        of_others = results[zeros.index(False)]
        results = [
            map_leaves(np.zeros_like, of_others) if zero else y
            for y, zero in zip(results, zeros, strict=True)
        ]
    parts = children(results[0])
    if parts is None:
        numbers = any(not is_array(y) for y in results)
        return Block(array_of(results) if numbers else np.stack(results))
    rows = [children(y).values for y in results]  # type: ignore[union-attr]
    return parts.rebuild([_gathered(list(column)) for column in zip(*rows, strict=True)])


def share_in_block(kind: Any, args: tuple, options: dict) -> Any:
    """Return the values of a linear kind's function on ``args``, of which one has a block."""
    if kind.f not in _rules:
        if kind.block is not None:
            y = kind.block(*args, **options)
        else:
            y = _by_declaration(kind, kind.f, args, options)
        if y is not NotImplemented:
            return y
    return run_on_block(kind.f, args, options).values


if numbers is not None:
    numbers.register_blocks(Block, share_in_block, _rules, np.matmul)
