"""Zero tangents filled with zeros of their spaces, and derivatives in the form that users get.

``as_structured((1.0, x), ZeroTangent())`` is ``(0.0, np.zeros_like(x))``.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from ..annotations import Tangentlike, Value
from ..containers import LEAVES, Within, children, fold
from ..refusals.table import refusal
from ..shapes import FLOATS_AND_ARRAYS, dtype_of, is_array_class, shape_of, tangent_dtype
from ..tracing.classes.other_classes import is_computed_with
from ..tracing.level import Traced
from .project import ProjectTo
from .structural import (
    NO_TANGENT,
    AbstractZero,
    NotImplementedTangent,
    child_tangents,
    derivative_like,
    structural,
)
from .thunks import unthunk


def zero_tangent(x: Value) -> Any:
    """Return the zero tangent of ``x``: real zeros for numbers and arrays.

    Parameters
    ----------
    x : Any
        A number, an array, or a container of these.

    Returns
    -------
    Any
        Of the shape of ``x``; float64 for integers; ``NoTangent()`` for what cannot be
        perturbed; a ``Tangent`` for a container.

    Examples
    --------
    >>> zero_tangent((1.0, 2, "a"))
    Tangent(tuple, 0.0, 0.0, NoTangent())
    """
    return fold(_zero_tangent, x)


def _zero_tangent(x: Value) -> Any:
    parts = children(x)
    if parts is not None:
        return Within(zip(parts.values), partial(structural, type(x), parts.keys))
    dtype = dtype_of(x)
    if dtype is None:
        return ProjectTo(x).zeros()
    space = tangent_dtype(dtype)
    if space is None:
        return NO_TANGENT
    if isinstance(x, float | int | complex) and not isinstance(x, np.generic):
        return space.type(0).item()
    if shape_of(x) == () and not isinstance(x, np.ndarray):
        return space.type(0)
    if type(x) not in LEAVES and not is_array_class(x):
        return NO_TANGENT  # it passes on the dtype of what it holds
    return np.zeros_like(x, dtype=space)


def dense(xbar: Tangentlike, x: Value) -> Any:
    """Return a derivative of the array ``x`` as an array, also where it is a zero."""
    return np.zeros_like(x) if isinstance(xbar, AbstractZero) else xbar


def in_class_of(x: Value, t: Any) -> Any:
    """Return the derivative ``t`` of the number or array ``x`` as one of its class.

    Raises
    ------
    LostDerivativeError
        If it came as an object of others, from computing with one.
    """
    cls = type(t)
    if cls is type(x):
        return t
    # A traced one says that it is what it carries.
    if x.__class__ is np.ndarray and issubclass(t.__class__, np.generic):
        return np.copy(t)  # of an array without axes
    if type(x) in FLOATS_AND_ARRAYS and dtype_of(t) is not None and not is_computed_with(cls, x):
        raise refusal("derivative of another class", x=type(x).__name__, cls=cls.__name__)
    return t


def as_structured(x: Value, t: Tangentlike, own: Callable[[Any], Any] | None = None) -> Any:
    """Give the tangent ``t`` of ``x`` the structure of ``x``, with real zeros.

    Tuples, lists, dicts and namedtuples come back as what they are; a dataclass or another
    object as a ``Tangent`` of all its fields. Numbers and arrays are handed on through ``own``.
    """

    number = type(t) in FLOATS_AND_ARRAYS or isinstance(t, Traced)
    if number and type(x) in LEAVES:  # as nearly always
        return in_class_of(x, t if own is None else own(t))

    def look(x: Value, t: Any) -> Any:
        t = unthunk(t)
        if issubclass(type(t), NotImplementedTangent):
            raise t.error()
        parts = children(x)
        if parts is not None:
            return Within(zip(parts.values, child_tangents(x, t)), partial(derivative_like, x))
        if issubclass(type(t), AbstractZero):
            return zero_tangent(x)
        return in_class_of(x, t if own is None else own(t))

    return fold(look, x, t)
