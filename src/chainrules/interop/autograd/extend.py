"""As ``autograd.extend``: primitives, and rules for them in autograd's form.

A rule of a primitive becomes an ``frule`` or an ``rrule`` of ours, which all transforms ask. Rules
are code of ``chainrules.interop.autograd.numpy``, and are differentiated themselves.
"""

import itertools
from collections.abc import Callable, Iterable
from typing import Any

from ...config import ArgumentTypeError
from ...rules import name_of
from .core import SparseObject, VSpace, vspace
from .makers import defjvp_argnums, defvjp_argnums
from .nodes import JVPNode, VJPNode
from .tracer import Box, notrace_primitive, primitive, register_notrace

__all__ = [
    "Box", "JVPNode", "SparseObject", "VJPNode", "VSpace", "def_linear", "defjvp",
    "defjvp_argnum", "defjvp_argnums", "defvjp", "defvjp_argnum", "defvjp_argnums",
    "notrace_primitive", "primitive", "register_notrace", "vspace",
]  # fmt: skip


def defvjp_argnum(fun: Callable, vjpmaker: Callable) -> None:
    """Let ``vjpmaker(argnum, ans, args, kwargs)(g)`` give the cotangent of one argument."""

    def vjp_argnums(argnums: Iterable[int], ans: Any, args: tuple, kwargs: dict) -> Callable:
        vjps = [vjpmaker(argnum, ans, args, kwargs) for argnum in argnums]
        return lambda g: [vjp(g) for vjp in vjps]

    defvjp_argnums(fun, vjp_argnums)


def defvjp(fun: Callable, *vjpmakers: Any, argnums: Iterable[int] | None = None) -> None:
    """Give a primitive its vjps, one for each argument.

    Parameters
    ----------
    fun : callable
        What ``primitive`` made.
    *vjpmakers : callable or None
        ``vjpmaker(ans, *args, **kwargs)`` returns ``vjp``, and ``vjp(g)`` the cotangent of the
        argument, in autograd's convention for complex numbers; None stands for 0.
    argnums : iterable of int, optional
        To which arguments they belong.

    Raises
    ------
    TypeError
        If ``fun`` is another library's, and no primitive. (Rules of these are registered with
        ``cr.rrule.register``.) Of a function in Python that was not decorated it warns: its calls
        inside of a program are not seen.
    MissingDerivativeError
        When an argument is differentiated that has none.

    Examples
    --------
    >>> from chainrules.interop.autograd import grad, numpy as np
    >>> from chainrules.interop.autograd.extend import defvjp, primitive
    >>> @primitive
    ... def logsumexp(x):
    ...     largest = np.max(x)
    ...     return largest + np.log(np.sum(np.exp(x - largest)))
    >>> defvjp(logsumexp, lambda ans, x: lambda g: g * np.exp(x - ans))
    >>> grad(logsumexp)(np.zeros(2))
    array([0.5, 0.5])
    """
    known = dict(zip(itertools.count() if argnums is None else argnums, vjpmakers))
    for maker in vjpmakers:
        _check(fun, "VJP", maker, maker is None)

    def vjp(argnum: int, ans: Any, args: tuple, kwargs: dict) -> Callable:
        maker = _of_argument(fun, "VJP", known, argnum)
        if maker is None:
            return lambda g: vspace(args[argnum]).zeros()
        return maker(ans, *args, **kwargs)

    defvjp_argnum(fun, vjp)


def defjvp_argnum(fun: Callable, jvpmaker: Callable) -> None:
    """Let ``jvpmaker(argnum, g, ans, args, kwargs)`` give what one argument adds to the tangent."""

    def jvp_argnums(argnums: Any, gs: Any, ans: Any, args: tuple, kwargs: dict) -> Any:
        shares = [jvpmaker(i, g, ans, args, kwargs) for i, g in zip(argnums, gs)]
        total = shares[0]
        for share in shares[1:]:
            total = vspace(ans).add(total, share)
        return total

    defjvp_argnums(fun, jvp_argnums)


def defjvp(fun: Callable, *jvpfuns: Any, argnums: Iterable[int] | None = None) -> None:
    """Give a primitive its jvps, one for each argument.

    Parameters
    ----------
    fun : callable
        What ``primitive`` made.
    *jvpfuns : callable, "same" or None
        ``jvp(g, ans, *args, **kwargs)`` returns the tangent of the result for the tangent ``g`` of
        the argument; ``"same"`` stands for ``fun`` with ``g`` in its place, None for 0.
    argnums : iterable of int, optional
        To which arguments they belong.

    Examples
    --------
    >>> from chainrules.interop.autograd import deriv, numpy as np
    >>> from chainrules.interop.autograd.extend import defjvp, primitive
    >>> sine = primitive(lambda x: np.sin(float(x)))
    >>> defjvp(sine, lambda g, ans, x: np.cos(x) * g)
    >>> float(deriv(sine)(0.0))
    1.0
    """
    known = dict(zip(itertools.count() if argnums is None else argnums, jvpfuns))
    for maker in jvpfuns:
        _check(fun, "JVP", maker, maker is None or maker == "same")

    def jvp(i: int, g: Any, ans: Any, args: tuple, kwargs: dict) -> Any:
        maker = _of_argument(fun, "JVP", known, i)
        if maker is None:
            return vspace(ans).zeros()
        if maker == "same":
            return fun(*args[:i], g, *args[i + 1 :], **kwargs)
        return maker(g, ans, *args, **kwargs)

    defjvp_argnum(fun, jvp)


def def_linear(fun: Callable) -> None:
    """Say that ``fun`` is linear in each of its arguments."""
    defjvp_argnum(fun, lambda i, g, ans, args, kwargs: fun(*args[:i], g, *args[i + 1 :], **kwargs))


def _check(fun: Callable, kind: str, maker: Any, is_word: bool) -> None:
    if not is_word and not callable(maker):
        raise ArgumentTypeError(
            f"{maker!r} is no {kind} of {name_of(fun)}: it takes functions, and None."
        )


def _of_argument(fun: Callable, kind: str, known: dict, i: int) -> Any:
    if i not in known:
        raise NotImplementedError(f"{kind} of {name_of(fun)} wrt argnum {i} not defined")
    return known[i]
