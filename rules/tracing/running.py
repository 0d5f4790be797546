"""Running transforms: those that the current thread, or task, is inside of.

``chainrules.numpy`` asks, to know whether an array that it makes may be filled with traced values.
What is noted is a weak reference to the run, which its own frame holds, in a context variable. So
other threads see nothing of it, and when the frame is gone, however it was left, nothing of it
counts.
"""

import contextvars
import os
import sys
import warnings
import weakref
from collections.abc import Callable
from typing import Any, TypeVar

from ...config import LostDerivativeError, MutationError
from ..refusals.table import refusal
from .onlookers import is_debugging, looks_on

Error = TypeVar("Error", bound=Exception)

innermost_run: contextvars.ContextVar = contextvars.ContextVar("chainrules_run", default=None)
# In a child process nobody waits for the transform that its parent was in.
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=lambda: innermost_run.set(None))


a_run = innermost_run.get  # None where no transform runs: asked by what must be fast


def is_running() -> bool:
    """Say whether some transform runs the code that asks."""
    reference = innermost_run.get()
    return reference is not None and reference() is not None


def apart(f: Callable, args: tuple, kwargs: dict) -> Any:
    """Call ``f`` with plain arguments as if no transform ran, so that its arrays are plain ones.

    A function among the arguments may capture traced values, for which it may make arrays.
    """
    if innermost_run.get() is None or any(map(callable, (*args, *kwargs.values()))):
        return f(*args, **kwargs)
    token = innermost_run.set(None)
    try:
        return f(*args, **kwargs)
    finally:
        innermost_run.reset(token)


def refused(error: Error) -> Error:
    """Note, for the run under way, an error that its function must not handle and go on.

    It is that a plain number was asked for and refused, or one of floating point of a derivative.

    Where ``except`` lets the function go on without it, plain numbers would have taken another
    way, so that the run must not end as if nothing had been. A log of what was done may do without,
    and so may what a debugger evaluates.
    """
    run = None if (reference := innermost_run.get()) is None else reference()
    if run is not None and not looks_on(sys._getframe(1)):
        run.error = error
    return error


class Run:
    """One run of a function on traced values, and what traced values have noted of it.

    ``error`` is what one of them, or a derivative, raised; ``shown`` are the object arrays that
    stand for traced ones elsewhere, and ``written`` the error of a write into one that is gone.
    """

    __slots__ = ("__weakref__", "_shown", "error", "outer", "written")

    def __init__(self) -> None:
        self.error: Exception | None = None
        self.outer = innermost_run.get()
        self.written: MutationError | None = None
        self._shown: weakref.WeakValueDictionary | None = None

    @property
    def shown(self) -> weakref.WeakValueDictionary:
        if self._shown is None:
            self._shown = weakref.WeakValueDictionary()
        return self._shown

    def hidden(self) -> LostDerivativeError | None:
        """Return the error to raise for one that went unseen; while debugging, warn of it."""
        if self.error is None:
            return None
        if is_debugging():
            message = f"while cr.debug() is on, something hid this error: {self.error}"
            warnings.warn(message, UserWarning, stacklevel=3)
            return None
        return refusal("hidden error", error=self.error)

    def check(self) -> None:
        """Raise where an array that stands for a traced one was written to.

        Raises
        ------
        MutationError
        """
        for array in () if self._shown is None else list(self._shown.values()):
            self.written = self.written or array.written()
        if self.written is not None:
            raise self.written


def outermost_run() -> Run | None:
    """Return the run that all others under way here are part of."""
    reference, run = innermost_run.get(), None
    while reference is not None and (outer := reference()) is not None:
        run, reference = outer, outer.outer
    return run
