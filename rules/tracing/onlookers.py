"""Onlookers: loggers and debuggers, which read the number of a traced value and may do without it.

What they ask is no part of the program: a refusal that they hide does not end the run with an
error.
"""

import contextvars
import functools
import sys
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


debugging: contextvars.ContextVar[bool] = contextvars.ContextVar("chainrules_debugging")


def is_debugging() -> bool:
    return debugging.get(False)
