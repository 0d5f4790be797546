"""Calls of every function that has a linear or a bilinear rule, with all that it can be told.

``Dot`` stands for an argument in which the call is linear. Calls that NumPy itself refuses are
left out where the tests run them.
"""

import importlib
import inspect
import itertools
import math
from collections import Counter
from pathlib import Path
from typing import NamedTuple

import numpy as np

from chainrules.rules import astype, entry, frule, getitem
from chainrules.rules.rulesets.arrays.along_axes.counts import weighted_counts
from chainrules.rules.rulesets.arrays.along_axes.differences import differences, slopes
from chainrules.rules.rulesets.arrays.along_axes.ordering import mean_in_groups
from chainrules.rules.rulesets.arrays.indexing import scatter
from chainrules.rules.rulesets.arrays.interpolation import (
    into_plain_grid,
    on_plain_grid,
    rows_into_two,
    slope_on_plain_grid,
    slopes_into_plain_grid,
)
from chainrules.rules.rulesets.arrays.shapes import pad_zeros

SHAPES = [(), (1,), (3,), (0,), (2, 3), (3, 1), (2, 0), (2, 3, 4), (2, 3, 2), (2, 1, 3, 2)]
REFUSED = (ValueError, TypeError, IndexError, np.linalg.LinAlgError)


class Dot(NamedTuple):
    """A tangent that is still to be given."""

    shape: tuple
    dtype: type = float


def rules():
    """Return every function of ours and of NumPy's with a linear or a bilinear rule."""
    return {f for f, kind in frule.kinds.items() if kind.linear and is_ours(f)}


def is_ours(f):
    """Say whether ``f`` is ours or NumPy's.

    Not so are those of SciPy, of other tests and of examples in docstrings, which have rules if
    these have been loaded before.
    """
    code = getattr(inspect.unwrap(f), "__code__", None)
    if code is not None and code.co_filename.startswith("<doctest "):
        return False
    return home_of(f).startswith(("numpy", "chainrules")) and not is_of_scipy(f)


def is_of_scipy(f):
    return home_of(f).startswith(("scipy", "chainrules.rules.rulesets.scipy"))


def home_of(f):
    return getattr(f, "__module__", None) or type(f.__self__).__module__


# ---- forms of an index ------------------------------------------------------------------------


def indices(shape, count, seed=0):
    """Return indices of all forms that NumPy takes for an array of ``shape``."""
    rng = np.random.default_rng((seed, len(shape), *shape))
    found = [(), ..., None, (None, ...), (..., None), True, np.array(True), (True, ...), False]
    for _ in range(count):
        parts = [part_of_index(n, rng) for n in shape[: rng.integers(0, len(shape) + 1)]]
        for extra in (None, None, True, np.True_):
            if rng.random() < 0.15:
                parts.insert(rng.integers(0, len(parts) + 1), extra)
        if rng.random() < 0.5:
            at = rng.integers(0, len(parts) + 1)
            # What stands behind the dots reads the last axes.
            after = [part_of_index(n, rng) for n in shape[len(shape) - (len(parts) - at) :]]
            parts = [*parts[:at], ..., *after]
        found.append(parts[0] if len(parts) == 1 and rng.random() < 0.5 else tuple(parts))
    if shape:
        found += [rng.random(shape) > 0.5, (rng.random(shape[:1]) > 0.5, ...)]
    if len(shape) > 1:
        found += [rng.random(shape[:2]) > 0.5, (..., rng.random(shape[-2:]) > 0.5)]
    return [index for index in found if reads(shape, index)]


def part_of_index(n, rng):
    numbers = rng.integers(-n, n, 3) if n else np.zeros(0, int)
    columns = rng.integers(0, n, (2, 1)) if n else np.zeros((0, 1), int)
    first = int(numbers[0]) if n else slice(None)
    parts = [
        slice(None), slice(1, None), slice(None, None, -1), slice(-1, None, -2), slice(0, 0),
        first, np.int64(first) if n else slice(None), numbers, numbers.tolist(), columns,
        rng.permutation(n), rng.random(n) > 0.5, (rng.random(n) > 0.5).tolist(),
        np.array(first) if n else slice(None), tuple(numbers.tolist()),
    ]  # fmt: skip
    return parts[rng.integers(len(parts))]


