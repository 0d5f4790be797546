"""Branching loop: one native loop over rows, in which each row goes one of several recorded ways.

What a row computes it computes once, in registers, and only as far as its guards let it go. A loop
within a way is written into it.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

from ..assembly.assembler import FunctionText, Lanes, Module
from ..assembly.operation import INPUT
from ..assembly.operations import emit
from ..entry import make_callable
from ..kernel import code_of
from ..limits import CAREFUL_OPERATIONS, NESTED_ROUNDS
from ..locks import making
from ..request import kind_of
from .way_tree import GuardNode, NestedLoop, NestedResult, SharedValues, WayTree


class BranchingLoop:
    """A loop over rows by the ways that there are, as machine code, which holds no lock.

    ``run(state, carry, captured, rows in, rows out, scratch)`` takes six arrays; ``state`` is 0 the
    next row, 1 the end, 2 and 3 the bytes from row to row in and out, 4 why it ended: 0 at the end,
    1 since no way fits the row, ``2 + k`` since none fits a round of ``nested[k]``, whose carry,
    captured numbers and rows in are in ``scratch`` then.
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


class _Loop(NamedTuple):
    """A loop that is being written: where it begins and ends, and what its header has."""

    values: SharedValues
    carry: list[str]
    captured: list[str]
    rows: tuple[str, str]  # addresses of the row in and the row out
    latch: str
    done: str
    leaves: list[tuple[str, list[str]]]  # blocks that go on with the next row, and the carry there


