"""Builder of one fused loop: its inputs, its operations, and the values that these give.

A value is ``("in", key, kind)`` of what is read, ``("op", number, kind)`` of an operation, a
constant ``("c", x)``, or of complex numbers ``("pair", real, imaginary, kind)``.
"""

from typing import Any

import numpy as np

from ..native import Input
from ..native.kinds import kind_of_constant
from ..native.operations import result_kind
from .complexes import COMPLEX
from .dtypes import CONVERSIONS, PARTS, typed
from .scalars import NotLowered

_COMPARISONS = frozenset({
    "less", "less_equal", "greater", "greater_equal", "equal", "not_equal",
})  # fmt: skip


class Group:
    """Operations over one shape, in the making."""

    def __init__(self, shape: tuple[int, ...]) -> None:
        self.shape = shape
        self.inputs: dict[tuple, tuple[Input, str]] = {}  # by what is read: and the argument's text
        self.ops: list[tuple] = []
        self.of_step: dict[int, Any] = {}  # what stands for the result of a step: an op, an operand
        self.stored: dict[int, tuple] = {}  # by step: value, strides, reduction, offset

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
        return ("pair", real, imag, kind)

    def read(self, key: tuple, place: Input, text: str, kind: str) -> Any:
        if key not in self.inputs:
            self.inputs[key] = place, text
        return ("in", key, kind)

    def op(self, name: str, *operands: Any) -> Any:
        """Return the result of an operation on values of a loop."""
        pair = next((x for x in operands if x[0] == "pair"), None)
        if pair is not None:
            return self.op_of_pairs(name, operands, pair[3])
        kind = result_kind(name, [kind_of_value(x) for x in operands])
        if name in _COMPARISONS and operands[0][0] == "op" and operands[1][0] == "c":
            made, *choices = self.ops[operands[0][1]]
            if made == "where" and choices[1][0] == choices[2][0] == "c":
                return self.compared(name, choices, operands[1])
        self.ops.append((name, *operands))
        return ("op", len(self.ops) - 1, kind)

    def compared(self, name: str, choices: list, other: tuple) -> Any:
        """Return how one of two constants compares with another, which is what chooses it."""
        truth, *given = choices
        yes, no = (bool(getattr(np, name)(x[1], other[1])) for x in given)
        if yes == no:
            return ("c", yes)
        return truth if yes else self.op("logical_not", truth)

    def op_of_pairs(self, name: str, operands: tuple, kind: str) -> Any:
        """Return the result of an operation on complex numbers, by operations on their parts."""

        def op(name: str, *xs: Any) -> Any:
            given = [constant(x, PARTS[kind]) if type(x) is float else x for x in xs]
            return self.op(name, *given)

        if name == "where":
            truth, a, b = operands
            parts: Any = [op("where", truth, a[k], b[k]) for k in (1, 2)]
        else:
            parts = COMPLEX[name](op, *[x[1:3] for x in operands])
        return parts if type(parts[0]) is str else ("pair", *parts, kind)

    def converted(self, x: Any, kind: str) -> Any:
        """Return a value as one of another kind, as ``astype`` does."""
        have = kind_of_value(x)
        if have == kind:
            return x
        if x[0] == "pair":
            if kind == "b1":
                zero = constant(0.0, PARTS[have])
                some = [self.op("not_equal", part, zero) for part in x[1:3]]
                return self.op("logical_or", *some)
            if kind not in PARTS:
                raise NotLowered("complex numbers that become real")
            parts = [self.converted(part, PARTS[kind]) for part in x[1:3]]
            return ("pair", *parts, kind)
        if kind in PARTS:
            real = self.converted(x, PARTS[kind])
            return ("pair", real, constant(0.0, PARTS[kind]), kind)
        if x[0] == "c":
            return constant(x[1], kind)
        check_native(CONVERSIONS[kind], [have])
        return self.op(CONVERSIONS[kind], x)


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
        return ("c", typed(x, kind))
    y = typed(x, kind)
    return ("pair", *[("c", typed(part, PARTS[kind])) for part in (y.real, y.imag)], kind)


def kind_of_value(x: Any) -> str:
    return kind_of_constant(x[1]) if x[0] == "c" else str(x[-1])


def doubled(strides: tuple) -> tuple:
    """Return the strides of the parts of complex numbers."""
    return tuple([2 * step for step in strides])
