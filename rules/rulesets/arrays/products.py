"""Products of two arrays: linear in each, and a pull to each.

By the convention that C is R^2, the pull of ``y = a * b`` to ``a`` is ``ybar * conj(b)``.
Axes that were broadcast are summed by the kit.
"""

import math
import string

import numpy as np

from ....config.thresholds import LARGE_MATRIX, NARROW_MATRIX
from ... import (
    Block,
    Pattern,
    aligned,
    bilinear_rule,
    composed,
    dtype_of,
    rank_of,
    run_on_block,
    run_on_pattern,
    shape_of,
    shifted,
)  # fmt: skip
from .shapes import pad_zeros
from .subscripts import einsum_pattern

# ---- matrices and vectors -------------------------------------------------------------------


def conj(x):
    """Conjugate what is complex; NumPy would copy what is real."""
    if type(x) is np.ndarray and x.dtype.kind == "f":
        return x
    dtype = dtype_of(x)
    return x if dtype is not None and dtype.kind != "c" else np.conj(x)


def adjoint(a):
    return conj(a.swapaxes(-1, -2) if type(a) is np.ndarray else np.swapaxes(a, -1, -2))


# Vectors have formulas of their own: to make matrices of them takes longer than a small product.


def matmul_left(ybar, a, b):
    """Shapes: (..., m, n), (..., m, k), (..., k, n); a vector lacks m or n, and ``ybar`` too."""
    if b.ndim == 1:
        return ybar * conj(b) if a.ndim == 1 else ybar[..., None] * conj(b)
    if a.ndim == 1:
        return conj(b) @ ybar if b.ndim == 2 else (conj(b) @ ybar[..., None])[..., 0]
    return ybar @ adjoint(b)


def matmul_right(ybar, a, b):
    if a.ndim == 1:
        return conj(a) * ybar if b.ndim == 1 else conj(a)[:, None] * ybar[..., None, :]
    if b.ndim == 1:
        return adjoint(a) @ ybar if a.ndim == 2 else (adjoint(a) @ ybar[..., None])[..., 0]
    return adjoint(a) @ ybar


def matmul_block(a, b):
    if (type(a) is Block and type(b) is Block) or 0 in (rank_of(a), rank_of(b)):
        return NotImplemented  # of numbers NumPy refuses it
    return _matmul_left(a, b) if type(a) is Block else _matmul_right(a, b)


def _matmul_left(a, b):
    rank = len(shape_of(b))
    if rank <= 2:
        # One product with all rows at once.
        *rows, columns = shape_of(a.values)
        if len(rows) == 1:
            return a.values @ b
        flat = a.values.reshape((math.prod(rows), columns))
        return (flat @ b).reshape((*rows, *shape_of(b)[1:]))
    if a.rank == 1:
        return (np.expand_dims(aligned(a, rank - 1), -2) @ b)[..., 0, :]
    return aligned(a, rank) @ b


def _matmul_right(a, b):
    rank = len(shape_of(a))
    if b.rank == 1:
        if rank <= 2:
            return b.values @ a.T
        return (a @ np.expand_dims(aligned(b, rank - 1), -1))[..., 0]
    if rank == 2 == b.rank and np.size(a) >= LARGE_MATRIX and b.shape[1] <= NARROW_MATRIX:
        # One product with all columns at once, and the directions beside each other.
        columns = np.reshape(np.moveaxis(b.values, 0, -1), (b.shape[0], b.shape[1] * b.count))
        product = np.reshape(a @ columns, (shape_of(a)[0], b.shape[1], b.count))
        return np.moveaxis(product, -1, 0)
    return a @ aligned(b, rank)


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
        left = sparse.csr_array(np.atleast_2d(a) != 0)
        linear = sparse.kron(left, sparse.eye_array(columns, dtype=bool))
        return Pattern(shape, sparse.csr_array(linear) @ b.rows)
    right = sparse.csr_array(np.reshape(b, (shape_of(b)[0], columns)).T != 0)
    linear = sparse.kron(sparse.eye_array(rows, dtype=bool), right)
    return Pattern(shape, sparse.csr_array(linear) @ a.rows)


