"""Dense results of sparse matrices: an ``np.matrix`` of traced numbers, made when it is needed.

``A.todense() * B`` is a product of matrices where ``A`` is a ``csr_matrix``, and what NumPy ravels
of ``A.sum(0)`` keeps two axes. Most code wants the plain array at once, ``np.asarray(A.sum(1))``,
which ``np.matrix`` would give entry by entry.
"""

import operator

import numpy as np

from .... import Traced
from ....known_classes import Children, Shell, Table, passing, quantities, registered, tables

_OPERATORS = (  # noqa: SIM905
    "add radd sub rsub mul rmul matmul rmatmul truediv rtruediv floordiv rfloordiv mod rmod pow "
    "rpow neg pos abs lt le gt ge eq ne getitem iter len bool float"
).split()


class TracedMatrix:
    """A matrix around the traced array ``x``: an ``np.matrix`` to whoever computes with it."""

    __slots__ = ("x",)
    __array_priority__ = 10.1  # above that of np.matrix
    __hash__ = None  # type: ignore[assignment]
    __class__ = property(lambda self: np.matrix)

    def __init__(self, x):
        self.x = x

    def as_matrix(self):
        return self.x.view(np.matrix)

    def __array__(self, dtype=None, copy=None):
        return np.asarray(self.x, dtype)

    def __array_ufunc__(self, ufunc, method, *args, **kwargs):
        return getattr(ufunc, method)(*_opened(args), **kwargs)

    def __array_function__(self, f, types, args, kwargs):
        return f(*_opened(args), **kwargs)

    def __getattr__(self, name):
        return getattr(self.as_matrix(), name)

    A = property(lambda self: +self.x)
    A1 = property(lambda self: np.ravel(self.x))
    shape, ndim, dtype, size = (
        property(operator.attrgetter(f"x.{name}")) for name in ("shape", "ndim", "dtype", "size")
    )


def _opened(x):
    if type(x) is TracedMatrix:
        return x.as_matrix()
    return type(x)(map(_opened, x)) if type(x) in (list, tuple) else x


def dense(y, is_matrix):
    """Return what SciPy gives: of a sparse matrix a matrix, in place of an array of two axes."""
    if not is_matrix or np.ndim(y) != 2:
        return y
    return TracedMatrix(y) if isinstance(y, Traced) else np.asarray(y).view(np.matrix)


def _rebuilt(x):
    if x is None:
        return Shell(TracedMatrix, ("x",))
    return x.view(np.matrix) if type(x) is np.ndarray else TracedMatrix(x)


registered[TracedMatrix] = lambda m: Children(("x",), (m.x,), lambda parts: _rebuilt(*parts))
quantities.add(TracedMatrix)
passing.add(TracedMatrix)
tables[TracedMatrix] = Table(
    lambda operation, a, b: operation(_opened(a), _opened(b)),
    lambda m: m.x,
    lambda f, args, kwargs: f(*_opened(args), **kwargs),
)


def _operator(name):
    def operate(self, *others):
        return getattr(self.as_matrix(), name)(*_opened(others))

    operate.__name__ = name
    return operate


for _name in _OPERATORS:
    setattr(TracedMatrix, f"__{_name}__", _operator(f"__{_name}__"))
