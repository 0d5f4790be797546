"""The factors of a matrix, made once, and what is computed from them: by SciPy's LAPACK.

Matrices are factorised as NumPy does it, by columns: so a pivot that is 0 there is 0 here.
Matrices by rows, such as a Cholesky factor of NumPy's, are the transposes of LAPACK's.
"""

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ...rules.rulesets.linalg.triangular import pull_by_inverse

KINDS = "fdFD"  # float32, float64, complex64, complex128
_LETTERS = dict(zip(KINDS, "sdcz", strict=True))
_ROUTINES = ("getrf", "getrs", "getri", "getri_lwork", "trtrs", "trtri")
_SINGULAR = "Singular matrix"


class Seen(NamedTuple):
    """View of a factorized matrix that a step reads: transposed, conjugated, both, or neither."""

    transposed: bool = False
    conjugated: bool = False

    def of(self, x: Any) -> Any:
        x = x.T if self.transposed else x
        return np.conj(x) if self.conjugated else x


@functools.cache
def available() -> bool:
    try:
        import scipy.linalg.lapack  # type: ignore[import-untyped,unused-ignore]  # noqa: F401
    except ImportError:
        return False
    return True


@functools.cache
def _lapack(kind: str) -> Any:
    """Return LAPACK's routines for numbers of a kind, as a named tuple."""
    from scipy.linalg import lapack

    routines = [getattr(lapack, _LETTERS[kind] + name) for name in _ROUTINES]
    return _Routines(*routines)


class _Routines(NamedTuple):
    getrf: Callable
    getrs: Callable
    getri: Callable
    getri_lwork: Callable
    trtrs: Callable
    trtri: Callable


class LU:
    """``a`` as a product of triangles, with rows exchanged.

    Examples
    --------
    >>> factors = LU(np.array([[0.0, 2.0], [1.0, 0.0]]))
    >>> factors.solve(np.ones(2), Seen()), factors.slogdet(Seen())[0]
    (array([1. , 0.5]), np.float64(-1.0))
    """

    def __init__(self, a: np.ndarray) -> None:
        self.lapack = _lapack(a.dtype.char)
        self.lu, self.pivots, failed = self.lapack.getrf(a)
        self.singular = failed > 0

    def check(self) -> None:
        if self.singular:
            raise np.linalg.LinAlgError(_SINGULAR)

    def solve(self, b: np.ndarray, seen: Seen) -> np.ndarray:
        self.check()
        if seen == (False, True):
            return np.conj(self.solve(np.conj(b), Seen()))
        b = np.asarray(b, self.lu.dtype)
        how = 0 if not seen.transposed else 2 if seen.conjugated else 1
        return np.ascontiguousarray(self.lapack.getrs(self.lu, self.pivots, b, trans=how)[0])

    def inverse(self, seen: Seen) -> np.ndarray:
        self.check()
        work = int(self.lapack.getri_lwork(len(self.lu))[0].real)
        return seen.of(self.lapack.getri(self.lu, self.pivots, lwork=work)[0])

    def slogdet(self, seen: Seen) -> tuple[Any, Any]:
        diagonal = np.diagonal(self.lu)
        exchanged = np.count_nonzero(self.pivots != np.arange(len(self.pivots)))
        sign, log = _slogdet(diagonal, exchanged % 2 == 1, self.singular)
        return np.conj(sign) if seen.conjugated else sign, log


class Triangular:
    """A triangular matrix by rows, of which LAPACK reads the transpose: its own factor."""

    def __init__(self, a: np.ndarray, upper: bool) -> None:
        self.lapack = _lapack(a.dtype.char)
        self.columns, self.lower = a.T, upper

    def solve(self, b: np.ndarray, seen: Seen) -> np.ndarray:
        if seen == (True, True):
            return np.conj(self.solve(np.conj(b), Seen(True, False)))
        b = np.asarray(b, self.columns.dtype)
        how = 0 if seen.transposed else 2 if seen.conjugated else 1
        y, failed = self.lapack.trtrs(self.columns, b, lower=self.lower, trans=how)
        if failed > 0:
            raise np.linalg.LinAlgError(_SINGULAR)
        return np.ascontiguousarray(y)

    def inverse(self, seen: Seen) -> np.ndarray:
        y, failed = self.lapack.trtri(self.columns, lower=self.lower)
        if failed > 0:
            raise np.linalg.LinAlgError(_SINGULAR)
        return seen.of(y.T)

    def slogdet(self, seen: Seen) -> tuple[Any, Any]:
        diagonal = np.diagonal(self.columns)
        sign, log = _slogdet(diagonal, False, bool(np.any(diagonal == 0)))
        return np.conj(sign) if seen.conjugated else sign, log


def _slogdet(diagonal: np.ndarray, odd: bool, singular: bool) -> tuple[Any, Any]:
    """Return sign and logarithm of the product of a diagonal, as NumPy makes them."""
    sizes = np.abs(diagonal)
    if singular:
        return diagonal.dtype.type(0), sizes.dtype.type(-np.inf)
    if diagonal.dtype.kind == "c":
        sign = np.prod(diagonal / sizes)
    else:
        sign = diagonal.dtype.type(-1 if np.count_nonzero(diagonal < 0) % 2 else 1)
    return -sign if odd else sign, np.sum(np.log(sizes))


# ---- what stands for NumPy's functions, and for the primitives of the rules ---------------------


def solve(factors: LU | Triangular, seen: Seen, b: np.ndarray) -> np.ndarray:
    return factors.solve(b, seen)


def inv(factors: LU | Triangular, seen: Seen) -> np.ndarray:
    return np.ascontiguousarray(factors.inverse(seen))


def slogdet(factors: LU | Triangular, seen: Seen) -> Any:
    return _result_type()(*factors.slogdet(seen))


@functools.cache
def _result_type() -> type:
    return type(np.linalg.slogdet(np.eye(1)))


def det(factors: LU | Triangular, seen: Seen) -> Any:
    sign, log = factors.slogdet(seen)
    return sign * np.exp(log)


def inverse_or_nan(factors: LU | Triangular, seen: Seen, sign: Any) -> np.ndarray:
    """Return the inverse, or NaN if the determinant is 0, of which ``sign`` is the sign."""
    if sign != 0:
        return inv(factors, seen)
    a = factors.lu if isinstance(factors, LU) else factors.columns
    return np.full(a.shape, np.nan, a.dtype)


def cholesky_pull(factors: Triangular, seen: Seen, y: np.ndarray, ybar: np.ndarray) -> np.ndarray:
    return pull_by_inverse(y, factors.inverse(seen), ybar)
