"""What each operation does to one or more doubles or truths: NumPy's float64 loops in LLVM text.

``emit(lanes, "maximum", ["%a", "%b"])`` writes the few instructions that give NumPy's maximum, NaN
included. A truth is an ``i1``, never a number: ``float`` and ``bool`` go from one to the other.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from .assembler import Lanes
from .functions import as_function, each_lane

__all__ = ["COMMUTATIVE", "LIBM", "OPERATIONS", "POWERS", "emit", "result_kind"]

Operand = str | float | bool
Emitter = Callable[..., str]

# How LLVM compares; "une" is true of NaN, as != is.
COMPARISONS = {
    "less": "olt",
    "less_equal": "ole",
    "greater": "ogt",
    "greater_equal": "oge",
    "equal": "oeq",
    "not_equal": "une",
}
LOGIC = {"logical_and": "and", "logical_or": "or", "logical_xor": "xor"}
COMMUTATIVE = frozenset({"add", "multiply", "equal", "not_equal", *LOGIC})

# NumPy's name and C's.
LIBM = {
    "cbrt": "cbrt",
    "exp": "exp",
    "exp2": "exp2",
    "expm1": "expm1",
    "log": "log",
    "log2": "log2",
    "log10": "log10",
    "log1p": "log1p",
    "sin": "sin",
    "cos": "cos",
    "tan": "tan",
    "sinh": "sinh",
    "cosh": "cosh",
    "tanh": "tanh",
    "arcsin": "asin",
    "arccos": "acos",
    "arctan": "atan",
    "arcsinh": "asinh",
    "arccosh": "acosh",
    "arctanh": "atanh",
    "arctan2": "atan2",
    "hypot": "hypot",
    "power": "pow",
    "fmod": "fmod",
}


def _extreme(how: str) -> Emitter:
    """NumPy's maximum or minimum: a NaN, where there is one."""

    def emitter(v: Lanes, a: Operand, b: Operand) -> str:
        # One instruction of the machine: where b is not beyond a, or one is NaN, it gives a.
        beyond = v.select(v.compare(how, b, a), b, a)
        return v.select(v.compare("uno", b, b), b, beyond)

    return emitter


def _extreme_number(how: str) -> Emitter:
    """NumPy's fmax or fmin: a NaN only where both are."""

    def emitter(v: Lanes, a: Operand, b: Operand) -> str:
        beyond = v.select(v.compare(how, a, b), a, b)
        return v.select(v.compare("uno", b, b), a, beyond)

    return emitter


def _sign(v: Lanes, a: Operand) -> str:
    size = v.select(v.compare("one", a, 0.0), 1.0, 0.0)
    signed = v.select(v.compare("olt", a, 0.0), -1.0, size)
    return v.select(v.compare("uno", a, a), a, signed)


def _divmod(v: Lanes, a: Operand, b: Operand) -> tuple[str, str]:
    """Floored quotient and remainder of the sign of ``b``, step by step as ``npy_divmod``."""
    c_mod = call(v, "fmod", a, b)
    c_quotient = v.div(v.sub(a, c_mod), b)
    other_sign = v.logic("xor", v.compare("olt", b, 0.0), v.compare("olt", c_mod, 0.0))
    nonzero = v.compare("une", c_mod, 0.0)
    shift = v.logic("and", other_sign, nonzero)
    shifted = v.select(shift, v.add(c_mod, b), c_mod)
    mod = v.select(nonzero, shifted, v.copysign(0.0, b))
    quotient = v.select(shift, v.sub(c_quotient, 1.0), c_quotient)
    floor = v.intrinsic("floor", quotient)
    snapped = v.select(v.compare("ogt", v.sub(quotient, floor), 0.5), v.add(floor, 1.0), floor)
    exact = v.div(a, b)
    whole = v.select(v.compare("une", quotient, 0.0), snapped, v.copysign(0.0, exact))
    by_zero = v.compare("oeq", b, 0.0)
    return v.select(by_zero, exact, whole), v.select(by_zero, c_mod, mod)


def _logaddexp(v: Lanes, a: Operand, b: Operand) -> str:
    gap = v.sub(a, b)
    larger = v.select(v.compare("ogt", a, b), a, b)
    small = call(v, "log1p", call(v, "exp", v.neg(v.abs(gap))))
    # Equal ones may be infinite, and their gap NaN.
    equal = v.compare("oeq", a, b)
    return v.select(equal, v.add(a, math.log(2.0)), v.add(larger, small))


def _isnan(v: Lanes, a: Operand) -> str:
    return v.compare("uno", a, a)


def _isinf(v: Lanes, a: Operand) -> str:
    return v.compare("oeq", v.abs(a), math.inf)


def _isfinite(v: Lanes, a: Operand) -> str:
    return v.compare("olt", v.abs(a), math.inf)


def _intrinsic(name: str) -> Emitter:
    return lambda v, *xs: v.intrinsic(name, *xs)


