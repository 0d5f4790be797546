"""Sums, products and quotients of sparse arrays: traced, they have SciPy's numbers and dtypes."""

import itertools
import operator
import warnings

import numpy as np
import pytest

import chainrules as cr
from chainrules.scipy import sparse

DTYPES = (np.float32, np.float64, np.complex64)
COORDS = ([0, 1, 2, 2], [0, 2, 1, 2])


def dense(y):
    return y.toarray() if sparse.issparse(y) else y


@pytest.mark.parametrize("entries_dtype", DTYPES)
@pytest.mark.parametrize("operation", [operator.mul, operator.truediv])
@pytest.mark.parametrize("kind", ["coo", "csr", "csc"])
def test_by_numbers_and_arrays_of_all_dtypes(kind, operation, entries_dtype):
    entries = np.arange(1, 5).astype(entries_dtype)

    def f(entries, other):
        return dense(operation(sparse.coo_array((entries, COORDS), (3, 3)).asformat(kind), other))

    for dtype, other in itertools.product(DTYPES, (2.0, 2, [2, 4, 3], [[1.5], [2], [4]])):
        # A number of Python's is weak, one of NumPy's and an array of no axes are not.
        others = [np.asarray(other, dtype)]
        others += [other, dtype(other), np.float64(other)] if np.ndim(other) == 0 else []
        for b in others:
            y = f(entries, b)
            for found, _ in (
                cr.jvp(f, (entries, b), (entries, cr.NoTangent())),
                cr.vjp(lambda entries, b=b: f(entries, b), entries),
            ):
                assert (found.dtype, found.shape) == (y.dtype, y.shape)
                np.testing.assert_array_equal(found, y)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("entries_dtype", [np.float32, np.float64])
def test_a_quotient_of_two(entries_dtype, dtype):
    entries = np.arange(1, 5).astype(entries_dtype)
    other = sparse.csr_array(np.arange(1.0, 10).reshape(3, 3).astype(dtype))

    def f(entries):
        return dense(sparse.csr_array((entries, COORDS), (3, 3)) / other)

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        y, _ = cr.jvp(f, (entries,), (entries,))
    assert y.dtype == f(entries).dtype
    np.testing.assert_array_equal(y, f(entries))
