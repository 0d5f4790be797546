"""Lowering table: one row for each function that the compiler knows something about.

The recorder, the fused loops and the scalarized programs read the same row. Of a function without
one the result is looked at in every run, and NumPy calls it.
"""

import math
import operator
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np

from ...rules import dtype_of, getitem
from ...rules.linear.steps import part_at
from ...rules.rulesets.arrays.indexing import scatter
from ...rules.rulesets.arrays.interpolation import (
    interpolated,
    into_grid,
    into_plain_grid,
    on_plain_grid,
    slope_on_plain_grid,
    slopes_into_plain_grid,
)
from ...rules.rulesets.arrays.quotients import guarded_quotient
from ...rules.rulesets.linalg.norms import euclidean
from ...rules.rulesets.linalg.systems import inverse_or_nan
from ...rules.rulesets.linalg.triangular import cholesky_pull, inverse_of_lower, solve_by_blocks
from ...rules.table.compositions import with_value
from ...rules.tracing.funnel import astype, entry
from ...rules.tracing.level import Traced
from ...rules.tracing.writing import written


class Lowering(NamedTuple):
    """Facts about one function.

    Attributes
    ----------
    op
        The native operation that does the same to each entry.
    does
        The name of a lowering of its own, by which each way into machine code finds it.
    moves
        Whether it only moves entries, or leaves some out, by the shapes alone. Where every entry
        is a number by itself, NumPy does so to an array of the numbers of values.
    views
        Whether it shows the entries in another shape, or in another order of axes.
    one_shape
        Whether shape and dtype of its result depend on those of the arguments alone.
    raises
        Whether it raises for some numbers: singular matrices, wrong indices.
    """

    op: str = ""
    does: str = ""
    moves: bool = False
    views: bool = False
    one_shape: bool = False
    raises: bool = False


def _each(library: Any, names: str) -> dict[Any, Lowering]:
    """Return rows of functions that native operations of their names do to each entry."""
    return {getattr(library, name): Lowering(op=name) for name in names.split()}


def _own(library: Any, names: str) -> dict[Any, Lowering]:
    """Return rows of functions with lowerings of their names, which give one shape."""
    return {getattr(library, name): Lowering(does=name, one_shape=True) for name in names.split()}


_UNKNOWN = Lowering()
FUNCTIONS: dict[Any, Lowering] = {
    **_each(np, """
        add subtract multiply floor_divide remainder power negative absolute copysign fmod
        reciprocal less less_equal greater greater_equal equal not_equal isnan isinf isfinite
        maximum minimum fmax fmin logical_and logical_or logical_xor logical_not sqrt cbrt square
        hypot exp exp2 expm1 log log2 log10 log1p logaddexp sin cos tan sinh cosh tanh arcsin
        arccos arctan arctan2 arcsinh arccosh arctanh floor ceil trunc rint sign bitwise_and
        bitwise_or bitwise_xor invert
    """),
    **_each(math, "sqrt exp expm1 log log2 log10 log1p sin cos tan sinh cosh tanh hypot copysign "
                 "fmod"),
    np.true_divide: Lowering("divide"), np.float_power: Lowering("power"),
    np.fabs: Lowering("absolute"), operator.add: Lowering("add"),
    operator.sub: Lowering("subtract"), operator.mul: Lowering("multiply"),
    operator.truediv: Lowering("divide"), operator.floordiv: Lowering("floor_divide"),
    operator.mod: Lowering("remainder"), operator.pow: Lowering("power"),
    operator.neg: Lowering("negative"), operator.abs: Lowering("absolute"),
    operator.lt: Lowering("less"), operator.le: Lowering("less_equal"),
    operator.gt: Lowering("greater"), operator.ge: Lowering("greater_equal"),
    operator.eq: Lowering("equal"), operator.ne: Lowering("not_equal"),
    operator.and_: Lowering("bitwise_and"), operator.or_: Lowering("bitwise_or"),
    operator.xor: Lowering("bitwise_xor"), operator.invert: Lowering("invert"),
    math.asin: Lowering("arcsin"), math.acos: Lowering("arccos"), math.atan: Lowering("arctan"),
    math.atan2: Lowering("arctan2"), math.asinh: Lowering("arcsinh"),
    math.acosh: Lowering("arccosh"), math.atanh: Lowering("arctanh"), math.pow: Lowering("power"),
    math.fabs: Lowering("absolute"),
    # what only moves entries
    **dict.fromkeys((
        np.reshape, np.ravel, np.transpose, np.swapaxes, np.moveaxis, np.expand_dims, np.squeeze,
        np.broadcast_to, np.matrix_transpose,
    ), Lowering(moves=True, views=True)),
    **dict.fromkeys((
        np.vstack, np.hstack, np.copy, np.diag, np.diagonal, np.flip, np.roll, np.tile, np.repeat,
        np.atleast_1d, np.atleast_2d, np.fliplr, np.flipud, np.rollaxis, np.column_stack,
        np.dstack, np.split, np.delete, np.take, np.broadcast_arrays,
    ), Lowering(moves=True)),
    np.concatenate: Lowering(does="concatenate", moves=True),
    np.stack: Lowering(does="stack", moves=True),
    np.tril: Lowering(moves=True), np.triu: Lowering(moves=True),
    getitem: Lowering(views=True),
    # what has a lowering of its own
    **_own(np, """
        sum mean prod max min any all count_nonzero cumsum cumprod dot matmul outer zeros_like
        ones_like array clip real imag conjugate
    """),
    np.amax: Lowering(does="max", one_shape=True), np.amin: Lowering(does="min", one_shape=True),
    np.linalg.norm: Lowering(does="norm", one_shape=True), euclidean: Lowering(does="euclidean"),
    astype: Lowering(does="astype", one_shape=True), entry: Lowering(does="entry", one_shape=True),
    np.searchsorted: Lowering(does="searchsorted", one_shape=True),
    np.where: Lowering(does="where"), operator.matmul: Lowering(does="matmul"),
    operator.pos: Lowering(does="positive"),
    np.positive: Lowering(does="positive"), scatter: Lowering(does="scatter"),
    written: Lowering(does="written"), part_at: Lowering(does="part"),
    operator.getitem: Lowering(does="part"),
    with_value: Lowering(does="with_value", one_shape=True),
    guarded_quotient: Lowering(does="guarded_quotient"),
    # of tables
    **dict.fromkeys((on_plain_grid, interpolated), Lowering(does="interp", one_shape=True)),
    slope_on_plain_grid: Lowering(does="interp slope", one_shape=True),
    **dict.fromkeys(
        (into_plain_grid, into_grid), Lowering(does="interp transposed", one_shape=True)
    ),
    slopes_into_plain_grid: Lowering(does="interp slope transposed", one_shape=True),
    # of small matrices
    np.linalg.solve: Lowering(does="solve", one_shape=True, raises=True),
    solve_by_blocks: Lowering(does="solve", one_shape=True),
    np.linalg.inv: Lowering(does="inv", one_shape=True, raises=True),
    inverse_of_lower: Lowering(does="inverse_of_lower", one_shape=True),
    inverse_or_nan: Lowering(does="inverse_or_nan", one_shape=True),
    np.linalg.det: Lowering(does="det", one_shape=True),
    np.linalg.slogdet: Lowering(does="slogdet", one_shape=True),
    np.linalg.cholesky: Lowering(does="cholesky", one_shape=True, raises=True),
    cholesky_pull: Lowering(does="cholesky_pull", one_shape=True),
    # what NumPy calls, and of which it is known what comes of it
    **dict.fromkeys((
        np.fft.fft, np.fft.ifft, np.fft.rfft, np.fft.irfft, np.fft.hfft, np.fft.ihfft, np.fft.fft2,
        np.fft.ifft2, np.fft.rfft2, np.fft.irfft2, np.fft.fftn, np.fft.ifftn, np.fft.rfftn,
        np.fft.irfftn, np.fft.fftshift, np.fft.ifftshift,
    ), Lowering(one_shape=True)),
    **dict.fromkeys((
        np.var, np.std, np.vdot, np.inner, np.tensordot, np.einsum, np.kron, np.trace,
        np.full_like, np.argmax, np.argmin, np.argsort, np.sort, np.diff, np.round, np.cross,
    ), Lowering(one_shape=True)),
    **dict.fromkeys((
        np.linalg.eigh, np.take_along_axis,
    ), Lowering(one_shape=True, raises=True)),
}  # fmt: skip

