"""Operators between traced values and constant sparse arrays or linear operators.

The operators of SciPy's classes ask no protocol of NumPy's: given a traced value they hand it to
compiled code, which fails. Those of our subclasses look for one first; nothing else differs.
"""

import copy
import functools
import math

import numpy as np
from scipy import sparse
from scipy.sparse import linalg

from .....config import MissingRuleError, user_line
from .... import (
    Pattern,
    Traced,
    bilinear_rule,
    innermost,
    levels_of,
    linear_rule,
    primitive,
    shape_of,
    value,
)
from ...functions.closures import TakenOut
from .array import SparseArray, lifted
from .products import as_rows
from .seeing import CLASSES, SeeingOperator, seeing

OPERATORS = (
    "__add__", "__matmul__", "__mul__", "__radd__", "__rmatmul__", "__rmul__", "__rsub__",
    "__sub__", "__truediv__", "dot", "multiply",
)  # fmt: skip
PRODUCTS = ("__matmul__", "__mul__", "__rmatmul__", "__rmul__", "dot")


def teach(cls, own, name, answer):
    """Let ``cls``, a subclass of SciPy's ``own``, answer where the other operand is traced."""
    original = getattr(own, name)

    @functools.wraps(original)
    def method(self, other, *args, **kwargs):
        if isinstance(other, Traced) or type(other) is SparseArray:
            return answer(self, other, *args, **kwargs)
        if name.startswith("__r") and type(other) in CLASSES:
            # Python asks a subclass first; but SciPy's own array stands on the left.
            return getattr(seeing(other), f"__{name[3:]}")(self)
        return seeing(original(self, other, *args, **kwargs))

    setattr(cls, name, method)


def by_entries(name):
    def answer(self, other, *args, **kwargs):
        if is_product(self, name) and isinstance(other, Traced) and np.ndim(other) in (1, 2):
            if name.startswith("__r"):
                return np.transpose(operator_product(self.T, np.transpose(other)))
            return operator_product(self, other)
        return getattr(lifted(self), name)(other, *args, **kwargs)

    return answer


def is_product(x, name):
    """Say whether the operator of this name is the product of matrices."""
    elementwise = ("__mul__", "__rmul__") if isinstance(x, sparse.sparray) else ()
    return name in PRODUCTS and name not in elementwise


for _own, _cls in CLASSES.items():
    for _name in OPERATORS:
        teach(_cls, _own, _name, by_entries(_name))


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


def operator_product(a, x):
    if a.ndim == 1:
        return operator_product(a.reshape(1, a.shape[0]).tocsr(), x)[0]
    if np.shape(x)[0] != a.shape[1]:
        _dimension_mismatch(a, x)
    a = a if a.format not in ("dok", "lil") else a.tocsr()
    return multiplied(a.data, x, a)


# ---- linear operators -----------------------------------------------------------------------


class HeldOperator:
    """A constant operator as it was when it was taken, whatever its functions read moves on to.

    In its functions plain numbers stand in place of traced ones.
    """

    __slots__ = ("changes", "numbers", "taken")

    def __init__(self, taken, numbers, changes=()):
        self.taken, self.numbers, self.changes = taken, numbers, changes

    def __call__(self):
        operator = self.taken(*self.numbers)
        for change in self.changes:
            operator = change(operator)
        return operator

    def then(self, change):
        return HeldOperator(self.taken, self.numbers, (*self.changes, change))


def held_operator(operator, *operands):
    """Take an operator as it is; a tape that follows the operands compares its large arrays."""
    taken = TakenOut(operator)
    inwards = sorted(levels_of(*operands), key=lambda level: level.number)
    watches = [level.watch for level in inwards if hasattr(level, "watch")]
    taken.hold_all(watches[-1] if watches else None)
    numbers = [value(x) for x in taken.parameters]
    numbers = [np.asarray(x)[()] if isinstance(x, Traced) else x for x in numbers]
    return HeldOperator(taken, numbers)


@primitive
def operated(x, held):
    """``operator @ x``, of a held operator; a recorder follows what its functions do."""
    y = _operated(x, held())
    held.taken.after_run()
    return y


