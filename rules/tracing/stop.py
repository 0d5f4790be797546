"""Plain numbers on request, as copies: ``value``, ``stop_gradient`` and ``ignore_derivatives``.

``cr.value(x)`` is the plain number under ``x``; ``cr.stop_gradient(x)`` too, and neither has a
derivative.
"""

import functools
import inspect
from typing import Any

from ..annotations import Value
from ..containers import replaced
from ..known_classes import of_libraries
from ..signatures import parameters
from .level import Traced, innermost
from .level import value as value_under
from .object_arrays import healed, holds_traced
from .views import snapshot


def value(x: Value) -> Any:
    """Return the number or array under a traced value, with no derivative at any level.

    An array is a copy, which may be written to; a sparse array with traced entries becomes one of
    SciPy's.

    Parameters
    ----------
    x : Any
        A traced value, or a container of them; anything else is returned as it is.

    Examples
    --------
    >>> import chainrules as cr
    >>> cr.grad(lambda x: x * cr.value(x))(3.0)
    3.0
    """
    if isinstance(x, Traced):  # as nearly always
        return _copied_value(x)
    y = replaced(_copied_value, x)
    convert = of_libraries.get(type(y))
    return y if convert is None or innermost((y,)) is not None else convert(y)


def _copied_value(x: Value) -> Any:
    if holds_traced(x):  # what np.asarray made of a traced array
        x = healed(x)
    if not isinstance(x, Traced):
        return x
    x = value_under(x)
    return snapshot(x.at_level.made_constant(x) if isinstance(x, Traced) else x)


def stop_gradient(x: Value) -> Any:
    """Return ``x`` as a constant: the same numbers, with no derivative at any level.

    An array that was traced comes back as a copy, which may be written to.

    Parameters
    ----------
    x : Any
        A number, an array, or a container of these.

    Examples
    --------
    >>> import chainrules as cr
    >>> cr.grad(lambda x: x * cr.stop_gradient(x))(3.0)
    3.0
    """
    return value(x)


def ignore_derivatives(f_or_x: object) -> Any:
    """Drop the derivatives of a value, or of what a function computes.

    A function that takes arguments comes back as one that computes with plain numbers and
    returns constants; a function without parameters is called at once, and its result is a
    constant; anything else is a constant itself.

    Examples
    --------
    >>> import chainrules as cr
    >>> cr.grad(lambda x: x * cr.ignore_derivatives(lambda: x**2))(3.0)
    9.0
    >>> constant_square = cr.ignore_derivatives(lambda x: x**2)
    >>> cr.grad(lambda x: x * constant_square(x))(3.0)
    9.0
    """
    if not inspect.isroutine(f_or_x) and not isinstance(f_or_x, functools.partial):
        return value(f_or_x)
    known = parameters(f_or_x)
    if known is not None and not known:
        return value(f_or_x())

    @functools.wraps(f_or_x)
    def without_derivatives(*args: object, **kwargs: object) -> Any:
        return value(f_or_x(*map(value, args), **{k: value(x) for k, x in kwargs.items()}))

    return without_derivatives
