"""What linear functions of NumPy do to the pattern of what an array depends on."""

import math

import numpy as np

from ..calls import astype, getitem
from ..levels import value
from ..patterns import Pattern, matrix, moves, number, pattern_rule
from ..project import shape_of
from ..views import written
from .numpy_indexing import scatter
from .numpy_shapes import pad_zeros

moves(np.real, np.imag, np.conj, np.copy, getitem, np.take, np.take_along_axis)
moves(np.reshape, np.ravel, np.expand_dims, np.squeeze, np.broadcast_to, np.transpose)
moves(np.matrix_transpose, np.linalg.matrix_transpose, np.swapaxes, np.moveaxis, np.rollaxis)
moves(np.flip, np.fliplr, np.flipud, np.rot90, np.roll, np.repeat, np.tile, pad_zeros)
moves(np.tril, np.triu, np.diagonal, np.linalg.diagonal, np.diag, np.diagflat)
moves(np.concatenate, np.stack, np.vstack, np.hstack, np.dstack, np.column_stack, np.split)


@pattern_rule(astype)
def astype_pattern(x, dtype, **options):
    return x


@pattern_rule(np.sum, np.mean)
def sum_pattern(x, axis=None, dtype=None, out=None, keepdims=False, **options):
    keepdims = keepdims is True
    reduced = np.sum(np.ones(x.shape), axis=axis, keepdims=True)
    places = np.broadcast_to(np.arange(reduced.size).reshape(reduced.shape), x.shape)
    groups = matrix(places, np.arange(x.size), (reduced.size, x.size))
    shape = reduced.shape if keepdims else np.sum(np.ones(x.shape), axis=axis).shape
    return Pattern(shape, groups @ x.rows)


@pattern_rule(scatter)
def scatter_pattern(x, shape, dtype, index):
    size = math.prod(shape)
    places = np.broadcast_to(np.arange(size).reshape(shape)[index], x.shape)
    return Pattern(shape, matrix(places, np.arange(x.size), (size, x.size)) @ x.rows)


@pattern_rule(written)
def written_pattern(x, path, index, v):
    (ids, written_ids), whole = number([x, v])
    return whole.taken(written(ids, path, index, written_ids))


@pattern_rule(np.matmul, np.dot)
def matmul_pattern(a, b):
    from scipy import sparse

    if type(a) is type(b) or max(len(shape_of(a)), len(shape_of(b))) > 2:
        return NotImplemented
    if min(len(shape_of(a)), len(shape_of(b))) == 0:
        return NotImplemented
    shape = (np.zeros(shape_of(a)) @ np.zeros(shape_of(b))).shape
    columns = shape_of(b)[1] if len(shape_of(b)) == 2 else 1
    rows = shape_of(a)[0] if len(shape_of(a)) == 2 else 1
    if type(b) is Pattern:
        left = sparse.csr_array(np.atleast_2d(value(a)) != 0)
        linear = sparse.kron(left, sparse.eye_array(columns, dtype=bool))
        return Pattern(shape, sparse.csr_array(linear) @ b.rows)
    right = sparse.csr_array(np.reshape(value(b), (-1, columns)).T != 0)
    linear = sparse.kron(sparse.eye_array(rows, dtype=bool), right)
    return Pattern(shape, sparse.csr_array(linear) @ a.rows)
