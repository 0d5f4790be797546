"""The line of the user's own code that an error should point at.

``user_line()`` is ``"fit.py:12"``, or ``"Cell In[10], line 2"`` in a notebook: of the innermost
frame that is neither ours nor a library's.
"""

import contextlib
import os
import sys
import warnings
from collections.abc import Iterator
from contextvars import ContextVar
from types import CodeType, FrameType

from .foundations import is_foundation

_OURS = {
    "dask", "distributed", "jax", "jaxlib", "joblib", "loky", "torch", "multipledispatch", "pandas",
    "polars",
}  # fmt: skip


UNKNOWN = "an unknown line"
_users: dict[str, bool] = {}  # by the name of a module, whether it is the user's


def user_line() -> str:
    """Return ``file.py:12`` of the innermost frame of the user's: not ours, NumPy's or Python's."""
    place = user_file_and_line()
    return UNKNOWN if place is None else named_line(*place)


def user_file_and_line() -> tuple[str, int] | None:
    """Return the file and the line of that frame; in a worker's thread, of who sent the work."""
    frame = user_frame()
    return _sent_from.get() if frame is None else (frame.f_code.co_filename, frame.f_lineno)


_sent_from: ContextVar[tuple[str, int] | None] = ContextVar("sent_from", default=None)


@contextlib.contextmanager
def sent_from(place: tuple[str, int] | None) -> Iterator[None]:
    """Let work inside have the line ``place``, where no frame of the user's is under way."""
    token = _sent_from.set(place)
    try:
        yield
    finally:
        _sent_from.reset(token)


def user_frame() -> FrameType | None:
    """Return the innermost frame of the user's, if there is one."""
    frame: FrameType | None = sys._getframe(1)
    # Explanations ask at each operation: of ten frames nine are known not to be the user's.
    while frame is not None and (
        _users.get(frame.f_globals.get("__name__", "")) is False or not is_the_users(frame)
    ):
        frame = frame.f_back
    return frame


# An instruction of the user's: what is noted often, and seldom told.
Place = tuple[CodeType, int]


def user_place() -> Place | None:
    """Return the instruction under way in the innermost frame of the user's."""
    frame = user_frame()
    return None if frame is None else (frame.f_code, frame.f_lasti)


def line_at(place: Place | None) -> str:
    """Return ``file.py:12`` for an instruction."""
    if place is None:
        return UNKNOWN
    code, at = place
    lines = [line for start, end, line in code.co_lines() if start <= at < end and line]
    return named_line(code.co_filename, lines[0] if lines else code.co_firstlineno)


_unsaid: ContextVar[tuple[type[Warning], ...]] = ContextVar("unsaid", default=())


@contextlib.contextmanager
def unsaid(*kinds: type[Warning]) -> Iterator[None]:
    """Leave out warnings of these kinds, of a function that is run once more for its value."""
    token = _unsaid.set(kinds)
    try:
        yield
    finally:
        _unsaid.reset(token)


def warn_user(message: Warning) -> None:
    """Warn of the user's innermost line, once for each such line as Python does."""
    if isinstance(message, _unsaid.get()):
        return
    frame, place = user_frame(), user_file_and_line()
    if place is None:
        warnings.warn(message, stacklevel=2)
        return
    names = globals() if frame is None else frame.f_globals
    seen = names.setdefault("__warningregistry__", {})
    warnings.warn_explicit(message, type(message), *place, registry=seen)


def is_the_users(frame: FrameType) -> bool:
    name = frame.f_globals.get("__name__", "")
    known = _users.get(name)
    if known is None:
        package = name.partition(".")[0]
        known = _users[name] = package not in _OURS and not is_foundation(package)
    return known


def named_line(filename: str, line: int) -> str:
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
    where, called = user_line(), ""
    names: dict = {}
    for frame, line in passed_by(error):
        if is_the_users(frame):
            where, called = named_line(frame.f_code.co_filename, line), ""
            names = frame.f_globals
        elif not called:
            called = _public_name(frame)
    return where, called, names


def passed_by(error: BaseException) -> Iterator[tuple[FrameType, int]]:
    """Yield the frames that ``error`` passed, the outermost first, and the line in each."""
    trace = error.__traceback__
    while trace is not None:
        yield trace.tb_frame, trace.tb_lineno
        trace = trace.tb_next


def _public_name(frame: FrameType) -> str:
    """Return ``scipy.linalg.solve`` for a frame of it; nothing for a wrapper, or one of ours."""
    code, module = frame.f_code, frame.f_globals.get("__name__", "")
    inside = module.startswith(("chainrules", "scipy._")) or "<locals>" in code.co_qualname
    if inside or code.co_name.startswith("_"):
        return ""
    library = module.partition("._")[0].removesuffix(".lib")  # numpy.lib._x shows numpy's
    return f"{library}.{code.co_qualname}"


def library_called() -> str:
    """Return the public name of a library's function that the user's innermost line has called.

    It is empty where that is written in C, or is one of ours.
    """
    frame: FrameType | None = sys._getframe(1)
    called = ""
    while frame is not None and not is_the_users(frame):
        called = _public_name(frame) or called
        frame = frame.f_back
    return called


def caller_line() -> str:
    """Return ``file.py:12`` of the line that called the function that asks."""
    frame = sys._getframe(2)
    return named_line(frame.f_code.co_filename, frame.f_lineno)


def defined_at(f: object) -> str:
    """Return ``file.py:12``, where the function ``f`` was defined, or an empty string."""
    code = getattr(f, "__code__", None)
    if not isinstance(code, CodeType):
        return ""
    return named_line(code.co_filename, code.co_firstlineno)
