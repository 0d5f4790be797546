"""Operations in LLVM text: each does to numbers or booleans what NumPy's loop does.

``emit(lanes, "maximum", ["%a", "%b"], ["f8", "f8"])`` writes the few instructions that give NumPy's
maximum, NaN included. Numbers of one operation are of one kind; ``float32``, ``int64``, ... go from
one to another. A truth is an ``i1``, never a number.
"""

import math
import platform
from collections.abc import Callable, Sequence
from typing import Any

from .assembler import Lanes
from .functions import as_function, each_lane
from .kinds import KINDS, is_float, is_whole
from .operation import NativeConstant, Operation

Operand = Any  # a register, or a Python number or bool
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
# The same of whole numbers.
OF_WHOLE = {
    "less": "slt",
    "less_equal": "sle",
    "greater": "sgt",
    "greater_equal": "sge",
    "equal": "eq",
    "not_equal": "ne",
}
#: What they make of a number or a truth.
CONVERSIONS = {"float": "f8", "float32": "f4", "int64": "i8", "int32": "i4", "bool": "b1"}
LOGIC = {"logical_and": "and", "logical_or": "or", "logical_xor": "xor"}
COMMUTATIVE = frozenset({"add", "multiply", "equal", "not_equal", *LOGIC})

# NumPy's name and C's.
_SAME = "cbrt exp exp2 expm1 log log2 log10 log1p sin cos tan sinh cosh tanh hypot fmod"
_INVERSE = "sin cos tan sinh cosh tanh tan2"
LIBM = {name: name for name in _SAME.split()} | {"power": "pow"}
LIBM |= {f"arc{name}": f"a{name}" for name in _INVERSE.split()}


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


def _whole(code: str) -> Emitter:
    return lambda v, a, b: v.whole_op(code, a, b)


def _larger(how: str) -> Emitter:
    return lambda v, a, b: v.select(v.compare(how, a, b), a, b)


def _whole_sign(v: Lanes, a: Operand) -> str:
    return v.select(v.compare("slt", a, 0), -1, v.select(v.compare("sgt", a, 0), 1, 0))


def _whole_divmod(v: Lanes, a: Operand, b: Operand) -> tuple[str, str]:
    """Floored quotient and remainder; of a division by 0 they are 0, as NumPy's."""
    # The least number by -1 is itself, as it is by 1 where the sign is changed, and no trap.
    zero, minus = v.compare("eq", b, 0), v.compare("eq", b, -1)
    safe = v.select(zero, 1, v.select(minus, 1, b))
    q = v.whole_op("sdiv", a, safe)
    r = v.whole_op("sub", a, v.whole_op("mul", q, safe))
    other_sign = v.compare("slt", v.whole_op("xor", r, safe), 0)
    shift = v.logic("and", v.compare("ne", r, 0), other_sign)
    q = v.select(shift, v.whole_op("sub", q, 1), q)
    r = v.select(shift, v.whole_op("add", r, safe), r)
    q = v.select(minus, v.whole_op("sub", 0, a), q)
    return v.select(zero, 0, q), r


#: Of whole numbers, which wrap around.
_WHOLE: dict[str, Emitter] = {
    "add": _whole("add"),
    "subtract": _whole("sub"),
    "multiply": _whole("mul"),
    "negative": lambda v, a: v.whole_op("sub", 0, a),
    "absolute": lambda v, a: v.select(v.compare("slt", a, 0), v.whole_op("sub", 0, a), a),
    "square": lambda v, a: v.whole_op("mul", a, a),
    "sign": _whole_sign,
    "maximum": _larger("sgt"),
    "minimum": _larger("slt"),
    "fmax": _larger("sgt"),
    "fmin": _larger("slt"),
    "remainder": lambda v, a, b: _whole_divmod(v, a, b)[1],
    "floor_divide": lambda v, a, b: _whole_divmod(v, a, b)[0],
    "bitwise_and": _whole("and"),
    "bitwise_or": _whole("or"),
    "bitwise_xor": _whole("xor"),
    "invert": lambda v, a: v.whole_op("xor", a, -1),
}
_TESTS: dict[str, Emitter] = {"isnan": _isnan, "isinf": _isinf, "isfinite": _isfinite}

#: Exponents that need no logarithm, and the operation that does the same. (The root of -0.0 and
#: -inf is not C's ``pow``, but what NumPy gives for one exponent of all entries.)
POWERS = {2.0: "square", -1.0: "reciprocal", 3.0: "power of 3", 0.5: "sqrt"}
_OF_TWO = ("arctan2", "hypot", "power", "fmod")


def without_power(op: Operation) -> Operation:
    """Return an operation that does the same as a power, where one needs no logarithm."""
    base, exponent = op.operands
    if type(exponent) is NativeConstant and exponent.x in POWERS:
        return Operation(POWERS[exponent.x], (base,))
    return op


#: Every operation and its number of operands.
OPERATIONS: dict[str, int] = {
    **{name: count for name, (count, _) in _REAL.items()},
    **{name: 2 if name in _OF_TWO else 1 for name in LIBM},
    **dict.fromkeys(COMPARISONS, 2),
    **dict.fromkeys(LOGIC, 2),
    **dict.fromkeys((*_TESTS, *CONVERSIONS, "logical_not", "invert"), 1),
    **dict.fromkeys(("bitwise_and", "bitwise_or", "bitwise_xor"), 2),
    "where": 3,
}


