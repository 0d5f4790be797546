"""SciPy's sparse arrays and linear operators beside traced values.

Their operators ask no protocol of NumPy's: given a traced value they hand it to compiled code,
which fails. So they are taught here, once, to look for one first; nothing else changes.
"""

import functools

import numpy as np
from scipy import sparse
from scipy.sparse import linalg

from .... import Traced, linear_rule, primitive
from .array import SparseArray, lifted

OPERATORS = (
    "__add__", "__matmul__", "__mul__", "__radd__", "__rmatmul__", "__rmul__", "__rsub__",
    "__sub__", "__truediv__", "dot", "multiply",
)  # fmt: skip
FORMATS = ("bsr", "coo", "csc", "csr", "dia", "dok", "lil")


def classes_of(*classes):
    """Return these and all classes of SciPy that they inherit from."""
    every = {base for cls in classes for base in cls.__mro__}
    return [cls for cls in every if cls.__module__.startswith("scipy.sparse")]


def teach(cls, name, answer):
    """Let the method ``answer`` where its argument is traced."""
    own = vars(cls).get(name)
    if own is None or hasattr(own, "__wrapped__"):
        return

    @functools.wraps(own)
    def method(self, other, *args, **kwargs):
        if isinstance(other, Traced) or type(other) is SparseArray:
            return answer(self, other, *args, **kwargs)
        return own(self, other, *args, **kwargs)

    setattr(cls, name, method)


def by_entries(name):
    def answer(self, other, *args, **kwargs):
        return getattr(lifted(self), name)(other, *args, **kwargs)

    return answer


_formats = [getattr(sparse, f"{name}_{kind}") for name in FORMATS for kind in ("array", "matrix")]
for _cls in classes_of(*_formats):
    for _name in OPERATORS:
        teach(_cls, _name, by_entries(_name))


# ---- linear operators -----------------------------------------------------------------------


@primitive
def operated(x, operator):
    """``operator @ x``, of a constant operator, or of a sparse or dense array."""
    return np.asarray(operator @ x)


@linear_rule(operated)
def operated_transpose(ybar, space, operator):
    return operated(ybar, adjoint_of(operator))


def adjoint_of(operator):
    return operator.H if isinstance(operator, linalg.LinearOperator) else operator.conj().T


def applied(self, x, *args, **kwargs):
    if np.ndim(x) == 0 or np.shape(x)[0] != self.shape[1]:
        return NotImplemented if np.ndim(x) == 0 else _dimension_mismatch(self, x)
    return operated(x, self)


def applied_adjoint(self, x):
    return applied(self.H, x)


def applied_from_the_right(self, x):
    return np.transpose(applied(self.T, np.transpose(x)))


def _dimension_mismatch(operator, x):
    raise ValueError(f"dimension mismatch: {operator.shape} and {np.shape(x)}")


for _name in ("__call__", "__matmul__", "__mul__", "dot", "matmat", "matvec"):
    teach(linalg.LinearOperator, _name, applied)
for _name in ("rmatmat", "rmatvec"):
    teach(linalg.LinearOperator, _name, applied_adjoint)
teach(linalg.LinearOperator, "__rmatmul__", applied_from_the_right)
