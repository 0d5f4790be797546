"""What linear functions of NumPy do to the pattern of what an array depends on."""

import math
import string

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from ..calls import astype, getitem
from ..levels import value
from ..patterns import (
    Pattern,
    entry_by_entry,
    matrix,
    moves,
    number,
    pattern_rule,
    refuse_too_many,
)
from ..project import shape_of
from ..writing import written
from .numpy_differences import differences
from .numpy_einsum import read_call
from .numpy_indexing import scatter
from .numpy_shapes import pad_zeros

# An einsum that adds up so many products is not looked into.
PRODUCTS = 10**7

moves(np.copy, getitem, np.take, np.take_along_axis)
moves(np.reshape, np.ravel, np.expand_dims, np.squeeze, np.broadcast_to, np.transpose)
moves(np.matrix_transpose, np.linalg.matrix_transpose, np.swapaxes, np.moveaxis, np.rollaxis)
moves(np.flip, np.fliplr, np.flipud, np.rot90, np.roll, np.repeat, np.tile, pad_zeros)
moves(sliding_window_view, np.tril, np.triu, np.diagonal, np.linalg.diagonal, np.diag, np.diagflat)
moves(np.concatenate, np.stack, np.vstack, np.hstack, np.dstack, np.column_stack, np.split)
moves(np.fft.fftshift, np.fft.ifftshift)


@pattern_rule(astype, np.real, np.imag, np.conj)
def same_pattern(x, dtype=None, **options):
    return x


@pattern_rule(np.sum, np.mean)
def sum_pattern(x, axis=None, dtype=None, out=None, keepdims=False, **options):
    entries = np.ones(x.shape)
    reduced = np.sum(entries, axis=axis, keepdims=True)
    places = np.broadcast_to(np.arange(reduced.size).reshape(reduced.shape), x.shape)
    groups = matrix(places, np.arange(x.size), (reduced.size, x.size))
    return Pattern(np.sum(entries, axis=axis, keepdims=keepdims).shape, groups @ x.rows)


@pattern_rule(scatter)
def scatter_pattern(x, shape, dtype, index):
    size = math.prod(shape)
    places = np.broadcast_to(np.arange(size).reshape(shape)[index], x.shape)
    return Pattern(shape, matrix(places, np.arange(x.size), (size, x.size)) @ x.rows)


@pattern_rule(written)
def written_pattern(x, path, index, v, axes=None):
    (ids, written_ids), whole = number([x, v])
    return whole.taken(written(ids, path, index, written_ids, axes))


@pattern_rule(differences)
def differences_pattern(x, n, axis):
    for _ in range(n):
        ids = np.moveaxis(x.ids, axis, -1)
        ids, previous = (np.moveaxis(part, -1, axis) for part in (ids[..., 1:], ids[..., :-1]))
        x = Pattern(ids.shape, x.taken(ids).rows + x.taken(previous).rows)
    return x


@pattern_rule(np.cumsum)
def cumsum_pattern(x, axis=None, dtype=None, out=None):
    # Each entry depends on the one before it in the result, and on its own.
    if axis is None or x.rank == 0:
        x, axis = Pattern((x.size,), x.rows), 0
    ids = np.moveaxis(x.ids, axis, 0)
    rows = [x.taken(ids[0]).rows] if len(ids) else []
    for k in range(1, len(ids)):
        rows.append(rows[-1] + x.taken(ids[k]).rows)
    return stacked(rows, ids.shape, axis, x)


def stacked(rows, shape, axis, x):
    """Return the pattern of an array from that of each of its parts along one axis."""
    from scipy import sparse

    if not rows:
        return x
    moved = Pattern(shape, sparse.vstack(rows, "csr"))
    return moved.taken(np.moveaxis(moved.ids, 0, axis))


@pattern_rule(np.convolve)
def convolve_pattern(a, v, mode="full"):
    if type(a) is type(v):
        return NotImplemented
    x, kernel = (a, np.ravel(value(v))) if type(a) is Pattern else (v, np.ravel(value(a)))
    full = x.size + kernel.size - 1
    taps = np.flatnonzero(kernel != 0)
    places = np.arange(x.size)[:, None] + taps
    sources = np.broadcast_to(np.arange(x.size)[:, None], places.shape)
    whole = Pattern((full,), matrix(places, sources, (full, x.size)) @ x.rows)
    ones = np.ones(x.size), np.ones(kernel.size)
    n = np.convolve(*ones, mode).size
    first = 0 if mode == "full" else (full - n) // 2
    return whole.taken(whole.ids[first : first + n])


# ---- products -------------------------------------------------------------------------------


def einsum_pattern(*args, **options):
    """Return the pattern of an einsum, from every product of entries that it adds up."""
    sized = [np.empty(x.shape) if type(x) is Pattern else x for x in args]
    subscripts, positions = read_call(sized)
    operands = [args[i] for i in positions]
    lengths = {
        letter: n
        for term, x in zip(subscripts.inputs, operands)
        for letter, n in zip(term, shape_of(x))
        if n != 1
    }
    letters = sorted({letter for term in subscripts.inputs for letter in term})
    patterns = [x for x in operands if type(x) is Pattern]
    sizes = [lengths.get(letter, 1) for letter in letters]
    if len(patterns) != 1 or math.prod(sizes) > PRODUCTS:
        return NotImplemented
    term = subscripts.inputs[[x is patterns[0] for x in operands].index(True)]
    shape = tuple(lengths.get(letter, 1) for letter in subscripts.output)
    grid = dict(zip(letters, np.ogrid[tuple(map(slice, sizes))]))

    def places(term, shape):
        found = np.zeros(sizes, int)
        for letter, n in zip(term, shape):
            found = found * n + (grid[letter] if n != 1 else 0)
        return found

    used = np.ones(sizes, bool)
    for x, other in zip(operands, subscripts.inputs):
        if x is not patterns[0]:
            used &= (np.ravel(value(x)) != 0)[places(other, shape_of(x))]
    x = patterns[0]
    flags = matrix(
        places(subscripts.output, shape)[used],
        places(term, x.shape)[used],
        (math.prod(shape), x.size),
    )
    return Pattern(shape, flags @ x.rows)


