"""Simplification of operations on single numbers: constants are folded, neutral ones left out."""

from typing import Any

import numpy as np


def simplified(line: Any, name: str, ids: tuple) -> int | None:
    """Return what an operation gives where that is known to the last bit, or to rounding.

    It has a constant among its operands, or is a power by itself.
    """
    constants = [line.constants[-k - 1] for k in ids if k < 0]
    if name == "power by itself":
        half = bool(constants) and ids[1] < 0 and constants[-1] == 0.5
        return _half_power(line, ids[0]) if half else line.op("power", *ids)
    if name == "where" and ids[0] < 0:
        chosen: int = ids[1] if constants[0] else ids[2]
        return chosen
    if len(constants) == len(ids) and name in _FOLDED:
        with np.errstate(all="ignore"):
            y = getattr(np, name)(*[np.float64(x) for x in constants])
        return line.constant(bool(y) if isinstance(y, np.bool_) else float(y))
    if name == "add" and _is_zero(constants[0]):
        other = ids[1] if ids[0] < 0 else ids[0]
        made, operands = line.ops.pairs[other - line.first] if other >= line.first else ("", ())
        if made == "add" and any(k < 0 and _is_zero(line.constants[-k - 1]) for k in operands):
            return other  # it is no -0.0 any more
    if name in ("multiply", "divide", "subtract", "power") and len(ids) == 2:
        a, b = ids
        x = line.constants[-b - 1] if b < 0 else line.constants[-a - 1]
        if b < 0 and name == "power":
            return _power(line, a, x)
        if name == "multiply" and abs(x) == 1.0:
            other = a if b < 0 else b
            return other if x == 1.0 else line.op("negative", other)
        if b < 0 and name == "divide" and abs(x) == 1.0:
            return a if x == 1.0 else line.op("negative", a)
        if b < 0 and name == "subtract" and x == 0.0 and not np.signbit(x):
            return a
    return None


def _power(line: Any, a: int, exponent: float) -> int | None:
    if exponent == 1.0:
        return a
    if exponent in (2.0, 3.0, 4.0):
        square = line.op("multiply", a, a)
        if exponent == 2.0:
            return square
        return line.op("multiply", square, a if exponent == 3.0 else square)
    return line.op("reciprocal", a) if exponent == -1.0 else None


def _is_zero(x: float) -> bool:
    return x == 0.0 and not np.signbit(x)


def _half_power(line: Any, a: int) -> int:
    """Return ``a ** 0.5`` where that is no root to NumPy: of -0.0 it is 0.0, and of -inf inf."""
    root = line.op("sqrt", line.op("add", a, line.constant(0.0)))
    least = line.op("equal", a, line.constant(-np.inf))
    return line.op("where", least, line.constant(np.inf), root)


_FOLDED = frozenset({
    "add", "subtract", "multiply", "divide", "negative", "less", "less_equal", "equal", "greater",
    "greater_equal", "not_equal", "absolute", "maximum", "minimum", "sqrt", "reciprocal",
    "copysign", "isfinite", "logical_and", "logical_or", "logical_xor", "logical_not",
})  # fmt: skip
