"""Structured matrices built of vectors or blocks, such as circulant and block-diagonal ones."""

from itertools import pairwise

import numpy as np
from scipy import linalg

from .... import array_of, composed, linear_rule, non_differentiable, primitive

non_differentiable(
    linalg.bandwidth, linalg.issymmetric, linalg.ishermitian,
    linalg.find_best_blas_type, linalg.get_blas_funcs, linalg.get_lapack_funcs,
    linalg.dft, linalg.hadamard, linalg.helmert, linalg.hilbert, linalg.invhilbert,
    linalg.pascal, linalg.invpascal,
)  # fmt: skip


@primitive
def built(entries, *, name, ends, **options):
    """Return the matrix that SciPy builds of the vectors in ``entries``, which stop at ``ends``."""
    return getattr(linalg, name)(*np.split(entries, ends[:-1], axis=-1), **options)


@primitive
def added_up(y, *, name, ends, **options):
    """The transpose of ``built``: the sum of the copies of each entry.

    SciPy tells where they are: it is called with the numbers from 1 on in place of entries.
    """
    numbers = np.split(np.arange(1, ends[-1] + 1), ends[:-1])
    places = getattr(linalg, name)(*numbers, **options).ravel()
    count = ends[-1] + 1  # the first one is of what is no copy

    def of_row(row):
        if np.iscomplexobj(row):
            return of_row(row.real) + 1j * of_row(row.imag)
        return np.bincount(places, row, count)[1:]

    sums = [of_row(row) for row in np.reshape(y, (-1, places.size))]
    return np.reshape(sums, (*np.shape(y)[:-2], count - 1))


linear_rule(built, lambda ybar, _, **options: added_up(ybar, **options))
linear_rule(added_up, lambda ybar, _, **options: built(ybar, **options))


def copied(name, own, *vectors, **options):
    """Build what the function of this name builds of vectors, or of stacks of them."""
    if np.ndim(own) == 2:  # no stack: SciPy takes the entries in one row
        vectors = tuple(map(np.ravel, vectors))
    ends = tuple(np.cumsum([np.shape(x)[-1] for x in vectors]).tolist())
    stack = np.broadcast_shapes(*[np.shape(x)[:-1] for x in vectors])
    parts = [np.broadcast_to(x, (*stack, np.shape(x)[-1])) for x in vectors]
    return built(np.concatenate(parts, axis=-1), name=name, ends=ends, **options)


@composed(linalg.toeplitz, value="own")
def toeplitz(c, r=None, *, own):
    return copied("toeplitz", own, c, np.conj(c) if r is None else r)


@composed(linalg.hankel, value="own")
def hankel(c, r=None, *, own):
    return copied("hankel", own, c) if r is None else copied("hankel", own, c, r)


@composed(linalg.circulant, value="own")
def circulant(c, *, own):
    return copied("circulant", own, c)


@composed(linalg.convolution_matrix, value="own")
def convolution_matrix(a, n, mode="full", *, own):
    return copied("convolution_matrix", own, a, n=n, mode=mode)


@composed(linalg.leslie, value="own")
def leslie(f, s, *, own):
    return copied("leslie", own, f, s)


@composed(linalg.companion, value="own")
def companion(a):
    first = -a[..., 1:] / a[..., :1]
    n = np.shape(first)[-1]
    row = np.arange(n)[:, None] == 0
    return np.where(row, np.expand_dims(first, -2), np.eye(n, k=-1))


@composed(linalg.fiedler_companion, value="own")
def fiedler_companion(a):
    """Read SciPy's matrix of 1, 2, ... as indices: ``-k`` stands for coefficient number ``k``."""
    monic = a / a[..., :1]
    places = linalg.fiedler_companion(np.arange(1.0, np.shape(a)[-1] + 1)).astype(int)
    return np.where(places < 0, -monic[..., -places - 1], places)


@composed(linalg.fiedler, value="own")
def fiedler(a):
    # What stands on the diagonal is 0 wherever the numbers move, and no kink.
    distances = np.abs(np.expand_dims(a, -1) - np.expand_dims(a, -2))
    return np.where(np.eye(np.shape(a)[-1], dtype=bool), 0.0, distances)


@composed(linalg.block_diag, value="own")
def block_diag(*arrs):
    arrs = [x if np.ndim(x) > 1 else np.atleast_2d(x) for x in map(array_of, arrs)]
    ends = np.cumsum([0, *[np.shape(x)[-1] for x in arrs]])
    stack = np.broadcast_shapes(*[np.shape(x)[:-2] for x in arrs])
    rows = []
    for x, (start, end) in zip(arrs, pairwise(ends), strict=True):
        shape = (*stack, np.shape(x)[-2])
        x = np.broadcast_to(x, (*shape, np.shape(x)[-1]))
        zeros = np.zeros((*shape, start)), np.zeros((*shape, ends[-1] - end))
        rows.append(np.concatenate([zeros[0], x, zeros[1]], axis=-1))
    return np.concatenate(rows, axis=-2)


@composed(linalg.khatri_rao, value="own")
def khatri_rao(a, b):
    products = np.expand_dims(a, -2) * np.expand_dims(b, -3)
    *stack, rows, columns = np.shape(a)
    stack = np.shape(products)[:-3]
    return np.reshape(products, (*stack, rows * np.shape(b)[-2], columns))


if hasattr(linalg, "kron"):  # until SciPy 1.15

    @composed(linalg.kron, value="own")
    def kron(a, b):
        return np.kron(a, b)


@composed(linalg.matrix_balance, value="own")
def matrix_balance(A, permute=True, scale=True, separate=False, *, own):  # noqa: N803
    """The transformation is of powers of 2 and a permutation: it stays what it is."""
    t = own[1]
    if separate:
        # In a stack of matrices both are rows of one array.
        widths, places = (t[..., 0, :], t[..., 1, :]) if np.ndim(A) > 2 else t
        columns = np.argsort(places)[..., None] == np.arange(np.shape(A)[-1])
        t = columns * np.expand_dims(widths, -2)
    return np.linalg.solve(t, A) @ t, own[1]
