"""Trace levels, one for each running transform; tests for traced values, and ways to strip them.

In ``grad(lambda x: grad(lambda y: x * y)(2.0))(3.0)`` the inner run answers ``x * y``, with an
``x`` that the outer one follows.

Every transform call takes the next number of one counter. Inner is higher, so the engine of
the highest level among the arguments answers first. There is no stack: threads need no care,
and an exception leaves nothing behind.
"""

import itertools
import operator
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import DTypeLike

from ...config.thresholds import DEEP
from ..annotations import Function, Index, Tangentlike, Value
from ..containers import (
    LEAVES,
    are_settings,
    children,
    is_flat,
    iterate_leaves,
    refuse_cycle,
    replaced,
)
from ..loading import load, needed

if TYPE_CHECKING:
    from .array import TracedArray
    from .views import Path

_next = itertools.count(1).__next__

ONE = 1  # the constant of rules such as addition, which pass a cotangent on as it is


def next_level() -> int:
    """Return the number of a new level; before the first, load the rules."""
    if needed:
        load()
    return _next()


class Level(ABC):
    """Interface of one run of a transform: it answers each call and each write of traced values.

    ``ForwardLevel``, ``Tape`` and ``LinearProgram`` are one run of one transform each; buffers
    have a level, too. Who writes an engine of her own begins with ``Engine``, which answers all
    questions by two methods. What levels owe each other is in docs/levels.md.
    """

    __slots__ = ()
    number: float
    records = False  # whether its values stand for plain numbers: see Traced.records
    sweeps = 0  # how many sweeps over the record of this run are going on
    given: tuple[tuple, list] | None = None  # the inputs, until something is written
    # Whether all that it knows of an array stands in the slots of that: see ``take_over``.
    in_slots: ClassVar[bool] = False

    @abstractmethod
    def call(self, f: Function, args: tuple, kwargs: dict) -> Value:
        """Answer a call of ``f`` in which a traced value of this level takes part."""

    @abstractmethod
    def unary(self, ufunc: np.ufunc, operation: Callable, x: "Traced") -> Value:
        """Answer ``operation(x)`` with one of Python's operators, whose rule is that of a ufunc."""

    @abstractmethod
    def binary(self, ufunc: np.ufunc, operation: Callable, a: Value, b: Value) -> Value:
        """Answer ``operation(a, b)`` with an operator; NotImplemented leaves it to the other."""

    @abstractmethod
    def getitem(self, x: "Traced", index: Index) -> Value:
        """Answer ``x[index]``."""

    @abstractmethod
    def constant(self, x: Value) -> Value:
        """Return the new array ``x`` as one of this level, which depends on nothing yet."""

    @abstractmethod
    def write(self, x: "TracedArray", index: Index, v: Value) -> None:
        """Do ``x[index] = v`` in the array that owns the memory of ``x``."""

    def library(self, f: Function, args: tuple, kwargs: dict) -> Any:
        """Answer a call of a library's function on values outside all transforms."""
        return f(*args, **kwargs)

    def multiply_add(
        self, xbar: Tangentlike | None, ybar: Tangentlike, factor: Tangentlike
    ) -> Value:
        """Return ``xbar + ybar * factor``; None is zero, and ``ybar`` a number of this level."""
        product = ybar if factor is ONE else ybar * factor
        return product if xbar is None else xbar + product

    def sum_over(self, x: Any, axis: tuple[int, ...]) -> Any:
        """Return ``np.sum(x, axis)`` of an array of this level, where ``axis`` ascends from 0."""
        return np.sum(x, axis=axis)

    def accumulator(
        self, shape: tuple[int, ...], dtype: DTypeLike | None, start: Value = None
    ) -> Value | None:
        """Return zeros, or the plain ``start``, as an array for ``add_at``; None if it has none."""
        return None

    def add_at(self, xbar: Any, index: Index, ybar: Value) -> bool:
        """Do ``xbar[index] += ybar`` in the memory of this level's accumulator, if it can be."""
        return False

    def take_at(self, xbar: Any, index: Index) -> Any:
        """Take the number out of this level's accumulator, and leave zero; None if it cannot be."""
        return None

    def motion(self, x: "Traced") -> Value | None:
        """Return the tangent of ``x``, of this level, along a direction; None if it knows none.

        Rules ask for it where numbers are equal: see ``ties``.
        """
        return None

    def stopped(self, x: Any) -> Any:
        """Return a value of a level that ``records`` without what transforms follow in it."""
        return x

    def made_constant(self, x: Any) -> Any:
        """Return a value of a level that ``records`` where the program itself stops derivatives."""
        return x

    def publish(self, root: "TracedArray", draft: tuple) -> None:
        """Give ``root`` the value that is in its draft: see ``views``."""
        raise NotImplementedError

    def refresh(self, view: "TracedArray", root: "TracedArray", path: "Path") -> None:
        """Give ``view`` its value anew, along its path from ``root``."""
        raise NotImplementedError


