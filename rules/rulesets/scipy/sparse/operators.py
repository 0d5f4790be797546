"""SciPy's sparse arrays and linear operators beside traced values.

Their operators ask no protocol of NumPy's: given a traced value they hand it to compiled code,
which fails. So they are taught here, once, to look for one first; nothing else changes.
"""

import copy
import functools
import math

import numpy as np
from scipy import sparse
from scipy.sparse import linalg

from .... import Pattern, Traced, bilinear_rule, linear_rule, primitive, shape_of
from .array import SparseArray, lifted
from .products import as_rows

OPERATORS = (
    "__add__", "__matmul__", "__mul__", "__radd__", "__rmatmul__", "__rmul__", "__rsub__",
    "__sub__", "__truediv__", "dot", "multiply",
)  # fmt: skip
PRODUCTS = ("__matmul__", "__mul__", "__rmatmul__", "__rmul__", "dot")
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
        if is_product(self, name) and isinstance(other, Traced) and np.ndim(other) in (1, 2):
            if name.startswith("__r"):
                return np.transpose(product(self.T, np.transpose(other)))
            return product(self, other)
        return getattr(lifted(self), name)(other, *args, **kwargs)

    return answer


def is_product(x, name):
    """Say whether the operator of this name is the product of matrices."""
    elementwise = ("__mul__", "__rmul__") if isinstance(x, sparse.sparray) else ()
    return name in PRODUCTS and name not in elementwise


# ---- products with constant arrays ----------------------------------------------------------


@primitive
def multiplied(data, x, like):
    """``a @ x``, where ``a`` is ``like``, an array of SciPy's, but with these plain ``data``.

    They are an argument, so that no change of them goes unseen before the derivative is computed.
    """
    return np.asarray(holding(like, data) @ x)


def holding(like, data):
    a = copy.copy(like)
    a.data = data
    return a


def multiplied_left(ybar, data, x, like):
    raise NotImplementedError("the stored numbers of SciPy's own arrays are constant")


def multiplied_right(ybar, data, x, like):
    a = adjoint_of(holding(like, data))
    return multiplied(a.data, as_rows(ybar), a)


def multiplied_block(data, x, like):
    columns = np.moveaxis(x.values, 0, -1)
    flat = np.reshape(columns, (x.shape[0], math.prod(x.shape[1:]) * x.count))
    y = np.reshape(multiplied(data, flat, like), (like.shape[0], *shape_of(columns)[1:]))
    return np.moveaxis(y, -1, 0)


def multiplied_pattern(data, x, like):
    shape = (like.shape[0], *x.shape[1:])
    flags = sparse.csr_array(holding(like, data)) != 0
    linear = sparse.kron(flags, sparse.eye_array(math.prod(shape[1:]), dtype=bool))
    return Pattern(shape, sparse.csr_array(linear) @ x.rows)


bilinear_rule(
    multiplied,
    multiplied_left,
    multiplied_right,
    block=multiplied_block,
    pattern=multiplied_pattern,
)


def product(a, x):
    if a.ndim == 1:
        return product(a.reshape(1, a.shape[0]).tocsr(), x)[0]
    if np.shape(x)[0] != a.shape[1]:
        _dimension_mismatch(a, x)
    a = a if a.format not in ("dok", "lil") else a.tocsr()
    return multiplied(a.data, x, a)


# ---- linear operators -----------------------------------------------------------------------


@primitive
def operated(x, operator):
    """``operator @ x``, of a constant operator."""
    return np.asarray(operator @ x)


@linear_rule(operated)
def operated_transpose(ybar, space, operator):
    return operated(ybar, adjoint_of(operator))


def adjoint_of(operator):
    if isinstance(operator, linalg.LinearOperator):
        return operator.H
    return operator.conj().T if operator.dtype.kind == "c" else operator.T


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


# ---- SciPy's classes, from now on ------------------------------------------------------------

_formats = [getattr(sparse, f"{name}_{kind}") for name in FORMATS for kind in ("array", "matrix")]
for _cls in classes_of(*_formats):
    for _name in OPERATORS:
        teach(_cls, _name, by_entries(_name))
for _name in ("__call__", "__matmul__", "__mul__", "dot", "matmat", "matvec"):
    teach(linalg.LinearOperator, _name, applied)
for _name in ("rmatmat", "rmatvec"):
    teach(linalg.LinearOperator, _name, applied_adjoint)
teach(linalg.LinearOperator, "__rmatmul__", applied_from_the_right)
