"""Products, sums and dense forms of sparse arrays, as functions of their stored entries.

Cotangents of the entries stay on the pattern: nothing here makes a dense array of one.
"""

import math

import numpy as np
from scipy import sparse

from .... import Block, Pattern, bilinear_rule, linear_rule, matrix, primitive, shape_of, value
from ...arrays.products import conj


@primitive
def matmul(entries, x, places):
    """``a @ x``, where ``a`` has these entries, and ``x`` is a dense vector or matrix."""
    return places.holding(entries) @ x


def on_pattern(a, b, places):
    """Return the entries of ``a @ b^T`` at these places, of vectors or of matrices."""
    rows, columns = places.coords
    products = a[rows] * b[columns]
    return products if np.ndim(a) == 1 else np.sum(products, axis=1)


def as_rows(ybar):
    """Give back the axis that SciPy drops of a coo array of one row times a vector."""
    return np.reshape(ybar, (1,)) if np.ndim(ybar) == 0 else ybar


# y = a @ x
def matmul_left(ybar, entries, x, places):
    return on_pattern(as_rows(ybar), conj(x), places)


def matmul_right(ybar, entries, x, places):
    return matmul(conj(entries), as_rows(ybar), places.T)


def matmul_block(entries, x, places):
    if type(entries) is Block:
        return NotImplemented
    columns = np.moveaxis(x.values, 0, -1)
    y = matmul(entries, np.reshape(columns, (x.shape[0], math.prod(x.shape[1:]) * x.count)), places)
    return np.moveaxis(np.reshape(y, (places.shape[0], *shape_of(columns)[1:])), -1, 0)


def matmul_pattern(entries, x, places):
    if type(entries) is type(x):
        return NotImplemented
    shape = (places.shape[0], *shape_of(x)[1:])
    width = math.prod(shape[1:])
    if type(x) is Pattern:
        linear = sparse.kron(places.flags, sparse.eye_array(width, dtype=bool))
        return Pattern(shape, sparse.csr_array(linear) @ x.rows)
    rows, columns = places.coords
    row = rows[:, None] * width + np.arange(width)
    column = np.broadcast_to(np.arange(places.count)[:, None], row.shape)
    there = np.reshape(value(x), (places.shape[1], width))[columns] != 0
    linear = matrix(row[there], column[there], (math.prod(shape), places.count))
    return Pattern(shape, linear @ entries.rows)


bilinear_rule(matmul, matmul_left, matmul_right, block=matmul_block, pattern=matmul_pattern)


@primitive
def toarray(entries, places, order=None):
    """Return the dense array."""
    return places.holding(entries).toarray(order)


@linear_rule(toarray)
def toarray_transpose(ybar, space, places, order=None):
    return ybar[places.coords]


@primitive
def total(entries, places, axis=None):
    """Sum the array over an axis, or over all."""
    return np.asarray(places.holding(entries).sum(axis))[()]


@linear_rule(total)
def total_transpose(ybar, space, places, axis=None):
    if axis is None:
        return np.broadcast_to(ybar, space.shape)
    kept = places.coords[1 - axis % 2]
    return np.ravel(ybar)[kept]


def summed(entries, groups, count):
    """Return the sums of the entries in each of ``count`` groups."""
    from .places import EntryPlaces, numbered

    ones = np.ones(len(groups), np.bool_)
    here = np.arange(len(groups))
    adds = sparse.csr_array((ones, (groups, here)), shape=(count, len(groups)))
    return matmul(adds.data, entries, EntryPlaces(numbered(adds)))