def result_kind(name: str, kinds: Sequence[str]) -> str:
    """ "f8", "b1", ...: what the operation gives for operands of these kinds.

    Raises TypeError for an unknown operation, and for operands that it does not take.
    """
    if OPERATIONS.get(name) != len(kinds):
        raise TypeError(f"no operation {name!r} of {len(kinds)} operands in native code")
    if name == "where":
        if kinds[1] != kinds[2]:
            raise TypeError(f"where: one choice is {kinds[1]}, the other {kinds[2]}; convert one")
        return kinds[1]
    if name in CONVERSIONS:
        if is_whole(CONVERSIONS[name]) and is_float(kinds[0]) and not _CASTS_AS_HERE:
            raise TypeError("floats that become integers, on this kind of processor")
        return CONVERSIONS[name]
    if name in LOGIC or name in _TESTS or name == "logical_not":
        return "b1"
    of_numbers = {kind for kind in kinds if kind != "b1" or name not in COMPARISONS} or {"f8"}
    if len(of_numbers) > 1:
        raise TypeError(f"{name} of {' and '.join(kinds)} in native code; convert one")
    (kind,) = of_numbers
    if kind == "b1":
        raise TypeError(f"{name} of a bool in native code; convert it with 'float'")
    if name in COMPARISONS:
        return "b1"
    if name not in _WHOLE if is_whole(kind) else name not in _REAL and name not in LIBM:
        raise TypeError(f"{name} of {kind} in native code")
    return kind


def emit(v: Lanes, name: str, operands: Sequence[Operand], kinds: Sequence[str]) -> str:
    """Write operation ``name`` and return the register of its result."""
    kind = kinds[-1]
    if name in LIBM:
        return call(v.of(kind), name, *operands)
    if is_whole(kind) and name in _WHOLE:
        return _WHOLE[name](v.of(kind), *operands)
    if name in _REAL:
        return _REAL[name][1](v.of(kind), *operands)
    if name == "where":
        c = as_truth(v, operands[0], kinds[0])
        pick = v.of(kind).select if kind != "b1" else v.choose
        return pick(c, *operands[1:])
    if name in CONVERSIONS:
        return converted(v, operands[0], kind, CONVERSIONS[name])
    if name in COMPARISONS:
        number = max(kinds, key=lambda kind: kind != "b1")
        number = "f8" if number == "b1" else number
        a, b = (converted(v, x, kind, number) for x, kind in zip(operands, kinds))
        codes = OF_WHOLE if is_whole(number) else COMPARISONS
        return v.of(number).compare(codes[name], a, b)
    if name in _TESTS:
        number = kind if is_float(kind) else "f8"
        return _TESTS[name](v.of(number), converted(v, operands[0], kind, number))
    truths = [as_truth(v, x, kind) for x, kind in zip(operands, kinds)]
    return (
        v.logic("xor", truths[0], True) if name == "logical_not" else v.logic(LOGIC[name], *truths)
    )


# Where a float does not fit an integer, NumPy gives what the processor gives.
_CASTS_AS_HERE = platform.machine() in ("x86_64", "AMD64")


def converted(v: Lanes, x: Operand, have: str, want: str) -> str:
    """A value of one kind as one of another, as NumPy's ``astype``."""
    a, b = v.of(have), v.of(want)
    if have == want:
        return v.boolean(x) if want == "b1" else a.number(x)
    if have == "b1":
        if is_float(want):
            return b.to_real(x)
        return v.fn.let(f"zext {v.truth} {v.boolean(x)} to {b.real}")
    if want == "b1":
        return a.compare("ne" if is_whole(have) else "une", x, 0)
    x, wider = a.number(x), KINDS[have].bytes < KINDS[want].bytes
    if is_float(have) and is_float(want):
        return a.cast("fpext" if wider else "fptrunc", x, b)
    if is_float(want):
        return a.cast("sitofp", x, b)
    if is_whole(have):
        return a.cast("sext" if wider else "trunc", x, b)
    end = 2.0 ** (8 * KINDS[want].bytes - 1)
    fits = v.logic("and", a.compare("oge", x, -end), a.compare("olt", x, end))
    return a.cast("fptosi", a.select(fits, x, -end), b)


def as_truth(v: Lanes, x: Operand, kind: str) -> str:
    """``x != 0`` of a number; a truth as it is."""
    return converted(v, x, kind, "b1")


def as_real(v: Lanes, x: Operand, kind: str) -> str:
    """A truth as 0.0 or 1.0; a double as it is."""
    return converted(v, x, kind, "f8")


def call(v: Lanes, name: str, *xs: Operand) -> str:
    """A function of mathematics: on several lanes our own where there is one, else that of C.

    Of float32 it is computed in doubles, and rounded, if the formula is one for doubles only.
    """
    from .mathematics import SINGLE

    texts = [v.number(x) for x in xs]
    own = _own(name) if v.width > 1 else None
    if own is None:
        return each_lane(v, LIBM[name], *texts)
    if v.kind == "f4" and name not in SINGLE:
        wide = v.of("f8")
        return wide.cast("fptrunc", call(wide, name, *(v.cast("fpext", x, wide) for x in texts)), v)
    return own(v, *texts) if v.fn.module.inline else as_function(v, name, own, *texts)


def _own(name: str) -> Emitter | None:
    from .compositions import COMPOSED
    from .mathematics import FUNCTIONS

    return FUNCTIONS.get(name) or COMPOSED.get(name)
