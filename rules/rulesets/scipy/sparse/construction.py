"""Functions that make sparse arrays of others, or of traced numbers at constant places."""

# ruff: noqa: N803 - SciPy's names of its arguments

from abc import ABCMeta

import numpy as np
from scipy import sparse

from .....config import MissingRuleError, user_line
from .... import Traced, array_of, composed, composed_each, handed_out, innermost, value
from .array import SparseArray, as_dense, issparse, lifted, plain, renumbered
from .places import EntryPlaces, numbered
from .seeing import SeeingClass

# ---- classes -------------------------------------------------------------------------------


def of_traced(cls, arg1, shape=None, dtype=None, copy=False, **options):
    """Return what stands for an array of SciPy's ``cls`` of traced numbers."""
    y = made(cls, cls.__name__[:3], arg1, shape, **options)
    return y if dtype is None else y.astype(dtype)


def called(cls, arg1, *args, **options):
    """Of traced numbers, our classes make a ``SparseArray``."""
    arg1 = handed_out(arg1)
    if innermost((arg1,)) is None:
        return ABCMeta.__call__(cls, plain(arg1), *args, **options)
    return of_traced(cls.original, arg1, *args, **options)


setattr(SeeingClass, "__call__", called)  # noqa: B010


def made(cls, format, arg1, shape, **options):
    """Build a ``SparseArray`` as SciPy's constructor ``cls`` does its own."""
    if format in ("dok", "lil"):
        raise MissingRuleError(
            f"{cls.__name__} cannot hold traced entries, in {user_line()}.\n"
            "  write coo_array((data, (row, col)), shape)"
        )
    if type(arg1) is SparseArray:
        there = arg1.asformat(format)  # whose entries may be in another order
        return renumbered(there.entries, cls(there.places.numbered))
    if not isinstance(arg1, tuple):
        x = as_dense(arg1)
        ids = np.arange(1, np.size(x) + 1).reshape(np.shape(x))
        return renumbered(np.ravel(x), of_two_axes(cls(ids, shape, **options)), full=True)
    data, *where = arg1
    data, where = as_dense(data), value(where)
    count = np.arange(1, np.size(data) + 1)
    if format in ("csr", "csc") and len(where) == 1:
        kind = sparse.coo_array if issubclass(cls, sparse.sparray) else sparse.coo_matrix
        y = made(kind, "coo", (data, *where), shape)
        return y.asformat(format)
    if format == "bsr" and len(where) == 1:
        y = made(sparse.coo_array, "coo", (data, *where), shape).summed()
        return renumbered(y.entries, cls(y.places.numbered, **options))
    stored = cls((count.reshape(np.shape(data)), *where), shape, **options)
    of_two_axes(stored)
    if format != "dia":
        return SparseArray(np.ravel(data), EntryPlaces(stored, ordered=True))
    whole = numbered(stored)
    chosen = np.ravel(stored.data)[np.ravel(whole.data) > 0] - 1
    return SparseArray(np.ravel(data)[chosen], EntryPlaces(whole))


def of_two_axes(y):
    if y.ndim != 2:
        raise MissingRuleError(
            f"{type(y).__name__} of one axis with traced entries has no rule, in {user_line()}.\n"
            "  give it two axes"
        )
    return y


# ---- functions that place entries -----------------------------------------------------------


class Numbering:
    """Numbers the entries of several arrays one after the other."""

    def __init__(self):
        self.parts = []
        self.count = 0

    def sparse(self, x):
        whole = lifted(x).summed()
        stored = whole.places.numbered.copy()
        stored.data = np.where(stored.data > 0, stored.data + self.count, 0)
        self.add(whole.entries)
        return stored

    def dense(self, x):
        x = as_dense(x)
        ids = np.arange(1, np.size(x) + 1).reshape(np.shape(x)) + self.count
        self.add(np.ravel(x))
        return ids

    def add(self, entries):
        self.parts.append(entries)
        self.count += np.size(entries)

    def block(self, x):
        """Number a block: sparse, None, or dense, where zeros are left out if it is constant."""
        if x is None or issparse(x):
            return x if x is None else self.sparse(x)
        if not isinstance(x, Traced):
            return self.sparse(sparse.coo_array(np.atleast_2d(x)))
        return sparse.coo_array(np.atleast_2d(self.dense(x)))

    def at(self, y, dtype=None):
        y = renumbered(np.concatenate(self.parts), y)
        return y if dtype is None else y.astype(dtype)


NESTED = {sparse.bmat: True, sparse.block_array: True}
FLAT = {sparse.hstack: False, sparse.vstack: False, sparse.block_diag: False}


