"""Sums and products of sparse arrays: the operators of ``SparseArray``."""

import operator

import numpy as np
from scipy import sparse

from .... import Traced, shape_of, with_values
from . import products
from .array import SparseArray, as_dense, at_coords, issparse, lifted, renumbered
from .matrices import dense
from .places import EntryPlaces


def multiply(self, other):
    if issparse(other):
        return times_sparse(self.summed(), lifted(other).summed())
    other = as_dense(other)
    if np.ndim(other) == 0:
        return self.with_entries(self.entries * other)
    other = other if np.ndim(other) > 1 else other[None]
    ones = np.ones(shape_of(other), int)
    y = self.moved(lambda x: x.multiply(ones))
    rows, columns = y.places.coords
    row = rows if ones.shape[0] > 1 else 0 * rows
    column = columns if ones.shape[1] > 1 else 0 * columns
    return y.with_entries(y.entries * other[row, column])


def truediv(self, other):
    # SciPy divides by numbers and by sparse arrays in double precision, by dense ones does not.
    double = self.astype(np.float64) if np.can_cast(self.dtype, np.float64) else self
    if issparse(other):
        return double.toarray() / other.toarray()
    other = as_dense(other)
    if np.ndim(other) == 0:
        return double.with_entries(double.entries * (1 / other))  # as SciPy rounds it
    return multiply(self, np.divide(1, other))


# ---- sums ----


def add(self, other):
    if issparse(other):
        return plus_sparse(self, lifted(other))
    other = as_dense(other)
    if np.ndim(other) == 0:
        return self if not isinstance(other, Traced) and other == 0 else _refuse_a_number()
    return dense(self.toarray() + other, self.is_matrix)


def sub(self, other):
    return self + -other


def rsub(self, other):
    return -self + other


# ---- products ----


def mul(self, other):
    if self.is_matrix and np.ndim(0 if issparse(other) else as_dense(other)):
        return self @ other
    return self @ other if self.is_matrix and issparse(other) else multiply(self, other)


def rmul(self, other):
    if issparse(other):
        return mul(lifted(other), self)  # a product of matrices, if the left one is a matrix
    if self.is_matrix and np.ndim(as_dense(other)):
        return rmatmul(self, other)
    return multiply(self, other)


def dot(self, other):
    if not issparse(other) and np.ndim(as_dense(other)) == 0:
        return self * other
    return self @ other


def matmul(self, other):
    if issparse(other):
        return matmul_sparse(self, lifted(other))
    other = as_dense(other)
    _check_product(self.shape, shape_of(other))
    return products.matmul(self.entries, other, self.places)


def rmatmul(self, other):
    if issparse(other):
        return matmul_sparse(lifted(other), self)
    other = as_dense(other)
    _check_product(shape_of(other), self.shape)
    y = products.matmul(self.entries, np.transpose(other), self.places.T)
    return np.transpose(y)


def pow_(self, n):
    if not self.is_matrix:
        return self.power(n)
    if n == 1:
        return self
    if not n > 1 or n % 1:
        return self.to_scipy() ** n  # a constant, or SciPy's own error
    half = pow_(self, n // 2)
    return self @ half @ half if n % 2 else half @ half


METHODS = {
    "__add__": add, "__radd__": add, "__sub__": sub, "__rsub__": rsub, "__mul__": mul,
    "__rmul__": rmul, "__matmul__": matmul, "__rmatmul__": rmatmul, "__pow__": pow_,
    "__truediv__": truediv, "dot": dot, "multiply": multiply,
}  # fmt: skip
for _name, _method in METHODS.items():
    setattr(SparseArray, _name, _method)


def _refuse_a_number():
    raise NotImplementedError("adding a nonzero scalar to a sparse array is not supported")


def _check_product(a, b):
    if not (len(a) in (1, 2) and len(b) in (1, 2)):
        raise ValueError(f"a sparse array times a dense one: shapes {a} and {b} do not go together")
    if a[-1] != b[0]:
        raise ValueError(f"matmul: dimension mismatch with shapes {a} and {b}")


def plus_sparse(a, b):
    if a.shape != b.shape:
        raise ValueError(f"inconsistent shapes {a.shape} and {b.shape}")
    entries = np.concatenate([a.entries, b.entries])
    coords = tuple(map(np.concatenate, zip(a.places.coords, b.places.coords)))
    both = SparseArray(entries, EntryPlaces(at_coords(np.arange(1, len(coords[0]) + 1), coords, a)))
    return both.summed().asformat(_format_of(operator.add, a, b))


def _format_of(operation, a, b):
    """Return the format in which SciPy gives a result."""
    return operation(*[sparse.eye_array(1, format=x.format) for x in (a, b)]).format


def times_sparse(a, b):
    """The product entry by entry, which has an entry where both have one."""
    ones = [x.places.holding(np.ones(x.places.count, int)) for x in (a, b)]
    left = renumbered(a.entries, a.places.numbered.multiply(ones[1]).tocsr())
    right = renumbered(b.entries, ones[0].multiply(b.places.numbered).tocsr())
    product = left.with_entries(left.entries * right.entries)
    product = rounded_as_by_scipy(product, lambda a, b: a.multiply(b), a, b)
    return product.asformat(ones[0].multiply(ones[1]).format)


def matmul_sparse(a, b):
    """The product of two sparse arrays, from all products of two entries that go into it."""
    _check_product(a.shape, b.shape)
    form = _format_of(operator.matmul, a, b)
    a, b = a.asformat("csr"), b.asformat("csr")
    rows, between = a.places.coords
    starts, counts = b.indptr[between], np.diff(b.indptr)[between]
    left = np.repeat(np.arange(a.places.count), counts)
    right = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
    right = right + np.repeat(starts, counts)
    columns = b.places.coords[1][right]
    coords = rows[left], columns
    shape = a.shape[0], b.shape[1]
    make = sparse.coo_matrix if a.is_matrix else sparse.coo_array
    every = make((np.arange(1, len(left) + 1), coords), shape=shape)
    y = SparseArray(a.entries[left] * b.entries[right], EntryPlaces(every)).tocsr()
    return rounded_as_by_scipy(y, operator.matmul, a, b).asformat(form)


def rounded_as_by_scipy(y, operation, a, b):
    """``y`` with the entries of SciPy's result: C rounds complex products otherwise than NumPy."""
    if not np.iscomplexobj(y.entries):
        return y
    own = operation(a.to_scipy(), b.to_scipy()).tocsr()[y.places.coords]
    own = own.toarray() if issparse(own) else np.asarray(own)
    return y.with_entries(with_values(y.entries, np.reshape(own, -1)))
