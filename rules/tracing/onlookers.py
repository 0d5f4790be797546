"""Onlookers: logs and debuggers, which ask a traced value for a number, and may do without it.

What they ask is no part of the program: a refusal that they hide does not end the run with an
error.
"""

import contextlib
import contextvars
import functools
import sys
from collections.abc import Iterator
from types import CodeType, FrameType, ModuleType


def looks_on(frame: FrameType | None) -> bool:
    """Say whether a log asks, or a debugger that Python has called for a line of the program."""
    called = _called_to_trace(sys.modules.get("bdb"))
    while frame is not None:
        if frame.f_globals.get("__name__") == "logging" or frame.f_code in called:
            return True
        frame = frame.f_back
    return False


@functools.cache
def _called_to_trace(bdb: ModuleType | None) -> frozenset[CodeType]:
    """Return the code of what Python alone calls in a debugger: its trace functions."""
    if bdb is None:
        return frozenset()
    methods = [f for name, f in vars(bdb.Bdb).items() if name.startswith("dispatch_")]
    return frozenset(f.__code__ for f in (bdb.Bdb.trace_dispatch, *methods))


_debugging: contextvars.ContextVar[bool] = contextvars.ContextVar("chainrules_debugging")


@contextlib.contextmanager
def debug() -> Iterator[None]:
    """Let a debugger, or a notebook's view of variables, look at traced values.

    A tool that evaluates ``float(x)`` of a traced ``x``, and goes on, has hidden an error from the
    program: so the derivative is refused. pdb, and other tools built on ``bdb``, are known.
    For tools that evaluate in the program's thread by other means, call the transform in this
    context: a hidden error then is a warning.

    Examples
    --------
    >>> import warnings
    >>> import chainrules as cr
    >>> def f(x):
    ...     try:
    ...         float(x)  # as a view of variables does
    ...     except TypeError:
    ...         pass
    ...     return x * x
    >>> with warnings.catch_warnings(), cr.debug():
    ...     warnings.simplefilter("ignore")
    ...     cr.grad(f)(3.0)
    6.0
    """
    token = _debugging.set(True)
    try:
        yield
    finally:
        _debugging.reset(token)


def is_debugging() -> bool:
    return _debugging.get(False)
