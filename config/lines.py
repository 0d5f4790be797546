"""The line of the user's own code that an error should point at."""

import os
import sys
from types import CodeType, FrameType, TracebackType

_OURS = {
    "chainrules", "numpy", "scipy", "dask", "distributed", "jax", "jaxlib", "joblib", "loky",
    "torch", "multipledispatch",
    *sys.stdlib_module_names,
}  # fmt: skip


def user_line() -> str:
    """Return ``file.py:12`` of the innermost frame of the user's: not ours, NumPy's or Python's."""
    frame = user_frame()
    if frame is None:
        return "an unknown line"
    return _place(frame.f_code.co_filename, frame.f_lineno)


def user_frame() -> FrameType | None:
    """Return the innermost frame of the user's, if there is one."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and not _is_the_users(frame):
        frame = frame.f_back
    return frame


def _is_the_users(frame: FrameType) -> bool:
    return frame.f_globals.get("__name__", "").partition(".")[0] not in _OURS


def _place(filename: str, line: int) -> str:
    """Return ``file.py:12``, or ``Cell In[10], line 2``, as IPython calls a cell of a notebook."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    cell = None if shell is None else shell.compile.format_code_name(filename)
    return (
        f"{os.path.basename(filename)}:{line}" if cell is None else f"{' '.join(cell)}, line {line}"
    )


def raised_at(error: BaseException) -> tuple[str, str, dict]:
    """Return the user's line that ``error`` passed, and the function of others it called there.

    And the globals of the user's module.

    The name is empty where that is a function written in C, which has no frame.
    """
    trace, where, called = error.__traceback__, user_line(), ""
    names: dict = {}
    while trace is not None:
        if _is_the_users(trace.tb_frame):
            where, called = _place(trace.tb_frame.f_code.co_filename, trace.tb_lineno), ""
            names = trace.tb_frame.f_globals
        elif not called:
            called = _public_name(trace)
        trace = trace.tb_next
    return where, called, names


def _public_name(trace: TracebackType) -> str:
    """Return ``scipy.linalg.solve`` for a frame of it; nothing for a wrapper, or one of ours."""
    code, module = trace.tb_frame.f_code, trace.tb_frame.f_globals.get("__name__", "")
    inside = module.startswith(("chainrules", "scipy._")) or "<locals>" in code.co_qualname
    if inside or code.co_name.startswith("_"):
        return ""
    return f"{module.partition('._')[0]}.{code.co_qualname}"


def caller_line(depth: int = 2) -> str:
    """Return ``file.py:12`` of the frame ``depth`` calls up from here."""
    frame = sys._getframe(depth)
    return _place(frame.f_code.co_filename, frame.f_lineno)


def defined_at(f: object) -> str:
    """Return ``file.py:12``, where the function ``f`` was defined, or an empty string."""
    code = getattr(f, "__code__", None)
    if not isinstance(code, CodeType):
        return ""
    return _place(code.co_filename, code.co_firstlineno)