for _matmul in (np.matmul, np.linalg.matmul):
    bilinear_rule(_matmul, matmul_left, matmul_right, block=matmul_block, pattern=matmul_pattern)


def matvec_left(ybar, a, b):
    return np.expand_dims(ybar, -1) * conj(np.expand_dims(b, -2))


def matvec_right(ybar, a, b):
    return np.matvec(adjoint(a), ybar)


# y_j = sum_i conj(a_i) b_ij
def vecmat_left(ybar, a, b):
    return np.matvec(b, conj(ybar))


def vecmat_right(ybar, a, b):
    return np.expand_dims(a, -1) * np.expand_dims(ybar, -2)


bilinear_rule(np.matvec, matvec_left, matvec_right)
bilinear_rule(np.vecmat, vecmat_left, vecmat_right)


# y = sum_i conj(a_i) b_i
def vecdot_left(ybar, a, b, axis=-1):
    abar = conj(np.expand_dims(ybar, -1)) * last_axis(b, axis)
    return from_last_axis(abar, from_the_end(axis, a))


def vecdot_right(ybar, a, b, axis=-1):
    bbar = np.expand_dims(ybar, -1) * last_axis(a, axis)
    return from_last_axis(bbar, from_the_end(axis, b))


def from_the_end(axis, x):
    """Count an axis of ``x`` from the end, where arrays that broadcast are aligned."""
    return axis if axis < 0 else axis - rank_of(x)


def last_axis(x, axis):
    """Bring ``axis`` to the end, where it is already in most calls."""
    return x if axis == -1 else np.moveaxis(x, axis, -1)


def from_last_axis(x, axis):
    return x if axis == -1 else np.moveaxis(x, -1, axis)


def vecdot_block(a, b, axis=-1):
    rank = max(len(shape_of(a)), len(shape_of(b)))
    if axis >= 0:
        return NotImplemented
    return np.vecdot(aligned(a, rank), aligned(b, rank), axis=axis)


for _vecdot in (np.vecdot, np.linalg.vecdot):
    bilinear_rule(_vecdot, vecdot_left, vecdot_right, block=vecdot_block)


# y = sum_i conj(a_i) b_i over all entries, whatever the shapes
def vdot_left(ybar, a, b):
    return conj(ybar) * np.reshape(b, np.shape(a))


def vdot_right(ybar, a, b):
    return ybar * np.reshape(a, np.shape(b))


def vdot_block(a, b):
    if type(a) is Block and type(b) is Block:
        return NotImplemented
    if type(a) is Block:
        return np.conj(a.flat) @ np.ravel(b)
    return b.flat @ np.conj(np.ravel(a))


bilinear_rule(np.vdot, vdot_left, vdot_right, block=vdot_block)


# ---- contractions ---------------------------------------------------------------------------


def contracted(a, b, axes):
    """Return the axes of ``a`` and ``b`` that are summed over, and those that are left."""
    if type(axes) is int or np.ndim(axes) == 0:
        axes = range(-axes, 0), range(axes)
    ranks = rank_of(a), rank_of(b)
    summed = [[axis % n for axis in each_axis(chosen)] for n, chosen in zip(ranks, axes)]
    free = [[k for k in range(n) if k not in chosen] for n, chosen in zip(ranks, summed)]
    return *summed, *free


def each_axis(axes):
    return axes if type(axes) in (range, list, tuple) else np.atleast_1d(axes).tolist()


def ranking(places):
    """Return where the smallest of these few integers stands, then the next one, and so on."""
    return sorted(range(len(places)), key=places.__getitem__)


def tensordot_left(ybar, a, b, axes=2):
    a_axes, b_axes, a_free, b_free = contracted(a, b, axes)
    abar = np.tensordot(ybar, conj(b), (range(len(a_free), rank_of(ybar)), b_free))
    return np.transpose(abar, ranking(a_free + [a_axes[k] for k in ranking(b_axes)]))


