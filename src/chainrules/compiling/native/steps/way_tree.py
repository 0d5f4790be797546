"""Tree of ways: recorded ways through a step, with the values and the guards that they share.

Equal operations on equal operands are one value, and two ways part at the first guard that saw
something else. A value may be what a loop within a way gives.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from ..assembly.kinds import bits_of
from ..assembly.operation import INPUT, NativeConstant, Operation, Operations
from ..assembly.operations import result_kind, without_power
from ..request import kind_of


class Way(NamedTuple):
    """One way through a step, as operations on numbers.

    Attributes
    ----------
    inputs
        For each number that is read: in which of the arrays "ckx" (carry, captured, row in), and at
        which entry.
    ops
        As of :func:`.kernel.build`; the function may be a :class:`NestedResult`.
    outputs
        For each number that is stored: its number, in which of "oyt" (next carry, row out, truths),
        and at which entry.
    expected
        What the truths were.
    stops
        Whether the loop ends before a step that this way fits: it stores truths alone.
    """

    inputs: Sequence[tuple[str, int]]
    ops: Operations
    outputs: Sequence[tuple[int, str, int]]
    expected: Sequence[bool]
    stops: bool = False


class NestedLoop(NamedTuple):
    """A loop within a way, by the ways that it has now.

    Attributes
    ----------
    of
        What the ways are kept in.
    tree
        Returns them.
    carried, taken, given
        How many numbers are carried, and are in a row in and out.
    finite
        Whether what it gives is of use only if it is.
    backwards
        Whether the last row is the first.
    count
        How many rounds it has; None of a ``while`` loop, which has no rows.
    """

    of: Any
    tree: Callable[[], WayTree]
    carried: int
    taken: int
    given: int
    finite: bool
    backwards: bool
    rounds: int | None


class NestedResult(NamedTuple):
    """Result ``number`` of a nested loop: how many rounds there were, the carry, the rows out."""

    loop: NestedLoop
    number: int


class SharedValues:
    """Numbers of values that are the same in all ways: of an input, or an operation on values."""

    def __init__(self) -> None:
        self.known: dict[tuple, int] = {}
        self.made: list[Operation] = []  # of an input the operands are array and entry
        self.kinds: list[str] = []

    def number(self, made: Operation, key: tuple, kind: str) -> int:
        found = self.known.get(key)
        if found is None:
            found = self.known[key] = len(self.made)
            self.made.append(made)
            self.kinds.append(kind)
        return found

    def taken(self, way: Way) -> tuple[list[tuple[int, bool]], list[tuple[int, str, int]]]:
        """Return the guards of a way, with what they saw, and what it stores."""
        numbers: list[int] = []
        for held, at in way.inputs:
            numbers.append(self.number(Operation(INPUT, (held, at)), (INPUT, held, at), "f8"))
        for op in way.ops:
            if op.function == "power":
                op = without_power(op)
            operands = tuple([numbers[x] if type(x) is int else x for x in op.operands])
            if type(name := op.function) is NestedResult:
                key: tuple = id(name.loop.of), name.loop.rounds, name.number
                kind = "f8"
            else:
                key = (name,)
                kind = result_kind(name, [kind_of(x, self.kinds) for x in operands])
            made = Operation(name, operands)
            numbers.append(self.number(made, (*key, *map(_key, operands)), kind))
        guards: dict[int, bool] = {}
        stored = []
        for value, held, at in way.outputs:
            if held == "t":
                guards.setdefault(numbers[value], way.expected[at])
            else:
                stored.append((numbers[value], held, at))
        return list(guards.items()), stored


def _key(operand: int | NativeConstant) -> Any:
    if not isinstance(operand, NativeConstant):
        return operand
    return "c", operand.x if type(operand.x) is bool else bits_of(float(operand.x))


class GuardNode:
    """A guard and where each answer leads, or the end of a way: what it stores, and if it stops."""

    __slots__ = ("branches", "end", "guard")

    def __init__(self) -> None:
        self.guard: int | None = None
        self.branches: dict[bool, GuardNode] = {}
        self.end: tuple[list, bool] | None = None


def _placed(root: GuardNode, guards: list[tuple[int, bool]], end: tuple[list, bool]) -> bool:
    """Put a way into a tree; say whether it has the guards of the others up to where it parts."""
    node = root
    for guard, seen in guards:
        if node.guard is None and node.end is None:
            node.guard = guard
        if node.guard != guard:
            return False
        node = node.branches.setdefault(seen, GuardNode())
    if node.guard is None and node.end is None:
        node.end = end
    return node.guard is None


class WayTree:
    """Ways with what they share: numbered values, and trees of guards, which are tried in turn."""

    def __init__(self) -> None:
        self.values = SharedValues()
        self.roots: list[GuardNode] = []
        self.ways = self.captured = 0

    def grow(self, ways: Sequence[Way]) -> WayTree:
        """Put in those of all ``ways`` that are new, and return itself."""
        for way in ways[self.ways :]:
            guards, stored = self.values.taken(way)
            end = stored, way.stops
            if not any(_placed(root, guards, end) for root in self.roots):
                self.roots.append(GuardNode())
                _placed(self.roots[-1], guards, end)
            self.captured = max(
                [self.captured, *[at + 1 for held, at in way.inputs if held == "k"]]
            )
        self.ways = len(ways)
        return self
