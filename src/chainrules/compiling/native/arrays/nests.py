"""Loop nests: elementwise operations of one shape, with views, broadcasts and reductions.

All sizes are known, so axes that lie behind each other in every array become one, the axis that
costs least goes innermost and is done ``width`` doubles at a time, and what is left over of it is
done once under a mask. A value that does not change along the inner axes is computed outside them:
of ``exp(a)[:, None] * x`` the exponential is computed once a row.

Sums run in several registers; every 64 steps these are added to a total that keeps what rounding
took (two doubles), so the error does not grow with the length.
"""

import itertools
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..assembly.assembler import FunctionText, Lanes
from ..assembly.kinds import BYTES, KINDS
from ..assembly.memory import load, load_one, store, store_pairs
from ..assembly.operation import NativeConstant, Operation, Operations
from ..assembly.operations import emit
from ..assembly.reductions import REDUCTIONS
from ..assembly.tables import add_at, is_table
from ..limits import MANY_POINTS, SHORT_ROWS, SUM_BLOCK
from ..request import NativeProgram, Output, kind_of
from .axes import Axes, axes_of
from .registers import places_of, planned, store_row
from .results import Result, State


def fill(fn: FunctionText, shape: Sequence[int], y: Output, base: str, width: int) -> None:
    """Store what a reduction begins with, at every place of its output."""
    if y.reduce is None:
        return
    axes = [k for k, stride in enumerate(y.strides) if stride and shape[k] != 1]
    if any(shape[k] == 0 for k in axes):
        return
    strides = tuple(y.strides[k] for k in axes)
    value, kind = REDUCTIONS[y.reduce].neutral_of(y.dtype), y.dtype
    value = bool(value) if kind == "b1" else np.dtype(kind).type(value)
    constant = Operations([("where", tuple(map(NativeConstant, (True, value, value))))])
    store = Output(0, strides, None, y.dtype, y.offset)
    program = NativeProgram(tuple(shape[k] for k in axes), [], constant, [store], [kind], [], [])
    Nest(program, fn, [base], width, 0).write()


