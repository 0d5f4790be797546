"""Effects of a recorded call, which a replay would not have: random draws, and changed captures."""

import time
from collections.abc import Callable, Hashable
from typing import Any

from ..config import CompileError, raised_at
from ..rules import name_of
from ..rules.tracing.running import is_running
from .ir.looks import NotRecordable
from .record.generators import process_generators
from .record.state.captured_state import Captured
from .tree import CacheEntry


def captured_now(captured: Captured) -> tuple[Any, str]:
    """Return what functions that ran capture now, or None and why that cannot be said."""
    try:
        return captured.again(), ""
    except NotRecordable as error:
        return None, str(error)


def captured_of(f: Callable, key: Hashable, frozen: bool) -> tuple[Any, str]:
    """Return what is captured, or None and why that cannot be said."""
    try:
        return Captured((f, key), frozen), ""
    except NotRecordable as error:
        return None, str(error)


def beside_transform(entry: CacheEntry | None, beside: CacheEntry, begin: float) -> str:
    """Note a call that captures traced values; return why it is not recorded, if that is odd.

    Beside a transform under way it is no wonder; else a run that has ended left them behind.
    """
    beside.attempts += 1
    beside.lost += time.thread_time() - begin
    where = "" if entry is None else f" ({entry.captured.traced})"
    beside.reason = (
        f"what it captures{where} holds traced values, which are no constants; return what it "
        "keeps in objects, or give what it captures as an argument"
    )
    return "" if is_running() else beside.reason


def why_not(error: Exception) -> str:
    """Say why a function cannot be recorded, by an error that it raises only then."""
    if isinstance(error, NotRecordable):
        return str(error)
    first: BaseException = error
    while first.__cause__ is not None or first.__context__ is not None:
        first = first.__cause__ or first.__context__ or first
    line, called, _ = raised_at(first)
    text = str(error).partition("\n")[0]
    return (
        f"{called or 'what is called'} in {line} does not take the numbers of a recording "
        f"({type(error).__name__}: {text}); compile what comes before and after it by itself"
    )


def check_effects(f: Callable, entry: CacheEntry, before: tuple) -> bool:
    """Refuse a function that does more than compute what it returns; forgive it once.

    Raises
    ------
    CompileError
    """
    drawn = entry.captured.drawn()
    if drawn or process_generators() != before:
        entry.drop()
        raise CompileError(
            f"{name_of(f)} draws random numbers ({drawn or 'np.random, or random'}), which"
            " would be the same at every call.\n"
            "  draw them outside, and give them as an argument"
        )
    changed = entry.changed()
    if changed:
        entry.drop()
        if not entry.forgiven:
            return True
        entry.recapture(*captured_now(entry.captured))
        raise CompileError(
            f"{name_of(f)} changes what it captures ({changed}), which would happen at "
            "its first call only.\n  return it instead"
        )
    return False
