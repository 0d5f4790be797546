"""Linear programs: what a linear map does with its argument, recorded step by step.

Of ``xdot -> 2 * np.cumsum(xdot)`` the steps are ``np.cumsum`` of slot 0, and 2 times slot 1.

The map runs once on samples that are followed. What is done with them is a straight line of
calls, each linear in what is followed; it runs again for other arguments, or for a whole
block of them at once.
"""

import math
from collections.abc import Callable
from functools import partial
from typing import Any, TypeGuard

import numpy as np

from ..annotations import Function, Index, Tangentlike, Value
from ..containers import LEAVES, Within, children, fold, replaced
from ..engines.inputs import is_perturbable_input
from ..shapes import shape_of
from ..table.kinds import Kind
from ..table.tables import frule
from ..tangents.structural import structural
from ..tangents.zeros import AbstractZero, NoTangent
from ..tracing.array import EntryArray, EntryNumber, TracedArray
from ..tracing.captured import Watch
from ..tracing.funnel import call, getitem
from ..tracing.level import Level, Traced, is_traced, next_level, strip, strip_all
from ..tracing.operands import is_array, is_basic, is_operand
from ..tracing.views import Path, axes_of, bare, follow, forget, root_of, tie_result, tie_views
from ..tracing.writing import written
from .blocks import ARITHMETIC
from .samples import Samples
from .steps import Program, Slot, part_at

_array = np.ndarray
_float64 = np.float64
_scalars = frule.scalars


class TangentLevel(Level):
    """A level whose values are tangents: what is done with them is linear in them."""

    __slots__ = ()

    def meet(self, ufunc: np.ufunc, operation: Callable, a: Value, b: Value, other: Value) -> Any:
        """Answer ``operation(a, b)`` where ``other`` is none of plain numbers; None where it is."""
        if isinstance(other, Traced):
            if other.at_level.number > self.number:
                return other.at_level.binary(ufunc, operation, a, b)
            if other.at_level.sweeps:
                return self.binary(ufunc, operation, *map(as_read, (a, b)))
        elif not is_operand(other) or isinstance(other, AbstractZero):
            return NotImplemented
        elif isinstance(other, (list, tuple)):
            return self.call(ufunc, (a, b), {})
        return None