class Nest:
    """One loop nest being written; ``level`` k is inside the loops over axes 0 to k - 1."""

    def __init__(
        self,
        program: NativeProgram,
        fn: FunctionText,
        names: list[str],
        width: int,
        calls: int,
        axes: Axes | None = None,
        rows: tuple[str, str] | None = None,
    ) -> None:
        self.program, self.fn, self.calls = program, fn, calls
        #: from where to where the outermost loop goes, if not over all
        self.rows = rows
        outputs = program.outputs
        self.shape, self.in_strides, self.out_strides = axes or axes_of(program, width)
        self.depth = len(self.shape)
        inner = self.shape[-1]
        self.width = min(width, 1 << (inner - 1).bit_length())
        self.one = Lanes(fn, 1)
        self.wide = Lanes(fn, self.width)
        self.in_names = [names[k] for k in program.argument_of_input()]
        self.out_names = [names[k] for k in program.argument_of_output()]
        self.results = [Result(y, program.kinds[y.value], self.wide) for y in outputs]
        self._find_levels()
        self.held, self.rows_kept, self.combined = planned(
            outputs, self.shape, self.out_strides, self.width
        )
        self.pairs = self._find_pairs()
        #: registers of values outside the innermost loop, and of these in every lane
        self.outer: dict[int, str] = {}
        self.spread: dict[int, str] = {}

    # ---- plan ----------------------------------------------------------------------------------

    def _find_levels(self) -> None:
        """For each value the level at which it is known."""
        self.levels: list[int] = []
        for strides in self.in_strides:
            self.levels.append(max((k + 1 for k, s in enumerate(strides) if s), default=0))
        for op in self.program.ops:
            at = [self.levels[x] for x in op.operands if type(x) is int]
            self.levels.append(max(at, default=0))

    def _find_pairs(self) -> set[int]:
        """Outputs that are stored with the next one, as the parts of complex numbers are."""
        pairs: set[int] = set()
        for j, (y, z) in enumerate(itertools.pairwise(self.program.outputs)):
            beside = z == y._replace(value=z.value, offset=y.offset + 1, of=j)
            if beside and y.reduce is None and self.out_strides[j][-1] == 2 and j - 1 not in pairs:
                pairs.add(j)
        return pairs

    # ---- write ---------------------------------------------------------------------------------

    def write(self) -> None:
        """All of it."""
        # What is combined in memory is filled first.
        for j in sorted(self.combined):
            y = self.program.outputs[j]
            place = Output(0, tuple(self.out_strides[j]), y.reduce, y.dtype, y.offset)
            fill(self.fn, self.shape, place, self.out_names[j], self.wide.width)
        ins = []
        for k, x in enumerate(self.program.inputs):
            if x.strides is None:
                self.outer[k] = self.in_names[k]
                ins.append("")
            else:
                ins.append(self.fn.address(self.in_names[k], x.offset, BYTES[x.dtype]))
        outs = [
            self.fn.address(name, y.offset, BYTES[y.dtype])
            for name, y in zip(self.out_names, self.program.outputs)
        ]
        self._level(0, ins, outs, {})

    def _level(
        self, level: int, ins: list[str], outs: list[str], held: dict[int, State]
    ) -> dict[int, State]:
        """Everything inside ``level`` loops; takes and returns what sums up so far."""
        fn = self.fn
        self._known_at(level, ins)
        beginning = [j for j, start in self.held.items() if start == level]
        held = {**held, **{j: self.results[j].begin() for j in beginning}}
        places = places_of(self.shape[-1], self.width)
        rows = [j for j, start in self.rows_kept.items() if start == level]
        held |= {j: [self.results[j].neutral() for _ in places] for j in rows}
        if level == self.depth - 1:
            held = self._innermost(ins, outs, held)
        else:
            names = list(held)
            flat = [(self.results[j].type, x) for j in names for x in held[j]]

            def body(index: str, states: list[str]) -> list[str]:
                there = self._split(names, held, states)
                moved_in = [
                    self._moved(p, index, s[level], x.dtype) if s[level] else p
                    for p, s, x in zip(ins, self.in_strides, self.program.inputs)
                ]
                moved_out = [
                    self._moved(p, index, s[level], y.dtype) if s[level] else p
                    for p, s, y in zip(outs, self.out_strides, self.program.outputs)
                ]
                after = self._level(level + 1, moved_in, moved_out, there)
                return [x for j in names for x in after[j]]

            first, end = (not level and self.rows) or ("0", str(self.shape[level]))
            last = fn.loop(first, end, 1, flat, body)
            held = self._split(names, held, last)
        for j in beginning:
            total, combined = held.pop(j), j in self.combined
            self.results[j].finish(total, outs[j], self.one, combined=combined)
        for j in rows:
            row, stride, combined = held.pop(j), self.out_strides[j][-1], j in self.combined
            store_row(self.wide, self.results[j], row, places, outs[j], stride, combined=combined)
        return held

    def _split(self, names: list[int], like: dict[int, State], flat: list[str]) -> dict[int, State]:
        there, at = {}, 0
        for j in names:
            there[j] = flat[at : at + len(like[j])]
            at += len(like[j])
        return there

    def _moved(self, base: str, index: str, stride: int, dtype: str) -> str:
        return self.fn.address(base, self.fn.times(index, stride), BYTES[dtype])

    def _known_at(self, level: int, ins: list[str]) -> None:
        """Load and compute, once, what is known at this level."""
        if level == self.depth:
            return
        inputs, ops = self.program.inputs, self.program.ops
        for k, x in enumerate(inputs):
            if self.levels[k] == level and x.strides is not None:
                self.outer[k] = ins[k] if x.length else load_one(self.fn, ins[k], x.dtype)
        for k, op in enumerate(ops, len(inputs)):
            if self.levels[k] == level:
                self.outer[k] = self._operation(self.one, op, self.outer)

    def _operation(self, v: Lanes, op: Operation, have: dict[int, str]) -> str:
        kinds = [kind_of(x, self.program.kinds) for x in op.operands]
        texts = [
            self._use(v, x, have) if type(x) is int else self._constant(v, x.x, kind)
            for x, kind in zip(op.operands, kinds)
        ]
        return emit(v, op.function, texts, kinds)

    def _constant(self, v: Lanes, x: Any, kind: str) -> str:
        return v.boolean(bool(x)) if kind == "b1" else v.of(kind).number(x)

    def _use(self, v: Lanes, x: int, have: dict[int, str]) -> str:
        return have[x] if x in have else self.spread[x]

    # ---- the innermost loop --------------------------------------------------------------------

    def _spread(self) -> None:
        """Values from outside the innermost loop that are used inside, in every lane."""
        self.spread = {}
        inside = [op for k, op in self._inner_ops()]
        used = {x for op in inside for x in op.operands if type(x) is int}
        used |= {x for y in self.program.outputs for x in (y.value, y.at) if x is not None}
        for x in sorted(used):
            if self.levels[x] < self.depth:
                kind = self.program.kinds[x]
                alone = is_table(kind)
                self.spread[x] = (
                    self.outer[x] if alone else self.wide.splat(self.outer[x], KINDS[kind].type)
                )

    def _inner_ops(self) -> list[tuple[int, Operation]]:
        first = len(self.program.inputs)
        ops = enumerate(self.program.ops, first)
        return [(k, op) for k, op in ops if self.levels[k] == self.depth]

    def _innermost(
        self, ins: list[str], outs: list[str], held: dict[int, State]
    ) -> dict[int, State]:
        self._spread()
        short = self.shape[-1] <= SHORT_ROWS * self.width and not self.calls
        if self.rows_kept or (short and self.held):
            return self._short(ins, outs, held)
        n, w, fn = self.shape[-1], self.width, self.fn
        unroll = self._unroll(n // w)
        main = n // (w * unroll) * (w * unroll)
        names = list(held)
        if main:
            held = self._main(main, unroll, ins, outs, held)
        if main < n:
            parts = {j: [self.results[j].neutral()] for j in names}
            whole = n // w * w
            if main < whole:

                def body(index: str, states: list[str]) -> list[str]:
                    now = dict(zip(names, ([x] for x in states)))
                    after = self._steps([(index, w)], ins, outs, now)
                    return [after[j][0] for j in names]

                flat = [(self.results[j].type, parts[j][0]) for j in names]
                parts = {
                    j: [x] for j, x in zip(names, fn.loop(str(main), str(whole), w, flat, body))
                }
            if whole < n:
                parts = self._steps([(str(whole), n - whole)], ins, outs, parts)
            held = {j: self.results[j].join(held[j], parts[j]) for j in names}
        return held

    def _short(self, ins: list[str], outs: list[str], held: dict[int, State]) -> dict[int, State]:
        """All of the innermost axis at once, without a loop."""
        places = places_of(self.shape[-1], self.width)
        neutral = {j: [self.results[j].neutral()] * len(places) for j in self.held}
        after = self._steps(places, ins, outs, {**held, **neutral})
        for j, start in self.held.items():
            result, parts = self.results[j], after[j]
            alone = start == self.depth - 1
            after[j] = result.of_few(parts) if alone else result.join(held[j], parts)
        return after

    def _unroll(self, steps: int) -> int:
        """Return the unroll factor: the number of vectors done side by side.

        One after the other, several functions of mathematics are a chain of hundreds of cycles, and
        the processor does not look so far ahead as to begin the next one meanwhile.
        """
        size, points = len(self._inner_ops()), math.prod(self.shape)
        if not self.calls:
            most = 1 if size > 24 else 2 if size > 8 else 4
        elif self.calls == 1 or points < MANY_POINTS or not self.fn.module.inline:
            most = 1
        else:
            most = 4 if self.calls > 2 and points >= 50_000 else 2
        while most > max(steps, 1):
            most //= 2
        return most

    def _main(
        self, main: int, unroll: int, ins: list[str], outs: list[str], held: dict[int, State]
    ) -> dict[int, State]:
        """The steps of ``unroll`` vectors each; in blocks if there are sums and many steps."""
        fn, w = self.fn, self.width
        step = w * unroll
        names = list(held)

        def run(first: str, end: str, states: dict[int, State]) -> dict[int, State]:
            def body(index: str, flat: list[str]) -> list[str]:
                now = {j: flat[k * unroll : (k + 1) * unroll] for k, j in enumerate(names)}
                places = [(fn.plus(index, u * w), w) for u in range(unroll)]
                after = self._steps(places, ins, outs, now)
                return [x for j in names for x in after[j]]

            flat = [
                (self.results[j].type, self.results[j].neutral())
                for j in names
                for _ in range(unroll)
            ]
            last = fn.loop(first, end, step, flat, body)
            return {
                j: self.results[j].join(states[j], last[k * unroll : (k + 1) * unroll])
                for k, j in enumerate(names)
            }

        sums = any(self.program.outputs[j].reduce == "sum" for j in names)
        block = SUM_BLOCK * step
        if not sums or main <= block:
            return run("0", str(main), held)

        def blocks(index: str, flat: list[str]) -> list[str]:
            end = fn.plus(index, block)
            short = fn.let(f"icmp slt i64 {end}, {main}")
            end = fn.let(f"select i1 {short}, i64 {end}, i64 {main}")
            after = run(index, end, self._split(names, held, flat))
            return [x for j in names for x in after[j]]

        flat = [(self.results[j].type, x) for j in names for x in held[j]]
        return self._split(names, held, fn.loop("0", str(main), block, flat, blocks))

    def _steps(
        self,
        places: list[tuple[str, int]],
        ins: list[str],
        outs: list[str],
        sums: dict[int, State],
    ) -> dict[int, State]:
        """A vector at each of ``places`` (index, lanes that count): loads, then work, then stores.

        In this order a kernel may write where it reads. ``sums`` has for each reduction in
        registers one register for each place.
        """
        found: list[dict[int, str]] = []
        for at, lanes in places:
            have = {}
            for k, x in enumerate(self.program.inputs):
                if self.levels[k] == self.depth:
                    have[k] = load(self.wide, ins[k], at, self.in_strides[k][-1], lanes, x.dtype)
            found.append(have)
        # Operation by operation, so that the processor meets independent work side by side.
        for k, op in self._inner_ops():
            for have in found:
                have[k] = self._operation(self.wide, op, have)
        after = {}
        real: dict[int, str] = {}
        for j, y in enumerate(self.program.outputs):
            result = self.results[j]
            texts = [result.given(self._use(self.wide, y.value, have)) for have in found]
            if j in sums:
                after[j] = [
                    result.combine(old, result.masked(text, lanes), self.wide)
                    for old, text, (_, lanes) in zip(sums[j], texts, places)
                ]
                continue
            if y.at is not None:
                for text, have, (_, lanes) in zip(texts, found, places):
                    add_at(self.wide, text, self._use(self.wide, y.at, have), outs[j], lanes)
                continue
            for u, (text, (at, lanes)) in enumerate(zip(texts, places)):
                stride = self.out_strides[j][-1]
                if j in self.combined:
                    there = load(self.wide, outs[j], at, stride, lanes, y.dtype)
                    text = result.combine(result.read(there, self.wide), text, self.wide)
                else:
                    text = result.alone(text)
                text = result.stored(text, self.wide)
                if j in self.pairs:
                    real[u] = text
                elif j - 1 in self.pairs:
                    parts = real[u], text
                    store_pairs(self.wide, *parts, outs[j - 1], at, lanes, y.dtype)
                else:
                    store(self.wide, text, outs[j], at, stride, lanes, y.dtype)
        return after