def reads(shape, index):
    try:
        np.zeros(shape)[index]
    except IndexError:
        return False
    return True


# ---- functions of one array -------------------------------------------------------------------


def axes_of(shape):
    rank = len(shape)
    yield from (None, 0, -1, *range(1, rank), ())
    yield from itertools.combinations(range(rank), 2)
    if rank > 1:
        yield from ((-1, 0), tuple(range(rank)))


def pairs_of(shape):
    rank = len(shape)
    yield from itertools.permutations(range(rank), 2)
    if rank > 1:
        yield from ((-1, 0), (0, -2))


def reductions(shape):
    flags = np.random.default_rng(7).random(shape) > 0.4
    for axis in axes_of(shape):
        for keepdims in (False, True):
            yield {"axis": axis, "keepdims": keepdims}
        yield {"axis": axis, "where": flags}
        yield {"axis": axis, "where": flags[..., :1]} if shape else {}
        yield {"axis": axis, "dtype": np.float32}


def calls_of_one(shape):
    """Yield ``(f, arguments after the first, options)``."""
    rank, size = len(shape), math.prod(shape)
    for options in reductions(shape):
        yield np.sum, (), options
        yield np.mean, (), options
    for f in (np.copy, np.real, np.imag, np.conj, np.ravel, np.squeeze, np.transpose, np.flip):
        yield f, (), {}
    for f in (np.fliplr, np.flipud, np.rot90, np.matrix_transpose, np.linalg.matrix_transpose):
        yield f, (), {}
    yield np.ravel, ("F",), {}
    yield np.copy, (), {"order": "F"}
    yield astype, (np.float32,), {}
    yield astype, (complex,), {}
    for axis in axes_of(shape):
        yield np.cumsum, (axis,), {}
        yield np.cumsum, (axis, np.float32), {}
        yield np.cumulative_sum, (), {"axis": axis}
        yield np.cumulative_sum, (), {"axis": axis, "include_initial": True}
        yield np.squeeze, (axis,), {}
        yield np.flip, (axis,), {}
        yield np.expand_dims, (axis,), {}
        yield np.repeat, (2,), {"axis": axis}
        yield np.repeat, (np.arange(size if axis is None else shape[0] if shape else 1), axis), {}
        yield np.take, ([0, 0, -1], axis), {}
        yield np.take, (np.array([[1, 0]]),), {"axis": axis}
        yield np.take, (0, axis), {}
        yield np.take, ([5, -7], axis, None, "wrap"), {}
        yield np.take, ([5, -7], axis, None, "clip"), {}
        yield np.fft.fftshift, (), {"axes": axis}
        yield np.fft.ifftshift, (), {"axes": axis}
        for shift in (1, -2, (1, 2)):
            yield np.roll, (shift, axis), {}
        if type(axis) is int and rank:
            yield differences, (1, axis), {}
            yield differences, (2, axis), {}
            if shape[-1] > 2:
                yield slopes, (1,), {}
                yield slopes, (2,), {}
            for index in along(shape, axis):
                yield np.take_along_axis, (index, axis), {}
            for by_one in (np.fft.fft, np.fft.ifft, np.fft.hfft, np.fft.irfft, np.fft.rfft,
                           np.fft.ihfft):  # fmt: skip
                for n in (None, 1, 2, 5):
                    yield by_one, (n, axis, "ortho"), {}
            for start in range(rank + 1):
                yield np.rollaxis, (axis, start), {}
            yield np.add.reduceat, ([0, 1, 0], axis), {}
    yield np.take_along_axis, (np.arange(size), None), {}
    for by_several in (np.fft.fftn, np.fft.ifftn, np.fft.rfftn, np.fft.irfftn):
        yield from [(by_several, arguments, {}) for arguments in several(shape)]
    for by_two in (np.fft.fft2, np.fft.ifft2, np.fft.rfft2, np.fft.irfft2):
        yield from [(by_two, arguments, {}) for arguments in several(shape) if arguments[1:]]
        yield by_two, (), {}
    for order in ("C", "F"):
        for new in (-1, (size,), (1, -1), (size, 1), (2, -1), (-1, 3), [size], (*shape[::-1], 1)):
            yield np.reshape, (new,), {"order": order}
    for new in (shape, (2, *shape), (4, 1, *shape), [*shape], 3):
        yield np.broadcast_to, (new,), {}
    for order in itertools.permutations(range(rank)):
        yield np.transpose, (order,), {}
        yield np.transpose, (tuple(k - rank for k in order),), {}
        yield np.moveaxis, (tuple(range(rank)), order), {}
    for a, b in pairs_of(shape):
        yield np.swapaxes, (a, b), {}
        yield np.moveaxis, (a, b), {}
        yield np.rot90, (3, (a, b)), {}
        yield np.rot90, (2,), {"axes": (a, b)}
        for offset in (0, 1, -1, 5):
            yield np.diagonal, (offset, a, b), {}
            yield np.trace, (offset, a, b), {}
        yield np.trace, (), {"axis1": a, "axis2": b, "dtype": np.float32}
    for k in (0, 1, -1, 5):
        for f in (np.diag, np.diagflat, np.tril, np.triu):
            yield f, (k,), {}
        for f in (np.linalg.diagonal, np.linalg.trace):
            yield f, (), {"offset": k}
    for reps in (2, (2, 1), (1, 2, 3), (), np.array([2, 2]), 0):
        yield np.tile, (reps,), {}
    for width in (0, 1, (1, 2), [(k, 1) for k in range(rank)], {-1: (2, 0)}):
        yield pad_zeros, (width,), {}
    if rank == 1 and size:
        yield weighted_counts, (np.arange(size) // 2, 0), {}
        yield weighted_counts, (np.arange(size) % 2, 7), {}


def along(shape, axis):
    rng = np.random.default_rng(5)
    one = [1 if k == axis % len(shape) else n for k, n in enumerate(shape)]
    if shape[axis]:
        yield rng.integers(0, shape[axis], shape)
        yield rng.integers(0, shape[axis], one)
        yield np.zeros((1,) * len(shape), int)


def several(shape):
    rank = len(shape)
    if 0 in shape:
        return  # of nothing NumPy 2.4 makes whatever lies in memory
    yield ()
    yield (None, None, "ortho")
    for axes in pairs_of(shape):
        yield None, axes
        yield (3, 2), axes
    if rank:
        yield (2,), (0,)
        yield (4,) * rank, None if rank == 1 else tuple(range(rank))


def index_calls(count):
    """Yield reads and their transposes, for indices of all forms."""
    for shape in SHAPES:
        for index in indices(shape, count):
            for dtype in (float, np.float32):
                read = np.shape(np.zeros(shape)[index])
                yield getitem, (Dot(shape, dtype), index), {}
                yield scatter, (Dot(read, dtype), shape, np.dtype(dtype), index), {}


def calls_of_entries():
    for shape in SHAPES:
        for place in (0, -1) if 0 not in shape else ():
            for dtype in (float, np.float32, complex):
                yield entry, (Dot(shape, dtype), (place,) * len(shape)), {}


def calls_of_groups():
    """Yield means over neighbours, of which some are ties."""
    for ties in (np.array([True, False, True]), np.arange(6).reshape(2, 3) % 2 == 0):
        for dtype in (float, complex):
            yield mean_in_groups, (Dot((*ties.shape[:-1], 4), dtype), ties), {}


def calls_between_places():
    """Yield interpolation at places of a constant grid, inside, on and outside of it."""
    for x in (
        np.array([-0.5, 0.3, 1.0, 2.0, 9.0]),
        np.array([[0.2], [1.7]]),
        np.zeros(0),
        0.4,
        9.0,
    ):
        for dtype in (float, complex):
            for f in (on_plain_grid, slope_on_plain_grid):
                yield f, (Dot((3,), dtype), x, np.arange(3.0)), {}
            for f in (into_plain_grid, slopes_into_plain_grid):
                yield f, (Dot(np.shape(x), dtype), (3,), x, np.arange(3.0)), {}
            k, part = np.full(np.shape(x), 1), np.full(np.shape(x), 0.3)
            yield rows_into_two, (Dot((2, *np.shape(x)), dtype), (3,), k, k + 1, 1 - part, part), {}


def unary_calls():
    calls = Counter()
    for shape in SHAPES:
        for f, rest, options in calls_of_one(shape):
            calls[f] += 1
            for dtype in (float, (np.float32, complex)[calls[f] % 2]):
                yield f, (Dot(shape, dtype), *rest), options


def joining_calls():
    parts = [
        [Dot((3,)), np.ones(2)], [np.ones(2), Dot((3,), np.float32)], [Dot(()), 1.0],
        [Dot(()), np.ones(2)], [np.ones(2, np.float32), Dot((), np.float32)],
        [Dot((2, 3)), np.ones((2, 3))], [Dot((3,)), Dot((3,))], [Dot((3,)), np.ones((2, 3))],
        [np.ones((2, 3)), Dot((3,))], (Dot((2, 3)), Dot((2, 3), np.float32)),
        [Dot((2, 1, 3)), np.ones((2, 1, 3))], [Dot((2, 3)), Dot((2, 3)), Dot((2, 3), complex)],
        [Dot((0,)), Dot((3,))], [Dot((3,))],
    ]  # fmt: skip
    for arrays in parts:
        for f in (np.concatenate, np.stack):
            for axis in (0, 1, -1, None, 2, -2):
                yield f, (arrays,), {"axis": axis}
                yield f, (arrays, axis), {"dtype": np.float32, "casting": "unsafe"}
        for f in (np.hstack, np.vstack, np.dstack, np.column_stack):
            yield f, (arrays,), {}
    for f in (np.concatenate, np.stack, np.hstack, np.vstack, np.dstack, np.column_stack):
        for shape in ((3, 2), (2, 3, 2), (2, 1, 3, 2)):
            yield f, (Dot(shape),), {}


# ---- products ---------------------------------------------------------------------------------


def array(shape, dtype=float):
    """Return numbers with a zero among them, so that a pattern may be smaller than all."""
    x = np.random.default_rng((3, *shape)).normal(size=shape)
    if dtype is complex:
        x = x + 1j * np.random.default_rng((4, *shape)).normal(size=shape)
    x = np.asarray(x).astype(dtype)
    if x.size > 1:
        x.flat[1] = 0
    return x


def product_calls():
    operands = [(), (1,), (3,), (0,), (2, 3), (3, 2), (3, 3), (2, 2, 3), (2, 3, 2), (4, 1, 3, 3)]
    kinds = itertools.cycle([(float, float), (np.float32, np.float32), (float, complex)])
    for a, b in itertools.product(operands, operands):
        for (f, options), (left, right) in zip(products(a, b), kinds, strict=False):
            yield f, (Dot(a, left), array(b, right)), options
            yield f, (array(a, left), Dot(b, right)), options


def products(a, b):
    for f in (np.matmul, np.linalg.matmul, np.dot, np.inner, np.outer, np.linalg.outer, np.vdot,
              np.kron, np.cross, np.matvec, np.vecmat, np.vecdot, np.linalg.vecdot):  # fmt: skip
        yield f, {}
    for axis in (0, -2):
        yield np.vecdot, {"axis": axis}
    yield np.linalg.vecdot, {"axis": -2}
    yield np.cross, {"axis": 0}
    for axes in (0, 1, 2, ((-1,), (0,)), ((0, 1), (1, 0)), (0, 0), (-1, -1), ([], [])):
        yield np.tensordot, {"axes": axes}
        yield np.linalg.tensordot, {"axes": axes}
    for mode in ("full", "same", "valid"):
        yield np.convolve, {"mode": mode}


def einsum_calls():
    written = [
        ("ij,jk->ik", (2, 3), (3, 4)), ("ij,jk", (2, 3), (3, 4)), ("ii", (3, 3)), ("ii->i", (3, 3)),
        ("ij->ji", (2, 3)), ("...ij->...", (2, 3, 4)), ("...i,i", (2, 4, 3), (3,)),
        ("i...,i...->...", (2, 3), (2, 1)), ("ij,jk,kl->il", (2, 3), (3, 2), (2, 3)),
        ("a,b->ab", (2,), (3,)), (",i", (), (3,)), ("i,i->", (3,), (3,)), ("ijk->", (2, 3, 2)),
        ("ij,j", (1, 3), (3,)), ("ij,ij->j", (2, 3), (1, 3)),
    ]  # fmt: skip
    for subscripts, *shapes in written:
        for k in range(len(shapes)):
            for options in ({}, {"optimize": True}):
                yield np.einsum, (subscripts, *placed(shapes, k, float)), options
            yield np.einsum, (subscripts, *placed(shapes, k, np.float32)), {}
    yield np.einsum, (Dot((2, 3)), [0, 1], array((3,)), [1], [0]), {}
    yield np.einsum, (array((2, 3)), [0, ...], Dot((2,)), [0]), {}


def placed(shapes, k, dtype):
    return [Dot(s, dtype) if i == k else array(s, dtype) for i, s in enumerate(shapes)]


def solve_calls():
    a = array((3, 3)) + 3 * np.eye(3)
    for b in ((3,), (3, 2), (3, 0), (2, 3, 2)):
        yield np.linalg.solve, (a, Dot(b)), {}
        yield np.linalg.solve, (a.astype(np.float32), Dot(b, np.float32)), {}
    yield np.linalg.solve, (np.stack([a, a + 1]), Dot((2, 3, 1))), {}


# ---- entry by entry ---------------------------------------------------------------------------


def elementwise_calls():
    shapes = [(), (1,), (3,), (2, 3), (2, 1), (4, 1, 3)]
    for a, b in itertools.product(shapes, shapes):
        for dtype in (float, np.float32):
            yield np.multiply, (Dot(a, dtype), array(b, dtype)), {}
            yield np.multiply, (array(a), Dot(b, dtype)), {}
            yield np.true_divide, (Dot(a, dtype), 2.0 + np.abs(array(b))), {}
            yield np.add, (Dot(a, dtype), Dot(b, dtype)), {}
            yield np.subtract, (Dot(a, dtype), Dot(b, dtype)), {}
            yield np.where, (array(a) > 0, Dot(b, dtype), 0), {}
            yield np.where, (array(a) > 0, 0, Dot(b, dtype)), {}
            yield np.where, (array(b) > 0, Dot(a, dtype), Dot((3,), dtype)), {}
    for a in shapes:
        yield np.negative, (Dot(a),), {}
        yield np.multiply, (Dot(a), [1.0, 0.0, 2.0]), {}
        yield np.conj, (Dot(a, complex),), {}


# ---- those of the tables of rules -------------------------------------------------------------


def table_calls():
    """Yield the cases in the tables of every rule, in each argument of a linear one."""
    folder = Path(__file__).parent.parent / "rulesets"
    linear = {f: kind.count for f, kind in frule.kinds.items()
              if kind.linear}  # fmt: skip
    for path in sorted(folder.glob("cases_*.py")):
        for f, cases in importlib.import_module(path.stem).CASES.items():
            for args, options in cases:
                for k in range(min(linear.get(f, 0), len(args))):
                    if not isinstance(args[k], str):  # the subscripts of an einsum
                        dotted = [dot(x) if i == k else x for i, x in enumerate(args)]
                        yield f, tuple(dotted), options


def dot(x):
    if isinstance(x, list | tuple):
        return type(x)([dot(part) for part in x])
    x = np.asarray(x)
    return Dot(x.shape, x.dtype.type if x.dtype.kind in "fc" else float)


def calls(index_forms):
    """Yield every call, as ``(f, args, kwargs)``."""
    yield from index_calls(index_forms)
    yield from calls_of_entries()
    yield from calls_between_places()
    yield from calls_of_groups()
    yield from unary_calls()
    yield from joining_calls()
    yield from product_calls()
    yield from einsum_calls()
    yield from solve_calls()
    yield from elementwise_calls()
    yield from table_calls()
