"""Stores of a value into its output: as it is, or reduced over axes.

A reduction is a total in every lane, to which a loop adds; at its end the lanes are put together by
halves. The total of a sum is two numbers: the sum as rounded and what rounding took, so that the
error of a long sum is that of the short ones of which it is made.
"""

from ..assembly.assembler import Lanes
from ..assembly.kinds import BYTES, is_float
from ..assembly.memory import load_one, mask_of
from ..assembly.operations import converted, emit
from ..assembly.reductions import REDUCTIONS
from ..request import Output

State = list[str]


class Result:
    """One output of a kernel that computes with ``wide`` lanes; ``kind`` is that of its value."""

    __slots__ = ("kind", "meant", "output", "wide")

    def __init__(self, output: Output, kind: str, wide: Lanes) -> None:
        self.output, self.kind = output, kind
        #: the kind that it is computed with
        self.meant = output.dtype
        if output.reduce in ("any", "all"):
            self.meant = "b1"
        elif output.reduce and kind != "b1":
            self.meant = kind
        self.wide = wide.of(self.meant)

    @property
    def type(self) -> str:
        """LLVM's type of a total."""
        return self.wide.real

    @property
    def keeps_lost(self) -> bool:
        """Say whether a total carries its rounding error, as in compensated summation."""
        return self.output.reduce == "sum" and is_float(self.meant)

    def given(self, x: str) -> str:
        """The value as what the output is computed with."""
        return converted(self.wide, x, self.kind, self.meant)

    def alone(self, x: str) -> str:
        """The reduction of one value: a sum begins with 0.0, as NumPy's does, and is no -0.0."""
        return self.wide.add(x, 0.0) if self.keeps_lost else x

    def stored(self, x: str, v: Lanes) -> str:
        """A total as what the array is made of."""
        return converted(v, x, self.meant, self.output.dtype)

    def read(self, x: str, v: Lanes) -> str:
        """Return ``x``, which the array holds, as a total."""
        return converted(v, x, self.output.dtype, self.meant)

    def neutral(self) -> str:
        """Return the initial value of a total."""
        assert self.output.reduce is not None
        x = REDUCTIONS[self.output.reduce].neutral_of(self.meant)
        return self.wide.boolean(bool(x)) if self.meant == "b1" else self.wide.number(x)

    def begin(self) -> State:
        """A total of nothing."""
        return [self.neutral(), self.wide.number(0.0)] if self.keeps_lost else [self.neutral()]

    def masked(self, x: str, lanes: int) -> str:
        """``x`` in the first lanes, nothing in the others."""
        if lanes == self.wide.width:
            return x
        pick = self.wide.choose if self.meant == "b1" else self.wide.select
        return pick(mask_of(self.wide, lanes), x, self.neutral())

    def combine(self, a: str, b: str, v: Lanes) -> str:
        """Two totals as one."""
        assert self.output.reduce is not None
        return emit(v, REDUCTIONS[self.output.reduce].op, [a, b], [self.meant] * 2)

    def of_few(self, parts: State) -> State:
        """A total of parts that are so few that rounding takes next to nothing."""
        return [self._halved(parts), *self.begin()[1:]]

    def _halved(self, parts: State) -> str:
        while len(parts) > 1:
            half = len(parts) // 2
            pairs = zip(parts[:half], parts[half : 2 * half])
            parts = [self.combine(a, b, self.wide) for a, b in pairs] + parts[2 * half :]
        return parts[0]

    def join(self, total: State, parts: State) -> State:
        """A total with more added to it."""
        v, x = self.wide, self._halved(parts)
        if not self.keeps_lost:
            return [self.combine(total[0], x, v)]
        high, low = total
        s = v.add(high, x)
        back = v.sub(s, high)
        lost = v.add(v.sub(high, v.sub(s, back)), v.sub(x, back))
        return [s, v.add(low, lost)]

    def finish(self, total: State, address: str, one: Lanes, *, combined: bool) -> None:
        """All lanes of a total as one, stored or combined with what is there."""
        v, fn, dtype = self.wide, self.wide.fn, self.output.dtype
        x = total[0]
        if self.keeps_lost:
            # An infinite total makes NaN of what rounding took.
            low = total[1]
            x = v.select(v.compare("uno", low, low), x, v.add(x, low))
        x = self._across(x)
        if combined:
            x = self.combine(self.read(load_one(fn, address, dtype), one), x, one)
        x = self.stored(x, one)
        if dtype == "b1":
            x = fn.let(f"zext i1 {x} to i8")
        fn.put(f"store {BYTES[dtype]} {x}, ptr {address}")

    def _across(self, x: str) -> str:
        """The lanes of ``x`` as one, by halves."""
        v, fn, w = self.wide, self.wide.fn, self.wide.width
        kind = v.scalar
        while w > 1:
            half = w // 2
            parts = []
            for first in (0, half):
                lanes = ", ".join(f"i32 {k}" for k in range(first, first + half))
                vector = f"<{w} x {kind}>"
                pick = f"shufflevector {vector} {x}, {vector} poison, <{half} x i32> <{lanes}>"
                parts.append(fn.let(pick))
            if half == 1:
                parts = [fn.let(f"extractelement <1 x {kind}> {p}, i64 0") for p in parts]
            x = self.combine(parts[0], parts[1], Lanes(fn, half, v.kind))
            w = half
        return x
