"""Builder of one fused loop: its inputs, its operations, and the values that these give."""

from typing import Any, NamedTuple, TypeAlias

import numpy as np

from ..native import Input, NativeConstant, Operation
from ..native.assembly.operations import OPCODES, result_kind
from .complexes import COMPLEX
from .dtypes import PARTS, TO_KIND, typed
from .scalars import NotLowered


class LoopInput(NamedTuple):
    """Value of an input of the loop, which is found by ``key``."""

    key: tuple
    kind: str


class LoopResult(NamedTuple):
    """Value of an operation of the loop, by its number."""

    number: int
    kind: str


RealValue: TypeAlias = LoopInput | LoopResult | NativeConstant


class ComplexPair(NamedTuple):
    """Complex numbers, as the values of their real and of their imaginary parts."""

    real: RealValue
    imag: RealValue
    kind: str


class AddedAt(NamedTuple):
    """Values that are added to entries of an array of zeros, each with the value of its place."""

    parts: tuple[tuple[RealValue, RealValue], ...]


LoopValue: TypeAlias = RealValue | ComplexPair | AddedAt


class Stored(NamedTuple):
    """Value that a loop stores, at these strides and this offset of an array, or reduces.

    ``running`` is the axis along which all totals of a reduction are stored.
    """

    value: LoopValue
    strides: tuple[int, ...]
    reduction: str | None
    offset: int
    running: int | None = None

    @property
    def how(self) -> str:
        """Return the name of what the loop does with the value."""
        if type(self.value) is AddedAt:
            return "add at"
        return (
            f"running {self.reduction}" if self.running is not None else self.reduction or "store"
        )


def real_values(value: LoopValue) -> tuple[RealValue, ...]:
    """Return the real values that a value of a loop consists of."""
    if type(value) is AddedAt:
        return tuple([x for pair in value.parts for x in pair])
    return value[:2] if type(value) is ComplexPair else (value,)  # type: ignore[return-value]


class Group:
    """Operations over one shape, in the making."""

    def __init__(self, shape: tuple[int, ...]) -> None:
        self.shape = shape
        self.inputs: dict[tuple, tuple[Input, str]] = {}  # by what is read: and the argument's text
        self.ops: list[Operation] = []
        self.of_step: dict[int, Any] = {}  # what stands for the result of a step: an op, an operand
        self.stored: dict[int, Stored] = {}  # by step
        self.updated: set[int] = set()  # of these, arrays that were there before
        self.known: dict[str, Any] = {}  # results of operations that are done once

    def arrays(self) -> int:
        return len(self.inputs) + len(self.stored)

    def names(self) -> list[str]:
        """Return the texts of what is read."""
        return [name for _, name in self.inputs.values()]

    def input(self, key: tuple, kind: str, strides: tuple, offset: int, text: str) -> Any:
        """Return the entries of an array; of complex ones, its real and its imaginary parts."""
        if kind not in PARTS:
            return self.read(key, Input(kind, strides, offset), text, kind)
        part, twice = PARTS[kind], doubled(strides)
        places = [Input(part, twice, 2 * offset + k) for k in (0, 1)]
        real, imag = (self.read((*key, k), y, text, part) for k, y in enumerate(places))
        return ComplexPair(real, imag, kind)

    def read(self, key: tuple, place: Input, text: str, kind: str) -> LoopInput:
        if key not in self.inputs:
            self.inputs[key] = place, text
        return LoopInput(key, kind)

    def op(self, name: str, *operands: Any) -> Any:
        """Return the result of an operation on values of a loop."""
        pair = next((x for x in operands if type(x) is ComplexPair), None)
        if pair is not None:
            return self.op_of_pairs(name, operands, pair.kind)
        kind = result_kind(name, [x.kind for x in operands])
        if (
            len(operands) == 2
            and OPCODES[name].is_test
            and type(operands[0]) is LoopResult
            and type(operands[1]) is NativeConstant
        ):
            made, choices, *_ = self.ops[operands[0].number]
            if made == "where" and type(choices[1]) is type(choices[2]) is NativeConstant:
                return self.compared(name, choices, operands[1])
        self.ops.append(Operation(name, operands))
        return LoopResult(len(self.ops) - 1, kind)

    def once(self, name: str, *operands: Any) -> Any:
        """Return the result of an operation, which an equal one before has made."""
        key = repr((name, operands))
        if key not in self.known:
            self.known[key] = self.op(name, *operands)
        return self.known[key]

    def compared(self, name: str, choices: tuple, other: NativeConstant) -> Any:
        """Return how one of two constants compares with another, which is what chooses it."""
        truth, *given = choices
        yes, no = (bool(getattr(np, name)(x.x, other.x)) for x in given)
        if yes == no:
            return NativeConstant(yes)
        return truth if yes else self.op("logical_not", truth)

    def op_of_pairs(self, name: str, operands: tuple, kind: str) -> Any:
        """Return the result of an operation on complex numbers, by operations on their parts."""

        def op(name: str, *xs: Any) -> Any:
            given = [constant(x, PARTS[kind]) if type(x) is float else x for x in xs]
            return self.op(name, *given)

        if name == "where":
            truth, a, b = operands
            return ComplexPair(
                op("where", truth, a.real, b.real), op("where", truth, a.imag, b.imag), kind
            )
        parts = COMPLEX[name](op, *[(x.real, x.imag) for x in operands])
        if type(parts) is not tuple:
            return parts
        real, imag = parts
        return ComplexPair(real, imag, kind)

    def converted(self, x: Any, kind: str) -> Any:
        """Return a value as one of another kind, as ``astype`` does."""
        have = x.kind
        if have == kind:
            return x
        if type(x) is ComplexPair:
            if kind == "b1":
                zero = constant(0.0, PARTS[have])
                some = [self.op("not_equal", part, zero) for part in x[:2]]
                return self.op("logical_or", *some)
            if kind not in PARTS:
                raise NotLowered("complex numbers that become real")
            real, imag = (self.converted(part, PARTS[kind]) for part in x[:2])
            return ComplexPair(real, imag, kind)
        if kind in PARTS:
            real = self.converted(x, PARTS[kind])
            return ComplexPair(real, constant(0.0, PARTS[kind]), kind)
        if type(x) is NativeConstant:
            return constant(x.x, kind)
        check_native(TO_KIND[kind], [have])
        return self.op(TO_KIND[kind], x)


def check_native(name: str, kinds: list[str]) -> None:
    """Refuse an operation that has no native code for operands of these kinds.

    Raises
    ------
    NotLowered
    """
    if name in ("where", "as it is"):
        return
    if any(kind in PARTS for kind in kinds):
        if name not in COMPLEX:
            raise NotLowered(f"{name} of complex numbers")
        return
    try:
        result_kind(name, kinds)
    except TypeError as error:
        raise NotLowered(str(error)) from None


def constant(x: Any, kind: str) -> Any:
    """Return a number as a constant of this kind."""
    if kind not in PARTS:
        if isinstance(x, complex | np.complexfloating) and kind != "b1":
            raise NotLowered("complex numbers that become real")
        return NativeConstant(typed(x, kind))
    y = typed(x, kind)
    real, imag = (NativeConstant(typed(part, PARTS[kind])) for part in (y.real, y.imag))
    return ComplexPair(real, imag, kind)


def doubled(strides: tuple) -> tuple:
    """Return the strides of the parts of complex numbers."""
    return tuple([2 * step for step in strides])
