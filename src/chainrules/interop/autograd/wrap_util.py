"""As ``autograd.wrap_util``: operators of functions of one argument, for any argument."""

import functools
from collections.abc import Callable
from typing import Any

from ...config import ArgumentTypeError
from ...rules import name_of


def unary_to_nary(operator: Callable) -> Callable:
    """Return ``operator(fun, x, ...)`` as ``operator(fun, argnum=0, ...)(*args, **kwargs)``.

    ``argnum`` is a number, or a tuple or list of these, of which the ``x`` is a tuple.

    Examples
    --------
    >>> from chainrules.interop.autograd.wrap_util import unary_to_nary
    >>> @unary_to_nary
    ... def increment(fun, x):
    ...     return fun(x + 1) - fun(x)
    >>> increment(lambda a, b: a * b, argnum=1)(3.0, 4.0)
    3.0
    """

    @functools.wraps(operator)
    def nary_operator(
        fun: Callable, argnum: int | tuple | list = 0, *options: Any, **keywords: Any
    ) -> Callable:
        title = operator.__name__
        if not callable(fun):
            raise ArgumentTypeError(f"{title} takes a function, not {type(fun).__name__}.")
        if "argnums" in keywords:
            raise ArgumentTypeError(f"{title} takes argnum, as autograd does, not argnums.")
        if not isinstance(argnum, int | tuple | list) or isinstance(argnum, bool):
            raise ArgumentTypeError(
                f"argnum of {title} is a number or a tuple of numbers, not {argnum!r}."
            )

        def nary_f(*args: Any, **kwargs: Any) -> Any:
            last = argnum if isinstance(argnum, int) else max(argnum, default=0)
            if last >= len(args):
                raise ArgumentTypeError(
                    f"{title} is to differentiate {name_of(fun)} in its argument number {last}, "
                    f"and {len(args)} were given by position.\n"
                    "  give that argument by position, or choose another argnum"
                )

            def unary_f(x: Any) -> Any:
                given = list(args)
                if isinstance(argnum, int):
                    given[argnum] = x
                else:
                    for i, part in zip(argnum, x, strict=True):
                        given[i] = part
                return fun(*given, **kwargs)

            unary_f.__name__ = name_of(fun)
            x = args[argnum] if isinstance(argnum, int) else tuple([args[i] for i in argnum])
            return operator(unary_f, x, *options, **keywords)

        name = name_of(fun)
        nary_f.__name__ = f"{title}_of_{name}_wrt_argnum_{argnum}"
        nary_f.__doc__ = f"{title} of function {name} with respect to argument number {argnum}."
        return nary_f

    return nary_operator
