"""Whether a transform runs here: in this thread, or this task.

``chainrules.numpy`` asks, to know whether an array that it makes may be filled with traced values.
What is noted is a weak reference to the run, which its own frame holds, in a context variable. So
other threads see nothing of it, and when the frame is gone, however it was left, nothing of it
counts.
"""

import contextvars
import os
import sys
from types import FrameType

from ...config import LostDerivativeError

innermost_run: contextvars.ContextVar = contextvars.ContextVar("chainrules_run", default=None)
# In a child process nobody waits for the transform that its parent was in.
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=lambda: innermost_run.set(None))


a_run = innermost_run.get  # None where no transform runs: asked by what must be fast


def is_running() -> bool:
    """Say whether some transform runs the code that asks."""
    reference = innermost_run.get()
    return reference is not None and reference() is not None


def refused(error: LostDerivativeError) -> LostDerivativeError:
    """Note, for the run under way, that a plain number was asked for and refused: ``error``.

    Where ``except`` lets the function go on without it, plain numbers would have taken another
    way, so that the run must not end as if nothing had been. A log of what was done may do without.
    """
    run = None if (reference := innermost_run.get()) is None else reference()
    if run is not None and not _logs(sys._getframe(1)):
        run.error = error
    return error


def _logs(frame: FrameType | None) -> bool:
    while frame is not None:
        if frame.f_globals.get("__name__") == "logging":
            return True
        frame = frame.f_back
    return False


class Run:
    """One run of a function on traced values: the error that a traced value raised in it."""

    error: LostDerivativeError | None = None
