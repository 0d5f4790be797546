"""Programs: a straight line of calls, run again for other inputs, blocks of them, or patterns.

``y = 3 * x; z = y + x`` is two steps: ``(mul, (3, Slot(0)), {})`` and ``(add, (Slot(1), Slot(0)),
{})``, where slot 0 is the input. Who records one, and how it is followed, is said elsewhere.
"""

from collections.abc import Callable
from typing import Any

from ...config.numpy_warnings import replays
from ...config.progress import LongWork
from ..annotations import Value
from ..containers import LEAVES, are_settings, children, iterate_leaves, replaced
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
    """Straight-line program on some inputs, as a list of steps; None stands for an input.

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
        needed: set[int | None] = {y.position for y in self.outputs if type(y) is Slot}
        needed.add(None)  # stands for what is no result
        plan = []
        for index in range(len(self.steps) - 1, -1, -1):
            step = self.steps[index]
            if step is None or index not in needed:
                continue
            if len(step) == 4:
                f, args, kwargs, places = step
                reads = places
            else:
                f, args, kwargs = step
                reads = reads_of(args, kwargs)
                places = _places(args, len(reads))
            last: tuple = ()
            for read in reads:
                if read not in needed:
                    needed.add(read)
                    last += (read,)
            plan.append((index, f, args, kwargs, places, last))
        self.plan = plan[::-1]
        self.steps = [None] * len(self.steps)

    def run(self, values: list) -> list:
        """Return the outputs, given one value for each input."""
        return self._run(values)

    def run_block(self, values: list, work: LongWork | None = None) -> list:
        """Return the outputs for a block of directions.

        Each of ``values`` is a ``Block``, or the value of an input for every direction; so are
        the outputs. ``work`` counts the steps.
        """
        return self._run(values, run_on_block, operate_on_blocks, work)

    def run_pattern(self, values: list) -> list:
        """Return the pattern of each output, given one for each input."""

        def operate(operation: Callable, x: Value, z: Value) -> Any:
            return run_on_pattern(operation, (x, z), {})

        return self._run(values, run_on_pattern, operate)

    def _run(
        self,
        values: list,
        call: Callable | None = None,
        operate: Callable | None = None,
        work: LongWork | None = None,
    ) -> list:
        self.check()
        results: list[Any] = self.steps.copy()
        for index, x in zip(self.inputs, values, strict=True):
            results[index] = x

        def result_of(leaf: Value) -> Any:
            return results[leaf.position] if type(leaf) is Slot else leaf

        plan = self.plan if work is None else work.over(self.plan)
        for index, f, args, kwargs, places, last_reads in plan:
            if kwargs is None:
                (x, z), (a, b) = args, places
                if a is not None:
                    x = results[a]
                if b is not None:
                    z = results[b]
                results[index] = f(x, z) if operate is None else operate(f, x, z)
            else:
                if places is None:
                    args, kwargs = replaced(result_of, args), replaced(result_of, kwargs)
                else:
                    args = list(args)
                    for position, read in places:
                        args[position] = results[read]
                if call is None or f is part_at:  # a part of a container of blocks is a block
                    results[index] = f(*args, **kwargs)
                else:
                    results[index] = call(f, tuple(args), kwargs)
            for read in last_reads:
                results[read] = None
        return [result_of(y) for y in self.outputs]


replays(Program._run, "in a recorded linear map")


def part_at(y: Value, position: int) -> Any:
    parts = children(y)
    assert parts is not None
    return parts.values[position]


def _places(args: tuple, count: int) -> tuple[tuple[int, int], ...] | None:
    """Return where the ``count`` slots stand; None where one is not directly among ``args``."""
    places = tuple([(i, x.position) for i, x in enumerate(args) if type(x) is Slot])
    return places if len(places) == count else None


def reads_of(args: tuple, kwargs: dict) -> list[int]:
    """Return the results that a step reads: those of all slots in its arguments."""
    found = []
    for x in (*args, *kwargs.values()):
        kind = type(x)
        if kind is Slot:
            found.append(x.position)
        elif kind not in LEAVES and not (kind is tuple and are_settings(x)):
            found += [leaf.position for leaf in iterate_leaves(x) if type(leaf) is Slot]
    return found