def _operated(x, operator):
    if not isinstance(x, Traced):
        return np.asarray(operator @ x)
    if isinstance(operator, _BY_MATRIX):
        return operator.A @ x
    if np.ndim(x) == 1:
        return np.reshape(operator._matvec(x), operator.shape[:1])
    columns = np.shape(x)[1]
    return np.stack([_operated(x[:, i], operator) for i in range(columns)], axis=1)


@linear_rule(operated)
def operated_transpose(ybar, space, held):
    return operated(ybar, held.then(adjoint_of))


def adjoint_of(operator):
    if isinstance(operator, linalg.LinearOperator):
        return operator.H
    return operator.conj().T if operator.dtype.kind == "c" else operator.T


def applied(self, x, *args, **kwargs):
    if np.ndim(x) == 0:
        return NotImplemented
    if len(self.shape) > 2:  # since SciPy 1.18
        raise MissingRuleError(
            f"a batch of operators has no rule, in {user_line()}.\n  write one operator for each"
        )
    if np.shape(x)[-2 if np.ndim(x) > 1 else 0] != self.shape[1]:
        _dimension_mismatch(self, x)
    return operated(x, held_operator(self, x))


def applied_to_vectors(self, x):
    """Apply an operator to a vector, or a column; since SciPy 1.18 vectors are rows of a batch."""
    if np.ndim(x) < 2 or np.shape(x) == (self.shape[-1], 1):
        return applied(self, x)
    return applied(self, x[..., None])[..., 0]


def applied_from_the_right(self, x):
    if np.ndim(x) < 2:
        return applied(self.T, x)
    return np.swapaxes(applied(self.T, np.swapaxes(x, -1, -2)), -1, -2)


def _dimension_mismatch(operator, x):
    raise ValueError(f"dimension mismatch: {operator.shape} and {np.shape(x)}")


def asking(name, answer):
    """Return the method of this name: SciPy's own, but where its argument is traced."""

    @functools.wraps(getattr(linalg.LinearOperator, name))
    def method(self, *args):
        if answer is not None and (isinstance(args[0], Traced) or type(args[0]) is SparseArray):
            return answer(self, *args)
        return seeing(getattr(super(SeeingOperator, self), name)(*args))

    return method


ANSWERS = {
    **dict.fromkeys(("__call__", "__matmul__", "__mul__", "dot", "matmat"), applied),
    "matvec": applied_to_vectors,
    "rmatmat": lambda self, x: applied(self.H, x),
    "rmatvec": lambda self, x: applied_to_vectors(self.H, x),
    **dict.fromkeys(("__rmatmul__", "rdot"), applied_from_the_right),
    **dict.fromkeys(("__add__", "__neg__", "__pow__", "__rmul__", "__sub__", "__truediv__")),
}
for _name in ANSWERS.keys() & set(dir(linalg.LinearOperator)):
    setattr(SeeingOperator, _name, asking(_name, ANSWERS[_name]))


def is_by_functions(operator):
    """Say whether it is ``LinearOperator(shape, matvec)``, of which ``_matvec`` is the function."""
    return isinstance(operator, _BY_FUNCTIONS)


_BY_FUNCTIONS = type(linalg.LinearOperator((1, 1), matvec=abs))
_BY_MATRIX = type(linalg.aslinearoperator(np.eye(1)))


def depends(x):
    """Say whether an operator's functions, or what is in a tuple, hold what is traced."""
    return bool(TakenOut(x).parameters)


def refuse_depending(f, operator):
    """Refuse an operator whose functions or attributes hold what is traced, which ``f`` applies."""
    if depends((operator, *vars(operator).values())):
        raise MissingRuleError(
            f"scipy.sparse.linalg.{f.__name__} of an operator that depends on what is traced has "
            f"no rule, in {user_line()}.\n"
            "  give a matrix; or let a function that makes the operator and solves be "
            "differentiated by its equation: cr.implicit(lambda y, b, p: apply(p, y) - b)(solve)"
        )


def aslinearoperator(A):  # noqa: N803 - SciPy's name
    if innermost((A,)) is not None:
        raise MissingRuleError(
            "scipy.sparse.linalg.aslinearoperator has no derivative: an operator of SciPy's is "
            f"constant, in {user_line()}.\n  write A @ x, with A itself"
        )
    return seeing(linalg.aslinearoperator(A))