#: Of booleans these operations are those of logic, as ``~`` and ``&`` are.
OF_BOOLEANS = {
    "bitwise_and": "logical_and", "bitwise_or": "logical_or", "bitwise_xor": "logical_xor",
    "invert": "logical_not", "multiply": "logical_and", "add": "logical_or",
    "maximum": "logical_or", "minimum": "logical_and",
}  # fmt: skip


def lowering_of(f: Any) -> Lowering:
    """Return the row of a function, which may be of any class; an empty one of what has none."""
    return FUNCTIONS.get(f, _UNKNOWN) if type(f).__hash__ is not None else _UNKNOWN


def may_raise(f: Any, args: tuple) -> bool:
    """Say whether ``f`` raises for some numbers, though it gives one shape.

    Of what has not one shape the structure is looked at, which keeps it in the program.
    """
    if f is getitem:
        index = args[1] if len(args) > 1 else ()
        return any(isinstance(x, Traced) for x in (index if type(index) is tuple else (index,)))
    return lowering_of(f).raises


def gives_one_shape(f: Any, args: tuple, kwargs: dict) -> bool:
    """Say whether shape and dtype of ``f(*args)`` are the same for all numbers in recorded ones."""
    if isinstance(f, np.ufunc) or getattr(f, "gives_one_shape", False):
        return True
    if f is getitem:
        index = args[1] if len(args) > 1 else kwargs.get("index")
        parts = index if type(index) is tuple else (index,)
        return not any(isinstance(part, Traced) and _kind(part) == "b" for part in parts)
    if f is np.where:
        return len(args) == 3
    if f is scatter:
        shape = args[1] if len(args) > 1 else kwargs["shape"]
        return not any(isinstance(n, Traced) for n in shape)
    if getattr(f, "__module__", None) == "math":
        return True
    is_method = isinstance(getattr(f, "__self__", None), np.ufunc)
    row = lowering_of(f)
    if not (is_method or row.moves or row.one_shape):
        return False
    # Axes and sizes are options, or whole numbers that come after the array.
    if kwargs and any(_kind(x) not in "fc" for x in _traced(kwargs.values())):
        return False
    return not any(row.moves or _kind(x) in "iu" for x in _traced(args[1:]))


def _traced(options: Iterable) -> Iterator[Traced]:
    for x in options:
        if isinstance(x, Traced):
            yield x
        elif type(x) is tuple or type(x) is list:
            yield from _traced(x)


def _kind(x: Any) -> str:
    dtype = getattr(x, "dtype", None)
    if dtype is None:  # a number of Python's; of what has none at all nothing is known
        dtype = dtype_of(x)
    return "i" if dtype is None else dtype.kind
