"""As ``autograd.tracer``: values that are followed. There are no boxes here, but traced values."""

import functools
from collections.abc import Callable
from typing import Any

from ...config import ArgumentTypeError, RuleNeverAskedWarning
from ...config.lines import warn_user
from ...rules import Traced, is_traced, value
from ...rules import primitive as our_primitive
from .graph import Node, new_box, toposort, trace, trace_stack

__all__ = [
    "Box", "Node", "getval", "isbox", "new_box", "notrace_primitive", "primitive",
    "register_notrace", "toposort", "trace", "trace_stack",
]  # fmt: skip


class _Kind(type):
    """Its instances are traced values under which there is a value of one of these types."""

    of: tuple[type, ...]

    def __instancecheck__(cls, x: Any) -> bool:
        return isinstance(x, Traced) or (bool(cls.of) and isinstance(x, cls.of) and is_traced(x))


class Box(metaclass=_Kind):
    """Abstract class of traced values. It is for ``isinstance`` and annotations alone."""

    of: tuple[type, ...] = ()

    def __init__(self, *args: Any) -> None:
        raise ArgumentTypeError(
            f"{type(self).__name__} cannot be made: values are traced by the transforms, and by "
            "new_box.\n  for a class that holds numbers write "
            "cr.register_container(cls, parts, rebuild)"
        )

    @classmethod
    def register(cls, value_type: type) -> None:
        """Warn that nothing was done: what is followed is a number or an array, or holds these."""
        warn_not_needed("box", value_type)


def warn_not_needed(what: str, value_type: type) -> None:
    """Warn of what autograd wants to be told of a class, and nobody needs here."""
    warn_user(
        RuleNeverAskedWarning(
            f"no {what} is needed for {value_type.__name__}, and none was registered: objects are "
            "followed by their fields.\n"
            "  write cr.register_container(cls, parts, rebuild), if it holds what is "
            "differentiated in another way"
        )
    )


def isbox(x: Any) -> bool:
    """Say whether ``x`` is a traced number or array."""
    return isinstance(x, Traced)


def getval(x: Any) -> Any:
    """Return the plain number or array under ``x``: a constant, as ``cr.value`` gives it."""
    return value(x)


def primitive(f_raw: Callable) -> Callable:
    """Return ``f_raw`` as a function to which ``defvjp`` and ``defjvp`` give rules.

    Without a rule its body is differentiated, where autograd has no derivative.

    Examples
    --------
    >>> from chainrules.interop.autograd import grad
    >>> from chainrules.interop.autograd.extend import defvjp, primitive
    >>> @primitive
    ... def square(x):
    ...     return float(x) ** 2
    >>> defvjp(square, lambda ans, x: lambda g: g * 2 * x)
    >>> float(grad(grad(square))(3.0))
    2.0
    """
    made: Any = our_primitive(_stand_in(f_raw) if isinstance(f_raw, type) else f_raw)
    made.fun = f_raw
    return made


def _stand_in(cls: type) -> Callable:
    @functools.wraps(cls, updated=())
    def construct(*args: Any, **kwargs: Any) -> Any:
        return cls(*args, **kwargs)

    return construct


def notrace_primitive(f_raw: Callable) -> Callable:
    """Return ``f_raw`` for plain values: what it gives is constant.

    Examples
    --------
    >>> from chainrules.interop.autograd import grad
    >>> from chainrules.interop.autograd.extend import notrace_primitive
    >>> rounded = notrace_primitive(round)
    >>> float(grad(lambda x: x * rounded(x))(2.6))
    3.0
    """

    @functools.wraps(f_raw, updated=())
    def untraced(*args: Any, **kwargs: Any) -> Any:
        return f_raw(*value(args), **value(kwargs))

    return untraced


def register_notrace(trace_type: Any, primitive_fun: Callable) -> None:
    """Refuse: a function without a derivative is declared to our rules."""
    raise ArgumentTypeError(
        "register_notrace is about classes of nodes: a function has a derivative or none.\n"
        "  write cr.non_differentiable(f), or notrace_primitive"
    )
