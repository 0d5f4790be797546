"""Tangents of tape entries along one direction of the tape's inputs, used to break ties.

Rules ask where numbers are equal and their derivative is differentiated again: of ``maximum(a, b)``
and ``minimum(b, a)`` at ``a == b`` both take the one that grows faster for the larger, and their
product has the second derivatives of ``a * b`` (see ``ties``). A tape knows how cotangents are
pulled back, not how tangents are pushed; but pulling back is linear, and its transpose pushes.
What was found for some entries is where the next search ends, so that a loop with a tie in every
step asks about one step each time.
"""

from collections.abc import Iterator
from heapq import heappop, heappush
from typing import TYPE_CHECKING, Any

from ..rules import AbstractZero
from ..rules.annotations import Tangentlike
from ..rules.linear.program import LinearProgram
from ..rules.linear.samples import Samples
from ..rules.tangents.filled import zero_tangent
from ..rules.tracing.level import Traced
from .cotangents import Cotangents, own
from .entries import Entry, TapeNode
from .sweep import sweep

if TYPE_CHECKING:
    from .tape import Tape


class Motions:
    """The tangents of entries of a tape along one direction, so far as they were asked for."""

    __slots__ = ("found", "samples")

    def __init__(self) -> None:
        self.found: dict[int, Any] = {}
        self.samples = Samples()

    def of(self, tape: "Tape", x: Traced) -> Any:
        """Return the tangent of ``x``, a traced value of ``tape``."""
        if x.position not in self.found:
            self.found[x.position] = self._pushed(tape, x)
        return self.found[x.position]

    def _pushed(self, tape: Any, x: Traced) -> Any:
        upstream = Upstream(tape.recorded, self.found)
        program = LinearProgram()
        seeds = [(x.position, program.input(x.primal))]
        sweep(SparseCotangents(tape, upstream), seeds, 0, last=False)
        ends = sorted(upstream.ends.items())
        reached = {i: own(end.ybar) for i, end in ends if end.ybar is not None}
        program.finish(list(reached.values()))
        tangents = [self._tangent(i, ybar) for i, ybar in reached.items()]
        zero = zero_tangent(x.primal)
        _, push = tape.config.rrule_via_ad(lambda xbar: program.run([xbar]), zero)
        xdot = push(tangents)[1]
        return zero if isinstance(xdot, AbstractZero) else xdot

    def _tangent(self, i: int, ybar: Tangentlike) -> Any:
        if i not in self.found:
            self.found[i] = self.samples.tangent(ybar)
        return self.found[i]


class Upstream:
    """The entries of a tape, with an ``End`` for each input and each whose tangent is ``found``."""

    def __init__(self, recorded: list[Entry], found: dict[int, Any]) -> None:
        self.recorded = recorded
        self.found = found
        self.ends: dict[int, End] = {}

    def __getitem__(self, i: int) -> Entry:
        entry = self.recorded[i]
        if entry and i not in self.found:
            return entry
        return (self.ends.setdefault(i, End()),)


class SparseCotangents(Cotangents):
    """Cotangents of those entries alone that a sweep reaches, which may be few of many."""

    __slots__ = ()

    def __init__(self, tape: "Tape", entries: Any) -> None:
        self.tape = tape
        self.entries = entries
        self.bars = SparseBars()
        self.owned = set()

    def order(self, inputs: int, last: bool) -> Iterator[int]:
        waiting = self.bars.waiting
        while waiting:
            yield -heappop(waiting)


class SparseBars(dict[int, Any]):
    """Cotangents by their entries; None for others. ``waiting`` are the entries, the last first."""

    def __init__(self) -> None:
        super().__init__()
        self.waiting: list[int] = []

    def __missing__(self, i: int) -> None:
        return None

    def __setitem__(self, i: int, ybar: Tangentlike) -> None:
        if i not in self:
            heappush(self.waiting, -i)
        super().__setitem__(i, ybar)


class End(TapeNode):
    """Stands for an entry whose tangent is known, or an input, and keeps its cotangent."""

    __slots__ = ("ybar",)

    def __init__(self) -> None:
        self.ybar: Any = None

    def pull(self, ybar: Tangentlike, cotangents: Cotangents) -> None:
        self.ybar = ybar