pattern_rule(np.einsum)(einsum_pattern)


@pattern_rule(np.outer, np.linalg.outer)
def outer_pattern(a, b):
    return einsum_pattern("i,j->ij", raveled(a), raveled(b))


def raveled(x):
    return Pattern((x.size,), x.rows) if type(x) is Pattern else np.ravel(x)


@pattern_rule(np.tensordot, np.linalg.tensordot)
def tensordot_pattern(a, b, axes=2):
    rank_a, rank_b = len(shape_of(a)), len(shape_of(b))
    if isinstance(axes, int | np.integer):
        axes = range(rank_a - axes, rank_a), range(axes)
    of_a, of_b = [(k,) if isinstance(k, int | np.integer) else tuple(k) for k in axes]
    term_a = list(string.ascii_lowercase[:rank_a])
    term_b = list(string.ascii_uppercase[:rank_b])
    for i, j in zip(of_a, of_b):
        term_b[j] = term_a[i]
    free = [x for k, x in enumerate(term_a) if k not in {i % rank_a for i in of_a}]
    free += [x for x in term_b if x.isupper()]
    return einsum_pattern(f"{''.join(term_a)},{''.join(term_b)}->{''.join(free)}", a, b)


@pattern_rule(np.inner)
def inner_pattern(a, b):
    if not (shape_of(a) and shape_of(b)):
        return entry_by_entry((a, b))
    return tensordot_pattern(a, b, ((-1,), (-1,)))


@pattern_rule(np.dot)
def dot_pattern(a, b):
    rank_a, rank_b = len(shape_of(a)), len(shape_of(b))
    if min(rank_a, rank_b) == 0:
        return entry_by_entry((a, b))
    if max(rank_a, rank_b) > 2:
        return tensordot_pattern(a, b, ((-1,), (-1 if rank_b == 1 else -2,)))
    return matmul_pattern(a, b)


@pattern_rule(np.matmul, np.linalg.matmul)
def matmul_pattern(a, b):
    from scipy import sparse

    if type(a) is type(b):
        return NotImplemented
    if max(len(shape_of(a)), len(shape_of(b))) > 2:
        left = "i" if len(shape_of(a)) > 1 else ""
        right = "k" if len(shape_of(b)) > 1 else ""
        dots_a, dots_b = "..." if left else "", "..." if right else ""
        return einsum_pattern(f"{dots_a}{left}j,{dots_b}j{right}->...{left}{right}", a, b)
    shape = (np.zeros(shape_of(a)) @ np.zeros(shape_of(b))).shape
    columns = shape_of(b)[1] if len(shape_of(b)) == 2 else 1
    rows = shape_of(a)[0] if len(shape_of(a)) == 2 else 1
    if type(b) is Pattern:
        left = sparse.csr_array(np.atleast_2d(value(a)) != 0)
        linear = sparse.kron(left, sparse.eye_array(columns, dtype=bool))
        return Pattern(shape, sparse.csr_array(linear) @ b.rows)
    right = sparse.csr_array(np.reshape(value(b), (shape_of(b)[0], columns)).T != 0)
    linear = sparse.kron(sparse.eye_array(rows, dtype=bool), right)
    return Pattern(shape, sparse.csr_array(linear) @ a.rows)


# ---- Fourier transforms ---------------------------------------------------------------------


def mixed(transform, x, axes, *options):
    """Return the pattern of a function that mixes all entries along some axes."""
    shape = np.shape(transform(np.zeros(x.shape), *options))
    total = sum_pattern(x, tuple({axis % x.rank for axis in axes}), keepdims=True)
    refuse_too_many(transform, math.prod(shape), total.rows.nnz // max(total.size, 1))
    return total.taken(np.broadcast_to(total.ids, shape))


def mixes_one(transform):
    def transform_pattern(a, n=None, axis=-1, norm=None):
        return mixed(transform, a, (axis,), n, axis)

    pattern_rule(transform)(transform_pattern)


def mixes_several(transform, default):
    def transform_pattern(a, s=None, axes=default, norm=None):
        mixing = axes
        if axes is None:
            mixing = range(a.rank) if s is None else range(a.rank - len(s), a.rank)
        return mixed(transform, a, mixing, s, axes)

    pattern_rule(transform)(transform_pattern)


for _f in (np.fft.fft, np.fft.ifft, np.fft.rfft, np.fft.irfft, np.fft.hfft, np.fft.ihfft):
    mixes_one(_f)
for _g in (np.fft.fftn, np.fft.ifftn, np.fft.rfftn, np.fft.irfftn):
    mixes_several(_g, None)
for _g in (np.fft.fft2, np.fft.ifft2, np.fft.rfft2, np.fft.irfft2):
    mixes_several(_g, (-2, -1))
