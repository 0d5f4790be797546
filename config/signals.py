"""Errors that end a run: those of a signal's handler, and errors of this package that say so.

Where something fails on traced values, a function may be run again in another way, and its own
errors come again. A time limit does not.
"""

import signal
import traceback

__all__ = ["ends_run", "is_of_signal"]


def ends_run(error: BaseException) -> bool:
    """Say whether an error is to be raised, and no other way is to be tried."""
    return getattr(error, "ends_run", False) or is_of_signal(error)


def is_of_signal(error: BaseException) -> bool:
    """Say whether the error was raised while a handler of a signal ran, which is Python's."""
    handlers = map(signal.getsignal, signal.valid_signals())
    codes = {getattr(handler, "__code__", None) for handler in handlers if callable(handler)}
    codes.discard(None)
    frames = traceback.walk_tb(error.__traceback__) if codes else ()
    return any(frame.f_code in codes for frame, _ in frames)
