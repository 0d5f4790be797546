"""The kinds of values: floats, whole numbers and truths, as NumPy and as LLVM know them.

Everything that writes code asks here how many bits a kind has; mathematics also for the numbers in
its formulas, which are those of :class:`Format`.
"""

import struct
from typing import Any, NamedTuple

import numpy as np


class Format(NamedTuple):
    """The numbers in the formulas of mathematics that depend on how many digits a float has."""

    code: str  # of ``struct``, and of its bits
    mantissa: int
    bias: int
    round: float  # 1.5 * 2^mantissa: adding it rounds to a whole number, which stands in its bits
    smallest_normal: float
    upscale: int  # of what is subnormal, the power of two that it is multiplied with
    ln2: tuple[float, float]  # a part with zeros at its end, which times an exponent is exact
    exp: tuple[float, float]  # beyond which exp is 0 and infinite
    expm1: float  # below which expm1 is -1
    tanh: float  # above which tanh is 1
    log1p: float  # below which log1p(x) is x
    terms: tuple[int, int, int, int]  # of the polynomials of exp, log, sine and cosine


class NativeType(NamedTuple):
    """A kind of values; ``memory`` is its type in arrays, where a truth is a byte."""

    name: str
    type: str
    memory: str
    bytes: int
    suffix: str
    whole: str  # whole numbers of as many bits
    format: Format | None = None


_DOUBLE = Format(
    "dQ", 52, 1023, 6755399441055744.0, 2.2250738585072014e-308, 54,
    (6.93147180369123816490e-01, 1.90821492927058770002e-10), (-746.0, 710.0), -45.0, 22.0, 1e-16,
    (12, 7, 6, 6),
)  # fmt: skip
_SINGLE = Format(
    "fI", 23, 127, 12582912.0, 1.1754943508222875e-38, 25,
    (6.9313812256e-01, 9.0580006145e-06), (-105.0, 89.5), -20.0, 10.0, 2e-8, (6, 4, 4, 4),
)  # fmt: skip

KINDS: dict[str, NativeType] = {
    "f8": NativeType("f8", "double", "double", 8, "f64", "i64", _DOUBLE),
    "f4": NativeType("f4", "float", "float", 4, "f32", "i32", _SINGLE),
    "i8": NativeType("i8", "i64", "i64", 8, "i64", "i64"),
    "i4": NativeType("i4", "i32", "i32", 4, "i32", "i32"),
    "b1": NativeType("b1", "i1", "i8", 1, "i1", "i1"),
}

#: In arrays.
BYTES = {name: kind.memory for name, kind in KINDS.items()}

_OF_CONSTANTS: dict[type, str] = {
    bool: "b1", np.bool_: "b1", float: "f8", np.float64: "f8", np.float32: "f4", np.int64: "i8",
    np.int32: "i4", int: "f8",
}  # fmt: skip


def kind_of_constant(x: Any) -> str:
    """Of a number that an operation is given: ``np.float32(2)`` is "f4"."""
    return _OF_CONSTANTS[type(x)]


def is_float(kind: str) -> bool:
    return kind == "f8" or kind == "f4"


def is_whole(kind: str) -> bool:
    return kind == "i8" or kind == "i4"


def bits_of(x: float, codes: str = "dQ") -> int:
    """The bits of ``x`` as an integer: 0x3FF0000000000000 for 1.0."""
    return int(struct.unpack(f"<{codes[1]}", struct.pack(f"<{codes[0]}", x))[0])