class _Writer:
    """The text of a branching loop; ``at`` is the row that it is at, and what is carried there."""

    def __init__(self, module: Module) -> None:
        self.module, self.fn = module, FunctionText(module)
        self.one = Lanes(self.fn, 1)
        self.at: tuple[str, list[str]] = "", []
        self.nested: list[NestedLoop] = []
        self.places: dict[int, int] = {}  # of the rows of nested loops, in memory
        self.scratch = self.operations = self.room = 0

    def write(self, tree: WayTree, carried: int) -> None:
        """Write ``@run``, which reads and writes the arrays of the loop over rows."""
        fn = self.fn
        first, end, width_in, width_out = (self._load("%x0", k, "i64") for k in range(4))
        carry = [self._load("%x1", k) for k in range(carried)]
        held = [self._load("%x2", k) for k in range(tree.captured)]

        def begin(t: str, states: list[str]) -> tuple[str, str]:
            self.at = t, states
            places = (("%x3", width_in), ("%x4", width_out))
            at = [fn.let(f"mul nsw i64 {t}, {width}") for _, width in places]
            x, y = (fn.address(base, k, "i8") for (base, _), k in zip(places, at))
            return x, y

        self._loop(tree, (first, end), carry, held, begin, lambda: self._leave(1))
        self._leave(0)
        room = f"%room = alloca [{self.room} x double], align 8\n" if self.room else ""
        text = "\n".join(fn.lines)
        taken = ", ".join(f"ptr noalias %x{k}" for k in range(6))
        self.module.functions["@run"] = (
            f"define internal void @run({taken}) nounwind {{\nentry:\n{room}{text}\n}}"
        )

    def _leave(self, why: int) -> None:
        """Write the end of the function."""
        fn, (t, states) = self.fn, self.at
        for k, x in enumerate(states):
            fn.put(f"store double {x}, ptr {fn.address('%x1', k)}")
        fn.put(f"store i64 {t}, ptr %x0")
        fn.put(f"store i64 {why}, ptr {fn.address('%x0', 4, 'i64')}")
        fn.put("ret void")

    def _load(self, base: str, k: int, kind: str = "double") -> str:
        return self.fn.let(f"load {kind}, ptr {self.fn.address(base, k, kind)}")

    def _loop(
        self,
        tree: WayTree,
        ends: tuple[str, str],
        carry: list[str],
        captured: list[str],
        begin: Callable[[str, list[str]], tuple[str, str]],
        miss: Callable[[], None],
        endless: bool = False,
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
        fn.put(f"br i1 {more}, label %{body}, label %{missed if endless else done}")
        fn.start(body)
        leaves: list[tuple[str, list[str]]] = []
        loop = _Loop(tree.values, states, captured, begin(t, states), latch, done, leaves)
        self.operations += len(tree.values.made)
        starts = [fn.label() for _ in tree.roots[1:]] + [missed]
        for root, other in zip(tree.roots, starts, strict=True):
            self._tree(root, loop, other)
            fn.start(other)
        miss()
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

    def _tree(self, root: GuardNode, loop: _Loop, other: str) -> None:
        """Write a tree of ways from here on; what fits none of them goes to ``other``."""
        fn = self.fn
        waiting: list[tuple[GuardNode, str, dict]] = [(root, "", {})]
        while waiting:
            node, label, have = waiting.pop()
            if label:
                fn.start(label)
            if node.end is not None:
                self._end(*node.end, loop, have)
                continue
            assert node.guard is not None
            truth = self._value(node.guard, loop, have)
            labels = {seen: fn.label() for seen in node.branches}
            yes, no = (labels.get(seen, other) for seen in (True, False))
            fn.put(f"br i1 {truth}, label %{yes}, label %{no}")
            waiting += [(x, labels[seen], dict(have)) for seen, x in node.branches.items()]

    def _end(self, stored: list, stops: bool, loop: _Loop, have: dict) -> None:
        """Write what a way stores, and go on to the next step, or behind the loop."""
        fn, after = self.fn, list(loop.carry)
        if stops:
            fn.put(f"br label %{loop.done}")
            return
        for value, held, at in stored:
            x = self._value(value, loop, have)
            if held == "o":
                after[at] = x
            else:
                fn.put(f"store double {x}, ptr {fn.address(loop.rows[1], at)}")
        loop.leaves.append((fn.block, after))
        fn.put(f"br label %{loop.latch}")

    def _value(self, value: int, loop: _Loop, have: dict) -> str:
        """Write what a value needs, unless it is there; return its register."""
        made = loop.values.made
        needed: set[int] = set()
        waiting = [value]
        while waiting:
            k = waiting.pop()
            if k in have or k in needed:
                continue
            needed.add(k)
            if made[k].function is not INPUT:
                waiting += [x for x in made[k].operands if type(x) is int]
        for k in sorted(needed):
            have[k] = self._made(k, loop, have)
        text: str = have[value]
        return text

    def _made(self, k: int, loop: _Loop, have: dict) -> str:
        name, operands, *_ = loop.values.made[k]
        if name is INPUT:
            held, at = operands
            if held == "x":
                return self._load(loop.rows[0], at)
            return (loop.carry if held == "c" else loop.captured)[at]
        kinds = [kind_of(x, loop.values.kinds) for x in operands]
        texts = [have[x] if type(x) is int else self._constant(x.x) for x in operands]
        if type(name) is NestedResult:
            return self._nested(name, texts, have)
        return emit(self.one, name, texts, kinds)

    def _constant(self, x: Any) -> str:
        return self.one.boolean(x) if isinstance(x, bool) else self.one.number(float(x))

    def _nested(self, of: NestedResult, given: list[str], have: dict) -> str:
        """Write a nested loop, once for all of its results."""
        fn, loop = self.fn, of.loop
        key = id(loop.of), loop.rounds, *given
        if key in have:
            text: str = have[key][of.number]
            return text
        rounds, tree = loop.rounds or 0, loop.tree()
        number = next((k for k, x in enumerate(self.nested) if x is loop), len(self.nested))
        self.nested[number:] = self.nested[number:] or [loop]
        self.scratch = max(self.scratch, len(given))
        if number not in self.places:
            self.places[number] = self.room
            self.room += rounds * (loop.taken + loop.given)
        first = self.places[number], self.places[number] + rounds * loop.taken
        taken = given[len(given) - rounds * loop.taken :]
        for k, x in enumerate(taken):
            fn.put(f"store double {x}, ptr {fn.address('%room', first[0] + k)}")

        def begin(t: str, states: list[str]) -> tuple[str, str]:
            row = fn.let(f"sub nsw i64 {rounds - 1}, {t}") if loop.backwards else t
            x, y = (
                fn.address("%room", fn.plus(fn.times(row, width), start)) if width else "%room"
                for start, width in zip(first, (loop.taken, loop.given))
            )
            return x, y

        def miss() -> None:
            for k, x in enumerate(given):
                fn.put(f"store double {x}, ptr {fn.address('%x5', k)}")
            self._leave(2 + number)

        carry, captured = given[: loop.carried], given[loop.carried : len(given) - len(taken)]
        ends = "0", str(NESTED_ROUNDS if loop.rounds is None else rounds)
        t, states = self._loop(tree, ends, carry, captured, begin, miss, loop.rounds is None)
        count = fn.let(f"sitofp i64 {t} to double")
        rows = [self._load("%room", first[1] + k) for k in range(rounds * loop.given)]
        have[key] = [count, *states, *rows]
        return str(have[key][of.number])
