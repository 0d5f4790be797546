"""Forward sweep along a tape: tangents go through the entries that a sweep goes back by.

One run of a function on a tape serves both modes: ``jacobian`` sees from its result whether there
are fewer rows or fewer columns. A block of all directions goes through each entry at once. The
partials that an entry has serve both ways; a call with a hand-written pullback is pushed through by
the transpose of that.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from ..config import StrongZeros
from ..config.numpy_warnings import replays
from ..config.thresholds import LARGEST_BLOCK, WRITTEN_INTO
from ..forward.block_shares import shares_of_blocks
from ..forward.blocks import block_laid_out, write_block
from ..forward.still import Moving, pushed, unmarked
from ..rules import AbstractZero, unthunk
from ..rules.accelerated import numbers
from ..rules.annotations import Tangentlike, Value
from ..rules.containers import iterate_leaves
from ..rules.engines.inputs import is_perturbable_input
from ..rules.linear.block_level import BlockLevel
from ..rules.linear.blocks import Block, aligned, led_index
from ..rules.linear.jacobians import block_values, in_blocks
from ..rules.linear.program import LinearProgram
from ..rules.shapes import dtype_of, shape_of
from ..rules.table.pairs import PairPullback
from ..rules.table.pullback import fit_tangent
from ..rules.table.structural_zeros import unmask
from ..rules.tangents.project import ProjectNumber
from ..rules.tangents.zeros import ZERO
from ..rules.tracing.array import EntryNumber
from ..rules.tracing.level import ONE
from .active import Active
from .complex_numbers import FieldNode, conjugate
from .cotangents import Cotangents
from .entries import (
    BROADCAST,
    ELEMENTWISE,
    INPUT,
    NODE,
    OF_ARRAYS,
    OF_NUMBER,
    OF_NUMBERS,
    ON_ARRAYS,
    READ,
    Entry,
    parents_of,
)
from .named_entries import pushforward_under_way
from .nodes import KindNode, MergeNode, OutputNode, RuleNode, space_at
from .pieces import Pieces
from .sweep import forward_factor
from .vjp import REVERSE, Recording, transposed
from .writes import CONSTANT_NODE, WriteNode

if TYPE_CHECKING:
    from .tape import Tape

_array = np.ndarray


def push_recording(recording: Recording, directions: Value) -> list:
    """Return an array ``(directions, *shape)`` for each leaf of what was recorded.

    As many directions go through the tape at once as there is room for.
    """
    targets = [
        (y, i)
        for y, i in zip(iterate_leaves(recording.y), recording.outputs, strict=True)
        if is_perturbable_input(y)
    ]
    entries = [i for _, i in targets]

    def push_block(level: BlockLevel, xdots: list) -> list:
        inputs = [x.values if type(x) is Block else None for x in xdots]
        sweep = ForwardSweep(recording.tape, level)
        ydots = recording.tape.run_over_entries(sweep.run, inputs, entries)
        return [
            block_values(y, ZERO if ydot is None else Block(unmarked(ydot)), level.count)
            for (y, _), ydot in zip(targets, ydots, strict=True)
        ]

    return in_blocks(push_block, directions, LARGEST_BLOCK)


class ForwardSweep:
    """A block of tangents on its way through the entries of a tape.

    ``tangents`` has for each entry passed an array with the directions as its first axis, perhaps
    ``Moving``; None is zero, and stands where nobody reads the entry any more.
    """

    def __init__(self, tape: "Tape", directions: BlockLevel) -> None:
        self.tape = tape
        self.entries: list[Entry] = tape.recorded
        self.directions = directions
        self.tangents: list[Any] = [None] * len(self.entries)
        # Large products and sums that were made here, and are in no other place.
        self.owned: set[int] = set()
        # Entries of writes, whose blocks are in no other place: what reads them makes copies. Of
        # each the order of its axes in memory, by which the path of a next write makes views.
        self.written: dict[int, tuple[int, ...] | None] = {}

    def run(self, inputs: list, outputs: list) -> list:
        """Return the tangents of the entries ``outputs``, given those of the first entries."""
        tangents, entries = self.tangents, self.entries
        tangents[: len(inputs)] = inputs
        last = self._last_reads(outputs)
        for i in self._order(len(inputs)):
            entry = entries[i]
            size = len(entry)
            if size == OF_NUMBERS:
                a, da, b, db = entry
                s, t = tangents[a], tangents[b]
                if t is not None and db is not ONE:
                    t = t * conjugate(db)
                if s is not None:
                    s = s if da is ONE else s * conjugate(da)
                    t = s if t is None else s + t
                tangents[i] = t
            elif size == OF_NUMBER:
                a, da = entry
                t = tangents[a]
                tangents[i] = t if t is None or da is ONE else t * conjugate(da)
            elif size == READ and type(tangents[entry[0]]) is _array:
                t = tangents[entry[0]][led_index(entry[1])]
                tangents[i] = np.copy(t) if entry[0] in self.written else t
                self.owned.discard(entry[0])
            else:
                ends = last.get(i, ())
                if size in ON_ARRAYS:
                    t = self._of_arrays(i, entry, ends)
                    tangents[i] = self._apart(t, parents_of(entry))
                elif size == NODE and type(entry[0]) is WriteNode:
                    tangents[i] = self._of_write(i, entry[0], ends)
                else:
                    self.owned.difference_update(parents_of(entry))  # there may be views of them
                    t = self._of_entry(entry)
                    tangents[i] = self._apart(t, parents_of(entry))
                for parent in ends:
                    if not _is_number(tangents[parent]):
                        tangents[parent] = None
        return [None if i is None else tangents[i] for i in outputs]

    def _order(self, first: int) -> Iterator[int]:
        """Yield the entries to push through: the accelerator does those of numbers itself."""
        count = len(self.entries)
        while first < count:
            if numbers is not None:
                first = numbers.push_numbers(
                    self.entries, self.tangents, first, self.owned, self.written
                )
            if first < count:
                yield first
            first += 1

    def _last_reads(self, outputs: list) -> dict[int, list[int]]:
        """Return of each entry the parents that no later one reads as an array.

        Elementwise rules on numbers, which are most entries of long loops, read no arrays.
        """
        last: dict[int, list[int]] = {}
        known = {i for i in outputs if i is not None}
        others = [i for i, entry in enumerate(self.entries) if len(entry) not in ELEMENTWISE]
        for i in reversed(others):
            for parent in parents_of(self.entries[i]):
                if parent not in known:
                    known.add(parent)
                    last.setdefault(i, []).append(parent)
        return last

    def _of_entry(self, entry: Entry) -> Any:
        """Return the tangent of an entry that is no elementwise rule on numbers."""
        tangents = self.tangents
        size = len(entry)
        if size == INPUT:
            return None
        if size == BROADCAST:
            a, partial, _, b, partial_b, _, args, shape = entry
            first = self._broadcast(tangents[a], partial, args, shape)
            if b is None:
                return first
            return _plus(first, self._broadcast(tangents[b], partial_b, args, shape))
        if size == READ:
            t = unmarked(tangents[entry[0]])
            return None if t is None else t[led_index(entry[1])]
        return self._of_node(entry[0])

    def _of_arrays(self, i: int, entry: Entry, ends: Iterable[int]) -> Any:
        """Return the tangent of an elementwise rule on arrays, in memory that is no longer read."""
        a, partial, args = entry[0], entry[1], entry[-1]
        b = entry[2] if len(entry) == OF_ARRAYS else None
        t = self._product(a, partial, args, a in ends and a != b)
        fresh = t is not None and partial is not None
        if b is not None:
            s = self._product(b, entry[3], args, b in ends and a != b)
            if fresh and type(t) is type(s) is _array and t.dtype == s.dtype:
                t += s
            else:
                fresh = s is not None and (t is not None or entry[3] is not None)
                t = _plus(t, s)
        if fresh and type(t) is _array and t.size >= WRITTEN_INTO:
            self.owned.add(i)
        return t

    def _product(self, a: int, partial: Any, args: tuple, ends: bool) -> Any:
        t = self.tangents[a]
        if t is None or partial is None:
            self.owned.discard(a)
            return t
        factor = forward_factor(partial, args)
        if ends and a in self.owned and dtype_of(factor) == t.dtype:
            return np.multiply(t, factor, out=t)
        return t * factor

    def _apart(self, t: Value, parents: Iterable[int]) -> Any:
        """Return a tangent, as a copy where it is a view of one that is written to in place."""
        if not self.written:
            return t
        if type(t) is list:
            return [self._apart(part, parents) for part in t]
        written = [self.tangents[p] for p in parents if p in self.written]
        if type(t) is _array and any(np.may_share_memory(t, block) for block in written):
            return np.copy(t)
        return t

    def _of_write(self, i: int, node: WriteNode, ends: Iterable[int]) -> Any:
        """Return the tangent of an array that was written to: in place, where that is safe."""
        if node.active is not None and node.active.parts is not None:
            return self._by_transpose(node)
        before = unmarked(self.tangents[node.before])
        vdot: Any = 0
        if node.active is not None and self.tangents[node.active.parent] is not None:
            vdot = unmarked(self._argument(node.active))
        if before is None:
            if type(vdot) is int:
                return None
            space = space_at(node.form)
            before = np.zeros((self.directions.count, *space.shape), space.dtype)
        elif node.before in self.written and node.before in ends:
            axes = self.written.pop(node.before)
            if not node.path or axes == node.axes:
                return self._written(i, node, before, axes, vdot)
        self.written.pop(node.before, None)
        self.directions.array(before)  # which it is not, where it is too large
        return self._written(i, node, block_laid_out(before, node.axes), node.axes, vdot)

    def _written(
        self, i: int, node: WriteNode, block: Value, axes: tuple[int, ...] | None, vdot: Value
    ) -> Any:
        block = write_block(self.directions, node.path, block, node.index, vdot)
        if type(block) is _array:  # views of a traced one would see what is written later
            self.written[i] = axes
        return block

    def _broadcast(self, t: Any, partial: object, args: tuple, shape: tuple) -> Any:
        t = unmarked(t)
        if t is None:
            return None
        product = _times_partial(aligned(Block(t), len(shape)), partial, args)
        whole = (self.directions.count, *shape)
        return product if shape_of(product) == whole else np.broadcast_to(product, whole)

    def _of_node(self, node: Any) -> Any:
        if node is CONSTANT_NODE:
            return None
        if type(node) is FieldNode:
            return node.push(self.tangents[node.parent])
        if type(node) is OutputNode:
            given = self.tangents[node.call]
            return None if given is None else given[node.key]
        if type(node) is MergeNode:
            return _plus(self._of_node(node.node), self.tangents[node.captured])
        if all(self.tangents[parent] is None for parent in node.parents()):
            return None
        if node.template is None and _are_flat(node.active):
            if type(node) is KindNode:
                return self._by_kind(node)
            if self._has_pushforward(node):
                return self._by_pair(node)
        return self._by_transpose(node)

    # ---- by the kind of a call ----

    def _by_kind(self, node: KindNode) -> Any:
        ydot = self._by_blocks(node)
        if ydot is not None:
            return ydot
        given: list[Any] = [ZERO] * max(len(node.args), 1 + node.active[-1][0])
        for k, active in node.active:
            given[k] = self._argument(active)
        space = space_at(node.form)
        y = _representative(space) if node.y is None else node.y
        ydot = pushed(node.kind, given, y, node.args, node.kwargs)
        if type(ydot) is Moving:
            return Moving(self._block(ydot.held), ydot.moves)
        return self._block(space(fit_tangent(ydot, y)))

    def _by_blocks(self, node: KindNode) -> Any:
        """Push plain blocks by the kind's form for them; None where it has none."""
        if any(active.parts is not None for _, active in node.active):
            return None
        found = {i: self.tangents[active.parent] for i, active in node.active}
        blocks = {i: t for i, t in found.items() if t is not None}
        ydot = shares_of_blocks(node.kind, blocks, node.args, node.kwargs, node.y)
        if type(ydot) is not _array:
            return None
        space = space_at(node.form)
        whole = (self.directions.count, *getattr(space, "shape", ()))
        if ydot.shape != whole or ydot.dtype != space.dtype:
            return None
        return self.directions.wrap(ydot).block  # which it is not, where it is too large

    def _has_pushforward(self, node: Any) -> bool:
        pair = type(node) is RuleNode and type(node.pullback.function) is PairPullback
        return pair and not isinstance(self.tape.config, StrongZeros)

    def _by_pair(self, node: RuleNode) -> Any:
        """Push through a call whose rule gave its pushforward beside the pullback."""
        given: list[Any] = [ZERO] * node.pullback.count
        for k, active in node.active:
            given[k - 1] = unmarked(self._argument(active))
        pair: Any = node.pullback.function
        ydot = pair.pushforward(*given)
        return self._block(space_at(node.form)(unthunk(ydot)))

    def _argument(self, active: Active) -> Any:
        """Return the tangent of an argument as a rule takes it."""
        if active.parts is None:
            return self._value(self.tangents[active.parent], active.space)
        return [
            space.zeros() if part is None else unmarked(self._argument(part))
            for part, space in zip(active.parts, active.space.parts, strict=True)
        ]

    def _value(self, t: Value, space: Any) -> Any:
        """Return a tangent as a value of the directions' level."""
        if t is None:
            return space.zeros()
        if type(t) is Moving:
            return Moving(self._value(t.held, space), t.moves)
        number = type(space) is ProjectNumber
        return self.directions.wrap(t) if number else self.directions.array(t)

    def _block(self, t: Tangentlike) -> Any:
        if issubclass(type(t), AbstractZero):
            return None
        return t.block if self.directions.carries(t) else self.directions.spread(t)

    # ---- by the transpose of a pull ----

    def _by_transpose(self, node: Any) -> Any:
        """Push through any node: what its pull does with a cotangent is recorded, and turned."""
        program = LinearProgram()
        spaces = space_at(node.form) if node.template is not None else [space_at(node.form)]
        zeros = [space.zeros() for space in spaces]
        ybars = list(map(program.input, zeros))
        cotangents = Cotangents(self.tape)
        cotangents.bars = defaultdict(lambda: None)
        node.pull(ybars[0] if node.template is None else dict(enumerate(ybars)), cotangents)
        found = {p: bar for p, bar in cotangents.bars.items() if bar is not None}
        parents = [p for p in found if self.tangents[p] is not None]
        xbars = [_plain(found[p]) for p in parents]
        program.finish(xbars)
        ts = [unmarked(self.tangents[p]) for p in parents]
        xdots = [self._lifted(t, xbar) for t, xbar in zip(ts, xbars, strict=True)]
        config = self.tape.config if isinstance(self.tape.config, StrongZeros) else REVERSE
        turned = transposed(program, zeros, config)  # type: ignore[arg-type]
        ydots = [self._block(unthunk(ydot)) for ydot in turned(xdots)]
        return ydots[0] if node.template is None else ydots

    def _lifted(self, t: Value, xbar: Tangentlike) -> Any:
        number = shape_of(xbar) == () and type(xbar) is EntryNumber
        return self.directions.wrap(t) if number else self.directions.array(t)


def _are_flat(active: list) -> bool:
    """Say whether each argument is a number, an array, or a list of these."""
    return all(
        where.parts is None
        or (where.flat and all(hasattr(space, "shape") for space in where.space.parts))
        for _, where in active
    )


def _is_number(t: Value) -> bool:
    """Say whether a tangent is that of a number, which elementwise rules may read yet."""
    return t is not None and type(t) not in (list, Moving) and len(shape_of(t)) == 1


def _plain(xbar: Any) -> Any:
    """Return a cotangent of a sweep as numbers."""
    xbar = unmask(xbar)
    return unmask(unthunk(xbar.gathered() if type(xbar) is Pieces else xbar))


def _representative(space: Any) -> Any:
    """Return a number or an array of a space, which takes no memory."""
    zero = np.zeros((), space.dtype)
    return zero[()] if type(space) is ProjectNumber else np.broadcast_to(zero, space.shape)


def _times_partial(t: Any, partial: Any, args: tuple) -> Any:
    return t if t is None or partial is None else t * forward_factor(partial, args)


def _plus(a: Any, b: Any) -> Any:
    if a is None or b is None:
        return b if a is None else a
    return a + b


replays(ForwardSweep.run, "on the way of tangents", pushforward_under_way)
