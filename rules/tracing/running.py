"""Whether a transform runs here: in this thread, or this task.

``chainrules.numpy`` asks, to know whether an array that it makes may be filled with traced values.
What is noted is a weak reference to the ``with`` statement that runs the function, in a context
variable. So other threads see nothing of it, and when the statement is gone, however it was left,
nothing of it counts.
"""

import contextvars
import os
import sys
import weakref
from types import FrameType, TracebackType

from ...config import ChainRulesError, LostDerivativeError

_innermost: contextvars.ContextVar = contextvars.ContextVar("chainrules_running", default=None)
# In a child process nobody waits for the transform that its parent was in.
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=lambda: _innermost.set(None))


a_run = _innermost.get  # None where no transform runs: asked by what must be fast


def is_running() -> bool:
    """Say whether some transform runs the code that asks."""
    reference = _innermost.get()
    return reference is not None and reference() is not None


def refused(error: LostDerivativeError) -> LostDerivativeError:
    """Note, for the run under way, that a plain number was asked for and refused: ``error``.

    Where ``except`` lets the function go on without it, plain numbers would have taken another
    way, so that the run must not end as if nothing had been. A log of what was done may do without.
    """
    run = None if (reference := _innermost.get()) is None else reference()
    if run is not None and not _logs(sys._getframe(1)):
        run.error = error
    return error


def _logs(frame: FrameType | None) -> bool:
    while frame is not None:
        if frame.f_globals.get("__name__") == "logging":
            return True
        frame = frame.f_back
    return False


class running:  # noqa: N801 - a context manager that reads as a phrase
    """``with running(): y = f(*traced)``; nests.

    Raises
    ------
    LostDerivativeError
        At the end, if ``f`` went on after a traced value had refused to be a plain number.
    """

    __slots__ = ("__weakref__", "error", "token")

    def __enter__(self) -> None:
        self.error: LostDerivativeError | None = None
        self.token = _innermost.set(weakref.ref(self))

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        _innermost.reset(self.token)
        if self.error is None:
            return
        ours = isinstance(error, ChainRulesError) or isinstance(
            getattr(error, "__cause__", None), ChainRulesError
        )
        if ours or not (error is None or isinstance(error, Exception)):
            return
        raise LostDerivativeError(f"something hid this error, and went on: {self.error}") from (
            error or self.error
        )
