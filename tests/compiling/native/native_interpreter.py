"""Reference for kernels: the same operations by NumPy, one after the other."""

import numpy as np

from chainrules.compiling import native
from chainrules.compiling.native import NativeConstant, Operation, Request
from chainrules.compiling.native.assembly.operations import CONVERSIONS

REDUCE = {
    "sum": np.sum,
    "prod": np.prod,
    "max": np.max,
    "min": np.min,
    "any": np.any,
    "all": np.all,
}


def op(name, *operands):
    """Return an operation of native code: integers are numbers of values, all else constants."""
    return Operation(name, tuple(x if type(x) is int else NativeConstant(x) for x in operands))


def build(shape, inputs, ops, outputs, threads=1):
    """Return a kernel."""
    return native.build(Request(shape, inputs, ops, outputs), threads)


def apply(name, *xs):
    """One operation of native code by NumPy."""
    if name == "where":
        return np.where(*xs)
    if name in CONVERSIONS:
        return np.asarray(xs[0]).astype(CONVERSIONS[name])
    return getattr(np, name)(*xs)


def interpret(values, ops):
    """All values: the inputs, then the result of each operation."""
    values = list(values)
    with np.errstate(all="ignore"):
        for operation in ops:
            xs = [values[x] if type(x) is int else x.x for x in operation.operands]
            values.append(apply(operation.function, *xs))
    return values
