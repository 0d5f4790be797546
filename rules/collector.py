"""Pause Python's cyclic garbage collector while many small objects are made on purpose.

A growing tape triggers the collector again and again, and each time it walks the whole tape:
three to five times the run time of the program, for nothing that could be freed.
"""

import gc
import threading
from types import TracebackType

_lock = threading.Lock()
_pauses = 0
_was_enabled = False


def is_recording() -> bool:
    """Say whether some transform is running, in any thread."""
    return _pauses > 0


class paused_collector:  # noqa: N801 - a context manager that reads as a phrase
    """``with paused_collector():``; nests, and is shared by all threads."""

    __slots__ = ()

    def __enter__(self) -> None:
        global _pauses, _was_enabled
        with _lock:
            if _pauses == 0:
                _was_enabled = gc.isenabled()
                gc.disable()
            _pauses += 1

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        global _pauses
        with _lock:
            _pauses -= 1
            if _pauses == 0 and _was_enabled:
                gc.enable()