class Traced:
    """A value that some transform follows. ``primal`` may itself be traced, at a lower level."""

    __slots__ = ("at_level", "primal")

    primal: Any
    at_level: Level
    position: int  # in the record, where its level makes one
    tangent: Any  # beside the value, where its level pushes one
    block: Any  # in place of the value, where its level has one

    def __init_subclass__(cls) -> None:
        LEAVES.add(cls)  # whatever attributes it has, it is a number or an array, no container

    if TYPE_CHECKING:  # every one is a number or an array, and computes as these do

        def __add__(self, other: Any, /) -> Any: ...

        def __mul__(self, factor: Any, /) -> Any: ...

    # Whether it may be written to, and its value must be looked at by ``peek``.
    writable = False
    # Whether it stands for a plain number, which is another one in the next run of what is being
    # recorded: nothing may be decided by it that the recorder does not see.
    records = False

    def peek(self) -> Any:
        """Return the value to look at it, and not to keep it: it may be written to."""
        return self.primal

    def whole(self) -> Any:
        """Return what it carries, to be told; one that ``records`` has it for all items."""
        return self.primal

    def type_under(self) -> type:
        """Return the type of the number or array that it stands for, where it holds no value."""
        return type_under(self.peek())  # it is being written to


_value = vars(Traced)["primal"].__get__  # of the slot, which may be empty


def innermost(args: Any) -> Any:
    """Return the highest level among ``args``, looking into containers, or None."""
    # A walk of its own: every call asks, and what it asks for needs neither order nor answers.
    top = None
    outer: list = []
    deep = DEEP
    values = iter(args)
    while True:
        for x in values:
            if isinstance(x, Traced):
                level = x.at_level
                if top is None or level.number > top.number:
                    top = level
                continue
            kind = type(x)
            if kind in LEAVES:
                continue
            if kind is tuple:
                if are_settings(x):
                    continue
            elif kind is not list:
                parts = children(x)
                if parts is None:
                    continue
                x = parts.values
            outer.append(values)
            if len(outer) == deep:
                refuse_cycle(args)
                deep = 0
            values = iter(x)
            break
        else:
            if not outer:
                return top
            values = outer.pop()


def is_traced(x: Value) -> bool:
    """Say whether ``x`` is, or contains, a traced value.

    Examples
    --------
    >>> import chainrules as cr
    >>> seen = []
    >>> cr.grad(lambda x: (seen.append(cr.is_traced(x)), x * x)[1])(3.0)
    6.0
    >>> seen, cr.is_traced(3.0)
    ([True], False)
    """
    if isinstance(x, Traced):
        return not x.records or x.at_level.stopped(x) is not x
    level = innermost((x,))
    if level is None or not level.records:
        return level is not None
    return any(isinstance(leaf, Traced) and is_traced(leaf) for leaf in iterate_leaves(x))


def value(x: Value) -> Any:
    """Return the number or array under a traced value, in containers too, to be read only.

    Users have ``cr.value``, which gives a copy.
    """
    if isinstance(x, Traced):
        while isinstance(x, Traced):
            if x.records:
                return x.at_level.stopped(x)
            x = x.primal
        return x
    return x if type(x) in LEAVES or innermost((x,)) is None else replaced(value, x)


def layers(x: Value) -> Iterator[Any]:
    """Yield ``x``, what it carries, and so on, as long as these are traced by a transform."""
    while isinstance(x, Traced) and not x.records:
        yield x
        x = x.primal


def levels_of(*xs: Value) -> set[Level]:
    """Return the levels of all transforms that follow numbers or arrays: one for each order.

    Of batched values also those further out, which follow the block.
    """
    found = set()
    for x in xs:
        while isinstance(x, Traced):
            if not x.records:
                found.add(x.at_level)
            x = x.whole()
    return found


def type_under(x: Any) -> type:
    """Return the type of ``x``, or of the number or array that a traced ``x`` carries."""
    while isinstance(x, Traced):
        try:
            x = _value(x)
        except AttributeError:
            return x.type_under()
    return type(x)


def strip_all(args: tuple, level: Level) -> tuple:
    """Take the traced values of ``level`` off each argument."""
    stripped = []
    for x in args:  # every call asks, and a comprehension is one call more
        if isinstance(x, Traced) and x.at_level is level:
            stripped.append(x.primal)
        else:
            stripped.append(x if type(x) in LEAVES else strip(x, level))
    return tuple(stripped)


def strip(x: Value, level: Level) -> Any:
    """Take the traced values of ``level`` off, in containers too; other levels stay."""
    if isinstance(x, Traced):
        return x.primal if x.at_level is level else x
    if type(x) in LEAVES:
        return x
    if is_flat(x):
        stripped = [p.primal if isinstance(p, Traced) and p.at_level is level else p for p in x]
        return x if all(map(operator.is_, stripped, x)) else type(x)(stripped)

    def under(part: Value) -> Any:
        return part.primal if isinstance(part, Traced) and part.at_level is level else part

    return replaced(under, x)
