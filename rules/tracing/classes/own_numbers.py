"""Subclasses of Python's numbers and sequences as operands beside traced values.

Python and NumPy compute with the number in a subclass of ``float`` or ``int``, whatever its
operators mean, but where they ask these first. So rules are given that number, and an operator on
the right its turn.
"""

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from ...annotations import Value
from ...containers import LEAVES
from ...known_classes import library_of
from ...refusals.table import refusal
from ..level import Traced, type_under

_NUMBERS = (float, int, complex, np.generic)
_SEQUENCES = (list, tuple)
_DEFINED_IN_PYTHON = 1 << 9  # Py_TPFLAGS_HEAPTYPE
PRIORITY_OF_NUMBERS = -1e6  # of NumPy's numbers, to which nearly all others are preferred


def is_subclass_of(cls: type, bases: tuple[type, ...]) -> bool:
    """Say whether ``cls`` is a class of the user's that derives from one of ``bases``."""
    defined = cls.__flags__ & _DEFINED_IN_PYTHON and not issubclass(cls, Traced)
    return bool(defined) and issubclass(cls, bases)


def speaks_for_itself(cls: type) -> bool:
    """Say whether a subclass of a number or a sequence has NumPy's protocols for itself."""
    return is_subclass_of(cls, (float, int, complex, *_SEQUENCES)) and any(
        getattr(cls, name, None) is not None for name in ("__array_ufunc__", "__array_function__")
    )


def compared(operation: Callable, a: Any, b: Any) -> Any:
    """Return ``operation(a, b)``, a comparison of plain values.

    Python turns the operands round where the one on the left does not know the other.

    Raises
    ------
    LostDerivativeError
        If the class of ``b`` gives another answer where it is asked first.
    """
    y, cls = operation(a, b), type(b)
    turned = cls not in LEAVES and speaks_for_itself(cls)
    if turned and not np.array_equal(y, _TURNED[operation](b, a)):
        raise refusal("answers itself", f="a comparison", cls=cls.__name__)
    return y


_TURNED = {
    operator.lt: operator.gt, operator.le: operator.ge, operator.gt: operator.lt,
    operator.ge: operator.le, operator.eq: operator.eq, operator.ne: operator.ne,
}  # fmt: skip


def number_in(x: Value) -> Any:
    """Return the number in an instance of a subclass of numbers; anything else as it is."""
    cls = type(x)
    if not is_subclass_of(cls, _NUMBERS) or speaks_for_itself(cls):
        return x
    number: Any = x
    if issubclass(cls, np.generic):
        return x if number.dtype.type is cls else number.dtype.type(number)
    return base_number(number)


def base_number(number: Any) -> Any:
    """Return an instance of a subclass of one of Python's numbers as that number."""
    (base,) = (base for base in _TAKEN_BY if isinstance(number, base))
    return base.__pos__(number)


# Python's numbers, and the numbers that their operators take beside themselves.
_TAKEN_BY: dict[Any, tuple] = {float: (float, int), int: (int,), complex: (complex, float, int)}


def number_on_the_left(operation: Callable, a: Any, b: Any) -> Any:
    """Return the number in ``a``, whose operator is Python's and takes ``b``; None if it is not so.

    NumPy's numbers of double precision are Python's, too: so nobody asks their protocols.
    """
    cls, under = type(a), type_under(b)
    if is_subclass_of(cls, (float, int, complex)):
        name = f"__{operation.__name__}__"
        for base, taken in _TAKEN_BY.items():
            inherited = getattr(cls, name, None) is getattr(base, name, cls)
            if issubclass(cls, base) and inherited and issubclass(under, taken):
                return base_number(a)
    return None


def as_of_python(x: Value) -> Any:
    """Return an instance of a subclass as the number, the list or the tuple that NumPy reads."""
    cls = type(x)
    if not is_subclass_of(cls, _SEQUENCES) or speaks_for_itself(cls):
        return number_in(x)
    sequence: Any = x
    return list(sequence) if issubclass(cls, list) else tuple(sequence)


def turn_of(ufunc: np.ufunc, operation: Callable, a: Any, b: Any) -> Any:
    """Return what ``b``, of a subclass, makes of ``operation(a, b)`` where Python asks it first.

    That is where its class derives from the other's, or the other is a number of Python's and it
    is a sequence or an array; beside NumPy's where its priority is higher. NotImplemented is no
    answer.
    """
    cls, under = type(b), type_under(a)
    if operation is ufunc or not is_subclass_of(cls, (*_NUMBERS, *_SEQUENCES, np.ndarray)):
        return NotImplemented
    base = next(base for base in cls.__mro__ if not base.__flags__ & _DEFINED_IN_PYTHON)
    name = f"__r{operation.__name__}__"
    theirs: Any = getattr(cls, name, None)
    if theirs is None or theirs is getattr(base, name, None):
        return NotImplemented
    of_numpys = issubclass(under, np.ndarray | np.generic)
    if issubclass(cls, np.ndarray):  # one of NumPy's asks it entry by entry
        asked = not of_numpys and library_of(theirs) != "numpy"
    elif of_numpys:
        own_priority = 0.0 if issubclass(under, np.ndarray) else PRIORITY_OF_NUMBERS
        asked = getattr(b, "__array_priority__", PRIORITY_OF_NUMBERS) > own_priority
        if hasattr(cls, "__array_ufunc__"):
            asked = cls.__array_ufunc__ is None
        asked = asked or issubclass(cls, under)
    else:
        asked = issubclass(cls, (*_SEQUENCES, under))
    return theirs(b, a) if asked else NotImplemented
