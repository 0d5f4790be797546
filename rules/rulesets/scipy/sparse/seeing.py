"""Subclasses of SciPy's sparse arrays and linear operators whose operators accept traced values.

SciPy's own classes stay as they are. What ``chainrules.scipy.sparse`` makes is of these, and so is
what their methods make of them; the operators that look for traced values are in ``operators``.
"""

import functools
from abc import ABCMeta

from scipy import sparse
from scipy.sparse import linalg

FORMATS = ("bsr", "coo", "csc", "csr", "dia", "dok", "lil")
CLASSES: dict[type, type] = {}  # of SciPy's, and ours


class SeeingClass(ABCMeta):
    """The type of our subclasses. Whatever is, or stands for, SciPy's array is one of theirs."""

    def __instancecheck__(cls, x):
        if "original" not in vars(cls):  # a user's own
            return super().__instancecheck__(x)
        stands_for = getattr(type(x), "stands_for", type)
        return cls.original in stands_for(x).__mro__

    def __subclasscheck__(cls, other):
        if "original" not in vars(cls):
            return super().__subclasscheck__(other)
        return cls.original in other.__mro__  # asked by SciPy's own class, too


def returns_ours(f):
    """Return a function that is ``f``, but for arrays of SciPy's own that it returns."""

    @functools.wraps(f)
    def call(*args, **kwargs):
        return seeing(f(*args, **kwargs))

    return call


def _container(kind, format):
    return property(lambda self: globals()[f"{format}_{kind}"])


def _subclass(name, kind):
    original = getattr(sparse, name)
    hooks = {f"_{format}_container": _container(kind, format) for format in FORMATS}
    about = {"original": original, "__doc__": original.__doc__, "__module__": __name__}
    if hasattr(original, "__getitem__"):  # that of coo arrays asks for no container
        about["__getitem__"] = returns_ours(original.__getitem__)
    CLASSES[original] = SeeingClass(name, (original,), {**about, **hooks})
    return CLASSES[original]


# By these names pickles find them.
for _kind in ("array", "matrix"):
    for _format in FORMATS:
        globals()[f"{_format}_{_kind}"] = _subclass(f"{_format}_{_kind}", _kind)


def seeing(x):
    """Return SciPy's array or operator ``x`` as one of ours, which has the same data."""
    if type(x) in CLASSES:
        cls = CLASSES[type(x)]
    elif isinstance(x, linalg.LinearOperator) and not isinstance(x, SeeingOperator):
        cls = _operator_class(type(x))
    else:
        return tuple(map(seeing, x)) if type(x) is tuple else x
    y = object.__new__(cls) if not issubclass(cls, dict) else dict.__new__(cls)
    vars(y).update(vars(x))
    return y


# ---- linear operators -----------------------------------------------------------------------


class SeeingOperator(linalg.LinearOperator):
    """Base class of our linear operators: adjoint and transpose give operators of ours, too."""

    def adjoint(self):
        return seeing(super().adjoint())

    def transpose(self):
        return seeing(super().transpose())

    H = property(adjoint)
    T = property(transpose)


class LinearOperator(SeeingOperator):
    __doc__ = linalg.LinearOperator.__doc__

    def __new__(cls, *args, **kwargs):
        return super().__new__(_CustomLinearOperator if cls is LinearOperator else cls)


_own_custom = type(linalg.LinearOperator((1, 1), matvec=abs))


class _CustomLinearOperator(LinearOperator, _own_custom):  # type: ignore[misc, valid-type]
    """An operator by functions."""


def _as_scipys(operator, own):
    """Reduce an operator to SciPy's with the same data, which knows how to copy itself."""
    x = object.__new__(own)
    vars(x).update(vars(operator))
    return seeing, (x,)


@functools.cache
def _operator_class(own):
    if own is _own_custom:
        return _CustomLinearOperator
    reduce = {"__reduce__": lambda self: _as_scipys(self, own)}
    return type(own.__name__, (SeeingOperator, own), {"__module__": __name__, **reduce})
