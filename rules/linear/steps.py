"""Programs: a straight line of calls, run again for other inputs, blocks of them, or patterns.

``y = 3 * x; z = y + x`` is two steps: ``(mul, (3, Slot(0)), {})`` and ``(add, (Slot(1), Slot(0)),
{})``, where slot 0 is the input. Who records one, and how it is followed, is said elsewhere.
"""

from collections.abc import Callable
from typing import Any

from ..annotations import Function, Value
from ..containers import LEAVES, Within, children, fold, iterate_leaves, unless_same
from .blocks import operate_on_blocks, run_on_block
from .patterns import run_on_pattern


class Slot:
    """Stands in a step for the result of step ``position``."""

    __slots__ = ("position",)
    __array_ufunc__ = None

    def __init__(self, position: int) -> None:
        self.position = position


LEAVES.add(Slot)


class Program:
    """What was done with some inputs, as a list of steps; None for an input.

    A step is ``(f, args, kwargs)``, with a ``Slot`` for each result that it reads. An operation of
    arithmetic on one or two results, or on a result and a constant, of as many axes as what it
    gives, may be ``(operation, (a, b), None, reads)``, where ``reads`` are the results that stand
    for ``a`` and for ``b``, or None.

    Examples
    --------
    >>> import operator
    >>> program = Program()
    >>> program.inputs, program.steps = [0], [None, (operator.mul, (3.0, Slot(0)), {})]
    >>> program.finish([Slot(1)])
    >>> program.run([2.0])
    [6.0]
    """

    __slots__ = ("inputs", "outputs", "plan", "steps")

    def __init__(self) -> None:
        self.inputs: list[int] = []
        self.steps: list[tuple | None] = []
        self.outputs: list[Any] = []
        self.plan: list[tuple] = []

    def check(self) -> None:
        """Raise where what the steps hold is not what it was when they were recorded."""

    def finish(self, outputs: list) -> None:
        """End the recording: keep the steps that ``outputs`` depend on, and when each is done.

        ``outputs`` are slots, or anything that does not depend on the inputs.
        """
        self.outputs = outputs
        needed = {y.position for y in self.outputs if type(y) is Slot}
        plan = []
        for index in range(len(self.steps) - 1, -1, -1):
            step = self.steps[index]
            if step is None or index not in needed:
                continue
            if len(step) == 4:
                f, args, kwargs, reads = step
                a, b = reads
                last: tuple = ()
                if a is not None and a not in needed:
                    needed.add(a)
                    last = (a,)
                if b is not None and b not in needed:
                    needed.add(b)
                    last = (*last, b)
                plan.append((index, f, args, None, reads, last))
                continue
            f, args, kwargs = step
            found = _indices(args, kwargs)
            new = set(found) - needed
            needed |= new
            plan.append((index, f, args, kwargs, _places(args, len(found)), tuple(new)))
        self.plan = plan[::-1]
        self.steps = [None] * len(self.steps)

    def run(self, values: list) -> list:
        """Return the outputs, given one value for each input."""
        return self._run(values, _call, None)

    def run_block(self, values: list) -> list:
        """Return the outputs for a block of directions.

        Each of ``values`` is a ``Block``, or the value of an input for every direction; so are
        the outputs.
        """
        return self._run(values, _call_on_block, operate_on_blocks)

    def run_pattern(self, values: list) -> list:
        """Return the pattern of each output, given one for each input."""
        return self._run(values, _call_on_pattern, _operate_on_patterns)

    def _run(self, values: list, call: Callable, operate: Callable | None) -> list:
        self.check()
        results: list[Any] = self.steps.copy()
        for index, x in zip(self.inputs, values, strict=True):
            results[index] = x
        for index, f, args, kwargs, places, last_reads in self.plan:
            if kwargs is None:
                (x, z), (a, b) = args, places
                if a is not None:
                    x = results[a]
                if b is not None:
                    z = results[b]
                results[index] = f(x, z) if operate is None else operate(f, x, z)
                for read in last_reads:
                    results[read] = None
                continue
            if places is None:
                filled, options = _fill(args, results), _fill(kwargs, results)
            else:
                filled, options = list(args), kwargs
                for position, read in places:
                    filled[position] = results[read]
            results[index] = call(f, filled, options)
            for read in last_reads:
                results[read] = None
        return [results[y.position] if type(y) is Slot else y for y in self.outputs]


def _call(f: Function, args: Any, kwargs: dict) -> Any:
    return f(*args, **kwargs)


def _call_on_block(f: Function, args: Any, kwargs: dict) -> Any:
    return part_at(*args) if f is part_at else run_on_block(f, tuple(args), kwargs)


def _operate_on_patterns(f: Function, x: Value, z: Value) -> Any:
    return run_on_pattern(f, (x, z), {})


def _call_on_pattern(f: Function, args: Any, kwargs: dict) -> Any:
    return part_at(*args) if f is part_at else run_on_pattern(f, tuple(args), kwargs)


def part_at(y: Value, position: int) -> Any:
    parts = children(y)
    assert parts is not None
    return parts.values[position]


def _places(args: tuple, count: int) -> tuple[tuple[int, int], ...] | None:
    """Return where the ``count`` slots stand; None where one is not directly among ``args``."""
    places = tuple([(i, x.position) for i, x in enumerate(args) if type(x) is Slot])
    return places if len(places) == count else None


def _fill(x: Value, results: list) -> Any:
    def look(x: Value) -> Any:
        kind = type(x)
        if kind is Slot:
            return results[x.position]
        parts = None if kind in LEAVES else children(x)
        return x if parts is None else Within(zip(parts.values), unless_same(x, parts))

    return fold(look, x)


def _indices(args: tuple, kwargs: dict) -> list[int]:
    """Return the indices of all slots in the arguments of a step."""
    found = []
    for x in (*args, *kwargs.values()):
        kind = type(x)
        if kind is Slot:
            found.append(x.position)
        elif kind not in LEAVES:
            found += [leaf.position for leaf in iterate_leaves(x) if type(leaf) is Slot]
    return found
