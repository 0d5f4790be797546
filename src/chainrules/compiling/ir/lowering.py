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

# Functions of each entry, by the operation of native code that does the same.
ELEMENTWISE: dict[Any, str] = {
    operator.add: "add", np.add: "add",
    operator.sub: "subtract", np.subtract: "subtract",
    operator.mul: "multiply", np.multiply: "multiply",
    operator.truediv: "divide", np.true_divide: "divide",
    operator.floordiv: "floor_divide", np.floor_divide: "floor_divide",
    operator.mod: "remainder", np.remainder: "remainder",
    operator.pow: "power", np.power: "power", np.float_power: "power",
    operator.neg: "negative", np.negative: "negative",
    operator.abs: "absolute", np.absolute: "absolute", np.fabs: "absolute",
    operator.lt: "less", np.less: "less", operator.le: "less_equal", np.less_equal: "less_equal",
    operator.gt: "greater", np.greater: "greater",
    operator.ge: "greater_equal", np.greater_equal: "greater_equal",
    operator.eq: "equal", np.equal: "equal", operator.ne: "not_equal", np.not_equal: "not_equal",
    np.logical_and: "logical_and", np.logical_or: "logical_or", np.logical_xor: "logical_xor",
    np.logical_not: "logical_not",
    np.isnan: "isnan", np.isinf: "isinf", np.isfinite: "isfinite",
    np.maximum: "maximum", np.minimum: "minimum", np.fmax: "fmax", np.fmin: "fmin",
    np.sqrt: "sqrt", np.cbrt: "cbrt", np.square: "square", np.reciprocal: "reciprocal",
    np.exp: "exp", np.exp2: "exp2", np.expm1: "expm1",
    np.log: "log", np.log2: "log2", np.log10: "log10", np.log1p: "log1p",
    np.sin: "sin", np.cos: "cos", np.tan: "tan",
    np.sinh: "sinh", np.cosh: "cosh", np.tanh: "tanh",
    np.arcsin: "arcsin", np.arccos: "arccos", np.arctan: "arctan", np.arctan2: "arctan2",
    np.arcsinh: "arcsinh", np.arccosh: "arccosh", np.arctanh: "arctanh",
    np.hypot: "hypot", np.floor: "floor", np.ceil: "ceil", np.trunc: "trunc", np.rint: "rint",
    np.sign: "sign", np.copysign: "copysign", np.fmod: "fmod", np.logaddexp: "logaddexp",
    math.sqrt: "sqrt", math.exp: "exp", math.expm1: "expm1", math.log: "log", math.log2: "log2",
    math.log10: "log10", math.log1p: "log1p", math.sin: "sin", math.cos: "cos", math.tan: "tan",
    math.sinh: "sinh", math.cosh: "cosh", math.tanh: "tanh", math.asin: "arcsin",
    math.acos: "arccos", math.atan: "arctan", math.asinh: "arcsinh", math.acosh: "arccosh",
    math.atanh: "arctanh", math.pow: "power", math.atan2: "arctan2", math.hypot: "hypot",
    math.fabs: "absolute", math.copysign: "copysign", math.fmod: "fmod",
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

# Functions that only move entries, or leave some out, by the shapes alone.
MOVING = frozenset({
    np.reshape, np.ravel, np.transpose, np.swapaxes, np.moveaxis, np.expand_dims, np.squeeze,
    np.broadcast_to, np.concatenate, np.stack, np.vstack, np.hstack, np.copy, np.diag, np.diagonal,
    np.flip, np.roll, np.tile, np.repeat, np.matrix_transpose, np.atleast_1d, np.atleast_2d,
    np.fliplr, np.flipud, np.rollaxis, np.column_stack, np.dstack, np.split, np.delete, np.take,
    np.broadcast_arrays,
})  # fmt: skip

__all__ = ["ELEMENTWISE", "LOGIC", "MOVING", "OF_TRUTHS", "OF_WHOLE", "scatter"]
