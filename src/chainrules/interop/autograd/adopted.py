"""``adopt`` and ``adopt_module``: code of autograd, with its rules, in programs of ours."""

import functools
from collections.abc import Callable
from types import FunctionType, ModuleType
from typing import Any

from ...config import ArgumentTypeError
from ...rules import is_traced, name_of
from .followed import has_rules, run_followed, with_rules


def adopt(f: Callable) -> Callable:
    """Return the function ``f`` of autograd as one that our transforms differentiate.

    A primitive comes with the rules that ``defvjp`` and ``defjvp`` gave it, as an ``frule`` and an
    ``rrule`` of ours: the ``rrule`` by its ``vjp``; the ``frule`` by its ``jvp`` or, where there is
    none, by the transpose of its ``vjp``. In any other function the primitives that it calls are
    followed, each by NumPy's rule of ours where it is NumPy's, and else by its own. Derivatives of
    all orders are there, as far as autograd differentiates what the rules are made of.

    Parameters
    ----------
    f : callable
        A primitive of autograd, or a function of its code.

    Returns
    -------
    callable
        With the arguments of ``f``. With autograd's own boxes, and plain numbers, it is ``f``.

    Raises
    ------
    MissingDerivativeError
        When it is differentiated in an argument without a rule.

    Notes
    -----
    Functions that are written with ``autograd.numpy`` alone need no adoption: on our traced values
    they call NumPy, whose rules answer. What a rule of autograd says is taken as it stands: of an
    argument whose ``vjp`` is ``None`` the derivative is 0.

    Examples
    --------
    >>> import autograd.numpy as anp
    >>> import numpy as np
    >>> import chainrules as cr
    >>> from autograd.extend import defvjp, primitive
    >>> from chainrules.interop.autograd import adopt
    >>> @primitive
    ... def logsumexp(x):
    ...     largest = np.max(x)
    ...     return largest + np.log(np.sum(np.exp(x - largest)))
    >>> defvjp(logsumexp, lambda ans, x: lambda g: g * anp.exp(x - ans))
    >>> cr.hessian(adopt(logsumexp))(np.zeros(2))
    array([[ 0.25, -0.25],
           [-0.25,  0.25]])
    """
    if not callable(f):
        raise ArgumentTypeError(f"adopt takes a function, not {type(f).__name__}.")
    if has_rules(f):
        return with_rules(f)
    if getattr(f, "_is_autograd_primitive", False):
        raise ArgumentTypeError(
            f"{name_of(f)} is a primitive of autograd, to which no rule was given.\n"
            "  write autograd.extend.defvjp, or take the function in it: f.fun"
        )

    @functools.wraps(f)
    def adopted(*args: Any, **kwargs: Any) -> Any:
        if not is_traced((args, kwargs)):
            return f(*args, **kwargs)
        return run_followed(lambda args, kwargs: f(*args, **kwargs), args, kwargs)

    return adopted


def adopt_module(module: ModuleType) -> ModuleType:
    """Return a module that shows ``module`` with its functions adopted.

    The module itself stays as it is. Functions of its own and all primitives in it, imported ones
    too, are adopted; classes and all else are shown as they are.

    Parameters
    ----------
    module : module
        Written for autograd.

    Returns
    -------
    module
        It has the names of ``module``.

    Examples
    --------
    >>> import autograd.scipy.stats.norm
    >>> import chainrules as cr
    >>> from chainrules.interop.autograd import adopt_module
    >>> norm = adopt_module(autograd.scipy.stats.norm)
    >>> float(cr.grad(norm.logpdf)(2.0, 0.0, 1.0))
    -2.0
    """
    if not isinstance(module, ModuleType):
        raise ArgumentTypeError(
            f"adopt_module takes a module, not {type(module).__name__}: write adopt(f)"
        )
    shown = ModuleType(module.__name__, module.__doc__)
    for name, part in vars(module).items():
        own = isinstance(part, FunctionType) and part.__module__ == module.__name__
        if has_rules(part) or (own and not getattr(part, "_is_autograd_primitive", False)):
            part = adopt(part)
        if not name.startswith("__"):
            setattr(shown, name, part)
    return shown
