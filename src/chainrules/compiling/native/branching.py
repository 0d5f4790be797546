"""Branching loop: one native loop over rows, in which each row goes one of several recorded ways.

The ways are a tree: equal operations on equal operands are one value, and two ways part at the
first guard that saw something else. So what a row computes it computes once, in registers, and
only as far as its guards let it go. A loop within a way is written into it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from .assembler import FunctionText, Lanes, Module
from .entry import make_callable
from .kernel import code_of
from .kinds import bits_of, kind_of_constant
from .limits import CAREFUL_OPERATIONS, NESTED_ROUNDS
from .locks import making
from .operations import POWERS, emit, result_kind

__all__ = ["BranchingLoop", "NestedLoop", "NestedResult", "Way"]


class Way(NamedTuple):
    """One way through a step, as operations on numbers.

    Attributes
    ----------
    inputs
        For each number that is read: in which of the arrays "ckx" (carry, captured, row in), and at
        which entry.
    ops
        As of :func:`.kernel.build`; the name may be a :class:`NestedResult`.
    outputs
        For each number that is stored: its number, in which of "oyt" (next carry, row out, truths),
        and at which entry.
    expected
        What the truths were.
    stops
        Whether the loop ends before a step that this way fits: it stores truths alone.
    """

    inputs: Sequence[tuple[str, int]]
    ops: Sequence[tuple[Any, ...]]
    outputs: Sequence[tuple[int, str, int]]
    expected: Sequence[bool]
    stops: bool = False


class NestedLoop(NamedTuple):
    """A ``while`` loop within a way: of so many carried numbers, by the ways that it has now."""

    of: Any  # whose ways they are
    tree: Callable[[], WayTree]
    carried: int
    finite: bool  # whether what it gives is of use only if it is


class NestedResult(NamedTuple):
    """Result ``number`` of a nested loop: first how many rounds there were, then the carry."""

    loop: NestedLoop
    number: int


class BranchingLoop:
    """A loop over rows by the ways that there are, as machine code, which holds no lock.

    ``run(state, carry, captured, rows in, rows out, scratch)`` takes six arrays; ``state`` is 0 the
    next row, 1 the end, 2 and 3 the bytes from row to row in and out, 4 why it ended: 0 at the end,
    1 since no way fits the row, ``2 + k`` since none fits a round of ``nested[k]``, whose carry and
    captured numbers are in ``scratch`` then.
    """

    def __init__(self, tree: WayTree, carried: int) -> None:
        with making:
            module = Module()
            writer = _Writer(module)
            writer.write(tree, carried)
            self.nested = writer.nested
            self.scratch = max(writer.scratch, 1)
            effort = 2 if writer.operations <= CAREFUL_OPERATIONS else 1
            self.run = make_callable(code_of(module, ["array"] * 6, effort, free=True))


# ---- values that ways share, and the tree of their guards ----------------------------------------


class _Values:
    """Numbers of values that are the same in all ways: of an input, or an operation on values."""

    def __init__(self) -> None:
        self.known: dict[tuple, int] = {}
        self.made: list[tuple] = []  # name and operands, or "input", array and entry
        self.kinds: list[str] = []

    def number(self, made: tuple, key: tuple, kind: str) -> int:
        found = self.known.get(key)
        if found is None:
            found = self.known[key] = len(self.made)
            self.made.append(made)
            self.kinds.append(kind)
        return found

    def kind(self, operand: Any) -> str:
        return self.kinds[operand] if type(operand) is int else kind_of_constant(operand[1])

    def taken(self, way: Way) -> tuple[list[tuple[int, bool]], list[tuple[int, str, int]]]:
        """Return the guards of a way, with what they saw, and what it stores."""
        numbers: list[int] = []
        for held, at in way.inputs:
            made = "input", held, at
            numbers.append(self.number(made, made, "f8"))
        for name, *given in way.ops:
            if name == "power" and type(given[1]) is not int and given[1][1] in POWERS:
                name, given = POWERS[given[1][1]], given[:1]
            operands = [numbers[x] if type(x) is int else x for x in given]
            if type(name) is NestedResult:
                key: tuple = id(name.loop.of), name.number
                kind = "f8"
            else:
                key = (name,)
                kind = result_kind(name, [self.kind(x) for x in operands])
            numbers.append(self.number((name, *operands), (*key, *map(_key, operands)), kind))
        guards: dict[int, bool] = {}
        stored = []
        for value, held, at in way.outputs:
            if held == "t":
                guards.setdefault(numbers[value], way.expected[at])
            else:
                stored.append((numbers[value], held, at))
        return list(guards.items()), stored


def _key(operand: Any) -> Any:
    if type(operand) is int:
        return operand
    x = operand[1]
    return "c", x if type(x) is bool else bits_of(float(x))


class _Node:
    """A guard and where each answer leads, or the end of a way: what it stores, and if it stops."""

    __slots__ = ("branches", "end", "guard")

    def __init__(self) -> None:
        self.guard: int | None = None
        self.branches: dict[bool, _Node] = {}
        self.end: tuple[list, bool] | None = None


def _placed(root: _Node, guards: list[tuple[int, bool]], end: tuple[list, bool]) -> bool:
    """Put a way into a tree; say whether it has the guards of the others up to where it parts."""
    node = root
    for guard, seen in guards:
        if node.guard is None and node.end is None:
            node.guard = guard
        if node.guard != guard:
            return False
        node = node.branches.setdefault(seen, _Node())
    if node.guard is None and node.end is None:
        node.end = end
    return node.guard is None


class WayTree:
    """Ways with what they share: numbered values, and trees of guards, which are tried in turn."""

    def __init__(self) -> None:
        self.values = _Values()
        self.roots: list[_Node] = []
        self.ways = self.captured = 0

    def grow(self, ways: Sequence[Way]) -> WayTree:
        """Put in those of all ``ways`` that are new, and return itself."""
        for way in ways[self.ways :]:
            guards, stored = self.values.taken(way)
            end = stored, way.stops
            if not any(_placed(root, guards, end) for root in self.roots):
                self.roots.append(_Node())
                _placed(self.roots[-1], guards, end)
            self.captured = max(
                [self.captured, *[at + 1 for held, at in way.inputs if held == "k"]]
            )
        self.ways = len(ways)
        return self


# ---- text ----------------------------------------------------------------------------------------


class _Loop(NamedTuple):
    """A loop that is being written: where it begins and ends, and what its header has."""

    values: _Values
    carry: list[str]
    captured: list[str]
    rows: tuple[str, str] | None  # addresses of the row in and the row out
    latch: str
    done: str


class _Writer:
    """The text of a branching loop."""

    def __init__(self, module: Module) -> None:
        self.module, self.fn = module, FunctionText(module)
        self.one = Lanes(self.fn, 1)
        self.nested: list[Any] = []
        self.scratch = self.operations = 0

    def write(self, tree: WayTree, carried: int) -> None:
        """Write ``@run``, which reads and writes the arrays of the loop over rows."""
        fn = self.fn
        first, end, width_in, width_out = (self._load("%x0", k, "i64") for k in range(4))
        carry = [self._load("%x1", k) for k in range(carried)]
        held = [self._load("%x2", k) for k in range(tree.captured)]

        def leave(why: int, t: str, states: list[str]) -> None:
            for k, x in enumerate(states):
                fn.put(f"store double {x}, ptr {fn.address('%x1', k)}")
            fn.put(f"store i64 {t}, ptr %x0")
            fn.put(f"store i64 {why}, ptr {fn.address('%x0', 4, 'i64')}")
            fn.put("ret void")

        def rows(t: str) -> tuple[str, str]:
            places = (("%x3", width_in), ("%x4", width_out))
            at = [fn.let(f"mul nsw i64 {t}, {width}") for _, width in places]
            x, y = (fn.address(base, k, "i8") for (base, _), k in zip(places, at))
            return x, y

        t, states = self._loop(tree, (first, end), carry, held, rows, leave)
        leave(0, t, states)
        text = "\n".join(fn.lines)
        taken = ", ".join(f"ptr noalias %x{k}" for k in range(6))
        self.module.functions["@run"] = (
            f"define internal void @run({taken}) nounwind {{\nentry:\n{text}\n}}"
        )

    def _load(self, base: str, k: int, kind: str = "double") -> str:
        return self.fn.let(f"load {kind}, ptr {self.fn.address(base, k, kind)}")

    def _loop(
        self,
        tree: WayTree,
        ends: tuple[str, str],
        carry: list[str],
        captured: list[str],
        rows: Callable[[str], tuple[str, str]] | None,
        leave: Callable[[int, str, list[str]], None],
    ) -> tuple[str, list[str]]:
        """Write a loop, and go on behind it; return how far it got, and what it carries then."""
        fn = self.fn
        before, (first, end) = fn.block, ends
        top, body, latch, missed, done = (fn.label() for _ in range(5))
        fn.put(f"br label %{top}")
        fn.start(top)
        t, states = fn.name(), [fn.name() for _ in carry]
        header = len(fn.lines)
        fn.lines += [""] * (1 + len(states))  # the phis name what is only known at the end
        more = fn.let(f"icmp slt i64 {t}, {end}")
        fn.put(f"br i1 {more}, label %{body}, label %{done if rows else missed}")
        fn.start(body)
        loop = _Loop(tree.values, states, captured, rows(t) if rows else None, latch, done)

        def leave_here(why: int, inner: str, carried: list[str]) -> None:
            leave(why, t, states)

        self.operations += len(tree.values.made)
        leaves: list[tuple[str, list[str]]] = []
        starts = [fn.label() for _ in tree.roots[1:]] + [missed]
        for root, other in zip(tree.roots, starts, strict=True):
            self._tree(root, loop, other, leaves, leave_here if rows else leave)
            fn.start(other)
        if rows:
            leave(1, t, states)
        else:
            leave(-1, t, [*states, *captured])
        entries = [("i64", t, [(first, before)])]
        entries += [("double", x, [(y, before)]) for x, y in zip(states, carry, strict=True)]
        if leaves:
            fn.start(latch)
            for k in range(len(states)):
                of = ", ".join(f"[ {xs[k]}, %{block} ]" for block, xs in leaves)
                entries[k + 1][2].append((fn.let(f"phi double {of}"), latch))
            entries[0][2].append((fn.let(f"add nuw nsw i64 {t}, 1"), latch))
            fn.put(f"br label %{top}")
        for k, (kind, name, sources) in enumerate(entries):
            of = ", ".join(f"[ {x}, %{block} ]" for x, block in sources)
            fn.lines[header + k] = f"{name} = phi {kind} {of}"
        fn.start(done)
        return t, states

    def _tree(
        self,
        root: _Node,
        loop: _Loop,
        other: str,
        leaves: list[tuple[str, list[str]]],
        leave: Callable[[int, str, list[str]], None],
    ) -> None:
        """Write a tree of ways from here on; what fits none of them goes to ``other``."""
        fn = self.fn
        waiting: list[tuple[_Node, str, dict]] = [(root, "", {})]
        while waiting:
            node, label, have = waiting.pop()
            if label:
                fn.start(label)
            if node.end is not None:
                self._end(*node.end, loop, have, leaves, leave)
                continue
            assert node.guard is not None
            truth = self._value(node.guard, loop, have, leave)
            labels = {seen: fn.label() for seen in node.branches}
            yes, no = (labels.get(seen, other) for seen in (True, False))
            fn.put(f"br i1 {truth}, label %{yes}, label %{no}")
            waiting += [(x, labels[seen], dict(have)) for seen, x in node.branches.items()]

    def _end(
        self, stored: list, stops: bool, loop: _Loop, have: dict, leaves: list, leave: Callable
    ) -> None:
        """Write what a way stores, and go on to the next step, or behind the loop."""
        fn, after = self.fn, list(loop.carry)
        if stops:
            fn.put(f"br label %{loop.done}")
            return
        for value, held, at in stored:
            x = self._value(value, loop, have, leave)
            if held == "o":
                after[at] = x
            else:
                assert loop.rows is not None
                fn.put(f"store double {x}, ptr {fn.address(loop.rows[1], at)}")
        leaves.append((fn.block, after))
        fn.put(f"br label %{loop.latch}")

    def _value(self, value: int, loop: _Loop, have: dict, leave: Callable) -> str:
        """Write what a value needs, unless it is there; return its register."""
        made = loop.values.made
        needed: set[int] = set()
        waiting = [value]
        while waiting:
            k = waiting.pop()
            if k in have or k in needed:
                continue
            needed.add(k)
            if made[k][0] != "input":
                waiting += [x for x in made[k][1:] if type(x) is int]
        for k in sorted(needed):
            have[k] = self._made(k, loop, have, leave)
        text: str = have[value]
        return text

    def _made(self, k: int, loop: _Loop, have: dict, leave: Callable) -> str:
        name, *operands = loop.values.made[k]
        if name == "input":
            held, at = operands
            if held == "x":
                assert loop.rows is not None
                return self._load(loop.rows[0], at)
            return (loop.carry if held == "c" else loop.captured)[at]
        kinds = [loop.values.kind(x) for x in operands]
        texts = [have[x] if type(x) is int else self._constant(x[1]) for x in operands]
        if type(name) is NestedResult:
            return self._nested(name, texts, have, leave)
        return emit(self.one, name, texts, kinds)

    def _constant(self, x: Any) -> str:
        return self.one.boolean(x) if isinstance(x, bool) else self.one.number(float(x))

    def _nested(self, of: NestedResult, given: list[str], have: dict, leave: Callable) -> str:
        """Write a nested loop, once for all of its results."""
        fn, loop = self.fn, of.loop
        key = id(loop.of), *given
        if key not in have:
            number = next((k for k, x in enumerate(self.nested) if x is loop.of), len(self.nested))
            self.nested[number:] = self.nested[number:] or [loop.of]
            self.scratch = max(self.scratch, len(given))

            def leave_nested(why: int, t: str, states: list[str]) -> None:
                if why < 0:
                    for k, x in enumerate(states):
                        fn.put(f"store double {x}, ptr {fn.address('%x5', k)}")
                    why = 2 + number
                leave(why, t, states)

            carry, captured = given[: loop.carried], given[loop.carried :]
            ends = "0", str(NESTED_ROUNDS)
            t, states = self._loop(loop.tree(), ends, carry, captured, None, leave_nested)
            have[key] = [fn.let(f"sitofp i64 {t} to double"), *states]
        text: str = have[key][of.number]
        return text
