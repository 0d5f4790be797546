"""The line of the user's own code that an error should point at."""

import os
import sys
from types import CodeType, FrameType

_OURS = {"chainrules", "numpy", "scipy", "dask", "multipledispatch", *sys.stdlib_module_names}


def user_line() -> str:
    """Return ``file.py:12`` of the innermost frame of the user's: not ours, NumPy's or Python's."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        if frame.f_globals.get("__name__", "").partition(".")[0] not in _OURS:
            return f"{os.path.basename(frame.f_code.co_filename)}:{frame.f_lineno}"
        frame = frame.f_back
    return "an unknown line"


def caller_line(depth: int = 2) -> str:
    """Return ``file.py:12`` of the frame ``depth`` calls up from here."""
    frame = sys._getframe(depth)
    return f"{os.path.basename(frame.f_code.co_filename)}:{frame.f_lineno}"


def defined_at(f: object) -> str:
    """Return ``file.py:12``, where the function ``f`` was defined, or an empty string."""
    code = getattr(f, "__code__", None)
    if not isinstance(code, CodeType):
        return ""
    return f"{os.path.basename(code.co_filename)}:{code.co_firstlineno}"