def tensordot_right(ybar, a, b, axes=2):
    a_axes, b_axes, a_free, b_free = contracted(a, b, axes)
    bbar = np.tensordot(conj(a), ybar, (a_free, range(len(a_free))))
    return np.transpose(bbar, ranking([b_axes[k] for k in ranking(a_axes)] + b_free))


def tensordot_block(a, b, axes=2):
    if type(a) is Block and type(b) is Block:
        return NotImplemented
    of_a, of_b, a_free, _ = contracted(a, b, axes)
    if type(a) is Block:
        return np.tensordot(a.values, b, (shifted(of_a, a.rank), of_b))
    y = np.tensordot(a, b.values, (of_a, shifted(of_b, b.rank)))
    return np.moveaxis(y, len(a_free), 0)


def tensordot_pattern(a, b, axes=2):
    of_a, of_b, a_free, b_free = contracted(a, b, axes)
    term_a = string.ascii_lowercase[: len(of_a) + len(a_free)]
    term_b = list(string.ascii_uppercase[: len(of_b) + len(b_free)])
    for i, j in zip(of_a, of_b):
        term_b[j] = term_a[i]
    free = [term_a[k] for k in a_free] + [term_b[k] for k in b_free]
    return einsum_pattern(f"{term_a},{''.join(term_b)}->{''.join(free)}", a, b)


for _tensordot in (np.tensordot, np.linalg.tensordot):
    bilinear_rule(_tensordot, tensordot_left, tensordot_right, block=tensordot_block,
                  pattern=tensordot_pattern)  # fmt: skip


def dot_left(ybar, a, b):
    if rank_of(a) == 0 or rank_of(b) == 0:
        return ybar * conj(b)
    if rank_of(a) <= 2 and rank_of(b) <= 2:
        return matmul_left(ybar, a, b)
    return tensordot_left(ybar, a, b, (-1, max(rank_of(b) - 2, 0)))


def dot_right(ybar, a, b):
    if rank_of(a) == 0 or rank_of(b) == 0:
        return ybar * conj(a)
    if rank_of(a) <= 2 and rank_of(b) <= 2:
        return matmul_right(ybar, a, b)
    return tensordot_right(ybar, a, b, (-1, max(rank_of(b) - 2, 0)))


def dot_block(a, b):
    if not (shape_of(a) and shape_of(b)):
        return run_on_block(np.multiply, (a, b), {}).values
    if len(shape_of(b)) > 2 or (len(shape_of(a)) > 2 and type(b) is Block):
        return NotImplemented
    return matmul_block(a, b)


def dot_pattern(a, b):
    rank_a, rank_b = len(shape_of(a)), len(shape_of(b))
    if min(rank_a, rank_b) == 0:
        return run_on_pattern(np.multiply, (a, b), {})
    if max(rank_a, rank_b) > 2:
        return tensordot_pattern(a, b, ((-1,), (-1 if rank_b == 1 else -2,)))
    return matmul_pattern(a, b)


bilinear_rule(np.dot, dot_left, dot_right, block=dot_block, pattern=dot_pattern)


def inner_left(ybar, a, b):
    scalar = np.ndim(a) == 0 or np.ndim(b) == 0
    return ybar * conj(b) if scalar else tensordot_left(ybar, a, b, (-1, -1))


def inner_right(ybar, a, b):
    scalar = np.ndim(a) == 0 or np.ndim(b) == 0
    return ybar * conj(a) if scalar else tensordot_right(ybar, a, b, (-1, -1))


def inner_block(a, b):
    if not (shape_of(a) and shape_of(b)):
        return run_on_block(np.multiply, (a, b), {}).values
    return tensordot_block(a, b, ((-1,), (-1,)))


def inner_pattern(a, b):
    if not (shape_of(a) and shape_of(b)):
        return run_on_pattern(np.multiply, (a, b), {})
    return tensordot_pattern(a, b, ((-1,), (-1,)))


bilinear_rule(np.inner, inner_left, inner_right, block=inner_block, pattern=inner_pattern)


