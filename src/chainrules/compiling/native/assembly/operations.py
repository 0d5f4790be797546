"""Operations in LLVM text: each does to numbers or booleans what NumPy's loop does.

``emit(lanes, "maximum", ["%a", "%b"], ["f8", "f8"])`` writes the few instructions that give NumPy's
maximum, NaN included. Numbers of one operation are of one kind; ``float32``, ``int64``, ... go from
one to another. A truth is an ``i1``, never a number.
"""

import math
import platform
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from .assembler import Lanes
from .functions import as_function, each_lane
from .kinds import KINDS, is_float, is_whole
from .operation import NativeConstant, Operation
from .tables import LOOKUPS, is_table, looked_up

Operand = Any  # a register, or a Python number or bool
Emitter = Callable[..., str]

#: What they make of a number or a truth.
CONVERSIONS = {"float": "f8", "float32": "f4", "int64": "i8", "int32": "i4", "bool": "b1"}


class Opcode(NamedTuple):
    """One native operation: its number of operands, and what writes it.

    Attributes
    ----------
    real, whole
        What writes it for floats, and for whole numbers, which wrap around; None of what it does
        not take.
    truth
        What writes it for truths, if it is one of logic: numbers are asked whether they are 0.
    is_test
        Whether it gives a truth about numbers.
    c_name
        C's function that does the same.
    commutes
        Whether its two operands may change places.
    """

    arity: int
    real: Emitter | None = None
    whole: Emitter | None = None
    truth: Emitter | None = None
    is_test: bool = False
    c_name: str = ""
    commutes: bool = False


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


def _intrinsic(name: str) -> Emitter:
    return lambda v, *xs: v.intrinsic(name, *xs)


def _whole(code: str) -> Emitter:
    return lambda v, a, b: v.whole_op(code, a, b)


def _whole_absolute(v: Lanes, a: Operand) -> str:
    return v.select(v.compare("slt", a, 0), v.whole_op("sub", 0, a), a)


def _part_of(both: Callable[..., tuple[str, str]], part: int) -> Emitter:
    return lambda v, a, b: both(v, a, b)[part]


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


def _comparison(real: str, whole: str, commutes: bool = False) -> Opcode:
    """Return a comparison, by LLVM's names; "une" is true of NaN, as ``!=`` is."""
    return Opcode(
        2,
        lambda v, a, b: v.compare(real, a, b),
        lambda v, a, b: v.compare(whole, a, b),
        is_test=True,
        commutes=commutes,
    )


def _logic(code: str) -> Opcode:
    return Opcode(2, truth=lambda v, a, b: v.logic(code, a, b), commutes=True)


def _of_c(name: str, c_name: str, count: int = 1) -> Opcode:
    """Return a function of mathematics, by NumPy's name and C's."""
    return Opcode(count, lambda v, *xs: call(v, name, *xs), c_name=c_name)


_OF_ONE = "cbrt exp exp2 expm1 log log2 log10 log1p sin cos tan sinh cosh tanh"
_INVERSE = "sin cos tan sinh cosh tanh"

OPCODES: dict[str, Opcode] = {
    "add": Opcode(2, Lanes.add, _whole("add"), commutes=True),
    "subtract": Opcode(2, Lanes.sub, _whole("sub")),
    "multiply": Opcode(2, Lanes.mul, _whole("mul"), commutes=True),
    "divide": Opcode(2, Lanes.div),
    "negative": Opcode(1, Lanes.neg, lambda v, a: v.whole_op("sub", 0, a)),
    "absolute": Opcode(1, Lanes.abs, _whole_absolute),
    "square": Opcode(1, lambda v, a: v.mul(a, a), lambda v, a: v.whole_op("mul", a, a)),
    "reciprocal": Opcode(1, lambda v, a: v.div(1.0, a)),
    **{name: Opcode(1, _intrinsic(name)) for name in ("sqrt", "floor", "ceil", "trunc", "rint")},
    "sign": Opcode(1, _sign, _whole_sign),
    "copysign": Opcode(2, Lanes.copysign),
    "maximum": Opcode(2, _extreme("ogt"), _larger("sgt")),
    "minimum": Opcode(2, _extreme("olt"), _larger("slt")),
    "fmax": Opcode(2, _extreme_number("oge"), _larger("sgt")),
    "fmin": Opcode(2, _extreme_number("ole"), _larger("slt")),
    "power of 3": Opcode(1, lambda v, a: v.mul(v.mul(a, a), a)),
    "remainder": Opcode(2, _part_of(_divmod, 1), _part_of(_whole_divmod, 1)),
    "floor_divide": Opcode(2, _part_of(_divmod, 0), _part_of(_whole_divmod, 0)),
    "logaddexp": Opcode(2, _logaddexp),
    **{name: _of_c(name, name) for name in _OF_ONE.split()},
    **{f"arc{name}": _of_c(f"arc{name}", f"a{name}") for name in _INVERSE.split()},
    "arctan2": _of_c("arctan2", "atan2", 2),
    "hypot": _of_c("hypot", "hypot", 2),
    "power": _of_c("power", "pow", 2),
    "fmod": _of_c("fmod", "fmod", 2),
    "bitwise_and": Opcode(2, whole=_whole("and")),
    "bitwise_or": Opcode(2, whole=_whole("or")),
    "bitwise_xor": Opcode(2, whole=_whole("xor")),
    "invert": Opcode(1, whole=lambda v, a: v.whole_op("xor", a, -1)),
    "less": _comparison("olt", "slt"),
    "less_equal": _comparison("ole", "sle"),
    "greater": _comparison("ogt", "sgt"),
    "greater_equal": _comparison("oge", "sge"),
    "equal": _comparison("oeq", "eq", commutes=True),
    "not_equal": _comparison("une", "ne", commutes=True),
    "isnan": Opcode(1, lambda v, a: v.compare("uno", a, a), is_test=True),
    "isinf": Opcode(1, lambda v, a: v.compare("oeq", v.abs(a), math.inf), is_test=True),
    "isfinite": Opcode(1, lambda v, a: v.compare("olt", v.abs(a), math.inf), is_test=True),
    "logical_and": _logic("and"),
    "logical_or": _logic("or"),
    "logical_xor": _logic("xor"),
    "logical_not": Opcode(1, truth=lambda v, a: v.logic("xor", a, True)),
    **dict.fromkeys(CONVERSIONS, Opcode(1)),
    "where": Opcode(3),
    **dict.fromkeys(LOOKUPS, Opcode(2)),
}

