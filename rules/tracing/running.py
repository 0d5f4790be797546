"""Whether a transform runs here: in this thread, or this task.

``chainrules.numpy`` asks, to know whether an array that it makes may be filled with traced values.
What is noted is a weak reference to the ``with`` statement that runs the function, in a context
variable. So other threads see nothing of it, and when the statement is gone, however it was left,
nothing of it counts.
"""

import contextvars
import os
import weakref
from types import TracebackType

_innermost: contextvars.ContextVar = contextvars.ContextVar("chainrules_running", default=None)
# In a child process nobody waits for the transform that its parent was in.
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=lambda: _innermost.set(None))


a_run = _innermost.get  # None where no transform runs: asked by what must be fast


def is_running() -> bool:
    """Say whether some transform runs the code that asks."""
    reference = _innermost.get()
    return reference is not None and reference() is not None


class running:  # noqa: N801 - a context manager that reads as a phrase
    """``with running(): y = f(*traced)``; nests."""

    __slots__ = ("__weakref__", "token")

    def __enter__(self) -> None:
        self.token = _innermost.set(weakref.ref(self))

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        _innermost.reset(self.token)
