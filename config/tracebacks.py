"""Tracebacks that show the user's frames alone: each public function trims those of its errors.

A *door* is a function that lets every error through after ``trim_traceback`` has seen it. Frames of
this package are left out there, once, at the outermost door: what is further in may still ask which
frames an error passed. ``CHAINRULES_TRACEBACK=full`` in the environment keeps all of them.
"""

import functools
import os
import sys
from collections.abc import Callable
from types import FrameType, TracebackType
from typing import Any, TypeVar, cast

from . import memory
from .lines import is_the_users
from .numpy_warnings import as_before, note_replay, settings, tell_user
from .signals import is_of_signal

F = TypeVar("F", bound=Callable[..., Any])
_PACKAGE = __name__.partition(".")[0]
SWITCH = "CHAINRULES_TRACEBACK"


def door(f: F) -> F:
    """Decorator: leave our frames out of the errors that ``f`` raises, and out of warnings.

    Functions that are called often have the lines of it that they need in their own body.
    """
    return cast(F, functools.wraps(f)(nameless_door(f)))


def nameless_door(f: F) -> F:
    """Decorator: a door for a function that is named later, or that nobody sees."""

    def called(*args: object, **kwargs: object) -> Any:
        before, used = settings(), memory.pool.use_pool()
        try:
            tell_user(before)
            return f(*args, **kwargs)
        except BaseException as error:
            trim_traceback(error)
            raise
        finally:
            memory.pool.leave_pool(used)
            as_before(before)

    return cast(F, called)


def trim_traceback(error: BaseException) -> None:
    """Leave our frames out of the traceback of an error, which the caller, a door, raises again.

    It does so by a bare ``raise``, which adds no frame. Within another door nothing is done.
    """
    if not _is_within_door(sys._getframe(1).f_back):
        trim_all(error)


def trim_all(error: BaseException) -> None:
    """Leave our frames out of the tracebacks of an error and of those behind it."""
    if type(error) is FloatingPointError:
        note_replay(error)
    if os.environ.get(SWITCH) == "full":
        return
    found, seen = [error], {id(error)}
    while found:
        error = found.pop()
        error.__traceback__ = _trimmed(error.__traceback__)
        behind = [error.__cause__, error.__context__]
        if isinstance(error, BaseExceptionGroup):
            behind += error.exceptions
        for other in behind:
            if other is not None and id(other) not in seen:
                seen.add(id(other))
                found.append(other)


def again(f: Callable, args: tuple, kwargs: dict, failed: BaseException) -> Any:
    """Call ``f`` where an attempt at it has failed, which its own error is not to show.

    What a signal's handler raised, such as the end of a time limit, is raised at once.
    """
    if is_of_signal(failed):
        raise failed
    try:
        return f(*args, **kwargs)
    except BaseException as error:
        behind: BaseException | None = error
        while behind is not None and behind.__context__ is not failed:
            behind = behind.__context__
        if behind is not None:
            behind.__context__ = None
        raise


def _is_within_door(frame: FrameType | None) -> bool:
    while frame is not None:
        if trim_traceback.__name__ in frame.f_code.co_names and _is_ours(frame):
            return True
        frame = frame.f_back
    return False


def _is_ours(frame: FrameType) -> bool:
    return frame.f_globals.get("__name__", "").partition(".")[0] == _PACKAGE


def _trimmed(traceback: TracebackType | None) -> TracebackType | None:
    """Return new entries for the frames that are not ours.

    Of an error that we raised the last one is the user's: what a library did between that and us
    is left out as well.
    """
    entries = []
    while traceback is not None:
        entries.append(traceback)
        traceback = traceback.tb_next
    kept: TracebackType | None = None
    within = bool(entries) and _is_ours(entries[-1].tb_frame)
    for entry in reversed(entries):
        frame = entry.tb_frame
        within = within and not is_the_users(frame)
        if not within and not _is_ours(frame):
            line: int | None = entry.tb_lineno  # None within what the compiler put in
            kept = TracebackType(kept, frame, entry.tb_lasti, -1 if line is None else line)
    return kept
