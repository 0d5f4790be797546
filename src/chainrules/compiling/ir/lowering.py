"""Lowering table: the native operation, if any, for each function of NumPy.

``np.add`` and ``operator.add`` are the operation "add" of ``native``. Functions that only move
entries need no code where every entry is a number by itself: they are run, by NumPy, on arrays of
the numbers of values.
"""

import math
import operator
from typing import Any

import numpy as np

from ...rules.rulesets.arrays.indexing import scatter

# Functions of each entry, by the operation of native code that does the same: most have its name.
_NUMPYS = """
    add subtract multiply floor_divide remainder power negative absolute copysign fmod reciprocal
    less less_equal greater greater_equal equal not_equal isnan isinf isfinite maximum minimum
    fmax fmin logical_and logical_or logical_xor logical_not sqrt cbrt square hypot exp exp2 expm1
    log log2 log10 log1p logaddexp sin cos tan sinh cosh tanh arcsin arccos arctan arctan2 arcsinh
    arccosh arctanh floor ceil trunc rint sign
"""
_MATHS = "sqrt exp expm1 log log2 log10 log1p sin cos tan sinh cosh tanh hypot copysign fmod"
ELEMENTWISE: dict[Any, str] = {
    **{getattr(np, name): name for name in _NUMPYS.split()},
    np.true_divide: "divide", np.float_power: "power", np.fabs: "absolute",
    operator.add: "add", operator.sub: "subtract", operator.mul: "multiply",
    operator.truediv: "divide", operator.floordiv: "floor_divide", operator.mod: "remainder",
    operator.pow: "power", operator.neg: "negative", operator.abs: "absolute",
    operator.lt: "less", operator.le: "less_equal", operator.gt: "greater",
    operator.ge: "greater_equal", operator.eq: "equal", operator.ne: "not_equal",
    **{getattr(math, name): name for name in _MATHS.split()},
    math.asin: "arcsin", math.acos: "arccos", math.atan: "arctan", math.atan2: "arctan2",
    math.asinh: "arcsinh", math.acosh: "arccosh", math.atanh: "arctanh",
    math.pow: "power", math.fabs: "absolute",
}  # fmt: skip

# Of truths these are the operations of logic, as ``~`` and ``&`` are.
OF_TRUTHS: dict[Any, str] = {
    operator.and_: "logical_and", np.bitwise_and: "logical_and",
    operator.or_: "logical_or", np.bitwise_or: "logical_or",
    operator.xor: "logical_xor", np.bitwise_xor: "logical_xor",
    operator.invert: "logical_not", np.invert: "logical_not",
    operator.mul: "logical_and", np.multiply: "logical_and",
    operator.add: "logical_or", np.add: "logical_or",
    np.maximum: "logical_or", np.minimum: "logical_and",
}  # fmt: skip

# And of whole numbers these.
OF_WHOLE: dict[Any, str] = {
    operator.and_: "bitwise_and", np.bitwise_and: "bitwise_and",
    operator.or_: "bitwise_or", np.bitwise_or: "bitwise_or",
    operator.xor: "bitwise_xor", np.bitwise_xor: "bitwise_xor",
    operator.invert: "invert", np.invert: "invert",
}  # fmt: skip

# Operations on truths: all others, comparisons too, take truths as numbers.
LOGIC = frozenset({"logical_and", "logical_or", "logical_xor", "logical_not"})

# Functions that show the entries of an array in another shape, or in another order of axes.
VIEWS = frozenset({
    np.reshape, np.ravel, np.transpose, np.swapaxes, np.moveaxis, np.expand_dims, np.squeeze,
    np.broadcast_to, np.matrix_transpose,
})  # fmt: skip

# And all that only move entries, or leave some out, by the shapes alone.
MOVING = VIEWS | {
    np.concatenate, np.stack, np.vstack, np.hstack, np.copy, np.diag, np.diagonal, np.flip, np.roll,
    np.tile, np.repeat, np.atleast_1d, np.atleast_2d, np.fliplr, np.flipud, np.rollaxis,
    np.column_stack, np.dstack, np.split, np.delete, np.take, np.broadcast_arrays,
}  # fmt: skip


def moves(f: Any) -> bool:
    return type(f).__hash__ is not None and f in MOVING


__all__ = ["ELEMENTWISE", "LOGIC", "MOVING", "OF_TRUTHS", "OF_WHOLE", "VIEWS", "moves", "scatter"]
