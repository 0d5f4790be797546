"""What the pattern of a linear program depends on, in parts that can be compared.

A pattern that was found for one program holds for another that has an equal structure.
"""

from types import BuiltinFunctionType, FunctionType
from typing import Any

import numpy as np

from ..annotations import Value
from ..containers import iterate_leaves
from ..shapes import shape_of
from ..tangents.structural import AbstractZero
from ..tracing.level import value
from .patterns import INTEGERS, NOTHING, NUMBERS, what_is_read
from .program import LinearProgram
from .steps import Slot

# What is equal where it is the same, beside numbers, arrays and what holds these.
_COMPARED = (
    int, str, bytes, slice, type(None), type(...), type, np.dtype, np.ufunc, FunctionType,
    BuiltinFunctionType,
)  # fmt: skip


def structure_of(program: LinearProgram) -> list:
    """Return of each step its function, which results it reads, and what else its pattern reads.

    A step that reads a result which depends on no input reads numbers, of which nothing else is
    known; so there, and where that result was made, all numbers count.
    """
    followed = set(program.inputs)
    structure: list = [list(program.inputs)]
    for index, f, args, kwargs, places, _ in program.plan:
        if kwargs is None:
            reads = [read for read in places if read is not None]
        elif places is None:
            reads = [x.position for x in iterate_leaves((args, kwargs)) if type(x) is Slot]
        else:
            reads = [read for _, read in places]
        if not followed.isdisjoint(reads):
            followed.add(index)
        look = what_is_read(f) if reads and followed.issuperset(reads) else NUMBERS
        structure.append((index, f, reads, described(args, look), described(kwargs, look)))
    structure.append([y.position if type(y) is Slot else None for y in program.outputs])
    return structure


def described(x: Value, look: int) -> Any:
    """Return what counts of an argument, in parts that are equal where it is the same.

    What cannot be compared is equal to nothing.
    """
    cls = type(x)
    if cls is Slot or issubclass(cls, AbstractZero):
        return cls
    if cls is tuple or cls is list:
        return cls, [described(part, look) for part in x]
    if cls is dict:
        return [(name, described(part, look)) for name, part in x.items()]
    x = value(x)
    if look == NOTHING:
        return shape_of(x)
    if isinstance(x, np.generic | float | complex):
        x = np.asarray(x)
    if type(x) is not np.ndarray:
        return (cls, x) if isinstance(x, _COMPARED) else object()
    if x.dtype.kind not in "fc" or look == NUMBERS:
        return object() if x.dtype.kind == "O" else (x.shape, x.dtype.str, x.tobytes())
    return x.shape if look == INTEGERS else (x.shape, np.packbits(x != 0).tobytes())
