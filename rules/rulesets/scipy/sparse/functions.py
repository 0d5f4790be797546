"""Functions of sparse matrices: norms, powers, and the exponential times a vector."""

# ruff: noqa: N803 - SciPy's names of its arguments

import math

import numpy as np
from scipy import sparse
from scipy.sparse import linalg

from .....config import MissingRuleError, user_line
from .... import composed, value
from .array import issparse, lifted, plain


@composed(linalg.norm, value="own")
def norm(x, ord=None, axis=None):
    x = lifted(x).summed()
    if axis is not None and np.ndim(axis) == 0:
        return _norm_along(x, ord, axis % 2)
    if ord in (None, "fro", "f"):
        return np.linalg.norm(x.entries)
    if ord in (1, -1, np.inf, -np.inf):
        rows_or_columns = 0 if abs(ord) == 1 else 1
        axes = (0, 1) if axis is None else axis
        sums = np.ravel(abs(x).sum(axis=axes[rows_or_columns]))
        return np.max(sums) if ord > 0 else np.min(sums)
    return _refuse_norm(ord)


def _norm_along(x, ord, axis):
    if ord in (None, 2):
        squares = x.with_entries(np.real(np.conj(x.entries) * x.entries))
        return np.sqrt(np.ravel(squares.sum(axis=axis)))
    if ord == 1:
        return np.ravel(abs(x).sum(axis=axis))
    return _refuse_norm(ord)


def _refuse_norm(ord):
    raise MissingRuleError(
        f"scipy.sparse.linalg.norm of order {ord} has no rule, in {user_line()}.\n"
        "  write numpy.linalg.norm(A.toarray(), ord)"
    )


if hasattr(linalg, "matrix_power"):

    @composed(linalg.matrix_power)
    def matrix_power(A, power):
        if power == 0:
            return linalg.matrix_power(plain(A), 0)
        if power == 1:
            return lifted(A)
        half = matrix_power(A, power // 2)
        return A @ half @ half if power % 2 else half @ half


@composed(linalg.expm_multiply, value="own")
def expm_multiply(A, B, start=None, stop=None, num=None, endpoint=None, traceA=None):
    """Truncated Taylor series, as SciPy's, of as many terms as rounding lets one see.

    Source: Al-Mohy and Higham (2011), computing the action of the matrix exponential.
    """
    if start is None and stop is None and num is None:
        return _grown(A, B, 1.0, traceA)
    times, step = np.linspace(start, stop, 50 if num is None else num, retstep=True,
                              endpoint=True if endpoint is None else endpoint)  # fmt: skip
    ys = [_grown(A, B, times[0], traceA)]
    for _ in times[1:]:
        ys.append(_grown(A, ys[-1], step, traceA))
    return np.stack(ys)


def _grown(A, x, t, trace):
    """Return ``expm(t * A) @ x`` by ``steps`` series of ``terms`` terms each."""
    n = A.shape[0]
    mean = value(trace if trace is not None else _trace(A)) / n
    size = abs(t) * _one_norm(A, mean)
    steps = max(1, math.ceil(size / 4))
    terms = 1
    while (size / steps) ** terms / math.factorial(terms) > 1e-20:
        terms += 1
    h = t / steps
    for _ in range(steps):
        y = x
        for k in range(1, terms + 1):
            x = (A @ x - mean * x) * (h / k)
            y = y + x
        x = y * np.exp(h * mean)
    return x


def _trace(A):
    return 0.0 if isinstance(A, linalg.LinearOperator) else np.sum(A.diagonal())


def _one_norm(A, mean):
    if isinstance(A, linalg.LinearOperator):
        return 2.0 * linalg.onenormest(A) + abs(mean)  # an estimate from below
    if not issparse(A):
        return np.max(np.sum(abs(value(A) - mean * np.eye(A.shape[0])), axis=0))
    return np.max(abs(plain(A) - mean * sparse.eye_array(A.shape[0])).sum(axis=0))