class LinearProgram(Program, TangentLevel):
    """A linear map as a program, recorded by following what the map is given.

    ``largest`` is the size of the largest result of a step, ``total`` of all arrays together.
    """

    __slots__ = ("largest", "number", "samples", "total", "watch")

    def __init__(self) -> None:
        super().__init__()
        self.number = next_level()
        self.watch = Watch()
        self.largest = 1
        self.total = 0
        self.samples = Samples()

    def wrap(self, xdot: Tangentlike, step: tuple | None) -> Traced:
        """Append ``step`` and return its result, followed."""
        traced: Any
        if type(xdot) is not _float64 and is_array(xdot):
            traced = EntryArray()
            traced.base_and_path = None
            size = math.prod(shape_of(xdot))
            self.total += size
            self.largest = max(self.largest, size)
        else:
            traced = EntryNumber()
        traced.primal = xdot
        traced.at_level = self
        traced.position = len(self.steps)
        self.steps.append(step)
        return traced

    def input(self, x: Value) -> Any:
        """Return a tangent of ``x`` that is still to be given, with a sample of its values."""
        return fold(self._input, x)

    def _input(self, x: Value) -> Traced | NoTangent | Within:
        parts = children(x)
        if parts is not None:
            return Within(zip(parts.values), partial(structural, type(x), parts.keys))
        if not is_perturbable_input(x):
            return NoTangent()
        sample = self.samples.tangent(x)
        self.inputs.append(len(self.steps))
        return self.wrap(sample, None)

    def unary(self, ufunc: np.ufunc, operation: Callable, x: Traced) -> Value:
        if ufunc in _scalars:
            return self.wrap(operation(x.primal), (operation, (Slot(x.position),), {}))
        return self.call(ufunc, (x,), {})

    def binary(self, ufunc: np.ufunc, operation: Callable, a: Any, b: Any) -> Value:
        # By their types: to ask isinstance of other traced values is slow.
        type_a, type_b = type(a), type(b)
        x, z = a, b
        a_followed = (type_a is EntryNumber or type_a is EntryArray) and a.at_level is self
        b_followed = (type_b is EntryNumber or type_b is EntryArray) and b.at_level is self
        if not (a_followed and b_followed):
            other, type_other = (b, type_b) if a_followed else (a, type_a)
            if type_other is not _float64 and type_other is not float and type_other is not _array:
                answer = self.meet(ufunc, operation, a, b, other)
                if answer is not None:
                    return answer
        if ufunc not in _scalars:
            return self.call(ufunc, (a, b), {})
        read_a = read_b = None
        if a_followed:
            x, read_a, a = a.primal, a.position, None
        elif type_a is not _float64 and type_a is not float:
            a = self.watch.hold(a)
        if b_followed:
            z, read_b, b = b.primal, b.position, None
        elif type_b is not _float64 and type_b is not float:
            b = self.watch.hold(b)
        y = operation(x, z)
        if operation in ARITHMETIC and (
            type(y) is _float64
            or (
                (read_a is None or len(shape_of(x)) == len(shape_of(y)))
                and (read_b is None or len(shape_of(z)) == len(shape_of(y)))
            )
        ):
            step: tuple = (operation, (a, b), None, (read_a, read_b))
        else:
            slots = (a if read_a is None else Slot(read_a), b if read_b is None else Slot(read_b))
            step = (operation, slots, {})
        return self.wrap(y, step)

    def follows(self, x: Any) -> TypeGuard[Traced]:
        """Say whether ``x`` is a result of a step of this program."""
        kind = type(x)
        return (kind is EntryArray or kind is EntryNumber) and x.at_level is self

    def call(self, f: Function, args: tuple, kwargs: dict) -> Value:
        """Run ``f`` on the samples, and remember that it was called."""
        args = tuple([as_read(x) for x in args])
        if kwargs:
            kwargs = {name: as_read(x) for name, x in kwargs.items()}
        rule = frule.find(None, f, args)
        if isinstance(rule, Kind) and rule.constant:
            return rule.answer(self, f, args, kwargs, False)
        y = f(*strip_all(args, self), **{name: strip(x, self) for name, x in kwargs.items()})
        hold = self.watch.hold
        followed = tuple([hold(_slots(x, self)) for x in args])
        options = {name: hold(_slots(x, self)) for name, x in kwargs.items()}
        step = f, followed, options
        traced = self._result(y, step) if type(y) in LEAVES else fold(self._result, y, step)
        if isinstance(traced, Traced):
            for k, x in enumerate(args):
                if self.follows(x):
                    tie_result(traced, f, args, k, kwargs)
        return traced

    def getitem(self, x: Traced, index: Index) -> Value:
        if not is_basic(index):
            return call(getitem, (x, index), {})
        traced = self._result(x.primal[index], (getitem, (Slot(x.position), index), {}))
        tie_views(traced, x, getitem, {"index": index})
        return traced

    def _result(self, y: Any, step: tuple) -> Any:
        parts = None if type(y) in LEAVES else children(y)
        if parts is None:
            return self.wrap(y, step) if is_perturbable_input(y) else y
        whole = Slot(self.wrap(0.0, step).position)
        nodes: list[tuple] = [
            (part, (part_at, (whole, k), {})) for k, part in enumerate(parts.values)
        ]
        return Within(nodes, parts.rebuild)

    def constant(self, x: Any) -> Traced:
        """Return ``x`` as an array of tangents that depends on none of the inputs yet."""
        return self.wrap(x, (np.array, (x,), {}))

    def write(self, x: TracedArray, index: Index, v: Value) -> None:
        """Remember ``x[index] = v`` as a step that makes a new array."""
        root, path = root_of(x)
        axes = axes_of(bare(root))
        step: tuple = (written, self.watch.hold(_slots((root, path, index, v, axes), self)), {})
        again = self.wrap(written(root.primal, path, index, strip(v, self), axes), step)
        root.primal, root.position = again.primal, again.position
        forget(root)

    def refresh(self, view: Any, root: TracedArray, path: Path) -> None:
        """Give ``view`` its value anew, along its path from ``root``."""
        same = EntryArray()
        same.base_and_path = None
        same.at_level, same.primal, same.position = self, root.primal, root.position
        y = follow(path, same)
        view.primal, view.position = y.primal, y.position

    def finish(self, outputs: list) -> None:
        """End the recording; ``outputs`` are values of this program, or do not depend on it."""
        super().finish([_slots(y, self) for y in outputs])

    def check(self) -> None:
        self.watch.check()


def as_read(x: Value) -> Any:
    """Replace traced values of tapes that are being swept by what the sweep reads: their numbers.

    The program runs when the sweep is over, and the tape is closed.
    """
    while isinstance(x, Traced) and x.at_level.sweeps:
        x = x.primal
    if type(x) in LEAVES or not is_traced(x):
        return x
    return replaced(as_read, x)


def _slots(x: Value, program: LinearProgram) -> Any:
    """Put a ``Slot`` for each result of a step that ``x`` is or holds."""
    if type(x) in LEAVES:
        return Slot(x.position) if program.follows(x) else x

    def look(leaf: Value) -> Any:
        return Slot(leaf.position) if program.follows(leaf) else leaf

    return replaced(look, x)