# ---- products of every entry with every entry -----------------------------------------------


def outer_left(ybar, a, b):
    return (ybar @ conj(np.ravel(b))).reshape(np.shape(a))


def outer_right(ybar, a, b):
    return (conj(np.ravel(a)) @ ybar).reshape(np.shape(b))


def outer_block(a, b):
    if type(a) is Block and type(b) is Block:
        return NotImplemented
    if type(a) is Block:
        return a.flat[:, :, None] * raveled(b)
    return raveled(a)[:, None] * b.flat[:, None]


def outer_pattern(a, b):
    return einsum_pattern("i,j->ij", raveled(a), raveled(b))


def raveled(x):
    if type(x) is Pattern:
        return Pattern((x.size,), x.rows)
    return x if type(x) is np.ndarray and x.ndim == 1 else np.ravel(x)


for _outer in (np.outer, np.linalg.outer):
    bilinear_rule(_outer, outer_left, outer_right, block=outer_block, pattern=outer_pattern)


def as_blocks(ybar, a, b):
    """Give ``ybar`` of ``kron`` an axis of ``a``, then one of ``b``, for each of its own."""
    rank = np.ndim(ybar)
    a, b = (np.reshape(x, (1,) * (rank - np.ndim(x)) + np.shape(x)) for x in (a, b))
    pairs = [length for pair in zip(np.shape(a), np.shape(b)) for length in pair]
    return np.reshape(ybar, pairs), a, b


def kron_left(ybar, a, b):
    shape, rank = np.shape(a), np.ndim(ybar)
    ybar, _, b = as_blocks(ybar, a, b)
    return np.reshape(np.tensordot(ybar, conj(b), (range(1, 2 * rank, 2), range(rank))), shape)


def kron_right(ybar, a, b):
    shape, rank = np.shape(b), np.ndim(ybar)
    ybar, a, _ = as_blocks(ybar, a, b)
    return np.reshape(np.tensordot(ybar, conj(a), (range(0, 2 * rank, 2), range(rank))), shape)


bilinear_rule(np.kron, kron_left, kron_right)


# ---- in three dimensions --------------------------------------------------------------------


def in_three(ybar, a, b, axisa, axisb, axisc):
    """Bring vectors to the last axis, and give those in the plane a third entry of 0."""
    a, b = last_axis(a, axisa), last_axis(b, axisb)
    if shape_of(a)[-1] == shape_of(b)[-1] == 2:
        nothing = np.zeros_like(ybar)
        return np.stack([nothing, nothing, ybar], axis=-1), with_third(a), with_third(b)
    return last_axis(ybar, axisc), with_third(a), with_third(b)


def with_third(x):
    return x if shape_of(x)[-1] == 3 else pad_zeros(x, [(0, 0)] * (np.ndim(x) - 1) + [(0, 1)])


# y . ybar = (a x b) . ybar = a . (b x ybar) = b . (ybar x a)
def cross_left(ybar, a, b, axisa=-1, axisb=-1, axisc=-1, axis=None):
    axisa, axisb, axisc = (axisa, axisb, axisc) if axis is None else (axis, axis, axis)
    n = shape_of(a)[axisa]
    ybar, _, b = in_three(ybar, a, b, axisa, axisb, axisc)
    return from_last_axis(np.cross(conj(b), ybar)[..., :n], from_the_end(axisa, a))


def cross_right(ybar, a, b, axisa=-1, axisb=-1, axisc=-1, axis=None):
    axisa, axisb, axisc = (axisa, axisb, axisc) if axis is None else (axis, axis, axis)
    n = shape_of(b)[axisb]
    ybar, a, _ = in_three(ybar, a, b, axisa, axisb, axisc)
    return from_last_axis(np.cross(ybar, conj(a))[..., :n], from_the_end(axisb, b))


bilinear_rule(np.cross, cross_left, cross_right)


@composed(np.linalg.cross)
def linalg_cross(x1, x2, /, *, axis=-1):
    return np.cross(x1, x2, axis=axis)