_REAL: dict[str, tuple[int, Emitter]] = {
    "add": (2, Lanes.add),
    "subtract": (2, Lanes.sub),
    "multiply": (2, Lanes.mul),
    "divide": (2, Lanes.div),
    "negative": (1, Lanes.neg),
    "absolute": (1, Lanes.abs),
    "square": (1, lambda v, a: v.mul(a, a)),
    "reciprocal": (1, lambda v, a: v.div(1.0, a)),
    "sqrt": (1, _intrinsic("sqrt")),
    "floor": (1, _intrinsic("floor")),
    "ceil": (1, _intrinsic("ceil")),
    "trunc": (1, _intrinsic("trunc")),
    "rint": (1, _intrinsic("rint")),
    "sign": (1, _sign),
    "copysign": (2, Lanes.copysign),
    "maximum": (2, _extreme("ogt")),
    "minimum": (2, _extreme("olt")),
    "fmax": (2, _extreme_number("oge")),
    "fmin": (2, _extreme_number("ole")),
    "power of 3": (1, lambda v, a: v.mul(v.mul(a, a), a)),
    "remainder": (2, lambda v, a, b: _divmod(v, a, b)[1]),
    "floor_divide": (2, lambda v, a, b: _divmod(v, a, b)[0]),
    "logaddexp": (2, _logaddexp),
}
_TESTS: dict[str, Emitter] = {"isnan": _isnan, "isinf": _isinf, "isfinite": _isfinite}

#: Exponents that need no logarithm, and the operation that does the same. (The root of -0.0 and
#: -inf is not C's ``pow``, but what NumPy gives for one exponent of all entries.)
POWERS = {2.0: "square", -1.0: "reciprocal", 3.0: "power of 3", 0.5: "sqrt"}
_OF_TWO = ("arctan2", "hypot", "power", "fmod")

#: Every operation and its number of operands.
OPERATIONS: dict[str, int] = {
    **{name: count for name, (count, _) in _REAL.items()},
    **{name: 2 if name in _OF_TWO else 1 for name in LIBM},
    **dict.fromkeys(COMPARISONS, 2),
    **dict.fromkeys(LOGIC, 2),
    **dict.fromkeys((*_TESTS, "logical_not", "float", "bool"), 1),
    "where": 3,
}


def result_kind(name: str, kinds: Sequence[str]) -> str:
    """ "f8" or "b1": what the operation gives for operands of these kinds.

    Raises TypeError for an unknown operation, and for operands that it does not take.
    """
    if OPERATIONS.get(name) != len(kinds):
        raise TypeError(f"no operation {name!r} of {len(kinds)} operands in native code")
    if name == "where":
        if kinds[1] != kinds[2]:
            raise TypeError("where: one choice is a float, the other a bool; convert one")
        return kinds[1]
    if name in _REAL or name in LIBM:
        if "b1" in kinds:
            raise TypeError(f"{name} of a bool in native code; convert it with 'float'")
        return "f8"
    return "f8" if name == "float" else "b1"


def emit(v: Lanes, name: str, operands: Sequence[Operand], kinds: Sequence[str]) -> str:
    """Write operation ``name`` and return the register of its result."""
    if name in LIBM:
        return call(v, name, *operands)
    if name in _REAL:
        return _REAL[name][1](v, *operands)
    if name == "where":
        c = as_truth(v, operands[0], kinds[0])
        pick = v.select if kinds[1] == "f8" else v.choose
        return pick(c, *operands[1:])  # type: ignore[arg-type]
    if name == "float":
        return as_real(v, operands[0], kinds[0])
    if name in COMPARISONS:
        a, b = (as_real(v, x, kind) for x, kind in zip(operands, kinds))
        return v.compare(COMPARISONS[name], a, b)
    if name in _TESTS:
        return _TESTS[name](v, as_real(v, operands[0], kinds[0]))
    truths = [as_truth(v, x, kind) for x, kind in zip(operands, kinds)]
    if name == "bool":
        return truths[0]
    return (
        v.logic("xor", truths[0], True) if name == "logical_not" else v.logic(LOGIC[name], *truths)
    )


def as_truth(v: Lanes, x: Operand, kind: str) -> str:
    """``x != 0`` of a double; a truth as it is."""
    if kind == "b1":
        return v.boolean(x)  # type: ignore[arg-type]
    return v.compare("une", x, 0.0)


def as_real(v: Lanes, x: Operand, kind: str) -> str:
    """A truth as 0.0 or 1.0; a double as it is."""
    return v.number(x) if kind == "f8" else v.to_real(x)  # type: ignore[arg-type]


def call(v: Lanes, name: str, *xs: Operand) -> str:
    """A function of mathematics: on several lanes our own where there is one, else that of C."""
    texts = [v.number(x) for x in xs]
    own = _own(name) if v.width > 1 else None
    if own is None:
        return each_lane(v, LIBM[name], *texts)
    return own(v, *texts) if v.fn.module.inline else as_function(v, name, own, *texts)


def _own(name: str) -> Emitter | None:
    from .compositions import COMPOSED
    from .mathematics import FUNCTIONS

    return FUNCTIONS.get(name) or COMPOSED.get(name)
