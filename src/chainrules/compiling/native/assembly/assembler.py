"""Writes LLVM text: a module, its functions, and operations on one or more numbers at a time.

``Lanes(function, 8).add(x, y)`` appends ``%7 = fadd <8 x double> %5, %6`` and returns ``%7``;
``Lanes(function, 1)`` writes the same formula for ``double``, and ``Lanes(function, 16, "f4")`` for
16 of float32. What is written once for :mod:`.mathematics` is therefore all of these functions.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence

from .kinds import KINDS, Format, bits_of

#: What calls of functions of mathematics promise, as "#0".
_PURE = "attributes #0 = { nounwind willreturn memory(none) }\n"


def place_of(name: str, k: int, kind: str = "double") -> str:
    """The address of a place in a global, as a constant."""
    return f"@{name}" if k == 0 else f"getelementptr ({kind}, ptr @{name}, i64 {k})"


class Module:
    """Declarations and functions of one LLVM module, each written once.

    What lies elsewhere in the process is reached by a table, ``@c``, that is filled when the code
    is loaded: so the text is the same in every process, and its machine code can be kept.
    """

    __slots__ = ("addresses", "declarations", "functions", "globals", "inline")

    def __init__(self, inline: bool = True) -> None:
        #: of what lies elsewhere, by name, in the order of the table
        self.addresses: dict[str, int] = {}
        #: whether functions of mathematics are written out where they are called
        self.inline = inline
        self.declarations: dict[str, None] = {}
        self.globals: list[str] = []
        self.functions: dict[str, str] = {}

    def elsewhere(self, name: str, address: int) -> str:
        """Enter an address of the process into the table, and return its place there."""
        self.addresses.setdefault(name, address)
        return place_of("c", list(self.addresses).index(name), "ptr")

    def text(self) -> str:
        """All of it, as LLVM reads it."""
        table = f"@c = global [{len(self.addresses)} x ptr] zeroinitializer ; "
        table += ", ".join(self.addresses)
        parts = (*self.declarations, *self.globals, table, *self.functions.values(), _PURE)
        return "\n".join(parts)


class FunctionText:
    """The lines of a function that is being written, the block it is in, and fresh names.

    Registers are numbered in the order in which they are written, as LLVM asks of registers without
    a name: names would double the time to parse.
    """

    __slots__ = ("block", "count", "labels", "lines", "module")

    def __init__(self, module: Module) -> None:
        self.module = module
        self.lines: list[str] = []
        self.count = self.labels = 0
        self.block = "entry"

    def name(self) -> str:
        """The next register, for an instruction that is written next."""
        self.count += 1
        return f"%{self.count - 1}"

    def put(self, line: str) -> None:
        """Append an instruction without a result."""
        self.lines.append(line)

    def let(self, expression: str) -> str:
        """Append an instruction and return the register of its result."""
        r = f"%{self.count}"
        self.count += 1
        self.lines.append(f"{r} = {expression}")
        return r

    def label(self) -> str:
        """A label that was not used yet."""
        self.labels += 1
        return f"b{self.labels}"

    def start(self, block: str) -> None:
        """Begin the block of this name."""
        self.lines.append(f"{block}:")
        self.block = block

    def address(self, base: str, offset: str | int, of: str = "double") -> str:
        """The address of entry ``offset`` from ``base`` on."""
        if offset == 0 or offset == "0":
            return base
        return self.let(f"getelementptr {of}, ptr {base}, i64 {offset}")

    def times(self, index: str, n: int) -> str:
        """``index * n``, where ``index`` may be a literal."""
        if not index.startswith("%"):
            return str(int(index) * n)
        return index if n == 1 else self.let(f"mul nsw i64 {index}, {n}")

    def plus(self, index: str, n: int) -> str:
        """``index + n``, where ``index`` may be a literal."""
        if not index.startswith("%"):
            return str(int(index) + n)
        return index if n == 0 else self.let(f"add nsw i64 {index}, {n}")

    def loop(
        self,
        first: str,
        end: str,
        step: int,
        states: Sequence[tuple[str, str]],
        body: Callable[[str, list[str]], Sequence[str]],
    ) -> list[str]:
        """Run ``body`` for ``first, first + step, ...`` below ``end``, at least once.

        ``states`` are the (type, value) of what a pass hands to the next; ``body`` takes the index
        and the states and returns the new ones. Returned are those of the last pass.
        """
        if not first.startswith("%") and not end.startswith("%") and int(first) + step >= int(end):
            return list(body(first, [value for _, value in states]))
        top, after, before = self.label(), self.label(), self.block
        self.put(f"br label %{top}")
        self.start(top)
        index, phis = self.name(), [self.name() for _ in states]
        here = len(self.lines)
        self.lines += [""] * (1 + len(phis))  # the phis name what is only known at the end
        new = list(body(index, phis))
        following = self.let(f"add nuw nsw i64 {index}, {step}")
        again = self.let(f"icmp slt i64 {following}, {end}")
        latch = self.block
        self.put(f"br i1 {again}, label %{top}, label %{after}")
        entries = [("i64", first), *states]
        for k, (phi, y) in enumerate(zip([index, *phis], [following, *new])):
            kind, x = entries[k]
            self.lines[here + k] = f"{phi} = phi {kind} [ {x}, %{before} ], [ {y}, %{latch} ]"
        self.start(after)
        return new


class Lanes:
    """Operations on ``width`` numbers of a kind (truths, whole numbers) at a time.

    ``real`` is LLVM's type of the numbers, which for whole numbers is ``whole``, too. Operands are
    registers, or Python floats where every lane has the same number.
    """

    __slots__ = (
        "fn",
        "kind",
        "real",
        "scalar",
        "suffix",
        "truth",
        "whole",
        "whole_scalar",
        "width",
    )

    def __init__(self, fn: FunctionText, width: int, kind: str = "f8") -> None:
        self.fn, self.width, self.kind = fn, width, kind
        of = KINDS[kind]
        self.scalar, self.whole_scalar = of.type, of.whole
        wrap = "{}" if width == 1 else f"<{width} x {{}}>"
        self.real, self.whole, self.truth = (wrap.format(t) for t in (of.type, of.whole, "i1"))
        self.suffix = of.suffix if width == 1 else f"v{width}{of.suffix}"

    def of(self, kind: str) -> Lanes:
        """As many lanes of another kind."""
        return self if kind == self.kind else Lanes(self.fn, self.width, kind)

    @property
    def format(self) -> Format:
        """The numbers in the formulas of mathematics."""
        found = KINDS[self.kind].format
        assert found is not None
        return found

    def number(self, x: str | float) -> str:
        """An operand as text: a register as it is, a number as a constant in every lane."""
        if isinstance(x, str):
            return x
        if self.kind == "f8":
            text = f"0x{bits_of(x):016X}"
        elif self.kind == "f4":  # which LLVM reads as a double
            text = f"0x{bits_of(struct.unpack('<f', struct.pack('<f', x))[0]):016X}"
        else:
            text = str(int(x))
        return text if self.width == 1 else f"splat ({self.scalar} {text})"

    def integer(self, x: str | int) -> str:
        """The same for whole numbers."""
        if isinstance(x, str):
            return x
        return str(x) if self.width == 1 else f"splat ({self.whole_scalar} {x})"

    def boolean(self, x: str | bool) -> str:
        """The same for truths."""
        if isinstance(x, str):
            return x
        text = "true" if x else "false"
        return text if self.width == 1 else f"splat (i1 {text})"

    def binary(self, code: str, a: str | float, b: str | float) -> str:
        """One instruction of two numbers."""
        return self.fn.let(f"{code} {self.real} {self.number(a)}, {self.number(b)}")

    def add(self, a: str | float, b: str | float) -> str:
        return self.binary("fadd", a, b)

    def sub(self, a: str | float, b: str | float) -> str:
        return self.binary("fsub", a, b)

    def mul(self, a: str | float, b: str | float) -> str:
        return self.binary("fmul", a, b)

    def div(self, a: str | float, b: str | float) -> str:
        return self.binary("fdiv", a, b)

    def neg(self, a: str | float) -> str:
        return self.fn.let(f"fneg {self.real} {self.number(a)}")

    def intrinsic(self, name: str, *xs: str | float) -> str:
        """``llvm.<name>`` of numbers."""
        full = f"@llvm.{name}.{self.suffix}"
        arguments = ", ".join([self.real] * len(xs))
        self.fn.module.declarations[f"declare {self.real} {full}({arguments})"] = None
        given = ", ".join(f"{self.real} {self.number(x)}" for x in xs)
        return self.fn.let(f"call {self.real} {full}({given})")

    def fma(self, a: str | float, b: str | float, c: str | float) -> str:
        """``a * b + c`` rounded once."""
        return self.intrinsic("fma", a, b, c)

    def abs(self, a: str | float) -> str:
        return self.intrinsic("fabs", a)

    def copysign(self, a: str | float, b: str | float) -> str:
        return self.intrinsic("copysign", a, b)

    def compare(self, how: str, a: str | float, b: str | float) -> str:
        """Of whole numbers ``how`` is "slt", "eq", ..., of floats "olt", "oeq", "une", ..."""
        code = "fcmp" if self.whole != self.real else "icmp"
        return self.fn.let(f"{code} {how} {self.real} {self.number(a)}, {self.number(b)}")

    def select(self, c: str, a: str | float, b: str | float) -> str:
        """``a`` where ``c``, else ``b``."""
        a, b = self.number(a), self.number(b)
        return self.fn.let(f"select {self.truth} {c}, {self.real} {a}, {self.real} {b}")

    def choose(self, c: str, a: str | bool, b: str | bool) -> str:
        """``a`` where ``c``, else ``b``, of truths."""
        a, b = self.boolean(a), self.boolean(b)
        return self.fn.let(f"select {self.truth} {c}, {self.truth} {a}, {self.truth} {b}")

    def logic(self, code: str, a: str | bool, b: str | bool) -> str:
        """``and``, ``or``, ``xor`` of truths."""
        return self.fn.let(f"{code} {self.truth} {self.boolean(a)}, {self.boolean(b)}")

    def bits(self, a: str) -> str:
        return self.fn.let(f"bitcast {self.real} {a} to {self.whole}")

    def from_bits(self, a: str) -> str:
        return self.fn.let(f"bitcast {self.whole} {a} to {self.real}")

    def whole_op(self, code: str, a: str | int, b: str | int) -> str:
        """One instruction of two whole numbers."""
        return self.fn.let(f"{code} {self.whole} {self.integer(a)}, {self.integer(b)}")

    def to_real(self, truth: str | bool) -> str:
        """0.0 or 1.0."""
        return self.fn.let(f"uitofp {self.truth} {self.boolean(truth)} to {self.real}")

    def cast(self, code: str, x: str, there: Lanes) -> str:
        """The numbers ``x`` as those of other lanes, by LLVM's instruction ``code``."""
        return self.fn.let(f"{code} {self.real} {x} to {there.real}")

    def few(self, coefficients: Sequence[float], of: int) -> Sequence[float]:
        """As many coefficients of exp, log, sine or cosine (0 to 3) as these numbers need."""
        return coefficients[: self.format.terms[of]]

    def polynomial(self, x: str, coefficients: Sequence[float]) -> str:
        """By Estrin's scheme, coefficients from the constant up: short chains, as FMA likes."""
        level: list[str | float] = list(coefficients)
        power = x
        while len(level) > 1:
            pairs = range(0, len(level), 2)
            level = [
                self.fma(level[i + 1], power, level[i]) if i + 1 < len(level) else level[i]
                for i in pairs
            ]
            if len(level) > 1:
                power = self.mul(power, power)
        return self.number(level[0])

    def splat(self, x: str, kind: str = "") -> str:
        """The scalar ``x`` in every lane."""
        kind = kind or self.scalar
        if self.width == 1:
            return x
        n, let = self.width, self.fn.let
        one = let(f"insertelement <{n} x {kind}> poison, {kind} {x}, i64 0")
        mask = f"<{n} x i32> zeroinitializer"
        return let(f"shufflevector <{n} x {kind}> {one}, <{n} x {kind}> poison, {mask}")

    def lane(self, x: str, k: int, kind: str = "") -> str:
        """The number in lane ``k``."""
        kind = kind or self.scalar
        if self.width == 1:
            return x
        return self.fn.let(f"extractelement <{self.width} x {kind}> {x}, i64 {k}")

    def gathered(self, xs: Sequence[str], kind: str = "", rest: str = "poison") -> str:
        """One scalar per lane; where there are fewer than lanes, ``rest`` stays in the others."""
        kind = kind or self.scalar
        if self.width == 1:
            return xs[0]
        y = rest
        for k, x in enumerate(xs):
            y = self.fn.let(f"insertelement <{self.width} x {kind}> {y}, {kind} {x}, i64 {k}")
        return y