@composed_each({f: (f, nested) for f, nested in (NESTED | FLAT).items()})
def placed(entry, blocks, format=None, dtype=None):
    """Let SciPy, which puts blocks into one array, do so with numbers of entries."""
    f, nested = entry
    numbers = Numbering()
    if nested:
        ids = [[numbers.block(x) for x in row] for row in blocks]
    else:
        ids = [numbers.block(x) for x in blocks]
    return numbers.at(f(ids, format=format), dtype)


def bmat(blocks, format=None, dtype=None):
    return placed((sparse.bmat, True), blocks, format, dtype)


@composed(sparse.tril)
def tril(A, k=0, format=None):
    return lifted(A).moved(lambda x: sparse.tril(x, k, format))


@composed(sparse.triu)
def triu(A, k=0, format=None):
    return lifted(A).moved(lambda x: sparse.triu(x, k, format))


if hasattr(sparse, "swapaxes"):

    @composed(sparse.swapaxes)
    def swapaxes(A, axis1, axis2):
        return lifted(A).moved(lambda x: sparse.swapaxes(x, axis1, axis2))

    @composed(sparse.permute_dims)
    def permute_dims(A, axes=None, copy=False):
        return lifted(A).moved(lambda x: sparse.permute_dims(x, axes))


if hasattr(sparse, "matrix_transpose"):  # since SciPy 1.18

    @composed(sparse.matrix_transpose)
    def matrix_transpose(A):
        return lifted(A).transpose()


def of_diagonals(make, diagonals, offsets, options, dtype):
    numbers = Numbering()
    one = isinstance(diagonals, Traced) and np.ndim(diagonals) == 1 and np.ndim(offsets) == 0
    if np.ndim(offsets) == 0 and not one and np.ndim(as_dense(diagonals[0])) == 0:
        one = True  # a list of numbers on one diagonal
    ids = numbers.dense(diagonals) if one else [numbers.dense(x) for x in diagonals]
    return numbers.at(make(ids, offsets=offsets, dtype=int, **options), dtype)


@composed(sparse.diags)
def diags(diagonals, offsets=0, shape=None, format=None, dtype=None):
    return of_diagonals(sparse.diags, diagonals, offsets, {"shape": shape, "format": format}, dtype)


@composed(sparse.diags_array)
def diags_array(diagonals, *, offsets=0, shape=None, format=None, dtype=None):
    options = {"shape": shape, "format": format}
    return of_diagonals(sparse.diags_array, diagonals, offsets, options, dtype)


@composed(sparse.spdiags)
def spdiags(data, diags, m=None, n=None, format=None):
    shape = m if n is None else (m, n)
    shape = (len(diags), np.shape(data)[1]) if shape is None else shape
    return made(sparse.dia_matrix, "dia", (data, diags), shape).asformat(format)


# ---- products of Kronecker ------------------------------------------------------------------


@composed(sparse.kron)
def kron(A, B, format=None):
    a, b = (_as_sparse(x).summed() for x in (A, B))
    ids = [x.places.numbered for x in (a, b)]
    ones = [x.places.holding(np.ones(x.places.count, int)) for x in (a, b)]
    # In one format, in which both store their entries in the same order.
    left = renumbered(a.entries, sparse.kron(ids[0], ones[1], "coo").tocsr())
    right = renumbered(b.entries, sparse.kron(ones[0], ids[1], "coo").tocsr())
    form = sparse.kron(ones[0], ones[1], format).format
    return left.with_entries(left.entries * right.entries).asformat(form)


@composed(sparse.kronsum)
def kronsum(A, B, format=None):
    a, b = _as_sparse(A), _as_sparse(B)
    eye = sparse.eye if a.is_matrix and b.is_matrix else sparse.eye_array
    left = kron(eye(b.shape[0]), a, "csr")
    right = kron(b, eye(a.shape[0]), "csr")
    return (left + right).asformat(format)


def _as_sparse(x):
    """Return ``x`` as a sparse array; a dense one as a matrix, as SciPy does."""
    if issparse(x):
        return lifted(x)
    if isinstance(x, Traced):
        return made(sparse.coo_matrix, "coo", x, None)
    return lifted(sparse.coo_matrix(array_of(x)))


@composed(sparse.find)
def find(A):
    whole = lifted(A).summed()
    whole.refuse_places("find")
    rows, columns, ids = sparse.find(whole.places.numbered)
    kept = value(whole.entries)[ids - 1] != 0
    return rows[kept], columns[kept], whole.entries[ids[kept] - 1]