#: Operations on truths.
LOGIC = frozenset({name for name, code in OPCODES.items() if code.truth is not None})

#: Exponents that need no logarithm, and the operation that does the same. (The root of -0.0 and
#: -inf is not C's ``pow``, but what NumPy gives for one exponent of all entries.)
POWERS = {2.0: "square", -1.0: "reciprocal", 3.0: "power of 3", 0.5: "sqrt"}


def without_power(op: Operation) -> Operation:
    """Return an operation that does the same as a power, where one needs no logarithm."""
    base, exponent = op.operands
    if type(exponent) is NativeConstant and exponent.x in POWERS:
        return Operation(POWERS[exponent.x], (base,))
    return op


def result_kind(name: str, kinds: Sequence[str]) -> str:
    """ "f8", "b1", ...: what the operation gives for operands of these kinds.

    Raises TypeError for an unknown operation, and for operands that it does not take.
    """
    code = OPCODES.get(name)
    if code is None or code.arity != len(kinds):
        raise TypeError(f"no operation {name!r} of {len(kinds)} operands in native code")
    if name == "where":
        if kinds[1] != kinds[2]:
            raise TypeError(f"where: one choice is {kinds[1]}, the other {kinds[2]}; convert one")
        return kinds[1]
    if name in LOOKUPS:
        if kinds[0] != LOOKUPS[name][0] or not is_table(kinds[1]):
            raise TypeError(f"{name} of {' and '.join(kinds)} in native code")
        return LOOKUPS[name][1]
    if name in CONVERSIONS:
        if is_whole(CONVERSIONS[name]) and is_float(kinds[0]) and not _CASTS_AS_HERE:
            raise TypeError("floats that become integers, on this kind of processor")
        return CONVERSIONS[name]
    if code.truth is not None or (code.is_test and code.whole is None):
        return "b1"
    of_numbers = {kind for kind in kinds if kind != "b1" or not code.is_test} or {"f8"}
    if len(of_numbers) > 1:
        raise TypeError(f"{name} of {' and '.join(kinds)} in native code; convert one")
    (kind,) = of_numbers
    if kind == "b1":
        raise TypeError(f"{name} of a bool in native code; convert it with 'float'")
    if (code.whole if is_whole(kind) else code.real) is None:
        raise TypeError(f"{name} of {kind} in native code")
    return "b1" if code.is_test else kind


def emit(v: Lanes, name: str, operands: Sequence[Operand], kinds: Sequence[str]) -> str:
    """Write operation ``name`` and return the register of its result."""
    code, kind = OPCODES[name], kinds[-1]
    if name == "where":
        c = as_truth(v, operands[0], kinds[0])
        pick = v.of(kind).select if kind != "b1" else v.choose
        return pick(c, *operands[1:])
    if name in LOOKUPS:
        return looked_up(v, name, operands, kinds)
    if name in CONVERSIONS:
        return converted(v, operands[0], kind, CONVERSIONS[name])
    if code.truth is not None:
        return code.truth(v, *[as_truth(v, x, kind) for x, kind in zip(operands, kinds)])
    if code.is_test:
        kind = next((kind for kind in kinds if kind != "b1"), "f8")
        if code.whole is None and is_whole(kind):
            kind = "f8"
        operands = [converted(v, x, have, kind) for x, have in zip(operands, kinds)]
    write = code.whole if is_whole(kind) else code.real
    assert write is not None
    return write(v.of(kind), *operands)


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


def call(v: Lanes, name: str, *xs: Operand) -> str:
    """A function of mathematics: on several lanes our own where there is one, else that of C.

    Of float32 it is computed in doubles, and rounded, if the formula is one for doubles only.
    """
    from .mathematics import SINGLE

    texts = [v.number(x) for x in xs]
    own = _own(name) if v.width > 1 else None
    if own is None:
        return each_lane(v, OPCODES[name].c_name, *texts)
    if v.kind == "f4" and name not in SINGLE:
        wide = v.of("f8")
        return wide.cast("fptrunc", call(wide, name, *(v.cast("fpext", x, wide) for x in texts)), v)
    return own(v, *texts) if v.fn.module.inline else as_function(v, name, own, *texts)


def _own(name: str) -> Emitter | None:
    from .compositions import COMPOSED
    from .mathematics import FUNCTIONS

    return FUNCTIONS.get(name) or COMPOSED.get(name)
